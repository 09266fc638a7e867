// Reads operands and calls; see expression_arguments.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/expression_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "support/containers.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

using detail::called;
using detail::format;

[[noreturn]] void refuse_type(const std::string& where, nb::handle obj, std::string_view expected) {
  throw nb::type_error(
      format("{}: is of type {}, expected {}", where, python_type(obj), expected).c_str());
}

[[noreturn]] void refuse(const char* what, const expression_parameter& p, nb::handle obj,
                         const sycl::device& device, std::string_view or_else = {}) {
  throw nb::type_error(
      format("{}: {}", called(what, p), no_memory_text(obj, device, or_else)).c_str());
}

/// NumPy's scalars, and arrays of rank 0, which NumPy sees as the same. Empty for anything else.
std::optional<operand> number_in_buffer(nb::handle obj) {
  try {
    const auto buffer = host_buffer::borrow(obj);
    if (!buffer || buffer->elements().rank() != 0 || buffer->elements().dtype().is_record()) {
      return {};
    }
    return operand(buffer->elements().dtype(), buffer->elements().data());
  } catch (nb::python_error& e) {  // elements without a dtype of ours: the caller says what helps
    if (e.matches(PyExc_MemoryError)) throw;
    return {};
  } catch (const nb::builtin_exception&) {
    return {};
  }
}

operand read_operand(nb::handle obj, const expression_parameter& p, borrowed_arrays& borrowed,
                     const sycl::queue* queue) {
  if (const auto* a = array_of(obj)) return operand(*a);
  PyObject* const o = obj.ptr();
  if (PyBool_Check(o)) return operand(o == Py_True);
  // NumPy's float64 and complex128 are Python numbers too, with a type of their own.
  if (PyFloat_CheckExact(o)) return operand(PyFloat_AS_DOUBLE(o));
  if (PyLong_Check(o)) return whole_number(o, called("input", p));
  if (PyComplex_CheckExact(o)) {
    return operand(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  }
  if (const auto* a = to_memory(obj, borrowed, queue).memory) return operand(*a);
  if (PyObject_CheckBuffer(o)) {
    if (const auto number = number_in_buffer(obj)) return *number;
  }
  refuse("input", p, obj, (queue != nullptr ? *queue : default_queue()).get_device(),
         " or a number");
}

const array& read_output(nb::handle obj, const expression_parameter& p, borrowed_arrays& borrowed,
                         const sycl::queue* queue) {
  const auto* const a = to_memory_alone(obj, borrowed, queue).memory;
  if (a == nullptr) {
    refuse("output", p, obj, (queue != nullptr ? *queue : default_queue()).get_device());
  }
  if (a->elements().read_only()) {
    throw interop_error(fault::read_only, format("{}: is read-only", called("output", p)));
  }
  return *a;
}

/// The outputs that a call names, in order: behind the inputs, or by `out=`.
std::vector<PyObject*> given_outputs(std::size_t inputs, std::size_t outputs,
                                     const std::string& name, PyObject* args, PyObject* out) {
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
  std::vector<PyObject*> given(outputs, nullptr);
  if (count != inputs && count != inputs + outputs) {
    throw nb::type_error(format("'{}' takes {} inputs, or {} arguments with the outputs; got {}",
                                name, inputs, inputs + outputs, count)
                             .c_str());
  }
  const auto take = [&](std::size_t n, PyObject* one) {
    if (one != Py_None) given[n] = one;
  };
  if (count > inputs) {
    if (out != Py_None) {
      throw nb::type_error(format("out: '{}' was given its outputs already", name).c_str());
    }
    for (std::size_t n = 0; n < outputs; ++n) {
      take(n, PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(inputs + n)));
    }
  } else if (out != Py_None && !PyTuple_Check(out)) {
    if (outputs != 1) {
      wrong_type("out", out, format("a tuple of {} arrays", outputs).c_str());
    }
    given[0] = out;
  } else if (out != Py_None) {
    if (PyTuple_GET_SIZE(out) != static_cast<Py_ssize_t>(outputs)) {
      throw nb::value_error(
          format("out: a tuple of {}, expected {} arrays", PyTuple_GET_SIZE(out), outputs).c_str());
    }
    for (std::size_t n = 0; n < outputs; ++n) {
      take(n, PyTuple_GET_ITEM(out, static_cast<Py_ssize_t>(n)));
    }
  }
  return given;
}

