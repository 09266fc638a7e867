// See axes.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "algorithm/axes.hpp"

#include <span>
#include <stdexcept>
#include <vector>

#include "core/format.hpp"
#include "usmx/copy.hpp"
#include "usmx/placement.hpp"

namespace usmx::detail {
namespace {

/// The axes, with one of them moved to another place.
std::vector<int> moved(int rank, int from, int to) {
  std::vector<int> order;
  for (int k = 0; k < rank; ++k) {
    if (k != from) order.push_back(k);
  }
  order.insert(order.begin() + to, from);
  return order;
}

array permuted(const array& a, std::span<const int> order) {
  return a.with_view(a.elements().with_layout(a.elements().layout().permuted(order), 0));
}

}  // namespace

usm_kind kind_of_results(const array& a) {
  joint_kind kinds;
  kinds.add(a);
  return kinds.result(a.queue());
}

int axis_of(const array& a, int axis) {
  if (axis < -a.rank() || axis >= a.rank()) {
    throw std::invalid_argument(format("axis: {} of an array with {} dimensions", axis, a.rank()));
  }
  return axis < 0 ? axis + a.rank() : axis;
}

array with_axis_last(const array& a, int axis) {
  const int last = a.rank() - 1;
  return axis == last ? a : permuted(a, moved(a.rank(), axis, last));
}

array with_axis_at(const array& rows, int axis) {
  const int last = rows.rank() - 1;
  return axis == last ? rows : permuted(rows, moved(rows.rank(), last, axis));
}

array turned_back(const array& made, int axis) {
  if (axis == made.rank() - 1) return made;
  const array view = with_axis_at(made, axis);
  array out = array::empty(made.queue(), view.shape(), made.elements().dtype(), made.kind());
  copy_async(made.queue(), out, view);
  return out;
}

}  // namespace usmx::detail
