// Single elements as Python numbers and back, checked as NumPy checks them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <cstring>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// One element of any dtype in host memory.
any_view single(void* data, const dtype& type) {
  any_view out;
  check(any_view::make(data, type, layout(), usm_kind::unknown, false, out));
  return out;
}

template <class Wide>
void convert_to(const Wide& value, const dtype& type, std::byte* out) {
  alignas(16) std::byte aligned[16];
  Wide copy = value;
  convert_on_host(single(aligned, type), single(&copy, dtype::of<Wide>()));
  std::memcpy(out, aligned, type.itemsize());
}

template <class Wide>
Wide convert_from(const std::byte* bytes, const dtype& type) {
  alignas(16) std::byte aligned[16];
  std::memcpy(aligned, bytes, type.itemsize());
  Wide out;
  convert_on_host(single(&out, dtype::of<Wide>()), single(aligned, type));
  return out;
}

[[noreturn]] void overflow(nb::handle number, const dtype& type) {
  PyErr_Format(PyExc_OverflowError, "%R does not fit into %s", number.ptr(), type.name().c_str());
  nb::raise_python_error();
}

void integer_element(nb::handle number, const dtype& type, std::byte* out) {
  nb::object whole;
  if (PyIndex_Check(number.ptr())) {
    whole = nb::steal(PyNumber_Index(number.ptr()));
  } else if (PyComplex_Check(number.ptr()) || nb::isinstance<nb::str>(number)) {
    wrong_type("value", number, "a real number");
  } else {
    whole = nb::steal(PyNumber_Long(number.ptr()));  // ValueError, OverflowError for NaN, infinity
  }
  if (!whole.is_valid()) nb::raise_python_error();
  const int bits = static_cast<int>(8 * type.itemsize());
  if (type.kind() == type_class::unsigned_integer) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      overflow(number, type);
    }
    if (bits < 64 && value >> bits != 0) overflow(number, type);
    return convert_to(static_cast<std::uint64_t>(value), type, out);
  }
  int too_big = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &too_big);
  const long long most = bits == 64 ? INT64_MAX : (1LL << (bits - 1)) - 1;
  if (too_big != 0 || value > most || value < -most - 1) overflow(number, type);
  convert_to(static_cast<std::int64_t>(value), type, out);
}

}  // namespace

void to_element(nb::handle number, const dtype& type, std::byte* out) {
  switch (type.kind()) {
    case type_class::boolean: {
      const int truth = PyObject_IsTrue(number.ptr());
      if (truth < 0) nb::raise_python_error();
      *out = static_cast<std::byte>(truth);
      return;
    }
    case type_class::integer:
    case type_class::unsigned_integer:
      return integer_element(number, type, out);
    case type_class::floating: {
      if (PyComplex_Check(number.ptr())) wrong_type("value", number, "a real number");
      const double value = PyFloat_AsDouble(number.ptr());
      if (value == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
      return convert_to(value, type, out);
    }
    case type_class::complex: {
      const Py_complex value = PyComplex_AsCComplex(number.ptr());
      if (value.real == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
      return convert_to(std::complex<double>(value.real, value.imag), type, out);
    }
    case type_class::record:
      break;
  }
  const nb::object np = numpy();
  if (!np.is_valid())
    wrong_type("value", number, "an array of the same record (other values need NumPy)");
  const nb::object element = np.attr("asarray")(number, dtype_object(type));
  const auto buffer = host_buffer::borrow(element);
  if (!buffer || buffer->elements().size() != 1) wrong_type("value", number, "one record");
  std::memcpy(out, buffer->elements().data(), type.itemsize());
}

nb::object from_element(const std::byte* bytes, const dtype& type) {
  switch (type.kind()) {
    case type_class::boolean:
      return nb::bool_(*bytes != std::byte{0});
    case type_class::integer:
      return nb::int_(convert_from<std::int64_t>(bytes, type));
    case type_class::unsigned_integer:
      return nb::int_(convert_from<std::uint64_t>(bytes, type));
    case type_class::floating:
      return nb::float_(convert_from<double>(bytes, type));
    case type_class::complex: {
      const auto value = convert_from<std::complex<double>>(bytes, type);
      return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
    }
    case type_class::record:
      break;
  }
  const nb::bytes raw(bytes, type.itemsize());
  const nb::object np = numpy();
  if (!np.is_valid()) return raw;
  return np.attr("frombuffer")(raw, dtype_object(type))[0].attr("item")();
}

bool is_python_number(nb::handle obj) noexcept {
  PyTypeObject* const t = Py_TYPE(obj.ptr());
  return t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyComplex_Type;
}

dtype natural_dtype(nb::handle number) {
  if (PyBool_Check(number.ptr())) return dtype::of<bool>();
  if (PyFloat_Check(number.ptr())) return dtype::of<double>();
  if (PyComplex_Check(number.ptr())) return dtype::of<std::complex<double>>();
  int too_big = 0;
  static_cast<void>(PyLong_AsLongLongAndOverflow(number.ptr(), &too_big));
  return too_big > 0 ? dtype::of<std::uint64_t>() : dtype::of<std::int64_t>();
}

}  // namespace usmx::python
