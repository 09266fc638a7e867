// See kept_order.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/kept_order.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "core/format.hpp"

namespace usmx::detail {
namespace {

/// How far an operand steps along an axis of the result; 0 where it is broadcast.
std::int64_t step_of(const layout& where, std::size_t axis, std::size_t rank) {
  const std::size_t missing = rank - where.shape().size();
  if (axis < missing || where.shape()[axis - missing] == 1) return 0;
  return std::abs(where.strides()[axis - missing]);
}

enum class relation : std::uint8_t { unknown, stays, goes_behind };

/// Whether a slower axis is to go behind a faster one.
relation compare(std::span<const layout* const> operands, std::size_t rank, int slower,
                 int faster) {
  relation found = relation::unknown;
  for (const layout* where : operands) {
    const std::int64_t slow = step_of(*where, static_cast<std::size_t>(slower), rank);
    const std::int64_t fast = step_of(*where, static_cast<std::size_t>(faster), rank);
    if (slow == 0 || fast == 0) continue;
    if (fast <= slow) return relation::stays;
    found = relation::goes_behind;
  }
  return found;
}

}  // namespace

std::vector<int> kept_order(const extents& shape, std::span<const layout* const> operands) {
  const std::size_t rank = shape.size();
  // The fastest axis first, as they are inserted.
  std::vector<int> order;
  order.reserve(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const int axis = static_cast<int>(rank - 1 - k);
    std::size_t place = order.size();
    for (std::size_t before = order.size(); before-- > 0;) {
      const relation r = compare(operands, rank, axis, order[before]);
      if (r == relation::stays) break;
      if (r == relation::goes_behind) place = before;
    }
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), axis);
  }
  std::ranges::reverse(order);
  return order;
}

std::vector<int> order_of_steps(const layout& like) {
  std::vector<int> axes(like.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::ranges::stable_sort(axes, std::ranges::greater(), [&](int axis) {
    return std::abs(like.strides()[static_cast<std::size_t>(axis)]);
  });
  return axes;
}

layout packed(const extents& shape, std::span<const int> order, std::size_t itemsize) {
  extents strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  layout out;
  require_valid(layout::strided(shape, std::move(strides), itemsize, out));
  return out;
}

bool all_in_c_order(std::span<const layout* const> operands) noexcept {
  return std::ranges::all_of(operands, [](const layout* l) { return l->is_c_contiguous(); });
}

layout kept_layout(const extents& shape, std::span<const layout* const> operands,
                   std::size_t itemsize) {
  if (!all_in_c_order(operands)) return packed(shape, kept_order(shape, operands), itemsize);
  layout out;
  require_valid(layout::c_order(shape, itemsize, out));
  return out;
}

}  // namespace usmx::detail
