// Elements in order, on the device where they are: stable sorts of all types of numbers, where each
// element was, and places in what is sorted. Few elements that the host can reach are sorted there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/array.hpp"

namespace usmx {

/// Along which axis, and in which direction.
struct sort_options {
  /// Negative ones count from the end.
  int axis = -1;
  /// Largest first. NaN comes last in both directions.
  bool descending = false;
};

/// The elements along an axis in order, in C order and in the kind of memory of `a`. Complex
/// numbers are ordered by their real parts, equal ones of these by their imaginary parts; equal
/// elements stay in their order. Throws interop_error (dtype_mismatch) for records,
/// std::invalid_argument for an axis that is not there.
///
///   usmx::array in_order = usmx::sort(x, {.axis = 0, .descending = true});
array sort(const array& a, const sort_options& how = {});

/// Where the elements that `sort` gives were along the axis, as int64.
array argsort(const array& a, const sort_options& how = {});

/// Both at once, for less than twice the time.
struct sorted_array {
  array values, places;
};
sorted_array sort_with_places(const array& a, const sort_options& how = {});

/// How many elements of a sorted row come before each value, as int64; with `right`, how many do
/// not come after it. Throws std::invalid_argument if `sorted` has not one dimension or the types
/// differ.
array searchsorted(const array& sorted, const array& values, bool right = false);

}  // namespace usmx
