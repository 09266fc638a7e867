// Threads have small numbers in reports and recordings: those of the system are long and are
// reused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace usmx::detail {

/// 1 for the first thread that calls this, and so on; never reused.
inline std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> given{0};
  thread_local const std::size_t own = given.fetch_add(1, std::memory_order_relaxed) + 1;
  return own;
}

}  // namespace usmx::detail
