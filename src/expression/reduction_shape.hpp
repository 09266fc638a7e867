// How reductions are cut into groups: the numbers that decide in which order elements are joined,
// for all kernels that join some.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace usmx::detail {

/// The only numbers that depend on the device. On a CPU a group is one vector of items that goes
/// through memory from front to back, several results one after the other because a group costs as
/// much as a few hundred elements; elsewhere it fills one core.
struct reduction_shape {
  int along_items;
  int along_blocks;
  int along_segments;
  /// The most elements of a part: few where there are few results to keep all cores busy.
  std::int64_t along_part;
  std::int64_t along_part_of_many;
  /// From so many parts on they grow; `every`: never.
  std::int64_t along_parts;
  /// So few elements that a second program takes longer than one group with all of them.
  std::int64_t along_whole;
  int across_items;
  int across_blocks;
  int across_blocks_of_few;
  std::int64_t across_part;
  int across_rounds;
  /// Where there are fewer columns, several rows of them are taken for one; 0: never.
  std::int64_t across_columns;
  /// At most so many items share a result of few elements whose neighbours are those of memory; 0:
  /// each item makes one.
  int most_lanes;

  constexpr std::int64_t part_of(std::int64_t results, std::int64_t count) const noexcept {
    if (results >= 256) return along_part_of_many;
    if (count <= along_whole) return along_whole;
    // Larger parts where there are enough of them for all cores: a group is started for each.
    return std::clamp(count / along_parts, along_part, along_part_of_many);
  }
  /// So few elements of so many results that each item makes a result.
  constexpr bool are_few(std::int64_t count, std::int64_t results) const noexcept {
    return count <= 2 * along_items && results >= 4 * along_items;
  }
  /// Items that share a result of rows of so many elements: each has four, while there are enough.
  constexpr int lanes_of(std::int64_t length) const noexcept {
    int lanes = 1;
    while (lanes < most_lanes && 4 * lanes < length) lanes *= 2;
    return lanes;
  }
};
inline constexpr std::int64_t every = std::numeric_limits<std::int64_t>::max();
inline constexpr reduction_shape on_cpu = {16, 8,  16, 4096, 32768, every, 32768,
                                           16, 16, 4,  512,  1,     0,     0};
inline constexpr reduction_shape elsewhere = {256, 4, 1, 16384, 65536, 1024, 16384,
                                              64,  1, 1, 512,   8,     256,  32};

/// Whether items of one group join each of so many rows, of neighbouring elements, in one part.
constexpr bool are_joined_by_groups(const reduction_shape& d, std::int64_t rows,
                                    std::int64_t length) noexcept {
  return length > 0 && rows > 0 && length <= d.part_of(rows, length) &&
         (d.most_lanes > 0 || !d.are_few(length, rows));
}
/// How many of them join one row.
constexpr int lanes_of_row(const reduction_shape& d, std::int64_t rows,
                           std::int64_t length) noexcept {
  return d.most_lanes > 0 && d.are_few(length, rows) ? d.lanes_of(length) : d.along_items;
}

}  // namespace usmx::detail
