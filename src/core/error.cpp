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
    entry{fault::rank_too_high, "shape", "has too many dimensions; at most 64 are supported"},
    entry{fault::shape_negative, "shape", "has a negative length; lengths must be 0 or more"},
    entry{fault::shape_overflow, "shape", "is too large; at most 2**63 - 1 bytes are supported"},
    entry{fault::shape_null, "shape", "is null, but the array has dimensions"},
    entry{fault::typestr_malformed, "typestr",
          "is not a valid type; expected a byte order ('<', '|' or '='), a letter of 'biufcV' and "
          "a size in bytes, as in '<f4'"},
    entry{fault::typestr_unsupported, "typestr",
          "is not a supported type; expected b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8, c8, "
          "c16 or V with a size of 1 to 2147483647 bytes"},
    entry{fault::typestr_byte_order, "typestr", "is not in native byte order (little-endian)"},
    entry{fault::typedescr_malformed, "typedescr",
          "must have fields with distinct names, non-negative lengths and at most 32 levels of "
          "nesting"},
    entry{fault::typedescr_size, "typedescr", "must have as many bytes as an element of typestr"},
    entry{fault::strides_rank, "strides", "must have one stride for each dimension of shape"},
    entry{fault::strides_overflow, "strides",
          "is too large; the elements may span at most 2**63 - 1 bytes"},
    entry{fault::offset_overflow, "offset",
          "is out of range; at most 2**63 - 1 bytes are supported"},
    entry{fault::address_overflow, "data",
          "is out of range; every element must be inside the address space, above address zero"},
    entry{fault::data_null, "data", "is null, but the array has elements"},
    entry{fault::data_misaligned, "data", "is not aligned for the element type"},
    entry{fault::version_unsupported, "version", "is not supported; only 1 is"},
    entry{fault::not_usm, "data", "is not USM that was allocated in the context of syclobj"},
    entry{fault::kind_mismatch, "data", "is not of the expected USM kind"},
    entry{fault::out_of_allocation, "data", "is not inside its allocation"},
    entry{fault::read_only, "data", "is read-only, but must be writable"},
    entry{fault::dtype_mismatch, "typestr", "is not the expected element type"},
    entry{fault::rank_mismatch, "shape", "has another number of dimensions than expected"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].code) != i) return false;
  }
  return static_cast<std::size_t>(fault::rank_mismatch) + 1 == table.size();
}
static_assert(is_in_order(), "one entry for each fault, in the order of the enumeration");

// A value without an enumerator counts as no fault.
const entry& at(fault f) noexcept {
  const auto i = static_cast<std::size_t>(f);
  return table[i < table.size() ? i : 0];
}

}  // namespace

std::string_view message(fault f) noexcept { return at(f).rule; }

std::string_view field_of(fault f) noexcept { return at(f).field; }

}  // namespace usmx
