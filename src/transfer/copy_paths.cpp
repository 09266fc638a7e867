// The paths of a copy; see copy_paths.hpp. Each is a chain of commands, with steps on the host
// where the device cannot do it: these wait for the commands before them.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_paths.hpp"

#include <algorithm>

#include "core/aliasing.hpp"
#include "memory/ready.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/device_copy.hpp"
#include "transfer/in_turn.hpp"
#include "transfer/staging.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx::detail {
namespace {

bool has_few_runs(const copy_loops& nest, const dtype& type) {
  return count_runs(nest, type.itemsize()) <= few_runs;
}

/// The device casts and packs into memory of the layout of `dst`, which is copied at once. False,
/// with nothing submitted, if `dst` is not dense or the device has no kernel for it.
bool pack_on_device(command_chain& commands, const any_view& dst, const any_view& src) {
  if (!is_dense(dst)) return false;
  const array packed =
      device_elements(commands, extents{static_cast<std::int64_t>(span_of(dst))}, dtype());
  const any_view landing = moved_to(packed.data(), dst, usm_kind::device);
  try {
    copy_by_kernel(commands, landing, src, make_copy_loops(landing, src));
  } catch (const build_error&) {
    return false;
  }
  commands.memcpy(dst.first_byte(), packed.data(), dst.nbytes());
  return true;
}

/// Copies to the host in turn, of any layouts. False, with nothing submitted, if it cannot.
bool land_in_turn(command_chain& commands, const any_view& dst, const any_view& src) {
  if (!goes_in_turn(commands) || overlap(dst, src)) return false;
  if (copy_in_turn(commands, dst, src, true)) return true;
  const array packed = device_elements(commands, src.layout().shape(), src.dtype());
  try {
    copy_by_kernel(commands, packed.elements(), src, make_copy_loops(packed.elements(), src));
  } catch (const build_error&) {
    return false;
  }
  return copy_in_turn(commands, dst, packed.elements(), true);
}

}  // namespace

bool is_dense(const any_view& v) { return make_copy_loops(v, v).is_one_run(v.dtype().itemsize()); }

void on_device(command_chain& commands, const any_view& dst, const any_view& src) {
  if (overlap(dst, src)) {
    if (is_same(dst, src)) return;
    const array temporary = device_elements(commands, src.layout().shape(), src.dtype());
    on_device(commands, temporary.elements(), src);
    on_device(commands, dst, temporary.elements());
    return;
  }
  const copy_loops nest = make_copy_loops(dst, src);
  const bool are_runs = same_bytes(dst.dtype(), src.dtype()) && has_few_runs(nest, dst.dtype());
  if (are_runs && !kernel_copies_runs(commands.queue(), dst, src, nest)) {
    const bool on_host = dst.kind() == usm_kind::host && src.kind() == usm_kind::host;
    if (on_host && goes_in_turn(commands)) return on_host_in_turn(commands, dst, src);
    return copy_runs(commands, dst, src, nest);
  }
  try {
    copy_by_kernel(commands, dst, src, nest);
  } catch (const build_error&) {
    if (are_runs) return copy_runs(commands, dst, src, nest);
    // Without a compiler, or without the type on this device, the host converts.
    const any_view staged = staging_elements(commands, src.layout().shape(), src.dtype());
    if (host_accessible(src.kind())) {
      commands.finish();
      convert_on_host(staged, src);
    } else {
      to_host(commands, staged, src);
    }
    if (host_accessible(dst.kind())) {
      commands.finish();
      convert_on_host(dst, staged);
    } else {
      from_host(commands, dst, staged);
    }
  }
}

void to_host(command_chain& commands, const any_view& dst, const any_view& src) {
  if (stage_to_host(commands, dst, src) || land_in_turn(commands, dst, src)) return;
  const bool same = same_bytes(dst.dtype(), src.dtype());
  if (same && !overlap(dst, src)) {
    const copy_loops nest = make_copy_loops(dst, src);
    if (has_few_runs(nest, src.dtype())) return copy_runs(commands, dst, src, nest);
  }
  if (!commands.is_blocking() && pack_on_device(commands, dst, src)) return;
  // Bytes between the elements are copied too, if they are few.
  const std::size_t span = span_of(src);
  if (span <= std::max(2 * src.nbytes(), small_bytes)) {
    const array all = host_bytes(commands, span);
    commands.memcpy(all.data(), src.first_byte(), span);
    commands.finish();
    return convert_on_host(dst, moved_to(all.data(), src, usm_kind::unknown));
  }
  const bool direct = same && dst.layout().is_c_contiguous();
  const any_view landing =
      direct ? dst : staging_elements(commands, src.layout().shape(), src.dtype());
  const copy_loops nest = make_copy_loops(landing, src);
  if (has_few_runs(nest, src.dtype())) {
    copy_runs(commands, landing, src, nest);
  } else if (!pack_on_device(commands, landing, src)) {
    copy_runs(commands, landing, src, nest);
  }
  if (direct) return;
  commands.finish();
  convert_on_host(dst, landing);
}

void from_host(command_chain& commands, const any_view& dst, const any_view& src) {
  if (stage_from_host(commands, dst, src)) return;
  // A buffer may be a view of the destination: commands that copy must not overlap.
  if (same_bytes(dst.dtype(), src.dtype()) && !overlap(dst, src)) {
    if (goes_in_turn(commands) && copy_in_turn(commands, dst, src, false)) return;
    const copy_loops nest = make_copy_loops(dst, src);
    if (has_few_runs(nest, dst.dtype())) return copy_runs(commands, dst, src, nest);
  }
  commands.finish();  // the host is about to read what earlier commands may write
  if (is_dense(dst)) {
    const array all = host_bytes(commands, dst.nbytes());
    convert_on_host(moved_to(all.data(), dst, usm_kind::unknown), src);
    return commands.memcpy(dst.first_byte(), all.data(), dst.nbytes());
  }
  const any_view staged = staging_elements(commands, dst.layout().shape(), dst.dtype());
  convert_on_host(staged, src);
  const copy_loops nest = make_copy_loops(dst, staged);
  if (has_few_runs(nest, dst.dtype())) return copy_runs(commands, dst, staged, nest);
  const array packed = device_elements(commands, dst.layout().shape(), dst.dtype());
  commands.memcpy(packed.data(), staged.data(), dst.nbytes());
  try {
    copy_by_kernel(commands, dst, packed.elements(), make_copy_loops(dst, packed.elements()));
  } catch (const build_error&) {
    copy_runs(commands, dst, staged, nest);
  }
}

}  // namespace usmx::detail
