// The backend of CUDA devices. Functions of SYCL's device library stay calls, which the driver does
// not resolve either, and some are missing there. The compiler's own for NVPTX are neither, and
// those of CUDA's device library, which the former call, become part of the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../bfloat16.hpp"

// CUDA's own printf: the address of a text and that of its arguments, one after the other. There is
// no constant address space for the text: the compiler aborts on one.
extern "C" USMX_DEVICE int usmx_vprintf(const char*, const void*) __asm__("vprintf");
#define USMX_BACKEND_TEXT const char
#define USMX_BACKEND_PRINT usmx::backend::print

// A part of what the driver calls, so that the compiler sees that its pointers are to global
// memory.
#define USMX_BACKEND_KERNEL __attribute__((always_inline))

// Mathematical functions: the same code that the calls lead to.
#define USMX_BACKEND_INLINE [[gnu::always_inline]] inline
#define USMX_BACKEND_FLOAT(name) __nv_##name##f
#define USMX_BACKEND_DOUBLE(name) __nv_##name
#define USMX_CUDA_1(name)                                      \
  extern "C" USMX_DEVICE float __nv_##name##f(float) noexcept; \
  extern "C" USMX_DEVICE double __nv_##name(double) noexcept;
#define USMX_CUDA_2(name)                                             \
  extern "C" USMX_DEVICE float __nv_##name##f(float, float) noexcept; \
  extern "C" USMX_DEVICE double __nv_##name(double, double) noexcept;
USMX_CUDA_1(exp)
USMX_CUDA_1(log)
USMX_CUDA_1(sin)
USMX_CUDA_1(cos)
USMX_CUDA_1(tanh)
USMX_CUDA_1(rsqrt)
USMX_CUDA_1(tan)
USMX_CUDA_1(asin)
USMX_CUDA_1(acos)
USMX_CUDA_1(atan)
USMX_CUDA_1(sinh)
USMX_CUDA_1(cosh)
USMX_CUDA_1(asinh)
USMX_CUDA_1(acosh)
USMX_CUDA_1(atanh)
USMX_CUDA_1(exp2)
USMX_CUDA_1(expm1)
USMX_CUDA_1(log2)
USMX_CUDA_1(log10)
USMX_CUDA_1(log1p)
USMX_CUDA_1(sqrt)
USMX_CUDA_1(cbrt)
USMX_CUDA_1(erf)
USMX_CUDA_1(erfc)
USMX_CUDA_1(tgamma)
USMX_CUDA_1(lgamma)
USMX_CUDA_1(fabs)
USMX_CUDA_1(floor)
USMX_CUDA_1(ceil)
USMX_CUDA_1(trunc)
USMX_CUDA_1(rint)
USMX_CUDA_1(round)
USMX_CUDA_2(atan2)
USMX_CUDA_2(hypot)
USMX_CUDA_2(pow)
USMX_CUDA_2(fmod)
USMX_CUDA_2(copysign)
USMX_CUDA_2(fmin)
USMX_CUDA_2(fmax)
USMX_CUDA_2(fdim)
USMX_CUDA_2(nextafter)
extern "C" USMX_DEVICE float __nv_fmaf(float, float, float) noexcept;
extern "C" USMX_DEVICE double __nv_fma(double, double, double) noexcept;
#undef USMX_CUDA_1
#undef USMX_CUDA_2

