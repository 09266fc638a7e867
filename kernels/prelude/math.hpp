// The mathematical functions for half, float and double, with the names of <cmath>. Those of half
// and bfloat16 are computed in float. On processors eight have bits that depend on nothing else,
// seven of them by elementary.hpp, as the host computes them; the others are the driver's, and so
// are all in programs that ask for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "by_float.hpp"
#include "types.hpp"

#if defined(USMX_HOST_CORES) && !defined(USMX_DRIVER_MATH)
#define USMX_OWN_MATH
#include "elementary.hpp"
#endif

namespace usmx {

// What the functions of the device library are called.
#ifndef USMX_BACKEND_FLOAT
#define USMX_BACKEND_INLINE inline
#define USMX_BACKEND_FLOAT(name) __spirv_ocl_##name
#define USMX_BACKEND_DOUBLE(name) __spirv_ocl_##name
#endif
#define USMX_MATH_1(name)                                                            \
  USMX_BACKEND_INLINE float name(float x) { return USMX_BACKEND_FLOAT(name)(x); }    \
  USMX_BACKEND_INLINE double name(double x) { return USMX_BACKEND_DOUBLE(name)(x); } \
  USMX_BY_FLOAT_1(name)
#define USMX_MATH_2(name)                                                                         \
  USMX_BACKEND_INLINE float name(float x, float y) { return USMX_BACKEND_FLOAT(name)(x, y); }     \
  USMX_BACKEND_INLINE double name(double x, double y) { return USMX_BACKEND_DOUBLE(name)(x, y); } \
  USMX_BY_FLOAT_2(name)

#ifdef USMX_OWN_MATH
#define USMX_OWN_1(name)  \
  using elementary::name; \
  USMX_BY_FLOAT_1(name)
#define USMX_OWN_2(name)  \
  using elementary::name; \
  USMX_BY_FLOAT_2(name)
// The driver's of float is another one in items that are lanes of vectors.
inline float rsqrt(float x) { return 1.0f / __spirv_ocl_sqrt(x); }
inline double rsqrt(double x) { return __spirv_ocl_rsqrt(x); }
USMX_BY_FLOAT_1(rsqrt)
#else
#define USMX_OWN_1 USMX_MATH_1
#define USMX_OWN_2 USMX_MATH_2
USMX_MATH_1(rsqrt)
#endif
USMX_OWN_1(exp)
USMX_OWN_1(log)
USMX_OWN_1(sin)
USMX_OWN_1(cos)
USMX_OWN_1(tanh)
USMX_OWN_2(atan2)
USMX_OWN_2(hypot)
#undef USMX_OWN_1
#undef USMX_OWN_2

USMX_MATH_1(tan)
USMX_MATH_1(asin)
USMX_MATH_1(acos)
USMX_MATH_1(atan)
USMX_MATH_1(sinh)
USMX_MATH_1(cosh)
USMX_MATH_1(asinh)
USMX_MATH_1(acosh)
USMX_MATH_1(atanh)
USMX_MATH_1(exp2)
USMX_MATH_1(expm1)
USMX_MATH_1(log2)
USMX_MATH_1(log10)
USMX_MATH_1(log1p)
USMX_MATH_1(sqrt)
USMX_MATH_1(cbrt)
USMX_MATH_1(erf)
USMX_MATH_1(erfc)
USMX_MATH_1(tgamma)
USMX_MATH_1(lgamma)
USMX_MATH_1(fabs)
USMX_MATH_1(floor)
USMX_MATH_1(ceil)
USMX_MATH_1(trunc)
USMX_MATH_1(rint)
USMX_MATH_1(round)

USMX_MATH_2(fmod)
USMX_BACKEND_INLINE float copysign(float x, float y) { return USMX_BACKEND_FLOAT(copysign)(x, y); }
USMX_BACKEND_INLINE double copysign(double x, double y) {
  return USMX_BACKEND_DOUBLE(copysign)(x, y);
}
/// By bits: some devices lose the sign of a NaN where they make a float of it.
inline uint16_t with_sign_of(uint16_t x, uint16_t y) {
  return uint16_t((x & 0x7fff) | (y & 0x8000));
}
inline half copysign(half x, half y) {
  return __builtin_bit_cast(
      half, with_sign_of(__builtin_bit_cast(uint16_t, x), __builtin_bit_cast(uint16_t, y)));
}
inline bfloat16 copysign(bfloat16 x, bfloat16 y) {
  return bfloat16::of_bits(with_sign_of(x.bits, y.bits));
}
USMX_MATH_2(fmin)
USMX_MATH_2(fmax)
USMX_MATH_2(fdim)

inline float nextafter(float x, float y) { return USMX_BACKEND_FLOAT(nextafter)(x, y); }
inline double nextafter(double x, double y) { return USMX_BACKEND_DOUBLE(nextafter)(x, y); }
template <class T>
inline T next_of_two_bytes(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  // Neighbours of one sign differ by one in their bits.
  auto bits = __builtin_bit_cast(uint16_t, x);
  if (x == T(0)) {
    bits = y > x ? 1 : 0x8001;
  } else {
    bits = uint16_t((x < y) == (x > T(0)) ? bits + 1 : bits - 1);
  }
  return __builtin_bit_cast(T, bits);
}
inline half nextafter(half x, half y) { return next_of_two_bytes(x, y); }
inline bfloat16 nextafter(bfloat16 x, bfloat16 y) {
  // Its bits are in the order of the numbers, as those of half are.
  return next_of_two_bytes(x, y);
}

#undef USMX_MATH_1
#undef USMX_MATH_2

inline float fma(float x, float y, float z) { return USMX_BACKEND_FLOAT(fma)(x, y, z); }
inline double fma(double x, double y, double z) { return USMX_BACKEND_DOUBLE(fma)(x, y, z); }
inline half fma(half x, half y, half z) { return half(fma(float(x), float(y), float(z))); }
inline bfloat16 fma(bfloat16 x, bfloat16 y, bfloat16 z) {
  return fma(float(x), float(y), float(z));
}

// By comparisons: for negative numbers below the normal ones Intel's CPU compiler takes
// __builtin_isfinite for false.
inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return fabs(x) == __builtin_inff(); }
inline bool isinf(double x) { return fabs(x) == __builtin_inf(); }
inline bool isfinite(float x) { return fabs(x) < __builtin_inff(); }
inline bool isfinite(double x) { return fabs(x) < __builtin_inf(); }
inline bool isnan(half x) { return x != x; }
inline bool isinf(half x) { return isinf(float(x)); }
inline bool isfinite(half x) { return isfinite(float(x)); }
inline bool isnan(bfloat16 x) { return isnan(float(x)); }
inline bool isinf(bfloat16 x) { return isinf(float(x)); }
inline bool isfinite(bfloat16 x) { return isfinite(float(x)); }

