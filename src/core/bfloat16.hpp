// bfloat16 from numbers that have more digits than float: rounded once, although float is on the
// way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "usmx/dtype.hpp"

namespace usmx::detail {

/// Through the float next to `x` in the direction of zero, or to the one behind it if that one is
/// odd: it keeps the side of a tie on which `x` is.
inline bfloat16 to_bfloat16(double x) noexcept {
  const auto near = static_cast<float>(x);
  const auto back = static_cast<double>(near);
  if (back == x || x != x) return near;
  auto bits = std::bit_cast<std::uint32_t>(near);
  if (std::fabs(back) > std::fabs(x)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

/// As above: the highest 24 bits, of which the last one says whether others follow.
inline bfloat16 to_bfloat16(std::uint64_t x) noexcept {
  const int dropped = 40 - std::countl_zero(x);
  if (dropped <= 0) return static_cast<float>(x);
  const std::uint64_t rest = x & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t kept = x >> dropped | std::uint64_t{rest != 0};
  return std::ldexp(static_cast<float>(kept), dropped);
}
inline bfloat16 to_bfloat16(std::int64_t x) noexcept {
  const auto bits = static_cast<std::uint64_t>(x);
  return x < 0 ? bfloat16(-static_cast<float>(to_bfloat16(std::uint64_t{0} - bits)))
               : to_bfloat16(bits);
}

}  // namespace usmx::detail
