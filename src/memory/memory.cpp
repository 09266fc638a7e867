// Owners of memory and the queues that use it; retired.cpp decides when it may be freed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <sycl/event.hpp>
#include <sycl/exception.hpp>

#include "memory/known_owners.hpp"
#include "memory/queue_rooms.hpp"
#include "memory/retired.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "runtime/wait_forms.hpp"
#include "usmx/memory.hpp"
#include "usmx/wait.hpp"

namespace usmx {

// --- one heap allocation for an owner and its reference count

namespace detail {

/// Precedes each owner. Freed when both are gone: the owner may be deferred after the last
/// reference, and a weak reference may outlive the owner.
struct owner_cell {
  static constexpr std::size_t room = 48;

  std::atomic<unsigned> users{1};
  alignas(std::max_align_t) std::byte count[room];

  static owner_cell& of(void* p) noexcept { return static_cast<owner_cell*>(p)[-1]; }

  void leave() noexcept {
    // The last one is alone and need not decrement.
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

/// Allocates the control block of a shared_ptr in the cell.
template <class T>
struct in_cell {
  using value_type = T;
  detail::owner_cell* cell;

  explicit in_cell(detail::owner_cell& c) noexcept : cell(&c) {}
  template <class U>
  in_cell(const in_cell<U>& other) noexcept : cell(other.cell) {}
  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= detail::owner_cell::room, "the count needs more room");
    cell->users.store(2, std::memory_order_relaxed);  // no other thread has seen it yet
    return reinterpret_cast<T*>(cell->count);
  }
  void deallocate(T*, std::size_t) noexcept { cell->leave(); }
  template <class U>
  bool operator==(const in_cell<U>& other) const noexcept {
    return cell == other.cell;
  }
};

/// Far more queues than programs use at once. Only a program that makes queues without end
/// exceeds it, and then idle queues are dropped.
constexpr std::size_t most_queues = 64;

}  // namespace

owner::~owner() {
  leave_original();
  if (is_known()) detail::forget_known(*this);
}

owner::use& owner::find_use(const sycl::queue& queue) {
  const auto known = std::ranges::find(uses_, queue, &use::queue);
  if (known != uses_.end()) return *known;
  if (uses_.size() >= most_queues) {
    std::erase_if(uses_, [](const use& u) { return u.open == 0 && !u.is_busy(); });
  }
  return uses_.emplace_back(use{.queue = queue, .last = {}, .former = {}});
}

void owner::inherit(const sycl::queue& queue, const sycl::event& last) {
  former_ = std::make_unique<former_use>(former_use{queue, last});
  // As if they were commands of ours: waiting for the memory waits for them as well.
  uses_.push_back({.queue = queue, .own = true, .last = last, .former = {}});
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

void owner::used_later(std::weak_ptr<deferred_use> what) {
  const std::scoped_lock lock(mutex_);
  // One that ended without a result has nothing to submit.
  if (later_.size() == later_.capacity()) {
    std::erase_if(later_, [](const auto& known) { return known.expired(); });
  }
  later_.push_back(std::move(what));
  deferred_.store(true, std::memory_order_release);
  worked_.store(true, std::memory_order_release);
  used_.store(true, std::memory_order_release);
}

namespace {
thread_local int readers = 0;
}  // namespace

detail::only_reading::only_reading() noexcept { ++readers; }
detail::only_reading::~only_reading() { --readers; }

void owner::submit_all_deferred() noexcept {
  if (readers > 0) return;
  const detail::uninterrupted whole;
  // A view that is computed adds what is made of it.
  while (deferred_.load(std::memory_order_acquire)) {
    std::vector<std::weak_ptr<deferred_use>> all;
    {
      const std::scoped_lock lock(mutex_);
      all = std::exchange(later_, {});
      deferred_.store(false, std::memory_order_release);
    }
    for (const auto& one : all) {
      if (const auto alive = one.lock()) alive->compute();
    }
  }
}

void owner::used_on(const sycl::queue& queue) {
  detail::name_own_thread();
  submit_deferred();
  const detail::driver_entry inside;
  const std::scoped_lock lock(mutex_);
  if (former_) come_after_former(queue);
  use& u = find_use(queue);
  if (u.open == 0) {
    u.had_work = u.own;
    u.former = std::exchange(u.last, std::nullopt);
  }
  u.own = true;
  u.overlapped = u.open > 0;
  ++u.open;
  ++u.begun;
  u.last.reset();
  worked_.store(true, std::memory_order_release);
  used_.store(true, std::memory_order_release);
}

void owner::end_use(const sycl::queue& queue, const sycl::event* last) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find(uses_, queue, &use::queue);
  if (known == uses_.end() || known->open == 0 || --known->open != 0) return;
  const std::optional<sycl::event> former = std::exchange(known->former, std::nullopt);
  // Only on an in-order queue have all commands ended when the last one has.
  if (!last || known->overlapped || !queue.is_in_order()) return;
  if (known->had_work && is_done(*last) && !(former && is_done(*former))) {
    // A command without work, as a copy of no bytes, ends before what was submitted before it.
    try {
      if (!is_done(usmx::marker(queue))) return;
    } catch (...) {
      return;
    }
  }
  known->last = *last;
}

void owner::exposed_on(const sycl::queue& queue) { exposed_on(queue, queue); }

void owner::exposed_on(const sycl::queue& queue, const sycl::queue& home) {
  detail::name_own_thread();
  submit_deferred();
  const detail::driver_entry inside;
  const std::scoped_lock lock(mutex_);
  if (former_) come_after_former(queue);
  note_exposed(queue, home);
}

// --- questions: what a command on another queue waits for; what may be asked without waiting

void owner::pending(const sycl::queue& next, std::vector<sycl::event>& events) {
  if (!used_.load(std::memory_order_acquire)) return;
  submit_deferred();
  const detail::driver_entry inside;
  const std::scoped_lock lock(mutex_);
  for (const use& u : uses_) {
    if (u.has_ended() || (u.queue == next && next.is_in_order())) continue;
    sycl::event last = u.marker();
    if (!is_done(last)) events.push_back(std::move(last));
  }
}

namespace {

/// False if no command is running, true if one is, empty if a queue has to be queried.
template <class Uses, class Ask>
std::optional<bool> any_of_known(Uses& uses, Ask ask) {
  bool all_known = true;
  for (auto& u : uses) {
    const std::optional<bool> at_work = ask(u);
    if (at_work.value_or(false)) return true;
    all_known &= at_work.has_value();
  }
  return all_known ? std::optional(false) : std::nullopt;
}

}  // namespace

// The thread with the lock may be submitting, and wait for a thread that waits for us.
std::optional<bool> owner::try_submitted() noexcept {
  if (!used_.load(std::memory_order_acquire)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  const auto at_work = any_of_known(uses_, [](use& u) -> std::optional<bool> {
    if (u.has_ended()) return false;
    if (!u.is_known()) return {};
    if (!is_done(*u.last)) return true;
    u.own = u.open > 0;  // idle stays idle, and its event is not queried again
    return false;
  });
  forget_ended();
  return at_work;
}

std::optional<bool> owner::try_busy() noexcept {
  if (deferred_.load(std::memory_order_acquire)) return {};
  return try_submitted();
}

std::optional<bool> owner::try_own_work() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || deferred_.load(std::memory_order_acquire)) return {};
  const auto at_work = any_of_known(uses_, [](use& u) -> std::optional<bool> {
    if (!u.own) return false;
    if (!u.last) return {};
    if (!is_done(*u.last)) return true;
    u.own = u.open > 0;  // idle stays idle, and its event is not queried again
    return false;
  });
  forget_ended();
  return at_work;
}

