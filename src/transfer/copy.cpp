// Chooses the path of a copy by the memory that its queue can access.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/copy.hpp"

#include <algorithm>
#include <initializer_list>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/aliasing.hpp"
#include "core/format.hpp"
#include "memory/ready.hpp"
#include "runtime/backend.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/copy_paths.hpp"
#include "transfer/staging.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/submission.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::command_chain;
using detail::from_host;
using detail::is_quick;
using detail::is_ready;
using detail::large_bytes;
using detail::make_copy_loops;
using detail::on_device;
using detail::overlap;
using detail::same_bytes;
using detail::small_bytes;
using detail::staging_elements;
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
  throw std::invalid_argument(detail::format(
      "queue: its device cannot access the {}, which is {} memory of another context "
      "or device; pass a queue of that one",
      side, name(a.kind())));
}

const sycl::queue& queue_for_copy(const array& dst, const array& src) {
  return host_accessible(dst.kind()) && !host_accessible(src.kind()) && !reaches(dst.queue(), src)
             ? src.queue()
             : dst.queue();
}

/// Lets a device use memory of another one, if it can. Until then the driver's copies between them
/// go through the host: 39 GB/s between two H200. Asked once for each two devices.
void let_reach(const sycl::device& device, const sycl::device& peer) {
  static auto& mutex = *new std::mutex;  // leaked: copies may come at any time
  static auto& asked = *new std::vector<std::pair<sycl::device, sycl::device>>;
  const std::lock_guard lock(mutex);
  if (std::ranges::find(asked, std::pair(device, peer)) != asked.end()) return;
  asked.emplace_back(device, peer);
  auto first = device, second = peer;  // the runtime's functions are not const
  try {
    if (first.ext_oneapi_can_access_peer(second)) first.ext_oneapi_enable_peer_access(second);
  } catch (const sycl::exception&) {  // another library did
  }
}

/// Copies between two devices of one context, if the driver can; false otherwise. It copies only
/// bytes: strided and cast elements are packed on their own device first, and unpacked on the
/// other.
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
  let_reach(commands.queue().get_device(), far.queue().get_device());
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
  } catch (const sycl::exception&) {  // the driver cannot copy between these devices
    return false;
  }
}

/// The queue cannot access one side: it belongs to another device or context.
void copy_between(command_chain& commands, const array& dst, const array& src, bool dst_is_near) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  const array& far = dst_is_near ? src : dst;
  if (!host_accessible(to.kind()) && !host_accessible(from.kind())) {
    if (copy_by_driver(commands, dst, src, far)) return;
    wait_for(far);
    // Pinned blocks belong to one context; queues of another cannot use them.
    const bool same_context = far.queue().get_context() == commands.queue().get_context();
    if (same_context && detail::stage_across(commands, dst, src, dst_is_near)) return;
  }
  // Through host memory; the host waits.
  if (host_accessible(to.kind()) && host_accessible(from.kind())) {
    commands.finish();
    wait_for(src);
    wait_for(dst);
    return convert_on_host(to, from);
  }
  // Also for USM that the host can access: commands may not use memory of another context.
  const any_view staged = staging_elements(commands, from.layout().shape(), from.dtype());
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

bool on_host(const array& a, std::size_t bytes) {
  return host_accessible(a.kind()) &&
         (bytes <= small_bytes || detail::backend_of(a.queue()).is_host);
}

/// True if the device is the host's own cores and copies with all of them what the host would copy
/// with one: many contiguous bytes, without a conversion.
bool by_all_cores(const sycl::queue& queue, const any_view& dst, const any_view& src) {
  if (dst.nbytes() < large_bytes || !same_bytes(dst.dtype(), src.dtype())) return false;
  if (!make_copy_loops(dst, src).is_one_run(dst.dtype().itemsize()) || overlap(dst, src)) {
    return false;
  }
  const sycl::device device = queue.get_device();
  return detail::backend_of(device).is_host &&
         device.get_info<sycl::info::device::max_compute_units>() > 1;
}

