// A few elements that the host can reach are computed there: a launch takes longer than they do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/operations.hpp"

namespace usmx::detail {

/// Up to so many elements.
inline constexpr std::int64_t most_on_host = 256;

/// An operand: its first element, and whether there are more than that one.
struct host_operand {
  const std::byte* first;
  bool is_row;
};
using host_loop = void (*)(std::byte* out, const host_operand* in, std::int64_t count);

/// What computes an operation on the host for operands of a type; null if the values could differ
/// from those of a kernel, whose functions are not rounded as the host's are.
host_loop loop_on_host(const operation& op, const dtype& type) noexcept;

}  // namespace usmx::detail
