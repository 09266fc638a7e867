// Fast allocation: the driver takes microseconds to milliseconds for each allocation, and on a CPU
// a page fault for every page that is reused. A pool calls it rarely.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "usmx/memory.hpp"

namespace usmx {

/// How much a pool may hold, in bytes.
struct pool_limits {
  /// Never more than this from the upstream, used or not.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  /// Above this, memory is returned to the upstream as soon as a whole chunk is free, instead of
  /// waiting for `trim`.
  std::size_t release_above = std::numeric_limits<std::size_t>::max();
  /// Whether to request huge pages for chunks from the system. Only on a CPU device, whose memory
  /// is the process's own: first use of memory costs a fifth there, and maps whole huge pages.
  bool huge_pages = true;
};

/// What a pool holds at one moment, in bytes where nothing else is said.
struct pool_stats {
  std::size_t held = 0;    ///< allocated from the upstream
  std::size_t used = 0;    ///< requested, of the live blocks
  std::size_t blocks = 0;  ///< number of live blocks
  std::size_t chunks = 0;  ///< number of upstream allocations in `held`
  std::size_t peak = 0;    ///< the most that was held at once
};

/// A part of a chunk, at one moment.
struct held_block {
  /// `waiting`: freed, but commands may still use it (queue_ordered_resource).
  enum class state : std::uint8_t { used, free, waiting };

  std::size_t offset;  ///< in bytes, from the chunk's beginning
  std::size_t bytes;   ///< occupied: the blocks of a chunk fill it completely
  std::size_t asked;   ///< of them requested; 0 if free
  state now;
};

/// A chunk from the upstream and its blocks, at one moment.
struct held_chunk {
  std::byte* base;
  std::size_t bytes;
  std::vector<held_block> blocks;  ///< by offset; adjacent free blocks are merged
};

/// Divides large chunks from the upstream into blocks and reuses freed blocks.
///
/// Blocks up to 32 KiB share slabs of one size each; larger ones are allocated by best fit and
/// merged again when they are free. All metadata is in host memory: the pool never accesses the
/// memory that it divides, so it may be device memory. A freed block is reused without waiting
/// for any queue: free it when no command uses it any more, as owners do.
///
/// `describe_allocation` knows where blocks begin and end, so an array that exceeds its block is
/// refused, although the driver sees one large allocation.
///
/// Thread-safe. Threads mostly find blocks in magazines of their own, and take no lock that another
/// one waits for. Freeing a block that is not from the pool, or twice, ends the program with a
/// message, as `free` does.
class pool_resource final : public memory_resource {
 public:
  /// Throws std::invalid_argument without an upstream.
  explicit pool_resource(std::shared_ptr<memory_resource> upstream, pool_limits limits = {});
  /// Returns everything to the upstream. All blocks must have been freed.
  ~pool_resource() override;

  usm_kind kind() const noexcept override;
  sycl::context context() const override;
  sycl::device device() const override;
  const std::shared_ptr<memory_resource>& upstream() const noexcept;
  const pool_limits& limits() const noexcept;
  std::shared_ptr<memory_resource> stands_on() const noexcept override { return upstream(); }

  /// Returns free memory to the upstream until at most `keep` bytes are held; returns their
  /// number. A chunk with a live block is kept.
  std::size_t trim(std::size_t keep = 0) noexcept;
  /// Allocates from the upstream until at least `bytes` are held. Throws allocation_error.
  void reserve(std::size_t bytes);
  pool_stats stats() const noexcept;
  /// All chunks by address, with their blocks. Other threads wait meanwhile if they need more
  /// than their magazines have; blocks in magazines are shown as free.
  std::vector<held_chunk> snapshot() const;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  void* do_try_allocate(std::size_t bytes, std::size_t alignment) noexcept override;
  bool do_try_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override;
  bool do_resize(void* p, std::size_t bytes, std::size_t alignment,
                 std::size_t other_bytes) noexcept override;

  class parts;
  std::unique_ptr<parts> parts_;
};

/// A pool and everything in it, at one moment.
struct held_pool {
  usm_kind kind;
  sycl::device device;
  pool_stats stats;
  std::vector<held_chunk> chunks;
};

/// Every pool of the process, the oldest first.
std::vector<held_pool> held_pools();

}  // namespace usmx
