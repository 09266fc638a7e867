// Who owns USM, and when it may go: resources hand out bytes, an owner keeps them alive for every
// array that sees them, and nothing is freed while a queue that used it still has work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/memory_resource.hpp"
#include "usmx/wait.hpp"

namespace usmx {

namespace detail {
class owner_chain;
class retire_list;
struct owner_cell;
}  // namespace detail

/// Keeps bytes alive, whoever allocated them. Arrays and sub-views share one through shared_ptr.
///
/// It also knows which queues may still have commands on the bytes, ours or, once the address left
/// through a protocol, somebody else's. The last release waits for none of them: if a queue is
/// busy, the bytes are put aside behind a marker on it and freed when it has passed.
class owner {
 public:
  owner(void* base, std::size_t bytes, bool lent = true) noexcept
      : base_(static_cast<std::byte*>(base)), bytes_(bytes), lent_(lent) {}
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  virtual ~owner() = default;
  /// With room for the reference count that `own` puts there: one piece of the heap for both.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* p) noexcept;

  /// The whole extent that is kept alive.
  std::byte* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// True if somebody who never calls `used_on` may have commands on these bytes: they were not
  /// allocated here.
  bool is_lent() const noexcept { return lent_; }

  /// Call before commands on these bytes are submitted to `queue`. Call `used_until` with the last
  /// one's event where there is one: asking an event costs a tenth of asking a queue.
  void used_on(const sycl::queue& queue);
  void used_until(const sycl::queue& queue, const sycl::event& last) noexcept {
    end_use(queue, &last);
  }
  /// The same for commands that have no event: who asks then asks the queue.
  void used_until(const sycl::queue& queue) noexcept { end_use(queue, nullptr); }
  /// Call before their address leaves together with `queue`: others may submit commands there.
  void exposed_on(const sycl::queue& queue);
  /// Waits until no queue that was named has work left; rethrows its asynchronous errors.
  void wait();
  /// True if a queue that was named has work left, so that `wait` would wait.
  bool busy() noexcept;
  /// The same for queues named by `used_on` alone: what others submitted is theirs to order.
  bool has_own_work() noexcept;
  /// Both for callers with a lock that others need to get on, as Python's: events alone are asked.
  /// Empty where a queue has to be asked, which may wait for other threads.
  std::optional<bool> try_busy() noexcept;
  std::optional<bool> try_own_work() noexcept;
  /// `exposed_on` for such callers: false, and nothing has happened, where that takes a command.
  [[nodiscard]] bool try_exposed_on(const sycl::queue& queue);
  /// Adds the events that a command on the bytes has to wait for if it is submitted to `next`: none
  /// for what that queue puts before it anyway. May throw sycl::exception.
  void pending(const sycl::queue& next, std::vector<sycl::event>& events);

  /// Frees the bytes. Called once, when nothing uses them any more; may run on any thread that
  /// allocates or frees, never on one of SYCL's.
  virtual void release() noexcept = 0;

  /// For the only holder, whose reference ends next: releases the bytes already if no queue was
  /// named and that waits for nobody. False if the end may have to wait.
  bool try_release() noexcept { return !used_.load(std::memory_order_acquire) && do_try_release(); }

 protected:
  /// The same while commands on `queue`, which is in-order, may use the bytes until `last`. False
  /// if this owner cannot: then nothing happened, and `release` is called after that event.
  virtual bool release_behind(const sycl::queue&, const sycl::event& /*last*/) noexcept {
    return false;
  }
  /// Commands on `queue` before this owner's may use the bytes until `last`.
  void inherit(const sycl::queue& queue, const sycl::event& last);

  /// The last that happens to an owner that `own` took: releases the bytes and ends it. Overridden
  /// where the end has to wait for something else.
  virtual void dispose() noexcept {
    release();
    delete this;
  }
  /// Releases as `release` does, which then has nothing left to do, or leaves it to that.
  virtual bool do_try_release() noexcept { return false; }

 private:
  friend class detail::owner_chain;
  friend class detail::retire_list;

  /// What is known of one queue's commands on the bytes.
  struct use {
    sycl::queue queue;
    bool own = false;         // commands of ours
    bool exposed = false;     // the address left: commands of others, which only the queue knows
    std::size_t open = 0;     // calls of `used_on` whose `used_until` has not come
    bool overlapped = false;  // more than one was open: whose event is the last is not known
    std::optional<sycl::event> last;

    bool is_known() const noexcept { return last && !exposed; }
    bool has_own_work() const noexcept;
    bool is_busy() const noexcept;
    sycl::event marker() const { return is_known() ? *last : usmx::marker(queue); }
  };

  /// Commands of whoever had the bytes before.
  struct former_use {
    sycl::queue queue;
    sycl::event last;
  };

  use& find_use(const sycl::queue& queue);
  void end_use(const sycl::queue& queue, const sycl::event* last) noexcept;
  void come_after_former(const sycl::queue& queue);
  void note_exposed(const sycl::queue& queue);
  std::vector<use> take_uses() noexcept;

  std::byte* base_;
  std::size_t bytes_;
  bool lent_;
  std::atomic<bool> used_{false};
  std::atomic<bool> worked_{false};  // some use is our own
  std::mutex mutex_;
  std::vector<use> uses_;
  std::unique_ptr<former_use> former_;
  owner* next_ = nullptr;             // in the list of what was put aside
  std::vector<sycl::event> pending_;  // the markers it waits for there
};

/// What arrays hold. Made by `own`, so that the last release goes through `retire`.
using shared_owner = std::shared_ptr<owner>;
shared_owner own(std::unique_ptr<owner> o);

/// Bytes from a resource. Throws what `allocate` throws.
shared_owner allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                      std::size_t alignment = default_alignment);

/// The same without waiting for anything, see memory_resource::try_allocate; null where `allocate`
/// has to be called. Never throws allocation_error, but may throw std::bad_alloc.
shared_owner try_allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                          std::size_t alignment = default_alignment);
/// The same for commands on `queue`, which may get bytes that its earlier commands still use. Those
/// come before all that `used_on` names, and `wait` waits for them: call it before any other use.
shared_owner allocate(std::shared_ptr<memory_resource> resource, const sycl::queue& queue,
                      std::size_t bytes, std::size_t alignment = default_alignment);

/// Bytes for work on `queue`, from the resource that serves there by default: what everything asks
/// that makes arrays and memory. The host may write to shared and host memory at once: nothing uses
/// it any more. Device memory is reached by commands alone, and may be what earlier ones on `queue`
/// still use, as above. Throws what `default_resource` and `allocate` throw.
shared_owner allocate(const sycl::queue& queue, usm_kind kind, std::size_t bytes,
                      std::size_t alignment = default_alignment);

/// Foreign memory: `deleter(base)` runs exactly once, after the last array is gone and the queues
/// that used the bytes have passed. It must not throw and must not call Python without the GIL.
shared_owner adopt(void* base, std::size_t bytes, std::function<void(void*)> deleter);

/// Frees what was put aside and has become idle; returns how many allocations still wait. Every
/// allocation does that for a few of them, so that nobody has to call it.
std::size_t collect() noexcept;
/// `call` runs when an owner is put aside that only `collect` settles, on the thread of the last
/// reference: that may be one of the runtime's, so `call` asks another thread to collect and does
/// nothing else. Null ends it.
void call_when_put_aside(void (*call)() noexcept) noexcept;
/// Waits for everything that was put aside and frees it. Call it before a program ends while work
/// is still running; the Python package does.
void drain() noexcept;

}  // namespace usmx
