// Ranges that no good groups divide, such as prime numbers of work-items.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sycl/queue.hpp>

#include "usmx/launch_range.hpp"

namespace usmx::detail {

/// The range with more work-items along its last dimension, in groups that suit the device: for a
/// kernel that ends those beyond the range. Nothing if the range has groups of its own, or a length
/// that the runtime divides well. Groups have to divide a range, and of 999 983 items each became
/// a group on the CPU device: a saxpy took 4.2 ms in place of 0.22.
std::optional<launch_range> in_whole_groups(const sycl::queue& queue, const launch_range& range);

/// How many rows an item takes in a text for several.
inline constexpr std::size_t rows_of_item = 4;

/// A range of several dimensions for such a text, on processors: `rows_of_item` times fewer items
/// along the last dimension but one, and more along the last, so that vectors can begin where a
/// line of the cache does. Nothing if the range has groups of its own, is too small to gain by it,
/// or is one of another device.
std::optional<launch_range> in_several_rows(const sycl::queue& queue, const launch_range& range);

}  // namespace usmx::detail
