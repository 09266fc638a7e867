// See expression_form.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/expression_form.hpp"

#include <algorithm>
#include <utility>

#include "compute/value.hpp"
#include "core/format.hpp"
#include "usmx/expression.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

char letter(const dtype& type) { return static_cast<char>('A' + number_index(type)); }

/// The text of an operation with its operands and its type in their places.
std::string replaced(std::string_view text, std::span<const std::string> operands,
                     std::string_view type) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '{') {
      out += text[k];
      continue;
    }
    const char which = text[k + 1];
    out += which == 'T' ? type : std::string_view(operands[static_cast<std::size_t>(which - '0')]);
    k += 2;
  }
  return out;
}

}  // namespace

expression_form::place expression_form::add_input(const dtype& type, bool is_array) {
  key_ += is_array ? 'x' : 'n';
  key_ += letter(type);
  inputs_.push_back(type);
  return {place::kind::input, static_cast<std::uint32_t>(inputs_.size() - 1)};
}

expression_form::place expression_form::add_named(std::string_view name, const dtype& type) {
  const std::pair<std::string, dtype> made(name, type);
  auto found = std::ranges::find(named_, made);
  if (found == named_.end()) found = named_.insert(found, made);
  return {place::kind::named, static_cast<std::uint32_t>(found - named_.begin())};
}

expression_form::place expression_form::add_step(const operation& op, const operation_types& types,
                                                 std::span<const place> from) {
  const bool is_counted = &op == &count_row;
  counts_ |= is_counted;
  key_ += is_counted ? 'i' : 'v';
  key_ += static_cast<char>(row_number(op));
  key_ += letter(types.result);
  step made{&op, types, {}, static_cast<std::uint8_t>(from.size())};
  for (std::size_t k = 0; k < from.size(); ++k) {
    made.from[k] = from[k];
    key_ += letter(types.operands[k]);
    key_ += static_cast<char>(from[k].what);
    key_ += static_cast<char>(from[k].number);
  }
  steps_.push_back(made);
  return {place::kind::step, static_cast<std::uint32_t>(steps_.size() - 1)};
}

void expression_form::add_output(const place& p) {
  key_ += 'o';
  key_ += static_cast<char>(p.number);
  outputs_.push_back(p);
}

void expression_form::add_reduction(const place& p, const value_reduction& how) {
  key_ += 'r';
  key_ += static_cast<char>(p.number);
  key_ += letter(how.value);
  key_ += letter(how.result);
  const auto add = [&](const std::string& text) {
    key_ += text;
    key_ += ';';
  };
  add(how.map);
  add(how.reduce);
  add(how.post_map);
  add(how.reduce_type);
  key_ += how.identity ? '+' : '-';
  if (how.identity) add(*how.identity);
}

std::string expression_form::name(const place& p) const {
  if (p.what == place::kind::named) return named_[p.number].first;
  return format("{}{}", static_cast<char>(p.what), p.number);
}

const dtype& expression_form::type(const place& p) const noexcept {
  switch (p.what) {
    case place::kind::input:
      return inputs_[p.number];
    case place::kind::step:
      return steps_[p.number].types.result;
    default:
      return named_[p.number].second;
  }
}

std::string expression_form::converted(const place& p, const dtype& as) const {
  if (type(p) == as) return name(p);
  return format("expression::convert<{}>({})", device_name(as), name(p));
}

std::string_view expression_form::text_of(const step& s) const noexcept {
  const bool is_mixed = s.count == 2 && s.types.operands[0] != s.types.operands[1];
  return is_mixed ? s.op->mixed : s.op->text_of(s.types.operands[s.op->chooses ? 1 : 0]);
}

std::string expression_form::line(std::size_t number) const {
  const step& s = steps_[number];
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < s.count; ++k) {
    operands.push_back(converted(s.from[k], s.types.operands[k]));
  }
  const dtype& computed = s.types.operands[s.op->chooses ? 1 : 0];
  return format("const {0} v{1} = {0}({2});\n", device_name(s.types.result), number,
                replaced(text_of(s), operands, device_name(computed)));
}

