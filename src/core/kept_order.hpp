// The order of axes in memory that a result has from its operands: one rule for kernels and for
// the host, so that it depends neither on the size nor on the kind of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "usmx/layout.hpp"

namespace usmx::detail {

/// The axes of a result of operands that broadcast to its shape, slowest first, as NumPy's order
/// "K" has them: an axis stands behind another one if all operands that step along both agree. One
/// operand in C order decides for C; axes along which nothing steps keep their place.
std::vector<int> kept_order(const extents& shape, std::span<const layout* const> operands);

/// The axes from the largest step to the smallest, ties as in C: what NumPy's copies in order "K"
/// have. It differs from `kept_order` where steps are zero.
std::vector<int> order_of_steps(const layout& like);

/// Packed elements whose axes stand in such an order in memory.
layout packed(const extents& shape, std::span<const int> order, std::size_t itemsize);

/// What `packed` gives of the order of operands; in C order without looking if they all are.
layout kept_layout(const extents& shape, std::span<const layout* const> operands,
                   std::size_t itemsize);

/// True if all stand in C order, which no result has to look at then.
bool all_in_c_order(std::span<const layout* const> operands) noexcept;

}  // namespace usmx::detail
