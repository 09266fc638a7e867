// How much memory pools hold, for the text of a failed allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sycl/device.hpp>

#include "usmx/memory_resource.hpp"

namespace usmx::detail {

/// "the pool of shared USM holds 2.0 MiB, of which 3 blocks use 1.5 MiB; …": what the default
/// resources of the device hold, without the pool on `besides`; empty if nothing.
std::string holdings(const sycl::device& device, const memory_resource* besides = nullptr);

}  // namespace usmx::detail
