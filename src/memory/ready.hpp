// Whether the host may touch memory at once, asked as cheaply as can be, and the wait until it may.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <sycl/properties/queue_properties.hpp>

#include "usmx/array.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {

/// Somebody may have submitted commands on these elements and told nobody but the queue.
inline bool is_known_by_queue_only(const array& a) {
  return !a.keep_alive() || a.keep_alive()->is_lent();
}

/// Everything that was submitted for these elements is done, whoever submitted it: named uses of
/// the memory and, where its makers name none to us, whatever is in the queue they gave.
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

/// Up to here a host copy of shared memory is cheaper than any command, even if pages have to move.
inline constexpr std::size_t small_bytes = 16 * 1024;

/// From here the driver of a CPU device, with a thread for each core, copies faster than the host
/// does with one. On two cores it took 0.6 of the host's time from 4 MiB on, and more below 2 MiB.
inline constexpr std::size_t large_bytes = std::size_t{4} << 20;

/// Whether the host does it at once although nobody waits. Who measures gets a command to measure.
inline bool is_quick(const sycl::queue& queue, std::size_t bytes,
                     std::span<const sycl::event> depends) {
  return bytes <= small_bytes && is_ready(depends) &&
         !queue.has_property<sycl::property::queue::enable_profiling>();
}

}  // namespace usmx::detail
