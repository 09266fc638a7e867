// SPDX-License-Identifier: Apache-2.0
#include "transfer/in_turn.hpp"

#include <algorithm>

#include "runtime/backend.hpp"
#include "runtime/native_command.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/staging.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx::detail {
namespace {

/// One pinned block, which all parts go through: they are in order in any case.
array block_for(command_chain& commands, std::size_t bytes, std::size_t itemsize,
                std::int64_t& most) {
  const std::size_t room = std::max(staging_of(commands.queue().get_device()).block, itemsize);
  most = static_cast<std::int64_t>(room / itemsize);
  const std::int64_t shape[] = {static_cast<std::int64_t>(std::min(bytes, room))};
  array block = array::empty(commands.queue(), shape, dtype(), usm_kind::host);
  // A pool may return memory that earlier commands still use; the host does not wait for them.
  commands.uses(block);
  return block;
}

}  // namespace

bool goes_in_turn(command_chain& commands) {
  return !commands.is_blocking() && backend_of(commands.queue()).copies_hold_host;
}

bool copy_in_turn(command_chain& commands, const any_view& dst, const any_view& src, bool to_host) {
  const any_view& theirs = to_host ? src : dst;
  if (theirs.kind() == usm_kind::host) return on_host_in_turn(commands, dst, src), true;
  const bool is_whole = theirs.layout().is_c_contiguous();
  any_view to = dst;
  any_view from = src;
  if (!as_bytes(to, from) && !is_whole) return false;
  const any_view& there = to_host ? from : to;
  std::int64_t most = 0;
  const array block = block_for(commands, there.nbytes(), there.dtype().itemsize(), most);
  for_each_part(to, from, most, [&](const any_view& into, const any_view& of) {
    const any_view& part = to_host ? of : into;
    const any_view between = moved_to(block.data(), part, usm_kind::host);
    if (to_host) {
      commands.memcpy(block.data(), part.first_byte(), part.nbytes());
      on_host_in_turn(commands, into, between);
    } else {
      on_host_in_turn(commands, between, of);
      commands.memcpy(part.first_byte(), block.data(), part.nbytes());
    }
  });
  return true;
}

void on_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src) {
  commands.then(
      call_in_turn(commands.queue(), commands.before(), [dst, src] { convert_on_host(dst, src); }));
}

}  // namespace usmx::detail
