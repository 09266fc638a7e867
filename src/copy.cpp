// Decides who moves the elements: the host where it may, the device where it must, both by way of
// packed memory where neither reaches the other side.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/copy.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "device_copy.hpp"
#include "loop_nest.hpp"
#include "traced_queue.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::copy_by_kernel;
using detail::copy_runs;
using detail::count_runs;
using detail::few_runs;
using detail::loop_nest;
using detail::make_nest;
using detail::same_bytes;
using detail::traced_on;

/// Up to here a host copy of shared memory is cheaper than any command, even if pages have to move.
constexpr std::size_t small_bytes = 16 * 1024;

/// Everything that was submitted for these elements is done, whoever submitted it: named uses of
/// the memory and, where its makers name none to us, whatever is in the queue they gave.
void wait_for(const array& a) {
  a.wait();
  if (!a.keep_alive() || a.keep_alive()->is_lent()) wait(a.queue());
}

/// Names the queue as long as commands of a blocking copy are in it. Left by an exception, some may
/// still run, and then the queue stays named.
template <class Copy>
void while_used(const sycl::queue& queue, std::initializer_list<const array*> arrays, Copy copy) {
  for (const array* a : arrays) a->used_on(queue);
  copy();
  const sycl::event nothing_left;
  for (const array* a : arrays) a->used_until(queue, nothing_left);
}

any_view view_of(void* data, const dtype& type, layout where, usm_kind kind) {
  any_view out;
  const fault f = any_view::make(data, type, std::move(where), kind, false, out);
  if (f != fault::none)
    throw interop_error(f, std::string(field_of(f)) + ": " + std::string(message(f)));
  return out;
}

layout packed_layout(const extents& shape, const dtype& type) {
  layout out;
  const fault f = layout::c_order(shape, type.itemsize(), out);
  if (f != fault::none)
    throw interop_error(f, std::string(field_of(f)) + ": " + std::string(message(f)));
  return out;
}

/// Host memory for the time of one copy; its contents are undefined.
struct host_bytes {
  explicit host_bytes(std::size_t n) : bytes(new std::byte[n]) {}
  std::unique_ptr<std::byte[]> bytes;
};

/// Packed host memory for the elements of `like`, seen in C order.
struct host_elements : host_bytes {
  host_elements(const extents& shape, const dtype& type)
      : host_elements(packed_layout(shape, type), type) {}
  any_view view;

 private:
  host_elements(layout where, const dtype& type)
      : host_bytes(
            std::max<std::size_t>(static_cast<std::size_t>(where.size()) * type.itemsize(), 1)),
        view(view_of(bytes.get(), type, std::move(where), usm_kind::unknown)) {}
};

std::size_t span_of(const any_view& v) noexcept {
  return static_cast<std::size_t>(v.last_byte() - v.first_byte());
}

/// The view `like`, but with its lowest byte at `base`.
any_view moved_to(std::byte* base, const any_view& like, usm_kind kind) {
  return view_of(base + (static_cast<std::byte*>(like.data()) - like.first_byte()), like.dtype(),
                 like.layout(), kind);
}

/// True if the elements fill their span: in some order, without gaps, each once.
bool is_dense(const any_view& v) noexcept {
  return make_nest(v, v).is_one_run(v.dtype().itemsize());
}

bool overlap(const any_view& a, const any_view& b) noexcept {
  return a.first_byte() < b.last_byte() && b.first_byte() < a.last_byte();
}

/// Packed device memory for the elements of `like`.
array device_elements(const sycl::queue& queue, const any_view& like) {
  return array::empty(queue, like.layout().shape().span(), like.dtype(), usm_kind::device);
}

void to_host(const any_view& dst, const any_view& src, sycl::queue& queue);
void from_host(const any_view& dst, const any_view& src, sycl::queue& queue);

/// Both sides within reach of the device of `queue`, at least one of them not the host's.
void on_device(const any_view& dst, const any_view& src, sycl::queue& queue) {
  if (overlap(dst, src)) {
    if (dst.data() == src.data() && dst.dtype() == src.dtype() && dst.layout() == src.layout())
      return;
    const array temporary = device_elements(queue, src);
    on_device(temporary.elements(), src, queue);
    on_device(dst, temporary.elements(), queue);
    return;
  }
  const loop_nest nest = make_nest(dst, src);
  if (same_bytes(dst.dtype(), src.dtype()) &&
      count_runs(nest, dst.dtype().itemsize()) <= few_runs) {
    return copy_runs(queue, dst, src, nest);
  }
  try {
    copy_by_kernel(queue, dst, src, nest);
  } catch (const build_error&) {
    // Without a compiler, or without the type on this device, the elements take the long way.
    const host_elements staged(src.layout().shape(), src.dtype());
    if (host_accessible(src.kind())) {
      convert_on_host(staged.view, src);
    } else {
      to_host(staged.view, src, queue);
    }
    if (host_accessible(dst.kind())) {
      convert_on_host(dst, staged.view);
    } else {
      from_host(dst, staged.view, queue);
    }
  }
}

