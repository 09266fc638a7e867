// Selections along an axis, as the bindings and usmx/select.hpp call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "usmx/array.hpp"

namespace usmx::detail {

/// What is given of lines that have some places in order: their elements, where these were as
/// int64, or the elements at these places alone.
enum class selected : char { values, places, kth };

/// Along `axis`, which is not negative. In C order, or with `keeps_order` in that of the axes of a
/// copy of `a`.
array select_along(const array& a, const std::vector<std::int64_t>& kth, int axis, selected what,
                   bool keeps_order = false);

}  // namespace usmx::detail
