// The rarer functions of numbers that texts for CUDA call, by its names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../prelude.hpp"
#include "../prelude/special.hpp"

namespace usmx {

// --- whole numbers near a number ---------------------------------------------------------------

template <class T>
inline T nearbyint(T x) {
  return rint(x);
}
template <class T>
inline int64_t llrint(T x) {
  return to_integer<int64_t>(rint(x));
}
template <class T>
inline int64_t llround(T x) {
  return to_integer<int64_t>(round(x));
}
template <class T>
inline long lrint(T x) {
  return long(llrint(x));
}
template <class T>
inline long lround(T x) {
  return long(llround(x));
}

/// The exponent; INT_MIN of 0 and NaN, INT_MAX of infinities.
template <class T>
inline int ilogb(T x) {
  if (x == T(0) || isnan(x)) return -__INT_MAX__ - 1;
  return isinf(x) ? __INT_MAX__ : frexp(x).exponent - 1;
}
template <class T>
inline T logb(T x) {
  if (x == T(0)) return T(-__builtin_inf());
  return isfinite(x) ? T(frexp(x).exponent - 1) : x * x;
}
template <class T>
inline T scalbln(T x, long n) {
  return ldexp(x, n);
}

/// What is left of x after the nearest multiple of y; of two the even one.
template <class T>
inline T remainder_of(T x, T y) {
  const T a = fabs(x), b = fabs(y), rest = fmod(a, b), other = b - rest;
  if (isnan(x) || isnan(y)) return x + y;
  T found = rest;
  if (rest > other)
    found = -other;
  else if (rest == other)
    found = rest - T(2) * fmod(T(0.5) * (a - rest), b);
  return copysign(T(1), x) * found;
}
inline float remainder(float x, float y) { return remainder_of(x, y); }
inline double remainder(double x, double y) { return remainder_of(x, y); }
/// The same, and the three lowest bits of the quotient with its sign.
template <class T>
inline T remquo(T x, T y, int* quotient) {
  const T rest = remainder(x, y);
  *quotient = 0;
  if (isfinite(x) && isfinite(y) && y != T(0)) {
    const T eight = y * T(8), within = isfinite(eight) ? fmod(x, eight) : x;
    const T whole = round((within - remainder(within, y)) / y);
    const int low = int(fabs(whole)) & 7;
    *quotient = (x < T(0)) != (y < T(0)) ? -low : low;
  }
  return rest;
}

// --- roots and lengths ---------------------------------------------------------------------------

template <class T>
inline T rcbrt(T x) {
  return T(1) / cbrt(x);
}
template <class T>
inline T rhypot(T x, T y) {
  return T(1) / hypot(x, y);
}
template <class T>
inline T norm3d(T x, T y, T z) {
  return hypot(hypot(x, y), z);
}
template <class T>
inline T norm4d(T x, T y, T z, T w) {
  return hypot(hypot(x, y), hypot(z, w));
}
template <class T>
inline T length_of(int n, const T* x) {
  T found = T(0);
  for (int k = 0; k < n; ++k) found = hypot(found, x[k]);
  return found;
}
inline double norm(int n, const double* x) { return length_of(n, x); }
inline double rnorm(int n, const double* x) { return 1.0 / length_of(n, x); }
inline float normf(int n, const float* x) { return length_of(n, x); }
inline float rnormf(int n, const float* x) { return 1.0f / length_of(n, x); }
template <class T>
inline T rnorm3d(T x, T y, T z) {
  return T(1) / norm3d(x, y, z);
}
template <class T>
inline T rnorm4d(T x, T y, T z, T w) {
  return T(1) / norm4d(x, y, z, w);
}
template <class T>
inline T fdivide(T x, T y) {
  return x / y;
}

// --- integers and mixed operands are doubles -----------------------------------------------------

#define USMX_OF_INT(name) \
  inline auto name(int x) { return name(double(x)); }
#define USMX_OF_MIXED(name)                                                             \
  template <class A, class B,                                                           \
            cuda_names::when<cuda_names::is_number<A> && cuda_names::is_number<B> &&    \
                             (!cuda_names::is_one_type<A, B> || __is_integral(A))> = 0> \
  inline auto name(A a, B b) {                                                          \
    using T = typename cuda_names::floating_of<A, B>::type;                             \
    return name(T(a), T(b));                                                            \
  }
USMX_OF_INT(nearbyint)
USMX_OF_INT(llrint)
USMX_OF_INT(llround)
USMX_OF_INT(lrint)
USMX_OF_INT(lround)
USMX_OF_INT(ilogb)
USMX_OF_INT(logb)
USMX_OF_INT(rcbrt)
USMX_OF_INT(exp10)
USMX_OF_INT(sinpi)
USMX_OF_INT(cospi)
USMX_OF_INT(erfinv)
USMX_OF_INT(erfcinv)
USMX_OF_INT(erfcx)
USMX_OF_INT(normcdf)
USMX_OF_INT(normcdfinv)
USMX_OF_INT(j0)
USMX_OF_INT(j1)
USMX_OF_INT(y0)
USMX_OF_INT(y1)
USMX_OF_INT(cyl_bessel_i0)
USMX_OF_INT(cyl_bessel_i1)
USMX_OF_MIXED(remainder)
inline double jn(int n, int x) { return jn(n, double(x)); }
inline double yn(int n, int x) { return yn(n, double(x)); }
inline double rhypot(int x, int y) { return rhypot(double(x), double(y)); }
inline double norm3d(int x, int y, int z) { return norm3d(double(x), double(y), double(z)); }
inline double norm4d(int x, int y, int z, int w) {
  return norm4d(double(x), double(y), double(z), double(w));
}
#undef USMX_OF_INT
#undef USMX_OF_MIXED

// --- of a float ----------------------------------------------------------------------------------

#define USMX_OF_FLOAT(name) \
  inline auto name##f(float x) { return name(x); }
#define USMX_OF_TWO_FLOATS(name) \
  inline float name##f(float x, float y) { return name(x, y); }
USMX_OF_FLOAT(asinh)
USMX_OF_FLOAT(acosh)
USMX_OF_FLOAT(atanh)
USMX_OF_FLOAT(nearbyint)
USMX_OF_FLOAT(llrint)
USMX_OF_FLOAT(llround)
USMX_OF_FLOAT(lrint)
USMX_OF_FLOAT(lround)
USMX_OF_FLOAT(ilogb)
USMX_OF_FLOAT(logb)
USMX_OF_FLOAT(rcbrt)
USMX_OF_FLOAT(exp10)
USMX_OF_FLOAT(sinpi)
USMX_OF_FLOAT(cospi)
USMX_OF_FLOAT(erfinv)
USMX_OF_FLOAT(erfcinv)
USMX_OF_FLOAT(erfcx)
USMX_OF_FLOAT(normcdf)
USMX_OF_FLOAT(normcdfinv)
USMX_OF_FLOAT(j0)
USMX_OF_FLOAT(j1)
USMX_OF_FLOAT(y0)
USMX_OF_FLOAT(y1)
USMX_OF_FLOAT(cyl_bessel_i0)
USMX_OF_FLOAT(cyl_bessel_i1)
USMX_OF_TWO_FLOATS(fdim)
USMX_OF_TWO_FLOATS(nextafter)
USMX_OF_TWO_FLOATS(remainder)
USMX_OF_TWO_FLOATS(rhypot)
USMX_OF_TWO_FLOATS(fdivide)
#undef USMX_OF_FLOAT
#undef USMX_OF_TWO_FLOATS
inline float jnf(int n, float x) { return jn(n, x); }
inline float ynf(int n, float x) { return yn(n, x); }
inline float scalbnf(float x, int n) { return ldexp(x, n); }
inline float scalblnf(float x, long n) { return ldexp(x, n); }
inline float norm3df(float x, float y, float z) { return norm3d(x, y, z); }
inline float norm4df(float x, float y, float z, float w) { return norm4d(x, y, z, w); }
inline float rnorm3df(float x, float y, float z) { return rnorm3d(x, y, z); }
inline float rnorm4df(float x, float y, float z, float w) { return rnorm4d(x, y, z, w); }
inline float remquof(float x, float y, int* quotient) { return remquo(x, y, quotient); }
inline void sincosf(float x, float* sine, float* cosine) { sincos(x, sine, cosine); }
inline void sincospif(float x, float* sine, float* cosine) { sincospi(x, sine, cosine); }
inline void __sincosf(float x, float* sine, float* cosine) { sincos(x, sine, cosine); }
inline float __exp10f(float x) { return exp10(x); }
inline float __log2f(float x) { return log2(x); }
inline float __log10f(float x) { return log10(x); }
inline float __tanf(float x) { return tan(x); }
inline float __tanhf(float x) { return tanh(x); }

// --- integers ------------------------------------------------------------------------------------

inline unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
inline unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
inline int64_t llmin(int64_t a, int64_t b) { return b < a ? b : a; }
inline int64_t llmax(int64_t a, int64_t b) { return a < b ? b : a; }
inline uint64_t ullmin(uint64_t a, uint64_t b) { return b < a ? b : a; }
inline uint64_t ullmax(uint64_t a, uint64_t b) { return a < b ? b : a; }

// A word of two, moved by some bits; with a `c` by 32 at most, else by what is left modulo 32.
inline uint64_t both_words(unsigned int low, unsigned int high) {
  return uint64_t(high) << 32 | low;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
  return uint32_t(both_words(low, high) << (by & 31) >> 32);
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int by) {
  return uint32_t(both_words(low, high) << (by < 32 ? by : 32) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
  return uint32_t(both_words(low, high) >> (by & 31));
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int by) {
  return uint32_t(both_words(low, high) >> (by < 32 ? by : 32));
}

/// The place of the bit that is the offset-th one from `base` on, downwards if it is negative.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  const int step = offset < 0 ? -1 : 1;
  int left = offset < 0 ? -offset : offset;
  if (offset == 0) return (mask >> (base & 31) & 1) != 0 ? base : ~0u;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return uint32_t(at);
  return ~0u;
}

// Sums of products of the parts of two words: of four bytes, or of two halves and two bytes.
template <class Part, class Byte>
inline uint32_t sum_of_products(uint32_t a, uint32_t b, uint32_t c, int parts, int first) {
  constexpr int bits = int(sizeof(Part)) * 8;
  for (int k = 0; k < parts; ++k)
    c += uint32_t(int32_t(Part(a >> (k * bits)))) * uint32_t(int32_t(Byte(b >> ((first + k) * 8))));
  return c;
}
#define USMX_PRODUCTS(name, parts, first, Signed, Unsigned)                                    \
  inline int name(int a, int b, int c) {                                                       \
    return int(                                                                                \
        sum_of_products<Signed, int8_t>(uint32_t(a), uint32_t(b), uint32_t(c), parts, first)); \
  }                                                                                            \
  inline unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                   \
    return sum_of_products<Unsigned, uint8_t>(a, b, c, parts, first);                          \
  }
