// One long row of numbers in order, on a device whose groups are loops; what its kernels do stands
// in kernels/sort_long.hpp. The host looks at which bits differ before it chooses: a row of few
// different numbers is counted, and not moved at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "algorithm/sorted_elements.hpp"
#include "usmx/array.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {

class long_row {
 public:
  /// Elements from which a row is worth several kernels, and a wait between them.
  static constexpr std::int64_t least = 16384;

  /// A contiguous row of words of 32 or 64 bits: `row` has one dimension. Waits for a look at it.
  long_row(const array& row, const sorted_elements& elements, bool descending, bool wide);

  /// Few bits differ, and elements of one key have one pattern of bits: counting them is enough.
  bool is_counted() const noexcept { return is_counted_; }

  /// Writes the elements in order, or where they were, as int64, or both; into contiguous rows.
  void sort(const array* values, const array* places) const;

  struct different {
    array values;  ///< first `number` are the different elements in order, of the type of the row
    array starts;  ///< where each begins in the sorted row, as int64
    array number;  ///< how many there are
  };
  /// Of a row that is counted.
  different different_elements() const;

 private:
  struct window {
    std::int32_t lowest, bits;
    std::uint64_t base;
  };
  struct bucket_places {
    array bucket_of, next, starts;
  };

  array new_row(std::int64_t count, const dtype& type) const;
  const kernel& get(const char* name, bool places = false) const;
  bucket_places buckets(std::int64_t limit, std::int64_t most) const;
  void sort_by_counts(const array* values, const array* places) const;
  void sort_by_buckets(const array* values, const array* places) const;

  const array& row_;
  const sorted_elements& elements_;
  std::uint64_t flip_;
  bool wide_, exact_ = true, is_counted_ = false;
  std::int64_t length_, size_, chunks_;
  window window_{};
  std::int64_t prefixes_ = 0;
  array counts_;
};

}  // namespace usmx::detail
