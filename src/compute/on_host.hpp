// A few elements that the host can reach are computed there: a launch takes longer than they do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// `count` elements of another type; null for casts that a processor may make in its own way, which
/// are those of floats to integers.
using host_cast = void (*)(std::byte* out, const std::byte* in, std::int64_t count);
host_cast cast_on_host(const dtype& from, const dtype& to) noexcept;
/// The elements of a view in C order, as often as `shape` says, which it broadcasts to.
void gather_on_host(std::byte* out, const any_view& v, const extents& shape);

/// Joins all elements, `count` > 0, in the order in which a kernel of the CPU joins them.
struct host_fold {
  void (*run)(std::byte* out, const std::byte* in, std::int64_t count);
  /// One after the other, as where neighbours belong to other results.
  void (*in_turn)(std::byte* out, const std::byte* in, std::int64_t count);
  bool any_order;  ///< both give the same, in each order
};
/// Of the text of a reduction; `run` is null for others than sums, products, extremes, any and all.
host_fold fold_on_host(std::string_view reduce, const dtype& type) noexcept;
/// Divides the one float at `value` by a number in its type.
void divide_on_host(std::byte* value, const dtype& type, double by) noexcept;

}  // namespace usmx::detail
