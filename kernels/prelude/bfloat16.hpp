// bfloat16: the upper half of a float, computed in float and rounded once for each operation. No
// device needs to know the type: a kernel holds its 16 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

namespace usmx {

struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  /// To the nearest, of two to the even one; a NaN stays one.
  constexpr bfloat16(float x) : bits(rounded(__builtin_bit_cast(uint32_t, x))) {}
  constexpr operator float() const { return __builtin_bit_cast(float, uint32_t(bits) << 16); }

  static constexpr bfloat16 of_bits(uint16_t bits) {
    bfloat16 x(0.0f);
    x.bits = bits;
    return x;
  }
  /// Of a double, rounded once: by the float next to it towards zero, or the odd one behind that,
  /// which is on the same side of a tie.
  static bfloat16 nearest(double x) {
    const float near = float(x);
    const double back = near;
    if (back == x || x != x) return near;
    uint32_t of = __builtin_bit_cast(uint32_t, near);
    if (x < 0 ? back < x : back > x) --of;
    return __builtin_bit_cast(float, of | 1u);
  }
  /// Of integers, in the same way: by their highest 24 bits, the last of which says whether others
  /// follow.
  static bfloat16 nearest(uint64_t x) {
    const int dropped = x == 0 ? 0 : 40 - __builtin_clzll(x);
    if (dropped <= 0) return float(uint32_t(x));
    const uint64_t rest = x & ((uint64_t(1) << dropped) - 1);
    const float power = __builtin_bit_cast(float, uint32_t(dropped + 127) << 23);
    return float(uint32_t(x >> dropped) | uint32_t(rest != 0)) * power;
  }
  static bfloat16 nearest(int64_t x) {
    return x < 0 ? -nearest(uint64_t(0) - uint64_t(x)) : nearest(uint64_t(x));
  }

  friend constexpr bfloat16 operator+(bfloat16 x) { return x; }
  friend constexpr bfloat16 operator-(bfloat16 x) { return of_bits(uint16_t(x.bits ^ 0x8000u)); }

 private:
  static constexpr uint16_t rounded(uint32_t of) {
    return (of & 0x7fffffffu) > 0x7f800000u ? uint16_t(of >> 16 | 0x40u)
                                            : uint16_t((of + 0x7fffu + (of >> 16 & 1u)) >> 16);
  }
};

template <>
struct float_layout<bfloat16> {
  using bits = uint16_t;
  static constexpr int fraction = 7, bias = 127;
};

namespace bfloat16_with {

// Only integers have remainders.
template <class T, class = int>
inline constexpr bool is_integer = false;
template <class T>
inline constexpr bool is_integer<T, decltype(int(T() % T()))> = true;

/// What an operation with another number gives, as C++ has it for half: integers become bfloat16,
/// and longer floats stay what they are.
template <class Other, bool IsInteger = is_integer<Other>>
struct result {};
template <class Other>
struct result<Other, true> {
  using type = bfloat16;
};
template <>
struct result<half, false> {
  using type = float;
};
template <>
struct result<float, false> {
  using type = float;
};
template <>
struct result<double, false> {
  using type = double;
};

}  // namespace bfloat16_with

#define USMX_BFLOAT16_OPERATOR(op)                                                         \
  constexpr bfloat16 operator op(bfloat16 a, bfloat16 b) { return float(a) op float(b); }  \
  template <class Other>                                                                   \
  constexpr typename bfloat16_with::result<Other>::type operator op(bfloat16 a, Other b) { \
    using type = typename bfloat16_with::result<Other>::type;                              \
    return type(a) op type(b);                                                             \
  }                                                                                        \
  template <class Other>                                                                   \
  constexpr typename bfloat16_with::result<Other>::type operator op(Other a, bfloat16 b) { \
    using type = typename bfloat16_with::result<Other>::type;                              \
    return type(a) op type(b);                                                             \
  }                                                                                        \
  template <class Other>                                                                   \
  constexpr bfloat16& operator op## = (bfloat16 & a, Other b) {                            \
    return a = bfloat16(a op b);                                                           \
  }
USMX_BFLOAT16_OPERATOR(+)
USMX_BFLOAT16_OPERATOR(-)
USMX_BFLOAT16_OPERATOR(*)
USMX_BFLOAT16_OPERATOR(/)
#undef USMX_BFLOAT16_OPERATOR

}  // namespace usmx
