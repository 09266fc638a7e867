// An axis of an array as the last one, whose elements are the rows of algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/array.hpp"

namespace usmx::detail {

/// From 0 up. Throws std::invalid_argument for an axis that is not there.
int axis_of(const array& a, int axis);
/// A view in which `axis`, which is not negative, is the last one.
array with_axis_last(const array& a, int axis);
/// A view of what was computed of such a view, with that axis in its place again.
array with_axis_at(const array& rows, int axis);
/// What was computed of such a view, with that axis in its place again, in C order.
array turned_back(const array& rows, int axis);
/// The kind of memory of results.
usm_kind kind_of_results(const array& a);

}  // namespace usmx::detail
