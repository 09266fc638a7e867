// The backend of every device that takes SPIR-V. The compiler declares most functions by itself;
// those that it does not know are declared here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../types.hpp"

#define USMX_ID USMX_DEVICE __attribute__((const))
USMX_ID size_t __spirv_BuiltInGlobalInvocationId(int);
USMX_ID size_t __spirv_BuiltInGlobalSize(int);
USMX_ID size_t __spirv_BuiltInLocalInvocationId(int);
USMX_ID size_t __spirv_BuiltInWorkgroupSize(int);
USMX_ID size_t __spirv_BuiltInWorkgroupId(int);
USMX_ID size_t __spirv_BuiltInNumWorkgroups(int);
#undef USMX_ID

#define USMX_BACKEND_KERNEL

// The format must be a literal in the constant address space where printf is called.
USMX_DEVICE int __spirv_ocl_printf(const __attribute__((opencl_constant)) char*, ...);
#define USMX_BACKEND_TEXT const __attribute__((opencl_constant)) char
#define USMX_BACKEND_PRINT __spirv_ocl_printf

// Scope 1 is the device, memory order 0 is relaxed. Each function returns the value before.
#define USMX_ATOMIC(T, name, builtin)                      \
  USMX_DEVICE T builtin(T*, int, int, T) noexcept;         \
  namespace usmx::backend {                                \
  inline T name(T* p, T v) { return builtin(p, 1, 0, v); } \
  }
#define USMX_ATOMIC_ANY(T)                                                 \
  USMX_DEVICE T __spirv_AtomicLoad(const T*, int, int) noexcept;           \
  USMX_DEVICE void __spirv_AtomicStore(T*, int, int, T) noexcept;          \
  USMX_ATOMIC(T, atomic_exchange, __spirv_AtomicExchange)                  \
  namespace usmx::backend {                                                \
  inline T atomic_load(const T* p) { return __spirv_AtomicLoad(p, 1, 0); } \
  inline void atomic_store(T* p, T v) { __spirv_AtomicStore(p, 1, 0, v); } \
  }
#define USMX_ATOMIC_INTEGER(T, minimum, maximum)                                 \
  USMX_ATOMIC(T, atomic_add, __spirv_AtomicIAdd)                                 \
  USMX_ATOMIC(T, atomic_min, minimum)                                            \
  USMX_ATOMIC(T, atomic_max, maximum)                                            \
  USMX_ATOMIC(T, atomic_and, __spirv_AtomicAnd)                                  \
  USMX_ATOMIC(T, atomic_or, __spirv_AtomicOr)                                    \
  USMX_ATOMIC(T, atomic_xor, __spirv_AtomicXor)                                  \
  USMX_ATOMIC_ANY(T)                                                             \
  USMX_DEVICE T __spirv_AtomicCompareExchange(T*, int, int, int, T, T) noexcept; \
  namespace usmx::backend {                                                      \
  inline T atomic_compare_exchange(T* p, T expected, T desired) {                \
    return __spirv_AtomicCompareExchange(p, 1, 0, 0, desired, expected);         \
  }                                                                              \
  }
#define USMX_ATOMIC_FLOATING(T)                     \
  USMX_ATOMIC(T, atomic_add, __spirv_AtomicFAddEXT) \
  USMX_ATOMIC(T, atomic_min, __spirv_AtomicFMinEXT) \
  USMX_ATOMIC(T, atomic_max, __spirv_AtomicFMaxEXT) \
  USMX_ATOMIC_ANY(T)

USMX_ATOMIC_INTEGER(int32_t, __spirv_AtomicSMin, __spirv_AtomicSMax)
USMX_ATOMIC_INTEGER(int64_t, __spirv_AtomicSMin, __spirv_AtomicSMax)
USMX_ATOMIC_INTEGER(uint32_t, __spirv_AtomicUMin, __spirv_AtomicUMax)
USMX_ATOMIC_INTEGER(uint64_t, __spirv_AtomicUMin, __spirv_AtomicUMax)
USMX_ATOMIC_FLOATING(float)
USMX_ATOMIC_FLOATING(double)

#undef USMX_ATOMIC
#undef USMX_ATOMIC_ANY
#undef USMX_ATOMIC_INTEGER
#undef USMX_ATOMIC_FLOATING

