// What a mask selects. Each item goes through a chunk of the mask: first it counts, then it knows
// from a sum of all counts where the elements of its chunk stand in the result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

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

/// The numbers of the elements that are selected.
template <class M>
inline void places(const M* mask, int64_t size, int64_t length, const int32_t* own,
                   const int64_t* ends, int64_t* to) {
  each(mask, size, length, own, ends, [&](int64_t place, int64_t k) { to[place] = k; });
}

/// The elements of `from` that are selected.
template <class M, class T>
inline void compact(const M* mask, int64_t size, int64_t length, const int32_t* own,
                    const int64_t* ends, const T* from, T* to) {
  each(mask, size, length, own, ends, [&](int64_t place, int64_t k) { to[place] = from[k]; });
}

/// Replaces the elements of `to` that are selected by those of `from`, one after the other.
template <class M, class T>
inline void expand(const M* mask, int64_t size, int64_t length, const int32_t* own,
                   const int64_t* ends, const T* from, T* to) {
  each(mask, size, length, own, ends,
       [&](int64_t place, int64_t k) { to[k] = mask[k] != M(0) ? from[place] : to[k]; });
}

}  // namespace usmx::masks
