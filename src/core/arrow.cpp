// SPDX-License-Identifier: Apache-2.0
#include "usmx/arrow.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "core/quoted.hpp"

namespace usmx::arrow {
namespace {

// The structs are read and written by other libraries.
static_assert(sizeof(schema) == 72 && sizeof(array_data) == 80 && sizeof(device_array) == 128);
static_assert(offsetof(device_array, sync_event) == 96);
static_assert(sizeof(stream) == 40 && sizeof(device_stream) == 48);

struct number_format {
  const char* format;
  const char* typestr;
};
constexpr std::array numbers{
    number_format{"c", "|i1"}, number_format{"C", "|u1"}, number_format{"s", "<i2"},
    number_format{"S", "<u2"}, number_format{"i", "<i4"}, number_format{"I", "<u4"},
    number_format{"l", "<i8"}, number_format{"L", "<u8"}, number_format{"e", "<f2"},
    number_format{"f", "<f4"}, number_format{"g", "<f8"},
};

constexpr std::string_view extension_key = "ARROW:extension:name";
constexpr std::string_view extension_metadata_key = "ARROW:extension:metadata";
constexpr std::string_view bool8 = "arrow.bool8";
constexpr std::string_view list_prefix = "+w:";

/// What other types are called, by how their formats begin, and what helps.
struct other_type {
  std::string_view prefix;
  std::string_view name;
  std::string_view advice;
};
constexpr std::array other_types{
    other_type{"b", "booleans as bits", "; cast them, for example with cast('uint8')"},
    other_type{"n", "nothing but missing elements", ""},
    other_type{"u", "text", ""},
    other_type{"U", "text", ""},
    other_type{"vu", "text", ""},
    other_type{"z", "binary", ""},
    other_type{"Z", "binary", ""},
    other_type{"vz", "binary", ""},
    other_type{"w:", "binary", ""},
    other_type{"d:", "decimal numbers", "; cast them, for example with cast('float64')"},
    other_type{"t", "dates and times", "; cast them, for example with cast('int64')"},
    other_type{"+s", "a struct or a table", "; pass its columns one by one"},
    other_type{"+", "nested", ""},
};

template <class... Values>
finding wrong(fault code, fmt::format_string<Values...> text, Values&&... values) {
  return {code, detail::format(text, std::forward<Values>(values)...)};
}

finding unsupported(std::string_view format) {
  std::string_view name = "unknown";
  std::string_view advice;
  for (const other_type& t : other_types) {
    if (!format.starts_with(t.prefix)) continue;
    name = t.name;
    advice = t.advice;
    break;
  }
  return wrong(fault::typestr_unsupported,
               "format: {} ({}) is not supported; expected numbers (c, C, s, S, i, I, l, L, e, "
               "f, g), arrow.bool8, or fixed-size lists (+w) of them{}",
               detail::quoted(format), name, advice);
}

/// The value of a key of a schema's metadata: a count, then for each pair two texts after their
/// lengths, all in 32 bits.
std::string_view metadata_value(const char* at, std::string_view key) {
  if (at == nullptr) return {};
  const auto number = [&at] {
    std::int32_t n = 0;
    std::memcpy(&n, at, sizeof n);
    at += sizeof n;
    return n;
  };
  const auto text = [&](std::string_view& out) {
    const std::int32_t length = number();
    if (length < 0) return false;
    out = {at, static_cast<std::size_t>(length)};
    at += length;
    return true;
  };
  for (std::int32_t left = number(); left > 0; --left) {
    std::string_view name;
    std::string_view value;
    if (!text(name) || !text(value)) return {};
    if (name == key) return value;
  }
  return {};
}

void append(std::string& out, std::string_view text) {
  const auto length = static_cast<std::int32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out += text;
}

/// The schema below a list; null and a finding if there is none.
const schema* child_of(const schema& s, finding& found) {
  if (s.child_count != 1 || s.children == nullptr || s.children[0] == nullptr) {
    found = wrong(fault::typestr_malformed, "n_children: {} of a fixed-size list; expected 1",
                  s.child_count);
    return nullptr;
  }
  return s.children[0];
}

/// Bits that are 0 among `count` from `first` on.
std::int64_t count_missing(const void* bits, std::int64_t first, std::int64_t count) {
  const auto* const bytes = static_cast<const std::uint8_t*>(bits);
  std::int64_t present = 0;
  std::int64_t at = first;
  const std::int64_t end = first + count;
  while (at < end) {
    if (at % 8 == 0 && end - at >= 8) {
      present += std::popcount(bytes[at / 8]);
      at += 8;
    } else {
      present += bytes[at / 8] >> (at % 8) & 1;
      ++at;
    }
  }
  return count - present;
}

/// Whether elements are missing among `count` from `first` on, counted from the first buffer's
/// begin.
finding find_missing(const array_data& a, std::int64_t first, std::int64_t count, bool host_reads) {
  constexpr const char* remedy = "give them a value first, for example with fill_null(0)";
  if (a.null_count < -1) {
    return wrong(fault::typestr_malformed, "null_count: {}; expected -1 or more", a.null_count);
  }
  if (a.null_count == 0 || count == 0) return {};
  const void* const bits = a.buffers[0];
  if (bits == nullptr) {
    if (a.null_count == -1) return {};
    return wrong(fault::typestr_malformed,
                 "null_count: {}, but buffers[0], which says which elements are missing, is null",
                 a.null_count);
  }
  if (!host_reads) {
    if (a.null_count > 0) {
      return wrong(fault::typestr_unsupported, "null_count: {} of {} elements are missing; {}",
                   a.null_count, a.length, remedy);
    }
    return wrong(fault::typestr_unsupported,
                 "null_count: -1, so elements may be missing, and the host cannot read the bits "
                 "that tell; {}",
                 remedy);
  }
  const std::int64_t missing = count_missing(bits, first, count);
  if (missing == 0) return {};
  return wrong(fault::typestr_unsupported, "null_count: {} of {} elements are missing; {}", missing,
               count, remedy);
}

/// `count` elements of a level, from its `first` on.
struct part {
  const array_data* of;
  std::int64_t first;
  std::int64_t count;
};

/// The fields that all levels have. On success `begin` is the position of the first element in the
/// buffers.
finding check_level(const part& p, std::int64_t buffers, std::int64_t children, bool host_reads,
                    std::int64_t& begin) {
  const array_data& a = *p.of;
  if (is_released(a)) {
    return wrong(fault::data_null, "release: is null; the array was released or moved away");
  }
  if (a.length < 0) {
    return wrong(fault::shape_negative, "length: {}; expected 0 or more", a.length);
  }
  std::int64_t end = 0;
  if (a.offset < 0 || __builtin_add_overflow(a.offset, a.length, &end)) {
    return wrong(fault::offset_overflow,
                 "offset: {}, with length {}; expected 0 or more, and a sum below 2**63", a.offset,
                 a.length);
  }
  if (p.first > a.length || p.count > a.length - p.first) {
    return wrong(fault::out_of_allocation,
                 "length: {} of a list's child; the list needs {} elements from {} on", a.length,
                 p.count, p.first);
  }
  if (a.buffer_count != buffers || a.buffers == nullptr) {
    return wrong(fault::data_null, "n_buffers: {}{}; expected {}", a.buffer_count,
                 a.buffers == nullptr ? ", and buffers is null" : "", buffers);
  }
  if (a.child_count != children ||
      (children > 0 && (a.children == nullptr || a.children[0] == nullptr))) {
    return wrong(fault::typestr_malformed, "n_children: {}; expected {}", a.child_count, children);
  }
  begin = a.offset + p.first;
  return find_missing(a, begin, p.count, host_reads);
}

}  // namespace

bool is_table(const schema& s) noexcept {
  return s.format != nullptr && std::string_view(s.format) == "+s";
}

finding read_type(const schema& s, element_type& out) {
  std::vector<std::int64_t> inner;
  const schema* at = &s;
  for (;;) {
    if (is_released(*at)) {
      return wrong(fault::typestr_malformed,
                   "release: is null; the schema was released or moved away");
    }
    if (at->format == nullptr) {
      return wrong(fault::typestr_malformed, "format: is null; expected a text");
    }
    const std::string_view format = at->format;
    if (at->dictionary != nullptr) {
      return wrong(fault::typestr_unsupported,
                   "dictionary: values by index (format {}) are not supported; decode them, for "
                   "example with dictionary_decode()",
                   detail::quoted(format));
    }
    if (format.starts_with(list_prefix)) {
      const std::string_view digits = format.substr(list_prefix.size());
      std::int64_t length = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), length);
      if (error != std::errc() || end != digits.data() + digits.size() || length < 0) {
        return wrong(fault::typestr_malformed,
                     "format: {}; expected the length of the lists after '+w:'",
                     detail::quoted(format));
      }
      inner.push_back(length);
      if (inner.size() >= static_cast<std::size_t>(max_rank)) {
        return wrong(fault::rank_too_high, "format: more than {} fixed-size lists in each other",
                     max_rank - 1);
      }
      finding found;
      at = child_of(*at, found);
      if (at == nullptr) return found;
      continue;
    }
    const char* typestr = nullptr;
    for (const number_format& n : numbers) {
      if (format == n.format) typestr = n.typestr;
    }
    if (typestr == nullptr) return unsupported(format);
    if (format == "c" && metadata_value(at->metadata, extension_key) == bool8) typestr = "|b1";
    if (at->child_count != 0) {
      return wrong(fault::typestr_malformed, "n_children: {} of a type of numbers; expected 0",
                   at->child_count);
    }
    dtype type;
    if (const fault code = dtype::parse(typestr, type); code != fault::none) {
      return unsupported(format);
    }
    out.type = std::move(type);
    out.inner = extents(std::span<const std::int64_t>(inner));
    return {};
  }
}

