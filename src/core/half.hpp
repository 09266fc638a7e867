// Half precision on a host that may have no instruction for it: exact on the way in, rounded to
// nearest even once on the way out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "usmx/dtype.hpp"

namespace usmx::detail {

/// The bits of an IEEE binary16 number.
enum class half_bits : std::uint16_t {};

/// Exact. Scaling by a power of two turns the rebased exponent right for subnormal numbers too.
inline double from_half(half_bits h) noexcept {
  const std::uint32_t bits = static_cast<std::uint16_t>(h);
  const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
  float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  // Infinities and NaNs keep their payload under the largest exponent.
  if ((bits & 0x7c00u) == 0x7c00u) value = std::bit_cast<float>(magnitude | 0x7f800000u);
  return (bits & 0x8000u) != 0 ? -value : value;
}

/// To nearest, ties to even; what is too large becomes an infinity.
inline half_bits to_half(double x) noexcept {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
  const double value = std::bit_cast<double>(magnitude);
  std::uint32_t out;
  if (magnitude > 0x7ff0000000000000u) {
    out = 0x7e00u | (static_cast<std::uint32_t>(magnitude >> 42) & 0x1ffu);
  } else if (value >= 65520.0) {
    out = 0x7c00u;
  } else if (value < 0x1p-14) {
    // Adding 2^28 leaves one unit of the last subnormal place per unit of the sum's mantissa.
    out = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value + 0x1p28)) & 0x7ffu;
  } else {
    const std::uint64_t odd = (magnitude >> 42) & 1u;
    const std::uint64_t rounded = magnitude + 0x1ffffffffffu + odd;
    out = static_cast<std::uint32_t>((rounded >> 42) - (std::uint64_t{1023 - 15} << 10));
  }
  return static_cast<half_bits>(sign | out);
}

}  // namespace usmx::detail

namespace usmx {
template <>
inline constexpr bool is_half<detail::half_bits> = true;
}  // namespace usmx
