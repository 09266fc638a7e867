// A few elements that the host can reach are computed there: a launch takes longer than they do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/operations.hpp"

namespace usmx::detail {

/// Up to so many elements, where the host goes through them once: 1 to 3 us, as a launch takes 10.
inline constexpr std::int64_t most_on_host = 4096;
/// The same by what the row of an operation says of the cost of an element: less than a nanosecond;
/// some, as logarithms, sines, remainders; more, as whole powers, sorts, running sums.
inline constexpr std::int64_t most_at_low_cost = most_on_host;
inline constexpr std::int64_t most_at_some_cost = 1024;
inline constexpr std::int64_t most_at_high_cost = 256;

/// From the operands, `count` elements each that lie one after the other.
using host_loop = void (*)(std::byte* out, const std::byte* const* in, std::int64_t count);
struct host_function {
  host_loop loop = nullptr;
  std::int64_t most = 0;  ///< elements
};

/// What computes an operation on the host for operands of a type; null if the values could differ
/// from those of a kernel, whose functions are not rounded as the host's are.
host_function function_on_host(const operation& op, const dtype& type) noexcept;

/// `count` elements of another type; null for casts that a processor may make in its own way, which
/// are those of floats to integers.
using host_cast = void (*)(std::byte* out, const std::byte* in, std::int64_t count);
host_cast cast_on_host(const dtype& from, const dtype& to) noexcept;

/// Goes through the elements of a view in C order, each as often as `shape` says, which the view
/// broadcasts to.
class host_gather {
 public:
  host_gather(const any_view& v, const extents& shape);
  /// Copies the next `count`.
  void copy(std::byte* out, std::int64_t count);

 private:
  const std::byte* next_;
  std::size_t bytes_;  ///< of an element
  struct axis {
    std::int64_t length, step, at;
  };
  std::vector<axis> axes_;
};

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
