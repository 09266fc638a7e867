// Decides how far a queue reaches, and so which path a copy takes.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/copy.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "memory/ready.hpp"
#include "runtime/backend.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_paths.hpp"
#include "transfer/loop_nest.hpp"
#include "transfer/staging.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::command_chain;
using detail::from_host;
using detail::host_elements;
using detail::is_quick;
using detail::is_ready;
using detail::large_bytes;
using detail::make_nest;
using detail::on_device;
using detail::overlap;
using detail::same_bytes;
using detail::small_bytes;
using detail::to_host;
using detail::traced_on;
using detail::traced_views;
using detail::wait_for;

/// Whether commands on `queue` may use the memory.
bool reaches(const sycl::queue& queue, const array& a) {
  if (a.queue() == queue) return true;
  return a.queue().get_context() == queue.get_context() &&
         (a.kind() == usm_kind::host || a.queue().get_device() == queue.get_device());
}

void require_reach(const sycl::queue& queue, const array& a, const char* side) {
  if (reaches(queue, a)) return;
  throw std::invalid_argument(std::string("queue: its device does not reach the ") + side +
                              ", which is " + name(a.kind()) +
                              " memory of another context or device; pass a queue of that one");
}

const sycl::queue& queue_for_copy(const array& dst, const array& src) {
  return host_accessible(dst.kind()) && !host_accessible(src.kind()) && !reaches(dst.queue(), src)
             ? src.queue()
             : dst.queue();
}

/// Memory of two devices of one context, by the driver where it can. It moves bytes alone: what is
/// strided or cast is packed on its own device first, and taken apart on the other. False where the
/// driver cannot.
bool copy_by_driver(command_chain& commands, const array& dst, const array& src, const array& far) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  if (dst.queue().get_context() != src.queue().get_context()) return false;
  if (!detail::backend_of(commands.queue()).copies_between_devices) return false;
  const auto is_row = [](const any_view& v) { return v.layout().is_c_contiguous(); };
  if (!is_row(from) || !same_bytes(to.dtype(), from.dtype())) {
    wait(commands.before());
    wait_for(src);
    const array packed = copied(src, src.queue(), to.dtype(), usm_kind::device);
    commands.keep(packed);
    return copy_by_driver(commands, dst, packed, &far == &src ? packed : far);
  }
  try {
    commands.uses(far);
    if (is_row(to)) {
      commands.memcpy(to.data(), from.data(), to.nbytes());
      return true;
    }
    const array landed =
        array::empty(dst.queue(), to.layout().shape().span(), to.dtype(), usm_kind::device);
    commands.keep(landed);
    commands.memcpy(landed.data(), from.data(), to.nbytes());
    commands.finish();
    copy(dst, landed);
    return true;
  } catch (const sycl::exception&) {  // no way from one of these devices to the other
    return false;
  }
}

/// One side is out of reach of the queue: another device's, or another context's.
void copy_between(command_chain& commands, const array& dst, const array& src, bool dst_is_near) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  const array& far = dst_is_near ? src : dst;
  if (!host_accessible(to.kind()) && !host_accessible(from.kind())) {
    if (copy_by_driver(commands, dst, src, far)) return;
    wait_for(far);
    // Pinned blocks belong to one context, and a queue of another must not name them.
    const bool same_context = far.queue().get_context() == commands.queue().get_context();
    if (same_context && detail::stage_across(commands, dst, src, dst_is_near)) return;
  }
  // The host stands between, and waits.
  if (host_accessible(to.kind()) && host_accessible(from.kind())) {
    commands.finish();
    wait_for(src);
    wait_for(dst);
    return convert_on_host(to, from);
  }
  // Also USM that the host reaches: commands may not use memory of another context.
  const any_view staged = host_elements(commands, from.layout().shape(), from.dtype());
  if (dst_is_near) {
    wait(commands.before());
    copy_to_host(staged, src);
    return from_host(commands, to, staged);
  }
  to_host(commands, staged, from);
  commands.finish();
  copy_from_host(dst, staged);
}

void submit_copy(command_chain& commands, const array& dst, const array& src) {
  const bool dst_is_near = reaches(commands.queue(), dst);
  const bool src_is_near = reaches(commands.queue(), src);
  if (!dst_is_near && !src_is_near) require_reach(commands.queue(), dst, "destination");
  for (const auto& [a, near] : {std::pair(&src, src_is_near), std::pair(&dst, dst_is_near)}) {
    if (!near) continue;
    commands.uses(*a);
  }
  if (dst_is_near && src_is_near) return on_device(commands, dst.elements(), src.elements());
  copy_between(commands, dst, src, dst_is_near);
}

void submit_to_host(command_chain& commands, const any_view& dst, const array& src) {
  require_reach(commands.queue(), src, "source");
  commands.uses(src);
  to_host(commands, dst, src.elements());
}

void submit_from_host(command_chain& commands, const array& dst, const any_view& src) {
  require_reach(commands.queue(), dst, "destination");
  commands.uses(dst);
  from_host(commands, dst.elements(), src);
}

/// With no element to move there is still an order to keep.
sycl::event after_all(const sycl::queue& queue, std::span<const sycl::event> depends) {
  command_chain commands(queue, false);
  commands.after(depends);
  return commands.end();
}

bool on_host(const array& a, std::size_t bytes) {
  return host_accessible(a.kind()) &&
         (bytes <= small_bytes || detail::backend_of(a.queue()).is_host);
}

