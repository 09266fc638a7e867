// Floating-point types with fewer digits than float, from numbers that have more: rounded once,
// although float is on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace usmx::detail {

/// The float next to `x` in the direction of zero, or the one behind it if that one is odd: it
/// keeps the side of a tie of shorter types on which `x` is.
inline float rounded_to_odd(double x) noexcept {
  const auto near = static_cast<float>(x);
  const auto back = static_cast<double>(near);
  if (back == x || x != x) return near;
  auto bits = std::bit_cast<std::uint32_t>(near);
  if (std::fabs(back) > std::fabs(x)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

/// As above: the highest 24 bits, of which the last one says whether others follow.
inline float rounded_to_odd(std::uint64_t x) noexcept {
  const int dropped = 40 - std::countl_zero(x);
  if (dropped <= 0) return static_cast<float>(x);
  const std::uint64_t rest = x & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t kept = x >> dropped | std::uint64_t{rest != 0};
  return std::ldexp(static_cast<float>(kept), dropped);
}
inline float rounded_to_odd(std::int64_t x) noexcept {
  const auto bits = static_cast<std::uint64_t>(x);
  return x < 0 ? -rounded_to_odd(std::uint64_t{0} - bits) : rounded_to_odd(bits);
}

}  // namespace usmx::detail
