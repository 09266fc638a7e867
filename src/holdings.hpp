// Who holds what, for the text of an allocation that failed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sycl/device.hpp>

namespace usmx::detail {

/// "; device pool: holds … in 3 blocks, …; shared pool: …": what the default resources of the
/// device hold; empty if nothing.
std::string holdings(const sycl::device& device);

}  // namespace usmx::detail
