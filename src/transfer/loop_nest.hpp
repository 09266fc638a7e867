// What remains of two layouts once everything that does not matter for a copy is taken away: the
// loops that a host copy runs and a device kernel gets as arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "usmx/view.hpp"

namespace usmx::detail {

/// Loops over the elements of two views of the same shape, the outermost first. All distances are
/// in bytes. Dimensions of length one are gone, neighbours that form one run on both sides are one,
/// the destination's steps are positive and shrink inwards.
struct loop_nest {
  int rank = 0;
  std::array<std::int64_t, max_rank> shape;
  std::array<std::int64_t, max_rank> to;
  std::array<std::int64_t, max_rank> from;
  /// From each view's first element to the first one that the loops visit.
  std::int64_t to_shift = 0;
  std::int64_t from_shift = 0;

  /// Calls `visit(to, from)` with the distances of each index of the first `depth` dimensions.
  template <class Visit>
  void each(int depth, Visit&& visit) const {
    std::array<std::int64_t, max_rank> index;
    std::fill_n(index.begin(), depth, 0);
    std::int64_t d = 0;
    std::int64_t s = 0;
    for (;;) {
      visit(d, s);
      int k = depth - 1;
      for (; k >= 0; --k) {
        const auto axis = static_cast<std::size_t>(k);
        d += to[axis];
        s += from[axis];
        if (++index[axis] != shape[axis]) break;
        index[axis] = 0;
        d -= to[axis] * shape[axis];
        s -= from[axis] * shape[axis];
      }
      if (k < 0) return;
    }
  }

  /// Product of the first `depth` lengths.
  std::int64_t count(int depth) const noexcept;
  /// Cuts the loops into parts of at most `most` elements each and calls `visit` with their loops.
  template <class Visit>
  void each_part(std::int64_t most, Visit&& visit) const {
    const std::int64_t all = count(rank);
    if (all <= most) return visit(*this);
    std::size_t axis = 0;  // the outermost that can be cut
    while (shape[axis] == 1) ++axis;
    const std::int64_t step = std::max<std::int64_t>(most / (all / shape[axis]), 1);
    for (std::int64_t at = 0; at < shape[axis]; at += step) {
      loop_nest part = *this;
      part.shape[axis] = std::min(step, shape[axis] - at);
      part.to_shift += at * to[axis];
      part.from_shift += at * from[axis];
      part.each_part(most, visit);
    }
  }
  /// The dimension, other than `inner`, along which the source is read in smaller steps than along
  /// `inner`; -1 if there is none.
  int fastest_source(int inner) const noexcept;
  /// The same loops with dimension `axis` moved to the place before the innermost one.
  loop_nest with_next_to_inner(int axis) const noexcept;
  /// True if each side is one gapless run of `itemsize`-byte elements.
  bool is_one_run(std::size_t itemsize) const noexcept;
};

/// True if a cast between the two changes no byte: equal dtypes, integers of one size.
bool same_bytes(const dtype& a, const dtype& b) noexcept;

/// The loops that copy `src` to `dst`; the shapes must be equal and not empty.
loop_nest make_nest(const any_view& dst, const any_view& src) noexcept;

/// Throws std::invalid_argument for different shapes, interop_error for a read-only destination and
/// for records that differ.
void check_copy(const any_view& dst, const any_view& src);

}  // namespace usmx::detail
