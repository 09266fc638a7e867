// Runs of contiguous elements, for processors: rows at indices along the first axis, where one
// element for each item takes 25 times as long, and arrays behind each other, which the driver
// copies on one core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

namespace usmx::gathering {

/// `from` has `length` rows of `row` elements; `size` of them are read, `chunk` by each item.
/// `is_outside(k)` is called for an index that is none of a row, and the first row read instead.
template <class T, class Outside>
[[gnu::always_inline]] inline void rows(const T* from, const int64_t* indices, T* to,
                                        int64_t length, int64_t row, int64_t size, int64_t chunk,
                                        const Outside& is_outside) {
  const int64_t first = int64_t(global_id()) * chunk;
  const int64_t last = first + chunk < size ? first + chunk : size;
  for (int64_t k = first; k < last; ++k) {
    int64_t index = indices[k];
    if (index < -length || index >= length) {
      is_outside(k);
      index = 0;
    }
    const T* const source = from + (index < 0 ? index + length : index) * row;
    // A loop over elements takes three times as long, because the rows might overlap.
    __builtin_memcpy(to + k * row, source, row * sizeof(T));
  }
}

/// Eight arrays behind each other, the last ones without elements if there are fewer. Each item
/// writes a chunk of the result.
template <class T>
inline void join(const T* const (&from)[8], const int64_t (&sizes)[8], T* to, int64_t chunk) {
  const int64_t first = int64_t(global_id()) * chunk, last = first + chunk;
  int64_t begin = 0;
  for (int k = 0; k < 8; ++k) {
    const int64_t end = begin + sizes[k];
    const int64_t low = begin > first ? begin : first, high = end < last ? end : last;
    if (low < high) __builtin_memcpy(to + low, from[k] + (low - begin), (high - low) * sizeof(T));
    begin = end;
  }
}

/// `to[places[k]] = values[k]` in turn, so that of equal places the last value stays. Each item
/// reads all places, and has its part of the `length` elements.
template <class T>
inline void put_in_turn(T* to, const int64_t* places, const T* values, int64_t length,
                        int64_t count) {
  const int64_t part = int64_t(global_id()), parts = int64_t(global_range());
  const int64_t first = length / parts * part + length % parts * part / parts;
  const int64_t last = length / parts * (part + 1) + length % parts * (part + 1) / parts;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t place = places[k];
    if (place >= first && place < last) to[place] = values[k];
  }
}

}  // namespace usmx::gathering
