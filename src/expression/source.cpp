// Writes what the texts of all kernels from expressions have in common; see source.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/source.hpp"

#include <stdexcept>

#include "core/format.hpp"
#include "kernel/source/user_text.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {

step_class class_of(std::int64_t step) noexcept {
  switch (step) {
    case 0:
      return step_class::zero;
    case 1:
      return step_class::one;
    case -1:
      return step_class::back;
    default:
      return step_class::any;
  }
}

std::string parameter_name::text() const {
  std::string all = of.empty() ? format("_{}", role) : format("_{}_{}", of, role);
  return number < 0 ? all : format("{}{}", all, number);
}

// --- parameters -----------------------------------------------------------------------------

void parameter_list::declare(const std::string& name, std::string_view type_name,
                             std::optional<dtype> type, pointer to) {
  kernel_parameter p;
  p.pointer = to != pointer::none;
  p.read_only = to == pointer::read;
  p.text = format("{}{}{}{} {}", p.read_only ? "const " : "", type_name, p.pointer ? "*" : "",
                  p.read_only && inputs_are_apart_ ? " __restrict" : "", name);
  p.type = std::move(type);
  p.name = name;
  if (!text_.empty()) {
    const bool is_full = text_.size() - line_ + p.text.size() > 90;
    text_ += is_full ? ",\n    " : ", ";
    if (is_full) line_ = text_.size();
  }
  text_ += p.text;
  declared_.push_back(std::move(p));
}

std::string parameter_list::step(const parameter_name& name, std::int64_t value, step_class known) {
  if (known == step_class::any) scalar(name, value);
  if (!writes_) return {};
  return known == step_class::any ? name.text() : std::to_string(value);
}

std::string parameter_list::steps(std::string_view of, std::string_view role, const loops& all,
                                  std::size_t operand, std::size_t rank) {
  std::string text;
  for (std::size_t d = 0; d < rank; ++d) {
    const parameter_name name{of, role, static_cast<int>(d)};
    scalar(name, all.steps_of(operand)[d]);
    if (writes_) text += (d == 0 ? "" : ", ") + name.text();
  }
  return text;
}

void parameter_list::number(const expression_parameter& p, const dtype& as, const operand& value) {
  if (writes_) {
    const dtype passed = passed_type(as);
    const auto one = [&](const char* role) {
      declare(parameter_name{p.name, role}.text(), device_name(passed), passed, pointer::none);
    };
    const bool has_parts = as.kind() == type_class::complex;
    one(has_parts ? "re" : "value");
    if (has_parts) one("im");
  }
  try {
    add_number(arguments_, as, value.number_as(as).data());
  } catch (const std::overflow_error& e) {
    throw std::overflow_error(format("{}: {}", called("input", p), e.what()));
  }
}

void parameter_list::elements(const expression_parameter& p, const array& a, std::int64_t first,
                              bool is_written) {
  const dtype& own = a.elements().dtype();
  if (writes_) {
    declare(parameter_name{p.name, "data"}.text(), device_name(own), own,
            is_written ? pointer::written : pointer::read);
  }
  const auto bytes = first * static_cast<std::int64_t>(own.itemsize());
  arguments_.emplace_back(a, static_cast<const std::byte*>(a.data()) + bytes);
}

void parameter_list::values(std::string_view name, std::string_view type_name, const array& a,
                            bool is_written) {
  if (writes_) {
    declare(std::string(name), type_name, {}, is_written ? pointer::written : pointer::read);
  }
  arguments_.emplace_back(a);
}

void parameter_list::numbers(std::string_view name, const array& a) {
  const dtype& type = a.elements().dtype();
  if (writes_) declare(std::string(name), device_name(type), type, pointer::written);
  arguments_.emplace_back(a);
}

void parameter_list::raw(const expression_parameter& p, const array& a, const layout& where,
                         bool is_written) {
  elements(p, a, 0, is_written);
  scalar({p.name, "size"}, where.size());
  const bool is_row = where.is_c_contiguous();
  const std::size_t rank = where.shape().size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    // The only length of a row is its size.
    if (rank > 1 || !is_row) {
      scalar({p.name, "length", static_cast<int>(axis)}, where.shape()[axis]);
    }
    if (!is_row) scalar({p.name, "step", static_cast<int>(axis)}, where.strides()[axis]);
  }
}

