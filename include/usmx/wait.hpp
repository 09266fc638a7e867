// The one way to wait for SYCL and to ask whether it is done: what the runtime offers crashes or
// hangs on some drivers as soon as several threads use it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

namespace usmx {

/// True if the command has finished, failed or not. Never throws: unknown counts as not done.
bool is_done(const sycl::event& event) noexcept;

/// Waits for a command, for several, or for all that a queue has been given so far. Throws their
/// asynchronous errors. Hold no lock that another thread needs to get on with its own commands.
void wait(const sycl::event& event);
void wait(std::span<const sycl::event> events);
/// The same for an event of this queue: an in-order queue needs no care, so threads do not take
/// turns.
void wait(const sycl::event& event, const sycl::queue& submitted_to);
void wait(const sycl::queue& queue);

/// An event that is done when all commands that the queue has been given so far are. Costs the
/// submission of a marker: about 1 us on an in-order queue, 2 us on others. Throws sycl::exception.
sycl::event marker(const sycl::queue& queue);

/// True if no command of the queue is waiting or running. Never throws: unknown counts as busy.
bool is_idle(const sycl::queue& queue) noexcept;

}  // namespace usmx
