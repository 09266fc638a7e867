// Copies from and to memory of the host that hold no thread of the program, where the driver's own
// do: a function that the queue calls moves the bytes between a pinned block and their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "submission/command_chain.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// Whether copies of the chain go this way: its caller does not wait, and the driver would.
bool goes_in_turn(command_chain& commands);

/// Between memory of the host and memory that the device reaches, whose elements are contiguous in
/// C order, or both sides are contiguous with the same bytes; the host's side has any layout and
/// type, and its elements are read when the command runs. False, with nothing submitted, if neither
/// holds.
bool copy_in_turn(command_chain& commands, const any_view& dst, const any_view& src, bool to_host);
/// Between two places of memory that the host can access at any time: it copies when what
/// comes before has ended.
void on_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src);

}  // namespace usmx::detail
