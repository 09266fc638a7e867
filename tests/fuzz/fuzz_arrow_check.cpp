// Any array of Arrow: the verdict must be that of a naive reading of the same structs, and so must
// the view.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arrow.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "input.hpp"

using usmx::any_view;
using usmx::fault;
namespace arrow = usmx::arrow;

namespace {

void end(arrow::schema*) {}
void end(arrow::array_data*) {}

constexpr std::size_t bitmap_bytes = 64;

/// One level: a type, an array, and what they point at.
struct level {
  std::string format;
  std::string metadata;
  arrow::schema type{};
  arrow::array_data data{};
  std::array<const void*, 2> buffers{};
  std::array<std::uint8_t, bitmap_bytes> bits{};
  std::array<arrow::schema*, 1> type_children{};
  std::array<arrow::array_data*, 1> data_children{};
};

std::string read_format(input& in, bool is_list) {
  static const char* const formats[] = {"c", "C", "s", "S", "i", "I",  "l",   "L",   "e",
                                        "f", "g", "b", "u", "n", "+s", "tdD", "w:3", "d:1,2"};
  if (is_list) return "+w:" + std::to_string(in.number());
  if (in.below(16) == 0) return in.text(in.below(6)).c_str();  // ends at a zero
  return formats[in.below(18)];
}

/// Pairs of texts after their lengths; a negative length ends it.
std::string read_metadata(input& in) {
  std::string out;
  const auto add = [&](std::int32_t n) { out.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const unsigned pairs = in.below(3);
  add(static_cast<std::int32_t>(pairs));
  for (unsigned k = 0; k < 2 * pairs; ++k) {
    std::string text = in.below(2) != 0 ? "ARROW:extension:name" : "arrow.bool8";
    if (in.below(4) == 0) text = in.text(in.below(8));
    if (in.below(16) == 0) {
      add(-1);
      break;
    }
    add(static_cast<std::int32_t>(text.size()));
    out += text;
  }
  return out;
}

void fill(level& l, input& in, bool is_list) {
  const std::uint8_t what = in.byte();
  l.format = read_format(in, is_list);
  l.type.format = l.format.c_str();
  l.type.release = end;
  if (what & 1) {
    l.metadata = read_metadata(in);
    l.type.metadata = l.metadata.c_str();
  }
  arrow::array_data& a = l.data;
  a.release = end;
  a.length = what & 2 ? static_cast<std::int64_t>(in.below(64)) : in.number();
  a.offset = what & 4 ? static_cast<std::int64_t>(in.below(64)) : in.number();
  a.null_count = what & 8 ? 0 : static_cast<std::int64_t>(in.below(6)) - 2;
  a.buffer_count = is_list ? 1 : 2;
  a.buffers = l.buffers.data();
  for (std::uint8_t& byte : l.bits) byte = what & 16 ? 0xff : in.byte();
  // The bits of longer arrays cannot be there.
  const bool fits = a.length >= 0 && a.offset >= 0 &&
                    a.length <= static_cast<std::int64_t>(bitmap_bytes * 8) &&
                    a.offset <= static_cast<std::int64_t>(bitmap_bytes * 8) - a.length;
  if (fits && what & 32) l.buffers[0] = l.bits.data();
  if (!is_list) {
    l.buffers[1] = reinterpret_cast<const void*>(
        what & 64 ? 0x10000 + std::uintptr_t{in.byte()} : static_cast<std::uintptr_t>(in.number()));
  }
  if (in.below(32) == 0) a.buffer_count = in.number();
  if (in.below(32) == 0) a.release = nullptr;
}

struct naive {
  bool is_valid = false;
  __int128 address = 0;
  std::vector<std::int64_t> shape;
};

std::size_t size_of(const std::string& format) {
  if (format == "c" || format == "C") return 1;
  if (format == "s" || format == "S" || format == "e") return 2;
  if (format == "i" || format == "I" || format == "f") return 4;
  if (format == "l" || format == "L" || format == "g") return 8;
  return 0;
}

/// In 128 bits, and bit by bit.
naive read_naively(const std::vector<std::unique_ptr<level>>& levels, bool host_reads) {
  naive out;
  __int128 first = 0;
  __int128 count = levels.front()->data.length;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const level& l = *levels[k];
    const arrow::array_data& a = l.data;
    const bool is_list = k + 1 < levels.size();
    if (a.release == nullptr || a.length < 0 || a.offset < 0) return out;
    if (static_cast<__int128>(a.offset) + a.length > INT64_MAX) return out;
    if (first + count > a.length || a.buffer_count != (is_list ? 1 : 2)) return out;
    if (a.null_count < -1) return out;
    if (a.null_count != 0 && count > 0) {
      if (l.buffers[0] == nullptr && a.null_count > 0) return out;
      if (l.buffers[0] != nullptr) {
        if (!host_reads) return out;
        for (__int128 at = a.offset + first; at < a.offset + first + count; ++at) {
          const auto bit = static_cast<std::size_t>(at);
          if ((l.bits[bit / 8] >> (bit % 8) & 1) == 0) return out;
        }
      }
    }
    if (!is_list) {
      const std::size_t bytes = size_of(l.format);
      if (bytes == 0) return out;
      out.shape.insert(out.shape.begin(), levels.front()->data.length);
      __int128 all = static_cast<__int128>(bytes);
      bool any = true;
      for (const std::int64_t n : out.shape) any &= n != 0;
      for (const std::int64_t n : out.shape) {
        if (n != 0) all *= n;  // as NumPy: an array without elements has no larger lengths either
        if (all > INT64_MAX) return out;
      }
      out.address = reinterpret_cast<std::uintptr_t>(l.buffers[1]);
      if (any) {
        if (out.address == 0) return out;
        out.address += (a.offset + first) * static_cast<__int128>(bytes);
        if (out.address + all > static_cast<__int128>(UINTPTR_MAX)) return out;
        if (out.address % static_cast<__int128>(bytes) != 0) return out;
      }
      out.is_valid = true;
      return out;
    }
    const std::int64_t length = std::stoll(l.format.substr(3));
    if (length < 0) return out;
    first = (a.offset + first) * length;
    count *= length;
    if (first > INT64_MAX || count > INT64_MAX) return out;
    out.shape.push_back(length);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const bool host_reads = in.below(4) != 0;
  const std::size_t depth = 1 + in.below(3);
  std::vector<std::unique_ptr<level>> levels;
  for (std::size_t k = 0; k < depth; ++k) {
    levels.push_back(std::make_unique<level>());
    fill(*levels.back(), in, k + 1 < depth);
  }
  for (std::size_t k = 0; k + 1 < depth; ++k) {
    level& l = *levels[k];
    l.type_children[0] = &levels[k + 1]->type;
    l.data_children[0] = &levels[k + 1]->data;
    l.type.child_count = l.data.child_count = 1;
    l.type.children = l.type_children.data();
    l.data.children = l.data_children.data();
  }

  const level& top = *levels.front();
  any_view found;
  const arrow::finding verdict = arrow::check(top.type, top.data, host_reads, found);
  if (verdict.text.empty() != (verdict.code == fault::none)) broken("a fault without a sentence");
  if (verdict && (found.data() != nullptr || found.size() != 0)) {
    broken("a fault changed the result");
  }
  const naive model = read_naively(levels, host_reads);
  if (static_cast<bool>(verdict) == model.is_valid) {
    broken("the naive reading says otherwise: " + verdict.text);
  }
  if (verdict) return 0;
  if (found.layout().shape() != usmx::extents(std::span<const std::int64_t>(model.shape)) ||
      !found.layout().is_c_contiguous() || !found.read_only() ||
      found.dtype().itemsize() != size_of(levels.back()->format)) {
    broken("another view");
  }
  if (found.size() > 0 &&
      static_cast<__int128>(reinterpret_cast<std::uintptr_t>(found.data())) != model.address) {
    broken("another address");
  }
  return 0;
}
