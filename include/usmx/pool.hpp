// Memory that is fast to get: the driver takes microseconds to milliseconds for each allocation,
// and on a CPU a page fault for every page that is used again. A pool asks it rarely.
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
  /// Above this, memory goes back to the upstream as soon as a whole piece of it is free, instead
  /// of waiting for `trim`.
  std::size_t release_above = std::numeric_limits<std::size_t>::max();
  /// Whether the system shall map what is taken in huge pages. Only on a CPU device, whose memory
  /// is the process's own: first use of the bytes costs a fifth there, and counts whole pages.
  bool huge_pages = true;
};

/// What a pool holds at one moment, in bytes where nothing else is said.
struct pool_stats {
  std::size_t held = 0;    ///< taken from the upstream
  std::size_t used = 0;    ///< asked for by the blocks that are alive
  std::size_t blocks = 0;  ///< how many are alive
  std::size_t chunks = 0;  ///< in how many pieces `held` was taken
  std::size_t peak = 0;    ///< the most that was held at once
};

/// A part of a chunk, at one moment.
struct held_block {
  /// `waiting`: given back, but commands may still use it (queue_ordered_resource).
  enum class state : std::uint8_t { used, free, waiting };

  std::size_t offset;  ///< in bytes, from the chunk's beginning
  std::size_t bytes;   ///< as many as it takes up: the blocks of a chunk fill it without a gap
  std::size_t asked;   ///< of them asked for; 0 where free
  state now;
};

/// A piece of the upstream's memory and what is in it, at one moment.
struct held_chunk {
  std::byte* base;
  std::size_t bytes;
  std::vector<held_block> blocks;  ///< by offset; free neighbours are one
};

/// Divides large pieces of the upstream into blocks and keeps what comes back.
///
/// Blocks up to 32 KiB share slabs of one size each; larger ones are cut where they fit best and
/// grow together again when they are free. All book-keeping is in host memory: the pool never looks
/// at the bytes that it divides, so they may be on a device. A block that came back is given out
/// again without waiting for any queue: return it when no command uses it any more, as owners do.
///
/// Where blocks begin and end is known to `describe_allocation`, so an array is refused that leaves
/// its block, although the driver sees one large allocation.
///
/// Thread-safe. Threads find blocks in magazines of their own most of the time, and take no lock
/// that another one waits for. Giving a block back that the pool did not give, or twice, ends the
/// program with a message, as `free` does.
class pool_resource final : public memory_resource {
 public:
  /// Throws std::invalid_argument without an upstream.
  explicit pool_resource(std::shared_ptr<memory_resource> upstream, pool_limits limits = {});
  /// Returns everything to the upstream. All blocks must have come back.
  ~pool_resource() override;

  usm_kind kind() const noexcept override;
  sycl::context context() const override;
  sycl::device device() const override;
  const std::shared_ptr<memory_resource>& upstream() const noexcept;
  const pool_limits& limits() const noexcept;
  std::shared_ptr<memory_resource> stands_on() const noexcept override { return upstream(); }

  /// Returns free memory to the upstream until at most `keep` bytes are held; how many bytes went
  /// back. A piece with a block alive in it stays.
  std::size_t trim(std::size_t keep = 0) noexcept;
  /// Takes memory from the upstream until at least `bytes` are held. Throws allocation_error.
  void reserve(std::size_t bytes);
  pool_stats stats() const noexcept;
  /// All chunks by address, with what is in them. Other threads wait meanwhile where they need more
  /// than their magazines have; what those hold is shown as free.
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
