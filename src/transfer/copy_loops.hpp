// The loops that a host copy runs and a copying kernel gets as arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "usmx/loops.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// Loops over the elements of two views of the same shape, the destination first. All distances are
/// in bytes; the destination's steps are positive and shrink inwards.
struct copy_loops : loops {
  std::int64_t length(std::size_t axis) const noexcept { return lengths[axis]; }
  std::int64_t to(std::size_t axis) const noexcept { return steps[axis]; }
  std::int64_t from(std::size_t axis) const noexcept { return steps[rank() + axis]; }
  /// Where the loops begin in a view.
  std::byte* begin_of(const any_view& v, std::size_t operand) const noexcept {
    return static_cast<std::byte*>(v.data()) + starts[operand];
  }

  /// Calls `visit(to, from)` with the distances of each index of the first `depth` dimensions.
  template <class Visit>
  void each(std::size_t depth, Visit&& visit) const {
    std::array<std::int64_t, max_rank> index;
    std::fill_n(index.begin(), depth, 0);
    std::int64_t d = 0;
    std::int64_t s = 0;
    for (;;) {
      visit(d, s);
      std::size_t axis = depth;
      for (; axis > 0; --axis) {
        const std::size_t k = axis - 1;
        d += to(k);
        s += from(k);
        if (++index[k] != length(k)) break;
        index[k] = 0;
        d -= to(k) * length(k);
        s -= from(k) * length(k);
      }
      if (axis == 0) return;
    }
  }

  /// Product of the first `depth` lengths.
  std::int64_t count(std::size_t depth) const noexcept;
  /// Cuts the loops into parts of at most `most` elements each and calls `visit` with their loops.
  template <class Visit>
  void each_part(std::int64_t most, Visit&& visit) const {
    const std::int64_t all = count(rank());
    if (all <= most) return visit(*this);
    std::size_t axis = 0;  // the outermost that can be cut
    while (length(axis) == 1) ++axis;
    const std::int64_t step = std::max<std::int64_t>(most / (all / length(axis)), 1);
    for (std::int64_t at = 0; at < length(axis); at += step) {
      copy_loops part = *this;
      part.lengths[axis] = std::min(step, length(axis) - at);
      part.starts[0] += at * to(axis);
      part.starts[1] += at * from(axis);
      part.each_part(most, visit);
    }
  }
  /// True if each side is one contiguous run of `itemsize`-byte elements.
  bool is_one_run(std::size_t itemsize) const noexcept {
    const auto item = static_cast<std::int64_t>(itemsize);
    return rank() <= 1 && is_run(0, item) && is_run(1, item);
  }
};

/// The widest unsigned integer of whose size all of these, combined by |, are multiples.
dtype widest_word(std::uint64_t mix) noexcept;
/// True if a cast between the two changes no byte: equal dtypes, integers of one size.
bool same_bytes(const dtype& a, const dtype& b) noexcept;

/// The loops that copy `src` to `dst`; the shapes must be equal and not empty.
copy_loops make_copy_loops(const any_view& dst, const any_view& src);

/// Throws std::invalid_argument for different shapes, interop_error for a read-only destination and
/// for records that differ.
void check_copy(const any_view& dst, const any_view& src);

}  // namespace usmx::detail
