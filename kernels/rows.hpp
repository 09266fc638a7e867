// The rows that a work-group visits, where the innermost of several loops is long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

namespace usmx::expression {

/// Rows of `length` elements, each cut into so many parts: a group has the same part of some rows.
/// `one(row, column, at)` has element `column` of a row, the number `at` of all.
template <class One>
[[gnu::always_inline]] inline void each_row(uint64_t size, uint64_t length, uint64_t parts,
                                            uint64_t rows_a_group, const One& one) {
  const uint64_t column = group_id() % parts * local_range() + local_id();
  if (column >= length) return;
  const uint64_t first = group_id() / parts * rows_a_group, rows = size / length;
  const uint64_t last = first + rows_a_group < rows ? first + rows_a_group : rows;
  for (uint64_t row = first; row < last; ++row) one(row, int64_t(column), row * length + column);
}

}  // namespace usmx::expression
