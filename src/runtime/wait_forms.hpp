// What usmx/wait.hpp leaves out: the status of a command, and waiting for a queue as a given
// backend needs it, so that tests can try each form on any device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "runtime/backend.hpp"

namespace usmx::detail {

/// Of an event only its status may be asked, and it may be waited for, both here: that of a host
/// task, which other libraries hand out, has no context, no backend and no native handle, and SYCL
/// ends in a segmentation fault when it is asked for one.
enum class command_status : char { submitted, running, complete, unknown };
/// Throws sycl::exception if it cannot be asked.
command_status status(const sycl::event& event);

/// While it lives, a wait of this thread ends early if `check` throws, which is called some times a
/// second while the wait is long. What was waited for goes on, so only for waits that guard nothing
/// but what its owner still knows to be pending.
class interruptible {
 public:
  explicit interruptible(void (*check)()) noexcept;
  interruptible(const interruptible&) = delete;
  interruptible& operator=(const interruptible&) = delete;
  ~interruptible();

 private:
  void (*before_)();
};

/// While it lives, waits of this thread end when what they wait for has ended, also inside of an
/// interruptible part.
class uninterrupted {
 public:
  uninterrupted() noexcept;
  uninterrupted(const uninterrupted&) = delete;
  uninterrupted& operator=(const uninterrupted&) = delete;
  ~uninterrupted();
};

/// Whether an interruptible wait of this thread would be one now: its last one was long.
bool expects_long_waits() noexcept;

/// As the functions of usmx/wait.hpp, which look the row up.
void wait(const sycl::queue& queue, const backend_row& backend);
bool is_idle(const sycl::queue& queue, const backend_row& backend) noexcept;
/// Whether `leaves_natively` was called for the queue; true also for a few for which it was not.
bool has_left_natively(const sycl::queue& queue) noexcept;
/// Asks the driver itself, which knows commands that came by the native handle. Empty if its
/// backend has no such question (native.cpp).
std::optional<bool> is_natively_idle(const sycl::queue& queue);

}  // namespace usmx::detail
