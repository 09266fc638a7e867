// `collect` and `drain` reach every block of the process that waits for a queue, whichever resource
// keeps it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <sycl/event.hpp>

#include "usmx/memory_resource.hpp"

namespace usmx::detail {

/// Where blocks wait for queues.
class queue_room {
 public:
  /// Returns what has passed to where it came from; how many blocks still wait.
  virtual std::size_t collect() noexcept = 0;
  /// Waits for all of them and returns them.
  virtual void drain() noexcept = 0;
  /// True if some came back to what stands on `source`. Waits for that a moment where enough are on
  /// their way, and not again after it was in vain.
  virtual bool settle(const memory_resource& source) noexcept = 0;

 protected:
  ~queue_room() = default;
};

/// From now on, and until now. Who is just looking into a room keeps it alive.
void open_room(const std::shared_ptr<queue_room>& room);
void close_room(const queue_room& room) noexcept;

std::size_t collect_rooms() noexcept;
void drain_rooms() noexcept;
bool settle_rooms(const memory_resource& source) noexcept;

/// A command that failed has ended too.
void wait_quietly(const sycl::event& event) noexcept;
/// True if the command has ended. One that cannot be asked is waited for: that is the only proof.
bool has_passed(const sycl::event& event) noexcept;

}  // namespace usmx::detail
