// Pitched rows as a view with two dimensions, so that every other copy serves them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

/// The widest unsigned integer of which all of these are multiples.
dtype word_for(std::uint64_t mix) {
  switch (std::min(std::countr_zero(mix | 8), 3)) {
    case 0:
      return dtype::of<std::uint8_t>();
    case 1:
      return dtype::of<std::uint16_t>();
    case 2:
      return dtype::of<std::uint32_t>();
    default:
      return dtype::of<std::uint64_t>();
  }
}

void check_rows(const any_view& elements, const pitched& where) {
  const std::string pitch = std::to_string(where.pitch);
  if (where.rows == 0 || where.width == 0) return;
  if (where.pitch < where.width && where.rows > 1) {
    throw std::invalid_argument("pitch: " + pitch + " bytes from row to row, but a row has " +
                                std::to_string(where.width));
  }
  const std::size_t room = detail::span_of(elements);
  // Without a product that could overflow.
  const bool fits = where.width <= room &&
                    (where.rows == 1 || where.rows - 1 <= (room - where.width) / where.pitch);
  if (!fits) {
    throw interop_error(fault::out_of_allocation,
                        "rows: " + std::to_string(where.rows) + " of " +
                            std::to_string(where.width) + " bytes with pitch " + pitch +
                            " leave the memory, which has " + std::to_string(room) + " bytes");
  }
}

}  // namespace

any_view rows_of(const any_view& elements, const pitched& where, const pitched& other_where,
                 const void* other) {
  check_rows(elements, where);
  const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const dtype word = word_for(where.pitch | where.width | other_where.pitch |
                              address(elements.first_byte()) | address(other));
  const auto size = word.itemsize();
  const auto count = [&](std::size_t bytes) { return static_cast<std::int64_t>(bytes / size); };
  const auto rows = static_cast<std::int64_t>(where.rows);
  layout rows_layout;
  const fault f =
      layout::strided({rows, count(where.width)}, {count(where.pitch), 1}, size, rows_layout);
  if (f != fault::none)
    throw interop_error(f, std::string(field_of(f)) + ": " + std::string(message(f)));
  any_view out =
      detail::view_of(elements.first_byte(), word, std::move(rows_layout), elements.kind());
  return elements.read_only() ? out.as_read_only() : out;
}

sycl::event copy_2d_async(const sycl::queue& queue, const array& dst, std::size_t dst_pitch,
                          const array& src, std::size_t src_pitch, std::size_t width,
                          std::size_t rows, std::span<const sycl::event> depends) {
  const pitched to{dst_pitch, width, rows};
  const pitched from{src_pitch, width, rows};
  return copy_async(
      queue, dst.with_view(rows_of(dst.elements(), to, from, src.elements().first_byte())),
      src.with_view(rows_of(src.elements(), from, to, dst.elements().first_byte())), depends);
}

void copy_2d(const array& dst, std::size_t dst_pitch, const array& src, std::size_t src_pitch,
             std::size_t width, std::size_t rows) {
  const pitched to{dst_pitch, width, rows};
  const pitched from{src_pitch, width, rows};
  copy(dst.with_view(rows_of(dst.elements(), to, from, src.elements().first_byte())),
       src.with_view(rows_of(src.elements(), from, to, dst.elements().first_byte())));
}

}  // namespace usmx
