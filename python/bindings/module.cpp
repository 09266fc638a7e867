// The module `usmx._usmx`: the order in which its parts are bound, and what concerns all of them.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <utility>

#include "expression/expression_arguments.hpp"
#include "support/bindings.hpp"
#include "support/examples.hpp"
#include "support/help_link.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "usmx/detail/explained_calls.hpp"
#include "usmx/version.hpp"

namespace usmx::python {

void bind_testing(nb::module_& m);              // testing.cpp: for the tests of the package
void bind_explained_functions(nb::module_& m);  // explained_function.cpp: for the package
void bind_libraries(nb::module_& m);            // bind_libraries.cpp: for the package
void bind_process_memory(nb::module_& m);       // bind_process_memory.cpp: for the package

namespace {

/// Gives the type of nanobind's functions, or of its classes, a property. It is immutable for
/// Python, not for us; the type cannot be derived or replaced.
void add_property(PyTypeObject* type, const nb::object& getter) {
  const nb::object property = nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter);
  if (PyDict_SetItemString(type->tp_dict, "__signature__", property.ptr()) != 0)
    nb::raise_python_error();
  PyType_Modified(type);
}

/// `x.method`, where it is not called at once. nanobind fills its own object without looking
/// whether there was memory for it (docs/upstream/nanobind-bound-method.md).
PyObject* bound_method(PyObject* method, PyObject* self, PyObject*) {
  return self == nullptr ? Py_NewRef(method) : PyMethod_New(method, self);
}

/// inspect.signature(), and with it help in editors and notebooks, knows nothing of functions and
/// classes that nanobind made: they get a `__signature__`, read from the text that they carry.
/// After everything else was bound.
void bind_signatures(nb::module_& m) {
  def(
      m, "_signature_of(function: object) -> object"_sig,
      [](nb::handle function) {
        return nb::module_::import_("usmx._signature").attr("of")(function);
      },
      "The inspect.Signature of a function of this module.");
  const nb::object getter = m.attr("_signature_of");
  const nb::object method = m.attr("Queue").attr("wait");
  const nb::object bound = method.attr("__get__")(m, nb::none());
  const nb::object a_class = m.attr("Queue");
  for (const nb::object& made : {getter, method, bound, a_class}) {
    add_property(Py_TYPE(made.ptr()), getter);
  }
  Py_TYPE(method.ptr())->tp_descr_get = bound_method;
}

}  // namespace

}  // namespace usmx::python

NB_MODULE(_usmx_of_main_interpreter, m) {
  using namespace usmx::python;
  // A producer that can reach an array of its own memory may outlive the last collection, through
  // other libraries' objects that the collector cannot see into. Users cannot act on that at exit.
  nb::set_leak_warnings(std::getenv("USMX_LEAK_WARNINGS") != nullptr);
  m.attr("__version__") = usmx::version;
  bind_errors(m);
  bind_slot_errors(m);
  bind_runtime(m);
  bind_memory(m);
  bind_resources(m);
  bind_array(m);
  bind_protocols(m);
  bind_kernel_limits(m);
  bind_kernel(m);
  bind_trace(m);
  bind_program_cache(m);
  bind_kernel_dispatch(m);
  bind_elementwise(m);
  bind_operations(m);
  bind_reductions(m);
  bind_small_arrays(m);
  bind_algorithms(m);
  bind_random(m);
  bind_captured(m);
  bind_fused(m);
  bind_reduction(m);
  bind_scan(m);
  bind_libraries(m);
  bind_process_memory(m);
  bind_transfers(m);
  bind_python_api(m);
  bind_testing(m);
  bind_explained_functions(m);
  bind_signatures(m);
  add_class_examples(m);
  bind_help_links(m);
  explained_calls::after_error = []() noexcept {
    restore_memory_error();
    add_help_link();
  };
  explain_calls(m);
}

/// Looks before nanobind does anything: what it keeps for the process would become that of the
/// second interpreter, and the first one's objects would end in a crash. The same classes cannot be
/// made twice either, which a program asks for that empties sys.modules.
extern "C" NB_EXPORT PyObject* PyInit__usmx() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "usmx: this is not the process's main interpreter, the only supported one; "
                    "start a process of its own (multiprocessing with 'spawn' or 'forkserver')");
    return nullptr;
  }
  static bool was_loaded = false;
  if (std::exchange(was_loaded, true)) {
    PyErr_SetString(PyExc_ImportError,
                    "usmx: cannot load the module 'usmx._usmx' more than once per process; it was "
                    "loaded before and then removed from sys.modules, where it has to stay");
    return nullptr;
  }
  return PyInit__usmx_of_main_interpreter();
}
