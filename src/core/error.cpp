// SPDX-License-Identifier: Apache-2.0
#include "usmx/error.hpp"

#include <array>

namespace usmx {
namespace {

struct entry {
  fault code;
  std::string_view field;
  std::string_view rule;
};

// In the order of the enumeration, so that looking one up is an index.
constexpr std::array table{
    entry{fault::none, "", ""},
    entry{fault::rank_too_high, "shape", "must have at most 64 dimensions"},
    entry{fault::shape_negative, "shape", "has a negative length; lengths are 0 or more"},
    entry{fault::shape_overflow, "shape", "must describe no more bytes than 63 bits can count"},
    entry{fault::typestr_malformed, "typestr",
          "must be a byte order ('<', '|' or '='), a letter out of 'biufcV' and a size in bytes, "
          "as in '<f4'"},
    entry{fault::typestr_unsupported, "typestr",
          "must be b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8, c8, c16 or V with a size of 1 "
          "to 2147483647 bytes"},
    entry{fault::typestr_byte_order, "typestr", "must be in native byte order, little-endian"},
    entry{fault::typedescr_malformed, "typedescr",
          "must be fields with distinct names, lengths that are not negative and at most 32 levels "
          "of nesting"},
    entry{fault::typedescr_size, "typedescr",
          "must describe as many bytes as typestr gives an element"},
    entry{fault::strides_rank, "strides", "must hold one stride for each dimension of shape"},
    entry{fault::strides_overflow, "strides", "must span no more bytes than 63 bits can count"},
    entry{fault::offset_overflow, "offset", "must be no more bytes than 63 bits can count"},
    entry{fault::address_overflow, "data",
          "must keep every element inside the address space, above address zero"},
    entry{fault::data_null, "data", "is not allowed, because there are elements"},
    entry{fault::data_misaligned, "data", "must be aligned for its element type"},
    entry{fault::version_unsupported, "version", "is not supported; only 1 is"},
    entry{fault::not_usm, "data", "must be USM that was allocated in the context of syclobj"},
    entry{fault::kind_mismatch, "data", "must be USM of the kind that was asked for"},
    entry{fault::out_of_allocation, "data",
          "must be an allocation that holds every element that shape, strides and offset reach"},
    entry{fault::read_only, "data", "must be writable, but is marked as read-only"},
    entry{fault::dtype_mismatch, "typestr", "must be the element type that was asked for"},
    entry{fault::rank_mismatch, "shape", "must have as many dimensions as were asked for"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].code) != i) return false;
  }
  return static_cast<std::size_t>(fault::rank_mismatch) + 1 == table.size();
}
static_assert(is_in_order(), "one entry for each fault, in the order of the enumeration");

// A value that no enumerator has reads as no fault: there is nothing true to say about it.
const entry& at(fault f) noexcept {
  const auto i = static_cast<std::size_t>(f);
  return table[i < table.size() ? i : 0];
}

}  // namespace

std::string_view message(fault f) noexcept { return at(f).rule; }

std::string_view field_of(fault f) noexcept { return at(f).field; }

}  // namespace usmx
