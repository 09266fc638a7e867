// The part of a copy that only a device may do: both sides stay where they are, the host looks at
// none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "submission/command_chain.hpp"
#include "transfer/copy_loops.hpp"
#include "usmx/array.hpp"

namespace usmx::detail {

/// As many runs as are copied one by one, before compiling a kernel for them pays.
inline constexpr std::int64_t few_runs = 32;

/// How many contiguous runs of elements the loops consist of.
std::int64_t count_runs(const copy_loops& nest, std::size_t itemsize) noexcept;

/// Whether a kernel copies the runs within the device faster than the driver. Needs `same_bytes`.
bool kernel_copies_runs(const sycl::queue& queue, const any_view& dst, const any_view& src,
                        const copy_loops& nest);

/// Copies run by run. Either side may be host memory. Needs `same_bytes`.
void copy_runs(command_chain& commands, const any_view& dst, const any_view& src,
               const copy_loops& nest);

/// Copies and casts with a kernel; the device must reach both sides, and they must not overlap.
/// Throws build_error, and has submitted nothing, if there is no kernel for these types on this
/// device.
void copy_by_kernel(command_chain& commands, const any_view& dst, const any_view& src,
                    const copy_loops& nest);

}  // namespace usmx::detail
