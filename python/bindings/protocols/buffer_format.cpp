// Reads the format strings of PEP 3118, the notation of Python's `struct` module with the additions
// for complex numbers, records and arrays inside of records.
// SPDX-License-Identifier: Apache-2.0
#include "protocols/buffer_format.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace usmx::python {
namespace {

constexpr int deepest = 32;
constexpr std::int64_t most_bytes = 2147483647;

/// One pass over the text; every step says by an empty result that it cannot go on.
class format_reader {
 public:
  explicit format_reader(std::string_view text) : rest_(text) {}

  std::optional<buffer_element> read() {
    std::optional<item> element = read_item(0);
    if (!element || !rest_.empty() || !element->shape.empty()) return {};
    if (element->swapped && element->type.is_record()) return {};
    return buffer_element{element->type, element->swapped};
  }

 private:
  struct item {
    dtype type;
    bool swapped = false;
    std::size_t alignment = 1;
    std::vector<std::int64_t> shape;
  };

  bool skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char take() {
    if (rest_.empty()) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void read_byte_order() {
    while (!rest_.empty() &&
           std::string_view("@=<>!^").find(rest_.front()) != std::string_view::npos) {
      order_ = take();
    }
  }

  std::optional<std::int64_t> read_number() {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
    if (error != std::errc() || n < 0 || n > most_bytes) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return n;
  }

  /// "(2,3)" or a plain count.
  std::optional<std::vector<std::int64_t>> read_shape() {
    std::vector<std::int64_t> shape;
    if (skip('(')) {
      do {
        const std::optional<std::int64_t> n = read_number();
        if (!n) return {};
        shape.push_back(*n);
      } while (skip(','));
      if (!skip(')')) return {};
    } else if (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      const std::optional<std::int64_t> n = read_number();
      if (!n) return {};
      if (*n != 1) shape.push_back(*n);
    }
    return shape;
  }

  std::optional<item> read_item(int depth) {
    if (depth > deepest) return {};
    read_byte_order();
    std::optional<std::vector<std::int64_t>> shape = read_shape();
    if (!shape) return {};
    read_byte_order();
    item out;
    if (rest_.starts_with("T{")) {
      rest_.remove_prefix(2);
      if (!read_record(out, depth)) return {};
    } else if (!read_scalar(out)) {
      return {};
    }
    out.shape = std::move(*shape);
    return out;
  }

  bool is_native() const { return order_ == '@' || order_ == '^'; }

  bool read_scalar(item& out) {
    const bool is_complex = skip('Z');
    const char code = take();
    std::string typestr = "<";
    const auto size_of_long = std::to_string(is_native() ? sizeof(long) : 4);
    switch (code) {
      case '?':
        typestr += "b1";
        break;
      case 'b':
        typestr += "i1";
        break;
      case 'B':
      case 'c':
        typestr += "u1";
        break;
      case 'h':
        typestr += "i2";
        break;
      case 'H':
        typestr += "u2";
        break;
      case 'i':
        typestr += "i4";
        break;
      case 'I':
        typestr += "u4";
        break;
      case 'l':
        typestr += "i" + size_of_long;
        break;
      case 'L':
        typestr += "u" + size_of_long;
        break;
      case 'q':
      case 'n':
        typestr += "i8";
        break;
      case 'Q':
      case 'N':
        typestr += "u8";
        break;
      case 'e':
        typestr += "f2";
        break;
      case 'f':
        typestr += is_complex ? "c8" : "f4";
        break;
      case 'd':
        typestr += is_complex ? "c16" : "f8";
        break;
      default:
        return false;
    }
    if (is_complex && code != 'f' && code != 'd') return false;
    if (dtype::parse(typestr, out.type) != fault::none) return false;
    out.swapped = (order_ == '>' || order_ == '!') && out.type.itemsize() > 1;
    out.alignment = out.type.alignment();
    return true;
  }

  static void pad(dtype::fields& members, std::size_t bytes) {
    if (bytes == 0) return;
    field f;
    if (dtype::parse("|V" + std::to_string(bytes), f.type) == fault::none) members.push_back(f);
  }

  bool read_record(item& out, int depth) {
    dtype::fields members;
    std::size_t at = 0;
    while (!skip('}')) {
      if (rest_.empty()) return false;
      read_byte_order();
      if (read_padding(members, at)) continue;
      std::optional<item> member = read_item(depth + 1);
      if (!member || !skip(':') || member->swapped) return false;
      field f;
      const std::size_t end = rest_.find(':');
      if (end == std::string_view::npos) return false;
      f.name = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (order_ == '@') {  // the compiler's alignment is implied
        pad(members, (member->alignment - at % member->alignment) % member->alignment);
        out.alignment = std::max(out.alignment, member->alignment);
      }
      f.type = member->type;
      f.shape = std::move(member->shape);
      members.push_back(std::move(f));
      if (dtype::packed_size(members, at) != fault::none) return false;
    }
    return dtype::make_record(std::move(members), at, out.type) == fault::none;
  }

  /// "3x": bytes without a name.
  bool read_padding(dtype::fields& members, std::size_t& at) {
    const std::string_view before = rest_;
    std::int64_t n = 1;
    if (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      n = read_number().value_or(0);
    }
    if (n == 0 || !skip('x')) {
      rest_ = before;
      return false;
    }
    pad(members, static_cast<std::size_t>(n));
    return dtype::packed_size(members, at) == fault::none;
  }

  std::string_view rest_;
  char order_ = '@';
};

}  // namespace

std::optional<buffer_element> parse_buffer_format(std::string_view format) {
  return format_reader(format).read();
}

}  // namespace usmx::python
