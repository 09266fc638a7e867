// Room for the compiler: it calls itself for each part of an expression, and a text of a program
// that wrote it can be deeper than the stack of the calling thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

namespace usmx::detail {

/// How long a caller waits before something is called meanwhile, which must not throw.
struct patience {
  std::chrono::nanoseconds lasts{};
  std::function<void()> ended = {};
};

/// Calls `function` on a thread whose stack is enough for all that `too_deep` lets through, and
/// returns when it has ended; what it throws is thrown here. The thread counts as inside the driver
/// if this one is. If no such thread can be made, calls it here.
void on_large_stack(const std::function<void()>& function, const patience& waiting = {});

/// The line of the first statement that the compiler may not have the stack for, from 1; 0: none.
std::size_t too_deep(std::string_view text) noexcept;

/// A statement has no more names, numbers and signs than that, outside of lists in braces.
inline constexpr std::size_t most_in_statement = 65'536;

}  // namespace usmx::detail
