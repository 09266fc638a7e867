// The reductions of NumPy's names, with the types that NumPy chooses for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "usmx/operations.hpp"

namespace usmx::detail {

using usmx::named_reduction;

/// The one of "sum", "prod", "mean", "min", "max", "any" or "all"; empty for other names.
std::optional<named_reduction> find_reduction(std::string_view name) noexcept;
/// What it does with elements of a type; empty for types that it does not take. `asked` is the type
/// that a call names for the result, in which it is computed.
std::optional<value_reduction> reduction_of(named_reduction name, const dtype& type,
                                            const std::optional<dtype>& asked = {});

/// A product of floats by `a * b`, as kernels join it: see kernels/expression/product.hpp. Empty
/// for other reductions.
std::optional<value_reduction> product_in_range(const value_reduction& how);

/// The type that sums of a type have: 64 bits for integers and bools.
dtype sum_type(const dtype& type) noexcept;
/// The type that numbers of a type are added in: floats of 16 bits in float32, rounded once.
dtype added_in(const dtype& type) noexcept;

}  // namespace usmx::detail
