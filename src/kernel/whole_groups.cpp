// See usmx/detail/whole_groups.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/detail/whole_groups.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "runtime/backend.hpp"

namespace usmx::detail {

std::optional<launch_range> in_whole_groups(const sycl::queue& queue, const launch_range& range) {
  constexpr std::size_t step = 64;
  const auto global = range.global();
  const std::size_t length = global.back();
  if (!range.local().empty() || length < step || length % step == 0) return {};
  const kernel_forms& forms = forms_of(queue);
  const std::size_t last = global.size() - 1;
  const std::size_t rows =
      range.rank() == 1 ? 1 : rows_of_tile(forms, global[last - 1], range.size());
  // Shorter rows are groups of their own, or a tenth of the items of tiles would be idle.
  const bool in_tiles = range.rank() > 1 && forms.tile_rows > 0;
  const std::size_t shortest = forms.groups_are_loops ? 4096 : rows > 1 ? 10 * tile_length : 1024;
  if (range.rank() > 1 && length <= shortest) return {};
  const std::size_t limit = backend_of(queue).most_groups_other;
  for (const auto n : global.first(global.size() - 1)) {
    if (n == 0 || n > limit) return {};
  }
  // So many groups that all cores have some.
  constexpr std::size_t enough = 256;
  const std::size_t most = forms.groups_are_loops ? 1024 : 256;
  const std::size_t local = in_tiles ? columns_of_tile(forms, rows, length, range.size(), false)
                                     : std::clamp(std::bit_floor(length / enough), step, most);
  std::array<std::size_t, 3> items{1, 1, 1}, group{1, 1, 1};
  std::ranges::copy(global, items.begin());
  items[last] = (length + local - 1) / local * local;
  group[last] = local;
  if (rows > 1) group[last - 1] = rows;
  return launch_range(std::span(items).first(global.size()), std::span(group).first(global.size()));
}

std::optional<launch_range> in_several_rows(const sycl::queue& queue, const launch_range& range) {
  constexpr std::size_t vector = 16, least_length = 256, least_groups = 128;
  constexpr std::size_t longest = 4096, most_items = 8192;
  const auto global = range.global();
  if (range.rank() < 2 || !range.local().empty() || global.back() < least_length ||
      !forms_of(queue).groups_are_loops) {
    return {};
  }
  const auto over = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
  const std::size_t last = global.size() - 1;
  std::array<std::size_t, 3> items{1, 1, 1}, group{1, 1, 1};
  std::ranges::copy(global, items.begin());
  // Vectors begin up to so many items before the row.
  const std::size_t length = global[last] + vector - 1;
  const std::size_t parts = over(length, longest);
  group[last] = over(over(length, parts), vector) * vector;
  items[last] = parts * group[last];
  const std::size_t rows = over(global[last - 1], rows_of_item);
  const std::size_t outer = global.size() == 3 ? global[0] : 1;
  const std::size_t groups = rows * outer * parts;
  if (groups < least_groups) return {};
  group[last - 1] =
      std::clamp<std::size_t>(std::min(most_items / group[last], groups / least_groups), 1, rows);
  items[last - 1] = over(rows, group[last - 1]) * group[last - 1];
  return launch_range(std::span(items).first(global.size()), std::span(group).first(global.size()));
}

}  // namespace usmx::detail
