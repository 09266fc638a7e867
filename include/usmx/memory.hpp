// Ownership and lifetime of USM: resources allocate memory, an owner keeps it alive for all arrays
// that use it, and nothing is freed while a queue still has commands that use it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/memory_resource.hpp"
#include "usmx/wait.hpp"

namespace usmx {

namespace detail {
class owner_chain;
class retire_list;
class known_owners;
struct owner_cell;
}  // namespace detail

class host_access;

/// Something that will use memory with commands that are not submitted yet, and may do so earlier.
class deferred_use {
 public:
  /// Submits them. Called before anything else may change, export or wait for the memory.
  virtual void compute() noexcept = 0;

 protected:
  ~deferred_use() = default;
};

namespace detail {
/// While one lives, commands of this thread make nothing submit what was deferred: they only read
/// memory that was there before.
class only_reading {
 public:
  only_reading() noexcept;
  ~only_reading();
  only_reading(const only_reading&) = delete;
  only_reading& operator=(const only_reading&) = delete;
};
}  // namespace detail

/// Keeps memory of any library alive. Arrays and sub-views share one through shared_ptr.
///
/// It also records the queues that may still have commands on the memory: ours and, after an export
/// through a protocol, those of other libraries. The last release does not wait for them: if a
/// queue is busy, the free is deferred behind a marker on it.
class owner {
 public:
  owner(void* base, std::size_t bytes, bool borrowed = true) noexcept
      : base_(static_cast<std::byte*>(base)), bytes_(bytes), borrowed_(borrowed) {}
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  virtual ~owner();
  /// With room for the reference count that `own` puts there: one heap allocation for both.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* p) noexcept;

  /// The whole extent that is kept alive.
  std::byte* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// True if another library, which never calls `used_on`, may have commands on this memory,
  /// because it was not allocated here.
  bool is_lent() const noexcept { return borrowed_; }

  /// True if `address_leaves` was called: memory that comes back is found to be this.
  bool is_known() const noexcept { return known_.load(std::memory_order_acquire); }
  /// True if owners of memory that came back keep their uses here.
  bool is_shared_again() const noexcept { return sharing_.load(std::memory_order_acquire) != 0; }

  /// True if others may have commands on the memory that it does not know, for that reason or
  /// because its address was exported, or may read and write it on the host.
  bool is_exposed() const noexcept {
    return borrowed_ || exposed_.load(std::memory_order_acquire) || is_seen_by_host();
  }
  /// True while code that knows nothing of queues may read and write the memory by its address on
  /// the host. A command that uses the memory is then waited for where it is submitted.
  bool is_seen_by_host() const noexcept { return views_.load(std::memory_order_acquire) != 0; }
  /// `what` is made to submit its commands before the memory is used otherwise.
  void used_later(std::weak_ptr<deferred_use> what);
  /// Deferred commands are submitted now.
  void submit_deferred() noexcept {
    if (deferred_.load(std::memory_order_acquire)) submit_all_deferred();
  }

  /// For `submission`: called before its command goes to `queue`, and `used_until` after it, with
  /// the event if there is one: querying an event costs a tenth of querying a queue.
  void used_on(const sycl::queue& queue);
  void used_until(const sycl::queue& queue, const sycl::event& last) noexcept {
    end_use(queue, &last);
  }
  /// The same for commands without an event: then the queue is queried.
  void used_until(const sycl::queue& queue) noexcept { end_use(queue, nullptr); }
  /// Call before the address is exported together with `queue`, after `address_leaves`: others may
  /// submit commands there.
  void exposed_on(const sycl::queue& queue);
  /// The same for an array whose own queue is `home`: that one is asked too if its handle left.
  void exposed_on(const sycl::queue& queue, const sycl::queue& home);
  /// Call before the host may read and write by the address, without calls of ours and without an
  /// end that is known. `host_access` is for views that end. Neither waits: call `wait` after it.
  void exposed_to_host() noexcept {
    views_.fetch_or(lasting_view, std::memory_order_acq_rel);
    submit_deferred();
  }
  /// Waits until all recorded queues are idle; rethrows their asynchronous errors.
  void wait();
  /// True if a recorded queue has pending commands, so that `wait` would wait.
  bool busy() noexcept;
  /// The same without submitting what was deferred.
  bool has_commands() noexcept;
  /// `busy` for queues from `used_on` only: commands of others are theirs to order.
  bool has_own_work() noexcept;
  /// The same without submitting what was deferred. Remembers what has ended for `try_submitted`.
  bool has_submitted_work() noexcept;
  /// `busy` and `has_own_work` for callers with a lock that others need, such as the GIL: only
  /// events are queried. Empty if a queue has to be queried, which may wait for other threads.
  std::optional<bool> try_busy() noexcept;
  std::optional<bool> try_own_work() noexcept;
  /// `try_busy` for those who only read: what was deferred only reads as well.
  std::optional<bool> try_submitted() noexcept;
  /// `exposed_on` for such callers: false, and nothing was changed, if that needs a command.
  [[nodiscard]] bool try_exposed_on(const sycl::queue& queue, const sycl::queue& home);
  /// Adds the queues to which others may submit commands on the memory, except those that run their
  /// commands behind those of the in-order queue `last`, because they are the same.
  void add_exposed_queues(const sycl::queue& last, std::vector<sycl::queue>& queues);
  /// Adds the events that a command on the memory has to wait for if it is submitted to `next`,
  /// except those that this queue orders by itself. May throw sycl::exception.
  void pending(const sycl::queue& next, std::vector<sycl::event>& events);

