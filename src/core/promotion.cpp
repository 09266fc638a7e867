// NumPy's rules, from the classes and sizes of the types, and those of PyTorch for bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/promotion.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace usmx {
namespace {

struct number_row {
  std::string_view typestr, on_device;
};
constexpr number_row numbers[number_types] = {
    {"|b1", "bool"},           {"|i1", "int8_t"},
    {"<i2", "int16_t"},        {"<i4", "int32_t"},
    {"<i8", "int64_t"},        {"|u1", "uint8_t"},
    {"<u2", "uint16_t"},       {"<u4", "uint32_t"},
    {"<u8", "uint64_t"},       {"<f2", "half"},
    {"<f4", "float"},          {"<f8", "double"},
    {"<c8", "complex<float>"}, {"<c16", "complex<double>"},
    {"", "bfloat16"}};
enum : int {
  boolean = 0,
  int8 = 1,
  int64 = 4,
  uint8 = 5,
  float16 = 9,
  float64 = 11,
  complex64 = 12,
  brain16 = 14
};

int rank_of(const dtype& type) noexcept {
  switch (type.kind()) {
    case type_class::boolean:
      return 0;
    case type_class::unsigned_integer:
      return 1;
    case type_class::integer:
      return 2;
    case type_class::floating:
      return 3;
    case type_class::complex:
      return 4;
    default:
      return 5;
  }
}

int size_step(const dtype& type) noexcept {
  return std::countr_zero(static_cast<unsigned>(type.itemsize()));
}

/// Bytes of the smallest floating-point type that holds integers of so many bytes as NumPy sees it.
int floating_step(const dtype& integer) noexcept {
  return integer.kind() == type_class::boolean ? 1 : std::min(size_step(integer) + 1, 3);
}

/// A weak number combined with a type: its class may be higher, its size is ignored.
dtype with_weak(const dtype& strong, const dtype& weak) noexcept {
  const int own = rank_of(strong);
  switch (weak.kind()) {
    case type_class::boolean:
      return strong;
    case type_class::integer:
    case type_class::unsigned_integer:
      return own == 0 ? weak : strong;
    case type_class::floating:
      return own < 3 ? weak : strong;
    default:
      if (own == 4) return strong;
      return number_type(own == 3 && strong.itemsize() < 8 ? complex64 : complex64 + 1);
  }
}

}  // namespace

int number_index(const dtype& type) noexcept {
  switch (type.kind()) {
    case type_class::boolean:
      return boolean;
    case type_class::integer:
      return int8 + size_step(type);
    case type_class::unsigned_integer:
      return uint8 + size_step(type);
    case type_class::floating:
      return type.is_bfloat16() ? brain16 : float16 + size_step(type) - 1;
    case type_class::complex:
      return complex64 + size_step(type) - 3;
    default:
      return -1;
  }
}

dtype number_type(int index) noexcept {
  if (index == brain16) return dtype::of<bfloat16>();
  dtype type;
  // Every string of the table is one that parse knows.
  (void)dtype::parse(numbers[index].typestr, type);
  return type;
}

std::string_view device_name(const dtype& type) noexcept {
  return numbers[number_index(type)].on_device;
}

dtype part_type(const dtype& type) noexcept {
  if (type.kind() != type_class::complex) return type;
  return type.itemsize() == 8 ? dtype::of<float>() : dtype::of<double>();
}

dtype passed_type(const dtype& type) noexcept {
  return type.is_bfloat16() ? dtype::of<float>() : part_type(type);
}

std::optional<dtype> promote(const dtype& a, const dtype& b) noexcept {
  if (a.is_record() || b.is_record()) return {};
  if (rank_of(a) < rank_of(b)) return promote(b, a);
  // From here on `a` is of the same class or a higher one.
  if (a.kind() == b.kind()) {
    // float16 and bfloat16: neither holds the other.
    if (a.itemsize() == b.itemsize() && a != b) return dtype::of<float>();
    return a.itemsize() < b.itemsize() ? b : a;
  }
  if (b.kind() == type_class::boolean) return a;
  switch (a.kind()) {
    case type_class::integer:
      if (a.itemsize() > b.itemsize()) return a;
      return number_type(b.itemsize() < 8 ? int8 + size_step(b) + 1 : float64);
    case type_class::floating:
      if (a.is_bfloat16()) return a;
      return number_type(float16 + std::max(size_step(a), floating_step(b)) - 1);
    default: {
      const int part = b.kind() == type_class::floating ? size_step(b) : floating_step(b);
      return number_type(complex64 + std::max(size_step(a) - 3, part - 2 > 0 ? 1 : 0));
    }
  }
}

std::optional<dtype> result_type(std::span<const operand_type> operands) noexcept {
  if (std::ranges::any_of(operands, [](const auto& o) { return o.type.is_record(); })) return {};
  // From the highest class down: float32 is promoted with int8 and uint16 one by one, not with
  // their int32.
  std::optional<dtype> strong;
  for (int rank = 4; rank >= 0; --rank) {
    for (const auto& o : operands) {
      if (o.weak || rank_of(o.type) != rank) continue;
      strong = strong ? promote(*strong, o.type) : o.type;
    }
  }
  std::optional<dtype> weak;
  for (const auto& o : operands) {
    if (o.weak) weak = weak ? promote(*weak, o.type) : o.type;
  }
  if (!weak) return strong;
  return strong ? with_weak(*strong, *weak) : *weak;
}

bool can_cast_same_kind(const dtype& from, const dtype& to) noexcept {
  return !from.is_record() && !to.is_record() && rank_of(from) <= rank_of(to);
}

}  // namespace usmx
