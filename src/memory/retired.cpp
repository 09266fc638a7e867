// When memory may be freed: the last release frees it at once if no queue uses it, and otherwise
// defers that behind a marker, so that no thread waits and no memory is freed while in use.
// On a thread of the runtime it does neither, see docs/decisions/0002.
// SPDX-License-Identifier: Apache-2.0
#include "memory/retired.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <sycl/event.hpp>

#include "core/fork_guard.hpp"
#include "memory/queue_rooms.hpp"
#include "runtime/driver_gate.hpp"
#include "usmx/memory.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {

/// First in, first out, linked through the owners themselves: adding one cannot fail.
class owner_chain {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push(owner* o) noexcept {
    o->next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = o;
    last_ = o;
  }
  owner* pop() noexcept {
    owner* const o = first_;
    first_ = o->next_;
    if (first_ == nullptr) last_ = nullptr;
    return o;
  }

 private:
  owner* first_ = nullptr;
  owner* last_ = nullptr;
};

/// The owners whose memory is still in use.
class retire_list final : public fork_guarded {
 public:
  static retire_list& instance() {
    // Never destroyed: the last arrays may be destroyed after every static object.
    static auto& only = *new retire_list;
    return only;
  }

  /// Called when the last reference was dropped. This may be a thread of the runtime, inside
  /// another library's host task: the scheduler is locked until that task ends, so a call into it
  /// from there, or one that keeps the GIL, would wait for ever. Such owners are processed by a
  /// thread that allocates, collects or drains.
  void retire(owner* o) noexcept {
    if (on_own_thread() && !needs_scheduler(*o)) return settle(o);
    waiting_.fetch_add(1, std::memory_order_release);
    owner* before = unsettled_.load(std::memory_order_relaxed);
    do {
      o->next_ = before;
    } while (!unsettled_.compare_exchange_weak(before, o, std::memory_order_release,
                                               std::memory_order_relaxed));
    // The owner may be gone by now. One call covers all owners added before it collects.
    const auto call = put_aside_call_.load(std::memory_order_acquire);
    if (before == nullptr && call != nullptr) call();
  }

  void call_when_put_aside(void (*call)() noexcept) noexcept {
    put_aside_call_.store(call, std::memory_order_release);
  }

  bool has_waiting() const noexcept { return waiting_.load(std::memory_order_acquire) != 0; }

  /// Checks up to `most` owners and frees those that are idle. The others move to the back, so that
  /// one slow queue does not block those behind it.
  std::size_t sweep(std::size_t most) noexcept {
    if (!has_waiting()) return 0;
    settle_all();
    owner_chain idle;
    {
      const std::scoped_lock lock(mutex_);
      owner_chain busy;
      for (; most != 0 && !list_.empty(); --most) {
        owner* const o = list_.pop();
        (has_passed(o->pending_) ? idle : busy).push(o);
      }
      while (!busy.empty()) list_.push(busy.pop());
    }
    finish_all(idle);
    return waiting_.load(std::memory_order_acquire);
  }

  void drain() noexcept {
    if (in_forked_child()) {
      sweep(std::numeric_limits<std::size_t>::max());
      return;
    }
    for (;;) {
      settle_all();
      owner_chain all;
      {
        const std::scoped_lock lock(mutex_);
        std::swap(all, list_);
      }
      if (all.empty()) return;
      owner_chain passed;
      while (!all.empty()) {
        owner* const o = all.pop();
        for (const sycl::event& e : o->pending_) detail::wait_quietly(e);
        passed.push(o);
      }
      finish_all(passed);
    }
  }

 private:
  /// Only a marker can tell when some use ends, and an out-of-order queue has to schedule it.
  static bool needs_scheduler(const owner& o) noexcept {
    // The record of memory that came back is in use: its lock may not be waited for here.
    if (o.original_) return o.original_->try_own_work().value_or(true);
    return std::ranges::any_of(o.uses_, [](const owner::use& u) {
      return !u.has_ended() && !u.is_known() && !u.queue.is_in_order();
    });
  }