/// From device memory; `dst` is host memory of any layout and dtype.
void to_host(const any_view& dst, const any_view& src, sycl::queue& queue) {
  const bool same = same_bytes(dst.dtype(), src.dtype());
  if (same && !overlap(dst, src)) {
    const loop_nest nest = make_nest(dst, src);
    if (count_runs(nest, src.dtype().itemsize()) <= few_runs)
      return copy_runs(queue, dst, src, nest);
  }
  // Bytes between the elements may come along as long as they are not many.
  const std::size_t span = span_of(src);
  if (span <= std::max(2 * src.nbytes(), small_bytes)) {
    const host_bytes all(span);
    wait(queue.memcpy(all.bytes.get(), src.first_byte(), span), queue);
    return convert_on_host(dst, moved_to(all.bytes.get(), src, usm_kind::unknown));
  }
  const host_elements staged(src.layout().shape(), src.dtype());
  const any_view& landing = same && dst.layout().is_c_contiguous() ? dst : staged.view;
  const loop_nest direct = make_nest(landing, src);
  if (count_runs(direct, src.dtype().itemsize()) <= few_runs) {
    copy_runs(queue, landing, src, direct);
  } else {
    try {
      const array packed = device_elements(queue, src);
      copy_by_kernel(queue, packed.elements(), src, make_nest(packed.elements(), src));
      wait(queue.memcpy(landing.data(), packed.data(), src.nbytes()), queue);
    } catch (const build_error&) {
      copy_runs(queue, landing, src, direct);
    }
  }
  if (landing.data() != dst.data()) convert_on_host(dst, landing);
}

/// To device memory; `src` is host memory of any layout and dtype.
void from_host(const any_view& dst, const any_view& src, sycl::queue& queue) {
  if (same_bytes(dst.dtype(), src.dtype())) {
    const loop_nest nest = make_nest(dst, src);
    if (count_runs(nest, dst.dtype().itemsize()) <= few_runs)
      return copy_runs(queue, dst, src, nest);
  }
  if (is_dense(dst)) {
    const host_bytes all(dst.nbytes());
    convert_on_host(moved_to(all.bytes.get(), dst, usm_kind::unknown), src);
    wait(queue.memcpy(dst.first_byte(), all.bytes.get(), dst.nbytes()), queue);
    return;
  }
  const host_elements staged(dst.layout().shape(), dst.dtype());
  convert_on_host(staged.view, src);
  const loop_nest nest = make_nest(dst, staged.view);
  if (count_runs(nest, dst.dtype().itemsize()) <= few_runs)
    return copy_runs(queue, dst, staged.view, nest);
  try {
    const array packed = device_elements(queue, dst);
    wait(queue.memcpy(packed.data(), staged.view.data(), dst.nbytes()), queue);
    copy_by_kernel(queue, dst, packed.elements(), make_nest(dst, packed.elements()));
  } catch (const build_error&) {
    copy_runs(queue, dst, staged.view, nest);
  }
}

template <class T>
void fill_run(sycl::queue& queue, void* data, const void* element, std::size_t count) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  wait(queue.fill(data, value, count), queue);
}

/// `count` elements in a row in device memory.
void fill_dense(sycl::queue& queue, std::byte* data, const std::byte* element, std::size_t itemsize,
                std::size_t count) {
  if (std::all_of(element, element + itemsize, [&](std::byte b) { return b == element[0]; })) {
    wait(queue.memset(data, std::to_integer<int>(element[0]), itemsize * count), queue);
    return;
  }
  switch (itemsize) {
    case 2:
      return fill_run<std::uint16_t>(queue, data, element, count);
    case 4:
      return fill_run<std::uint32_t>(queue, data, element, count);
    case 8:
      return fill_run<std::uint64_t>(queue, data, element, count);
    default:
      break;
  }
  // What the runtime has no pattern for grows by doubling.
  const std::size_t total = itemsize * count;
  wait(queue.memcpy(data, element, itemsize), queue);
  for (std::size_t done = itemsize; done < total;) {
    const std::size_t next = std::min(done, total - done);
    wait(queue.memcpy(data + done, data, next), queue);
    done += next;
  }
}

