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

template <class Step>
void call(command_chain& commands, Step step) {
  commands.then(call_in_turn(commands.queue(), commands.before(), std::move(step)));
}

}  // namespace

bool goes_in_turn(command_chain& commands) {
  return !commands.is_blocking() && backend_of(commands.queue()).copies_hold_host;
}

bool to_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src) {
  if (src.kind() == usm_kind::host) return on_host_in_turn(commands, dst, src), true;
  any_view to = dst;
  any_view from = src;
  if (!as_bytes(to, from) && !src.layout().is_c_contiguous()) return false;
  std::int64_t most = 0;
  const array block = block_for(commands, from.nbytes(), from.dtype().itemsize(), most);
  for_each_part(to, from, most, [&](const any_view& here, const any_view& there) {
    commands.memcpy(block.data(), there.first_byte(), there.nbytes());
    call(commands, [here, landed = moved_to(block.data(), there, usm_kind::host)] {
      convert_on_host(here, landed);
    });
  });
  return true;
}

bool from_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src) {
  if (dst.kind() == usm_kind::host) return on_host_in_turn(commands, dst, src), true;
  any_view to = dst;
  any_view from = src;
  if (!as_bytes(to, from) && !dst.layout().is_c_contiguous()) return false;
  std::int64_t most = 0;
  const array block = block_for(commands, to.nbytes(), to.dtype().itemsize(), most);
  for_each_part(to, from, most, [&](const any_view& there, const any_view& here) {
    call(commands, [here, filled = moved_to(block.data(), there, usm_kind::host)] {
      convert_on_host(filled, here);
    });
    commands.memcpy(there.first_byte(), block.data(), there.nbytes());
  });
  return true;
}

void on_host_in_turn(command_chain& commands, const any_view& dst, const any_view& src) {
  call(commands, [dst, src] { convert_on_host(dst, src); });
}

}  // namespace usmx::detail
