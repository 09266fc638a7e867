// The example of usmx/memory_resource.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <usmx/memory_resource.hpp>
#include <usmx/resources.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(MemoryResource, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const usmx::usm_kind kind = usmx::usm_kind::device;

  // What arrays are allocated from: a pool for each context, device and kind.
  const std::shared_ptr<usmx::memory_resource> pool = usmx::default_resource(queue, kind);
  void* block = pool->allocate(1000, usmx::default_alignment);
  pool->deallocate(block, 1000, usmx::default_alignment);
  CHECK(usmx::is_power_of_two(usmx::default_alignment));
  CHECK(!usmx::default_resources().empty());

  // Another one, for this thread while the object lives ...
  const auto driver =
      std::make_shared<usmx::usm_resource>(queue.get_context(), queue.get_device(), kind);
  const auto counted = std::make_shared<usmx::statistics_resource>(driver);
  {
    const usmx::using_resource here(counted);
    const auto x = usmx::empty<float>(queue, {250}, kind);
    CHECK(counted->now().bytes == 1000);
  }
  // ... or for the process from now on.
  usmx::set_default_resource(counted);
  usmx::set_default_resource(pool);

  // What the pools hold and no array uses goes back to the driver.
  usmx::trim_default_resources();
}
