// Whether the host may access memory at once, as a cheap query, and the wait until it may.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <sycl/properties/queue_properties.hpp>

#include "usmx/array.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {

/// Commands on these elements may have been submitted that only the queue knows.
inline bool is_known_by_queue_only(const array& a) {
  return !a.keep_alive() || a.keep_alive()->is_lent();
}

/// All commands on these elements have ended, of all libraries: recorded uses of the memory and,
/// for memory of other libraries, which record none, all commands of the queue that came with it.
inline void wait_for(const array& a) {
  a.wait();
  if (is_known_by_queue_only(a)) usmx::wait(a.queue());
}

/// True if `wait_for` would not wait.
inline bool is_ready(const array& a) {
  if (a.keep_alive() && a.keep_alive()->busy()) return false;
  return !is_known_by_queue_only(a) || is_idle(a.queue());
}

inline bool is_ready(std::span<const sycl::event> events) {
  return std::ranges::all_of(events, [](const sycl::event& e) { return is_done(e); });
}

/// Up to this size a host copy of shared memory is cheaper than a command, even if pages migrate.
inline constexpr std::size_t small_bytes = 16 * 1024;

/// From this size the driver of a CPU device, with a thread per core, copies faster than the host
/// with one. On two cores it took 0.6 of the host's time from 4 MiB on, and more below 2 MiB.
inline constexpr std::size_t large_bytes = std::size_t{4} << 20;

/// Whether the host does an asynchronous copy at once. A queue with profiling gets a command.
inline bool is_quick(const sycl::queue& queue, std::size_t bytes,
                     std::span<const sycl::event> depends) {
  return bytes <= small_bytes && is_ready(depends) &&
         !queue.has_property<sycl::property::queue::enable_profiling>();
}

}  // namespace usmx::detail
