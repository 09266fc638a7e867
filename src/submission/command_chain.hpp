// The commands that one transfer consists of, each after the last: so that a copy is written once,
// whether its caller waits for it or not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/array.hpp"
#include "usmx/submission.hpp"

namespace usmx::detail {

/// A submission of several commands, with steps of the host in between. Its memory is in use until
/// the last command has passed. Not thread-safe; lives as long as the call that submits.
class command_chain : private submission {
 public:
  /// With `blocking` the caller waits in any case, so that waiting earlier costs nothing.
  command_chain(const sycl::queue& queue, bool blocking, traced* record = nullptr)
      : submission(queue, record), in_order_(queue.is_in_order()), blocking_(blocking) {}

  using submission::after;
  using submission::before;
  using submission::keep;
  using submission::queue;
  using submission::uses;
  bool is_blocking() const noexcept { return blocking_; }

  /// `event` was submitted after `before()`.
  void then(sycl::event event);
  void memcpy(void* to, const void* from, std::size_t bytes) {
    then(queue().memcpy(to, from, bytes, before()));
  }

  /// Waits for everything so far; then the host may look at the results. Throws their errors.
  void finish();
  /// After an exception: waits for what was submitted, since the caller's memory may go now.
  void settle() noexcept;
  /// The event of the last command; no more may follow.
  sycl::event end();

 private:
  bool in_order_;
  bool blocking_;
  bool running_ = false;    // something was submitted and not waited for
  bool submitted_ = false;  // `last_` is a command's
  sycl::event last_;
};

/// Runs `submit(chain)` and waits. Nothing runs any more after an exception.
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
