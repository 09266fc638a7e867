// Divides chunks of memory into blocks without ever accessing them: every list and every mark is
// stored separately in host memory, because the chunks may be device memory.
//
// Not thread-safe except for block::asked: pool.cpp locks around it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "usmx/pool.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {

/// The unit of chunks, in bytes.
inline constexpr std::size_t granule = 4096;
/// Blocks up to this share slabs; larger ones are runs of granules.
inline constexpr std::size_t most_in_slab = 32 << 10;
/// Blocks up to this have few sizes, the bins, and are cached in magazines.
inline constexpr std::size_t most_in_bin = 1 << 20;
/// The largest size of a block.
inline constexpr std::size_t most_in_block = std::size_t{1} << 43;

/// 64 to 512 in steps of 64, then 4 sizes for each doubling up to most_in_slab, then 8 up to
/// most_in_bin: a fifth of a small block is lost at most, a ninth of a large one.
inline constexpr std::size_t slab_bins = 8 + 4 * 6;
inline constexpr std::size_t bins = slab_bins + 8 * 5;
inline constexpr std::size_t no_bin = bins;

/// The smallest bin of at least `bytes` <= most_in_bin.
constexpr std::size_t bin_of(std::size_t bytes) noexcept {
  const std::size_t last = bytes == 0 ? 0 : bytes - 1;  // 2^k is the last size of its doubling
  if (last < 512) return last / 64;
  const auto doubling = static_cast<std::size_t>(std::bit_width(last)) - 10;  // 512..1023 is 0
  if (last < most_in_slab) return 8 + doubling * 4 + ((last >> (doubling + 7)) & 3);
  return slab_bins + (doubling - 6) * 8 + ((last >> (doubling + 6)) & 7);
}

/// The bytes of a bin's blocks.
constexpr std::size_t bin_bytes(std::size_t bin) noexcept {
  if (bin < 8) return (bin + 1) * 64;
  if (bin < slab_bins) return (5 + (bin - 8) % 4) << (7 + (bin - 8) / 4);
  return (9 + (bin - slab_bins) % 8) << (12 + (bin - slab_bins) / 8);
}

/// Blocks in a slab: enough to be worth the metadata, few enough that it becomes empty soon.
constexpr std::size_t blocks_in_slab(std::size_t bin) noexcept {
  const std::size_t fit = (64 << 10) / bin_bytes(bin);
  return fit < 8 ? 8 : fit;
}
/// A multiple of a granule.
constexpr std::size_t slab_bytes(std::size_t bin) noexcept {
  return (blocks_in_slab(bin) * bin_bytes(bin) + granule - 1) / granule * granule;
}

struct chunk;
struct slab;

/// The metadata of one granule of a chunk. Zero bytes are a valid initial state.
struct run {
  // Of a run's first granule:
  run* previous;  // among the free runs of about the same length
  run* next;
  chunk* home;             // while it is free
  std::size_t asked;       // block::asked of a block that is a run
  std::uint32_t granules;  // also at the last granule of a free run
  bool free;               // also at the last granule of a free run
  std::uint8_t bin;        // of a block that is a run
  // Of every granule of a slab:
  slab* divided;
};

/// An allocation from the upstream.
struct chunk {
  /// Throws std::bad_alloc. Owns its slabs, not the bytes.
  chunk(std::byte* base, std::size_t bytes);
  chunk(const chunk&) = delete;
  chunk& operator=(const chunk&) = delete;
  ~chunk();

  std::byte* end() const noexcept { return base + bytes; }
  bool holds(const std::byte* p) const noexcept {
    return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base) < bytes;
  }
  run* at(const std::byte* p) noexcept {
    return runs + static_cast<std::size_t>(p - base) / granule;
  }
  std::byte* address(const run* r) const noexcept {
    return base + static_cast<std::size_t>(r - runs) * granule;
  }

  std::byte* base;
  std::size_t bytes;
  run* runs;  // one for each granule
  /// A bit for each granule that begins a run, and one for each word that has a bit.
  std::unique_ptr<std::uint64_t[]> starts;
  std::unique_ptr<std::uint64_t[]> words;
  std::unique_ptr<chunk> next;  // among chunks to be freed
};

/// A run divided into blocks of one size.
struct slab {
  slab(std::byte* base, std::size_t bin, std::size_t count);

  std::size_t slot_of(const std::byte* p) const noexcept {
    return static_cast<std::size_t>(p - base) * reciprocal >> 40;
  }

