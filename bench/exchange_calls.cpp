// What an argument costs a function in C: USM by the table of C functions, and by the dictionary.
// exchange.py calls these.
// SPDX-License-Identifier: Apache-2.0
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "usmx/exchange.h"

namespace {

bool by_table(PyObject* object) {
  const sycl_usm_exchange_api* const api = sycl_usm_exchange_of(object);
  sycl_usm_array a;
  if (api == nullptr || api->view(object, &a) != 0) return false;
  return a.type == 'f' && a.ndim == 1 && a.shape[0] > 0 && a.data != nullptr;
}

/// The same fields, as the dictionary has them.
bool by_dictionary(PyObject* object) {
  static PyObject* const attribute = PyUnicode_InternFromString("__sycl_usm_array_interface__");
  static PyObject* const data = PyUnicode_InternFromString("data");
  static PyObject* const shape = PyUnicode_InternFromString("shape");
  static PyObject* const typestr = PyUnicode_InternFromString("typestr");
  PyObject* const dict = PyObject_GetAttr(object, attribute);
  if (dict == nullptr) return false;
  const char* const type = PyUnicode_AsUTF8(PyDict_GetItem(dict, typestr));
  const bool is_row =
      PyLong_AsVoidPtr(PyTuple_GET_ITEM(PyDict_GetItem(dict, data), 0)) != nullptr &&
      PyLong_AsLongLong(PyTuple_GET_ITEM(PyDict_GetItem(dict, shape), 0)) > 0 && type[1] == 'f';
  Py_DECREF(dict);
  return is_row;
}

/// f(object, times): as a function with so many arguments.
template <bool Take(PyObject*)>
PyObject* repeated(PyObject*, PyObject* const* args, Py_ssize_t count) {
  const long times = count == 2 ? PyLong_AsLong(args[1]) : -1;
  for (long k = 0; k < times; ++k) {
    if (!Take(args[0])) {
      PyErr_SetString(PyExc_TypeError, "expected a row of floats");
      return nullptr;
    }
  }
  Py_RETURN_NONE;
}

template <bool Take(PyObject*)>
PyCFunction method() {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&repeated<Take>));
}

PyMethodDef functions[] = {
    {"by_table", method<by_table>(), METH_FASTCALL, nullptr},
    {"by_dictionary", method<by_dictionary>(), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "exchange_calls",
    nullptr,
    -1,
    functions,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_exchange_calls() { return PyModule_Create(&definition); }
