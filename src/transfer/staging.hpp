// Large copies between a device and pageable host memory: in parts, through a few blocks of pinned
// memory, so that the host fills one while the device empties another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend.hpp"
#include "submission/command_chain.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// Both do nothing and return false where another path is better: see usmx::staging_of. They wait
/// for their commands, so only blocking chains use them. The device's side must be C-contiguous, or
/// both sides contiguous with the same bytes.
bool stage_from_host(command_chain& commands, const any_view& dst, const any_view& src);
bool stage_to_host(command_chain& commands, const any_view& dst, const any_view& src);

/// Between memory of two devices, or of two contexts: the far side's queue fills blocks that the
/// near side's empties, or the reverse. Waits for everything. Both sides must be contiguous with
/// the same bytes; false, with nothing submitted, if they are not or blocks do not help.
bool stage_across(command_chain& commands, const array& dst, const array& src, bool dst_is_near);

/// Makes both views bytes if nothing is converted and both are contiguous, so that parts fill their
/// blocks.
bool as_bytes(any_view& dst, any_view& src);

/// Whether a copy to pageable memory of the host uses blocks: a driver with pinned memory of its
/// own is faster, unless elements are converted.
inline bool stages_to_host(const backend_row& row, bool converts) noexcept {
  return converts || !row.copies_to_host_by_driver;
}

/// Divides both views, of one shape, into parts of at most `most` elements, in C order.
template <class Visit>
void for_each_part(const any_view& a, const any_view& b, std::int64_t most, const Visit& visit) {
  if (a.size() <= most) {
    if (a.size() > 0) visit(a, b);
    return;
  }
  int axis = 0;
  while (a.layout().shape()[static_cast<std::size_t>(axis)] == 1) ++axis;
  const std::int64_t length = a.layout().shape()[static_cast<std::size_t>(axis)];
  const std::int64_t step = std::max<std::int64_t>(most / (a.size() / length), 1);
  for (std::int64_t at = 0; at < length; at += step) {
    const std::int64_t count = std::min(step, length - at);
    for_each_part(a.sliced(axis, at, count, 1), b.sliced(axis, at, count, 1), most, visit);
  }
}

}  // namespace usmx::detail
