// Selections from the last axis, as the bindings and usmx/select.hpp call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "usmx/array.hpp"

namespace usmx::detail {

/// What is given of rows that have some places in order.
enum class selected : char { values, places };

/// The rows of the last axis, or where their elements were as int64, with those of `kth` in place.
array partition_rows(const array& a, const std::vector<std::int64_t>& kth, selected what);
/// The elements at those places of each row alone.
array kth_of_rows(const array& a, const std::vector<std::int64_t>& kth);

}  // namespace usmx::detail
