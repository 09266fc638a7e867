// Limits how much memory one user of a shared device can allocate.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <utility>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"

namespace usmx {

limiting_resource::limiting_resource(std::shared_ptr<memory_resource> upstream, std::size_t most)
    : stacked_resource(std::move(upstream)), most_(most) {}

void* limiting_resource::serve(const request& asked) {
  const std::size_t bytes = asked.bytes;
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > most_ || used > most_ - bytes) {
      detail::fail_allocation(bytes, asked.alignment, kind(), device(),
                              detail::format("the limit is {}, of which {} are in use",
                                             detail::amount(most_), detail::amount(used)));
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  try {
    return asked.pass_to(*upstream());
  } catch (...) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
}

bool limiting_resource::take_back(const returned_block& b) noexcept {
  if (!b.pass_to(*upstream())) return false;
  used_.fetch_sub(b.bytes, std::memory_order_relaxed);
  return true;
}

}  // namespace usmx
