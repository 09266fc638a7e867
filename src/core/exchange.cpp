// SPDX-License-Identifier: Apache-2.0
#include "usmx/exchange.hpp"

#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "core/format.hpp"

namespace usmx::exchange {
namespace {

// The structs are read and written by other libraries.
static_assert(sizeof(sycl_usm_array) == 88 && sizeof(sycl_usm_exchange_api) == 72);
static_assert(SYCL_USM_HOST == static_cast<int>(usm_kind::host) &&
              SYCL_USM_DEVICE == static_cast<int>(usm_kind::device) &&
              SYCL_USM_SHARED == static_cast<int>(usm_kind::shared));

std::span<const std::int64_t> numbers(const std::int64_t* from, std::int32_t count) {
  return {from, static_cast<std::size_t>(count)};
}

std::string typestr(char type, std::uint32_t itemsize) {
  std::array<char, 16> text{type == 'V' ? '|' : '=', type};
  char* const end = std::to_chars(text.data() + 2, text.data() + text.size(), itemsize).ptr;
  return std::string(text.data(), end);
}

/// What the letter is, where any number could stand.
std::string letter(char type) {
  const auto code = static_cast<unsigned char>(type);
  return code >= 0x20 && code < 0x7f ? detail::format("'{}'", type) : detail::format("{}", code);
}

}  // namespace

suai::fields read(const sycl_usm_array& a, const dtype::fields* members) {
  if (a.ndim < 0 || a.ndim > max_rank) {
    throw interop_error(
        fault::rank_too_high,
        detail::format("ndim: {} is not supported; 0 to {} dimensions are", a.ndim, max_rank));
  }
  if (a.ndim > 0 && a.shape == nullptr) {
    throw interop_error(fault::shape_null,
                        detail::format("shape: is null, with {} dimensions", a.ndim));
  }
  suai::fields f;
  dtype type;
  const bool is_bfloat16 = a.type == bfloat16_letter && a.itemsize == sizeof(bfloat16);
  const bool is_known =
      is_bfloat16 || std::string_view("biufcV").find(a.type) != std::string_view::npos;
  if (is_known) f.typestr = typestr(is_bfloat16 ? 'V' : a.type, a.itemsize);
  if (!is_known || dtype::parse(f.typestr, type) != fault::none) {
    throw interop_error(
        fault::typestr_unsupported,
        detail::format(
            "type, itemsize: {}, {} bytes is not supported; expected 'b' of 1 byte, 'i' "
            "or 'u' of 1 to 8, 'f' of 2 to 8, 'c' of 8 or 16, 'E' of 2, or 'V' of at least "
            "1",
            letter(a.type), a.itemsize));
  }
  if (is_bfloat16) members = dtype::of<bfloat16>().description();
  if (members != nullptr) f.typedescr = *members;
  f.shape = extents(numbers(a.shape, a.ndim));
  if (a.strides != nullptr) f.strides = extents(numbers(a.strides, a.ndim));
  f.offset = a.offset;
  f.data = reinterpret_cast<std::uintptr_t>(a.data);
  f.read_only = (a.flags & SYCL_USM_READ_ONLY) != 0;
  return f;
}

}  // namespace usmx::exchange
