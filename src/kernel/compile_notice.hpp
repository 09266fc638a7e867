// One line for people who wait for the compiler and do not know it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "kernel/large_stack.hpp"

namespace usmx::detail {

/// The time of one compilation, which counts for the notice.
class compile_time_record {
 public:
  compile_time_record() noexcept = default;
  compile_time_record(const compile_time_record&) = delete;
  compile_time_record& operator=(const compile_time_record&) = delete;
  ~compile_time_record();

  /// When the compilations of this process have taken a second together, a line on stderr says so:
  /// once, only where stderr is a terminal, and not if USMX_NOTICES is 0.
  patience until_notice() const;

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace usmx::detail
