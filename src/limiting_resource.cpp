// A part of a device for each who shares it: nobody gets more than was agreed.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <utility>

#include "allocation_failure.hpp"

namespace usmx {

limiting_resource::limiting_resource(std::shared_ptr<memory_resource> upstream, std::size_t most)
    : stacked_resource(std::move(upstream)), most_(most) {}

void* limiting_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > most_ || used > most_ - bytes) {
      detail::fail_allocation(bytes, alignment, kind(), device(),
                              "the limit is " + detail::amount(most_) + ", of which " +
                                  detail::amount(used) + " are in use");
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  try {
    return upstream()->allocate(bytes, alignment);
  } catch (...) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
}

void limiting_resource::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
  upstream()->deallocate(p, bytes, alignment);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace usmx
