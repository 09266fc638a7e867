// A fork must not find a thread of ours in the driver: the child has a copy of every lock and no
// thread that gives it back, so its first command would wait for ever, or its end. And a process
// must not end its driver while a thread is in there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include <sycl/queue.hpp>

namespace usmx::detail {

/// Stands around whatever calls the driver: a fork waits as long as one of these lives. Taken
/// before any lock; inside of another one it costs nothing.
class using_driver {
 public:
  /// Throws device_error in a child of fork that cannot use the driver.
  using_driver();
  /// For calls that free or ask, and must see to that themselves.
  explicit using_driver(std::nothrow_t) noexcept;
  ~using_driver();
  using_driver(const using_driver&) = delete;
  using_driver& operator=(const using_driver&) = delete;
};

/// Commands are about to be submitted to `queue`: a fork waits until it is idle, because the
/// driver's own threads hold locks while they start and end commands.
void submits_to(const sycl::queue& queue);

/// The same around the driver's allocator alone, which is called with locks of pools held: a fork
/// takes those first.
class inside_driver {
 public:
  inside_driver() noexcept;
  ~inside_driver();
  inside_driver(const inside_driver&) = delete;
  inside_driver& operator=(const inside_driver&) = delete;
};

/// A child of a fork that had to leave threads in the driver. Nothing may be asked of the driver.
bool driver_is_lost() noexcept;

/// This thread makes, uses or waits for memory, so it is none of the runtime's: those only ever end
/// the last reference to it, in host tasks of other libraries.
void name_own_thread() noexcept;
bool on_own_thread() noexcept;

}  // namespace usmx::detail
