// The owners that lost their last reference while queues still used their bytes, or on a thread
// that must not ask.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace usmx {

class owner;

namespace detail {

/// The end of the last reference.
void retire(owner* last) noexcept;
/// Some have not gone back yet.
bool has_retired() noexcept;
/// Releases up to `most` whose commands have passed; how many still wait.
std::size_t sweep_retired(std::size_t most) noexcept;
/// Waits for all of them and releases them.
void drain_retired() noexcept;

}  // namespace detail
}  // namespace usmx
