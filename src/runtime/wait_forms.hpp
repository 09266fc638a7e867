// Waiting for a queue as a given backend needs it, so that tests can try each form on any device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sycl/queue.hpp>

#include "runtime/backend.hpp"

namespace usmx::detail {

/// As the functions of usmx/wait.hpp, which look the row up.
void wait(const sycl::queue& queue, const backend_row& backend);
bool is_idle(const sycl::queue& queue, const backend_row& backend) noexcept;

}  // namespace usmx::detail
