// A fork must not happen while a thread of ours is in the driver: the child has a copy of every
// lock and no thread that unlocks it, so its first command or its exit would wait for ever. And a
// process must not shut down its driver while a thread is inside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sycl/queue.hpp>

#include "usmx/detail/driver_gate.hpp"

namespace usmx::detail {

struct backend_row;

/// Commands are about to be submitted to `queue`: a fork waits until it is idle, because the
/// driver's own threads hold locks while they start and end commands.
void submits_to(const sycl::queue& queue);

/// The process uses a driver of this backend from now on. Where that is lost by a fork, children
/// say so by its name.
void uses_driver_of(const backend_row& backend) noexcept;

/// As driver_entry, around the driver's allocator only, which is called with locks of pools held: a
/// fork takes those first.
class inside_driver {
 public:
  inside_driver() noexcept;
  ~inside_driver();
  inside_driver(const inside_driver&) = delete;
  inside_driver& operator=(const inside_driver&) = delete;
};

/// In a child of a fork that left threads in the driver. The driver must not be called.
bool driver_is_lost() noexcept;

/// On a thread that works for one that waits for it: inside, although the gate may be closed.
class driver_entry_of_caller {
 public:
  driver_entry_of_caller() noexcept;
  driver_entry_of_caller(const driver_entry_of_caller&) = delete;
  driver_entry_of_caller& operator=(const driver_entry_of_caller&) = delete;
  ~driver_entry_of_caller();
};

/// The driver's own end at the exit of the process would never return: the process ends without it.
void end_at_once() noexcept;

/// This thread makes, uses or waits for memory, so it is not one of the runtime's: those only drop
/// last references to memory, in host tasks of other libraries.
void name_own_thread() noexcept;
bool on_own_thread() noexcept;

}  // namespace usmx::detail
