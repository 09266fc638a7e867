// Reads text from Python; see text.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "support/text.hpp"

#include "kernel/compile.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/self.hpp"

namespace usmx::python {

std::string to_text(nb::handle obj, const char* where, const char* expected) {
  if (!PyUnicode_Check(obj.ptr())) wrong_type(where, obj, expected);
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(obj.ptr(), &size);
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  throw value_error("{}: {} has a lone surrogate; expected text that UTF-8 can encode", where,
                    describe_value(obj));
}

std::vector<std::string> to_texts(nb::handle obj, const char* where, const char* expected) {
  if (PyUnicode_Check(obj.ptr()) || PyBytes_Check(obj.ptr()) || !PySequence_Check(obj.ptr())) {
    wrong_type(where, obj, expected);
  }
  // A copy: reading an item may run code that changes the sequence.
  const nb::object items = nb::steal(PySequence_Tuple(obj.ptr()));
  if (!items.is_valid()) throw nb::python_error();
  std::vector<std::string> out;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k) {
    const std::string place = detail::format("{}[{}]", where, k);
    out.push_back(to_text(PyTuple_GET_ITEM(items.ptr(), k), place.c_str()));
  }
  return out;
}

std::vector<std::string> to_options(nb::handle obj) {
  return to_texts(obj, "options", "a sequence of str, such as (\"-DN=8\",)");
}

std::vector<std::string> to_options(nb::handle obj, bool contract, bool driver_math) {
  auto options = to_options(obj);
  if (driver_math) options.insert(options.begin(), detail::driver_math_option);
  if (contract) options.insert(options.begin(), "-ffp-contract=fast");
  return options;
}

nb::str new_text(std::string_view text) {
  PyObject* const made =
      PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (made == nullptr) nb::raise_python_error();
  return nb::steal<nb::str>(made);
}

std::string shown(nb::handle str) {
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(str.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

std::string repr_of(nb::handle obj) {
  const nb::object text = nb::steal(PyObject_Repr(obj.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return shown(text);
}

void refuse_self(nb::handle obj, nb::handle type) {
  const bool is_one = PyObject_IsInstance(obj.ptr(), type.ptr()) == 1;
  PyErr_Clear();
  const char* const name = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_name;
  if (is_one) {
    PyErr_Format(PyExc_TypeError,
                 "%s: this object was never initialised; __init__ of a derived class has to call "
                 "super().__init__(...)",
                 Py_TYPE(obj.ptr())->tp_name);
  } else {
    PyErr_Format(PyExc_TypeError, "self: an object of type %s; expected a %s",
                 Py_TYPE(obj.ptr())->tp_name, name);
  }
  nb::raise_python_error();
}

}  // namespace usmx::python
