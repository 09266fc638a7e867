// Reads calls of reductions and scans; see reduction_arguments.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/reduction_arguments.hpp"

#include <cmath>
#include <limits>

#include "array/ndarray.hpp"
#include "support/text.hpp"

namespace usmx::python {

std::optional<std::string> identity_argument(nb::handle obj) {
  PyObject* const o = obj.ptr();
  if (o == Py_None) return {};
  if (PyUnicode_Check(o)) {
    std::string text = to_text(obj, "identity");
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return {};
    return text;
  }
  if (PyBool_Check(o)) return o == Py_True ? "true" : "false";
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    // The lowest number has no positive one to put a minus before.
    if (overflow == 0 && value == std::numeric_limits<long long>::min()) {
      return "(-9223372036854775807 - 1)";
    }
    if (overflow == 0) return std::to_string(value);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow > 0 && PyErr_Occurred() == nullptr) return std::to_string(large) + "u";
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "identity: %R has more than 64 bits", o);
    nb::raise_python_error();
  }
  if (PyFloat_Check(o)) {
    const double value = PyFloat_AS_DOUBLE(o);
    if (std::isnan(value)) return "__builtin_nan(\"\")";
    if (std::isinf(value)) return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
    return repr_of(nb::float_(value));
  }
  throw nb::type_error(("identity: is of type " + python_type(obj) +
                        ", expected None, a str of C++, an int, a float or a bool")
                           .c_str());
}

int axis_argument(nb::handle obj) {
  if (!PyIndex_Check(obj.ptr()) || PyBool_Check(obj.ptr())) {
    throw nb::type_error(("axis: is of type " + python_type(obj) + ", expected an int").c_str());
  }
  const auto value = PyNumber_AsSsize_t(obj.ptr(), PyExc_ValueError);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (value < -max_rank || value >= max_rank) {
    throw nb::value_error(("axis: " + std::to_string(value) + " is out of range").c_str());
  }
  return static_cast<int>(value);
}

expression_call::expression_call(std::span<const expression_parameter> inputs,
                                 std::span<const expression_parameter> outputs,
                                 const std::string& name, nb::args args, nb::handle out_argument,
                                 nb::handle queue_or_none, nb::handle depends_on)
    : queue(default_queue()) {
  const std::size_t with_outputs = inputs.size() + outputs.size();
  if (args.size() != inputs.size() && args.size() != with_outputs) {
    throw nb::type_error(("'" + name + "' takes " + std::to_string(inputs.size()) + " inputs, or " +
                          std::to_string(with_outputs) + " arguments with the outputs; got " +
                          std::to_string(args.size()))
                             .c_str());
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    in.push_back(read_operand(args[k], inputs[k], borrowed));
  }
  out_objects.resize(outputs.size(), nb::none());
  if (args.size() == with_outputs) {
    if (!out_argument.is_none()) {
      throw nb::type_error(("out: '" + name + "' was given its outputs already").c_str());
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      out_objects[k] = nb::borrow(args[inputs.size() + k]);
    }
  } else if (PyTuple_Check(out_argument.ptr())) {
    const auto given = nb::borrow<nb::tuple>(out_argument);
    if (given.size() != outputs.size()) {
      throw nb::value_error(("out: a tuple of " + std::to_string(given.size()) + ", expected " +
                             std::to_string(outputs.size()) + " arrays")
                                .c_str());
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) out_objects[k] = given[k];
  } else if (!out_argument.is_none()) {
    if (outputs.size() != 1) {
      throw nb::type_error(("out: is of type " + python_type(out_argument) +
                            ", expected a tuple of " + std::to_string(outputs.size()) + " arrays")
                               .c_str());
    }
    out_objects[0] = nb::borrow(out_argument);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    out.push_back(out_objects[k].is_none() ? nullptr
                                           : &read_output(out_objects[k], outputs[k], borrowed));
  }
  queue = queue_of_call(queue_or_none, in, out);
  if (!depends_on.is_none()) before = to_events(depends_on, "depends_on");
}

std::vector<sycl::event> expression_call::order() const {
  if (before) return *before;
  std::vector<const array*> arrays;
  for (const operand& o : in) {
    if (o.array()) arrays.push_back(o.array());
  }
  for (const array* a : out) {
    if (a) arrays.push_back(a);
  }
  return order_of(queue, arrays);
}

}  // namespace usmx::python