finding check(const schema& s, const array_data& a, bool host_reads, any_view& out) {
  element_type element;
  if (finding found = read_type(s, element)) return found;
  const std::size_t itemsize = element.type.itemsize();

  extents shape(element.inner.size() + 1);
  shape[0] = a.length;
  for (std::size_t k = 0; k < element.inner.size(); ++k) shape[k + 1] = element.inner[k];

  part at{&a, 0, a.length};
  std::int64_t begin = 0;
  for (const std::int64_t length : element.inner) {
    if (finding found = check_level(at, 1, 1, host_reads, begin)) return found;
    part below{at.of->children[0], 0, 0};
    if (__builtin_mul_overflow(begin, length, &below.first) ||
        __builtin_mul_overflow(at.count, length, &below.count)) {
      return wrong(fault::shape_overflow, "length: {} lists of {} elements from {} on are too many",
                   at.count, length, begin);
    }
    at = below;
  }
  if (finding found = check_level(at, 2, 0, host_reads, begin)) return found;

  layout where;
  if (const fault code = layout::c_order(shape, itemsize, where); code != fault::none) {
    return wrong(code, "length: shape {} {}", detail::shape_text(shape), message(code));
  }
  const auto base = reinterpret_cast<std::uintptr_t>(at.of->buffers[1]);
  std::uintptr_t first = base;
  if (where.size() > 0) {
    if (base == 0) {
      return wrong(fault::data_null, "buffers[1]: {}, with shape {}", message(fault::data_null),
                   detail::shape_text(shape));
    }
    std::uintptr_t distance = 0;
    if (__builtin_mul_overflow(static_cast<std::uintptr_t>(begin), itemsize, &distance) ||
        __builtin_add_overflow(base, distance, &first)) {
      return wrong(fault::address_overflow, "offset: {} elements of {} bytes from 0x{:x} on {}",
                   begin, itemsize, base, message(fault::address_overflow));
    }
  }
  const fault code = any_view::make(reinterpret_cast<void*>(first), std::move(element.type),
                                    std::move(where), usm_kind::unknown, true, out);
  if (code == fault::none) return {};
  return wrong(code, "buffers[1]: 0x{:x} + {} elements {}, with shape {}", base, begin,
               message(code), detail::shape_text(shape));
}

const char* format_of(const dtype& type) noexcept {
  if (type.kind() == type_class::boolean) return "c";
  if (type.is_record()) return nullptr;
  const std::string typestr = type.typestr();
  for (const number_format& n : numbers) {
    if (typestr == n.typestr) return n.format;
  }
  return nullptr;
}

std::string metadata_of(const dtype& type) {
  std::string out;
  if (type.kind() != type_class::boolean) return out;
  const std::int32_t pairs = 2;
  out.append(reinterpret_cast<const char*>(&pairs), sizeof pairs);
  append(out, extension_key);
  append(out, bool8);
  append(out, extension_metadata_key);
  append(out, "");
  return out;
}

}  // namespace usmx::arrow
