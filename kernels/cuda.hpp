// The names of CUDA that texts written for it use: what marks its functions, constants, atomic
// operations, functions of numbers of two types. Kernels from expressions see them; a text of a
// RawKernel includes "usmx/cuda.hpp". CUDA has no namespaces: they are seen without `usmx::`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"
#include "prelude/special.hpp"

#define __device__
#define __host__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __align__(n) alignas(n)
#define __forceinline__ inline __attribute__((always_inline))

#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef DBL_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#endif
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ULL + 1ULL)
#endif
#ifndef INT32_MAX
#define INT32_MAX __INT32_MAX__
#define INT32_MIN (-__INT32_MAX__ - 1)
#define UINT32_MAX __UINT32_MAX__
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
#define UINT64_MAX __UINT64_MAX__
#endif
#define CUDART_INF __builtin_inf()
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN __builtin_nan("")
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI 3.14159265358979323846
#define CUDART_PI_F 3.14159265358979323846f

// Its compiler lets braces round numbers: `const float x{M_PI * y};`.
#pragma clang diagnostic ignored "-Wc++11-narrowing"

using float16 = half;

/// The traits that texts for CuPy take from there.
namespace cupy::type_traits {
template <bool Condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};
}  // namespace cupy::type_traits

/// Its complex numbers have the members and functions of ours.
namespace thrust {
using namespace usmx;
}

