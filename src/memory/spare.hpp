// Memory that an algorithm keeps for its next call: it goes when memory is given back, by
// `trim_default_resources`, when the driver has none left, and when the process ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::detail {

/// `drop` releases what a file keeps. Any thread may call it, without a lock.
void drop_when_trimmed(void (*drop)() noexcept);
void drop_spare() noexcept;

}  // namespace usmx::detail
