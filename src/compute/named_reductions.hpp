// The reductions of NumPy's names, with the types that NumPy chooses for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "usmx/operations.hpp"

namespace usmx::detail {

using usmx::named_reduction;

/// What it does with elements of a type; empty for types that it does not take.
std::optional<value_reduction> reduction_of(named_reduction name, const dtype& type);

/// A product of floats by `a * b`, as kernels join it: see kernels/expression/product.hpp. Empty
/// for other reductions.
std::optional<value_reduction> product_in_range(const value_reduction& how);

/// The type that sums of a type have: 64 bits for integers and bools.
dtype sum_type(const dtype& type) noexcept;
/// The type that numbers of a type are added in: floats of 16 bits in float32, rounded once.
dtype added_in(const dtype& type) noexcept;

}  // namespace usmx::detail