  /// Frees the memory. Called once, when no command uses it any more; may run on any thread that
  /// allocates or frees, never on one of SYCL's.
  virtual void release() noexcept = 0;

  /// For the only reference, which is dropped next: releases the memory already if no queue was
  /// recorded and that does not wait. False if releasing may have to wait.
  bool try_release() noexcept {
    return !used_.load(std::memory_order_acquire) && !is_shared_again() && do_try_release();
  }

 protected:
  /// The same while commands on the in-order `queue` may use the memory until `last`. False if this
  /// owner cannot: then nothing was changed, and `release` is called after that event.
  virtual bool release_behind(const sycl::queue&, const sycl::event& /*last*/) noexcept {
    return false;
  }
  /// Commands on `queue` before this owner's may use the memory until `last`.
  void inherit(const sycl::queue& queue, const sycl::event& last);

  /// The last call on an owner that `own` took: releases the memory and destroys the owner.
  /// Overridden if that has to wait for something else.
  virtual void dispose() noexcept {
    release();
    delete this;
  }
  /// Releases as `release` does, which then does nothing, or leaves it to `release`.
  virtual bool do_try_release() noexcept { return false; }

 private:
  friend class detail::owner_chain;
  friend class detail::retire_list;
  friend class detail::known_owners;
  friend class host_access;
  friend std::shared_ptr<owner> own(std::unique_ptr<owner> o);

  /// One queue's commands on the memory.
  struct use {
    sycl::queue queue;
    bool own = false;         // commands of ours
    bool exposed = false;     // exported: commands of others, which only the queue knows
    bool home = false;        // the queue of an array that was exported: the same if it left, too
    bool had_work = false;    // `own` when the open use began, and that work's event, if known
    bool overlapped = false;  // more than one was open: whose event is the last is not known
    std::size_t open = 0;     // calls of `used_on` without their `used_until` so far
    std::size_t begun = 0;    // calls of `used_on`
    std::optional<sycl::event> last;
    std::optional<sycl::event> former;

    /// Others may have submitted to the queue.
    bool is_exposed() const noexcept { return exposed || (home && has_left(queue)); }
    bool is_known() const noexcept { return last && !is_exposed(); }
    /// An earlier question found that all commands had ended.
    bool has_ended() const noexcept { return !own && !is_exposed(); }
    bool has_own_work() noexcept;
    bool is_busy() const noexcept;
    sycl::event marker() const { return is_known() ? *last : usmx::marker(queue); }
  };

  /// Commands of the memory's previous owner.
  struct former_use {
    sycl::queue queue;
    sycl::event last;
  };

  void submit_all_deferred() noexcept;
  use& find_use(const sycl::queue& queue);
  void end_use(const sycl::queue& queue, const sycl::event* last) noexcept;
  void come_after_former(const sycl::queue& queue);
  void note_exposed(const sycl::queue& queue, const sycl::queue& home);
  void end_view() noexcept { views_.fetch_sub(1, std::memory_order_acq_rel); }
  /// With the lock: what was found to have ended is not asked about again.
  void forget_ended() noexcept;
  std::vector<use> take_uses() noexcept;
  std::vector<use> own_uses() noexcept;
  /// This memory came back: it is that of `original`, where its uses are kept from now on.
  void share(std::shared_ptr<owner> original) noexcept;
  void leave_original() noexcept;

