// One text for every allocation that fails, whichever resource finds out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <sycl/device.hpp>

#include "usmx/view.hpp"

namespace usmx::detail {

/// "1536 bytes (1.5 KiB)": people compare the second form, programs the first.
std::string amount(std::size_t bytes);

/// "opencl:cpu:0 (name of the device)"; what cannot be asked is left out rather than thrown.
std::string describe(const sycl::device& device);

/// Throws allocation_error: what was asked for, where, how much is free there, and the cause.
[[noreturn]] void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                                  const sycl::device& device, const std::string& cause);

}  // namespace usmx::detail
