// What the protocol's fields mean, written down a second time: the fault or the bytes, predicted in
// 128-bit numbers and from a plain table of types. Shared by the tests and the fuzzers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "naive_model.hpp"
#include "usmx/suai.hpp"

namespace naive {

struct element {
  usmx::fault fault = usmx::fault::none;
  std::uint64_t size = 0, alignment = 1;
};

inline bool all_digits(const std::string& s) {
  return s.find_first_not_of("0123456789") == std::string::npos;
}

inline element read_typestr(const std::string& s) {
  using usmx::fault;
  static const std::map<std::string, element> known{
      {"b1", {{}, 1, 1}}, {"i1", {{}, 1, 1}},  {"u1", {{}, 1, 1}}, {"i2", {{}, 2, 2}},
      {"u2", {{}, 2, 2}}, {"f2", {{}, 2, 2}},  {"i4", {{}, 4, 4}}, {"u4", {{}, 4, 4}},
      {"f4", {{}, 4, 4}}, {"i8", {{}, 8, 8}},  {"u8", {{}, 8, 8}}, {"f8", {{}, 8, 8}},
      {"c8", {{}, 8, 4}}, {"c16", {{}, 16, 8}}};
  const std::string orders = "<|=>", ours = "biufcV", foreign = "OSUTmMt";
  if (s.size() < 2 || orders.find(s[0]) == std::string::npos) return {fault::typestr_malformed};
  const std::string name = s.substr(1), digits = s.substr(2);
  if (foreign.find(name[0]) != std::string::npos) {
    if (all_digits(digits)) return {fault::typestr_unsupported};
    const std::size_t unit = digits.find_first_not_of("0123456789");
    const bool is_date = name[0] == 'm' || name[0] == 'M';
    if (is_date && digits[unit] == '[' && digits.back() == ']' && digits.size() - unit > 2) {
      return {fault::typestr_unsupported};
    }
    return {fault::typestr_malformed};
  }
  if (ours.find(name[0]) == std::string::npos || digits.empty() || !all_digits(digits) ||
      (digits.size() > 1 && digits[0] == '0')) {
    return {fault::typestr_malformed};
  }
  element e{fault::typestr_unsupported};
  if (const auto found = known.find(name); found != known.end()) e = found->second;
  if (name[0] == 'V' && digits != "0" && digits.size() <= 10 && std::stoull(digits) < 1ull << 31) {
    e = {fault::none, std::stoull(digits), 1};
  }
  if (e.fault == fault::none && s[0] == '>' && e.size > 1) return {fault::typestr_byte_order};
  return e;
}

inline usmx::fault check_fields(const usmx::dtype::fields& members, wide itemsize) {
  using usmx::fault;
  wide total = 0;
  bool too_big = false;
  std::set<std::string> names;
  std::size_t named = 0;
  for (const usmx::field& f : members) {
    wide size = f.type.itemsize();
    bool is_empty = false;
    for (const std::int64_t n : f.shape) {
      if (n < 0) return fault::typedescr_malformed;
      is_empty |= n == 0;
    }
    if (f.shape.size() > 64) return fault::typedescr_malformed;
    for (const std::int64_t n : f.shape) size = product(size, n == 0 ? 1 : n);
    total = clamped(total + (is_empty ? 0 : size));
    // The library looks no further once 64 bits are exceeded; what comes later may be malformed.
    if (total > wide{std::numeric_limits<std::uint64_t>::max()}) too_big = true;
    if (too_big) return fault::typedescr_size;
    for (const std::string& n : {f.name, f.title}) {
      if (!n.empty()) names.insert(n), ++named;
    }
  }
  if (total > 2147483647) return fault::typedescr_size;
  if (names.size() != named) return fault::typedescr_malformed;
  return total == itemsize && total > 0 ? fault::none : fault::typedescr_size;
}

/// What `suai::check` must say, and the first byte and one past the last byte if it says yes.
struct verdict {
  usmx::fault fault = usmx::fault::none;
  wide data = 0, first_byte = 0, last_byte = 0, count = 0;
};
inline verdict judge(const usmx::suai::fields& f) {
  using usmx::fault;
  if (f.version != 1) return {fault::version_unsupported};
  const element e = read_typestr(f.typestr);
  if (e.fault != fault::none) return {e.fault};
  if (f.typedescr) {
    const auto& d = *f.typedescr;
    usmx::dtype plain;
    (void)usmx::dtype::parse(f.typestr, plain);
    const bool says_nothing = d.size() == 1 && d[0] == usmx::field{"", "", plain, {}};
    const fault wrong = check_fields(d, static_cast<wide>(e.size));
    if (!says_nothing && wrong != fault::none) return {wrong};
  }
  const numbers shape = list(f.shape);
  numbers strides(shape.size());
  wide step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    strides[k] = static_cast<std::int64_t>(std::clamp(step, -largest, largest));
    step = product(step, std::max<std::int64_t>(shape[k], 1));
  }
  const extent where = measure(shape, f.strides ? list(*f.strides) : strides, e.size);
  if (where.fault != fault::none) return {where.fault};
  const wide bytes = static_cast<wide>(e.size), shift = f.offset * bytes;
  if (shift > largest || shift < -largest - 1) return {fault::offset_overflow};
  verdict v{fault::none, f.data, f.data, f.data, where.count};
  if (where.count == 0) return v;
  if (f.data == 0) return {fault::data_null};
  constexpr wide top = std::numeric_limits<std::uintptr_t>::max();
  v.data = f.data + shift;
  v.first_byte = v.data + where.first * bytes;
  v.last_byte = v.data + where.last * bytes;
  if (v.data <= 0 || v.data > top) return {fault::address_overflow};
  if (v.first_byte <= 0 || v.last_byte > top) return {fault::address_overflow};
  if (v.data % static_cast<wide>(e.alignment) != 0) return {fault::data_misaligned};
  return v;
}

