// See rows.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "algorithm/rows.hpp"

#include <array>
#include <utility>

#include <sycl/device.hpp>

#include "usmx/copy.hpp"

namespace usmx::detail {

std::int64_t compute_units(const sycl::queue& queue) {
  return queue.get_device().get_info<sycl::info::device::max_compute_units>();
}

launch_range in_groups(std::int64_t groups, std::int64_t items) {
  const std::array global{static_cast<std::size_t>(groups * items)};
  const std::array local{static_cast<std::size_t>(items)};
  return {global, local};
}
launch_range one_by_one(std::int64_t items) { return in_groups(items, 1); }

dtype place_type(bool wide) noexcept {
  return wide ? dtype::of<std::int64_t>() : dtype::of<std::uint32_t>();
}

namespace {

/// `count` elements of `type` that begin at a byte of a contiguous array.
array row_in(const array& a, void* data, const dtype& type, std::int64_t count) {
  const any_view& v = a.elements();
  any_view row;
  const fault found = any_view::row(data, type, count, v.kind(), row);
  if (found != fault::none) throw interop_error(found, "row: its memory is not aligned");
  return a.with_view(v.read_only() ? row.as_read_only() : std::move(row));
}

}  // namespace

array as_words(const array& row, const dtype& type) {
  const any_view& v = row.elements();
  return row_in(row, v.data(), type, static_cast<std::int64_t>(v.nbytes() / type.itemsize()));
}

array part_of(const array& a, std::int64_t first, std::int64_t count) {
  const dtype& type = a.elements().dtype();
  auto* const begin = static_cast<std::byte*>(a.data());
  return row_in(a, begin + first * static_cast<std::int64_t>(type.itemsize()), type, count);
}

any_view host_view_of(const array& a, void* data) {
  const dtype& type = a.elements().dtype();
  layout in_order;
  any_view here;
  fault found = layout::c_order(extents(a.shape()), type.itemsize(), in_order);
  if (found == fault::none) {
    found = any_view::make(data, type, std::move(in_order), usm_kind::unknown, false, here);
  }
  if (found != fault::none) throw interop_error(found, "rows: their memory is not aligned");
  return here;
}

std::uint64_t number_in(const array& one) {
  std::uint64_t number = 0;
  any_view here;
  any_view::make(&number, dtype::of<std::uint64_t>(), one.elements().layout(), usm_kind::unknown,
                 false, here);
  copy_to_host(here, one);
  return number;
}

}  // namespace usmx::detail
