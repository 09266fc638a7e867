// Where bytes come from: one interface for the driver, for pools and for everything that stands on
// them, and who serves whom by default.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>
#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/trace.hpp"
#include "usmx/view.hpp"

namespace usmx {

/// Alignment in bytes of an allocation that asks for none: a cache line, and what JAX and Arrow
/// want.
inline constexpr std::size_t default_alignment = 64;

/// As std::has_single_bit, which is a call where the compiler may not count on popcnt.
constexpr bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

/// Where bytes come from, shaped as std::pmr::memory_resource. Pools and adaptors stack on an
/// upstream resource; a new behaviour is a new class, never a flag on an old one.
class memory_resource {
 public:
  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  /// At least `bytes` bytes at a multiple of `alignment` (a power of two). Zero bytes give a valid
  /// pointer too. Throws allocation_error, or std::invalid_argument for a bad alignment.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
    if (!is_power_of_two(alignment)) [[unlikely]]
      refuse_alignment(alignment);
    return do_allocate(bytes, alignment);
  }
  /// Returns what `allocate` gave, with the same numbers. The bytes must not be in use any more.
  void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
    if (p != nullptr) do_deallocate(p, bytes, alignment);
  }

  /// The same for callers that hold a lock which others need, as Python's: null or false, and
  /// nothing has happened, where that takes a question to the driver or waits for anything. Nor
  /// while somebody records, which is no matter of nanoseconds: the other way is the recorded one.
  [[nodiscard]] void* try_allocate(std::size_t bytes,
                                   std::size_t alignment = default_alignment) noexcept {
    return is_power_of_two(alignment) && !is_traced() ? do_try_allocate(bytes, alignment) : nullptr;
  }
  [[nodiscard]] bool try_deallocate(void* p, std::size_t bytes,
                                    std::size_t alignment = default_alignment) noexcept {
    return p == nullptr || (!is_traced() && do_try_deallocate(p, bytes, alignment));
  }

  /// Bytes for commands on `queue`. If `pending` comes back set, earlier commands there may use
  /// them until that event: other queues and the host have to wait for it. Throws as above.
  [[nodiscard]] void* allocate_on(const sycl::queue& queue, std::size_t bytes,
                                  std::size_t alignment, std::optional<sycl::event>& pending) {
    if (!is_power_of_two(alignment)) [[unlikely]]
      refuse_alignment(alignment);
    return do_allocate_on(queue, bytes, alignment, pending);
  }
  /// Takes bytes back that commands on `queue`, which is in-order, may use until `last`. False if
  /// this resource does not order by queues: then `deallocate` is to be called after that event.
  [[nodiscard]] bool deallocate_on(const sycl::queue& queue, const sycl::event& last, void* p,
                                   std::size_t bytes, std::size_t alignment) noexcept {
    return do_deallocate_on(queue, last, p, bytes, alignment);
  }
  /// From now on a block of `bytes` is one of `other_bytes`. False if it has no room or too much.
  [[nodiscard]] bool resize(void* p, std::size_t bytes, std::size_t alignment,
                            std::size_t other_bytes) noexcept {
    return bytes == other_bytes || do_resize(p, bytes, alignment, other_bytes);
  }

  /// The resource that this one stands on; null for a source of memory.
  virtual std::shared_ptr<memory_resource> stands_on() const noexcept { return nullptr; }
  virtual usm_kind kind() const noexcept = 0;
  virtual sycl::context context() const = 0;
  virtual sycl::device device() const = 0;

 private:
  virtual void* do_allocate(std::size_t bytes, std::size_t alignment) = 0;
  virtual void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept = 0;
  virtual void* do_try_allocate(std::size_t, std::size_t) noexcept { return nullptr; }
  virtual bool do_try_deallocate(void*, std::size_t, std::size_t) noexcept { return false; }
  virtual void* do_allocate_on(const sycl::queue&, std::size_t bytes, std::size_t alignment,
                               std::optional<sycl::event>&) {
    return do_allocate(bytes, alignment);
  }
  virtual bool do_deallocate_on(const sycl::queue&, const sycl::event&, void*, std::size_t,
                                std::size_t) noexcept {
    return false;
  }
  virtual bool do_resize(void*, std::size_t, std::size_t, std::size_t) noexcept { return false; }
  [[noreturn]] static void refuse_alignment(std::size_t alignment);
};

/// Straight from the SYCL runtime. The only place of the library that calls `sycl::free`.
class usm_resource final : public memory_resource {
 public:
  usm_resource(sycl::context context, sycl::device device, usm_kind kind);
  /// The same for a driver that aligns small blocks to no more than `most_alignment`: blocks that
  /// need more begin inside of larger ones. Without it, what is known of the device's backend.
  usm_resource(sycl::context context, sycl::device device, usm_kind kind,
               std::size_t most_alignment);
  ~usm_resource() override;
  usm_kind kind() const noexcept override { return kind_; }
  sycl::context context() const override { return context_; }
  sycl::device device() const override { return device_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  void* from_driver(std::size_t bytes, std::size_t alignment);
  void to_driver(void* p) noexcept;

  struct shifted_blocks;

  sycl::context context_;
  sycl::device device_;
  usm_kind kind_;
  std::size_t most_alignment_;
  std::unique_ptr<shifted_blocks> shifted_;  // null where the driver aligns as it is asked
};

/// The resource that serves a (context, device, kind) by default, one for all libraries of the
/// process: a pool with queue order. With the environment variable USMX_POOL=0 each request is one
/// of the driver. Throws device_error if the device lacks that kind of USM, std::invalid_argument
/// if USMX_POOL is neither 0 nor 1.
std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind);

/// From now on `resource` serves its context, device and kind by default, for all libraries of the
/// process; what was allocated before goes back to where it came from. Returns the resource that
/// served so far, null if nobody had asked for one yet. It is kept until it is replaced.
/// Throws std::invalid_argument for null.
std::shared_ptr<memory_resource> set_default_resource(std::shared_ptr<memory_resource> resource);

/// Those that serve by default now: of every context, device and kind that somebody asked for.
std::vector<std::shared_ptr<memory_resource>> default_resources();

/// On the thread that made it, and as long as it lives, `resource` serves its context, device and
/// kind by default, whatever all others draw from; of several the one made last.
class using_resource {
 public:
  /// Throws std::invalid_argument for null.
  explicit using_resource(std::shared_ptr<memory_resource> resource);
  using_resource(const using_resource&) = delete;
  using_resource& operator=(const using_resource&) = delete;
  ~using_resource() { end(); }
  /// Ends it now. False, and nothing has happened, on another thread than the one that made it.
  bool end() noexcept;

 private:
  std::size_t number_;
};
/// Waits for what was put aside, and returns the free memory of the default pools to the driver:
/// how many bytes. Happens by itself when the driver has no more and when the process ends.
std::size_t trim_default_resources() noexcept;

}  // namespace usmx
