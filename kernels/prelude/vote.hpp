// What the items of a sub-group say, as bits. Every item of it must make the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "group.hpp"

namespace usmx {

#ifdef USMX_BACKEND_BALLOT
/// A bit for each item of a sub-group.
using ballot_word = backend::ballot_word;
/// Bit k is what the item with id k says.
inline ballot_word ballot(bool says) { return backend::ballot(says); }
/// `sub_group_barrier()` among votes.
inline void vote_barrier() { backend::sub_group_barrier(); }
inline ballot_word ballot_of_bit(uint32_t number, int bit) {
  return backend::ballot_of_bit(number, bit);
}
#else
using ballot_word = uint64_t;
inline ballot_word ballot(bool says) {
  return reduce_sum<3>(uint64_t(says) << sub_group_local_id());
}
inline void vote_barrier() { sub_group_barrier(); }
inline ballot_word ballot_of_bit(uint32_t number, int bit) {
  return ballot((number >> bit & 1) != 0);
}
#endif

/// The bits of the items before this one. A call on some devices: ask once, not in a loop.
inline ballot_word items_before() { return (ballot_word(1) << sub_group_local_id()) - 1; }

inline uint32_t number_of(ballot_word items) {
  if constexpr (sizeof(ballot_word) == 4)
    return uint32_t(__builtin_popcount(items));
  else
    return uint32_t(__builtin_popcountll(items));
}

/// Which of the items that are `there` hold the same number of `Bits` bits as this one.
template <int Bits>
inline ballot_word items_with_same(uint32_t number, ballot_word there) {
#pragma clang loop unroll(full)
  for (int bit = 0; bit < Bits; ++bit) {
    const ballot_word others = (number & (1u << bit)) != 0 ? ballot_word(0) : ~ballot_word(0);
    there &= ballot_of_bit(number, bit) ^ others;
  }
  return there;
}

}  // namespace usmx