  std::byte* base_;
  std::size_t bytes_;
  bool borrowed_;
  std::atomic<bool> used_{false};
  std::atomic<bool> worked_{false};  // some use is ours
  std::atomic<bool> exposed_{false};
  static constexpr std::uint32_t lasting_view = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> views_{0};  // of the host: how many live, and whether one has no end
  std::atomic<bool> deferred_{false};  // `later_` is not empty; `used_` and `worked_` are set then
  std::mutex mutex_;
  std::vector<use> uses_;
  std::vector<std::weak_ptr<deferred_use>> later_;
  std::unique_ptr<former_use> former_;
  std::atomic<bool> known_{false};
  std::atomic<std::uint32_t> sharing_{0};  // how many owners have this one as their `original_`
  std::shared_ptr<owner> original_;
  owner* next_ = nullptr;             // in the list of deferred owners
  std::vector<sycl::event> pending_;  // the markers it waits for there
};

/// The reference of arrays. Made by `own`, so that the last release goes through `retire`.
///
/// Memory of another library that is ours, come back from it, has one record of uses and views with
/// ours: the reference keeps what was given, but points to the owner that was there before.
using shared_owner = std::shared_ptr<owner>;
shared_owner own(std::unique_ptr<owner> o);
/// Call before the address of the memory leaves to code that may bring it back: it is then found.
/// `host_access` does. Costs a look if it was called before.
void address_leaves(const shared_owner& memory) noexcept;
/// The owner that the reference keeps, which is not the one that it points to where memory came
/// back. Null for null.
const owner* kept_by(const shared_owner& memory) noexcept;
inline bool came_back(const shared_owner& memory) noexcept {
  return kept_by(memory) != memory.get();
}

/// As long as it lives, code that knows nothing of queues may read and write the memory on the
/// host: each command that uses the memory is waited for where it is submitted. It keeps the
/// memory.
class host_access {
 public:
  host_access() = default;
  /// Submits what was deferred and does not wait: call `wait` on the owner after it.
  explicit host_access(shared_owner memory) noexcept : memory_(std::move(memory)) {
    if (!memory_) return;
    address_leaves(memory_);
    memory_->views_.fetch_add(1, std::memory_order_acq_rel);
    memory_->submit_deferred();
  }
  host_access(host_access&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  host_access& operator=(host_access&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~host_access() { end(); }
  /// The view is over.
  void end() noexcept {
    if (!memory_) return;
    memory_->end_view();
    memory_.reset();
  }

 private:
  shared_owner memory_;
};

/// Memory from a resource. Throws what `allocate` throws.
shared_owner allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                      std::size_t alignment = default_alignment);

/// The same without waiting, see memory_resource::try_allocate; null if `allocate` has to be
/// called. Never throws allocation_error, but may throw std::bad_alloc.
shared_owner try_allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                          std::size_t alignment = default_alignment);
/// The same for commands on `queue`, which may get memory that its earlier commands still use.
/// They run before all that `used_on` records. Call `wait`, which waits for them, before other use.
shared_owner allocate(std::shared_ptr<memory_resource> resource, const sycl::queue& queue,
                      std::size_t bytes, std::size_t alignment = default_alignment);

/// Memory for commands on `queue`, from the default resource for it: all arrays and memory objects
/// are allocated by this. The host may write to shared and host memory at once, because it is idle.
/// Device memory is used by commands only, and earlier ones on `queue` may still use it, as above.
/// Throws what `default_resource` and `allocate` throw.
shared_owner allocate(const sycl::queue& queue, usm_kind kind, std::size_t bytes,
                      std::size_t alignment = default_alignment);

/// Foreign memory: `deleter(base)` runs exactly once, after the last array was destroyed and the
/// commands on the memory have ended. It must not throw and must not call Python without the GIL.
/// Memory of ours that came back shares the owner that it has, see `shared_owner`.
shared_owner adopt(void* base, std::size_t bytes, std::function<void(void*)> deleter);

/// Frees deferred memory that has become idle; returns how many allocations still wait. Every
/// allocation does that for a few of them, so that programs need not call it.
std::size_t collect() noexcept;
/// `call` runs when an owner is deferred that only `collect` can process, on the thread of the last
/// reference: that may be one of the runtime's, so `call` must only notify another thread, which
/// collects. Null removes it.
void call_when_put_aside(void (*call)() noexcept) noexcept;
/// Waits for all deferred memory and frees it. Call it before a program ends while commands are
/// still running; the Python package does.
void drain() noexcept;

}  // namespace usmx
