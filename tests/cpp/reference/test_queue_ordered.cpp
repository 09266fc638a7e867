// The example of usmx/queue_ordered.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <usmx/queue_ordered.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(QueueOrdered, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto driver = std::make_shared<usmx::usm_resource>(queue.get_context(), queue.get_device(),
                                                           usmx::usm_kind::device);
  const auto ordered = std::make_shared<usmx::queue_ordered_resource>(driver);

  // Freed while a command uses it, and used again at once by later commands of the same queue.
  const auto memory = usmx::allocate(ordered, queue, 1000);
  std::optional<sycl::event> pending;
  void* p = ordered->allocate_on(queue, 1000, usmx::default_alignment, pending);
  const sycl::event last = sycl::queue(queue).memset(p, 0, 1000);
  CHECK(ordered->deallocate_on(queue, last, p, 1000, usmx::default_alignment));
  const usmx::queue_order_stats now = ordered->stats();
  CHECK(now.blocks + now.passed == 1);
  ordered->drain();

  // Where the device has an order of its own.
  if (usmx::has_async_allocation(queue.get_device())) {
    usmx::async_resource own(queue.get_context(), queue.get_device(), usmx::usm_kind::device);
    own.deallocate(own.allocate(1000), 1000);
  }
}
