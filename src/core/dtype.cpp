// SPDX-License-Identifier: Apache-2.0
#include "usmx/dtype.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "usmx/layout.hpp"

namespace usmx {
namespace {

static_assert(std::endian::native == std::endian::little, "no SYCL device is big-endian");

constexpr std::uint64_t largest_record = 2147483647;
// Functions that walk a record recurse at most this deep.
constexpr std::uint8_t max_levels = 32;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool contains(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

// Types that exist elsewhere and that no device can hold: '|O', '<U8', '<M8[ns]', ...
bool is_foreign_type(char letter, std::string_view rest) {
  if (!contains("OSUTmMt", letter)) return false;
  while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
  const bool has_unit =
      contains("mM", letter) && rest.size() > 2 && rest.front() == '[' && rest.back() == ']';
  return rest.empty() || has_unit;
}

bool is_size_of(char letter, std::uint64_t n) {
  switch (letter) {
    case 'b':
      return n == 1;
    case 'i':
    case 'u':
      return n == 1 || n == 2 || n == 4 || n == 8;
    case 'f':
      return n == 2 || n == 4 || n == 8;
    case 'c':
      return n == 8 || n == 16;
    default:
      return n >= 1 && n <= largest_record;
  }
}

bool has_twice_the_same_name(const dtype::fields& members) {
  std::vector<std::string_view> names;
  names.reserve(2 * members.size());
  for (const field& f : members) {
    if (!f.name.empty()) names.push_back(f.name);
    if (!f.title.empty()) names.push_back(f.title);
  }
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

fault dtype::parse(std::string_view typestr, dtype& out) noexcept {
  if (typestr.size() < 2 || !contains("<>|=", typestr[0])) return fault::typestr_malformed;
  const char letter = typestr[1];
  const std::string_view digits = typestr.substr(2);
  if (is_foreign_type(letter, digits)) return fault::typestr_unsupported;
  if (!contains("biufcV", letter)) return fault::typestr_malformed;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return fault::typestr_malformed;
  }
  if (digits.size() > 1 && digits[0] == '0') return fault::typestr_malformed;
  std::uint64_t n = 0;
  for (const char c : digits) {
    n = std::min(n * 10 + static_cast<std::uint64_t>(c - '0'), largest_record + 1);
  }
  if (!is_size_of(letter, n)) return fault::typestr_unsupported;
  if (typestr[0] == '>' && n > 1) return fault::typestr_byte_order;
  out = dtype(static_cast<type_class>(letter), static_cast<std::uint32_t>(n));
  return fault::none;
}

const dtype::fields* dtype::description() const noexcept {
  // Leaked: exports may come after the statics of this library.
  static const fields* const named = new fields{{"bfloat16", {}, {type_class::record, 2}, {}}};
  return is_bfloat16_ ? named : members_.get();
}

fault dtype::packed_size(const fields& members, std::size_t& bytes) noexcept {
  std::uint64_t total = 0;
  for (const field& f : members) {
    if (f.shape.size() > static_cast<std::size_t>(max_rank)) return fault::typedescr_malformed;
    if (std::any_of(f.shape.begin(), f.shape.end(), [](std::int64_t n) { return n < 0; })) {
      return fault::typedescr_malformed;
    }
    // A length of zero means no bytes, even if the product of the other lengths overflows.
    const bool is_empty = std::find(f.shape.begin(), f.shape.end(), 0) != f.shape.end();
    std::uint64_t size = is_empty ? 0 : f.type.itemsize();
    for (const std::int64_t n : f.shape) {
      if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(n), &size)) {
        return fault::typedescr_size;
      }
    }
    if (__builtin_add_overflow(total, size, &total)) return fault::typedescr_size;
  }
  if (total > largest_record) return fault::typedescr_size;
  bytes = static_cast<std::size_t>(total);
  return fault::none;
}

fault dtype::make_record(fields members, std::size_t itemsize, dtype& out) {
  std::size_t bytes = 0;
  if (const fault f = packed_size(members, bytes); f != fault::none) return f;
  if (has_twice_the_same_name(members)) return fault::typedescr_malformed;
  std::uint8_t levels = 0;
  for (const field& f : members) levels = std::max(levels, f.type.levels_);
  if (levels == max_levels) return fault::typedescr_malformed;
  if (bytes != itemsize || bytes == 0) return fault::typedescr_size;
  if (members == *of<bfloat16>().description()) {
    out = of<bfloat16>();
    return fault::none;
  }
  dtype made(type_class::record, static_cast<std::uint32_t>(bytes));
  made.levels_ = static_cast<std::uint8_t>(levels + 1);
  made.members_ = std::make_shared<const fields>(std::move(members));
  out = std::move(made);
  return fault::none;
}

std::size_t dtype::alignment() const noexcept {
  switch (class_) {
    case type_class::record:
      return 1;
    case type_class::complex:
      return itemsize_ / 2;
    default:
      return itemsize_;
  }
}

std::string dtype::typestr() const {
  if (is_bfloat16_) return "<V2";
  const bool has_no_order = itemsize_ == 1 || is_record();
  return std::string{has_no_order ? '|' : '<', static_cast<char>(class_)} +
         std::to_string(itemsize_);
}

std::string dtype::name() const {
  if (is_bfloat16_) return "bfloat16";
  const std::string bits = std::to_string(std::uint64_t{itemsize_} * 8);
  switch (class_) {
    case type_class::boolean:
      return "bool";
    case type_class::integer:
      return "int" + bits;
    case type_class::unsigned_integer:
      return "uint" + bits;
    case type_class::floating:
      return "float" + bits;
    case type_class::complex:
      return "complex" + bits;
    default:
      return "record" + bits;
  }
}

bool operator==(const dtype& a, const dtype& b) noexcept {
  if (a.class_ != b.class_ || a.itemsize_ != b.itemsize_ || a.is_bfloat16_ != b.is_bfloat16_) {
    return false;
  }
  if (a.members_ == b.members_) return true;
  return a.members_ && b.members_ && *a.members_ == *b.members_;
}

}  // namespace usmx
