// Kernels whose text the library writes, found by a short key: hashing the text itself would take
// longer than a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmx/detail/built_kernels.hpp"

namespace usmx::detail {

/// Thread-safe. Entries stay where they are as long as the table lives.
template <class Known>
class kernel_table {
 public:
  struct entry {
    /// What the key determines, besides the text.
    Known known;
    built_kernels built;
    /// Empty until a kernel was compiled.
    std::string source;
  };

  /// The entry of a key, with what `determine()` returns if it is new.
  template <class Determine>
  entry& find(const std::string& key, Determine&& determine) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
    }
    Known known = determine();
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = entries_.try_emplace(key);
    if (is_new) place->second.known = std::move(known);
    return place->second;
  }
  /// The kernel for the place of the queue; `make()` compiles it and returns it with its text.
  template <class Make>
  const kernel& get(entry& e, const sycl::queue& queue, Make&& make) {
    return e.built.get(queue, [&] {
      std::pair<kernel, std::string> made = make();
      const std::lock_guard lock(mutex_);
      e.source = std::move(made.second);
      return std::move(made.first);
    });
  }

  /// The texts of all that was compiled, in no order.
  std::vector<std::string> sources() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [key, e] : entries_) {
      if (!e.source.empty()) all.push_back(e.source);
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> entries_;
};

}  // namespace usmx::detail
