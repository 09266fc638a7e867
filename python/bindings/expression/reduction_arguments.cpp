// Reads calls of reductions and scans; see reduction_arguments.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/reduction_arguments.hpp"

#include <cmath>
#include <limits>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
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

namespace {

/// The outputs that a call names, in order: behind the inputs, or by `out=`.
std::vector<PyObject*> given_outputs(std::size_t inputs, std::size_t outputs,
                                     const std::string& name, PyObject* args, PyObject* out) {
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
  std::vector<PyObject*> given(outputs, nullptr);
  if (count != inputs && count != inputs + outputs) {
    throw nb::type_error(("'" + name + "' takes " + std::to_string(inputs) + " inputs, or " +
                          std::to_string(inputs + outputs) + " arguments with the outputs; got " +
                          std::to_string(count))
                             .c_str());
  }
  const auto take = [&](std::size_t n, PyObject* one) {
    if (one != Py_None) given[n] = one;
  };
  if (count > inputs) {
    if (out != Py_None) {
      throw nb::type_error(("out: '" + name + "' was given its outputs already").c_str());
    }
    for (std::size_t n = 0; n < outputs; ++n) {
      take(n, PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(inputs + n)));
    }
  } else if (out != Py_None && !PyTuple_Check(out)) {
    if (outputs != 1) {
      wrong_type("out", out, ("a tuple of " + std::to_string(outputs) + " arrays").c_str());
    }
    given[0] = out;
  } else if (out != Py_None) {
    if (PyTuple_GET_SIZE(out) != static_cast<Py_ssize_t>(outputs)) {
      throw nb::value_error(("out: a tuple of " + std::to_string(PyTuple_GET_SIZE(out)) +
                             ", expected " + std::to_string(outputs) + " arrays")
                                .c_str());
    }
    for (std::size_t n = 0; n < outputs; ++n) {
      take(n, PyTuple_GET_ITEM(out, static_cast<Py_ssize_t>(n)));
    }
  }
  return given;
}

}  // namespace

expression_call::expression_call(std::span<const expression_parameter> inputs,
                                 std::span<const expression_parameter> outputs,
                                 const std::string& name, PyObject* args, PyObject* out_argument,
                                 nb::handle queue_or_none, nb::handle depends_on)
    : out(outputs.size()),
      out_objects(given_outputs(inputs.size(), outputs.size(), name, args, out_argument)),
      queue([&] {
        in.reserve(inputs.size());
        arrays.reserve(inputs.size() + outputs.size());
        for (std::size_t n = 0; n < inputs.size(); ++n) {
          PyObject* const one = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(n));
          in.push_back(read_operand(one, inputs[n], borrowed));
          arrays.push_back(in.back().array());
        }
        for (std::size_t n = 0; n < outputs.size(); ++n) {
          if (out_objects[n] == nullptr) continue;
          out[n].given = &read_output(out_objects[n], outputs[n], borrowed);
          arrays.push_back(out[n].given);
          has_readers_elsewhere |= is_read_by_others(out_objects[n]);
        }
        return queue_of_call(queue_or_none, in, arrays);
      }()) {
  if (!depends_on.is_none()) before = to_events(depends_on, "depends_on");
}

std::vector<sycl::event> expression_call::order() const {
  return before ? *before : order_of(queue, arrays);
}

}  // namespace usmx::python
