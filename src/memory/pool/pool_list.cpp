// Every pool of the process, so that a memory snapshot is complete.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <vector>

#include "memory/pool/pool_parts.hpp"

namespace usmx {
namespace {

struct pool_list final : detail::fork_guarded {
  void before_fork() noexcept override { mutex.lock(); }
  void after_fork(bool) noexcept override { mutex.unlock(); }

  std::mutex mutex;  // held while pools are visited, so that none of them is destroyed meanwhile
  std::vector<pool_resource*> pools;
};

pool_list& all_pools() {
  // Never destroyed: pools may outlive every static object.
  static auto* const all = [] {
    auto* const made = new pool_list;
    detail::guard(*made, detail::fork_guarded::rank::lists);
    return made;
  }();
  return *all;
}

}  // namespace

void detail::add_pool(pool_resource& pool) {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  all.pools.push_back(&pool);
}

void detail::remove_pool(pool_resource& pool) noexcept {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  std::erase(all.pools, &pool);
}

std::vector<held_pool> held_pools() {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  std::vector<held_pool> out;
  for (const pool_resource* pool : all.pools) {
    out.push_back({pool->kind(), pool->device(), pool->stats(), pool->snapshot()});
  }
  return out;
}

}  // namespace usmx
