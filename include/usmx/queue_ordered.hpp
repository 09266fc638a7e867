// Memory that is freed while commands run is what the next command on the same queue needs: an
// in-order queue reaches it only after them, so it can be given out again without waiting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "usmx/memory.hpp"

namespace usmx {

/// What a queue-ordered resource keeps from its upstream at one moment.
struct queue_order_stats {
  std::size_t bytes = 0;   ///< asked for by the blocks that came back and wait for a queue
  std::size_t blocks = 0;  ///< how many wait
  std::size_t queues = 0;  ///< for how many queues
  std::size_t reused = 0;  ///< how often a block was given out again without waiting, ever
  std::size_t passed = 0;  ///< how often one went back to the upstream after its queue passed
};

/// Orders blocks by queues, on top of any other resource.
///
/// `deallocate_on` keeps a block until the commands before it on its queue have passed; then it
/// goes to the upstream. Until then `allocate_on` of the same queue gives it out again at once, for
/// the same number of bytes or for as many as the upstream can make of the block (`resize`). Other
/// queues, and `allocate`, get it from the upstream only, after the commands have passed.
///
/// Nothing waits but an allocation that found no memory: it waits for what is still in use, returns
/// it, and tries again. Blocks that have passed are found by later allocations, a few at a time, by
/// `collect` and by `drain`. A queue may end while blocks wait for it. Thread-safe.
class queue_ordered_resource final : public memory_resource {
 public:
  /// Throws std::invalid_argument without an upstream.
  explicit queue_ordered_resource(std::shared_ptr<memory_resource> upstream);
  /// Waits for what is in use and returns it. All blocks must have come back.
  ~queue_ordered_resource() override;

  usm_kind kind() const noexcept override;
  sycl::context context() const override;
  sycl::device device() const override;
  const std::shared_ptr<memory_resource>& upstream() const noexcept;
  std::shared_ptr<memory_resource> stands_on() const noexcept override { return upstream(); }

  /// A block that came back and waits.
  struct block {
    void* data;
    std::size_t bytes;
    std::size_t queue;  ///< a number for each queue for which blocks wait
  };
  /// What waits, for each queue in the order in which it came back.
  std::vector<block> waiting() const;
  queue_order_stats stats() const noexcept;

  /// Returns what has passed to the upstream; how many blocks still wait.
  std::size_t collect() noexcept;
  /// Waits for all that wait, and returns them.
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

/// Whether the device orders allocations by queues itself (sycl_ext_oneapi_async_memory_alloc):
/// Level Zero and CUDA devices do, OpenCL ones do not.
bool has_async_allocation(const sycl::device& device);

/// The device's own form of the same: the runtime allocates and frees as commands of a queue.
/// `allocate` and `deallocate` go through a queue of its own.
class async_resource final : public memory_resource {
 public:
  /// Throws device_error if the device cannot, std::invalid_argument for an unknown kind.
  async_resource(sycl::context context, sycl::device device, usm_kind kind);
  /// All blocks must have come back.
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
