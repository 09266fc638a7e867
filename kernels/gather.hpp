// Rows of contiguous elements at indices along the first axis, for processors: each item copies a
// chunk of them, a row at once. One element for each item takes 25 times as long.
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

}  // namespace usmx::gathering
