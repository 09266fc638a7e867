// Memory resources: one interface for the driver, for pools and for the adaptors that are stacked
// on them, and the default resources.
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

/// Default alignment of an allocation in bytes: a cache line, which JAX and Arrow
/// require.
inline constexpr std::size_t default_alignment = 64;

/// As std::has_single_bit, which is a call where the compiler may not count on popcnt.
constexpr bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

/// A source of memory, modelled on std::pmr::memory_resource. Pools and adaptors stack on an
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
  /// Frees memory of `allocate`, with the same size and alignment. It must not be in use any more.
  void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
    if (p != nullptr) do_deallocate(p, bytes, alignment);
  }

  /// The same for callers that hold a lock which others need, such as the GIL: null or false, and
  /// nothing was changed, if the call would query the driver or wait. The same while allocations
  /// are traced, which is slow: the functions above are traced.
  [[nodiscard]] void* try_allocate(std::size_t bytes,
                                   std::size_t alignment = default_alignment) noexcept {
    return is_power_of_two(alignment) && !is_traced() ? do_try_allocate(bytes, alignment) : nullptr;
  }
  [[nodiscard]] bool try_deallocate(void* p, std::size_t bytes,
                                    std::size_t alignment = default_alignment) noexcept {
    return p == nullptr || (!is_traced() && do_try_deallocate(p, bytes, alignment));
  }

  /// Memory for commands on `queue`. If `pending` is set on return, earlier commands there may use
  /// it until that event: other queues and the host have to wait for it. Throws as above.
  [[nodiscard]] void* allocate_on(const sycl::queue& queue, std::size_t bytes,
                                  std::size_t alignment, std::optional<sycl::event>& pending) {
    if (!is_power_of_two(alignment)) [[unlikely]]
      refuse_alignment(alignment);
    return do_allocate_on(queue, bytes, alignment, pending);
  }
  /// Frees memory that commands on the in-order `queue` may use until `last`. False if this
  /// resource is not queue-ordered: then call `deallocate` after that event.
  [[nodiscard]] bool deallocate_on(const sycl::queue& queue, const sycl::event& last, void* p,
                                   std::size_t bytes, std::size_t alignment) noexcept {
    return do_deallocate_on(queue, last, p, bytes, alignment);
  }
  /// Turns a block of `bytes` into one of `other_bytes`. False if it is too small or too large.
  [[nodiscard]] bool resize(void* p, std::size_t bytes, std::size_t alignment,
                            std::size_t other_bytes) noexcept {
    return bytes == other_bytes || do_resize(p, bytes, alignment, other_bytes);
  }

  /// The upstream of this resource; null if it has none.
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

/// Directly from the SYCL runtime. The only place of the library that calls `sycl::free`.
class usm_resource final : public memory_resource {
 public:
  /// Throws device_error if the device does not have this kind.
  usm_resource(sycl::context context, sycl::device device, usm_kind kind);
  /// The same for a driver that aligns small blocks to no more than `most_alignment`: blocks that
  /// need more begin inside of larger ones. Default: from the table of backends.
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
  std::unique_ptr<shifted_blocks> shifted_;  // null if the driver supports all alignments
};

/// The default resource of a (context, device, kind), shared by all libraries of the process: a
/// queue-ordered pool. With the environment variable USMX_POOL=0 each request goes to the
/// driver. Throws device_error if the device lacks that kind of USM, std::invalid_argument
/// if USMX_POOL is neither 0 nor 1.
std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind);

/// Makes `resource` the default of its context, device and kind, for all libraries of the process;
/// earlier allocations are freed through their own resource. Returns the previous default, null if
/// it was not used yet. The resource is kept until it is replaced.
/// Throws std::invalid_argument for null.
std::shared_ptr<memory_resource> set_default_resource(std::shared_ptr<memory_resource> resource);

/// The current default resources: of every context, device and kind that was used.
std::vector<std::shared_ptr<memory_resource>> default_resources();

/// Makes `resource` the default of its context, device and kind on the thread that constructs this,
/// during its lifetime; of several, the last one applies.
class using_resource {
 public:
  /// Throws std::invalid_argument for null.
  explicit using_resource(std::shared_ptr<memory_resource> resource);
  using_resource(const using_resource&) = delete;
  using_resource& operator=(const using_resource&) = delete;
  ~using_resource() { end(); }
  /// Ends it now. False, and nothing was changed, on another thread than that of construction.
  bool end() noexcept;

 private:
  std::size_t number_;
};
/// Waits for deferred memory, and returns the free memory of the default pools to the driver;
/// returns its bytes. Called automatically when the driver has no more and at process exit.
std::size_t trim_default_resources() noexcept;

}  // namespace usmx
