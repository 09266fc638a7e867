// Axes as they stand in memory, for what is computed along one of them: the result has the order of
// axes that a copy has, as NumPy computes in one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/kept_order.hpp"
#include "usmx/array.hpp"

namespace usmx::detail {

/// An array with its axes as they stand in memory, the slowest first: what is computed along one
/// of them has the result's axes in that order too. The array is not copied and outlives this.
class in_memory_order {
 public:
  /// Without `turns` the axes stay as they are.
  explicit in_memory_order(const array& a, bool turns = true) : given_(a.elements()) {
    const layout& where = given_.layout();
    if (!turns || where.is_c_contiguous()) return;
    order_ = order_of_steps(where);
    if (std::ranges::is_sorted(order_)) {
      order_.clear();
      return;
    }
    turned_ = given_.with_layout(where.permuted(order_), 0);
  }
  const any_view& view() const noexcept { return turned_ ? *turned_ : given_; }
  /// Where an axis is now.
  int place_of(int axis) const {
    if (order_.empty()) return axis;
    return static_cast<int>(std::ranges::find(order_, axis) - order_.begin());
  }
  /// What was computed of the view, with the axes at their places.
  array turned_back(array made) const {
    if (order_.empty()) return made;
    return made.with_view(made.elements().with_layout(
        packed(given_.layout().shape(), order_, made.elements().dtype().itemsize()), 0));
  }

 private:
  const any_view& given_;
  std::optional<any_view> turned_;
  std::vector<int> order_;  ///< empty for C order
};

}  // namespace usmx::detail
