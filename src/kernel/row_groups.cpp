// See row_groups.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/row_groups.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "core/tiled_loops.hpp"

namespace usmx::detail {
namespace {

std::uint64_t over(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

}  // namespace

bool are_rows(const kernel_forms& forms, std::int64_t length) noexcept {
  // Elsewhere short rows would leave most items of a group idle.
  return forms.groups_are_loops || length >= 128;
}

bool put_in_tiles(loops& nest, const kernel_forms& forms, loop_order order) noexcept {
  constexpr std::int64_t near = 8;
  for (std::size_t o = 0; forms.groups_are_loops && o < nest.starts.size(); ++o) {
    if (std::abs(nest.inner_step(o)) <= near) continue;
    const int axis = order == loop_order::any ? nearest_loop(nest, o) : -1;
    if (axis >= 0) put_next_to_inner(nest, static_cast<std::size_t>(axis));
    return true;
  }
  return false;
}

row_groups row_groups::cut(const kernel& k, const kernel_forms& forms, std::uint64_t rows,
                           std::uint64_t length, bool in_tiles) {
  constexpr std::uint64_t tile = 64;
  const std::uint64_t vector = forms.groups_are_loops ? 16 : 32;
  const std::size_t most = std::min(forms.most_items, k.max_work_group_size());
  const bool is_tile = in_tiles && rows > 1;
  const std::size_t widest = is_tile ? std::min<std::size_t>(most, tile) : most;
  row_groups cut;
  cut.parts = over(length, widest);
  cut.items = std::min<std::size_t>(over(over(length, cut.parts), vector) * vector, widest);
  if (forms.groups_are_loops) cut.rows = std::max<std::uint64_t>(1, most / cut.items);
  cut.count = over(rows, cut.rows) * cut.parts;
  return cut;
}

launch_range row_groups::range() const {
  const std::size_t global = count * items;
  return launch_range(std::span(&global, 1), std::span(&items, 1));
}

}  // namespace usmx::detail
