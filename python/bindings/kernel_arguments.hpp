// What every launch from Python has to read: its range, its arrays, and what it comes after.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "runtime_bindings.hpp"
#include "usmx/kernel.hpp"

namespace usmx::python {

/// The name of an object's type, for messages.
std::string python_type(nb::handle obj);

/// What stands in the brackets. Python makes no difference between k[(8, 8)] and k[8, 8]; the rank
/// of the kernel does: over one dimension two ints are global and local range, over two they are
/// the global range alone.
launch_range to_launch_range(nb::handle key, int rank);

/// Raises TypeError if there are any: a kernel takes its arguments by position.
void refuse_keywords(const nb::kwargs& keywords, const std::string& kernel);

/// One Python argument on its way to the kernel.
struct memory_argument {
  /// Empty for what is no USM.
  std::optional<array> memory;
  /// Bytes that take whatever type the parameter has.
  bool untyped = false;
};
memory_argument to_memory(nb::handle obj);
/// Also a buffer that happens to be USM, as NumPy's views of it. Throws interop_error for a buffer
/// that is not.
memory_argument to_any_memory(nb::handle obj);
/// Bytes without a type of their own, seen as what the kernel declares.
array retyped(const array& bytes, const dtype& type);

/// Launches the kernel and returns its Event: without one of SYCL's where nobody looks at them. If
/// `before` is null, it comes after what `order_of` says. Lets go of the GIL. TypeError for an
/// argument of another type than the kernel declares.
nb::object submit(const kernel& k, sycl::queue& queue, const launch_range& range,
                  std::span<const kernel_argument> arguments,
                  const std::vector<sycl::event>* before = nullptr);

/// Commands that must pass before a launch that nobody ordered by hand: those on the other queues
/// of its arrays, those on its own queue if that one does not keep an order, and whatever else the
/// memory is used for. Null ones are passed over.
std::vector<sycl::event> order_of(const sycl::queue& queue,
                                  std::span<const array* const> arguments);

}  // namespace usmx::python
