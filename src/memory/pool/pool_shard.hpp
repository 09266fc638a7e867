// What a thread uses before the one lock of a pool: the classification of a request, and magazines
// of blocks that a thread can take without waiting for another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/pool/block_store.hpp"
#include "usmx/memory.hpp"

namespace usmx::detail {

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

/// After so many bytes were freed to a shard, the pool checks whether it holds too much.
inline constexpr std::size_t counted_bytes = 64 << 20;

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
  std::size_t passed = 0;  // bytes freed since the pool last counted them
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

}  // namespace usmx::detail
