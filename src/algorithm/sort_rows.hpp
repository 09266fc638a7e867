// Sorts of the last axis, as the bindings and usmx/sort.hpp call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "usmx/array.hpp"

namespace usmx::detail {

/// The rows of the last axis in order and where each element was in its row, as far as asked for.
/// With `wide` places are counted with 64 bits, which rows of 2^32 elements need in any case.
struct sorted_rows {
  std::optional<array> values, places;
};
sorted_rows sort_rows(const array& a, bool descending, bool values, bool places, bool wide = false);

/// The different elements of a row in order and where each begins, if counting shows them;
/// otherwise the sorted row alone. `row` has one dimension.
struct different_elements {
  array values;
  std::optional<array> starts;
};
different_elements different_or_sorted(const array& row);

}  // namespace usmx::detail
