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
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

#include <sycl/backend_types.hpp>

#include <sycl/exception.hpp>
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

/// All devices of a backend wait in the same way.
bool waits_in_turn(const sycl::queue& queue) {
  return detail::backend_row_of(queue.get_backend()).waits_in_turn;
}

}  // namespace

bool is_done(const sycl::event& event) noexcept {
  try {
    return event.get_info<sycl::info::event::command_execution_status>() ==
           sycl::info::event_command_status::complete;
  } catch (...) {
    return false;
  }
}

void wait(const sycl::event& event) {
  const detail::driver_entry inside;
  const traced record(trace_action::wait, [] { return trace_subject{}; });
  sycl::event held = event;
  // An event without a command has no backend either.
  if (is_done(held) || !detail::backend_row_of(held.get_backend()).waits_in_turn) {
    return held.wait_and_throw();
  }
  wait_in_turn<only_seat>(held, [&] { held.wait_and_throw(); });
}

void wait(const sycl::event& event, const sycl::queue& submitted_to) {
  const detail::driver_entry inside;
  const traced record(trace_action::wait, [&] { return detail::traced_on(submitted_to, {}); });
  if (waits_in_turn(submitted_to) && submitted_to.is_in_order()) {
    wait_in_turn<shared_seat>(event, [held = event]() mutable { held.wait_and_throw(); });
    return;
  }
  if (waits_in_turn(submitted_to)) linger(submitted_to);
  wait(event);
}

void wait(std::span<const sycl::event> events) {
  for (const sycl::event& event : events) wait(event);
}

namespace detail {

void wait(const sycl::queue& queue, const backend_row& backend) {
  const driver_entry inside;
  const traced record(trace_action::wait, [&] { return traced_on(queue, {}); });
  sycl::queue held = queue;
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

bool is_idle(const sycl::queue& queue, const backend_row& backend) noexcept {
  try {
    const driver_entry inside;
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

}  // namespace usmx
