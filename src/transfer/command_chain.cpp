// Orders the commands of a transfer by the queue where that keeps an order, by events elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/command_chain.hpp"

#include <utility>

#include "usmx/wait.hpp"

namespace usmx::detail {

void command_chain::after(const sycl::event& event) {
  if (!is_done(event)) before_.push_back(event);
}

void command_chain::after(std::span<const sycl::event> events) {
  for (const sycl::event& event : events) after(event);
}

void command_chain::after(const array& a) {
  if (a.keep_alive()) a.keep_alive()->pending(queue_, before_);
  if (a.keep_alive() && !a.keep_alive()->is_lent()) return;
  if (!in_order_ || a.queue() != queue_) after(marker(a.queue()));
}

void command_chain::then(sycl::event event) {
  before_.clear();
  if (!in_order_) before_.push_back(event);
  last_ = std::move(event);
  submitted_ = running_ = true;
}

void command_chain::use(const array& a) { use(a.keep_alive()); }

void command_chain::use(const shared_owner& owner) {
  if (!owner) return;
  used_.reserve(used_.size() + 1);
  owner->used_on(queue_);
  used_.push_back(owner);
}

void command_chain::finish() {
  if (running_) {
    wait(last_, queue_);
  } else {
    wait(before_);
  }
  before_.clear();
  running_ = false;
}

void command_chain::settle() noexcept {
  if (!running_) return;
  try {
    wait(queue_);
  } catch (...) {  // what failed has ended too
  }
}

sycl::event command_chain::end() {
  if (!submitted_ && !before_.empty()) then(queue_.ext_oneapi_submit_barrier(before_));
  for (const shared_owner& owner : used_) owner->used_until(queue_, last_);
  used_.clear();
  return last_;
}

}  // namespace usmx::detail
