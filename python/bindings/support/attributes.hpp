// Asking an object whether it has something. nanobind's own questions take every error for "no", a
// failed allocation too, and what follows is then a wrong answer or another error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include <nanobind/nanobind.h>

namespace usmx::python {

namespace nb = nanobind;

/// The attribute, not valid if there is none. Throws MemoryError, and what is not an Exception,
/// such as KeyboardInterrupt; other errors of a property count as "none".
inline nb::object attribute_of(nb::handle obj, nb::handle name) {
  PyObject* found = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  const int known = PyObject_GetOptionalAttr(obj.ptr(), name.ptr(), &found);
#else
  const int known = _PyObject_LookupAttr(obj.ptr(), name.ptr(), &found);
#endif
  if (known >= 0) return nb::steal(found);
  if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) {
    nb::raise_python_error();
  }
  PyErr_Clear();
  return {};
}

inline nb::object attribute_of(nb::handle obj, const char* name) {
  PyObject* const text = PyUnicode_InternFromString(name);
  if (text == nullptr) nb::raise_python_error();
  return attribute_of(obj, nb::steal(text));
}

inline bool has_attribute(nb::handle obj, const char* name) {
  return attribute_of(obj, name).is_valid();
}

/// The attribute, None if there is none.
template <class Name>
nb::object attribute_or_none(nb::handle obj, Name name) {
  nb::object found = attribute_of(obj, name);
  return found.is_valid() ? found : nb::none();
}

/// Whether the class of an object has it. Nothing of the object is called: NumPy's getter of
/// `__array_interface__` makes a dictionary each time, and ends the process if there is no memory.
inline bool class_has(nb::handle obj, const char* name) { return has_attribute(obj.type(), name); }

/// Whether it is one of NumPy's numbers, such as `np.int64(3)`. NumPy is not imported to see it.
inline bool is_numpy_scalar(nb::handle obj) noexcept {
  for (const PyTypeObject* t = Py_TYPE(obj.ptr()); t != nullptr; t = t->tp_base) {
    if (std::strcmp(t->tp_name, "numpy.generic") == 0) return true;
  }
  return false;
}

}  // namespace usmx::python
