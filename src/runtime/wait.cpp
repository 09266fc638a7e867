// Waiting and queries, in the forms that were found to work with many threads on every driver.
//
// On Intel's OpenCL CPU driver (2026.0), with 8 threads and nothing but SYCL:
//   queue::ext_oneapi_empty  looks at an event that another thread's submission is just releasing
//                            (in-order), or enqueues a marker (out-of-order): crashes;
//   queue::wait              enqueues a marker on an out-of-order queue: crashes;
//   event::wait              on events of out-of-order queues makes the thread join the driver's
//                            task arena; more threads than it has seats wait inside each other
//                            and for each other, for any event: hangs;
//   ~queue                   of an out-of-order queue whose last command is done but still leaving
//                            the driver's worker: the worker destroys the queue, waits for itself.
// Barriers, get_last_event and the status of an event were found safe. docs/decisions/0010.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/wait.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

#include <sycl/backend_types.hpp>

#include <sycl/exception.hpp>
#include <sycl/platform.hpp>

#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "runtime/wait_forms.hpp"

namespace usmx {

namespace {

/// Keeps an out-of-order queue alive until enough others came after it, so that its last command
/// has certainly left the driver's worker when the queue is destroyed.
void linger(const sycl::queue& queue) {
  struct recent {
    std::mutex mutex;
    std::array<std::optional<sycl::queue>, 16> queues;
    std::size_t next = 0;
  };
  static recent& kept = *new recent;          // leaked: queues must not end with the static objects
  std::optional<sycl::queue> oldest = queue;  // ends outside the lock
  const std::scoped_lock lock(kept.mutex);
  if (std::ranges::find(kept.queues, oldest) != kept.queues.end()) return;
  std::swap(oldest, kept.queues[kept.next++ % kept.queues.size()]);
}

/// The seats of the driver's task arena: taken by any number of threads that wait for in-order
/// queues, or by one that waits for another queue.
std::shared_mutex& seats() {
  static auto& mutex = *new std::shared_mutex;  // leaked: threads may wait after static objects end
  return mutex;
}

/// Waits natively, so that the thread helps with the work, if it gets a seat. A thread without a
/// seat polls, so that no thread waits for another's work.
template <class Seat, class Wait>
void wait_in_turn(const sycl::event& last, Wait wait) {
  constexpr std::chrono::microseconds longest{200};
  for (std::chrono::microseconds pause{5}; !is_done(last); pause = std::min(2 * pause, longest)) {
    const Seat seat(seats(), std::try_to_lock);
    if (seat) return wait();
    std::this_thread::sleep_for(pause);
  }
  wait();  // returns at once; throws what has gone wrong
}

using shared_seat = std::shared_lock<std::shared_mutex>;
using only_seat = std::unique_lock<std::shared_mutex>;

/// Throws if a wait of this thread shall end early; null where none may.
using check_function = void (*)();
[[gnu::tls_model("initial-exec")]] constinit thread_local check_function check_while_waiting =
    nullptr;

/// How many parts of this thread's work are not to be left by an interrupted wait.
thread_local int uninterrupted_parts = 0;

/// Of the waits of this thread that may be interrupted: whether the last one was long.
thread_local bool expects_long = true;
constexpr std::chrono::milliseconds is_long{10};
constexpr std::chrono::milliseconds between_checks{50};

/// Waits natively on another thread, where this one cannot be stuck in it. On the CPU device that
/// thread helps with the work, as this one would.
template <class Wait>
void wait_beside(Wait wait_natively) {
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool has_ended = false;
    std::exception_ptr failed;
  };
  const auto state = std::make_shared<shared>();
  std::thread([state, wait_natively]() mutable {
    std::exception_ptr failed;
    try {
      const detail::driver_entry inside;
      wait_natively();
    } catch (...) {
      failed = std::current_exception();
    }
    const std::scoped_lock lock(state->mutex);
    state->failed = failed;
    state->has_ended = true;
    state->changed.notify_one();
  }).detach();
  std::unique_lock lock(state->mutex);
  while (!state->changed.wait_for(lock, between_checks, [&] { return state->has_ended; })) {
    lock.unlock();
    check_while_waiting();
    lock.lock();
  }
  if (state->failed) std::rethrow_exception(state->failed);
}

/// Calls `wait_natively`, on this thread if the wait must not be interrupted, or is expected to be
/// too short for that: a program whose last wait was long does the same again, and another one
/// does not pay for a second thread. See docs/decisions/0056-interrupting-waits.md.
template <class HasEnded, class Wait>
void with_checks(HasEnded has_ended, Wait wait_natively) {
  if (check_while_waiting == nullptr || uninterrupted_parts > 0 || has_ended()) {
    return wait_natively();
  }
  const auto begin = std::chrono::steady_clock::now();
  expects_long ? wait_beside(wait_natively) : wait_natively();
  expects_long = std::chrono::steady_clock::now() - begin > is_long;
}

/// All devices of a backend wait in the same way.
bool waits_in_turn(const sycl::queue& queue) {
  return detail::backend_row_of(queue.get_backend()).waits_in_turn;
}

/// An event cannot be asked which device it is of: that of a host task, which other libraries
/// return, has no context, and the runtime's answer is a segmentation fault. So it waits in turn if
/// any device of this process does.
bool some_device_waits_in_turn() {
  static const bool some = std::ranges::any_of(sycl::platform::get_platforms(), [](const auto& p) {
    return detail::backend_row_of(p.get_backend()).waits_in_turn;
  });
  return some;
}

/// The status of a command: this and waiting are all that may be asked of an event of others.
sycl::info::event_command_status status_of(const sycl::event& event) {
  return event.get_info<sycl::info::event::command_execution_status>();
}

}  // namespace