// --- loops ----------------------------------------------------------------------------------

void loops_text::operand(const std::string& steps) {
  steps_ += format("{}{{{}}}", operands_++ == 0 ? "" : ", ", steps);
}

std::string loops_text::text() const {
  const std::string type = format("expression::loops<{}, {}{}>", rank_, operands_, types_);
  if (rank_ == 0 || operands_ == 0) return format("  const {} {}{{}};\n", type, name_);
  return format("  const {} {}{{{{{}}}, {{{}}}}};\n", type, name_, lengths_, steps_);
}

// --- pieces of texts ------------------------------------------------------------------------

std::string number_variable(const expression_parameter& p, const dtype& as) {
  const std::string_view type = device_name(as);
  if (as.kind() != type_class::complex) {
    return format("const {} {} = _{}_value;\n", type, p.name, p.name);
  }
  return format("const {0} {1} = {0}(_{1}_re, _{1}_im);\n", type, p.name);
}

std::string loaded_variable(const expression_parameter& p, const dtype& as, const dtype& own,
                            std::string_view at) {
  return format("const {} {} = {};\n", device_name(as), p.name,
                load_text(as, own, format("_{}_data", p.name), at));
}

std::string raw_variable(const expression_parameter& p, const dtype& as, const array& a,
                         const layout& where, bool is_written) {
  const bool is_row = where.is_c_contiguous();
  const std::size_t rank = where.shape().size();
  std::string lengths, steps;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const char* const comma = axis == 0 ? "" : ", ";
    lengths += rank == 1 && is_row ? format("_{}_size", p.name)
                                   : format("{}_{}_length{}", comma, p.name, axis);
    steps += format("{}_{}_step{}", comma, p.name, axis);
  }
  return format(
      "const expression::raw_{0}<{1}, {2}{3}, {4}> {5}{{_{5}_data, _{5}_size, {{{6}}}{7}}};\n",
      is_row ? "row" : "strided", device_name(as), is_written ? "" : "const ",
      device_name(a.elements().dtype()), rank, p.name, lengths,
      is_row ? std::string() : format(", {{{}}}", steps));
}

std::string stored_variable(const expression_parameter& p, const dtype& own, std::string_view at) {
  return store_text(own, format("_{}_data", p.name), at, p.name) + "\n";
}

std::optional<dtype> value_type(const std::string& wanted, const expression_types& types) {
  if (wanted.empty()) return types.outputs.front();
  for (const auto& [placeholder, type] : types.placeholders) {
    if (placeholder == wanted) return type;
  }
  for (int k = 0; k < number_types; ++k) {
    const dtype type = number_type(k);
    if (wanted == type.name() || wanted == device_name(type)) return type;
  }
  return {};
}

array values_of(const sycl::queue& queue, std::int64_t count, const std::optional<dtype>& type) {
  const std::int64_t elements = type ? count : count * static_cast<std::int64_t>(most_value_bytes);
  return array::empty(queue, std::span(&elements, 1), type ? *type : dtype(), usm_kind::device);
}

std::string joining_prologue(std::string_view header, const expression_types& types,
                             const std::string& preamble, const std::string& wanted,
                             std::string_view argument, const std::string& join) {
  const auto number = value_type(wanted, types);
  return format(R"(#include "usmx/expression/{}.hpp"
using namespace usmx;
{}{}
using _value = {};
static_assert(sizeof(_value) <= {}, "{}_type: has more than {} bytes");
inline _value _join(_value a, _value b) {{ return _value({}); }}

)",
                header, placeholder_text(types),
                preamble.empty() ? "" : marked("preamble", preamble) + "\n",
                number ? std::string(device_name(*number)) : wanted,
                number ? number->itemsize() : most_value_bytes, header,
                number ? number->itemsize() : most_value_bytes, marked(argument, join));
}

}  // namespace usmx::detail
