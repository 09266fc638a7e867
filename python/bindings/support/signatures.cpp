// Why this exists: inspect.signature(), and with it help in editors and notebooks, knows nothing of
// functions that nanobind made. They get a `__signature__`, read from the text that they carry.
// SPDX-License-Identifier: Apache-2.0
#include "support/signatures.hpp"

namespace usmx::python {
namespace {

/// Gives the type of nanobind's functions a property. It is immutable for Python, not for us; the
/// type cannot be derived or replaced.
void add_property(PyTypeObject* type, const nb::object& getter) {
  const nb::object property = nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter);
  if (PyDict_SetItemString(type->tp_dict, "__signature__", property.ptr()) != 0)
    nb::raise_python_error();
  PyType_Modified(type);
}

}  // namespace

void bind_signatures(nb::module_& m) {
  m.def(
      "_signature_of",
      [](nb::handle function) {
        return nb::module_::import_("usmx._signature").attr("of")(function);
      },
      nb::arg("function"), nb::sig("def _signature_of(function: object) -> object"),
      "The inspect.Signature of a function of this module.");
  const nb::object getter = m.attr("_signature_of");
  const nb::object method = m.attr("Queue").attr("wait");
  const nb::object bound = method.attr("__get__")(m, nb::none());
  for (const nb::object& function : {getter, method, bound}) {
    add_property(Py_TYPE(function.ptr()), getter);
  }
}

}  // namespace usmx::python
