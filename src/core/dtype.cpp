// SPDX-License-Identifier: Apache-2.0
#include "usmx/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/numbers.hpp"
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
  if (letter == 'V') return n >= 1 && n <= largest_record;
  if (n > 16 || !std::has_single_bit(n)) return false;
  const int row = detail::number_row_index(letter, n);
  return row >= 0 && !detail::number_rows[static_cast<std::size_t>(row)].is_described;
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
  static const auto* const described = [] {
    auto* const all = new std::array<fields, detail::number_rows.size()>;
    for (std::size_t k = 0; k < all->size(); ++k) {
      const detail::number_row& row = detail::number_rows[k];
      if (!row.is_described) continue;
      (*all)[k] = {{std::string(row.name), {}, {type_class::record, row.itemsize}, {}}};
    }
    return all;
  }();
  const detail::number_row* const row = detail::number_row_of(*this);
  if (row == nullptr || !row->is_described) return members_.get();
  return &(*described)[static_cast<std::size_t>(row - detail::number_rows.data())];
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
  for (int k = 0; k < static_cast<int>(detail::number_rows.size()); ++k) {
    const dtype number = detail::type_of_row(k);
    if (number.description() != nullptr && members == *number.description()) {
      out = number;
      return fault::none;
    }
  }
  dtype made(type_class::record, static_cast<std::uint32_t>(bytes));
  made.levels_ = static_cast<std::uint8_t>(levels + 1);
  made.members_ = std::make_shared<const fields>(std::move(members));
  out = std::move(made);
  return fault::none;
}

std::size_t dtype::alignment() const noexcept {
  if (is_record()) return 1;
  return class_ == type_class::complex ? itemsize_ / 2 : itemsize_;
}

std::string dtype::typestr() const {
  const detail::number_row* const row = detail::number_row_of(*this);
  const char letter = row != nullptr && row->is_described ? 'V' : static_cast<char>(class_);
  const bool has_no_order = itemsize_ == 1 || is_record();
  return std::string{has_no_order ? '|' : '<', letter} + std::to_string(itemsize_);
}

std::string dtype::name() const {
  if (const detail::number_row* const row = detail::number_row_of(*this))
    return std::string(row->name);
  return "record" + std::to_string(std::uint64_t{itemsize_} * 8);
}

bool operator==(const dtype& a, const dtype& b) noexcept {
  if (a.class_ != b.class_ || a.itemsize_ != b.itemsize_ || a.is_bfloat16_ != b.is_bfloat16_) {
    return false;
  }
  if (a.members_ == b.members_) return true;
  return a.members_ && b.members_ && *a.members_ == *b.members_;
}

}  // namespace usmx
