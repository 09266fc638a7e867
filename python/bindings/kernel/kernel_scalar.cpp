// Numbers are converted by value and checked against the declared type, so that 300 never arrives
// as 44 and 2.5 never as 2.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "support/text.hpp"

namespace usmx::python {
namespace nb = nanobind;
namespace {

[[noreturn]] void wrong_type(const std::string& where, nb::handle number,
                             const std::string& wanted) {
  throw nb::type_error(
      (where + ": is of type " + shown(nb::type_name(number.type())) + ", expected " + wanted)
          .c_str());
}

[[noreturn]] void out_of_range(const std::string& where, nb::handle number, const dtype& type) {
  throw nb::value_error(
      (where + ": " + repr_of(number) + " does not fit into " + type.name()).c_str());
}

/// The letter of a NumPy scalar's format ('f', 'q', '?'), 0 for everything else; `bits` are its
/// bytes.
char format_of(nb::handle number, std::uint64_t& bits, std::size_t& size) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(number.ptr())) return 0;
  if (PyObject_GetBuffer(number.ptr(), &view, PyBUF_FORMAT | PyBUF_ND) != 0) {
    PyErr_Clear();
    return 0;
  }
  char format = view.ndim == 0 && view.format && view.format[1] == 0 ? view.format[0] : '\0';
  size = static_cast<std::size_t>(view.itemsize);
  if (size > sizeof bits) format = 0;
  if (format != 0) std::memcpy(&bits, view.buf, size);
  PyBuffer_Release(&view);
  return format;
}

/// A NumPy scalar in its own type.
kernel_argument as_it_is(nb::handle number, const std::string& where) {
  std::uint64_t bits = 0;
  std::size_t size = 0;
  const char format = format_of(number, bits, size);
  const auto is = [&](const char* formats) { return format != 0 && std::strchr(formats, format); };
  const char letter = is("?") ? 'b' : is("bhilq") ? 'i' : is("BHILQ") ? 'u' : is("efd") ? 'f' : 0;
  dtype type;
  if (letter == 0 ||
      dtype::parse(std::string(size == 1 ? "|" : "<") + letter + std::to_string(size), type) !=
          fault::none) {
    wrong_type(where, number,
               "a real NumPy scalar of at most eight bytes: the source does not show the type of "
               "this parameter, so the number must bring its own");
  }
  return {type, &bits};
}

template <class Number>
kernel_argument checked_integer(nb::handle number, const std::string& where) {
  const auto type = dtype::of<Number>();
  if (!PyIndex_Check(number.ptr())) wrong_type(where, number, "an integer for " + type.name());
  const auto value = nb::steal(PyNumber_Index(number.ptr()));
  if (!value.is_valid()) throw nb::python_error();
  if constexpr (std::is_signed_v<Number>) {
    int overflow = 0;
    const long long wide = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || wide < std::numeric_limits<Number>::min() ||
        wide > std::numeric_limits<Number>::max()) {
      out_of_range(where, number, type);
    }
    return static_cast<Number>(wide);
  } else {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      out_of_range(where, number, type);
    }
    if (wide > std::numeric_limits<Number>::max()) out_of_range(where, number, type);
    return static_cast<Number>(wide);
  }
}

template <class Number>
kernel_argument checked_floating(nb::handle number, const dtype& type, double largest,
                                 const std::string& where) {
  // A complex NumPy scalar and an array of one element would convert too, with a warning at most.
  std::uint64_t bits = 0;
  std::size_t size = 0;
  if (!PyFloat_Check(number.ptr()) && PyObject_CheckBuffer(number.ptr()) &&
      format_of(number, bits, size) == 0) {
    wrong_type(where, number, "a real number for " + type.name());
  }
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      out_of_range(where, number, type);
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    wrong_type(where, number, "a real number for " + type.name());
  }
  if (std::isfinite(value) && std::abs(value) > largest) out_of_range(where, number, type);
  return Number(static_cast<std::conditional_t<sizeof(Number) == 8, double, float>>(value));
}

kernel_argument checked_boolean(nb::handle number, const std::string& where) {
  if (PyIndex_Check(number.ptr())) {
    const auto value = nb::steal(PyNumber_Index(number.ptr()));
    if (!value.is_valid()) throw nb::python_error();
    const long bit = PyLong_AsLong(value.ptr());
    if (bit == 0 || bit == 1) return bit == 1;
    PyErr_Clear();
    out_of_range(where, number, dtype::of<bool>());
  }
  // NumPy's bool is no index; it is known by its buffer of one '?'.
  std::uint64_t bits = 0;
  std::size_t size = 0;
  if (format_of(number, bits, size) != '?') wrong_type(where, number, "a bool");
  return bits != 0;
}

}  // namespace

kernel_argument to_scalar(nb::handle number, const kernel_parameter* parameter,
                          const std::string& where) {
  if (!parameter || !parameter->type) return as_it_is(number, where);
  const auto& type = *parameter->type;
  switch (type.kind()) {
    case type_class::boolean:
      return checked_boolean(number, where);
    case type_class::integer:
      switch (type.itemsize()) {
        case 1:
          return checked_integer<std::int8_t>(number, where);
        case 2:
          return checked_integer<std::int16_t>(number, where);
        case 4:
          return checked_integer<std::int32_t>(number, where);
        default:
          return checked_integer<std::int64_t>(number, where);
      }
    case type_class::unsigned_integer:
      switch (type.itemsize()) {
        case 1:
          return checked_integer<std::uint8_t>(number, where);
        case 2:
          return checked_integer<std::uint16_t>(number, where);
        case 4:
          return checked_integer<std::uint32_t>(number, where);
        default:
          return checked_integer<std::uint64_t>(number, where);
      }
    case type_class::floating:
      switch (type.itemsize()) {
        case 2:
          return checked_floating<sycl::half>(number, type, 65504.0, where);
        case 4:
          return checked_floating<float>(number, type, std::numeric_limits<float>::max(), where);
        default:
          return checked_floating<double>(number, type, std::numeric_limits<double>::max(), where);
      }
    default:
      wrong_type(where, number,
                 "nothing: a portable kernel takes real scalars only, pass the parts");
  }
}

std::optional<kernel_argument> plain_scalar(nb::handle number,
                                            const kernel_parameter* parameter) noexcept {
  if (!parameter || !parameter->type) return {};
  const auto& type = *parameter->type;
  if (PyFloat_CheckExact(number.ptr()) && type.kind() == type_class::floating) {
    const double value = PyFloat_AS_DOUBLE(number.ptr());
    if (type.itemsize() == 8) return value;
    // Written so that NaN, which fits, takes the long way.
    if (type.itemsize() == 4 && std::abs(value) <= std::numeric_limits<float>::max()) {
      return static_cast<float>(value);
    }
  } else if (PyLong_CheckExact(number.ptr()) && type.kind() == type_class::integer) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) return {};
    if (type.itemsize() == 8) return static_cast<std::int64_t>(value);
    if (type.itemsize() == 4 && value == static_cast<std::int32_t>(value)) {
      return static_cast<std::int32_t>(value);
    }
  }
  return {};
}

}  // namespace usmx::python