bool owner::try_exposed_on(const sycl::queue& queue, const sycl::queue& home) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || deferred_.load(std::memory_order_acquire)) return false;
  if (former_ && queue != former_->queue) return false;
  note_exposed(queue, home);
  return true;
}

void owner::note_exposed(const sycl::queue& queue, const sycl::queue& home) {
  find_use(queue).exposed = true;
  if (home != queue) find_use(home).home = true;
  exposed_.store(true, std::memory_order_release);
  used_.store(true, std::memory_order_release);
}

void owner::add_exposed_queues(const sycl::queue& last, std::vector<sycl::queue>& queues) {
  if (!exposed_.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(mutex_);
  for (const use& u : uses_) {
    if (!u.is_exposed() || (u.queue == last && last.is_in_order())) continue;
    if (std::ranges::find(queues, u.queue) == queues.end()) queues.push_back(u.queue);
  }
}

bool owner::use::has_own_work() noexcept {
  if (!own) return false;
  if (!last && open == 0 && queue.is_in_order()) {
    // A marker is a command too, which a second one would find at work: one is kept.
    try {
      last = usmx::marker(queue);
    } catch (...) {
      return true;  // it cannot be asked
    }
  }
  return last ? !is_done(*last) : !is_idle(queue);
}

bool owner::use::is_busy() const noexcept {
  if (has_ended()) return false;
  return is_known() ? !is_done(*last) : !is_idle(queue);
}

void owner::wait() {
  detail::name_own_thread();
  if (!used_.load(std::memory_order_acquire)) return;
  submit_deferred();
  std::vector<use> uses;
  {
    const std::scoped_lock lock(mutex_);
    uses = uses_;
  }
  for (const use& u : uses) {
    if (u.has_ended()) continue;
    if (!u.is_known()) {
      usmx::wait(u.queue);
    } else if (!is_done(*u.last)) {
      usmx::wait(*u.last, u.queue);
    }
  }
  const std::scoped_lock lock(mutex_);
  for (use& u : uses_) {
    // Nothing was begun meanwhile: what was waited for is all there is.
    const auto waited = std::ranges::find(uses, u.queue, &use::queue);
    if (waited != uses.end() && waited->begun == u.begun) u.own &= u.open > 0;
  }
  forget_ended();
}

void owner::forget_ended() noexcept {
  const bool later = deferred_.load(std::memory_order_relaxed);
  const bool own = later || std::ranges::any_of(uses_, &use::own);
  const bool used =
      own || std::ranges::any_of(uses_, [](const use& u) { return u.exposed || u.home; });
  worked_.store(own, std::memory_order_release);
  used_.store(used, std::memory_order_release);
}

bool owner::busy() noexcept {
  if (!used_.load(std::memory_order_acquire)) return false;
  submit_deferred();
  return has_commands();
}

bool owner::has_commands() noexcept {
  if (!used_.load(std::memory_order_acquire)) return false;
  const detail::driver_entry inside(std::nothrow);
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(uses_, &use::is_busy);
}

bool owner::has_own_work() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return false;
  submit_deferred();
  return has_submitted_work();
}

