// The kind of memory of new arrays whose program does not say one: what suits the device, unless
// the process or the environment variable USMX_USM_TYPE says otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sycl/device.hpp>
#include <sycl/queue.hpp>

#include "usmx/view.hpp"

namespace usmx {

/// What was chosen for the process, otherwise what USMX_USM_TYPE names, otherwise the device's own:
/// shared memory where the device is the host's own processor, so that the host reads and writes
/// arrays without a copy, and device memory elsewhere.
/// Throws std::invalid_argument if it needs USMX_USM_TYPE and that holds something else than a
/// kind.
usm_kind default_kind(const sycl::device& device);
usm_kind default_kind(const sycl::queue& queue);

/// The kind for all devices from now on, in all threads; empty ends the choice. Returns the choice
/// before. Throws std::invalid_argument for `unknown`.
std::optional<usm_kind> set_default_kind(std::optional<usm_kind> kind);

}  // namespace usmx