namespace usmx {

namespace cuda_names {

template <class T, class Same>
inline constexpr bool is_one_type = false;
template <class T>
inline constexpr bool is_one_type<T, T> = true;
template <class T>
inline constexpr bool is_number = __is_integral(T) || is_floating<T>;

/// A function is one of these operands only if the condition holds.
template <bool Condition>
struct only_if {};
template <>
struct only_if<true> {
  using type = int;
};
template <bool Condition>
using when = typename only_if<Condition>::type;

/// What C++ computes with for operands of two types: double unless all are shorter floats.
template <class A, class B>
struct floating_of {
  using type = double;
};
template <>
struct floating_of<float, half> {
  using type = float;
};
template <>
struct floating_of<half, float> {
  using type = float;
};
template <>
struct floating_of<float, bfloat16> {
  using type = float;
};
template <>
struct floating_of<bfloat16, float> {
  using type = float;
};

/// The type with the same bits that the prelude's atomic functions take.
template <class T>
struct word {
  using type = T;
};
template <>
struct word<long long> {
  using type = int64_t;
};
template <>
struct word<unsigned long long> {
  using type = uint64_t;
};

}  // namespace cuda_names

// Functions of integers are those of double, and two operands need not be of one type.
#define USMX_OF_INTEGER(name)                                \
  template <class T, cuda_names::when<__is_integral(T)> = 0> \
  inline auto name(T x) {                                    \
    return name(double(x));                                  \
  }
#define USMX_OF_TWO(name)                                                               \
  template <class A, class B,                                                           \
            cuda_names::when<cuda_names::is_number<A> && cuda_names::is_number<B> &&    \
                             (!cuda_names::is_one_type<A, B> || __is_integral(A))> = 0> \
  inline auto name(A a, B b) {                                                          \
    using T = typename cuda_names::floating_of<A, B>::type;                             \
    return name(T(a), T(b));                                                            \
  }
USMX_OF_INTEGER(sin)
USMX_OF_INTEGER(cos)
USMX_OF_INTEGER(tan)
USMX_OF_INTEGER(asin)
USMX_OF_INTEGER(acos)
USMX_OF_INTEGER(atan)
USMX_OF_INTEGER(sinh)
USMX_OF_INTEGER(cosh)
USMX_OF_INTEGER(tanh)
USMX_OF_INTEGER(asinh)
USMX_OF_INTEGER(acosh)
USMX_OF_INTEGER(atanh)
USMX_OF_INTEGER(exp)
USMX_OF_INTEGER(exp2)
USMX_OF_INTEGER(expm1)
USMX_OF_INTEGER(log)
USMX_OF_INTEGER(log2)
USMX_OF_INTEGER(log10)
USMX_OF_INTEGER(log1p)
USMX_OF_INTEGER(sqrt)
USMX_OF_INTEGER(rsqrt)
USMX_OF_INTEGER(cbrt)
USMX_OF_INTEGER(erf)
USMX_OF_INTEGER(erfc)
USMX_OF_INTEGER(tgamma)
USMX_OF_INTEGER(lgamma)
USMX_OF_INTEGER(fabs)
USMX_OF_INTEGER(floor)
USMX_OF_INTEGER(ceil)
USMX_OF_INTEGER(trunc)
USMX_OF_INTEGER(rint)
USMX_OF_INTEGER(round)
USMX_OF_INTEGER(isnan)
USMX_OF_INTEGER(isinf)
USMX_OF_INTEGER(isfinite)
USMX_OF_TWO(pow)
USMX_OF_TWO(fmod)
USMX_OF_TWO(atan2)
USMX_OF_TWO(hypot)
USMX_OF_TWO(copysign)
USMX_OF_TWO(fdim)
USMX_OF_TWO(nextafter)
#undef USMX_OF_INTEGER
#undef USMX_OF_TWO

// As the operators of C++, and by value: `min(x, 0LL)`.
template <class A, class B,
          cuda_names::when<cuda_names::is_number<A> && cuda_names::is_number<B>> = 0>
constexpr auto min(A a, B b) {
  using T = decltype(true ? a : b);
  return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B,
          cuda_names::when<cuda_names::is_number<A> && cuda_names::is_number<B>> = 0>
constexpr auto max(A a, B b) {
  using T = decltype(true ? a : b);
  return T(a) < T(b) ? T(b) : T(a);
}
/// CuPy's name of it.
template <class A, class B>
inline auto _floor_divide(A a, B b) {
  using T = decltype(a + b);
  return floor_divide(T(a), T(b));
}
constexpr long labs(long a) { return abs(a); }
constexpr int64_t llabs(int64_t a) { return abs(a); }

/// NaN; which one, the text says in vain.
constexpr double nan(const char*) { return __builtin_nan(""); }
constexpr float nanf(const char*) { return __builtin_nanf(""); }
template <class T, cuda_names::when<is_floating<T>> = 0>
inline bool signbit(T x) {
  return copysign(T(1), x) < T(0);
}

// Parts of numbers, of which one is written through a pointer.
template <class T, cuda_names::when<is_floating<T>> = 0>
inline T frexp(T x, int* exponent) {
  const float_parts<T> parts = frexp(x);
  *exponent = parts.exponent;
  return parts.mantissa;
}
template <class T, cuda_names::when<is_floating<T>> = 0>
inline T modf(T x, T* whole) {
  *whole = trunc(x);
  return copysign(isinf(x) ? T(0) : x - *whole, x);
}
template <class T, cuda_names::when<is_floating<T>> = 0>
inline T scalbn(T x, int n) {
  return ldexp(x, n);
}
inline float frexpf(float x, int* exponent) { return frexp(x, exponent); }
inline float modff(float x, float* whole) { return modf(x, whole); }
inline float ldexpf(float x, int n) { return ldexp(x, n); }

/// The square of its length.
template <class T>
inline T norm(complex<T> z) {
  return z.re * z.re + z.im * z.im;
}
template <class T>
inline complex<T> polar(T length, T angle) {
  return {length * cos(angle), length * sin(angle)};
}
template <class T>
inline bool isnan(complex<T> z) {
  return isnan(z.re) || isnan(z.im);
}
template <class T>
inline bool isinf(complex<T> z) {
  return isinf(z.re) || isinf(z.im);
}
template <class T>
inline bool isfinite(complex<T> z) {
  return isfinite(z.re) && isfinite(z.im);
}

#define USMX_OF_FLOAT(name) \
  inline float name##f(float x) { return name(x); }
#define USMX_OF_TWO_FLOATS(name) \
  inline float name##f(float x, float y) { return name(x, y); }
USMX_OF_FLOAT(sin)
USMX_OF_FLOAT(cos)
USMX_OF_FLOAT(tan)
USMX_OF_FLOAT(asin)
USMX_OF_FLOAT(acos)
USMX_OF_FLOAT(atan)
USMX_OF_FLOAT(sinh)
USMX_OF_FLOAT(cosh)
USMX_OF_FLOAT(tanh)
USMX_OF_FLOAT(exp)
USMX_OF_FLOAT(exp2)
USMX_OF_FLOAT(expm1)
USMX_OF_FLOAT(log)
USMX_OF_FLOAT(log2)
USMX_OF_FLOAT(log10)
USMX_OF_FLOAT(log1p)
USMX_OF_FLOAT(sqrt)
USMX_OF_FLOAT(rsqrt)
USMX_OF_FLOAT(cbrt)
USMX_OF_FLOAT(erf)
USMX_OF_FLOAT(erfc)
USMX_OF_FLOAT(tgamma)
USMX_OF_FLOAT(lgamma)
USMX_OF_FLOAT(fabs)
USMX_OF_FLOAT(floor)
USMX_OF_FLOAT(ceil)
USMX_OF_FLOAT(trunc)
USMX_OF_FLOAT(rint)
USMX_OF_FLOAT(round)
USMX_OF_TWO_FLOATS(pow)
USMX_OF_TWO_FLOATS(fmod)
USMX_OF_TWO_FLOATS(atan2)
USMX_OF_TWO_FLOATS(hypot)
USMX_OF_TWO_FLOATS(copysign)
USMX_OF_TWO_FLOATS(fmin)
USMX_OF_TWO_FLOATS(fmax)
#undef USMX_OF_FLOAT
#undef USMX_OF_TWO_FLOATS
inline float fmaf(float x, float y, float z) { return fma(x, y, z); }
inline float __expf(float x) { return exp(x); }
inline float __logf(float x) { return log(x); }
inline float __sinf(float x) { return sin(x); }
inline float __cosf(float x) { return cos(x); }
inline float __powf(float x, float y) { return pow(x, y); }
inline float __fdividef(float x, float y) { return x / y; }

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(unsigned int x) { return int(clz(uint32_t(x))); }
inline int __clzll(unsigned long long x) { return int(clz(uint64_t(x))); }
/// One more than the number of the lowest bit that is set; 0 if none is.
inline int __ffs(unsigned int x) { return x == 0 ? 0 : __builtin_popcount((x & -x) - 1) + 1; }
inline int __ffsll(unsigned long long x) {
  return x == 0 ? 0 : __builtin_popcountll((x & -x) - 1) + 1;
}
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
inline int64_t __double_as_longlong(double x) { return __builtin_bit_cast(int64_t, x); }
inline double __longlong_as_double(int64_t x) { return __builtin_bit_cast(double, x); }
template <class T>
inline T __ldg(const T* p) {
  return *p;
}

// Each gives the value before.
#define USMX_ATOMIC(name, function)                          \
  template <class T, class V>                                \
  inline T name(T* p, V v) {                                 \
    using word = typename cuda_names::word<T>::type;         \
    return T(function(reinterpret_cast<word*>(p), word(v))); \
  }
USMX_ATOMIC(atomicAdd, atomic_add)
USMX_ATOMIC(atomicSub, atomic_sub)
USMX_ATOMIC(atomicMin, atomic_min)
USMX_ATOMIC(atomicMax, atomic_max)
USMX_ATOMIC(atomicExch, atomic_exchange)
USMX_ATOMIC(atomicAnd, atomic_and)
USMX_ATOMIC(atomicOr, atomic_or)
USMX_ATOMIC(atomicXor, atomic_xor)
#undef USMX_ATOMIC
template <class T, class E, class D>
inline T atomicCAS(T* p, E expected, D desired) {
  using word = typename cuda_names::word<T>::type;
  return T(atomic_compare_exchange(reinterpret_cast<word*>(p), word(expected), word(desired)));
}
inline unsigned int atomicInc(unsigned int* p, unsigned int limit) { return atomic_inc(p, limit); }
inline unsigned int atomicDec(unsigned int* p, unsigned int limit) { return atomic_dec(p, limit); }
// Those of a block alone are of the whole device, which is more than they ask for.
#define USMX_ATOMIC_OF(name)            \
  template <class T, class... V>        \
  inline T name##_block(T* p, V... v) { \
    return name(p, v...);               \
  }
USMX_ATOMIC_OF(atomicAdd)
USMX_ATOMIC_OF(atomicSub)
USMX_ATOMIC_OF(atomicMin)
USMX_ATOMIC_OF(atomicMax)
USMX_ATOMIC_OF(atomicExch)
USMX_ATOMIC_OF(atomicAnd)
USMX_ATOMIC_OF(atomicOr)
USMX_ATOMIC_OF(atomicXor)
USMX_ATOMIC_OF(atomicCAS)
USMX_ATOMIC_OF(atomicInc)
USMX_ATOMIC_OF(atomicDec)
#undef USMX_ATOMIC_OF

/// CUDA's vectors, with its alignments: float4 is read as a whole.
#define USMX_VECTORS(name, T)                                                   \
  struct name##1 { T x; };                                                      \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                            \
  struct name##3 { T x, y, z; };                                                \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
  inline name##1 make_##name##1(T x) { return {x}; }                            \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                    \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }            \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
USMX_VECTORS(char, signed char)
USMX_VECTORS(uchar, unsigned char)
USMX_VECTORS(short, short)
USMX_VECTORS(ushort, unsigned short)
USMX_VECTORS(int, int)
USMX_VECTORS(uint, unsigned int)
USMX_VECTORS(long, long)
USMX_VECTORS(ulong, unsigned long)
USMX_VECTORS(longlong, int64_t)
USMX_VECTORS(ulonglong, uint64_t)
USMX_VECTORS(float, float)
USMX_VECTORS(double, double)
#undef USMX_VECTORS

/// Lengths along three axes; those that are not given are 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int of_x = 1, unsigned int of_y = 1, unsigned int of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

}  // namespace usmx

#include "cuda/numbers.hpp"

using namespace usmx;
