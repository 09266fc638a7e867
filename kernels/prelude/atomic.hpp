// Atomic operations on global and local memory, relaxed and device-wide.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

// Scope 1 is the device, memory order 0 is relaxed. Each function returns the value before.
#define USMX_ATOMIC(T, name, builtin)                      \
  USMX_DEVICE T builtin(T*, int, int, T) noexcept;         \
  namespace usmx {                                         \
  inline T name(T* p, T v) { return builtin(p, 1, 0, v); } \
  }
#define USMX_ATOMIC_ANY(T, subtract)                                       \
  USMX_DEVICE T __spirv_AtomicLoad(const T*, int, int) noexcept;           \
  USMX_DEVICE void __spirv_AtomicStore(T*, int, int, T) noexcept;          \
  USMX_ATOMIC(T, atomic_exchange, __spirv_AtomicExchange)                  \
  namespace usmx {                                                         \
  inline T atomic_load(const T* p) { return __spirv_AtomicLoad(p, 1, 0); } \
  inline void atomic_store(T* p, T v) { __spirv_AtomicStore(p, 1, 0, v); } \
  inline T atomic_sub(T* p, T v) { return atomic_add(p, T(subtract)); }    \
  }
#define USMX_ATOMIC_INTEGER(T, minimum, maximum)                                   \
  USMX_ATOMIC(T, atomic_add, __spirv_AtomicIAdd)                                   \
  USMX_ATOMIC(T, atomic_min, minimum)                                              \
  USMX_ATOMIC(T, atomic_max, maximum)                                              \
  USMX_ATOMIC(T, atomic_and, __spirv_AtomicAnd)                                    \
  USMX_ATOMIC(T, atomic_or, __spirv_AtomicOr)                                      \
  USMX_ATOMIC(T, atomic_xor, __spirv_AtomicXor)                                    \
  USMX_ATOMIC_ANY(T, T(0) - v)                                                     \
  USMX_DEVICE T __spirv_AtomicCompareExchange(T*, int, int, int, T, T) noexcept;   \
  namespace usmx {                                                                 \
  /* Stores `desired` if *p equals `expected`; returns what stood there before. */ \
  inline T atomic_compare_exchange(T* p, T expected, T desired) {                  \
    return __spirv_AtomicCompareExchange(p, 1, 0, 0, desired, expected);           \
  }                                                                                \
  }
#define USMX_ATOMIC_FLOATING(T)                     \
  USMX_ATOMIC(T, atomic_add, __spirv_AtomicFAddEXT) \
  USMX_ATOMIC(T, atomic_min, __spirv_AtomicFMinEXT) \
  USMX_ATOMIC(T, atomic_max, __spirv_AtomicFMaxEXT) \
  USMX_ATOMIC_ANY(T, -v)

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

namespace usmx {

/// One memory location seen atomically, with the names of sycl::atomic_ref.
template <class T>
struct atomic_ref {
  T* p;
  explicit atomic_ref(T& x) : p(&x) {}
  T load() const { return atomic_load(p); }
  void store(T v) const { atomic_store(p, v); }
  T exchange(T v) const { return atomic_exchange(p, v); }
  T fetch_add(T v) const { return atomic_add(p, v); }
  T fetch_sub(T v) const { return atomic_sub(p, v); }
  T fetch_min(T v) const { return atomic_min(p, v); }
  T fetch_max(T v) const { return atomic_max(p, v); }
  T fetch_and(T v) const { return atomic_and(p, v); }
  T fetch_or(T v) const { return atomic_or(p, v); }
  T fetch_xor(T v) const { return atomic_xor(p, v); }
};

}  // namespace usmx
