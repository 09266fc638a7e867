// Sorts along an axis, as the bindings and usmx/sort.hpp call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "usmx/array.hpp"

namespace usmx::detail {

struct sort_request {
  int axis = 0;  ///< not negative
  bool descending = false;
  /// What is given.
  bool values = true, places = false;
  /// Values alone have the order of axes in memory that a copy has, as NumPy's sorts; otherwise
  /// that of C.
  bool keeps_order = false;
};
/// The elements along an axis in order and where each of them was, as far as asked for.
struct sorted_elements_of {
  std::optional<array> values, places;
};
sorted_elements_of sort_along(const array& a, const sort_request& wanted);

/// The same of the last axis.
sorted_elements_of sort_rows(const array& a, bool values, bool places);

/// Writes the elements that sorted rows have at some places to `out`, without a sort: where groups
/// fill a core, of few places of few long rows. False elsewhere.
bool select_by_digits(const array& rows, const std::vector<std::int64_t>& places, const array& out);

/// The different elements of a row in order and where each begins, if counting shows them;
/// otherwise the sorted row alone. `row` has one dimension.
struct different_elements {
  array values;
  std::optional<array> starts;
};
different_elements different_or_sorted(const array& row);

/// As `usmx::searchsorted`, of elements that `sorter` puts in order, if it is given: int64, all of
/// them inside.
array search_sorted(const array& sorted, const array& values, bool right, const array* sorter);

/// For tests: rows of so many elements and more have places of 64 bits. Returns what held before.
std::int64_t use_wide_places_from(std::int64_t length);

}  // namespace usmx::detail
