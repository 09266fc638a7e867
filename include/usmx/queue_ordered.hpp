// Memory that is freed while commands use it can be reused by later commands on the same queue: an
// in-order queue runs them after the earlier ones, so no wait is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "usmx/memory.hpp"

namespace usmx {

/// What a queue-ordered resource keeps from its upstream at one moment.
struct queue_order_stats {
  std::size_t bytes = 0;   ///< requested, of the freed blocks that wait for a queue
  std::size_t blocks = 0;  ///< how many wait
  std::size_t queues = 0;  ///< for how many queues
  std::size_t reused = 0;  ///< how often a block was reused without waiting, in total
  std::size_t passed = 0;  ///< how often one was freed to the upstream after its commands
};

/// Queue-ordered allocation, on top of any other resource.
///
/// `deallocate_on` keeps a block until the commands before it on its queue have ended; then it is
/// freed to the upstream. Until then `allocate_on` of the same queue reuses it at once, for the
/// same number of bytes or for another that the upstream can make of the block (`resize`). Other
/// queues, and `allocate`, get it from the upstream only, after the commands have ended.
///
/// Only an allocation that found no memory waits: for the blocks still in use, which it frees, and
/// tries again. Idle blocks are found by later allocations, a few at a time, by `collect` and by
/// `drain`. A queue may be destroyed while blocks wait for it. Thread-safe.
class queue_ordered_resource final : public memory_resource {
 public:
  /// Throws std::invalid_argument without an upstream.
  explicit queue_ordered_resource(std::shared_ptr<memory_resource> upstream);
  /// Waits for blocks in use and frees them. All blocks must have been freed.
  ~queue_ordered_resource() override;

  usm_kind kind() const noexcept override;
  sycl::context context() const override;
  sycl::device device() const override;
  const std::shared_ptr<memory_resource>& upstream() const noexcept;
  std::shared_ptr<memory_resource> stands_on() const noexcept override { return upstream(); }

  /// A freed block that waits.
  struct block {
    void* data;
    std::size_t bytes;
    std::size_t queue;  ///< a number for each queue for which blocks wait
  };
  /// The waiting blocks, for each queue in the order in which they were freed.
  std::vector<block> waiting() const;
  queue_order_stats stats() const noexcept;

  /// Frees idle blocks to the upstream; returns how many still wait.
  std::size_t collect() noexcept;
  /// Waits for all waiting blocks, and frees them.
  void drain() noexcept;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  void* do_try_allocate(std::size_t bytes, std::size_t alignment) noexcept override;
  bool do_try_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  void* do_allocate_on(const sycl::queue& queue, std::size_t bytes, std::size_t alignment,
                       std::optional<sycl::event>& pending) override;
  bool do_deallocate_on(const sycl::queue& queue, const sycl::event& last, void* p,
                        std::size_t bytes, std::size_t alignment) noexcept override;
  bool do_resize(void* p, std::size_t bytes, std::size_t alignment,
                 std::size_t other_bytes) noexcept override;

  class parts;
  std::shared_ptr<parts> parts_;
};

/// Whether the device has its own queue-ordered allocation (sycl_ext_oneapi_async_memory_alloc):
/// Level Zero and CUDA devices do, OpenCL ones do not.
bool has_async_allocation(const sycl::device& device);

/// The device's own form of the same: the runtime allocates and frees as commands of a queue.
/// `allocate` and `deallocate` use a queue of the resource.
class async_resource final : public memory_resource {
 public:
  /// Throws device_error if the device cannot, std::invalid_argument for an unknown kind.
  async_resource(sycl::context context, sycl::device device, usm_kind kind);
  /// All blocks must have been freed.
  ~async_resource() override;

  usm_kind kind() const noexcept override { return kind_; }
  sycl::context context() const override { return own_.get_context(); }
  sycl::device device() const override { return own_.get_device(); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  void* do_allocate_on(const sycl::queue& queue, std::size_t bytes, std::size_t alignment,
                       std::optional<sycl::event>& pending) override;
  bool do_deallocate_on(const sycl::queue& queue, const sycl::event& last, void* p,
                        std::size_t bytes, std::size_t alignment) noexcept override;
  void* ask(const sycl::queue& queue, std::size_t bytes, std::size_t alignment);

  sycl::queue own_;
  usm_kind kind_;
};

}  // namespace usmx