bool owner::has_submitted_work() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return false;
  const detail::driver_entry inside(std::nothrow);
  const std::scoped_lock lock(mutex_);
  for (use& u : uses_) {
    if (u.has_own_work()) return true;
    // Idle stays idle, unless another thread is about to submit more: then it is queried again.
    u.own &= u.open > 0;
  }
  forget_ended();
  return false;
}

std::vector<owner::use> owner::own_uses() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  std::vector<use> own;
  std::ranges::copy_if(uses_, std::back_inserter(own), &use::own);
  return own;
}

void owner::share(std::shared_ptr<owner> original) noexcept {
  original->sharing_.fetch_add(1, std::memory_order_acq_rel);
  original_ = std::move(original);
}

void owner::leave_original() noexcept {
  if (!original_) return;
  original_->sharing_.fetch_sub(1, std::memory_order_acq_rel);
  original_.reset();
}

std::vector<owner::use> owner::take_uses() noexcept {
  if (!used_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  used_.store(false, std::memory_order_relaxed);
  return std::exchange(uses_, {});
}

namespace {

class resource_owner final : public owner {
 public:
  // Allocates in the base's initialiser: if this throws, nothing is leaked.
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
    if (is_traced()) return false;  // traced calls take the slow path
    // The block may be another owner's before this one is destroyed.
    if (is_known()) detail::forget_known(*this);
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

/// Not a lambda, whose size is unspecified: the control block must fit into the cell.
struct end_of_last {
  const owner* kept;

  void operator()(owner* last) const noexcept { detail::retire(last); }
};

/// How many deferred owners one allocation checks: it must stay cheap behind a slow queue.
constexpr std::size_t looked_at = 8;

}  // namespace

shared_owner own(std::unique_ptr<owner> o) {
  detail::name_own_thread();
  // The start of the `operator new` allocation, where the cell is.
  in_cell<owner> room(detail::owner_cell::of(dynamic_cast<void*>(o.get())));
  owner* const made = o.get();
  if (made->is_lent()) {
    if (shared_owner known = detail::find_known(made->base(), made->bytes())) {
      made->share(std::move(known));
    }
  }
  shared_owner out(o.release(), end_of_last{made}, room);
  if (!made->original_) return out;
  return {std::move(out), made->original_.get()};
}

const owner* kept_by(const shared_owner& memory) noexcept {
  if (!memory || !memory->is_shared_again()) return memory.get();
  const auto* const end = std::get_deleter<end_of_last>(memory);
  return end == nullptr ? memory.get() : end->kept;
}

shared_owner allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                      std::size_t alignment) {
  const detail::driver_entry inside;
  detail::sweep_retired(looked_at);
  traced record(trace_action::allocate, [&] {
    return detail::traced_on(resource->device(), {.bytes = bytes, .kind = resource->kind()});
  });
  auto made = std::make_unique<resource_owner>(std::move(resource), bytes, alignment);
  record.at(made->base());
  return own(std::move(made));
}

shared_owner try_allocate(std::shared_ptr<memory_resource> resource, std::size_t bytes,
                          std::size_t alignment) {
  if (is_traced() || detail::has_retired()) return {};
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
  const detail::driver_entry inside;
  detail::sweep_retired(looked_at);
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
  detail::name_own_thread();
  const detail::driver_entry inside(std::nothrow);
  const std::size_t put_aside = detail::sweep_retired(std::numeric_limits<std::size_t>::max());
  return put_aside + detail::collect_rooms();
}

void drain() noexcept {
  detail::name_own_thread();
  const detail::driver_entry inside(std::nothrow);
  detail::drain_retired();
  detail::drain_rooms();
}

}  // namespace usmx
