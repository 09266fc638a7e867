// `collect` and `drain` reach every block of the process that waits for a queue, in all
// resources.
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
  /// Frees the blocks whose commands have ended; returns how many blocks still wait.
  virtual std::size_t collect() noexcept = 0;
  /// Waits for all of them and frees them.
  virtual void drain() noexcept = 0;
  /// True if some were freed to a resource above `source`. Waits for that a moment if enough blocks
  /// are pending, and not again after a wait without success.
  virtual bool settle(const memory_resource& source) noexcept = 0;

 protected:
  ~queue_room() = default;
};

/// Registers and removes a room. A thread that is using a room keeps it alive.
void open_room(const std::shared_ptr<queue_room>& room);
void close_room(const queue_room& room) noexcept;

std::size_t collect_rooms() noexcept;
void drain_rooms() noexcept;
bool settle_rooms(const memory_resource& source) noexcept;

/// A command that failed has ended too.
void wait_quietly(const sycl::event& event) noexcept;
/// True if the command has ended. If it cannot be queried, this waits for it.
bool has_passed(const sycl::event& event) noexcept;

}  // namespace usmx::detail
