// Functions of numbers that C++ has under no name, or for fewer types than Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "complex.hpp"
#include "math.hpp"
#include "operators.hpp"
#include "types.hpp"

namespace usmx {

// Floats as Python's int: math.floor(x), round(x). Integers are what they are.
#define USMX_WHOLE(name, function)             \
  template <class T>                           \
  inline int64_t name(T x) {                   \
    if constexpr (is_floating<T>)              \
      return to_integer<int64_t>(function(x)); \
    else                                       \
      return int64_t(x);                       \
  }
USMX_WHOLE(floor_int, floor)
USMX_WHOLE(ceil_int, ceil)
USMX_WHOLE(trunc_int, trunc)
USMX_WHOLE(round_int, rint)
#undef USMX_WHOLE

template <class T>
inline T sign(T x) {
  if (x != x) return x;
  return T(T(x > T(0)) - T(x < T(0)));
}

/// The absolute value without a sign, in at least 32 bits.
template <class T>
inline auto size_of_number(T x) {
  if constexpr (sizeof(T) == 8)
    return x < T(0) ? uint64_t(0) - uint64_t(x) : uint64_t(x);
  else
    return x < T(0) ? uint32_t(0) - uint32_t(x) : uint32_t(x);
}
/// |x|, of a complex number its length. The smallest integer stays what it is, as in NumPy.
template <class T>
inline T magnitude(T x) {
  if constexpr (is_floating<T>)
    return T(fabs(x));
  else
    return T(size_of_number(x));
}
template <class T>
inline T magnitude(complex<T> z) {
  return abs(z);
}

// Of integers too; a NaN is ignored if the other number is none.
template <class T>
inline T fmin(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline T fmax(T a, T b) {
  return a < b ? b : a;
}

/// The smaller and the larger number; a NaN wins, and of equal ones the first.
template <class T>
inline T minimum(T a, T b) {
  return a <= b || a != a ? a : b;
}
template <class T>
inline T maximum(T a, T b) {
  return a >= b || a != a ? a : b;
}

/// The greatest common divisor. Of the smallest integer and 0 it wraps around, as in NumPy.
template <class T>
inline T gcd(T a, T b) {
  auto p = size_of_number(a), q = size_of_number(b);
  while (q != 0) {
    const auto rest = p % q;
    p = q;
    q = rest;
  }
  return T(p);
}
/// The least common multiple, which wraps around; of zero it is zero.
template <class T>
inline T lcm(T a, T b) {
  const auto p = size_of_number(a), divisor = size_of_number(gcd(a, b));
  return divisor == 0 ? T(0) : T(p / divisor * size_of_number(b));
}

/// Number of ones.
template <class T>
inline T popcount(T x) {
  if constexpr (sizeof(T) == 8)
    return T(__builtin_popcountll(uint64_t(x)));
  else if constexpr (sizeof(T) == 4)
    return T(__builtin_popcount(uint32_t(x)));
  else if constexpr (sizeof(T) == 2)
    return T(__builtin_popcount(uint32_t(uint16_t(x))));
  else
    return T(__builtin_popcount(uint32_t(uint8_t(x))));
}
/// Number of zeros before the highest one; the width for zero.
template <class T>
inline T clz(T x) {
  T n = T(0);
  for (int bit = int(sizeof(T)) * 8 - 1; bit >= 0 && !((uint64_t(x) >> bit) & 1); --bit)
    n = T(n + T(1));
  return n;
}

}  // namespace usmx
