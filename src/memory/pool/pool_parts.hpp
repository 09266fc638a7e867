// The inside of a pool, for the sources that share it: pool.cpp allocates and deallocates,
// pool_upstream.cpp calls the upstream and reports what is held.
//
// Locks are taken in this order, and none is held while the upstream is called, because freeing
// deferred memory may call this pool again: a shard, the store.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/fork_guard.hpp"
#include "memory/pool/block_store.hpp"
#include "memory/pool/pool_shard.hpp"
#include "runtime/block_registry.hpp"
#include "usmx/pool.hpp"

namespace usmx {

namespace detail {
inline constexpr const char* too_large = "a pool has no blocks above 4 TiB";

/// pool_list.cpp: adds it to `held_pools` and removes it.
void add_pool(pool_resource& pool);
void remove_pool(pool_resource& pool) noexcept;
}  // namespace detail

class pool_resource::parts final : public detail::block_source, public detail::fork_guarded {
  using block = detail::block;
  using chunk = detail::chunk;
  using pool_request = detail::pool_request;
  using shard = detail::shard;
  using shard_lock = detail::shard_lock;

 public:
  parts(std::shared_ptr<memory_resource> from, pool_limits at_most);

  ~parts();

  void* take_quickly(const pool_request& r) noexcept;
  void* take(std::size_t bytes, std::size_t alignment);
  bool put(std::byte* p, bool may_wait) noexcept;
  bool resize(std::byte* p, std::size_t bytes, std::size_t alignment) noexcept;
  std::size_t trim(std::size_t keep) noexcept;
  void reserve(std::size_t bytes);
  pool_stats stats() noexcept;
  std::vector<held_chunk> snapshot();

  std::optional<allocation_extent> block_around(const std::byte* p) noexcept override {
    const std::scoped_lock lock(mutex_);
    return store_.block_around(p);
  }
  usm_kind kind_of_blocks() const noexcept override { return kind; }

  const std::shared_ptr<memory_resource> upstream;
  const pool_limits limits;
  const usm_kind kind;
  const sycl::context context;
  const sycl::device device;

 private:
  /// A shard that no thread uses now, preferably the thread's own.
  shard_lock any_shard() noexcept;
  shard_lock this_shard(std::size_t k) noexcept {
    shard& s = shards_[k];
    while (s.taken.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    return shard_lock(s);
  }

  void* hand_out(shard& s, const block& b, std::size_t bytes) noexcept {
    detail::asked_of(b).store(bytes + 1, std::memory_order_release);
    s.used += static_cast<std::int64_t>(bytes);
    ++s.blocks;
    return b.data;
  }

  void before_fork() noexcept override {
    for (std::size_t k = 0; k < shard_count_; ++k) {
      while (shards_[k].taken.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    mutex_.lock();
  }
  void after_fork(bool) noexcept override {
    mutex_.unlock();
    for (std::size_t k = 0; k < shard_count_; ++k) {
      shards_[k].taken.clear(std::memory_order_release);
    }
  }

  void* take_slowly(const pool_request& r);
  void* try_store(const pool_request& r);
  block take_from_store(const pool_request& r);
  void put_into_store(shard& s, std::size_t bin, std::size_t keep) noexcept;
  void put_spares(shard& s) noexcept;  // with the lock of the store
  chunk* find(shard& s, const std::byte* p) noexcept;
  void gather() noexcept;
  /// Chunks that leave the store count as held until the upstream has them.
  template <class Remove>
  std::unique_ptr<chunk> take_out(Remove remove) noexcept {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<chunk> out = remove();
    for (const chunk* c = out.get(); c != nullptr; c = c->next.get()) coming_ += c->bytes;
    return out;
  }
  std::size_t give_up(std::unique_ptr<chunk> chunks) noexcept;
  void age() noexcept;
  bool count_in(std::size_t bytes) noexcept;
  std::size_t growth(std::size_t least) noexcept;
  block extend(std::size_t bytes, const pool_request* r, std::string& cause);
  [[noreturn]] void fail(const pool_request& r, const std::string& cause);

  const bool huge_pages_;
  const std::size_t shard_count_;
  const std::unique_ptr<shard[]> shards_;
  std::atomic<bool> releasing_ = false;  // more is held than limits.release_above
  std::atomic<bool> aging_ = false;      // a shard has seen detail::counted_bytes
  std::mutex mutex_;
  detail::block_store store_;
  std::size_t coming_ = 0;  // bytes in transfer from or to the upstream; guarded by mutex_
  std::size_t peak_ = 0;    // of the bytes held; guarded by mutex_
  // The life of a pool is divided into ages; in each, twice the bytes held are deallocated. All
  // of this is guarded by mutex_.
  std::size_t age_passed_ = 0;
  std::size_t age_peak_ = 0;     // the most that was out of the store at once in this age
  std::size_t former_peak_ = 0;  // in the one before
};

}  // namespace usmx
