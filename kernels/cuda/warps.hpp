// Warps as CUDA has them, of sub-groups: shuffles in segments, and votes, matches and reductions of
// the threads that a mask names. All threads of a warp must make the call; each may have a mask of
// its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../prelude.hpp"
#include "../prelude/vote.hpp"

namespace usmx {

namespace warps {

#ifdef USMX_BACKEND_MASKS
template <class T>
USMX_TOGETHER inline T value_of(uint32_t mask, T x, uint32_t lane) {
  return backend::shuffle_among(mask, x, lane);
}
USMX_TOGETHER inline uint32_t votes(uint32_t mask, bool says) {
  return backend::ballot_among(mask, says) & mask;
}
USMX_TOGETHER inline uint32_t active() { return backend::active_items(); }
USMX_TOGETHER inline void barrier(uint32_t mask = ~0u) { backend::sub_group_barrier_among(mask); }
#else
// Of words, the only operands that are sure to be there; a lane that is not there has no value.
template <class T>
USMX_TOGETHER inline T value_of(uint32_t, T x, uint32_t lane) {
  const uint32_t from = lane < sub_group_size() ? lane : sub_group_local_id();
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, shuffle(__builtin_bit_cast(uint64_t, x), from));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, shuffle(__builtin_bit_cast(uint32_t, x), from));
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(T,
                              uint16_t(shuffle(uint32_t(__builtin_bit_cast(uint16_t, x)), from)));
  else
    return __builtin_bit_cast(T, uint8_t(shuffle(uint32_t(__builtin_bit_cast(uint8_t, x)), from)));
}
USMX_TOGETHER inline uint32_t votes(uint32_t mask, bool says) {
  return reduce_sum<3, uint32_t>(uint32_t(says) << sub_group_local_id()) & mask;
}
USMX_TOGETHER inline uint32_t active() { return votes(~0u, true); }
USMX_TOGETHER inline void barrier(uint32_t = ~0u) { sub_group_barrier(); }
#endif

template <class T>
inline bool have_same_bits(T a, T b) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(uint64_t, a) == __builtin_bit_cast(uint64_t, b);
  else
    return __builtin_bit_cast(uint32_t, a) == __builtin_bit_cast(uint32_t, b);
}

/// What the threads of a mask have, joined by a function of two of them.
template <class T, class Join>
USMX_TOGETHER inline T joined(uint32_t mask, T x, Join join) {
  const uint32_t there = votes(mask, true);
  const uint32_t first = uint32_t(__builtin_popcount((there & (0u - there)) - 1));
  T found = value_of(mask, x, first);
  for (uint32_t lane = 0; lane < sub_group_max_size(); ++lane) {
    const T other = value_of(mask, x, lane);
    if (lane > first && (there >> lane & 1) != 0) found = join(found, other);
  }
  return found;
}

inline int of_warp() { return int(sub_group_max_size()); }

}  // namespace warps

// `width` threads are a segment, a power of two.
template <class T>
USMX_TOGETHER inline T __shfl_sync(unsigned int mask, T x, int lane, int width = warps::of_warp()) {
  const uint32_t last = uint32_t(width) - 1;
  return warps::value_of(mask, x, (sub_group_local_id() & ~last) | (uint32_t(lane) & last));
}
template <class T>
USMX_TOGETHER inline T __shfl_up_sync(unsigned int mask, T x, unsigned int delta,
                                      int width = warps::of_warp()) {
  const uint32_t id = sub_group_local_id(), inside = id & (uint32_t(width) - 1);
  return warps::value_of(mask, x, delta > inside ? id : id - delta);
}
template <class T>
USMX_TOGETHER inline T __shfl_down_sync(unsigned int mask, T x, unsigned int delta,
                                        int width = warps::of_warp()) {
  const uint32_t id = sub_group_local_id(), inside = id & (uint32_t(width) - 1);
  return warps::value_of(mask, x, delta < uint32_t(width) - inside ? id + delta : id);
}
/// As CUDA has it, a segment before this one is read and one behind it is not.
template <class T>
USMX_TOGETHER inline T __shfl_xor_sync(unsigned int mask, T x, int lanes,
                                       int width = warps::of_warp()) {
  const uint32_t id = sub_group_local_id(), from = id ^ uint32_t(lanes);
  return warps::value_of(mask, x, from <= (id | (uint32_t(width) - 1)) ? from : id);
}

USMX_TOGETHER inline unsigned int __ballot_sync(unsigned int mask, int says) {
  return warps::votes(mask, says != 0);
}
USMX_TOGETHER inline int __all_sync(unsigned int mask, int says) {
  return warps::votes(mask, says == 0) == 0;
}
USMX_TOGETHER inline int __any_sync(unsigned int mask, int says) {
  return warps::votes(mask, says != 0) != 0;
}
USMX_TOGETHER inline unsigned int __activemask() { return warps::active(); }

/// A bit for each thread of the mask that has the same bits.
template <class T>
USMX_TOGETHER inline unsigned int __match_any_sync(unsigned int mask, T x) {
  uint32_t found = 0;
  for (uint32_t lane = 0; lane < sub_group_max_size(); ++lane)
    found |= uint32_t(warps::have_same_bits(warps::value_of(mask, x, lane), x)) << lane;
  return found & warps::votes(mask, true);
}
template <class T>
USMX_TOGETHER inline unsigned int __match_all_sync(unsigned int mask, T x, int* same) {
  const uint32_t there = warps::votes(mask, true);
  *same = __match_any_sync(mask, x) == there;
  return *same != 0 ? there : 0;
}

#define USMX_JOINED(name, expression)                                   \
  template <class T>                                                    \
  USMX_TOGETHER inline T name(unsigned int mask, T x) {                 \
    return warps::joined(mask, x, [](T a, T b) { return expression; }); \
  }
USMX_JOINED(__reduce_add_sync, T(uint32_t(a) + uint32_t(b)))
USMX_JOINED(__reduce_min_sync, b < a ? b : a)
USMX_JOINED(__reduce_max_sync, a < b ? b : a)
USMX_JOINED(__reduce_and_sync, a& b)
USMX_JOINED(__reduce_or_sync, a | b)
USMX_JOINED(__reduce_xor_sync, a ^ b)
#undef USMX_JOINED

// Barriers of a block that count what its threads say.
USMX_TOGETHER inline int __syncthreads_count(int says) {
  group_barrier();
  return reduce_sum<2, int32_t>(says != 0 ? 1 : 0);
}
USMX_TOGETHER inline int __syncthreads_and(int says) {
  group_barrier();
  return all_of<2>(says != 0) ? 1 : 0;
}
USMX_TOGETHER inline int __syncthreads_or(int says) {
  group_barrier();
  return any_of<2>(says != 0) ? 1 : 0;
}

}  // namespace usmx