namespace usmx::backend {

// Ids and sizes along an axis; axis 0 varies fastest.
inline size_t global_id(int axis) { return __spirv_BuiltInGlobalInvocationId(axis); }
inline size_t global_range(int axis) { return __spirv_BuiltInGlobalSize(axis); }
inline size_t local_id(int axis) { return __spirv_BuiltInLocalInvocationId(axis); }
inline size_t local_range(int axis) { return __spirv_BuiltInWorkgroupSize(axis); }
inline size_t group_id(int axis) { return __spirv_BuiltInWorkgroupId(axis); }
inline size_t group_range(int axis) { return __spirv_BuiltInNumWorkgroups(axis); }

/// The value that an item of the sub-group has.
template <class T>
inline T shuffle(T x, uint32_t id) {
  return __spirv_SubgroupShuffleINTEL(x, id);
}
template <class T>
inline T shuffle_xor(T x, uint32_t mask) {
  return __spirv_SubgroupShuffleXorINTEL(x, mask);
}

/// -x. Intel's compiler for CPUs takes what was computed from a negation alone for the same in all
/// items if a barrier comes before its use: all then see the last item's. The sign is therefore
/// turned as a bit, by a mask that is not a constant: compilers make negations of those that are.
template <class T>
inline T negate(T x) {
  const auto one = uint64_t(local_range(0) != 0);
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, __builtin_bit_cast(uint64_t, x) ^ one << 63);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, __builtin_bit_cast(uint32_t, x) ^ uint32_t(one << 31));
  else
    return __builtin_bit_cast(T, uint16_t(__builtin_bit_cast(uint16_t, x) ^ uint16_t(one << 15)));
}

/// T(x) of 64 bits from their halves, rounded once.
template <class T, class I>
inline T floating_of_halves(I x) {
  constexpr bool is_signed = I(-1) < I(0);
  if constexpr (sizeof(T) < 8) {
    // Where a double has no room for all bits, the last ones only say that they are not zero.
    const uint64_t distance = is_signed ? uint64_t(x) + (uint64_t(1) << 53) : uint64_t(x);
    const bool fits = distance <= uint64_t(1) << (is_signed ? 54 : 53);
    const I rounded = (x | I((x & I(2047)) != 0 ? 2048 : 0)) & ~I(2047);
    return T(floating_of_halves<double>(fits ? x : rounded));
  } else {
    double high;
    if constexpr (is_signed)
      high = __spirv_ConvertSToF_Rdouble(int32_t(x >> 32));
    else
      high = double(uint32_t(x >> 32));
    return high * 4294967296.0 + double(uint32_t(x));
  }
}

/// T(x) of an integer. What writes SPIR-V turns float(condition ? -1 : 0) into +1 and 0: it
/// forgets the sign once the optimiser sees a bool in the integer, and into a call it does not see.
/// Of 64 bits it is a call on processors too, which takes 2 ns where a condition surrounds it: a
/// million of int64 in rows took 1.2 ms in place of 0.3.
template <class T, class I>
inline T to_floating(I x) {
  if (__builtin_constant_p(x)) return T(x);
#ifdef USMX_HOST_CORES
  constexpr bool by_halves = sizeof(I) == 8 && sizeof(T) > 2;
#else
  constexpr bool by_halves = false;
#endif
  using wide = decltype(x + 0);  // there are calls for 32 and 64 bits
  if constexpr (by_halves)
    return floating_of_halves<T>(x);
  else if constexpr (I(0) < I(-1))
    return T(x);
  else if constexpr (sizeof(T) == 8)
    return __spirv_ConvertSToF_Rdouble(wide(x));
  else if constexpr (sizeof(T) == 4)
    return __spirv_ConvertSToF_Rfloat(wide(x));
  else
    return __spirv_ConvertSToF_Rhalf(wide(x));
}

#ifdef USMX_HOST_CORES
/// I(x) of a number that int32 may not have, from its bits.
template <class I, class T>
inline I integer_of_bits(T x) {
  using layout = float_layout<T>;
  using bits = typename layout::bits;
  constexpr uint64_t one = uint64_t(1) << layout::fraction;
  const bits stored = __builtin_bit_cast(bits, x);
  const int exponent = int(stored >> layout::fraction & bits(2 * layout::bias + 1));
  const int power = exponent - layout::bias - layout::fraction;
  const uint64_t digits = (stored & (one - 1)) | one;
  const uint64_t size = power >= 0 ? digits << (power & 63) : digits >> (-power & 63);
  return I(stored >> (8 * sizeof(T) - 1) ? -size : size);
}
#endif

/// I(x) of a float. To 64 bits it is a call on processors, which takes 5 ns where the code around
/// it is not in vectors: a histogram of 1e7 counted for 26 ms in place of 9.
template <class I, class T>
inline I to_integer(T x) {
#ifdef USMX_HOST_CORES
  if constexpr (sizeof(I) == 8 && sizeof(T) == 2) {
    return I(int32_t(x));
  } else if constexpr (sizeof(I) == 8) {
    if (x < T(2147483648.0f) && x > T(-2147483648.0f)) return I(int32_t(x));
    return integer_of_bits<I>(x);
  }
#endif
  return I(x);
}

}  // namespace usmx::backend