/// Where a call runs that names no queue.
sycl::queue queue_of_call(std::span<const operand> in, std::span<const expression_output> out) {
  queue_of_arrays place;
  for (const auto& o : in) {
    if (o.array()) place.see(*o.array());
  }
  for (const auto& o : out) {
    if (o.given) place.see(*o.given);
  }
  return place.get();
}

}  // namespace

operand whole_number(PyObject* number, const std::string& where) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow == 0) return operand(static_cast<std::int64_t>(value));
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    const std::string prefix = where.empty() ? where : where + ": ";
    PyErr_Format(PyExc_OverflowError, "%s%R has more than 64 bits", prefix.c_str(), number);
    nb::raise_python_error();
  }
  return operand(static_cast<std::uint64_t>(large));
}

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
    if (overflow == 0) return format("{}", value);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow > 0 && PyErr_Occurred() == nullptr) return format("{}u", large);
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
  refuse_type("identity", obj, "None, a str of C++, an int, a float or a bool");
}

int axis_argument(nb::handle obj) {
  if (!PyIndex_Check(obj.ptr()) || PyBool_Check(obj.ptr())) {
    refuse_type("axis", obj, "an int");
  }
  const auto value = PyNumber_AsSsize_t(obj.ptr(), PyExc_ValueError);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (value < -max_rank || value >= max_rank) {
    throw nb::value_error(format("axis: {} is out of range", value).c_str());
  }
  return static_cast<int>(value);
}

expression_call::expression_call(const expression_kernel& kernel, PyObject* args, PyObject* out,
                                 nb::handle queue_or_none, nb::handle depends_on)
    : out_(kernel.outputs().size()),
      out_objects_(given_outputs(kernel.inputs().size(), out_.size(), kernel.name(), args, out)),
      queue_([&] {
        // Decides which memory of the host can be used.
        std::optional<sycl::queue> named;
        if (!queue_or_none.is_none()) named = to_queue(queue_or_none);
        const sycl::queue* const where = named ? &*named : nullptr;
        const auto inputs = kernel.inputs();
        in_.reserve(inputs.size());
        for (std::size_t n = 0; n < inputs.size(); ++n) {
          PyObject* const one = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(n));
          in_.push_back(read_operand(one, inputs[n], borrowed_, where));
        }
        for (std::size_t n = 0; n < out_.size(); ++n) {
          if (out_objects_[n] == nullptr) continue;
          out_[n].given = &read_output(out_objects_[n], kernel.outputs()[n], borrowed_, where);
          waits_ |= !nb::inst_check(out_objects_[n]);
        }
        return named ? *named : queue_of_call(in_, out_);
      }()),
      order_(depends_on.is_none() ? ordering::automatic : ordering::by_hand) {
  if (order_ == ordering::by_hand) before_ = to_events(depends_on, "depends_on");
  borrowed_.put_on(queue_, [&](const array& a) {
    const auto at = std::ranges::find(in_, &a, &operand::array);
    const auto n = static_cast<std::size_t>(at - in_.begin());
    if (n < in_.size()) {
      refuse("input", kernel.inputs()[n], nb::handle(PyTuple_GET_ITEM(args, n)),
             queue_.get_device());
    }
    const auto out_at = std::ranges::find(out_, &a, &expression_output::given);
    const auto o = static_cast<std::size_t>(out_at - out_.begin());
    refuse("output", kernel.outputs()[o], nb::handle(out_objects_[o]), queue_.get_device());
  });
  waits_ |= borrowed_.has_host_views();
}

nb::object expression_call::result() {
  const auto one = [&](std::size_t n) {
    if (out_objects_[n] != nullptr) return nb::borrow(out_objects_[n]);
    return wrap_array(std::move(out_[n].made));
  };
  if (out_.size() == 1) return one(0);
  const nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(out_.size())));
  if (!all.is_valid()) throw nb::python_error();
  for (std::size_t n = 0; n < out_.size(); ++n) {
    PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(n), one(n).release().ptr());
  }
  return all;
}

nb::tuple signature_of(std::span<const expression_parameter> parameters) {
  nb::list all = new_list();
  for (const auto& p : parameters) all.append(p.text);
  return nb::tuple(all);
}

void add_parameters(nb::list& args, const expression_kernel& kernel) {
  for (const auto parameters : {kernel.inputs(), kernel.outputs()}) {
    std::string text;
    for (const auto& p : parameters) text += (text.empty() ? "" : ", ") + p.text;
    args.append(text);
  }
}

}  // namespace usmx::python
