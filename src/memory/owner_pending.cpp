// Queries of the owners of memory: what a command on another queue has to wait for, and, for
// callers that must not wait, whether there is anything to wait for.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "runtime/driver_gate.hpp"
#include "usmx/memory.hpp"
#include "usmx/wait.hpp"

namespace usmx {

void owner::pending(const sycl::queue& next, std::vector<sycl::event>& events) {
  if (!used_.load(std::memory_order_acquire)) return;
  const detail::using_driver inside;
  const std::scoped_lock lock(mutex_);
  for (const use& u : uses_) {
    if (u.queue == next && next.is_in_order()) continue;
    sycl::event last = u.marker();
    if (!is_done(last)) events.push_back(std::move(last));
  }
}

namespace {

/// False if no command is running, true if one is, empty if a queue has to be queried.
template <class Uses, class Ask>
std::optional<bool> any_of_known(const Uses& uses, Ask ask) {
  bool all_known = true;
  for (const auto& u : uses) {
    const std::optional<bool> at_work = ask(u);
    if (at_work.value_or(false)) return true;
    all_known &= at_work.has_value();
  }
  return all_known ? std::optional(false) : std::nullopt;
}

}  // namespace

// The thread with the lock may be submitting, and wait for a thread that waits for us.
std::optional<bool> owner::try_busy() noexcept {
  if (!used_.load(std::memory_order_acquire)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  return any_of_known(uses_, [](const use& u) -> std::optional<bool> {
    if (!u.is_known()) return {};
    return !is_done(*u.last);
  });
}

std::optional<bool> owner::try_own_work() noexcept {
  if (!worked_.load(std::memory_order_acquire)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  return any_of_known(uses_, [](const use& u) -> std::optional<bool> {
    if (!u.own) return false;
    if (!u.last) return {};
    return !is_done(*u.last);
  });
}

bool owner::try_exposed_on(const sycl::queue& queue) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || (former_ && queue != former_->queue)) return false;
  note_exposed(queue);
  return true;
}

void owner::note_exposed(const sycl::queue& queue) {
  find_use(queue).exposed = true;
  used_.store(true, std::memory_order_release);
}

}  // namespace usmx
