// When bytes may go: the last release hands them to their resource at once if no queue uses them,
// and otherwise puts them aside behind a marker, so that nobody waits and nothing is freed in
// flight.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <sycl/event.hpp>
#include <sycl/exception.hpp>

#include "fork_guard.hpp"
#include "queue_rooms.hpp"
#include "traced_queue.hpp"
#include "usmx/memory.hpp"
#include "usmx/wait.hpp"

namespace usmx {

// --- one piece of the heap for an owner and its reference count

namespace detail {

/// Stands before each owner. Goes when both are gone: the owner may be put aside after the last
/// reference, and a weak reference may outlive the owner.
struct owner_cell {
  static constexpr std::size_t room = 48;

  std::atomic<unsigned> users{1};
  alignas(std::max_align_t) std::byte count[room];

  static owner_cell& of(void* p) noexcept { return static_cast<owner_cell*>(p)[-1]; }

  void leave() noexcept {
    // The last one is alone and need not count.
    if (users.load(std::memory_order_acquire) != 1 &&
        users.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    this->~owner_cell();
    ::operator delete(this);
  }
};

}  // namespace detail

void* owner::operator new(std::size_t bytes) {
  void* const p = ::operator new(sizeof(detail::owner_cell) + bytes);
  return ::new (p) detail::owner_cell + 1;
}

void owner::operator delete(void* p) noexcept {
  if (p != nullptr) detail::owner_cell::of(p).leave();
}

namespace {

/// Gives a shared_ptr the room in the cell for its count.
template <class T>
struct in_cell {
  using value_type = T;
  detail::owner_cell* cell;

  explicit in_cell(detail::owner_cell& c) noexcept : cell(&c) {}
  template <class U>
  in_cell(const in_cell<U>& other) noexcept : cell(other.cell) {}
  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= detail::owner_cell::room, "the count needs more room");
    cell->users.store(2, std::memory_order_relaxed);  // nobody else has seen it yet
    return reinterpret_cast<T*>(cell->count);
  }
  void deallocate(T*, std::size_t) noexcept { cell->leave(); }
  template <class U>
  bool operator==(const in_cell<U>& other) const noexcept {
    return cell == other.cell;
  }
};

/// Far more queues than anybody computes on at once. Only a program that makes queues without end
/// passes it, and then those that are idle are forgotten.
constexpr std::size_t most_queues = 64;

}  // namespace

owner::use& owner::find_use(const sycl::queue& queue) {
  const auto known = std::ranges::find(uses_, queue, &use::queue);
  if (known != uses_.end()) return *known;
  if (uses_.size() >= most_queues) {
    std::erase_if(uses_, [](const use& u) { return u.open == 0 && !u.is_busy(); });
  }
  return uses_.emplace_back(use{.queue = queue, .last = {}});
}

void owner::inherit(const sycl::queue& queue, const sycl::event& last) {
  former_ = std::make_unique<former_use>(former_use{queue, last});
  // As if they were commands of ours: who waits for the bytes waits for them as well.
  uses_.push_back({.queue = queue, .own = true, .last = last});
  worked_.store(true, std::memory_order_release);
  used_.store(true, std::memory_order_release);
}

void owner::come_after_former(const sycl::queue& queue) {
  if (queue == former_->queue) return;
  if (is_done(former_->last)) {
    former_.reset();
  } else {
    sycl::queue(queue).ext_oneapi_submit_barrier({former_->last});
  }
}

void owner::used_on(const sycl::queue& queue) {
  const std::scoped_lock lock(mutex_);
  if (former_) come_after_former(queue);
  use& u = find_use(queue);
  u.own = true;
  u.overlapped = u.open > 0;
  ++u.open;
  u.last.reset();
  worked_.store(true, std::memory_order_release);
  used_.store(true, std::memory_order_release);
}

void owner::end_use(const sycl::queue& queue, const sycl::event* last) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find(uses_, queue, &use::queue);
  if (known == uses_.end() || known->open == 0 || --known->open != 0) return;
  // Only an in-order queue is done with everything when it is done with the last.
  if (last && !known->overlapped && queue.is_in_order()) known->last = *last;
}

void owner::exposed_on(const sycl::queue& queue) {
  const std::scoped_lock lock(mutex_);
  if (former_) come_after_former(queue);
  note_exposed(queue);
}

bool owner::use::has_own_work() const noexcept {
  if (!own) return false;
  return last ? !is_done(*last) : !is_idle(queue);
}

bool owner::use::is_busy() const noexcept { return is_known() ? !is_done(*last) : !is_idle(queue); }

