// Orders the commands of a transfer by the queue where that keeps an order, by events elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "submission/command_chain.hpp"

#include <utility>

#include "usmx/wait.hpp"

namespace usmx::detail {

void command_chain::then(sycl::event event) {
  before_.clear();
  if (!in_order_) before_.push_back(event);
  last_ = std::move(event);
  submitted_ = running_ = true;
}

void command_chain::finish() {
  if (running_) {
    wait(last_, queue());
  } else {
    wait(before_);
  }
  before_.clear();
  running_ = false;
}

void command_chain::settle() noexcept {
  if (!running_) return;
  try {
    wait(queue());
  } catch (...) {  // what failed has ended too
  }
}

sycl::event command_chain::end() {
  if (!submitted_ && !before_.empty()) then(queue().ext_oneapi_submit_barrier(before_));
  // Without a command of its own, what was pending stays pending.
  submission::end(submitted_ ? &last_ : nullptr);
  return last_;
}

}  // namespace usmx::detail
