// Memory for the time of one transfer; see temporaries.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/temporaries.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/format.hpp"
#include "runtime/backend.hpp"

namespace usmx::detail {
namespace {

/// Pinned memory is slow to allocate, and only faster for devices with their own memory.
bool wants_pinned(const sycl::queue& queue) { return !backend_of(queue).is_host; }

}  // namespace

any_view view_of(void* data, const dtype& type, layout where, usm_kind kind) {
  any_view out;
  require_valid(any_view::make(data, type, std::move(where), kind, false, out));
  return out;
}

array empty_in(const sycl::queue& queue, const layout& where, const dtype& type, usm_kind kind) {
  if (where.is_c_contiguous()) return array::empty(queue, where.shape().span(), type, kind);
  const std::int64_t count[] = {where.size()};
  const array all = array::empty(queue, count, type, kind);
  return all.with_view(view_of(all.data(), type, where, kind));
}

any_view bytes_at(void* data, std::size_t count, usm_kind kind) {
  const extents shape{static_cast<std::int64_t>(count)};
  return view_of(data, dtype(), packed_layout(shape, dtype()), kind);
}

layout packed_layout(const extents& shape, const dtype& type) {
  layout out;
  require_valid(layout::c_order(shape, type.itemsize(), out));
  return out;
}

std::size_t span_of(const any_view& v) noexcept {
  return static_cast<std::size_t>(v.last_byte() - v.first_byte());
}

any_view moved_to(void* base, const any_view& like, usm_kind kind) {
  return view_of(
      static_cast<std::byte*>(base) + (static_cast<std::byte*>(like.data()) - like.first_byte()),
      like.dtype(), like.layout(), kind);
}

array host_bytes(command_chain& commands, std::size_t count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1);
  if (wants_pinned(commands.queue())) {
    try {
      const std::int64_t shape[] = {static_cast<std::int64_t>(bytes)};
      array pinned = array::empty(commands.queue(), shape, dtype(), usm_kind::host);
      pinned.wait();  // a pool may return memory that earlier commands still use
      commands.keep(pinned);
      return pinned;
    } catch (const std::exception&) {
      // No pinned memory, or none left: a copy from other memory is slower, but possible.
    }
  }
  std::unique_ptr<std::byte[]> plain(new std::byte[bytes]);
  any_view view = bytes_at(plain.get(), bytes, usm_kind::unknown);
  shared_owner owner =
      adopt(plain.release(), bytes, [](void* p) { delete[] static_cast<std::byte*>(p); });
  commands.keep(owner);
  return array::over(std::move(view), commands.queue(), std::move(owner));
}

any_view staging_elements(command_chain& commands, const extents& shape, const dtype& type) {
  layout where = packed_layout(shape, type);
  const array bytes =
      host_bytes(commands, static_cast<std::size_t>(where.size()) * type.itemsize());
  return view_of(bytes.data(), type, std::move(where), usm_kind::unknown);
}

array device_elements(command_chain& commands, const extents& shape, const dtype& type) {
  array out = array::empty(commands.queue(), shape.span(), type, usm_kind::device);
  commands.keep(out);
  return out;
}

}  // namespace usmx::detail
