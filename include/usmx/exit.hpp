// Ends a process while threads of it are still inside the driver.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx {

/// Call right before `exit` if detached threads may be left. If one of them has used
/// the driver, the process then ends after its exit handlers so far, with its output written and
/// its exit code, but without the driver's own clean-up: that crashes under a thread that is
/// inside.
void end_beside_other_threads() noexcept;

}  // namespace usmx