bool is_done(const sycl::event& event) noexcept {
  try {
    return status_of(event) == sycl::info::event_command_status::complete;
  } catch (...) {
    return false;
  }
}

void wait(const sycl::event& event) {
  const detail::driver_entry inside;
  const traced record(trace_action::wait, [] { return trace_subject{}; });
  const auto has_ended = [&] { return is_done(event); };
  with_checks(has_ended, [held = event]() mutable {
    if (is_done(held) || !some_device_waits_in_turn()) return held.wait_and_throw();
    wait_in_turn<only_seat>(held, [&] { held.wait_and_throw(); });
  });
}

void wait(const sycl::event& event, const sycl::queue& submitted_to) {
  const detail::driver_entry inside;
  const traced record(trace_action::wait, [&] { return detail::traced_on(submitted_to, {}); });
  const auto has_ended = [&] { return is_done(event); };
  with_checks(has_ended, [held = event, submitted_to]() mutable {
    if (!waits_in_turn(submitted_to)) return held.wait_and_throw();
    const auto wait_natively = [&] { held.wait_and_throw(); };
    if (submitted_to.is_in_order()) return wait_in_turn<shared_seat>(held, wait_natively);
    linger(submitted_to);
    wait_in_turn<only_seat>(held, wait_natively);
  });
}

void wait(std::span<const sycl::event> events) {
  for (const sycl::event& event : events) wait(event);
}

