// Questions about all elements of an array that is one piece, as a CPU answers them: the items of
// a group are one vector, which goes through a block of the array from front to back.
//
//   look_at_first, look_at_rest          whether an element is 0, or is not
//   count_in_block, add_counts           how many elements are not 0
//   extreme_of_block, place_of_extreme   where the largest or smallest element is first
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

namespace usmx::whole {

/// Items of a group.
inline constexpr int items = 16;

/// The elements of a group, of which an item has every 16th.
struct block {
  int64_t begin, end;

  block(int64_t size, int64_t number, int64_t blocks)
      : begin(size / blocks * number + (number < size % blocks ? number : size % blocks)),
        end(begin + size / blocks + (number < size % blocks ? 1 : 0)) {}

  /// `what(k, i)` for the elements of this item; `k` is their number among `Together` neighbours.
  template <int Together, class What>
  [[gnu::always_inline]] void each(const What& what) const {
    // As many rounds for all items, so that these become vectors.
    const int64_t item = int64_t(local_id());
    int64_t at = begin;
    for (; at + items * Together <= end; at += items * Together) {
#pragma clang loop unroll(full)
      for (int k = 0; k < Together; ++k) what(k, at + k * items + item);
    }
    for (; at + items <= end; at += items) what(0, at + item);
    if (at + item < end) what(0, at + item);
  }
};

/// Eight bytes of an array, of any alignment.
inline uint64_t eight(const uint8_t* from) {
  uint64_t made;
  __builtin_memcpy(&made, from, 8);
  return made;
}
inline constexpr uint64_t low_bits = 0x0101010101010101ull;
inline constexpr uint64_t high_bits = low_bits << 7;

// --- whether an element is 0 ---------------------------------------------------------------------

/// Whether one of this item's elements is 0 (`Zero`), or is not.
template <bool Zero, class T>
[[gnu::always_inline]] inline bool has(const T* x, const block& mine) {
  if constexpr (sizeof(T) == 1) {
    const int64_t words = (mine.end - mine.begin) / 8;
    const auto* const from = (const uint8_t*)x + mine.begin;
    uint64_t found = 0;
    block(words, 0, 1).each<4>([&](int, int64_t i) {
      const uint64_t w = eight(from + 8 * i);
      found |= Zero ? (w - low_bits) & ~w & high_bits : w;
    });
    const int64_t left = mine.begin + 8 * words + int64_t(local_id());
    if (left < mine.end) found |= uint64_t((x[left] == T(0)) == Zero);
    return found != 0;
  } else {
    int32_t found = 0;
    mine.each<4>([&](int, int64_t i) { found |= int32_t((x[i] == T(0)) == Zero); });
    return found != 0;
  }
}

/// The first elements, by one group. If one of them decides, no other has to be looked at.
template <bool Zero, class T>
inline void look_at_first(const T* x, int64_t size, int32_t* found, bool* answer) {
  local<int32_t[items]> of_items;
  of_items[local_id()] = has<Zero>(x, block(size, 0, 1));
  group_barrier();
  if (local_id() == 0) {
    int32_t any = 0;
    for (int k = 0; k < items; ++k) any |= of_items[k];
    *found = any;
    *answer = (any != 0) != Zero;
  }
}

/// The other elements. Items tell each other by a number that one of them changes first; that one
/// answers.
template <bool Zero, class T>
inline void look_at_rest(const T* x, int64_t size, int32_t* found, bool* answer) {
  if (atomic_load(found) != 0) return;
  if (has<Zero>(x, block(size, int64_t(group_id()), int64_t(group_range())))) {
    if (atomic_exchange(found, 1) == 0) *answer = !Zero;
  }
}

// --- how many are not 0 --------------------------------------------------------------------------

template <class T>
inline void count_in_block(const T* x, int64_t size, int64_t* counts) {
  const block mine(size, int64_t(group_id()), int64_t(group_range()));
  int64_t total = 0;
  if constexpr (sizeof(T) == 1) {
    const int64_t words = (mine.end - mine.begin) / 8;
    const auto* const from = (const uint8_t*)x + mine.begin;
    // The eight counts of a word are bytes, whose sum is to fit into one.
    constexpr int64_t most = 31 * items;
    for (int64_t first = 0; first < words; first += most) {
      uint64_t bytes = 0;
      block run(words, 0, 1);
      run.begin = first;
      run.end = first + most < words ? first + most : words;
      run.each<1>([&](int, int64_t i) {
        const uint64_t w = eight(from + 8 * i);
        bytes += (((w & ~high_bits) + ~high_bits) | w) >> 7 & low_bits;
      });
      total += int64_t(bytes * low_bits >> 56);
    }
    const int64_t left = mine.begin + 8 * words + int64_t(local_id());
    if (left < mine.end) total += x[left] != T(0);
  } else {
    mine.each<4>([&](int, int64_t i) { total += x[i] != T(0); });
  }
  counts[group_id() * items + local_id()] = total;
}
inline void add_counts(const int64_t* counts, int64_t number, int64_t* result) {
  int64_t total = 0;
  for (int64_t k = 0; k < number; ++k) total += counts[k];
  *result = total;
}

// --- extremes ------------------------------------------------------------------------------------

template <bool Largest, class T>
inline bool is_better(T a, T b) {
  return Largest ? a > b : a < b;
}

/// The extreme of each item's elements, and whether there is a NaN, which is then the extreme.
template <bool Largest, class T>
inline void extreme_of_block(const T* x, int64_t size, T* values, int32_t* nans) {
  constexpr int together = 4;
  const block mine(size, int64_t(group_id()), int64_t(group_range()));
  T best[together];
#pragma clang loop unroll(full)
  for (int k = 0; k < together; ++k) best[k] = x[mine.begin + int64_t(local_id())];
  int32_t is_nan = 0;
  mine.each<together>([&](int k, int64_t i) {
    const T e = x[i];
    best[k] = is_better<Largest>(e, best[k]) ? e : best[k];
    if constexpr (T(0.5f) != T(0)) is_nan |= int32_t(e != e);
  });
#pragma clang loop unroll(full)
  for (int k = 1; k < together; ++k) {
    best[0] = is_better<Largest>(best[k], best[0]) ? best[k] : best[0];
  }
  values[group_id() * items + local_id()] = best[0];
  nans[group_id() * items + local_id()] = is_nan;
}

/// The first place of the extreme of all, by one item; of the first NaN if there is one.
template <bool Largest, class T>
inline void place_of_extreme(const T* x, int64_t size, const T* values, const int32_t* nans,
                             int64_t blocks, int64_t* place) {
  int64_t best = 0;
  bool is_nan = false;
  for (int64_t k = 0; k < blocks * items && !is_nan; ++k) {
    is_nan = nans[k] != 0;
    if (is_nan || is_better<Largest>(values[k], values[best])) best = k;
  }
  // The block is the first one with it; of its items several may have it.
  const block first(size, best / items, blocks);
  const T value = values[best];
  int64_t found = first.end;
  for (int item = 0; item < items; ++item) {
    const int64_t own = best / items * items + item;
    if (is_nan ? nans[own] == 0 : values[own] != value) continue;
    for (int64_t i = first.begin + item; i < found; i += items) {
      if (is_nan ? x[i] != x[i] : x[i] == value) found = i;
    }
  }
  *place = found;
}

}  // namespace usmx::whole
