// A child of fork has one thread and a copy of every lock: what another thread held stays locked
// there for ever. So all locks of the memory pools are taken around a fork.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

namespace usmx::detail {

/// Something with a lock that must be free in a child.
class fork_guarded {
 public:
  /// In which order they are locked; code that locks several of them uses the same order.
  enum class rank : std::uint8_t {
    commands,  // threads inside may take all others
    defaults,
    lists,
    queues,
    blocks,
    pools,
    retired,
    addresses,
    driver,  // the runtime reports from inside of it, which makes records
    records
  };

  virtual void before_fork() noexcept = 0;
  /// In the parent and in the child. Commands of the parent never end in the child: waiting for
  /// them is given up there.
  virtual void after_fork(bool in_child) noexcept = 0;

 protected:
  ~fork_guarded() = default;
};

/// Registers and removes a guard. `guard` may throw std::bad_alloc.
///
/// An object that exists once and is guarded is made when the library is loaded (`at_load` below
/// its definition). Made on first use, it would wait in `guard` for a fork of another thread, and
/// in the child the static object would stay half made: its next use there would wait for ever.
void guard(fork_guarded& g, fork_guarded::rank order);
void unguard(const fork_guarded& g) noexcept;

/// A mutex that is free in a child of fork. Not for objects that are moved, and for those that end
/// only with the process: it is never removed.
class guarded_mutex final : public std::mutex, private fork_guarded {
 public:
  using fork_guarded::rank;
  explicit guarded_mutex(rank order) { guard(*this, order); }

 private:
  void before_fork() noexcept override { lock(); }
  void after_fork(bool) noexcept override { unlock(); }
};

/// True in a child of fork, where SYCL may not be used: nothing may wait for it.
bool in_forked_child() noexcept;

}  // namespace usmx::detail
