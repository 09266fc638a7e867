// The pipeline of pinned blocks; see staging.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/staging.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

struct chosen_limits {
  std::mutex mutex;
  std::optional<staging_limits> limits;
};

chosen_limits& chosen() {
  static chosen_limits c;
  return c;
}

/// Set by the program: then also used where it is not faster.
bool is_forced() {
  chosen_limits& c = chosen();
  const std::scoped_lock lock(c.mutex);
  return c.limits.has_value();
}

}  // namespace

staging_limits staging_of(const sycl::device& device) {
  {
    chosen_limits& c = chosen();
    const std::scoped_lock lock(c.mutex);
    if (c.limits) return *c.limits;
  }
  // A CPU device copies from any memory at the speed of memory: blocks would only cost time.
  if (detail::backend_of(device).is_host) return {.from = staging_limits::never};
  return {};
}

void set_staging(std::optional<staging_limits> limits) {
  if (limits && (limits->block == 0 || limits->blocks < 2)) {
    throw std::invalid_argument(
        detail::format("staging: {} blocks of {} bytes are not supported; expected at least 2 "
                       "blocks of at least 1 byte",
                       limits->blocks, limits->block));
  }
  chosen_limits& c = chosen();
  const std::scoped_lock lock(c.mutex);
  c.limits = limits;
}

namespace detail {
namespace {

/// One pinned block, the device's command on it, and what the host does after that.
struct slot {
  array block;
  std::optional<sycl::event> command;
  any_view rest;  // where the host copies the block to
};

/// Empty if a copy of so many bytes is faster without blocks.
std::vector<slot> make_slots(command_chain& commands, std::size_t bytes, std::size_t itemsize,
                             std::int64_t& most) {
  std::vector<slot> slots;
  const staging_limits limits = staging_of(commands.queue().get_device());
  if (bytes < limits.from || bytes <= limits.block) return slots;
  most = static_cast<std::int64_t>(std::max<std::size_t>(limits.block / itemsize, 1));
  const std::int64_t shape[] = {most * static_cast<std::int64_t>(itemsize)};
  try {
    for (std::size_t k = 0; k < limits.blocks; ++k) {
      slots.push_back({array::empty(commands.queue(), shape, dtype(), usm_kind::host), {}, {}});
      slots.back().block.wait();  // see host_bytes
      commands.keep(slots.back().block);
    }
  } catch (const std::exception&) {
    // No pinned memory, or none left: a pipeline needs two blocks; with less, another path is used.
    if (slots.size() < 2) slots.clear();
  }
  return slots;
}

/// Submits the command for a block; the first commands wait for those before the chain.
template <class Submit>
void start(slot& s, command_chain& commands, const std::vector<sycl::event>& before,
           const Submit& submit) {
  s.command = submit(commands.queue(), before);
  commands.then(*s.command);
}

void wait_for(slot& s, command_chain& commands) {
  if (!s.command) return;
  const sycl::event command = *std::exchange(s.command, std::nullopt);
  wait(command, commands.queue());
}

}  // namespace

bool as_bytes(any_view& dst, any_view& src) {
  if (!same_bytes(dst.dtype(), src.dtype())) return false;
  const copy_loops nest = make_copy_loops(dst, src);
  if (!nest.is_one_run(dst.dtype().itemsize())) return false;
  const std::size_t bytes = dst.nbytes();
  dst = bytes_at(nest.begin_of(dst, 0), bytes, dst.kind());
  src = bytes_at(nest.begin_of(src, 1), bytes, src.kind());
  return true;
}

bool stage_from_host(command_chain& commands, const any_view& dst, const any_view& src) {
  if (!commands.is_blocking()) return false;
  any_view to = dst;
  any_view from = src;
  if (!as_bytes(to, from) && !dst.layout().is_c_contiguous()) return false;
  std::int64_t most = 0;
  std::vector<slot> slots = make_slots(commands, dst.nbytes(), to.dtype().itemsize(), most);
  if (slots.empty()) return false;

  wait(commands.before());  // the host is about to read what earlier commands may write
  std::size_t next = 0;
  for_each_part(to, from, most, [&](const any_view& there, const any_view& here) {
    slot& s = slots[next++ % slots.size()];
    wait_for(s, commands);
    convert_on_host(moved_to(s.block.data(), there, usm_kind::host), here);
    start(s, commands, {}, [&](sycl::queue& queue, const std::vector<sycl::event>& before) {
      return queue.memcpy(there.first_byte(), s.block.data(), there.nbytes(), before);
    });
  });
  for (slot& s : slots) wait_for(s, commands);
  return true;
}

bool stage_to_host(command_chain& commands, const any_view& dst, const any_view& src) {
  if (!commands.is_blocking()) return false;
  any_view to = dst;
  any_view from = src;
  const bool converts = !as_bytes(to, from);
  if (converts && !src.layout().is_c_contiguous()) return false;
  if (!stages_to_host(backend_of(commands.queue()), converts) && !is_forced()) return false;
  std::int64_t most = 0;
  std::vector<slot> slots = make_slots(commands, src.nbytes(), from.dtype().itemsize(), most);
  if (slots.empty()) return false;

  const std::vector<sycl::event> before = commands.before();
  const auto empty_block = [&](slot& s, const any_view& like) {
    wait_for(s, commands);
    convert_on_host(s.rest, moved_to(s.block.data(), like, usm_kind::host));
  };
  std::vector<any_view> loaded(slots.size());
  std::size_t next = 0;
  for_each_part(to, from, most, [&](const any_view& here, const any_view& there) {
    const std::size_t k = next++ % slots.size();
    slot& s = slots[k];
    if (s.command) empty_block(s, loaded[k]);
    s.rest = here;
    loaded[k] = there;
    start(s, commands, before, [&](sycl::queue& queue, const std::vector<sycl::event>& first) {
      return queue.memcpy(s.block.data(), there.first_byte(), there.nbytes(), first);
    });
  });
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::size_t at = (next + k) % slots.size();  // the oldest first
    if (slots[at].command) empty_block(slots[at], loaded[at]);
  }
  return true;
}

bool stage_across(command_chain& commands, const array& dst, const array& src, bool dst_is_near) {
  any_view to = dst.elements();
  any_view from = src.elements();
  if (!as_bytes(to, from)) return false;
  std::int64_t most = 0;
  std::vector<slot> slots = make_slots(commands, to.nbytes(), 1, most);
  if (slots.empty()) return false;

  // This waits for everything on the far queue, so the chain need not know its events.
  submission beyond(dst_is_near ? src.queue() : dst.queue());
  beyond.keep(dst_is_near ? src : dst);
  sycl::queue& far = beyond.queue();
  sycl::queue& filler = dst_is_near ? far : commands.queue();
  sycl::queue& emptier = dst_is_near ? commands.queue() : far;
  wait(commands.before());
  const auto finish = [&](slot& s) {
    if (!s.command) return;
    const sycl::event command = *std::exchange(s.command, std::nullopt);
    wait(command, emptier);
  };
  std::size_t next = 0;
  try {
    for_each_part(to, from, most, [&](const any_view& there, const any_view& here) {
      slot& s = slots[next++ % slots.size()];
      finish(s);
      wait(filler.memcpy(s.block.data(), here.first_byte(), here.nbytes()), filler);
      s.command = emptier.memcpy(there.first_byte(), s.block.data(), there.nbytes());
    });
    for (slot& s : slots) finish(s);
  } catch (...) {
    wait(emptier);  // the blocks are freed now
    throw;
  }
  return true;
}

}  // namespace detail
}  // namespace usmx
