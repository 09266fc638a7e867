// The call of a fused function whose argument types were seen before: straight to the kernel that
// was made for them, because to ask Python for the types takes as long as the kernel.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>

#include <nanobind/stl/string.h>

#include "core/aliasing.hpp"
#include "kernel/captured_values.hpp"
#include "kernel/kernel_arguments.hpp"
#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

/// What `usmx.fuse` returns, as far as it is not Python. Guarded by the GIL.
struct fused_call {
  /// Kernels that take a call's arguments as they are, by the types of those.
  std::unordered_map<std::string, nb::object> known;
  /// The globals, closure variables and attributes that they were made of.
  nb::object captured;
};

/// The types of arguments that are arrays of ours and Python's numbers; false if there are others.
bool add_types(std::string& key, PyObject* args) {
  for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(args); ++n) {
    PyObject* const obj = PyTuple_GET_ITEM(args, n);
    if (const array* const a = array_of(obj)) {
      const dtype& type = a->elements().dtype();
      if (type.is_record()) return false;
      key += static_cast<char>('a' + static_cast<int>(type.kind()));
      key += static_cast<char>('0' + type.itemsize());
    } else if (PyFloat_CheckExact(obj)) {
      key += 'F';
    } else if (PyLong_CheckExact(obj)) {
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(obj, &overflow);
      if (overflow != 0) return false;
      key += 'I';
    } else if (PyComplex_CheckExact(obj)) {
      key += 'C';
    } else {
      return false;
    }
  }
  return true;
}

/// Whether all keywords are those of a kernel, and none names a parameter of the function.
bool are_of_kernels(PyObject* keywords) {
  if (keywords == nullptr) return true;
  PyObject* key = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, nullptr) != 0;) {
    const auto is = [&](const char* word) {
      return PyUnicode_CompareWithASCIIString(key, word) == 0;
    };
    if (!is("out") && !is("queue") && !is("depends_on")) return false;
  }
  return true;
}

/// Null if the call is not one that was seen before.
PyObject* known_kernel(PyObject* self, PyObject* args, PyObject* keywords) {
  const auto& known = self_of<fused_call>(self).known;
  if (!are_of_kernels(keywords)) return nullptr;
  std::string key;
  if (!add_types(key, args)) return nullptr;
  const auto found = known.find(key);
  return found == known.end() ? nullptr : found->second.ptr();
}

PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    // The function may be traced anew by another thread, and give the kernel up.
    if (const auto kernel = nb::borrow(known_kernel(self, args, keywords));
        kernel.is_valid() && still_holds(self_of<fused_call>(self).captured)) {
      return PyObject_Call(kernel.ptr(), args, keywords);
    }
    const nb::object general = nb::handle(self).attr("_general");
    return PyObject_Call(general.ptr(), args, keywords);
  } catch (...) {
    return raise_current();
  }
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<fused_call>(self)->captured.ptr());
  return 0;
}

PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {0, nullptr},
};

}  // namespace

void bind_fused(nb::module_& m) {
  nb::class_<fused_call>(m, "_FusedCall", "What calls the kernels of a fused function.",
                         nb::type_slots(slots))
      .def(nb::init<>())
      .def(
          "_begin(self, captured: _Captured | None) -> None"_sig,
          [](fused_call& self, nb::object captured) {
            std::unordered_map<std::string, nb::object> ended;
            std::swap(self.known, ended);
            std::swap(self.captured, captured);
          },
          "What is remembered from now on was made of these values.")
      .def(
          "_remember(self, args: tuple[Any, ...], kernel: object) -> None"_sig,
          [](fused_call& self, const nb::tuple& args, nb::object kernel) {
            std::string key;
            // The one before ends with `kernel`, when the table is whole again.
            if (add_types(key, args.ptr())) std::swap(self.known[key], kernel);
          },
          "Calls with arguments of these types go to `kernel` from now on, as they are.");

  def(
      m, "_no_memory_text(obj: object | None, or_else: str = '') -> str"_sig,
      [](nb::handle obj, const char* or_else) {
        return no_memory_text(obj, default_queue().get_device(), or_else);
      },
      "What is wrong with an argument that has no memory which kernels use, and what helps.");
  def(
      m, "_shared_elements(first: object, second: object) -> str"_sig,
      [](nb::handle first, nb::handle second) -> const char* {
        borrowed_arrays borrowed;
        const auto a = to_memory(first, borrowed), b = to_memory(second, borrowed);
        if (a.memory == nullptr || b.memory == nullptr) return "none";
        const any_view &x = a.memory->elements(), &y = b.memory->elements();
        if (detail::is_same(x, y)) return "all";
        return detail::overlap(x, y) ? "some" : "none";
      },
      "Whether two arguments are the \"all\" same elements, \"some\" may be, or \"none\" are.");
}

}  // namespace usmx::python
