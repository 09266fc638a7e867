// Atomic operations on global and local memory, relaxed and device-wide. Each returns the value
// before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "types.hpp"

namespace usmx {

#define USMX_ATOMIC(T, name) \
  inline T name(T* p, T v) { return backend::name(p, v); }
#define USMX_ATOMIC_ANY(T, minus_v)                                    \
  inline T atomic_load(const T* p) { return backend::atomic_load(p); } \
  inline void atomic_store(T* p, T v) { backend::atomic_store(p, v); } \
  USMX_ATOMIC(T, atomic_exchange)                                      \
  USMX_ATOMIC(T, atomic_add)                                           \
  USMX_ATOMIC(T, atomic_min)                                           \
  USMX_ATOMIC(T, atomic_max)                                           \
  inline T atomic_sub(T* p, T v) { return atomic_add(p, T(minus_v)); }
#define USMX_ATOMIC_INTEGER(T)                                     \
  USMX_ATOMIC_ANY(T, T(0) - v)                                     \
  USMX_ATOMIC(T, atomic_and)                                       \
  USMX_ATOMIC(T, atomic_or)                                        \
  USMX_ATOMIC(T, atomic_xor)                                       \
  /* Stores `desired` if *p equals `expected`. */                  \
  inline T atomic_compare_exchange(T* p, T expected, T desired) {  \
    return backend::atomic_compare_exchange(p, expected, desired); \
  }

USMX_ATOMIC_INTEGER(int32_t)
USMX_ATOMIC_INTEGER(int64_t)
USMX_ATOMIC_INTEGER(uint32_t)
USMX_ATOMIC_INTEGER(uint64_t)
USMX_ATOMIC_ANY(float, -v)
USMX_ATOMIC_ANY(double, -v)

/// As for integers; numbers are equal if their bits are.
inline float atomic_compare_exchange(float* p, float expected, float desired) {
  return __builtin_bit_cast(
      float, atomic_compare_exchange((uint32_t*)p, __builtin_bit_cast(uint32_t, expected),
                                     __builtin_bit_cast(uint32_t, desired)));
}
inline double atomic_compare_exchange(double* p, double expected, double desired) {
  return __builtin_bit_cast(
      double, atomic_compare_exchange((uint64_t*)p, __builtin_bit_cast(uint64_t, expected),
                                      __builtin_bit_cast(uint64_t, desired)));
}

/// As of sycl::atomic_ref: whether `desired` was stored; else `expected` becomes the value.
template <class T>
inline bool compare_exchange(T* p, T& expected, T desired) {
  const T before = atomic_compare_exchange(p, expected, desired);
  bool same;
  if constexpr (sizeof(T) == 8) {
    same = __builtin_bit_cast(uint64_t, before) == __builtin_bit_cast(uint64_t, expected);
  } else {
    same = __builtin_bit_cast(uint32_t, before) == __builtin_bit_cast(uint32_t, expected);
  }
  if (!same) expected = before;
  return same;
}

/// As CUDA's atomicInc: counts up to `limit`, then from 0 again.
template <class T>
inline T atomic_inc(T* p, T limit) {
  T before = atomic_load(p);
  while (!compare_exchange(p, before, before >= limit ? T(0) : T(before + 1))) {
  }
  return before;
}
/// As CUDA's atomicDec: counts down to 0, then from `limit` again.
template <class T>
inline T atomic_dec(T* p, T limit) {
  T before = atomic_load(p);
  while (!compare_exchange(p, before, before == 0 || before > limit ? limit : T(before - 1))) {
  }
  return before;
}

/// Whether `v` takes the place of `before` in a minimum or maximum that leaves NaN out.
template <class T>
inline bool is_first_number(T before, T v) {
  return before != before && v == v;
}
/// The smaller one; of a number and NaN the number. Integers have no NaN.
template <class T>
inline T atomic_nanmin(T* p, T v) {
  T before = atomic_load(p);
  while ((v < before || is_first_number(before, v)) && !compare_exchange(p, before, v)) {
  }
  return before;
}
template <class T>
inline T atomic_nanmax(T* p, T v) {
  T before = atomic_load(p);
  while ((v > before || is_first_number(before, v)) && !compare_exchange(p, before, v)) {
  }
  return before;
}

#undef USMX_ATOMIC
#undef USMX_ATOMIC_ANY
#undef USMX_ATOMIC_INTEGER

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
