// See captured_function.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/captured_function.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "compute/named_reductions.hpp"
#include "compute/value.hpp"
#include "core/format.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

constexpr operation parts[] = {
    {"complex", 2, result_rule::same, "", "", false, {{{"f", "{0}, {1}"}}}, ""},
    {"mantissa", 1, result_rule::same, "", "", false, {{{"f", "frexp({0}).mantissa"}}}, ""},
    {"exponent", 1, result_rule::same, "", "", false, {{{"f", "frexp({0}).exponent"}}}, ""},
    // Of operands of two types, as comparisons of integers are.
    {"ldexp", 2, result_rule::same, "", "", false, {}, "ldexp({0}, {1})"},
};

template <class T>
T read(const operand& number, const dtype& as) {
  const auto bytes = number.number_as(as);
  T out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

std::string text_of(double number, std::string_view type) {
  if (std::isnan(number)) return format("{}(__builtin_nan(\"\"))", type);
  if (std::isinf(number)) return format("{}({}__builtin_inf())", type, number < 0 ? "-" : "");
  return format("{}({:a})", type, number);
}

/// C++ that gives exactly this number, of a type of its own.
std::string text_of(const operand& number) {
  const dtype& type = number.type();
  const std::string_view name = device_name(type);
  switch (type.kind()) {
    case type_class::boolean:
      return read<bool>(number, type) ? "true" : "false";
    case type_class::integer: {
      const auto whole = read<std::int64_t>(number, dtype::of<std::int64_t>());
      // The lowest number has no positive one to put a minus before.
      return whole == INT64_MIN ? format("{}(-9223372036854775807ll - 1)", name)
                                : format("{}({}ll)", name, whole);
    }
    case type_class::unsigned_integer:
      return format("{}({}ull)", name, read<std::uint64_t>(number, dtype::of<std::uint64_t>()));
    case type_class::floating:
      return text_of(read<double>(number, dtype::of<double>()), name);
    default: {
      const auto z = read<std::complex<double>>(number, dtype::of<std::complex<double>>());
      const std::string_view part = device_name(part_type(type));
      return format("{}({}, {})", name, text_of(z.real(), part), text_of(z.imag(), part));
    }
  }
}

bool is_integer(const dtype& t) noexcept {
  return t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
}

/// Kernels cut off fractions and imaginary parts.
bool is_cut(const dtype& from, const dtype& to) noexcept {
  if (to.kind() == type_class::boolean) return false;
  return from.kind() == type_class::complex ? to.kind() != type_class::complex
                                            : from.kind() == type_class::floating && is_integer(to);
}

}  // namespace

std::size_t captured_function::add(known_value&& made) {
  values_.push_back(std::move(made));
  return values_.size() - 1;
}

std::size_t captured_function::add_argument(const dtype& type, bool is_weak) {
  is_weak_.push_back(is_weak);
  return add({form_.add_input(type, !is_weak), type, is_weak});
}

std::size_t captured_function::add_number(const operand& number) {
  const operand strong = number.as_strong();
  return add(
      {form_.add_named(text_of(strong), number.type()), number.type(), number.weak(), number});
}

std::size_t captured_function::add_same(std::size_t value, bool is_weak) {
  auto same = values_.at(value);
  if (same.number) {
    same.number = same.number->as_strong();
    if (is_weak) same.number.reset();
  }
  same.is_weak = is_weak;
  return add(std::move(same));
}

captured_function::place captured_function::in_type(const known_value& v, const dtype& as) {
  if (!v.number || v.type == as || is_cut(v.type, as)) return v.where;
  const auto bytes = v.number->number_as(as);
  return form_.add_named(text_of(operand(as, bytes.data())), as);
}

std::size_t captured_function::add_step(const operation& op, const operation_types& types,
                                        std::span<const std::size_t> operands) {
  std::array<place, 3> from;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    from[k] = in_type(values_.at(operands[k]), types.operands[k]);
  }
  const auto given = std::span<const place>(from).first(operands.size());
  const auto steps = form_.steps();
  const auto known = std::ranges::find_if(steps, [&](const expression_form::step& s) {
    return s.op == &op && s.count == given.size() && s.types.result == types.result &&
           std::ranges::equal(std::span(s.from).first(s.count), given) &&
           std::ranges::equal(std::span(s.types.operands).first(s.count),
                              std::span(types.operands).first(s.count));
  });
  if (known == steps.end()) return add({form_.add_step(op, types, given), types.result});
  return add(
      {{place::kind::step, static_cast<std::uint32_t>(known - steps.begin())}, types.result});
}

std::size_t captured_function::add_cast(std::size_t value, const dtype& as) {
  const auto& v = values_.at(value);
  if (v.type == as) return add_same(value, false);
  if (v.number && !is_cut(v.type, as)) {
    const auto bytes = v.number->number_as(as);
    return add_number(operand(as, bytes.data()));
  }
  operation_types types;
  std::ranges::fill(types.operands, as);
  types.result = as;
  return add_step(cast_row, types, std::span(&value, 1));
}

