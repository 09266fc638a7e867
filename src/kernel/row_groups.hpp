// Kernels over rows: work-items of a group are neighbours in a row, so that a group, not each item,
// finds its place in the outer loops, and the steps within a row can stand in the text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/backend.hpp"
#include "usmx/kernel.hpp"
#include "usmx/loops.hpp"

namespace usmx::detail {

/// Whether rows of so many elements are long enough. On the CPU device all are: a product of 1e6
/// float32 takes 0.08 ms in rows of 1000, 0.33 in rows of 2, and 0.7 to 1.4 if each item divides
/// its number by the lengths of the loops.
bool are_rows(const kernel_forms& forms, std::int64_t length) noexcept;

/// Whether an operand is visited across its own rows where groups are loops: squares of rows and
/// columns are better then. Unless the order of the loops matters, the one in which the elements of
/// that operand are nearest to each other comes next to the innermost one.
bool put_in_tiles(loops& nest, const kernel_forms& forms, loop_order order) noexcept;

/// How rows are cut into groups: what `each_row` of kernels/rows.hpp takes.
struct row_groups {
  /// Parts of a row, each of `items` elements or fewer.
  std::uint64_t parts = 1;
  /// Rows whose parts a group visits one after the other.
  std::uint64_t rows = 1;
  std::size_t items = 1;
  std::size_t count = 1;

  /// With `in_tiles` a group has a square of neighbouring rows and columns, not long parts of rows.
  static row_groups cut(const kernel& k, const kernel_forms& forms, std::uint64_t rows,
                        std::uint64_t length, bool in_tiles);
  launch_range range() const;
};

}  // namespace usmx::detail
