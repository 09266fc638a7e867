// Powers. Those with a small whole exponent are products, whether the exponent is a constant of a
// kernel's text or comes from an array, so that both have the same bits. Products are as good as
// rounded once, and those of constants take a quarter of the time of the driver's function or less.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "by_float.hpp"
#include "math.hpp"
#include "types.hpp"

namespace usmx {

namespace powers {

/// Exponents up to this, and down to its negative, are products.
inline constexpr int largest_product = 16;

/// Whether a step of a product changes nothing: that of a bit above the highest one. Processors
/// take all steps, so that items with other exponents are lanes of one vector; of a constant n
/// little is left in both.
constexpr bool is_idle([[maybe_unused]] int count, [[maybe_unused]] int bit) {
#ifdef USMX_SHORT_VECTOR
  return false;
#else
  return count < bit;
#endif
}

/// x to the power n, |n| <= largest_product, from the highest bit of n to the lowest.
template <class T>
USMX_BACKEND_INLINE T plain_product(T x, int n) {
  const int count = n < 0 ? 0 - n : n;
  const T base = n < 0 ? T(1) / x : x;
  T result = T(1);
  for (int bit = largest_product; bit != 0; bit >>= 1) {
    if (is_idle(count, bit)) continue;
    result *= result;
    result = (count & bit) != 0 ? result * base : result;
  }
  return result;
}
/// The same, with what each step rounds off added at the end.
template <class T>
USMX_BACKEND_INLINE T exact_product(T x, int n) {
  const int count = n < 0 ? 0 - n : n;
  const T base = n < 0 ? T(1) / x : x;
  const T base_low = n < 0 ? fma(-base, x, T(1)) * base : T(0);
  T high = T(1), low = T(0);
  for (int bit = largest_product; bit != 0; bit >>= 1) {
    if (is_idle(count, bit)) continue;
    const T square = high * high;
    low = fma(high, high, -square) + T(2) * high * low;
    high = square;
    const T longer = high * base;
    const T longer_low = fma(high, base, -longer) + (high * base_low + low * base);
    low = (count & bit) != 0 ? longer_low : low;
    high = (count & bit) != 0 ? longer : high;
  }
  // Where nothing is missing `high` keeps the sign of its zero; of infinities `low` is NaN.
  const T sum = high + low;
  const T rounded = low != T(0) && sum == sum ? sum : high;
  return n == 2 ? x * x : count == 1 ? base : rounded;
}

#ifdef USMX_DRIVER_MATH
template <class T>
USMX_BACKEND_INLINE T product(T x, int n) {
  return plain_product(x, n);
}
#else
USMX_BACKEND_INLINE double product(double x, int n) { return exact_product(x, n); }
USMX_BACKEND_INLINE float product(float x, int n) {
#ifdef USMX_HOST_CORES
  return float(plain_product(double(x), n));
#else
  return exact_product(x, n);  // a device may have no double, or a slow one
#endif
}
#endif

USMX_BACKEND_INLINE float of_driver(float x, float y) { return USMX_BACKEND_FLOAT(pow)(x, y); }
USMX_BACKEND_INLINE double of_driver(double x, double y) { return USMX_BACKEND_DOUBLE(pow)(x, y); }

/// Whether one of the items that a processor takes together is so. Of items that differ it computes
/// both sides of a branch; by this question, whose answer they share, it jumps.
USMX_BACKEND_INLINE bool one_is(bool condition) {
#ifdef USMX_SHORT_VECTOR
  return __spirv_GroupNonUniformAny(3, condition);
#else
  return condition;
#endif
}

template <class T>
USMX_BACKEND_INLINE T power(T x, T y) {
#ifdef USMX_DRIVER_MATH
  return of_driver(x, y);
#else
  const bool is_whole = fabs(y) <= T(largest_product) && trunc(y) == y;
  const bool is_easy = is_whole || y == T(0.5f);
  if (!one_is(is_easy)) return of_driver(x, y);
  const T whole = product(x, int(is_whole ? y : T(0)));
  // It is sqrt but for -0 and -inf: C's pow has 0 and inf of these.
  const T easy = is_whole ? whole : isinf(x) ? fabs(x) : sqrt(x) + T(0);
  if (!one_is(!is_easy)) return easy;
  const T other = of_driver(x, y);
  return is_easy ? easy : other;
#endif
}

}  // namespace powers

USMX_BACKEND_INLINE float pow(float x, float y) { return powers::power(x, y); }
USMX_BACKEND_INLINE double pow(double x, double y) { return powers::power(x, y); }
USMX_BY_FLOAT_2(pow)

}  // namespace usmx
