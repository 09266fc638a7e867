// Sums and products of the elements up to each along an axis.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/array.hpp"

namespace usmx::detail {

/// In `type`, or if it is null in that of sums of these elements; of a copy's order of axes in
/// memory. `axis` is not negative.
array cumulative(const array& a, int axis, bool product, const dtype* type);

}  // namespace usmx::detail
