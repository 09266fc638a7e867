// A function that was written in Python, behind a door: a call that does not fit is told in the
// line that functions of nanobind have (usmx/detail/explained_calls.hpp). CPython raises that error
// before the function's first line, and calls functions without asking them, so that the door is an
// object of its own. It shows everything that the function has.
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>
#include <structmember.h>  // after Python.h

#include <array>
#include <cstddef>
#include <span>

#include "support/bindings.hpp"
#include "support/help_link.hpp"
#include "support/slot_errors.hpp"
#include "usmx/detail/explained_calls.hpp"

namespace usmx::python {
namespace {

struct explained_function {
  PyObject base;
  vectorcallfunc called;
  PyObject* function;
  PyObject* name;  // as users call it
  int passed;      // arguments that Python passes: the object of a method
  PyObject* weak;
};

explained_function& of(PyObject* object) noexcept {
  return *reinterpret_cast<explained_function*>(object);
}

/// Sets the line in the place of CPython's error; leaves the error of a call that fits.
[[gnu::noinline]] void explain(const explained_function& door, std::span<PyObject* const> args,
                               PyObject* names) noexcept {
  explained_calls::tell(args, names, [&](const auto& lines, auto&, auto& given, auto& named) {
    return nb::object(lines.attr("line_of_python")(nb::handle(door.function), nb::handle(door.name),
                                                   door.passed, given, named));
  });
}

/// Whether the error was raised before the first line of the function: no frame is in its trace.
/// What a wrapper was called with may be wrong for what it wraps.
bool is_about_call(PyObject* function) noexcept {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return false;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const bool is_about = trace == nullptr || PyObject_HasAttrString(function, "__wrapped__") != 0;
  PyErr_Restore(type, value, trace);
  return is_about;
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  const explained_function& door = of(self);
  PyObject* const result = PyObject_Vectorcall(door.function, args, nargsf, names);
  if (result == nullptr) [[unlikely]] {
    restore_memory_error();
    if (is_about_call(door.function)) {
      explain(door, {args, static_cast<std::size_t>(PyVectorcall_NARGS(nargsf))}, names);
      add_help_link();
    }
  }
  return result;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* names) {
  PyObject* function = nullptr;
  PyObject* name = nullptr;
  int passed = 0;
  if (names != nullptr) {
    PyErr_SetString(PyExc_TypeError, "_ExplainedFunction: takes arguments by place");
    return nullptr;
  }
  if (PyArg_ParseTuple(args, "O!U|i", &PyFunction_Type, &function, &name, &passed) == 0)
    return nullptr;
  PyObject* const made = type->tp_alloc(type, 0);
  if (made == nullptr) return nullptr;
  of(made).called = call;
  of(made).function = Py_NewRef(function);
  of(made).name = Py_NewRef(name);
  of(made).passed = passed;
  return made;
}

int clear(PyObject* self) {
  Py_CLEAR(of(self).function);
  Py_CLEAR(of(self).name);
  return 0;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(of(self).function);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void end(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (of(self).weak != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* bound(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/// What the door has not is the function's: its name, code, defaults, and what others wrote there;
/// and what every type has for its objects.
PyObject* attribute(PyObject* self, PyObject* name) {
  for (const char* const common : {"__doc__", "__module__"})
    if (PyUnicode_CompareWithASCIIString(name, common) == 0)
      return PyObject_GetAttr(of(self).function, name);
  PyObject* const own = PyObject_GenericGetAttr(self, name);
  if (own != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return own;
  PyErr_Clear();
  return PyObject_GetAttr(of(self).function, name);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(of(self).function, name, value);
}

PyObject* shown(PyObject* self) { return PyUnicode_FromFormat("<function %U>", of(self).name); }

PyObject* wrapped(PyObject* self, void*) { return Py_NewRef(of(self).function); }

/// pickle looks for the name in the module, where the door is.
PyObject* reduced(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(of(self).function, "__qualname__");
}

nb::object made_type() {
  static std::array<PyMemberDef, 3> members{
      PyMemberDef{"__vectorcalloffset__", T_PYSSIZET, offsetof(explained_function, called),
                  READONLY, nullptr},
      PyMemberDef{"__weaklistoffset__", T_PYSSIZET, offsetof(explained_function, weak), READONLY,
                  nullptr},
      PyMemberDef{}};
  static std::array<PyGetSetDef, 2> properties{
      PyGetSetDef{"__wrapped__", wrapped, nullptr, nullptr, nullptr}, PyGetSetDef{}};
  static std::array<PyMethodDef, 2> methods{
      PyMethodDef{"__reduce__", reduced, METH_NOARGS, nullptr}, PyMethodDef{}};
  std::array<PyType_Slot, 13> slots{
      PyType_Slot{Py_tp_new, reinterpret_cast<void*>(make)},
      PyType_Slot{Py_tp_dealloc, reinterpret_cast<void*>(end)},
      PyType_Slot{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      PyType_Slot{Py_tp_clear, reinterpret_cast<void*>(clear)},
      PyType_Slot{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      PyType_Slot{Py_tp_descr_get, reinterpret_cast<void*>(bound)},
      PyType_Slot{Py_tp_getattro, reinterpret_cast<void*>(attribute)},
      PyType_Slot{Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
      PyType_Slot{Py_tp_repr, reinterpret_cast<void*>(shown)},
      PyType_Slot{Py_tp_members, members.data()},
      PyType_Slot{Py_tp_getset, properties.data()},
      PyType_Slot{Py_tp_methods, methods.data()},
      PyType_Slot{0, nullptr}};
  PyType_Spec spec{"usmx._usmx.function", sizeof(explained_function), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots.data()};
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid()) nb::raise_python_error();
  return type;
}

}  // namespace

void bind_explained_functions(nb::module_& m) { m.attr("_ExplainedFunction") = made_type(); }

}  // namespace usmx::python
