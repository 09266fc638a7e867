// NumPy's rules, from the classes and sizes of the types, and those of PyTorch for bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/promotion.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "core/numbers.hpp"

namespace usmx {
namespace {

enum : int { int8 = 1, float16 = 9, float64 = 11, complex64 = 12 };

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
  const int row = detail::number_row_index(type);
  return row < number_types ? row : -1;
}

dtype number_type(int index) noexcept { return detail::type_of_row(index); }

std::string_view device_name(const dtype& type) noexcept {
  return detail::number_row_of(type)->on_device;
}

dtype part_type(const dtype& type) noexcept {
  if (type.kind() != type_class::complex) return type;
  return type.itemsize() == 8 ? dtype::of<float>() : dtype::of<double>();
}

dtype passed_type(const dtype& type) noexcept {
  return type.is_bfloat16() ? dtype::of<float>() : part_type(type);
}

std::optional<dtype> promote(const dtype& a, const dtype& b) noexcept {
  if (number_index(a) < 0 || number_index(b) < 0) return {};
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
  if (std::ranges::any_of(operands, [](const auto& o) { return number_index(o.type) < 0; }))
    return {};
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