void owner::wait() {
  if (!used_.load(std::memory_order_acquire)) return;
  std::vector<use> uses;
  {
    const std::scoped_lock lock(mutex_);
    uses = uses_;
  }
  for (const use& u : uses) {
    if (!u.is_known()) {
      usmx::wait(u.queue);
    } else if (!is_done(*u.last)) {
      usmx::wait(*u.last, u.queue);
    }
  }
}

bool owner::busy() noexcept {
  if (!used_.load(std::memory_order_acquire)) return false;
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(uses_, &use::is_busy);
}

bool owner::has_own_work() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return false;
  const std::scoped_lock lock(mutex_);
  bool worth_asking_again = false;
  for (use& u : uses_) {
    if (u.has_own_work()) return true;
    // Done once is done for good, unless somebody is about to submit more: then it is asked again.
    u.own &= u.open > 0;
    worth_asking_again |= u.own;
  }
  worked_.store(worth_asking_again, std::memory_order_relaxed);
  return false;
}

std::vector<owner::use> owner::take_uses() noexcept {
  if (!used_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  used_.store(false, std::memory_order_relaxed);
  return std::exchange(uses_, {});
}

namespace detail {

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

/// The owners whose bytes are still in use.
class retire_list final : public fork_guarded {
 public:
  static retire_list& instance() {
    // Never destroyed: the last arrays may die after every static object.
    static auto* const list = [] {
      auto* const made = new retire_list;
      guard(*made, rank::retired);
      return made;
    }();
    return *list;
  }

  /// The end of the last reference.
  void retire(owner* o) noexcept {
    if (!o->used_.load(std::memory_order_acquire) && o->pending_.empty()) return o->dispose();
    const owner::use* busy = nullptr;
    const std::vector<owner::use> uses = o->take_uses();
    for (const owner::use& u : uses) {
      if (mark(o->pending_, u)) busy = &u;
    }
    if (o->pending_.empty()) return o->dispose();
    // Others may submit more where they have the address; commands of ours are all submitted.
    if (o->pending_.size() == 1 && !busy->exposed && busy->queue.is_in_order() &&
        o->release_behind(busy->queue, o->pending_.front())) {
      delete o;
      return;
    }
    const std::scoped_lock lock(mutex_);
    waiting_.fetch_add(1, std::memory_order_release);
    list_.push(o);
  }

  bool has_waiting() const noexcept { return waiting_.load(std::memory_order_acquire) != 0; }

  /// Looks at up to `most` owners and frees those that are idle. The others go to the back, so that
  /// one slow queue does not hide what waits behind it.
  std::size_t sweep(std::size_t most) noexcept {
    if (!has_waiting()) return 0;
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
  /// Adds an event that comes after every command of this use unless that has passed already; waits
  /// right here if there is none to have. True if it was added.
  static bool mark(std::vector<sycl::event>& pending, const owner::use& use) noexcept {
    try {
      pending.reserve(pending.size() + 1);
      sycl::event marker = use.marker();
      if (is_done(marker)) return false;
      pending.push_back(std::move(marker));
      return true;
    } catch (...) {
      try {
        wait(use.queue);
      } catch (...) {  // a queue that cannot even wait runs nothing any more
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

  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork(bool in_child) noexcept override {
    if (in_child) {
      // Lost with whatever the parent's commands still do to them.
      list_ = {};
      waiting_.store(0, std::memory_order_release);
    }
    mutex_.unlock();
  }

  void finish_all(owner_chain& owners) noexcept {
    while (!owners.empty()) {
      owners.pop()->dispose();
      // Counted down only now: a count of zero promises that the bytes are back.
      waiting_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::atomic<std::size_t> waiting_{0};
  std::mutex mutex_;
  owner_chain list_;
};

}  // namespace detail

namespace {

class resource_owner final : public owner {
 public:
  // Allocates in the base's initialiser: whatever throws here, nothing is lost.
  resource_owner(std::shared_ptr<memory_resource>&& resource, std::size_t bytes,
                 std::size_t alignment)
      : owner(resource->allocate(bytes, alignment), bytes, false),
        resource_(std::move(resource)),
        alignment_(alignment) {}
  /// Of bytes that were allocated; what throws is `new`, before this.
  resource_owner(void* base, std::shared_ptr<memory_resource>&& resource, std::size_t bytes,
                 std::size_t alignment) noexcept
      : owner(base, bytes, false), resource_(std::move(resource)), alignment_(alignment) {}

  /// Takes a block that `pending` says may be in use on `queue`.
  resource_owner(std::shared_ptr<memory_resource>&& resource, std::size_t bytes,
                 std::size_t alignment, const sycl::queue& queue,
                 std::optional<sycl::event>&& pending)
      : owner(resource->allocate_on(queue, bytes, alignment, pending), bytes, false),
        resource_(std::move(resource)),
        alignment_(alignment) {
    if (!pending) [[likely]]
      return;
    try {
      inherit(queue, *pending);
    } catch (...) {
      if (!release_behind(queue, *pending)) {
        detail::wait_quietly(*pending);
        release();
      }
      throw;
    }
  }

  void release() noexcept override {
    if (released_) return;
    const traced record = recorded();
    resource_->deallocate(base(), bytes(), alignment_);
  }

 private:
  traced recorded() const noexcept {
    return traced(trace_action::deallocate, [&] {
      return detail::traced_on(resource_->device(),
                               {.bytes = bytes(), .address = base(), .kind = resource_->kind()});
    });
  }
  bool release_behind(const sycl::queue& queue, const sycl::event& last) noexcept override {
    traced record = recorded();
    const bool is_kept = resource_->deallocate_on(queue, last, base(), bytes(), alignment_);
    if (!is_kept) record.cancel();
    return is_kept;
  }
  bool do_try_release() noexcept override {
    if (is_traced()) return false;  // what is recorded goes the long way
    return released_ = released_ || resource_->try_deallocate(base(), bytes(), alignment_);
  }

  std::shared_ptr<memory_resource> resource_;
  std::size_t alignment_;
  bool released_ = false;
};

class adopted_owner final : public owner {
 public:
  adopted_owner(void* base, std::size_t bytes, std::function<void(void*)>&& deleter) noexcept
      : owner(base, bytes), deleter_(std::move(deleter)) {}

  void release() noexcept override {
    if (deleter_) deleter_(base());
  }

 private:
  std::function<void(void*)> deleter_;
};

/// No lambda, whose size the standard leaves open: the count must fit into its cell.
struct end_of_last {
  void operator()(owner* last) const noexcept { detail::retire_list::instance().retire(last); }
};

/// How many of the waiting owners one allocation looks at: it must stay cheap behind a slow queue.
constexpr std::size_t looked_at = 8;

}  // namespace

shared_owner own(std::unique_ptr<owner> o) {
  // The beginning of what `operator new` gave, where the cell is found.
  in_cell<owner> room(detail::owner_cell::of(dynamic_cast<void*>(o.get())));
  return shared_owner(o.release(), end_of_last{}, room);
}

shared_owner allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                      std::size_t alignment) {
  detail::retire_list::instance().sweep(looked_at);
  traced record(trace_action::allocate, [&] {
    return detail::traced_on(resource->device(), {.bytes = bytes, .kind = resource->kind()});
  });
  auto made = std::make_unique<resource_owner>(std::move(resource), bytes, alignment);
  record.at(made->base());
  return own(std::move(made));
}

shared_owner try_allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                          std::size_t alignment) {
  if (is_traced() || detail::retire_list::instance().has_waiting()) return {};
  void* const p = resource->try_allocate(bytes, alignment);
  if (p == nullptr) return {};
  try {
    // Moves from the resource only if `new`, which comes first, has not thrown.
    return own(std::make_unique<resource_owner>(p, std::move(resource), bytes, alignment));
  } catch (...) {
    resource->deallocate(p, bytes, alignment);
    throw;
  }
}

shared_owner allocate(std::shared_ptr<memory_resource> resource, const sycl::queue& queue,
                      std::size_t bytes, std::size_t alignment) {
  detail::retire_list::instance().sweep(looked_at);
  traced record(trace_action::allocate, [&] {
    return detail::traced_on(queue, {.bytes = bytes, .kind = resource->kind()});
  });
  auto made = std::make_unique<resource_owner>(std::move(resource), bytes, alignment, queue,
                                               std::optional<sycl::event>());
  record.at(made->base());
  return own(std::move(made));
}

shared_owner adopt(void* base, std::size_t bytes, std::function<void(void*)> deleter) {
  std::unique_ptr<owner> o;
  try {
    o = std::make_unique<adopted_owner>(base, bytes, std::move(deleter));
  } catch (...) {
    if (deleter) deleter(base);  // not moved from: the constructor cannot throw, only `new` can
    throw;
  }
  return own(std::move(o));
}

std::size_t collect() noexcept {
  const std::size_t put_aside =
      detail::retire_list::instance().sweep(std::numeric_limits<std::size_t>::max());
  return put_aside + detail::collect_rooms();
}

void drain() noexcept {
  detail::retire_list::instance().drain();
  detail::drain_rooms();
}

}  // namespace usmx