USMX_PRODUCTS(__dp4a, 4, 0, int8_t, uint8_t)
USMX_PRODUCTS(__dp2a_lo, 2, 0, int16_t, uint16_t)
USMX_PRODUCTS(__dp2a_hi, 2, 2, int16_t, uint16_t)
#undef USMX_PRODUCTS

// --- parts of words, which CUDA calls SIMD
// ---------------------------------------------------------

/// Each part of words by itself. A function gets and gives numbers of 32 bits, which are cut.
template <class Part, class Function>
inline unsigned int each_part(unsigned int a, unsigned int b, Function f) {
  constexpr int bits = int(sizeof(Part)) * 8;
  constexpr uint32_t whole = bits == 8 ? 0xff : 0xffff;
  uint32_t found = 0;
  for (int at = 0; at < 32; at += bits)
    found |= (uint32_t(f(int32_t(Part(a >> at)), int32_t(Part(b >> at)))) & whole) << at;
  return found;
}
template <class Part>
inline int32_t within(int32_t x) {
  constexpr int bits = int(sizeof(Part)) * 8;
  constexpr bool is_signed = Part(-1) < Part(0);
  constexpr int32_t low = is_signed ? -(1 << (bits - 1)) : 0;
  constexpr int32_t high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  return clamp(x, low, high);
}
#define USMX_PARTS(name, count, Part, expression)                                             \
  inline unsigned int name##count(unsigned int x, unsigned int y) {                           \
    return each_part<Part>(x, y, [](int32_t a, int32_t b) -> int32_t { return expression; }); \
  }