inline wide address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Null if the view that `check` made of `f` is what `judge` says and describes itself so that it
/// comes back the same; otherwise what is wrong.
inline const char* broken_law(const usmx::suai::fields& f, const usmx::any_view& v,
                              const verdict& wanted) {
  if (address(v.data()) != wanted.data) return "the first element lies elsewhere";
  if (address(v.first_byte()) != wanted.first_byte) return "the lowest byte lies elsewhere";
  if (address(v.last_byte()) != wanted.last_byte) return "the highest byte lies elsewhere";
  if (v.size() != wanted.count) return "another number of elements";
  if (v.layout().shape() != f.shape) return "another shape";
  if (v.read_only() != f.read_only) return "another right to write";
  if (v.kind() != usmx::usm_kind::unknown) return "a kind that was not queried from the driver";

  const usmx::suai::fields g = usmx::suai::describe_view(v);
  if (g.data != reinterpret_cast<std::uintptr_t>(v.first_byte())) return "not its lowest address";
  if (g.offset < 0) return "an offset below the lowest address";
  if (g.version != 1) return "a version there is not";
  if (g.strides.has_value() == v.layout().is_c_contiguous()) return "strides for C order, or none";
  if (g.typedescr.has_value() != (v.dtype().members() != nullptr)) return "a description lost";
  usmx::any_view back;
  if (usmx::suai::check(g, back) != usmx::fault::none) return "its own description is refused";
  if (back.data() != v.data() || back.first_byte() != v.first_byte()) return "it came back moved";
  if (!(back.dtype() == v.dtype())) return "it came back with another type";
  if (back.layout().shape() != v.layout().shape()) return "it came back with another shape";
  if (back.read_only() != v.read_only()) return "it came back with another right to write";
  for (std::size_t k = 0; k < v.layout().shape().size(); ++k) {
    if (v.size() > 0 && v.layout().shape()[k] > 1 &&
        v.layout().strides()[k] != back.layout().strides()[k]) {
      return "it came back with other strides";
    }
  }
  return nullptr;
}

}  // namespace naive
