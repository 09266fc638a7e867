// What a mask selects. Each item goes through a chunk of the mask: first it counts, then it knows
// from a sum of all counts where the elements of its chunk stand in the result. Where groups are no
// loops, a group has a chunk in place of an item, and its sub-groups say what neighbours select.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"
#include "prelude/vote.hpp"

namespace usmx::masks {

/// The elements of the mask that an item has.
template <class M>
struct chunk {
  const M* mask;
  int64_t first, last;

  chunk(const M* m, int64_t size, int64_t length)
      : mask(m),
        first(int64_t(global_id()) * length),
        last(first + length < size ? first + length : size) {}

  bool selects(int64_t k) const { return mask[k] != M(0); }
  /// Whether one of the eight elements from `k` on is selected.
  bool selects_of_eight(int64_t k) const {
    if constexpr (sizeof(M) == 1) {
      uint64_t eight;
      __builtin_memcpy(&eight, mask + k, 8);
      return eight != 0;
    } else {
      bool any = false;
      for (int64_t j = k; j < k + 8; ++j) any |= selects(j);
      return any;
    }
  }
};

template <class M>
inline void count(const M* mask, int64_t size, int64_t length, int32_t* own) {
  const chunk<M> mine(mask, size, length);
  int32_t selected = 0;
  for (int64_t k = mine.first; k < mine.last; ++k) selected += mine.selects(k);
  own[global_id()] = selected;
}

/// `put(place, k)` for each element k that is selected, with its place among all of them, after any
/// number of calls for that place with others. No condition decides about a call: half of a
/// mask's elements, in no order, would be guessed wrongly.
template <class M, class Put>
[[gnu::always_inline]] inline void each(const M* mask, int64_t size, int64_t length,
                                        const int32_t* own, const int64_t* ends, const Put& put) {
  const chunk<M> mine(mask, size, length);
  const int64_t end = ends[global_id()];
  int64_t place = end - own[global_id()], k = mine.first;
  for (; k + 8 <= mine.last && place + 8 <= end; k += 8) {
    if (!mine.selects_of_eight(k)) continue;
    for (int64_t j = k; j < k + 8; ++j) {
      put(place, j);
      place += mine.selects(j);
    }
  }
  for (; k < mine.last && place < end; ++k) {
    put(place, k);
    place += mine.selects(k);
  }
}

// --- a group together ----------------------------------------------------------------------------

/// What an item of a group has of its chunk: each sub-group has neighbours, as many at once as it
/// has items. On CUDA all of it is a part of the kernel, in registers.
template <class M>
class tile {
 public:
  static constexpr int items = 256, each = 16, sub_groups = items / 8;  ///< at the most
  static constexpr int64_t length = items * each;

  /// Asks the mask which of its elements are selected.
  USMX_BACKEND_INLINE tile(const M* mask, int64_t size)
      : wide_(int(sub_group_max_size())),
        own_(int(local_id()) / wide_),
        first_(int64_t(group_id()) * length + own_ * wide_ * each + int(local_id()) % wide_) {
#pragma clang loop unroll(full)
    for (int e = 0; e < each; ++e) {
      const int64_t k = place(e);
      if (k < size && mask[k] != M(0)) selected_ |= 1u << e;
    }
  }

  /// How many the sub-group has.
  USMX_BACKEND_INLINE int32_t in_sub_group() const {
    uint32_t sum = 0;
    for (int e = 0; e < each; ++e) sum += number_of(ballot(selects(e)));
    return int32_t(sum);
  }
  /// How many earlier sub-groups have; the last gives all of the group. `space` is local memory.
  USMX_BACKEND_INLINE int32_t before(int32_t (&space)[sub_groups], int32_t& all) const {
    const int32_t mine = in_sub_group();
    if (int(local_id()) % wide_ == 0) space[own_] = mine;
    group_barrier();
    int32_t sum = 0, earlier = 0;
    for (int k = 0; k < items / wide_; ++k) {
      if (k == own_) earlier = sum;
      sum += space[k];
    }
    all = sum;
    return earlier;
  }
  /// `put(place, k)` for each element k that is selected; `at` is the place of the sub-group's
  /// first.
  template <class Put>
  USMX_BACKEND_INLINE void each_selected(int64_t at, const Put& put) const {
    const ballot_word before_me = items_before();
#pragma clang loop unroll(full)
    for (int e = 0; e < each; ++e) {
      const ballot_word all = ballot(selects(e));
      if (selects(e)) put(at + number_of(ballot_word(all & before_me)), place(e));
      at += number_of(all);
    }
  }

 private:
  bool selects(int e) const { return (selected_ >> e) & 1; }
  int64_t place(int e) const { return first_ + int64_t(e) * wide_; }

  int wide_, own_;
  int64_t first_;
  uint32_t selected_ = 0;
};
using tile_space = int32_t[tile<uint8_t>::sub_groups];

template <class M>
inline void count(tile_space& space, const M* mask, int64_t size, int64_t, int32_t* own) {
  int32_t all;
  tile<M>(mask, size).before(space, all);
  if (local_id() == 0) own[group_id()] = all;
}

template <class M, class Put>
[[gnu::always_inline]] inline void each(tile_space& space, const M* mask, int64_t size, int64_t,
                                        const int32_t* own, const int64_t* ends, const Put& put) {
  const tile<M> mine(mask, size);
  int32_t all;
  const int32_t earlier = mine.before(space, all);
  mine.each_selected(ends[group_id()] - own[group_id()] + earlier, put);
}

// --- what is put: the first parameters are those of `each` ---------------------------------------

/// The numbers of the elements that are selected.
struct places {
  int64_t* to;
  void operator()(int64_t place, int64_t k) const { to[place] = k; }
};

/// The elements of `from` that are selected.
template <class T>
struct compact {
  const T* from;
  T* to;
  void operator()(int64_t place, int64_t k) const { to[place] = from[k]; }
};

/// Replaces the elements of `to` that are selected by those of `from`, one after the other.
template <class M, class T>
struct expand {
  const M* mask;
  const T* from;
  T* to;
  void operator()(int64_t place, int64_t k) const { to[k] = mask[k] != M(0) ? from[place] : to[k]; }
};

}  // namespace usmx::masks
