// Copies from and to memory of the host that hold no thread of the program, where the driver's own
// do: a function that the queue calls moves the bytes between a pinned block and their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "submission/command_chain.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// Whether copies of the chain go this way: its caller does not wait, and the driver would.
bool goes_in_turn(command_chain& commands);

/// From memory that the device reaches and whose elements are contiguous in C order, or both sides
/// contiguous with the same bytes; `dst` has any layout and type. False, with nothing submitted, if
/// neither holds.
bool to_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src);
/// The reverse. The elements of `src` are read when the command runs.
bool from_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src);
/// Between two places of memory that the host can access at any time: it copies when what
/// comes before has ended.
void on_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src);

}  // namespace usmx::detail
