// The kernels of one text, one for each context and device: every launch begins with finding the
// one for its queue.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <utility>

#include "usmx/kernel.hpp"

namespace usmx::detail {

/// A list that only grows, by one kernel for each context and device. Thread-safe; finding takes no
/// lock.
class built_kernels {
 public:
  built_kernels() = default;
  built_kernels(const built_kernels&) = delete;
  built_kernels& operator=(const built_kernels&) = delete;
  ~built_kernels() {
    for (const node* n = first_.load(std::memory_order_acquire); n != nullptr;) {
      delete std::exchange(n, n->next);
    }
  }

  /// The kernel for the queue's context and device; null if there is none yet.
  const kernel* find(const sycl::queue& queue) const noexcept {
    for (const node* n = first_.load(std::memory_order_acquire); n != nullptr; n = n->next) {
      if (n->made.is_for(queue)) return &n->made;
    }
    return nullptr;
  }
  /// The same, made by `make()` if there is none; exceptions of `make` are passed on. If two
  /// threads make one at the same time, one of them is not used.
  template <class Make>
  const kernel& get(const sycl::queue& queue, Make&& make) {
    if (const kernel* const found = find(queue)) return *found;
    auto* const added = new node{make(), first_.load(std::memory_order_acquire)};
    while (!first_.compare_exchange_weak(added->next, added, std::memory_order_acq_rel)) {
    }
    return added->made;
  }

 private:
  struct node {
    kernel made;
    const node* next;
  };
  std::atomic<const node*> first_{nullptr};
};

}  // namespace usmx::detail
