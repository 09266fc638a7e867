// Elements by their place in the order of rows, without sorting all of them where the device is the
// host's own processor; elsewhere rows are sorted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "usmx/array.hpp"

namespace usmx {

/// The elements along an axis with those of the places `kth` where `sort` has them: smaller and
/// equal ones stand before each of these, larger and equal ones behind it, in any order. Negative
/// places count from the end; the result is in C order and in the kind of memory of `a`. Throws
/// interop_error (dtype_mismatch) for records, std::invalid_argument for an axis or a place that is
/// not there.
///
///   usmx::array smallest = usmx::partition(x, {9});  // ten of them come first
array partition(const array& a, const std::vector<std::int64_t>& kth, int axis = -1);

/// Where the elements that `partition` gives were along the axis, as int64.
array argpartition(const array& a, const std::vector<std::int64_t>& kth, int axis = -1);

/// Only the elements at those places, which may be in any order and the same: the axis has as many
/// elements as `kth`.
array kth_values(const array& a, const std::vector<std::int64_t>& kth, int axis = -1);

}  // namespace usmx
