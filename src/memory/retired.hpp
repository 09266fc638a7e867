// The owners whose last reference was dropped while queues still used their memory, or on a thread
// that must not query queues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace usmx {

class owner;

namespace detail {

/// Called when the last reference was dropped.
void retire(owner* last) noexcept;
/// Some are not freed yet.
bool has_retired() noexcept;
/// Releases up to `most` whose commands have ended; returns how many still wait.
std::size_t sweep_retired(std::size_t most) noexcept;
/// Waits for all of them and releases them.
void drain_retired() noexcept;

}  // namespace detail
}  // namespace usmx