  /// The other reference to its memory goes first, so that the owner's may be the last.
  static void end(owner* o) noexcept {
    o->leave_original();
    o->dispose();
  }

  /// Releases an owner that no queue uses; defers the others behind their queues.
  void settle(owner* o) noexcept {
    if (!o->used_.load(std::memory_order_acquire) && !o->original_ && o->pending_.empty()) {
      return end(o);
    }
    const owner::use* busy = nullptr;
    // Of memory that came back, its library orders what others do.
    const std::vector<owner::use> uses = o->original_ ? o->original_->own_uses() : o->take_uses();
    for (const owner::use& u : uses) {
      if (mark(o->pending_, u)) busy = &u;
    }
    if (o->pending_.empty()) return end(o);
    // Others that have the address may submit more; commands of ours are all submitted.
    if (o->pending_.size() == 1 && !busy->is_exposed() && busy->queue.is_in_order() &&
        o->release_behind(busy->queue, o->pending_.front())) {
      delete o;
      return;
    }
    const std::scoped_lock lock(mutex_);
    waiting_.fetch_add(1, std::memory_order_release);
    list_.push(o);
  }

  /// In the order in which they came.
  void settle_all() noexcept {
    owner* newest = unsettled_.exchange(nullptr, std::memory_order_acquire);
    owner* oldest = nullptr;
    while (newest != nullptr) {
      owner* const next = std::exchange(newest->next_, oldest);
      oldest = std::exchange(newest, next);
    }
    while (oldest != nullptr) {
      settle(std::exchange(oldest, oldest->next_));
      // Decremented only now: a count of zero promises that the memory is freed.
      waiting_.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Adds an event that comes after every command of this use unless it has completed already;
  /// waits here if no event is available. True if it was added.
  static bool mark(std::vector<sycl::event>& pending, const owner::use& use) noexcept {
    if (use.has_ended()) return false;
    try {
      pending.reserve(pending.size() + 1);
      sycl::event marker = use.marker();
      if (is_done(marker)) return false;
      pending.push_back(std::move(marker));
      return true;
    } catch (...) {
      try {
        usmx::wait(use.queue);
      } catch (...) {  // a queue that cannot even wait runs no commands any more
      }
      return false;
    }
  }

  static bool has_passed(std::vector<sycl::event>& pending) noexcept {
    while (!pending.empty()) {
      if (!detail::has_passed(pending.back())) return false;
      pending.pop_back();
    }
    return true;
  }

  retire_list() { guard(*this, rank::retired); }
  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork(bool in_child) noexcept override {
    if (in_child) {
      // Dropped, because the parent's commands may still use them.
      list_ = {};
      unsettled_.store(nullptr, std::memory_order_relaxed);
      waiting_.store(0, std::memory_order_release);
    }
    mutex_.unlock();
  }

  void finish_all(owner_chain& owners) noexcept {
    while (!owners.empty()) {
      end(owners.pop());
      // Decremented only now: a count of zero promises that the memory is freed.
      waiting_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::atomic<std::size_t> waiting_{0};
  std::atomic<owner*> unsettled_{nullptr};  // newest first; a stack needs no lock and no memory
  std::atomic<void (*)() noexcept> put_aside_call_{nullptr};
  std::mutex mutex_;
  owner_chain list_;
};

static const auto& at_load = retire_list::instance();  // see guard() in fork_guard.hpp

void retire(owner* last) noexcept { retire_list::instance().retire(last); }
bool has_retired() noexcept { return retire_list::instance().has_waiting(); }
std::size_t sweep_retired(std::size_t most) noexcept { return retire_list::instance().sweep(most); }
void drain_retired() noexcept { retire_list::instance().drain(); }

}  // namespace usmx::detail

namespace usmx {

void call_when_put_aside(void (*call)() noexcept) noexcept {
  detail::retire_list::instance().call_when_put_aside(call);
}

}  // namespace usmx