/// What all copies have in common: the views, and which of the sides are arrays.
struct transfer {
  const sycl::queue& queue;
  const any_view& dst;
  const any_view& src;
  std::initializer_list<const array*> arrays;
  std::span<const sycl::event> depends;

  trace_subject subject() const { return traced_on(queue, traced_views(dst, src)); }
  template <class Is>
  bool all(Is is) const {
    return std::ranges::all_of(arrays, [&](const array* a) { return is(*a); });
  }

  /// Nothing is to be copied: no command uses the memory, and what is pending on it stays pending.
  bool is_without_work() const { return dst.size() == 0 || detail::is_same(dst, src); }
  /// An event that comes after what the copy would come after.
  sycl::event order_only() const {
    submission order(queue);
    order.after(depends);
    if (dst.size() > 0) {
      for (const array* a : arrays) order.after(*a);
    }
    return order.submit();
  }

  /// Waits. The host copies if `host_may`, unless the device is quicker.
  template <class Submit>
  void run(bool host_may, Submit submit) const {
    detail::check_copy(dst, src);
    if (is_without_work()) {
      wait(depends);
      if (dst.size() == 0) return;
      for (const array* a : arrays) wait_for(*a);
      return;
    }
    traced record(trace_action::copy, [&] { return subject(); });
    if (host_may && !(all([&](const array& a) { return reaches(queue, a); }) &&
                      by_all_cores(queue, dst, src))) {
      wait(depends);
      for (const array* a : arrays) wait_for(*a);
      return convert_on_host(dst, src);
    }
    command_chain commands(queue, true);
    commands.after(depends);
    run_and_wait(commands, submit);
  }
  template <class Submit>
  sycl::event start(const shared_owner& keep_alive, Submit submit) const {
    detail::check_copy(dst, src);
    if (is_without_work()) return order_only();
    traced record(trace_action::copy, [&] { return subject(); });
    if (all([](const array& a) { return host_accessible(a.kind()); }) &&
        is_quick(queue, dst.nbytes(), depends) && all([](const array& a) { return is_ready(a); })) {
      convert_on_host(dst, src);
      return {};
    }
    command_chain commands(queue, false, &record);
    commands.after(depends);
    commands.keep(keep_alive);
    return detail::run(commands, submit);
  }
};

}  // namespace

void copy(const array& dst, const array& src) { copy(queue_for_copy(dst, src), dst, src); }

void copy(const sycl::queue& queue, const array& dst, const array& src,
          std::span<const sycl::event> depends) {
  const std::size_t bytes = dst.elements().nbytes();
  transfer{queue, dst.elements(), src.elements(), {&src, &dst}, depends}.run(
      on_host(dst, bytes) && on_host(src, bytes),
      [&](command_chain& c) { submit_copy(c, dst, src); });
}

sycl::event copy_async(const sycl::queue& queue, const array& dst, const array& src,
                       std::span<const sycl::event> depends) {
  return transfer{queue, dst.elements(), src.elements(), {&src, &dst}, depends}.start(
      {}, [&](command_chain& c) { submit_copy(c, dst, src); });
}

sycl::event copy_async(const array& dst, const array& src, std::span<const sycl::event> depends) {
  return copy_async(queue_for_copy(dst, src), dst, src, depends);
}

void copy_to_host(const any_view& dst, const array& src) { copy_to_host(src.queue(), dst, src); }

void copy_to_host(const sycl::queue& queue, const any_view& dst, const array& src,
                  std::span<const sycl::event> depends) {
  transfer{queue, dst, src.elements(), {&src}, depends}.run(
      host_accessible(src.kind()), [&](command_chain& c) { submit_to_host(c, dst, src); });
}

sycl::event copy_to_host_async(const sycl::queue& queue, const any_view& dst, const array& src,
                               std::span<const sycl::event> depends,
                               const shared_owner& keep_alive) {
  return transfer{queue, dst, src.elements(), {&src}, depends}.start(
      keep_alive, [&](command_chain& c) { submit_to_host(c, dst, src); });
}

