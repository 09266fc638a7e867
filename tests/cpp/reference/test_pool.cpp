// The example of usmx/pool.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <usmx/memory_resource.hpp>
#include <usmx/pool.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(Pool, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto driver = std::make_shared<usmx::usm_resource>(queue.get_context(), queue.get_device(),
                                                           usmx::usm_kind::device);

  // A pool of one's own that never holds more than 64 MiB.
  const usmx::pool_limits limits{.most = 64 << 20};
  const auto pool = std::make_shared<usmx::pool_resource>(driver, limits);
  pool->reserve(1 << 20);
  void* p = pool->allocate(1000);
  const usmx::pool_stats now = pool->stats();
  CHECK(now.blocks == 1 && now.used == 1000 && now.held >= 1 << 20);

  // What lies where, in this pool and in every one of the process.
  for (const usmx::held_chunk& chunk : pool->snapshot()) {
    for (const usmx::held_block& block : chunk.blocks) {
      if (block.now == usmx::held_block::state::used) CHECK(block.offset < chunk.bytes);
    }
  }
  for (const usmx::held_pool& each : usmx::held_pools()) CHECK(each.stats.held >= each.stats.used);

  pool->deallocate(p, 1000);
  pool->trim();
  CHECK(pool->stats().held == 0);
}
