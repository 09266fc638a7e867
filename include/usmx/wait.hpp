// The only implementation of waiting and of queries for completion: the runtime's own crash or
// hang on some drivers when several threads use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

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

}  // namespace usmx
