// SPDX-License-Identifier: Apache-2.0
#include "usmx/dlpack.hpp"

#include <bit>
#include <span>
#include <string_view>

#include "core/format.hpp"
#include "core/numbers.hpp"

namespace usmx::dlpack {
namespace {

// The structs are read and written by other libraries.
static_assert(sizeof(data_type) == 4 && sizeof(device) == 8 && sizeof(tensor) == 48);
static_assert(sizeof(managed_tensor) == 64 && sizeof(versioned_tensor) == 80);
static_assert(sizeof(exchange_table) == 56);

fault read_type(const data_type& t, dtype& out) {
  if (t.lanes != 1) return fault::typestr_unsupported;
  for (std::size_t k = 0; k < detail::number_rows.size(); ++k) {
    const detail::number_row& row = detail::number_rows[k];
    if (row.dlpack != t.code || row.itemsize * 8 != t.bits) continue;
    out = detail::type_of_row(static_cast<int>(k));
    return fault::none;
  }
  return fault::typestr_unsupported;
}

/// For messages: never more lengths than an array may have.
std::string text_of(const std::int64_t* numbers, std::int32_t rank) {
  if (numbers == nullptr) return "null";
  if (rank < 0 || rank > max_rank) return "";
  return detail::shape_text(std::span(numbers, static_cast<std::size_t>(rank)));
}

}  // namespace

fault check(const tensor& t, bool read_only, any_view& out) {
  if (t.rank < 0 || t.rank > max_rank) return fault::rank_too_high;
  if (t.rank > 0 && t.shape == nullptr) return fault::shape_null;
  dtype type;
  if (const fault wrong = read_type(t.type, type); wrong != fault::none) return wrong;

  const auto rank = static_cast<std::size_t>(t.rank);
  extents shape(std::span<const std::int64_t>(t.shape, rank));
  layout where;
  const fault wrong = t.strides == nullptr
                          ? layout::c_order(std::move(shape), type.itemsize(), where)
                          : layout::strided(std::move(shape),
                                            extents(std::span<const std::int64_t>(t.strides, rank)),
                                            type.itemsize(), where);
  if (wrong != fault::none) return wrong;

  auto first = reinterpret_cast<std::uintptr_t>(t.data);
  if (where.size() > 0) {
    if (first == 0) return fault::data_null;
    if (__builtin_add_overflow(first, t.byte_offset, &first)) return fault::address_overflow;
  }
  return any_view::make(reinterpret_cast<void*>(first), std::move(type), std::move(where),
                        usm_kind::unknown, read_only, out);
}

std::string describe(const tensor& t, fault code) {
  if (code == fault::none) return "";
  const std::string_view rule = message(code);
  const std::string shape = text_of(t.shape, t.rank);
  switch (code) {
    case fault::rank_too_high:
      return detail::format("ndim: {} is not supported; 0 to {} dimensions are", t.rank, max_rank);
    case fault::typestr_unsupported:
      return detail::format(
          "dtype: code {}, {} bits, {} lanes is not supported; expected one lane of int or uint "
          "with 8 to 64 bits, float with 16 to 64, bfloat with 16, complex with 64 or 128, or bool "
          "with 8",
          static_cast<int>(t.type.code), static_cast<int>(t.type.bits), t.type.lanes);
    case fault::strides_overflow:
    case fault::strides_rank:
      return detail::format("strides: {} {}, with shape {}", text_of(t.strides, t.rank), rule,
                            shape);
    case fault::shape_null:
      return detail::format("shape: {}, with {} of them", rule, t.rank);
    case fault::shape_negative:
    case fault::shape_overflow:
      return detail::format("shape: {} {}", shape, rule);
    default:
      return detail::format("{}: 0x{:x} + {} {}, with shape {}", field_of(code),
                            reinterpret_cast<std::uintptr_t>(t.data), t.byte_offset, rule, shape);
  }
}

bool describe_type(const dtype& type, data_type& out) noexcept {
  const detail::number_row* const row = detail::number_row_of(type);
  if (row == nullptr) return false;
  out = {row->dlpack, static_cast<std::uint8_t>(row->itemsize * 8), 1};
  return true;
}

}  // namespace usmx::dlpack
