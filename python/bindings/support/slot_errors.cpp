// SPDX-License-Identifier: Apache-2.0
#include "support/slot_errors.hpp"

#include <exception>
#include <utility>

namespace usmx::python {
namespace {

thread_local std::exception_ptr current;
// Borrowed: the module keeps it.
PyObject* raise_again = nullptr;

}  // namespace

PyObject* raise_current() noexcept {
  // nanobind throws an error of its own over that of a failed allocation.
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_MemoryError) != 0) return nullptr;
  current = std::current_exception();
  // Comes back with the error set, because the function throws what was kept.
  return PyObject_CallNoArgs(raise_again);
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