std::string expression_form::lines() const {
  std::string all;
  for (std::size_t k = 0; k < steps_.size(); ++k) all += line(k);
  return all;
}

std::string expression_form::inputs() const {
  std::string all;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    all += format("{}{} x{}", k == 0 ? "" : ", ", inputs_[k].name(), k);
  }
  return all;
}

std::string expression_form::declared_inputs() const {
  std::string all;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    all += format("{}{} x{}", k == 0 ? "" : ", ", device_name(inputs_[k]), k);
  }
  return all;
}

std::string expression_form::passed_inputs() const {
  std::string all;
  for (std::size_t k = 0; k < inputs_.size(); ++k) all += format("{}x{}", k == 0 ? "" : ", ", k);
  return all;
}

std::string expression_form::outputs() const {
  std::string all;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    all += format("{}{} o{}", o == 0 ? "" : ", ", type(outputs_[o]).name(), o);
  }
  return all;
}

elementwise_kernel expression_form::elementwise(std::string name,
                                                std::vector<std::string> options) const {
  elementwise_text text;
  text.preamble = prologue;
  text.options = std::move(options);
  std::string stores;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    stores += format("o{} = {};\n", o, this->name(outputs_[o]));
  }
  return elementwise_kernel(inputs(), outputs(), lines() + stores, std::move(name),
                            std::move(text));
}

reduction_kernel expression_form::reduction(std::span<const joined> reductions, std::string name,
                                            std::vector<std::string> options) const {
  reduction_text text;
  text.options = std::move(options);
  text.preamble = prologue;
  std::string outputs, members, mapped, both, identity;
  bool has_identity = true;
  for (std::size_t k = 0; k < reductions.size(); ++k) {
    const value_reduction& how = *reductions[k].how;
    const std::string type = joined_type(how);
    const char* const comma = k == 0 ? "" : ", ";
    outputs += format("{}{} o{}", comma, how.result.name(), k);
    text.preamble += functions_of(how, k);
    members += format("  {} r{};\n", type, k);
    mapped += format("{}map{}({})", comma, k, this->name(reductions[k].of));
    both += format("{0}join{1}(a.r{1}, b.r{1})", comma, k);
    identity += format("{}{}({})", comma, type, how.identity.value_or("0"));
    has_identity = has_identity && how.identity;
    text.post_map += reductions.size() == 1 ? format("o{0} = end{0}(a, n);", k)
                                            : format("o{0} = end{0}(a.r{0}, n); ", k);
  }
  if (reductions.size() == 1) {
    text.reduce_type = joined_type(*reductions[0].how);
    text.reduce = "join0(a, b)";
  } else {
    text.reduce_type = "reduced";
    text.preamble += format(
        "struct reduced {{\n{}}};\n"
        "inline reduced join_all(const reduced& a, const reduced& b) {{ return {{{}}}; }}\n",
        members, both);
    text.reduce = "join_all(a, b)";
    mapped = format("reduced{{{}}}", mapped);
    identity = format("reduced{{{}}}", identity);
  }
  text.preamble += format("inline {} computed({}) {{\n{}return {};\n}}\n", text.reduce_type,
                          declared_inputs() + (counts_ ? ", int64_t i" : ""), lines(), mapped);
  text.map = format("computed({})", passed_inputs() + (counts_ ? ", i" : ""));
  if (has_identity) text.identity = identity;
  return reduction_kernel(inputs(), outputs, std::move(text), std::move(name));
}

std::string joined_type(const value_reduction& how) {
  return how.reduce_type.empty() ? std::string(device_name(how.value)) : how.reduce_type;
}

std::string functions_of(const value_reduction& how, std::size_t number) {
  return format(
      "inline {0} map{1}({2} x) {{ return {0}({3}); }}\n"
      "inline {0} join{1}({0} a, {0} b) {{ return {0}({4}); }}\n"
      "inline {5} end{1}({0} a, [[maybe_unused]] int64_t n) {{ return {5}({6}); }}\n",
      joined_type(how), number, device_name(how.value), how.map, how.reduce,
      device_name(how.result), how.post_map);
}

}  // namespace usmx::detail
