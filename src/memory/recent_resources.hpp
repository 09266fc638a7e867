// The resources that queues used last: querying a queue for its context and device costs more than
// an allocation from a pool.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include <sycl/queue.hpp>

#include "usmx/memory.hpp"

namespace usmx::detail {

/// A small cache of queues, which it keeps alive. A thread that finds another thread in it takes
/// the slow path instead of waiting.
class recent_resources {
 public:
  using resource = std::shared_ptr<memory_resource>;

  /// Null if it is not known.
  resource find(const sycl::queue& queue, usm_kind kind) noexcept {
    if (taken_.test_and_set(std::memory_order_acquire)) return nullptr;
    resource found;
    for (const entry& e : known_) {
      if (e.queue && *e.queue == queue) {
        found = e.of_kind[static_cast<std::size_t>(kind)];
        break;
      }
    }
    taken_.clear(std::memory_order_release);
    return found;
  }

  static constexpr std::size_t capacity = 4;
  struct entry {
    std::optional<sycl::queue> queue;
    std::array<resource, 4> of_kind;
  };
  using entries = std::array<entry, capacity>;

  // Call these with a lock that serialises them, or a stale entry may stay. They return the removed
  // entries, to be destroyed without a lock, because destroying a queue may wait.

  [[nodiscard]] entry keep(const sycl::queue& queue, usm_kind kind, const resource& made) {
    entry leaving;
    if (taken_.test_and_set(std::memory_order_acquire)) return leaving;
    entry* e = known_.begin();
    while (e != known_.end() && e->queue && *e->queue != queue) ++e;
    if (e == known_.end()) {
      e = &known_[next_++ % capacity];
      std::swap(leaving, *e);
    }
    e->queue = queue;
    e->of_kind[static_cast<std::size_t>(kind)] = made;
    taken_.clear(std::memory_order_release);
    return leaving;
  }

  [[nodiscard]] entries forget() noexcept {
    entries leaving;
    lock();
    std::swap(leaving, known_);
    unlock();
    return leaving;
  }

  /// Locks the cache for a moment.
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
  entries known_;
  std::size_t next_ = 0;
};

}  // namespace usmx::detail
