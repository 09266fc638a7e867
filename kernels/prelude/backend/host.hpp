// The backend of the host's own compiler, for a few elements that need no launch. The numbers are
// those of kernels of processors, so only what has the same bits there is computed here: the rows
// of python/usmx/_operations.py say which functions are. There are no items, groups and atomics.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../types.hpp"

/// As in kernels of processors: the elementary functions are our own.
#define USMX_HOST_CORES

// Inline in loops for processors with fma too.
#define USMX_HOST_FUNCTION [[gnu::always_inline]] inline
#define USMX_HOST_1(name)                                                                 \
  USMX_HOST_FUNCTION float __spirv_ocl_##name(float x) { return __builtin_##name##f(x); } \
  USMX_HOST_FUNCTION double __spirv_ocl_##name(double x) { return __builtin_##name(x); }
#define USMX_HOST_2(name)                                            \
  USMX_HOST_FUNCTION float __spirv_ocl_##name(float x, float y) {    \
    return __builtin_##name##f(x, y);                                \
  }                                                                  \
  USMX_HOST_FUNCTION double __spirv_ocl_##name(double x, double y) { \
    return __builtin_##name(x, y);                                   \
  }
USMX_HOST_1(acos)
USMX_HOST_1(acosh)
USMX_HOST_1(asin)
USMX_HOST_1(asinh)
USMX_HOST_1(atan)
USMX_HOST_1(atanh)
USMX_HOST_1(cbrt)
USMX_HOST_1(cosh)
USMX_HOST_1(erf)
USMX_HOST_1(erfc)
USMX_HOST_1(exp2)
USMX_HOST_1(expm1)
USMX_HOST_1(fabs)
USMX_HOST_1(lgamma)
USMX_HOST_1(log10)
USMX_HOST_1(log1p)
USMX_HOST_1(log2)
USMX_HOST_1(round)
USMX_HOST_1(sinh)
USMX_HOST_1(sqrt)
USMX_HOST_1(tan)
USMX_HOST_1(tgamma)
USMX_HOST_2(copysign)
USMX_HOST_2(fdim)
USMX_HOST_2(fmod)
USMX_HOST_2(nextafter)
USMX_HOST_2(pow)
#undef USMX_HOST_1
#undef USMX_HOST_2

// Of a NaN that signals and a number the library's give NaN.
template <class T>
USMX_HOST_FUNCTION T __spirv_ocl_fmin(T x, T y) {
  return y < x || x != x ? y : x;
}
template <class T>
USMX_HOST_FUNCTION T __spirv_ocl_fmax(T x, T y) {
  return x < y || x != x ? y : x;
}

USMX_HOST_FUNCTION double __spirv_ocl_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
USMX_HOST_FUNCTION float __spirv_ocl_fma(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
USMX_HOST_FUNCTION double __spirv_ocl_fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}

// The baseline of x86-64 has no instruction that rounds to whole numbers, and a loop that calls the
// library's function takes at least twice as long as these.
#define USMX_HOST_ROUNDING(T, whole)                                           \
  /* From `whole` on a type has no fractions, so the sum rounds. */            \
  USMX_HOST_FUNCTION T __spirv_ocl_rint(T x) {                                 \
    const T size = __spirv_ocl_fabs(x), moved = (size + whole) - whole;        \
    return __spirv_ocl_copysign(size < whole ? moved : size, x);               \
  }                                                                            \
  USMX_HOST_FUNCTION T __spirv_ocl_floor(T x) {                                \
    const T near = __spirv_ocl_rint(x);                                        \
    return __spirv_ocl_copysign(near - T(near > x), x); /* zeros keep signs */ \
  }                                                                            \
  USMX_HOST_FUNCTION T __spirv_ocl_ceil(T x) {                                 \
    const T near = __spirv_ocl_rint(x);                                        \
    return __spirv_ocl_copysign(near + T(near < x), x);                        \
  }                                                                            \
  USMX_HOST_FUNCTION T __spirv_ocl_trunc(T x) {                                \
    const T size = __spirv_ocl_fabs(x), near = __spirv_ocl_rint(size);         \
    return __spirv_ocl_copysign(near - T(near > size), x);                     \
  }
USMX_HOST_ROUNDING(float, 0x1p23f)
USMX_HOST_ROUNDING(double, 0x1p52)
#undef USMX_HOST_ROUNDING
#undef USMX_HOST_FUNCTION

namespace usmx::backend {

template <class T>
inline T negate(T x) {
  return T(-x);
}
template <class T, class I>
inline T to_floating(I x) {
  return T(x);
}
template <class I, class T>
inline I to_integer(T x) {
  return I(x);
}

}  // namespace usmx::backend
