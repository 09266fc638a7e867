// The order of loops over operands whose elements are neighbours in different ones: two loops, next
// to each other, are visited in squares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "usmx/loops.hpp"

namespace usmx::detail {

/// The loop in which elements of an operand are nearer to each other than in the innermost one; -1
/// if there is none.
inline int nearest_loop(const loops& nest, std::size_t operand) noexcept {
  int best = -1;
  std::int64_t least = std::abs(nest.inner_step(operand));
  for (std::size_t k = 0; k + 1 < nest.rank(); ++k) {
    const std::int64_t step = std::abs(nest.steps_of(operand)[k]);
    if (step == 0 || step >= least) continue;
    best = static_cast<int>(k);
    least = step;
  }
  return best;
}

/// Moves a loop to the place before the innermost one.
inline void put_next_to_inner(loops& nest, std::size_t axis) noexcept {
  const std::size_t rank = nest.rank();
  const auto rotate = [&](std::int64_t* v) { std::rotate(v + axis, v + axis + 1, v + rank - 1); };
  rotate(nest.lengths.data());
  for (std::size_t o = 0; o < nest.starts.size(); ++o) rotate(nest.steps.data() + o * rank);
}

}  // namespace usmx::detail
