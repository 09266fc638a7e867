// NumPy's type promotion, without NumPy: what expressions over arrays of
// different element types need before a kernel can be written for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "usmx/dtype.hpp"

namespace usmx {

/// An element type as it takes part in a promotion.
struct operand_type {
  dtype type;
  /// A literal number, of which only the class counts: float32 times 2.0 stays
  /// float32 (NEP 50). Its own type is bool, int64, uint64, float64 or complex128.
  bool weak = false;
};

/// The number of types that expressions compute with: bool, eight integers, three floating and two
/// complex ones, and bfloat16.
inline constexpr int number_types = 15;
/// Which of them a type is, in the order bool, int8 ... int64, uint8 ... uint64, float16 ...
/// float64, complex64, complex128, bfloat16; -1 for a record.
int number_index(const dtype& type) noexcept;
/// The type with that index. `index` must be one.
dtype number_type(int index) noexcept;
/// Its name in kernels: "float", "uint8_t", "complex<double>". Not for records.
std::string_view device_name(const dtype& type) noexcept;
/// The type of a real or imaginary part; of other types, the type itself.
dtype part_type(const dtype& type) noexcept;

/// The type of the numbers as which a kernel takes one by value: that of the parts of complex ones;
/// float for bfloat16, which is a structure in kernels; of other types, the type itself.
dtype passed_type(const dtype& type) noexcept;

/// What `numpy.promote_types` gives; empty if one is a record. NumPy has no bfloat16: with bools
/// and integers it stays bfloat16, with float16 and float32 it is float32, as in PyTorch and JAX.
std::optional<dtype> promote(const dtype& a, const dtype& b) noexcept;

/// What `numpy.result_type` gives for all of them; empty for records and for an empty list.
std::optional<dtype> result_type(std::span<const operand_type> operands) noexcept;

/// What `numpy.can_cast(from, to, "same_kind")` gives: no cast from numbers with a fraction to
/// those without, from complex to real, or from signed to unsigned. False for records.
bool can_cast_same_kind(const dtype& from, const dtype& to) noexcept;

}  // namespace usmx