#define USMX_PARTS_OF_ONE(name, count, Part, expression)                                    \
  inline unsigned int name##count(unsigned int x) {                                         \
    return each_part<Part>(x, 0, [](int32_t a, int32_t) -> int32_t { return expression; }); \
  }
#define USMX_COMPARED(name, count, Part, relation)          \
  USMX_PARTS(__vcmp##name, count, Part, -int32_t(relation)) \
  USMX_PARTS(__vset##name, count, Part, int32_t(relation))
#define USMX_WORDS(count, Signed, Unsigned)                                  \
  USMX_PARTS(__vadd, count, Unsigned, a + b)                                 \
  USMX_PARTS(__vsub, count, Unsigned, a - b)                                 \
  USMX_PARTS(__vaddss, count, Signed, within<Signed>(a + b))                 \
  USMX_PARTS(__vaddus, count, Unsigned, within<Unsigned>(a + b))             \
  USMX_PARTS(__vsubss, count, Signed, within<Signed>(a - b))                 \
  USMX_PARTS(__vsubus, count, Unsigned, within<Unsigned>(a - b))             \
  USMX_PARTS(__vavgs, count, Signed, (a + b + int32_t(a + b >= 0)) >> 1)     \
  USMX_PARTS(__vavgu, count, Unsigned, (a + b + 1) >> 1)                     \
  USMX_PARTS(__vhaddu, count, Unsigned, (a + b) >> 1)                        \
  USMX_PARTS(__vmaxs, count, Signed, a < b ? b : a)                          \
  USMX_PARTS(__vmaxu, count, Unsigned, a < b ? b : a)                        \
  USMX_PARTS(__vmins, count, Signed, b < a ? b : a)                          \
  USMX_PARTS(__vminu, count, Unsigned, b < a ? b : a)                        \
  USMX_PARTS(__vabsdiffs, count, Signed, a < b ? b - a : a - b)              \
  USMX_PARTS(__vabsdiffu, count, Unsigned, a < b ? b - a : a - b)            \
  USMX_PARTS_OF_ONE(__vabs, count, Signed, a < 0 ? -a : a)                   \
  USMX_PARTS_OF_ONE(__vabsss, count, Signed, within<Signed>(a < 0 ? -a : a)) \
  USMX_PARTS_OF_ONE(__vneg, count, Signed, -a)                               \
  USMX_PARTS_OF_ONE(__vnegss, count, Signed, within<Signed>(-a))             \
  USMX_COMPARED(eq, count, Unsigned, a == b)                                 \
  USMX_COMPARED(ne, count, Unsigned, a != b)                                 \
  USMX_COMPARED(ges, count, Signed, a >= b)                                  \
  USMX_COMPARED(geu, count, Unsigned, a >= b)                                \
  USMX_COMPARED(gts, count, Signed, a > b)                                   \
  USMX_COMPARED(gtu, count, Unsigned, a > b)                                 \
  USMX_COMPARED(les, count, Signed, a <= b)                                  \
  USMX_COMPARED(leu, count, Unsigned, a <= b)                                \
  USMX_COMPARED(lts, count, Signed, a < b)                                   \
  USMX_COMPARED(ltu, count, Unsigned, a < b)                                 \
  inline unsigned int __vsads##count(unsigned int x, unsigned int y) {       \
    return sum_of_parts<Unsigned>(__vabsdiffs##count(x, y));                 \
  }                                                                          \
  inline unsigned int __vsadu##count(unsigned int x, unsigned int y) {       \
    return sum_of_parts<Unsigned>(__vabsdiffu##count(x, y));                 \
  }
template <class Part>
inline unsigned int sum_of_parts(unsigned int x) {
  uint32_t found = 0;
  for (int at = 0; at < 32; at += int(sizeof(Part)) * 8) found += uint32_t(Part(x >> at));
  return found;
}
USMX_WORDS(2, int16_t, uint16_t)
USMX_WORDS(4, int8_t, uint8_t)
#undef USMX_WORDS
#undef USMX_COMPARED
#undef USMX_PARTS_OF_ONE
#undef USMX_PARTS

// --- float16 -------------------------------------------------------------------------------------

using __half = half;
inline half __float2half(float x) { return half(x); }
inline half __float2half_rn(float x) { return half(x); }
inline half __double2half(double x) { return half(x); }
inline float __half2float(half x) { return float(x); }
inline half __int2half_rn(int x) { return half(x); }
inline int __half2int_rz(half x) { return int(x); }
inline int __half2int_rn(half x) { return int(rint(float(x))); }
inline short __half_as_short(half x) { return __builtin_bit_cast(short, x); }
inline unsigned short __half_as_ushort(half x) { return __builtin_bit_cast(unsigned short, x); }
inline half __short_as_half(short x) { return __builtin_bit_cast(half, x); }
inline half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(half, x); }
inline half __hadd(half a, half b) { return half(a + b); }
inline half __hsub(half a, half b) { return half(a - b); }
inline half __hmul(half a, half b) { return half(a * b); }
inline half __hdiv(half a, half b) { return half(a / b); }
inline half __hfma(half a, half b, half c) { return fma(a, b, c); }
inline half __hneg(half a) { return -a; }
inline half __habs(half a) { return fabs(a); }
inline half __hmax(half a, half b) { return fmax(a, b); }
inline half __hmin(half a, half b) { return fmin(a, b); }
inline bool __heq(half a, half b) { return a == b; }
inline bool __hne(half a, half b) { return a != b && !isnan(a) && !isnan(b); }
inline bool __hlt(half a, half b) { return a < b; }
inline bool __hle(half a, half b) { return a <= b; }
inline bool __hgt(half a, half b) { return a > b; }
inline bool __hge(half a, half b) { return a >= b; }
inline bool __hisnan(half a) { return isnan(a); }
#define USMX_OF_HALF(name) \
  inline half h##name(half x) { return half(name(float(x))); }
USMX_OF_HALF(sin)
USMX_OF_HALF(cos)
USMX_OF_HALF(exp)
USMX_OF_HALF(exp2)
USMX_OF_HALF(exp10)
USMX_OF_HALF(log)
USMX_OF_HALF(log2)
USMX_OF_HALF(log10)
USMX_OF_HALF(sqrt)
USMX_OF_HALF(rsqrt)
USMX_OF_HALF(ceil)
USMX_OF_HALF(floor)
USMX_OF_HALF(trunc)
USMX_OF_HALF(rint)
#undef USMX_OF_HALF
inline half hrcp(half x) { return half(1.0f / float(x)); }

// --- memory --------------------------------------------------------------------------------------

// Caches choose themselves.
#define USMX_LOADED(name)     \
  template <class T>          \
  inline T name(const T* p) { \
    return *p;                \
  }
#define USMX_STORED(name)           \
  template <class T, class V>       \
  inline void name(T* p, V value) { \
    *p = T(value);                  \
  }
USMX_LOADED(__ldca)
USMX_LOADED(__ldcg)
USMX_LOADED(__ldcs)
USMX_LOADED(__ldcv)
USMX_LOADED(__ldlu)
USMX_STORED(__stcg)
USMX_STORED(__stcs)
USMX_STORED(__stwb)
USMX_STORED(__stwt)
#undef USMX_LOADED
#undef USMX_STORED
/// Nothing: devices have no such wait.
inline void __nanosleep(unsigned int) {}

}  // namespace usmx
