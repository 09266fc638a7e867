// Caches for SYCL objects: one that only grows and is read without a lock, and a bounded one.
//
// A static cache must be leaked (`*new cache`): at exit libsycl's own static objects may have been
// destroyed already, and destroying a queue after them crashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace usmx::detail {

/// A map for few keys that live as long as the process. Finding takes no lock.
template <class Key, class Value>
class lasting_cache {
 public:
  /// The value of `key`, or of what equals one; null if it has none yet.
  template <class Like = Key>
  const Value* find(const Like& key) const noexcept {
    for (const node* n = head_.load(std::memory_order_acquire); n; n = n->next)
      if (n->key == key) return &n->value;
    return nullptr;
  }
  /// The value of `key`, made by `make()` the first time; what `make` throws passes through.
  template <class Make>
  const Value& get(const Key& key, Make&& make) {
    if (const Value* found = find(key)) return *found;
    const std::lock_guard lock(mutex_);
    if (const Value* found = find(key)) return *found;
    auto* added = new node{key, make(), head_.load(std::memory_order_relaxed)};
    head_.store(added, std::memory_order_release);
    return added->value;
  }

 private:
  struct node {
    Key key;
    Value value;
    const node* next;
  };
  std::atomic<const node*> head_{nullptr};
  std::mutex mutex_;
};

/// A map of the `Capacity` keys used last.
template <class Key, class Value, std::size_t Capacity>
class recent_cache {
 public:
  /// The value of `key`, made by `make()` if it is not among the recent ones. `make` runs without
  /// the lock, so two threads may both make one; the first to finish wins.
  template <class Make>
  Value get(const Key& key, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const Value* found = touch(key)) return *found;
    }
    std::pair<Key, Value> added{key, make()};
    // Destroying a SYCL object may wait: the forgotten one goes after the lock is released.
    std::vector<std::pair<Key, Value>> forgotten;
    const std::lock_guard lock(mutex_);
    if (const Value* found = touch(key)) return *found;
    if (entries_.size() == Capacity) {
      forgotten.push_back(std::move(entries_.back()));
      entries_.pop_back();
    }
    entries_.insert(entries_.begin(), std::move(added));
    return entries_.front().second;
  }

 private:
  const Value* touch(const Key& key) {
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (!(at->first == key)) continue;
      std::rotate(entries_.begin(), at, at + 1);
      return &entries_.front().second;
    }
    return nullptr;
  }
  std::mutex mutex_;
  std::vector<std::pair<Key, Value>> entries_;
};

}  // namespace usmx::detail
