// An array: checked elements, the queue they are computed on, and the owner that keeps them alive.
// A C++ function that takes or returns one can be called with any library's objects.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <sycl/half_type.hpp>
#include <sycl/queue.hpp>

#include "usmx/memory.hpp"
#include "usmx/view.hpp"

namespace usmx {

template <>
inline constexpr bool is_half<sycl::half> = true;

namespace detail {
/// After `own`, with the queue that foreign memory came with: if it is ours, come back, others may
/// submit commands there.
void came_back_on(const shared_owner& memory, const sycl::queue& queue);
}  // namespace detail

/// An n-dimensional array in USM. Copying shares the memory; a const array may have writable
/// elements, as a pointer may. Thread-safe as a shared_ptr is.
class array {
 public:
  /// Without memory and queue: only to be assigned to.
  array() = default;

  /// Memory for `shape` elements in C order; contents undefined.
  /// Throws interop_error (shape), allocation_error, device_error (kind not supported).
  static array empty(const sycl::queue& queue, std::span<const std::int64_t> shape, dtype type,
                     usm_kind kind = usm_kind::device);

  /// Foreign elements: queries the driver for the kind and the extent of the memory, and refuses
  /// elements outside of it. `keep_alive` may be empty if the caller outlives the array.
  /// Throws interop_error: not_usm, out_of_allocation. Empty views are not checked.
  static array bind(any_view elements, const sycl::queue& queue, shared_owner keep_alive);

  /// Elements inside memory that `keep_alive` owns and the caller knows: nothing is queried or
  /// checked.
  static array over(any_view elements, const sycl::queue& queue, shared_owner keep_alive) {
    return {std::move(elements), queue, std::move(keep_alive)};
  }

  /// Memory of the host that no USM function allocated (malloc, NumPy's arrays, mapped files), for
  /// a device whose kernels use it as it is; its kind is `unknown`. The host reads and writes it
  /// without calls of ours, so commands on it are waited for where they are submitted. Throws
  /// device_error if the device of `queue` cannot.
  static array over_host(any_view elements, const sycl::queue& queue, shared_owner keep_alive);

  /// Foreign memory with its own deleter, in C order: `bind` + `adopt`. The deleter runs exactly
  /// once, also if this throws.
  static array adopt(const sycl::queue& queue, void* data, std::span<const std::int64_t> shape,
                     dtype type, std::function<void(void*)> deleter);

  /// Another view of the same memory; `elements` must come from this array's own view.
  array with_view(any_view elements) const& { return {std::move(elements), queue_, owner_}; }
  array with_view(any_view elements) && {
    return {std::move(elements), std::move(queue_), std::move(owner_)};
  }
  /// The same memory, computed on another queue of the same context. Throws std::invalid_argument
  /// for another context.
  array on(const sycl::queue& queue) const;

  /// Address, layout and type of the elements; valid while the array is.
  const any_view& elements() const noexcept { return view_; }
  /// Where commands on the array go unless another queue is given.
  const sycl::queue& queue() const noexcept { return *queue_; }
  /// What owns the memory; empty if a caller keeps it.
  const shared_owner& keep_alive() const noexcept { return owner_; }
  /// The element with all indices zero. The host may use it if `kind` is accessible to it, and
  /// after `wait`.
  void* data() const noexcept { return view_.data(); }
  usm_kind kind() const noexcept { return view_.kind(); }
  int rank() const noexcept { return view_.rank(); }
  /// Number of elements.
  std::int64_t size() const noexcept { return view_.size(); }
  /// Lengths of the dimensions; valid while the array is.
  std::span<const std::int64_t> shape() const noexcept { return view_.layout().shape().span(); }
  /// Length of dimension `axis`, which must be one.
  std::int64_t extent(int axis) const noexcept {
    return view_.layout().shape()[static_cast<std::size_t>(axis)];
  }

  /// For `submission`, which calls it before its command goes to `queue`, and one of the next two.
  void used_on(const sycl::queue& queue) const {
    if (owner_) owner_->used_on(queue);
  }
  /// After the last command was submitted, with its event.
  void used_until(const sycl::queue& queue, const sycl::event& last) const noexcept {
    if (owner_) owner_->used_until(queue, last);
  }
  /// The same for commands that have no event.
  void used_until(const sycl::queue& queue) const noexcept {
    if (owner_) owner_->used_until(queue);
  }
  /// Waits for pending commands on the memory, if there are any.
  void wait() const {
    if (owner_) owner_->wait();
  }

 private:
  array(any_view&& elements, const std::optional<sycl::queue>& queue, shared_owner owner)
      : view_(std::move(elements)), queue_(queue), owner_(std::move(owner)) {}
  array(any_view&& elements, std::optional<sycl::queue>&& queue, shared_owner owner)
      : view_(std::move(elements)), queue_(std::move(queue)), owner_(std::move(owner)) {}
  array(any_view&& elements, const sycl::queue& queue, shared_owner owner)
      : view_(std::move(elements)), queue_(queue), owner_(std::move(owner)) {}

  any_view view_;
  std::optional<sycl::queue> queue_;
  shared_owner owner_;
};

}  // namespace usmx
