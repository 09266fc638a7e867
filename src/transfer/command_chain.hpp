// The commands that one transfer consists of, each after the last: so that a copy is written once,
// whether somebody waits for it or not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "runtime/driver_gate.hpp"
#include "usmx/array.hpp"

namespace usmx::detail {

/// Not thread-safe; lives as long as the call that submits.
class command_chain {
 public:
  /// With `blocking` the caller waits in any case, so that waiting earlier costs nothing.
  command_chain(const sycl::queue& queue, bool blocking) : queue_(queue), blocking_(blocking) {
    submits_to(queue_);
    in_order_ = queue_.is_in_order();
  }

  sycl::queue& queue() noexcept { return queue_; }
  bool is_blocking() const noexcept { return blocking_; }

  /// The first command waits for these.
  void after(const sycl::event& event);
  void after(std::span<const sycl::event> events);
  /// The first command waits for whatever was submitted on the elements: named uses of the memory
  /// and, where its makers name none to us, everything in the queue they gave.
  void after(const array& a);

  /// What the next command has to be told to wait for; the queue sees to the rest.
  const std::vector<sycl::event>& before() const noexcept { return before_; }
  /// `event` was submitted after `before()`.
  void then(sycl::event event);
  void memcpy(void* to, const void* from, std::size_t bytes) {
    then(queue_.memcpy(to, from, bytes, before_));
  }

  /// The commands use this memory: names the queue to it, and keeps it until the last has passed.
  void use(const array& a);
  void use(const shared_owner& owner);

  /// Waits for everything so far; then the host may look at the results. Throws their errors.
  void finish();
  /// After an exception: waits for what was submitted, since the caller's memory may go now.
  void settle() noexcept;
  /// The event of the last command; no more may follow.
  sycl::event end();

 private:
  using_driver inside_;  // first: nothing of a transfer may meet a fork
  sycl::queue queue_;
  bool blocking_;
  bool in_order_;
  bool running_ = false;    // something was submitted and not waited for
  bool submitted_ = false;  // `last_` is a command's
  std::vector<sycl::event> before_;
  sycl::event last_;
  std::vector<shared_owner> used_;
};

/// Runs `submit(chain)` and waits. Whatever it throws leaves nothing running.
template <class Submit>
void run_and_wait(command_chain& chain, Submit submit) {
  try {
    submit(chain);
    chain.finish();
  } catch (...) {
    chain.settle();
    throw;
  }
  chain.end();
}

/// Runs `submit(chain)` and returns the event of its last command.
template <class Submit>
sycl::event run(command_chain& chain, Submit submit) {
  try {
    submit(chain);
    return chain.end();
  } catch (...) {
    chain.settle();
    throw;
  }
}

}  // namespace usmx::detail