template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
/// The smallest integer stays what it is, also where the compiler knows it.
template <class T>
constexpr T abs(T a) {
  return a < T(0) ? T(uint64_t(0) - uint64_t(a)) : a;
}
inline float abs(float x) { return fabs(x); }
inline double abs(double x) { return fabs(x); }
inline half abs(half x) { return fabs(x); }
inline bfloat16 abs(bfloat16 x) { return fabs(x); }
template <class T>
constexpr T clamp(T x, T low, T high) {
  return x < low ? low : high < x ? high : x;
}

using backend::negate;

/// x as a factor or divisor, for the reason of backend::negate: compilers make negations of
/// products with a -1 that they know. A comparison at run time, because only the driver's compiler
/// knows, long after `__builtin_constant_p` was answered. The products themselves stay in sight and
/// can become part of an fma.
template <class T>
inline T factor(T x) {
  return x == T(-1) ? negate(T(1)) : x;
}

/// 2 to the power n, which must be a normal number.
template <class T>
inline T power_of_two(int n) {
  using layout = float_layout<T>;
  return __builtin_bit_cast(T, typename layout::bits(n + layout::bias) << layout::fraction);
}

/// x = mantissa * 2 to the power exponent, with a mantissa from 1/2 to 1. Zeros, infinities and NaN
/// are their own mantissas, with the exponent 0.
template <class T>
struct float_parts {
  T mantissa;
  int exponent;
};

template <class T>
inline float_parts<T> frexp(T x) {
  using layout = float_layout<T>;
  using bits = typename layout::bits;
  if (x == T(0) || !isfinite(x)) return {x, 0};
  // Numbers below the normal ones store no exponent.
  const bool small = fabs(x) < power_of_two<T>(1 - layout::bias);
  const int raised = small ? layout::fraction + 1 : 0;
  const bits stored = __builtin_bit_cast(bits, x * power_of_two<T>(raised));
  constexpr bits exponents = bits(2 * layout::bias + 1) << layout::fraction;
  const int exponent = int((stored & exponents) >> layout::fraction) - (layout::bias - 1);
  constexpr bits half_of_one = bits(layout::bias - 1) << layout::fraction;
  return {__builtin_bit_cast(T, (stored & ~exponents) | half_of_one), exponent - raised};
}
inline float_parts<half> frexp(half x) {
  const float_parts<float> parts = frexp(float(x));
  return {half(parts.mantissa), parts.exponent};
}

/// x * 2 to the power n, rounded once.
template <class T>
inline T ldexp(T x, int64_t n) {
  using layout = float_layout<T>;
  const float_parts<T> parts = frexp(x);
  if (x == T(0) || !isfinite(x)) return x;
  constexpr int most = 4 * layout::bias;
  const int to = parts.exponent + int(clamp(n, int64_t(-most), int64_t(most))) - 1;
  const T mantissa = parts.mantissa * T(2);
  if (to > layout::bias) return copysign(T(__builtin_inf()), x);
  if (to > -layout::bias) return mantissa * power_of_two<T>(to);
  // The first product is exact, so only the second one rounds.
  const int rest = max(to + layout::bias - 1, -layout::fraction - 3);
  return mantissa * power_of_two<T>(1 - layout::bias) * power_of_two<T>(rest);
}
inline half ldexp(half x, int64_t n) { return half(ldexp(float(x), n)); }
inline float_parts<bfloat16> frexp(bfloat16 x) {
  const float_parts<float> parts = frexp(float(x));
  return {parts.mantissa, parts.exponent};
}
inline bfloat16 ldexp(bfloat16 x, int64_t n) { return ldexp(float(x), n); }

using backend::to_floating;
using backend::to_integer;
template <class I>
inline I to_integer(bfloat16 x) {
  return backend::to_integer<I>(float(x));
}

inline constexpr double pi = 3.14159265358979323846;

// In the order in which NumPy rounds.
inline float radians(float x) { return x * (float(pi) / 180.0f); }
inline double radians(double x) { return x * (pi / 180.0); }
inline float degrees(float x) { return x * (180.0f / float(pi)); }
inline double degrees(double x) { return x * (180.0 / pi); }
USMX_BY_FLOAT_1(radians)
USMX_BY_FLOAT_1(degrees)

}  // namespace usmx