std::size_t captured_function::apply(const operation& op, std::span<const std::size_t> operands) {
  std::array<operand_type, 3> types;
  std::array<std::size_t, 3> given;
  // Numbers alone have the types that they have by themselves.
  const bool are_weak = std::ranges::all_of(operands.subspan(op.chooses ? 1 : 0),
                                            [&](std::size_t k) { return values_.at(k).is_weak; });
  const auto is_huge = [&](std::size_t k) {
    return values_.at(k).type == dtype::of<std::uint64_t>();
  };
  for (std::size_t k = 0; k < operands.size(); ++k) {
    given[k] = operands[k];
    const known_value& v = values_.at(operands[k]);
    types[k] = {v.type, v.is_weak && !are_weak};
    const bool is_large = are_weak && is_integer(v.type) && std::ranges::any_of(operands, is_huge);
    if (is_large && !takes_any_integers(op)) types[k].type = dtype::of<std::uint64_t>();
    if (operands.size() != 2 || !types[k].weak) continue;
    const dtype& other = values_.at(operands[1 - k]).type;
    if (v.number) {
      const auto exact = exact_number(op, *v.number, other);
      if (!exact) continue;
      given[k] = add_number(*exact);
      types[k] = {exact->type(), false};
    } else if (takes_any_integers(op) && is_integer(v.type) &&
               (is_integer(other) || other.kind() == type_class::boolean)) {
      types[k].weak = false;  // which number it is, the call says
    }
  }
  const std::size_t count = operands.size();
  return add_step(op, types_of(op, std::span<const operand_type>(types).first(count)),
                  std::span<const std::size_t>(given).first(count));
}

std::optional<std::size_t> captured_function::apply_part(std::string_view name,
                                                         std::span<const std::size_t> operands) {
  const auto* const op = std::ranges::find(parts, name, &operation::name);
  if (op == std::end(parts) || op->arity != static_cast<int>(operands.size())) return {};
  operation_types types;
  types.result = types.operands[0] = type(operands[0]);
  types.operands[1] = name == "ldexp" ? dtype::of<std::int64_t>() : types.result;
  if (name == "exponent") types.result = dtype::of<std::int32_t>();
  if (name == "complex") {
    types.result = types.result == dtype::of<float>() ? dtype::of<std::complex<float>>()
                                                      : dtype::of<std::complex<double>>();
  }
  return add_step(*op, types, operands);
}

std::vector<std::pair<std::size_t, dtype>> captured_function::fits() const {
  std::vector<std::pair<std::size_t, dtype>> all;
  for (const auto& s : form_.steps()) {
    for (std::size_t k = 0; k < s.count; ++k) {
      const place& from = s.from[k];
      const dtype& as = s.types.operands[k];
      if (from.what != place::kind::input || !is_weak_[from.number] || !is_integer(as)) continue;
      if (!is_integer(form_.type(from)) || form_.type(from) == as) continue;
      const std::pair<std::size_t, dtype> one(from.number, as);
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    }
  }
  return all;
}

expression_form captured_function::form(std::span<const std::size_t> outputs) const {
  expression_form made = form_;
  for (const std::size_t o : outputs) made.add_output(values_.at(o).where);
  // A number that is only used as one type arrives in that type: not every device has double.
  for (std::uint32_t n = 0; n < is_weak_.size(); ++n) {
    const place input{place::kind::input, n};
    if (!is_weak_[n] || form_.type(input).kind() != type_class::floating) continue;
    const auto is_input = [&](std::size_t o) { return values_.at(o).where == input; };
    if (std::ranges::any_of(outputs, is_input)) continue;
    std::optional<dtype> only;
    bool is_only = true;
    for (const auto& s : form_.steps()) {
      for (std::size_t k = 0; k < s.count; ++k) {
        if (!(s.from[k] == input)) continue;
        if (!only) only = s.types.operands[k];
        is_only = is_only && *only == s.types.operands[k];
      }
    }
    if (only && is_only && only->kind() == type_class::floating) made.take_input_as(n, *only);
  }
  return made;
}

elementwise_kernel captured_function::elementwise(std::span<const std::size_t> outputs,
                                                  std::string name,
                                                  std::vector<std::string> options) const {
  return form(outputs).elementwise(std::move(name), std::move(options));
}

reduction_kernel captured_function::reduction(std::size_t of, const value_reduction& how,
                                              std::string name, std::vector<std::string> options) {
  const std::size_t elements = add_cast(of, how.value);
  const auto ranged = product_in_range(how);
  const expression_form::joined one{values_.at(elements).where, ranged ? &*ranged : &how};
  const std::size_t used[] = {elements};
  return form(used).reduction(std::span(&one, 1), std::move(name), std::move(options));
}

}  // namespace usmx::detail