  std::byte* base;
  std::size_t bytes;       // of a block
  std::size_t reciprocal;  // 2^40 / bytes, rounded up: exact for every place in a slab
  std::size_t bin;
  std::uint32_t count;
  std::uint32_t left;                     // in `free`
  std::unique_ptr<std::uint16_t[]> free;  // slots, a stack
  std::unique_ptr<std::size_t[]> asked;   // block::asked of each slot
  slab* previous = nullptr;               // among the slabs of the bin with something left
  slab* next = nullptr;
};

/// A block, and where the pool stores its requested size.
struct block {
  std::byte* data = nullptr;
  /// 0 while the block is free, else the requested bytes plus one. Read and written atomically.
  std::size_t* asked = nullptr;
  explicit operator bool() const noexcept { return data != nullptr; }
};

/// All chunks of a pool.
class block_store {
 public:
  block_store() = default;
  block_store(const block_store&) = delete;
  block_store& operator=(const block_store&) = delete;

  /// A block of a bin below no_bin; null if nothing fits. Throws std::bad_alloc for a new slab.
  block take(std::size_t bin);
  /// Whether `take` of a bin of slabs would find a slab with something left.
  bool has_slot(std::size_t bin) const noexcept { return slabs_[bin] != nullptr; }
  /// `granules` in a row at a multiple of `alignment` bytes; null if nothing fits.
  block take_run(std::size_t granules, std::size_t alignment, std::size_t bin) noexcept;
  /// Whether a run of so many granules would come out of a chunk without blocks that is at least
  /// twice as long.
  bool would_cut_chunk(std::size_t granules) noexcept;
  /// Takes back a free block.
  void put(std::byte* p) noexcept;

  /// The chunk around `p`, or null.
  chunk* find(const std::byte* p) const noexcept;
  /// The live block around `p`.
  std::optional<allocation_extent> block_around(const std::byte* p) noexcept;

  /// Makes room in host memory for one more chunk, so that `add` cannot fail.
  void reserve() { chunks_.reserve(chunks_.size() + 1); }
  void add(std::unique_ptr<chunk> c) noexcept;
  /// Turns slabs without blocks into free runs again.
  void dissolve_empty_slabs() noexcept;
  /// Takes out free chunks, the largest first, until no more than `keep` bytes are left or all that
  /// are left have blocks.
  std::unique_ptr<chunk> remove_free(std::size_t keep) noexcept;
  /// Takes out free chunks of at most so many bytes together.
  std::unique_ptr<chunk> remove_free_at_most(std::size_t bytes) noexcept;
  /// Takes out all chunks, even those with live blocks.
  std::unique_ptr<chunk> remove_all() noexcept;

  /// Every chunk with what is in it, by address. Throws std::bad_alloc.
  std::vector<held_chunk> snapshot() const;

  std::size_t bytes() const noexcept { return bytes_; }
  /// Of them in allocated blocks and slabs, magazines included.
  std::size_t bytes_out() const noexcept { return bytes_ - free_granules_ * granule; }
  std::size_t chunks() const noexcept { return chunks_.size(); }

 private:
  static constexpr std::size_t lists = 32 + 16 * 27;  // 1..31 granules exactly, then 16 a doubling

  static std::size_t list_of(std::size_t granules) noexcept;
  run* best_fit(std::size_t granules) noexcept;
  chunk* largest_free(std::size_t at_most) const noexcept;
  void remove(chunk* c, std::unique_ptr<chunk>& removed) noexcept;
  void insert(chunk& home, run* r, std::size_t granules) noexcept;
  void erase(run* r) noexcept;
  void put_run(chunk& home, run* r) noexcept;
  slab* make_slab(std::size_t bin);
  void dissolve(slab* s) noexcept;
  void link(slab* s) noexcept;
  void unlink(slab* s) noexcept;

  std::vector<std::unique_ptr<chunk>> chunks_;  // by address
  std::size_t bytes_ = 0;
  std::size_t free_chunks_ = 0;
  std::size_t free_granules_ = 0;
  std::array<run*, lists> free_runs_{};
  std::array<std::uint64_t, (lists + 63) / 64> filled_{};  // a bit for each list that has a run
  std::array<slab*, slab_bins> slabs_{};                   // with something left
  std::array<std::uint32_t, slab_bins> empty_{};           // how many of them have no block
};

}  // namespace usmx::detail
