// The only implementation of waiting and of queries for completion: the runtime's own crash or
// hang on some drivers when several threads use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <type_traits>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

namespace usmx {

/// True if the command has finished, failed or not. Never throws: unknown counts as not done.
bool is_done(const sycl::event& event) noexcept;

/// Waits for a command, for several, or for all commands of a queue so far. Throws their
/// asynchronous errors. Hold no lock that another thread needs for its own commands.
void wait(const sycl::event& event);
void wait(std::span<const sycl::event> events);
/// The same for an event of this queue: for an in-order queue, threads need not wait for each
/// other.
void wait(const sycl::event& event, const sycl::queue& submitted_to);
void wait(const sycl::queue& queue);

/// An event that completes when all commands of the queue so far have ended. Costs the
/// submission of a marker: about 1 us on an in-order queue, 2 us on others. Throws sycl::exception.
sycl::event marker(const sycl::queue& queue);

/// True if no command of the queue is waiting or running. Never throws: unknown counts as busy.
bool is_idle(const sycl::queue& queue) noexcept;

/// Call before the handle of the queue leaves, alone and not with the address of memory, as in a
/// capsule or as a native handle: others may submit commands to it from now on.
void leaves(const sycl::queue& queue) noexcept;
/// Whether it was called for the queue; true also for a few queues for which it was not.
bool has_left(const sycl::queue& queue) noexcept;
/// Call before a native handle of the queue leaves: of commands that come by it the runtime does
/// not know, so `is_idle` asks by a command of its own from now on.
void leaves_natively(const sycl::queue& queue) noexcept;

namespace detail {
/// For languages with a lock that a thread holds while it runs, as Python's: `run(wait)` calls
/// `wait()` without it. Commands of others may need that lock before they end.
void set_unlocked(void (*run)(void (*wait)(void*), void*)) noexcept;
void run_unlocked(void (*wait)(void*), void* of);

/// Calls `wait()`, which may wait for commands of others or ask their queues.
template <class Wait>
void unlocked(Wait&& wait) {
  run_unlocked([](void* of) { (*static_cast<std::remove_reference_t<Wait>*>(of))(); }, &wait);
}
}  // namespace detail

}  // namespace usmx
