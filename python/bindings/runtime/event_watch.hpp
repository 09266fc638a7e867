// How a program that must not block hears that a command has finished: through a file descriptor,
// which every event loop can wait for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sycl/event.hpp>

namespace usmx::python {

/// A file descriptor that becomes readable once the command has finished, failed or not; the caller
/// closes it whenever it likes. Throws std::system_error if there is none left.
int watch(const sycl::event& event);
/// Before the process ends: forgets all events.
void stop_watching() noexcept;

}  // namespace usmx::python