namespace usmx::backend {

// Ids and sizes along an axis; axis 0 varies fastest.
#define USMX_REGISTER(function, name)                                 \
  inline size_t function(int axis) {                                  \
    return axis == 0   ? uint32_t(__nvvm_read_ptx_sreg_##name##_x())  \
           : axis == 1 ? uint32_t(__nvvm_read_ptx_sreg_##name##_y())  \
                       : uint32_t(__nvvm_read_ptx_sreg_##name##_z()); \
  }
USMX_REGISTER(local_id, tid)
USMX_REGISTER(local_range, ntid)
USMX_REGISTER(group_id, ctaid)
USMX_REGISTER(group_range, nctaid)
#undef USMX_REGISTER
inline size_t global_id(int axis) { return group_id(axis) * local_range(axis) + local_id(axis); }
inline size_t global_range(int axis) { return group_range(axis) * local_range(axis); }

/// As C passes an argument of printf.
inline double promoted(double x) { return x; }
inline double promoted(float x) { return x; }
inline double promoted(half x) { return double(float(x)); }
inline double promoted(bfloat16 x) { return double(float(x)); }
template <class T>
inline auto promoted(T x) {
  return +x;
}

template <class... T>
inline void print(const char* text, T... values) {
  // Each argument at a multiple of its own size.
  alignas(8) char arguments[sizeof...(T) * 8 + 8];
  size_t at = 0;
  const auto add = [&](auto value) {
    at = (at + sizeof value - 1) / sizeof value * sizeof value;
    __builtin_memcpy(arguments + at, &value, sizeof value);
    at += sizeof value;
  };
  (add(promoted(values)), ...);
  usmx_vprintf(text, arguments);
}

// Atomic operations, relaxed and device-wide. Each returns the value before.
#define USMX_ATOMIC_SCOPE __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE
template <class T>
inline T atomic_load(const T* p) {
  T value;
  __scoped_atomic_load(const_cast<T*>(p), &value, USMX_ATOMIC_SCOPE);
  return value;
}
template <class T>
inline void atomic_store(T* p, T value) {
  __scoped_atomic_store(p, &value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_exchange(T* p, T value) {
  T before;
  __scoped_atomic_exchange(p, &value, &before, USMX_ATOMIC_SCOPE);
  return before;
}
template <class T>
inline T atomic_add(T* p, T value) {
  return __scoped_atomic_fetch_add(p, value, USMX_ATOMIC_SCOPE);
}
/// The compiler makes a compare-and-swap loop of it, which on an H200 does 0.6 G/s against 99.9.
inline float atomic_add(float* p, float value) {
  float before;
  __asm__ volatile("atom.relaxed.gpu.add.f32 %0, [%1], %2;"
                   : "=f"(before)
                   : "l"(p), "f"(value)
                   : "memory");
  return before;
}
template <class T>
inline T atomic_min(T* p, T value) {
  return __scoped_atomic_fetch_min(p, value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_max(T* p, T value) {
  return __scoped_atomic_fetch_max(p, value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_and(T* p, T value) {
  return __scoped_atomic_fetch_and(p, value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_or(T* p, T value) {
  return __scoped_atomic_fetch_or(p, value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_xor(T* p, T value) {
  return __scoped_atomic_fetch_xor(p, value, USMX_ATOMIC_SCOPE);
}
template <class T>
inline T atomic_compare_exchange(T* p, T expected, T desired) {
  __scoped_atomic_compare_exchange(p, &expected, &desired, false, __ATOMIC_RELAXED,
                                   USMX_ATOMIC_SCOPE);
  return expected;  // what was there, if it was something else
}
#undef USMX_ATOMIC_SCOPE

/// The value that an item of the sub-group has: the device library has no function for it. The
/// items that a mask names make the call.
template <class T>
inline T shuffle_among(uint32_t mask, T x, uint32_t id) {
  const auto get = [mask, id](uint32_t bits) {
    return uint32_t(__nvvm_shfl_sync_idx_i32(mask, int32_t(bits), int32_t(id), 0x1f));
  };
  if constexpr (sizeof(T) == 8) {
    const auto bits = __builtin_bit_cast(uint64_t, x);
    const uint32_t low = get(uint32_t(bits)), high = get(uint32_t(bits >> 32));
    return __builtin_bit_cast(T, uint64_t(high) << 32 | low);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, get(__builtin_bit_cast(uint32_t, x)));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, uint16_t(get(__builtin_bit_cast(uint16_t, x))));
  } else {
    return __builtin_bit_cast(T, uint8_t(get(__builtin_bit_cast(uint8_t, x))));
  }
}
template <class T>
inline T shuffle(T x, uint32_t id) {
  return shuffle_among(0xffffffffu, x, id);
}
template <class T>
inline T shuffle_xor(T x, uint32_t mask) {
  return backend::shuffle(x, uint32_t(__nvvm_read_ptx_sreg_laneid()) ^ mask);
}

/// Bit k is what the item of the sub-group with id k says. One instruction; see prelude/vote.hpp.
#define USMX_BACKEND_BALLOT
using ballot_word = uint32_t;
inline ballot_word ballot(bool says) {
  return uint32_t(__nvvm_vote_ballot_sync(0xffffffffu, says));
}
/// Who has a bit of a number. Without a variable of type bool: of one the compiler makes a second
/// condition, and twice the instructions.
inline ballot_word ballot_of_bit(uint32_t number, int bit) {
  return uint32_t(__nvvm_vote_ballot_sync(0xffffffffu, (number & (1u << bit)) != 0));
}
/// The same of the items that a mask names, which make the call; see cuda/warps.hpp.
#define USMX_BACKEND_MASKS
inline ballot_word ballot_among(uint32_t mask, bool says) {
  return uint32_t(__nvvm_vote_ballot_sync(mask, says));
}
inline ballot_word active_items() {
  uint32_t items;
  __asm__ volatile("activemask.b32 %0;" : "=r"(items));
  return items;
}
inline void sub_group_barrier_among(uint32_t mask) { __nvvm_bar_warp_sync(mask); }
/// The device library's barriers and ids are calls, and loops with calls are not unrolled.
#define USMX_BACKEND_BARRIERS
inline void sub_group_barrier() { __nvvm_bar_warp_sync(0xffffffffu); }
inline void group_barrier() { __syncthreads(); }
inline void fence() { __nvvm_membar_gl(); }
inline uint32_t sub_group_max_size() { return 32; }
inline uint32_t sub_group_local_id() { return uint32_t(__nvvm_read_ptx_sreg_laneid()); }
inline uint32_t sub_group_id() {
  return uint32_t(local_id(0) + local_range(0) * (local_id(1) + local_range(1) * local_id(2))) / 32;
}

template <class T>
inline T negate(T x) {
  return -x;
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
