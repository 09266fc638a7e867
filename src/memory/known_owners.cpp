// The owners whose addresses left, by address; see known_owners.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/known_owners.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "core/fork_guard.hpp"

namespace usmx {
namespace detail {

class known_owners {
 public:
  static known_owners& instance() {
    // Never destroyed: the last arrays may be destroyed after every static object.
    static auto& only = *new known_owners;
    return only;
  }

  void add(const shared_owner& memory) {
    const std::scoped_lock lock(mutex_);
    if (memory->known_.exchange(true, std::memory_order_acq_rel)) return;
    // One that is there already has ended, or its memory was given back before it ends.
    owners_.insert_or_assign(memory->base(), entry{memory->bytes(), memory.get(), memory});
    const std::byte* const base = memory->base();
    const bool is_first = owners_.size() == 1;
    if (is_first || base < lowest_) lowest_.store(base, std::memory_order_release);
    if (is_first || base + memory->bytes() > highest_) {
      highest_.store(base + memory->bytes(), std::memory_order_release);
    }
  }

  void remove(const owner& o) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = owners_.find(o.base());
    if (found == owners_.end() || found->second.which != &o) return;
    owners_.erase(found);
    if (owners_.empty()) highest_.store(nullptr, std::memory_order_release);
  }

  /// Most memory of others lies elsewhere, and pays no lock.
  static bool may_know(const std::byte* address) noexcept {
    return address < highest_.load(std::memory_order_acquire) &&
           address >= lowest_.load(std::memory_order_acquire);
  }

  shared_owner find(const std::byte* first, std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    auto next = owners_.upper_bound(first);
    // Memory of ours does not overlap; what ends just now and parts that other libraries gave do.
    for (int looks = 0; looks < most_looks && next != owners_.begin(); ++looks) {
      const auto& [base, known] = *--next;
      const auto offset = static_cast<std::size_t>(first - base);
      if (offset >= known.bytes || bytes > known.bytes - offset) continue;
      // Where it has ended, nothing is destroyed here: that would need the lock.
      if (shared_owner alive = known.memory.lock()) return alive;
    }
    return {};
  }

 private:
  static constexpr int most_looks = 16;

  struct entry {
    std::size_t bytes;
    const owner* which;  // only compared
    std::weak_ptr<owner> memory;
  };

  guarded_mutex mutex_{guarded_mutex::rank::addresses};
  std::map<const std::byte*, entry, std::less<>> owners_;
  // Around all of them. Narrowed only when none is left.
  static inline constinit std::atomic<const std::byte*> lowest_{nullptr};
  static inline constinit std::atomic<const std::byte*> highest_{nullptr};
};

static const auto& at_load = known_owners::instance();  // see guard() in fork_guard.hpp

shared_owner find_known(const std::byte* first, std::size_t bytes) noexcept {
  if (!known_owners::may_know(first)) return {};
  return known_owners::instance().find(first, bytes);
}

void forget_known(const owner& o) noexcept { known_owners::instance().remove(o); }

}  // namespace detail

void address_leaves(const shared_owner& memory) noexcept {
  if (!memory || memory->is_known() || memory->bytes() == 0) return;
  try {
    detail::known_owners::instance().add(memory);
  } catch (...) {
    // Without memory for the entry it stays unknown: what comes back gets a record of its own.
  }
}

}  // namespace usmx