namespace detail {

command_status status(const sycl::event& event) {
  switch (status_of(event)) {
    case sycl::info::event_command_status::submitted:
      return command_status::submitted;
    case sycl::info::event_command_status::running:
      return command_status::running;
    case sycl::info::event_command_status::complete:
      return command_status::complete;
    default:
      return command_status::unknown;
  }
}

bool expects_long_waits() noexcept { return expects_long; }

interruptible::interruptible(void (*check)()) noexcept
    : before_(std::exchange(check_while_waiting, check)) {}
interruptible::~interruptible() { check_while_waiting = before_; }

uninterrupted::uninterrupted() noexcept { ++uninterrupted_parts; }
uninterrupted::~uninterrupted() { --uninterrupted_parts; }

namespace {

void wait_for_queue(sycl::queue held, const backend_row& backend) {
  if (!backend.waits_in_turn && (held.is_in_order() || !backend.waits_by_barrier_event)) {
    return held.wait_and_throw();
  }
  if (backend.waits_in_turn && held.is_in_order()) {
    // With a seat the queue itself can be waited for, which is faster than getting its event.
    const shared_seat seat(seats(), std::try_to_lock);
    if (seat) return held.wait_and_throw();
  }
  usmx::wait(marker(held), held);
  held.throw_asynchronous();
}

}  // namespace

void wait(const sycl::queue& queue, const backend_row& backend) {
  const driver_entry inside;
  const traced record(trace_action::wait, [&] { return traced_on(queue, {}); });
  const auto has_ended = [] { return false; };  // a question takes as long as a short wait
  with_checks(has_ended, [queue, &backend] { wait_for_queue(queue, backend); });
}

bool is_idle(const sycl::queue& queue, const backend_row& backend) noexcept {
  try {
    const driver_entry inside;
    if (has_left_natively(queue)) {
      if (const std::optional<bool> answer = is_natively_idle(queue)) return *answer;
    }
    if (!backend.waits_in_turn && (queue.is_in_order() || !backend.waits_by_barrier_event)) {
      return queue.ext_oneapi_empty();
    }
    const sycl::event last = marker(queue);
    // On an out-of-order queue the marker is a separate command and takes a moment.
    for (int looks = queue.is_in_order() ? 1 : 64; looks > 0; --looks) {
      if (is_done(last)) return true;
      std::this_thread::yield();
    }
  } catch (...) {
    // It cannot be queried, so nothing is known.
  }
  return false;
}

}  // namespace detail

void wait(const sycl::queue& queue) {
  detail::wait(queue, detail::backend_row_of(queue.get_backend()));
}

sycl::event marker(const sycl::queue& queue) {
  const detail::driver_entry inside;
  sycl::queue held = queue;
  // Nothing was ever submitted: an event without a command is complete.
  if (held.is_in_order()) return held.ext_oneapi_get_last_event().value_or(sycl::event());
  if (waits_in_turn(held)) linger(held);
  return held.ext_oneapi_submit_barrier();
}

bool is_idle(const sycl::queue& queue) noexcept {
  return detail::is_idle(queue, detail::backend_row_of(queue.get_backend()));
}

// --- queues whose handles left

namespace {

/// A bit for each queue, found by its hash: no lock, no list that grows, and no queue kept alive.
/// Queues that share a bit only cost a question.
class noted_queues {
 public:
  void add(const sycl::queue& queue) noexcept {
    if (may_have(queue)) return;
    const auto [word, bit] = bit_of(queue);
    noted_[word].fetch_or(bit, std::memory_order_acq_rel);
  }
  bool may_have(const sycl::queue& queue) const noexcept {
    const auto [word, bit] = bit_of(queue);
    return (noted_[word].load(std::memory_order_acquire) & bit) != 0;
  }

 private:
  static constexpr std::size_t words = 32;

  static std::pair<std::size_t, std::uint64_t> bit_of(const sycl::queue& queue) noexcept {
    const std::uint64_t mixed =
        static_cast<std::uint64_t>(std::hash<sycl::queue>()(queue)) * 0x9E3779B97F4A7C15U;
    return {(mixed >> 58) % words, std::uint64_t{1} << ((mixed >> 48) & 63U)};
  }

  std::array<std::atomic<std::uint64_t>, words> noted_{};
};

constinit noted_queues left;
constinit noted_queues left_natively;

}  // namespace

void leaves(const sycl::queue& queue) noexcept { left.add(queue); }
bool has_left(const sycl::queue& queue) noexcept { return left.may_have(queue); }

void leaves_natively(const sycl::queue& queue) noexcept {
  left.add(queue);
  left_natively.add(queue);
}

namespace detail {
bool has_left_natively(const sycl::queue& queue) noexcept { return left_natively.may_have(queue); }
}  // namespace detail

// --- locks of languages

namespace detail {
namespace {
std::atomic<void (*)(void (*)(void*), void*)> how_to_unlock{nullptr};
}  // namespace

void set_unlocked(void (*run)(void (*wait)(void*), void*)) noexcept { how_to_unlock.store(run); }

void run_unlocked(void (*wait)(void*), void* of) {
  if (const auto run = how_to_unlock.load()) {
    run(wait, of);
  } else {
    wait(of);
  }
}
}  // namespace detail

}  // namespace usmx
