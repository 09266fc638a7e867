// SPDX-License-Identifier: Apache-2.0
#include "usmx/suai.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "core/format.hpp"
#include "core/quoted.hpp"

namespace usmx::suai {

using usmx::detail::format;
using usmx::detail::quoted;
using usmx::detail::shape_text;

namespace {

// NumPy spells "no description" as one nameless field that is the element itself.
bool says_nothing(const dtype::fields& members, const dtype& type) {
  return members.size() == 1 && members[0].name.empty() && members[0].title.empty() &&
         members[0].shape.empty() && members[0].type == type;
}

fault read_type(const fields& f, dtype& out) {
  dtype type;
  if (const fault wrong = dtype::parse(f.typestr, type); wrong != fault::none) return wrong;
  if (f.typedescr && !says_nothing(*f.typedescr, type)) {
    dtype record;
    const fault wrong = dtype::make_record(*f.typedescr, type.itemsize(), record);
    if (wrong != fault::none) return wrong;
    if (type.is_record()) type = std::move(record);
  }
  out = std::move(type);
  return fault::none;
}

fault read_layout(const fields& f, std::size_t itemsize, layout& out) {
  return f.strides ? layout::strided(f.shape, *f.strides, itemsize, out)
                   : layout::c_order(f.shape, itemsize, out);
}

std::string tuple(std::span<const std::int64_t> values) {
  constexpr std::size_t most = 8;
  std::string text = shape_text(values.first(std::min(most, values.size())));
  if (values.size() > most) text.insert(text.size() - 1, ", ...");
  return text;
}

// "(2, 3) with strides (3, 1)": what decides where the elements lie.
std::string arrangement(const fields& f) {
  std::string text = tuple(f.shape.span());
  if (f.strides) text += " with strides " + tuple(f.strides->span());
  if (f.offset != 0) text += format(" and offset {}", f.offset);
  return text;
}

std::string held(const fields& f, std::string_view field) {
  if (field == "shape") return tuple(f.shape.span());
  if (field == "strides") return f.strides ? tuple(f.strides->span()) : "None";
  if (field == "typestr") return quoted(f.typestr);
  if (field == "typedescr") {
    const std::size_t n = f.typedescr ? f.typedescr->size() : 0;
    std::size_t bytes = 0;
    std::string text = format("{} {}", n, n == 1 ? "field" : "fields");
    if (f.typedescr && dtype::packed_size(*f.typedescr, bytes) == fault::none) {
      text += format(" of {} bytes", bytes);
    }
    return text;
  }
  if (field == "offset") return format("{}", f.offset);
  if (field == "version") return format("{}", f.version);
  return format("{:#x}", f.data);
}

// What these fields add to the rule.
std::string addition(const fields& f, fault code) {
  dtype type;
  const bool known = dtype::parse(f.typestr, type) == fault::none;
  const std::size_t itemsize = type.itemsize();
  const std::string shape = tuple(f.shape.span());
  switch (code) {
    case fault::rank_too_high:
      return format(", not {}", f.shape.size());
    case fault::shape_overflow:
    case fault::offset_overflow:
      return known ? format(", with {} bytes per element", itemsize) : "";
    case fault::strides_overflow:
      return known ? format(", with shape {} and {} bytes per element", shape, itemsize)
                   : ", with shape " + shape;
    case fault::strides_rank:
      return " " + shape;
    case fault::typestr_byte_order:
      return "; swap the bytes first";
    case fault::typedescr_size:
      return format(", {}", itemsize);
    case fault::data_misaligned:
      return format(" {}; expected a multiple of {}", quoted(f.typestr), type.alignment());
    case fault::data_null:
      return ", with shape " + shape;
    case fault::address_overflow:
    case fault::out_of_allocation:
      return known ? format(": shape {} of {}", arrangement(f), quoted(f.typestr))
                   : ": shape " + arrangement(f);
    default:
      return "";
  }
}

}  // namespace

fault check(const fields& f, any_view& out) {
  if (f.version != version) return fault::version_unsupported;
  dtype type;
  if (const fault wrong = read_type(f, type); wrong != fault::none) return wrong;
  // A row, which most descriptions are.
  if (!f.strides && f.shape.size() == 1 && f.offset == 0 && !type.is_record() &&
      any_view::row(reinterpret_cast<void*>(f.data), type, f.shape[0], usm_kind::unknown, out) ==
          fault::none) {
    if (f.read_only) out = std::move(out).as_read_only();
    return fault::none;
  }
  layout where;
  if (const fault wrong = read_layout(f, type.itemsize(), where); wrong != fault::none) {
    return wrong;
  }
  std::int64_t shift = 0;
  if (__builtin_mul_overflow(f.offset, static_cast<std::int64_t>(type.itemsize()), &shift)) {
    return fault::offset_overflow;
  }
  std::uintptr_t first = f.data;
  if (where.size() > 0) {
    if (f.data == 0) return fault::data_null;
    const bool wraps =
        shift < 0 ? __builtin_sub_overflow(first, -static_cast<std::uintptr_t>(shift), &first)
                  : __builtin_add_overflow(first, static_cast<std::uintptr_t>(shift), &first);
    if (wraps || first == 0) return fault::address_overflow;
  }
  return any_view::make(reinterpret_cast<void*>(first), std::move(type), std::move(where),
                        usm_kind::unknown, f.read_only, out);
}

std::string describe(const fields& f, fault code) {
  if (code == fault::none) return "";
  // The rule about null says what the field held.
  const std::string what = code == fault::data_null ? "" : held(f, field_of(code));
  return usmx::detail::fault_text(code, what) + addition(f, code);
}

fields describe_view(const any_view& v) {
  fields f;
  f.typestr = v.dtype().typestr();
  if (const dtype::fields* named = v.dtype().description()) f.typedescr = *named;
  f.shape = v.layout().shape();
  if (!v.layout().is_c_contiguous()) f.strides = v.layout().strides();
  f.offset = -v.layout().range().first;
  f.data = reinterpret_cast<std::uintptr_t>(v.first_byte());
  f.read_only = v.read_only();
  return f;
}

}  // namespace usmx::suai