void copy_from_host(const array& dst, const any_view& src) {
  copy_from_host(dst.queue(), dst, src);
}

void copy_from_host(const sycl::queue& queue, const array& dst, const any_view& src,
                    std::span<const sycl::event> depends) {
  transfer{queue, dst.elements(), src, {&dst}, depends}.run(
      host_accessible(dst.kind()), [&](command_chain& c) { submit_from_host(c, dst, src); });
}

sycl::event copy_from_host_async(const sycl::queue& queue, const array& dst, const any_view& src,
                                 std::span<const sycl::event> depends,
                                 const shared_owner& keep_alive) {
  return transfer{queue, dst.elements(), src, {&dst}, depends}.start(
      keep_alive, [&](command_chain& c) { submit_from_host(c, dst, src); });
}

array copied(const array& src, const sycl::queue& queue, dtype type, usm_kind kind) {
  array out = array::empty(queue, src.elements().layout().shape().span(), std::move(type), kind);
  copy(out, src);
  return out;
}

// --- rows with a pitch: views with two dimensions, so that the copies above serve them

namespace {

void check_rows(const any_view& elements, const pitched& where) {
  if (where.rows == 0 || where.width == 0) return;
  if (where.pitch < where.width && where.rows > 1) {
    throw std::invalid_argument(
        detail::format("pitch: {} bytes from row to row; expected at least the width of a row, {}",
                       where.pitch, where.width));
  }
  const std::size_t room = detail::span_of(elements);
  // Written without a product, which could overflow.
  const bool fits = where.width <= room &&
                    (where.rows == 1 || where.rows - 1 <= (room - where.width) / where.pitch);
  if (!fits) {
    throw interop_error(
        fault::out_of_allocation,
        detail::format("rows: {} rows of {} bytes with pitch {} are too long for the memory, which "
                       "has {} bytes",
                       where.rows, where.width, where.pitch, room));
  }
}

/// Both sides of a copy of rows.
std::pair<array, array> both_rows(const array& dst, const pitched& to, const array& src,
                                  const pitched& from) {
  return {dst.with_view(rows_of(dst.elements(), to, from, src.elements().first_byte())),
          src.with_view(rows_of(src.elements(), from, to, dst.elements().first_byte()))};
}

}  // namespace

any_view rows_of(const any_view& elements, const pitched& where, const pitched& other_where,
                 const void* other) {
  check_rows(elements, where);
  const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const dtype word = detail::widest_word(where.pitch | where.width | other_where.pitch |
                                         address(elements.first_byte()) | address(other));
  const auto size = word.itemsize();
  const auto count = [&](std::size_t bytes) { return static_cast<std::int64_t>(bytes / size); };
  const auto rows = static_cast<std::int64_t>(where.rows);
  layout rows_layout;
  detail::require_valid(
      layout::strided({rows, count(where.width)}, {count(where.pitch), 1}, size, rows_layout));
  any_view out =
      detail::view_of(elements.first_byte(), word, std::move(rows_layout), elements.kind());
  return elements.read_only() ? out.as_read_only() : out;
}

sycl::event copy_2d_async(const sycl::queue& queue, const array& dst, std::size_t dst_pitch,
                          const array& src, std::size_t src_pitch, std::size_t width,
                          std::size_t rows, std::span<const sycl::event> depends) {
  const auto [to, from] = both_rows(dst, {dst_pitch, width, rows}, src, {src_pitch, width, rows});
  return copy_async(queue, to, from, depends);
}

void copy_2d(const array& dst, std::size_t dst_pitch, const array& src, std::size_t src_pitch,
             std::size_t width, std::size_t rows) {
  const auto [to, from] = both_rows(dst, {dst_pitch, width, rows}, src, {src_pitch, width, rows});
  copy(to, from);
}

}  // namespace usmx
