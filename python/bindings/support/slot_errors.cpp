// SPDX-License-Identifier: Apache-2.0
#include "support/slot_errors.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <utility>

namespace usmx::python {
namespace {

thread_local std::exception_ptr current;
// Borrowed: the module keeps it.
PyObject* raise_again = nullptr;

}  // namespace

void restore_memory_error() noexcept {
  // Of that very class, whose text is made without code of others.
  if (PyErr_Occurred() != PyExc_SystemError) return;
  nb::python_error error;
  PyObject* const shown = PyObject_Str(error.value().ptr());
  const char* const text = shown != nullptr ? PyUnicode_AsUTF8(shown) : nullptr;
  constexpr std::array lost{"without exception set", "without setting an exception"};
  bool is_lost = false;
  for (const char* const words : lost) {
    is_lost = is_lost || (text != nullptr && std::strstr(text, words) != nullptr);
  }
  Py_XDECREF(shown);
  // "returned a result with an exception set", which is then the cause.
  const nb::object cause = nb::steal(PyException_GetCause(error.value().ptr()));
  is_lost = is_lost ||
            (cause.is_valid() && PyErr_GivenExceptionMatches(cause.ptr(), PyExc_MemoryError) != 0);
  PyErr_Clear();
  if (!is_lost) return error.restore();
  PyErr_NoMemory();
  nb::python_error known;
  PyException_SetCause(known.value().ptr(), Py_NewRef(error.value().ptr()));
  known.restore();
}

PyObject* raise_current() noexcept {
  // nanobind throws an error of its own over that of a failed allocation.
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_MemoryError) != 0) return nullptr;
  current = std::current_exception();
  // Comes back with the error set, because the function throws what was kept.
  PyObject* const none = PyObject_CallNoArgs(raise_again);
  restore_memory_error();
  return none;
}

void bind_slot_errors(nb::module_& m) {
  m.def(
      "_raise_again",
      [] {
        if (const auto kept = std::exchange(current, nullptr)) std::rethrow_exception(kept);
      },
      "Raises what a slot caught.");
  raise_again = nb::object(m.attr("_raise_again")).ptr();
}

}  // namespace usmx::python
