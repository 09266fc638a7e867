// Compute follows data: on which queue a computation with several arrays runs and what kind of
// memory its results get, or an error that says which arrays live where and how to move them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "usmx/array.hpp"

namespace usmx {

/// No kernel can use these arrays together, or this array on this queue: they belong to different
/// contexts, or are device memory of different devices. Python sees ExecutionPlacementError, which
/// is a ValueError.
class placement_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Whether the elements are in memory of the host that no USM function allocated: NumPy's arrays,
/// mapped files. It belongs to no context.
inline bool is_host_memory(const array& a) noexcept {
  return a.kind() == usm_kind::unknown && a.elements().size() > 0;
}

/// Whether commands on the queue can use the array's memory.
bool can_use(const sycl::queue& queue, const array& a);

/// Throws placement_error that begins with `what`, the name of the array, and says where it and the
/// queue are.
[[noreturn]] void refuse_placement(const std::string& what, const array& a,
                                   const sycl::queue& queue);

/// The queue of a computation with these arrays: that of the first in USM, else of the first.
/// Memory of the host without USM follows the others. Empty without arrays. Throws placement_error
/// that lists where all of them are.
std::optional<sycl::queue> execution_queue(std::span<const array* const> arrays);

/// What results of operands of these kinds live in: device, otherwise shared, otherwise host
/// memory. Memory of the host without USM, `unknown`, counts as host memory. Empty without kinds.
std::optional<usm_kind> coerced_kind(std::span<const usm_kind> kinds) noexcept;

/// The same for operands that are looked at one by one. Those without dimensions have no say next
/// to others, as numbers have none: a program does not leave shared memory because a library made
/// an array of a number.
class joint_kind {
 public:
  /// Memory of the host without USM counts as host memory.
  void add(const array& a) noexcept {
    add(is_host_memory(a) ? usm_kind::host : a.kind(), a.elements().rank());
  }
  /// `unknown` is not counted: it is of an array without elements.
  void add(usm_kind kind, int rank) noexcept;
  /// Without operands what new arrays on the queue of the result have: `default_kind`.
  usm_kind result(const sycl::queue& queue) const;

 private:
  /// By rank and kind, whether there was one.
  bool seen_[2][4] = {};
};

}  // namespace usmx
