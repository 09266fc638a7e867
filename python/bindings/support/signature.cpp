// Defaults of signatures as objects of Python: see signature.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "support/signature.hpp"

#include <string>

#include "support/containers.hpp"

namespace usmx::python {

nb::object literal_value(std::string_view text) {
  if (text == "None") return nb::none();
  if (text == "True" || text == "False") return nb::bool_(text == "True");
  if (text == "()") return checked<nb::tuple>(PyTuple_New(0));
  const bool is_bytes = text.front() == 'b';
  if (is_bytes) text.remove_prefix(1);
  if (text.front() == '\'' || text.front() == '"') {
    const std::string_view inner = text.substr(1, text.size() - 2);
    const auto size = static_cast<Py_ssize_t>(inner.size());
    if (is_bytes) return checked<nb::object>(PyBytes_FromStringAndSize(inner.data(), size));
    // Interned, as texts of programs are.
    PyObject* made = PyUnicode_FromStringAndSize(inner.data(), size);
    if (made == nullptr) nb::raise_python_error();
    PyUnicode_InternInPlace(&made);
    return nb::steal(made);
  }
  const std::string number(text);
  if (number.find('.') == std::string::npos)
    return checked<nb::object>(PyLong_FromString(number.c_str(), nullptr, 10));
  const nb::object read = checked<nb::object>(PyUnicode_FromString(number.c_str()));
  return checked<nb::object>(PyFloat_FromString(read.ptr()));
}

}  // namespace usmx::python
