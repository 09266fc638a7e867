// The inside of a pool, for the sources that share it: pool.cpp allocates and deallocates,
// pool_upstream.cpp calls the upstream and reports what is held.
//
// Locks are taken in this order, and none is held while the upstream is called, because freeing
// deferred memory may call this pool again: a shard, the store.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/fork_guard.hpp"
#include "memory/pool/block_store.hpp"
#include "runtime/block_registry.hpp"
#include "usmx/pool.hpp"

namespace usmx {

namespace detail {

inline constexpr const char* too_large = "a pool has no blocks above 4 TiB";

// --- what a thread uses before the one lock of a pool: magazines of blocks that it can take
// without waiting for another thread

/// A request as the store classifies it.
struct pool_request {
  std::size_t bytes;
  std::size_t alignment;
  std::size_t bin;       // no_bin: a run of its own
  std::size_t granules;  // of that run

  pool_request(std::size_t asked, std::size_t aligned) noexcept
      : bytes(asked), alignment(aligned), bin(no_bin), granules(0) {
    if (bytes <= most_in_bin && alignment <= granule) {
      bin = alignment <= default_alignment || bytes > most_in_slab
                ? bin_of(bytes)
                // Blocks of a power of two lie at its multiples.
                : bin_of(std::bit_ceil(std::max(bytes, alignment)));
    } else if (possible()) {
      granules = granules_in(bytes);
    }
  }
  static std::size_t granules_in(std::size_t bytes) noexcept {
    return std::max<std::size_t>((bytes + granule - 1) / granule, 1);
  }
  bool possible() const noexcept {
    return bytes <= most_in_block / 2 && alignment <= most_in_block / 2;
  }
  /// The size of a chunk for this request only.
  std::size_t least_chunk() const noexcept {
    if (bin < slab_bins) return slab_bytes(bin);
    if (bin < bins) return bin_bytes(bin);
    return granules * granule + (alignment > granule ? alignment - granule : 0);
  }
};

/// After so many bytes and blocks were freed to a shard, the pool checks whether it holds too much.
/// The blocks are counted as well, or each free of a large one would check.
inline constexpr std::size_t counted_bytes = 64 << 20;
inline constexpr std::uint32_t counted_blocks = 16;

/// How many bytes of one size a shard caches: enough for 64 blocks of 64 KiB, a batch of an input
/// pipeline.
inline constexpr std::size_t magazine_bytes = 4 << 20;

constexpr std::size_t room_of(std::size_t bin) noexcept {
  return std::clamp<std::size_t>(magazine_bytes / bin_bytes(bin), 4, 64);
}

inline std::atomic_ref<std::size_t> asked_of(const block& b) noexcept {
  return std::atomic_ref<std::size_t>(*b.asked);
}

/// Free blocks of one size.
struct magazine {
  std::uint32_t count = 0;
  std::unique_ptr<block[]> blocks;
};

/// A free run, cached because loops allocate the same large block repeatedly.
struct spare {
  block free;
  std::size_t granules = 0;

  bool serves(const pool_request& r) const noexcept {
    return granules == r.granules && free &&
           (reinterpret_cast<std::uintptr_t>(free.data) & (r.alignment - 1)) == 0;
  }
};

/// A thread mostly uses a shard alone. If there are more threads than shards, they share.
struct alignas(128) shard {
  struct hint {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    chunk* found = nullptr;
  };
  static constexpr std::size_t hints = 16;

  hint& hint_for(std::uintptr_t address) noexcept { return where[(address >> 21) % hints]; }

  std::atomic_flag taken;
  std::int64_t used = 0;  // bytes; negative if blocks from other shards were freed here
  std::int64_t blocks = 0;
  // Freed since the pool last counted them.
  std::size_t passed_bytes = 0;
  std::uint32_t passed_blocks = 0;
  std::array<magazine, bins> magazines;
  std::array<spare, 4> spares;
  std::size_t oldest = 0;           // of the spares
  std::array<hint, hints> where{};  // where chunks were found
};

class shard_lock {
 public:
  shard_lock() = default;
  explicit shard_lock(shard& s) noexcept : shard_(&s) {}
  shard_lock(shard_lock&& other) noexcept : shard_(std::exchange(other.shard_, nullptr)) {}
  shard_lock& operator=(shard_lock&&) = delete;
  ~shard_lock() {
    if (shard_ != nullptr) shard_->taken.clear(std::memory_order_release);
  }
  shard* operator->() const noexcept { return shard_; }
  shard& operator*() const noexcept { return *shard_; }

 private:
  shard* shard_ = nullptr;
};

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
  std::size_t chunk_instead_of_cut(const pool_request& r) noexcept;
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
  bool age(bool may_wait) noexcept;
  bool count_in(std::size_t bytes) noexcept;
  std::size_t growth(std::size_t least) noexcept;
  block extend(std::size_t bytes, const pool_request* r, std::optional<std::string>& cause);
  [[noreturn]] void fail(const pool_request& r, const std::string& cause);

  const bool huge_pages_;
  const std::size_t shard_count_;
  const std::unique_ptr<shard[]> shards_;
  std::atomic<bool> releasing_ = false;  // more is held than limits.release_above
  std::atomic<bool> aging_ = false;      // a shard has seen what detail::counted_bytes says
  std::atomic<std::size_t> passed_ = 0;  // bytes freed that shards have reported in this age
  std::mutex mutex_;
  detail::block_store store_;
  std::size_t coming_ = 0;  // bytes in transfer from or to the upstream; guarded by mutex_
  std::size_t peak_ = 0;    // of the bytes held; guarded by mutex_
  // The life of a pool is divided into ages; in each, twice the bytes held are deallocated. All
  // of this is guarded by mutex_.
  std::size_t age_peak_ = 0;     // the most that was out of the store at once in this age
  std::size_t former_peak_ = 0;  // in the one before
};

}  // namespace usmx