/// One element at `element`, repeated over the shape of `like`.
any_view repeated(const void* element, const any_view& like, usm_kind kind) {
  const extents zero(static_cast<std::size_t>(like.rank()), 0);
  layout where;
  const fault f = layout::strided(like.layout().shape(), zero, like.dtype().itemsize(), where);
  if (f != fault::none)
    throw interop_error(f, std::string(field_of(f)) + ": " + std::string(message(f)));
  return view_of(const_cast<void*>(element), like.dtype(), std::move(where), kind).as_read_only();
}

}  // namespace

void copy(const array& dst, const array& src) {
  const any_view& to = dst.elements();
  const any_view& from = src.elements();
  detail::check_copy(to, from);
  if (to.size() == 0) return;
  sycl::queue queue = dst.queue();
  const traced record(trace_action::copy,
                      [&] { return traced_on(queue, detail::traced_views(to, from)); });

  if (host_accessible(to.kind()) && host_accessible(from.kind()) &&
      (to.nbytes() <= small_bytes || queue.get_device().is_cpu())) {
    wait_for(src);
    wait_for(dst);
    return convert_on_host(to, from);
  }
  if (src.queue() == queue || (src.queue().get_context() == queue.get_context() &&
                               src.queue().get_device() == queue.get_device())) {
    wait_for(src);
    wait_for(dst);
    return while_used(queue, {&src, &dst}, [&] { on_device(to, from, queue); });
  }
  if (host_accessible(from.kind())) {
    wait_for(src);
    return copy_from_host(dst, from);
  }
  if (host_accessible(to.kind())) {
    wait_for(dst);
    return copy_to_host(to, src);
  }
  const host_elements staged(from.layout().shape(), from.dtype());
  copy_to_host(staged.view, src);
  copy_from_host(dst, staged.view);
}

void copy_to_host(const any_view& dst, const array& src) {
  detail::check_copy(dst, src.elements());
  if (dst.size() == 0) return;
  const traced record(trace_action::copy, [&] {
    return traced_on(src.queue(), detail::traced_views(dst, src.elements()));
  });
  wait_for(src);
  if (host_accessible(src.kind())) return convert_on_host(dst, src.elements());
  sycl::queue queue = src.queue();
  while_used(queue, {&src}, [&] { to_host(dst, src.elements(), queue); });
}

void copy_from_host(const array& dst, const any_view& src) {
  detail::check_copy(dst.elements(), src);
  if (src.size() == 0) return;
  const traced record(trace_action::copy, [&] {
    return traced_on(dst.queue(), detail::traced_views(dst.elements(), src));
  });
  wait_for(dst);
  if (host_accessible(dst.kind())) return convert_on_host(dst.elements(), src);
  sycl::queue queue = dst.queue();
  while_used(queue, {&dst}, [&] { from_host(dst.elements(), src, queue); });
}

array copied(const array& src, const sycl::queue& queue, dtype type, usm_kind kind) {
  array out = array::empty(queue, src.elements().layout().shape().span(), std::move(type), kind);
  copy(out, src);
  return out;
}

void fill(const array& dst, const void* element) {
  const any_view& to = dst.elements();
  // A pointer to a record may point anywhere, every other element must be aligned to be a view.
  const std::size_t itemsize = to.dtype().itemsize();
  alignas(16) std::byte aligned[16];
  if (itemsize <= sizeof(aligned)) element = std::memcpy(aligned, element, itemsize);
  const any_view one = repeated(element, to, usm_kind::unknown);
  detail::check_copy(to, one);
  if (to.size() == 0) return;
  const traced record(trace_action::fill, [&] {
    return traced_on(dst.queue(), {.bytes = to.nbytes(), .address = to.data(), .kind = to.kind()});
  });
  wait_for(dst);
  if (host_accessible(to.kind())) return convert_on_host(to, one);

  sycl::queue queue = dst.queue();
  while_used(queue, {&dst}, [&] {
    if (is_dense(to)) {
      return fill_dense(queue, to.first_byte(), static_cast<const std::byte*>(element), itemsize,
                        static_cast<std::size_t>(to.size()));
    }
    const std::int64_t single[] = {1};
    const array seed = array::empty(queue, single, to.dtype(), usm_kind::device);
    wait(queue.memcpy(seed.data(), element, itemsize), queue);
    on_device(to, repeated(seed.data(), to, usm_kind::device), queue);
  });
}

}  // namespace usmx
