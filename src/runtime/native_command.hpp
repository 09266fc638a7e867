// Commands that SYCL has no function for: calls that put work on CUDA's stream of a queue, and
// steps of the host between commands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

namespace usmx::detail {

/// Calls `calls` with the stream of a queue of CUDA when everything that comes before is on its
/// stream, and gives the event of what they put there. Throws what they throw. On devices other
/// than CUDA's, where tests have stand-ins of drivers and libraries that act when they are called,
/// the host waits for what comes before.
sycl::event on_native_stream(sycl::queue& queue, const std::vector<sycl::event>& before,
                             const std::function<void(void*)>& calls);

/// Calls `step` on a thread of the runtime's when what comes before has ended; what comes after it
/// waits, and no thread of the program does. `step` neither throws nor uses a device.
sycl::event call_in_turn(sycl::queue& queue, const std::vector<sycl::event>& before,
                         std::function<void()> step);

}  // namespace usmx::detail
