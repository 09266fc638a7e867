// What a command on another queue has to wait for: the question that transfers and launches ask of
// the owners of their memory.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "usmx/memory.hpp"
#include "usmx/wait.hpp"

namespace usmx {

void owner::pending(const sycl::queue& next, std::vector<sycl::event>& events) {
  if (!used_.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(mutex_);
  for (const use& u : uses_) {
    if (u.queue == next && next.is_in_order()) continue;
    sycl::event last = u.marker();
    if (!is_done(last)) events.push_back(std::move(last));
  }
}

}  // namespace usmx
