// See numpy_numbers.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/numpy_numbers.hpp"

#include <array>
#include <complex>
#include <string_view>

namespace usmx::python {
namespace {

struct known_class {
  std::string_view name;
  dtype type;
  /// Static, so that it stays and is found once. Guarded by the GIL.
  PyTypeObject* found = nullptr;
};

/// Those that both have: not the long ones of C, whose bytes usmx does not know.
std::array<known_class, 18>& known_classes() {
  static auto& all = *new std::array<known_class, 18>{{
      {"numpy.float32", dtype::of<float>()},
      {"numpy.float64", dtype::of<double>()},
      {"numpy.int32", dtype::of<std::int32_t>()},
      {"numpy.int64", dtype::of<std::int64_t>()},
      {"numpy.float16", dtype::of<sycl::half>()},
      {"numpy.int8", dtype::of<std::int8_t>()},
      {"numpy.int16", dtype::of<std::int16_t>()},
      {"numpy.uint8", dtype::of<std::uint8_t>()},
      {"numpy.uint16", dtype::of<std::uint16_t>()},
      {"numpy.uint32", dtype::of<std::uint32_t>()},
      {"numpy.uint64", dtype::of<std::uint64_t>()},
      {"numpy.longlong", dtype::of<long long>()},
      {"numpy.ulonglong", dtype::of<unsigned long long>()},
      {"numpy.complex64", dtype::of<std::complex<float>>()},
      {"numpy.complex128", dtype::of<std::complex<double>>()},
      {"numpy.bool", dtype::of<bool>()},
      {"numpy.bool_", dtype::of<bool>()},  // its name before 2.0
      {"numpy.intc", dtype::of<int>()},
  }};
  return all;
}

}  // namespace

const dtype* type_of_numpy_number(PyTypeObject* type) noexcept {
  // Classes that programs derive from them may mean something else.
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) != 0) return nullptr;
  for (const known_class& k : known_classes()) {
    if (k.found == type) return &k.type;
  }
  const std::string_view name = type->tp_name;
  if (!name.starts_with("numpy.")) return nullptr;
  for (known_class& k : known_classes()) {
    const auto least = static_cast<Py_ssize_t>(sizeof(PyObject) + k.type.itemsize());
    if (k.name != name || type->tp_basicsize < least) continue;
    k.found = type;
    return &k.type;
  }
  return nullptr;
}

const void* bytes_of_numpy_number(PyObject* number) noexcept { return number + 1; }

}  // namespace usmx::python