/// True if the device is made of the host's own cores and copies with all of them what the host
/// would copy with one: a large gapless run of bytes that does not change.
bool by_all_cores(const sycl::queue& queue, const any_view& dst, const any_view& src) {
  if (dst.nbytes() < large_bytes || !same_bytes(dst.dtype(), src.dtype())) return false;
  if (!make_nest(dst, src).is_one_run(dst.dtype().itemsize()) || overlap(dst, src)) return false;
  const sycl::device device = queue.get_device();
  return detail::backend_of(device).is_host &&
         device.get_info<sycl::info::device::max_compute_units>() > 1;
}

}  // namespace

void copy(const array& dst, const array& src) { copy(queue_for_copy(dst, src), dst, src); }

void copy(const sycl::queue& queue, const array& dst, const array& src,
          std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  detail::check_copy(to, from);
  if (to.size() == 0) return wait(depends);
  traced record(trace_action::copy, [&] { return traced_on(queue, traced_views(to, from)); });
  if (on_host(dst, to.nbytes()) && on_host(src, to.nbytes()) &&
      !(reaches(queue, dst) && reaches(queue, src) && by_all_cores(queue, to, from))) {
    wait(depends);
    wait_for(src);
    wait_for(dst);
    return convert_on_host(to, from);
  }
  command_chain commands(queue, true);
  commands.after(depends);
  run_and_wait(commands, [&](command_chain& c) { submit_copy(c, dst, src); });
}

sycl::event copy_async(const sycl::queue& queue, const array& dst, const array& src,
                       std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  detail::check_copy(to, from);
  if (to.size() == 0) return after_all(queue, depends);
  traced record(trace_action::copy, [&] { return traced_on(queue, traced_views(to, from)); });
  if (host_accessible(to.kind()) && host_accessible(from.kind()) &&
      is_quick(queue, to.nbytes(), depends) && is_ready(src) && is_ready(dst)) {
    convert_on_host(to, from);
    return {};
  }
  command_chain commands(queue, false, &record);
  commands.after(depends);
  return run(commands, [&](command_chain& c) { submit_copy(c, dst, src); });
}

sycl::event copy_async(const array& dst, const array& src, std::span<const sycl::event> depends) {
  return copy_async(queue_for_copy(dst, src), dst, src, depends);
}

void copy_to_host(const any_view& dst, const array& src) { copy_to_host(src.queue(), dst, src); }

void copy_to_host(const sycl::queue& queue, const any_view& dst, const array& src,
                  std::span<const sycl::event> depends) {
  detail::check_copy(dst, src.elements());
  if (dst.size() == 0) return wait(depends);
  traced record(trace_action::copy,
                [&] { return traced_on(queue, traced_views(dst, src.elements())); });
  if (host_accessible(src.kind()) &&
      !(reaches(queue, src) && by_all_cores(queue, dst, src.elements()))) {
    wait(depends);
    wait_for(src);
    return convert_on_host(dst, src.elements());
  }
  command_chain commands(queue, true);
  commands.after(depends);
  run_and_wait(commands, [&](command_chain& c) { submit_to_host(c, dst, src); });
}

sycl::event copy_to_host_async(const sycl::queue& queue, const any_view& dst, const array& src,
                               std::span<const sycl::event> depends,
                               const shared_owner& keep_alive) {
  detail::check_copy(dst, src.elements());
  if (dst.size() == 0) return after_all(queue, depends);
  traced record(trace_action::copy,
                [&] { return traced_on(queue, traced_views(dst, src.elements())); });
  if (host_accessible(src.kind()) && is_quick(queue, dst.nbytes(), depends) && is_ready(src)) {
    convert_on_host(dst, src.elements());
    return {};
  }
  command_chain commands(queue, false, &record);
  commands.after(depends);
  commands.keep(keep_alive);
  return run(commands, [&](command_chain& c) { submit_to_host(c, dst, src); });
}

void copy_from_host(const array& dst, const any_view& src) {
  copy_from_host(dst.queue(), dst, src);
}

void copy_from_host(const sycl::queue& queue, const array& dst, const any_view& src,
                    std::span<const sycl::event> depends) {
  detail::check_copy(dst.elements(), src);
  if (src.size() == 0) return wait(depends);
  traced record(trace_action::copy,
                [&] { return traced_on(queue, traced_views(dst.elements(), src)); });
  if (host_accessible(dst.kind()) &&
      !(reaches(queue, dst) && by_all_cores(queue, dst.elements(), src))) {
    wait(depends);
    wait_for(dst);
    return convert_on_host(dst.elements(), src);
  }
  command_chain commands(queue, true);
  commands.after(depends);
  run_and_wait(commands, [&](command_chain& c) { submit_from_host(c, dst, src); });
}

sycl::event copy_from_host_async(const sycl::queue& queue, const array& dst, const any_view& src,
                                 std::span<const sycl::event> depends,
                                 const shared_owner& keep_alive) {
  detail::check_copy(dst.elements(), src);
  if (src.size() == 0) return after_all(queue, depends);
  traced record(trace_action::copy,
                [&] { return traced_on(queue, traced_views(dst.elements(), src)); });
  if (host_accessible(dst.kind()) && is_quick(queue, src.nbytes(), depends) && is_ready(dst)) {
    convert_on_host(dst.elements(), src);
    return {};
  }
  command_chain commands(queue, false, &record);
  commands.after(depends);
  commands.keep(keep_alive);
  return run(commands, [&](command_chain& c) { submit_from_host(c, dst, src); });
}

array copied(const array& src, const sycl::queue& queue, dtype type, usm_kind kind) {
  array out = array::empty(queue, src.elements().layout().shape().span(), std::move(type), kind);
  copy(out, src);
  return out;
}

}  // namespace usmx
