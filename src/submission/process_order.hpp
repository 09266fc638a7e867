// The order of commands of several processes on memory that they share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "runtime/process_handles.hpp"
#include "usmx/array.hpp"

namespace usmx::detail {

/// The point behind all that was submitted on the memory of `a`, for another process: a handle of
/// an event that is recorded there, without waiting. Without events it waits, and there is none.
handle_bytes point_for_processes(const array& a);

/// What is submitted on the memory of `a` from now on comes after a point of another process,
/// without waiting.
void come_after_point(const array& a, std::span<const std::byte> point);

}  // namespace usmx::detail
