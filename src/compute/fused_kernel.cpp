// Writes all that a value is made of, as far as it was not computed before, into the text of one
// kernel, which is found again by the form of the expression.
// SPDX-License-Identifier: Apache-2.0
#include "compute/fused_kernel.hpp"

#include <algorithm>
#include <string_view>

#include "core/aliasing.hpp"
#include "core/format.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/loops.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {
namespace {

/// What the texts of the table are written for.
constexpr const char* fusion_prologue =
    "#include \"usmx/fusion.hpp\"\nusing namespace usmx::fusion;\n";

std::size_t count_of(const extents& shape) noexcept {
  std::size_t count = 1;
  for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
  return count;
}
std::size_t bytes_of(const value& v) noexcept { return count_of(v.shape()) * v.dtype().itemsize(); }

}  // namespace

void fused_kernel::describe() {
  planned_kernel made;
  made.text = lines_;
  made.shape = root_.shape_;
  made.operations = static_cast<int>(names_.size());
  made.bytes_read = planned_bytes_;
  for (const array& a : arrays_) {
    // Elements that are repeated are read once.
    const any_view& v = a.elements();
    made.bytes_read +=
        std::min(v.nbytes(), static_cast<std::size_t>(v.last_byte() - v.first_byte()));
  }
  for (const auto& [v, name] : names_) {
    if (std::ranges::find(computed_, v) != computed_.end()) {
      made.bytes_written += bytes_of(*v);
    } else {
      made.bytes_saved += 2 * bytes_of(*v);
    }
  }
  plan_->push_back(std::move(made));
}

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

std::string fused_kernel::name_of(value& v) {
  if (const auto known = names_.find(&v); known != names_.end()) return known->second;
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < v.sources_.size(); ++k) {
    operands.push_back(source_text(v.sources_[k], v.types_.operands[k]));
  }
  const dtype& computed = v.types_.operands[v.op_.chooses ? 1 : 0];
  const bool is_mixed = v.sources_.size() == 2 && v.types_.operands[0] != v.types_.operands[1];
  const std::string_view text = is_mixed ? v.op_.mixed : v.op_.text_of(computed);
  std::string name = format("v{}", names_.size());
  const std::string_view type = device_name(v.types_.result);
  lines_ += format("const {0} {1} = {0}({2});\n", type, name,
                   replaced(text, operands, device_name(computed)));
  names_.emplace(&v, name);
  if (&v == &root_ || v.seen_.load(std::memory_order_relaxed) > 0) {
    outputs_ +=
        format("{}{} o{}", outputs_.empty() ? "" : ", ", v.types_.result.name(), computed_.size());
    ends_ += format("o{} = {};\n", computed_.size(), name);
    computed_.push_back(&v);
  }
  return name;
}

void fused_kernel::add_input(const dtype& type, const std::string& name) {
  const char* const comma = inputs_.empty() ? "" : ", ";
  inputs_ += format("{}{} {}", comma, type.name(), name);
  declared_ += format("{}{} {}", comma, device_name(type), name);
  passed_ += comma + name;
}

std::string fused_kernel::name_of(const array& a) {
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].first < 0) continue;
    if (is_same(arrays_[static_cast<std::size_t>(operands_[k].first)].elements(), a.elements())) {
      return format("x{}", k);
    }
  }
  std::string name = format("x{}", operands_.size());
  add_input(a.elements().dtype(), name);
  operands_.emplace_back(static_cast<int>(arrays_.size()), operand(false));
  arrays_.push_back(a);
  return name;
}

std::string fused_kernel::name_of(const operand& number, const dtype& as) {
  std::string name = format("x{}", operands_.size());
  add_input(as, name);
  const auto bytes = number.number_as(as);
  operands_.emplace_back(-1, operand(as, bytes.data()));
  return name;
}

std::string fused_kernel::planned_name(value& v) {
  shared_value part, first;
  const bool is_part = v.is_view() && !(part = v.alone(first));
  value* const of = is_part ? v.base().get() : part ? part.get() : &v;
  const auto [known, is_new] = planned_.try_emplace(part ? &v : of);
  if (is_new) {
    fused_kernel(*of, *plan_);
    known->second = format("k{}", plan_->size() - 1);
    planned_bytes_ += bytes_of(*of);
  }
  return is_part ? known->second + "[...]" : known->second;
}

std::string fused_kernel::name_of_view(value& v) {
  if (const auto known = in_place_.find(&v); known != in_place_.end()) {
    return name_of(*known->second);
  }
  shared_value first;
  shared_value part = v.alone(first);
  if (!part) {
    if (plan_ == nullptr) return name_of(v.get());
    return v.base()->is_computed() ? name_of(v.base()->get()) : planned_name(v);
  }
  return name_of(*in_place_.emplace(&v, std::move(part)).first->second);
}

std::string fused_kernel::source_text(const source& s, const dtype& as) {
  if (const auto* number = std::get_if<operand>(&s)) return name_of(*number, as);
  std::string name;
  dtype own;
  const auto from_array = [&](const array& a) {
    name = name_of(a);
    own = a.elements().dtype();
  };
  if (const auto* a = std::get_if<array>(&s)) {
    from_array(*a);
  } else {
    value& inner = *std::get<shared_value>(s);
    // Repeated for each element that it is broadcast to, it would be computed many times.
    if (inner.is_computed() || (plan_ == nullptr && !(inner.shape_ == root_.shape_))) {
      from_array(inner.get());
    } else if (!(inner.shape_ == root_.shape_)) {
      name = planned_name(inner);
      own = inner.types_.result;
    } else if (inner.is_view()) {
      name = name_of_view(inner);
      own = inner.types_.result;
    } else {
      name = name_of(inner);
      own = inner.types_.result;
    }
  }
  return own == as ? name : format("expression::convert<{}>({})", device_name(as), name);
}

/// Kernels by their parameters and lines. Programs have few forms of expressions; one that makes
/// them without end begins anew.
elementwise_kernel kernel_of(const std::string& inputs, const std::string& outputs,
                             const std::string& lines) {
  constexpr std::size_t most = 4096;
  static auto& known = *new std::unordered_map<std::string, elementwise_kernel>;
  std::string key = inputs + ';' + outputs + ';' + lines;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  elementwise_text text;
  text.preamble = fusion_prologue;
  return known
      .emplace(std::move(key), elementwise_kernel(inputs, outputs, lines, "usmx", std::move(text)))
      .first->second;
}

std::vector<operand> fused_kernel::operands() const {
  std::vector<operand> in;
  for (const auto& [number, what] : operands_) {
    in.push_back(number < 0 ? what : operand(arrays_[static_cast<std::size_t>(number)]));
  }
  return in;
}

reduction_kernel kernel_of(const std::string& inputs, const std::string& declared,
                           const std::string& passed, const std::string& lines,
                           const std::string& value, const value_reduction& how) {
  constexpr std::size_t most = 4096;
  static auto& known = *new std::unordered_map<std::string, reduction_kernel>;
  std::string key = inputs + ';' + lines + ';' + how.value.name() + ';' + how.result.name() + ';' +
                    how.map + ';' + how.reduce + ';' + how.post_map + ';' +
                    how.identity.value_or("-") + ';' + how.reduce_type;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  const std::string_view type = device_name(how.value);
  reduction_text text;
  text.preamble = format("{}inline {} computed({}) {{\n{}return {};\n}}\n", fusion_prologue, type,
                         declared, lines, value);
  if (how.map == "x") {
    text.map = format("computed({})", passed);
  } else {
    text.preamble += format("inline auto mapped({} x) {{ return {}; }}\n", type, how.map);
    text.map = format("mapped(computed({}))", passed);
  }
  text.reduce = how.reduce;
  text.post_map = format("o0 = {}({});", device_name(how.result), how.post_map);
  text.identity = how.identity;
  text.reduce_type = how.reduce_type.empty() ? std::string(type) : how.reduce_type;
  return known
      .emplace(std::move(key),
               reduction_kernel(inputs, how.result.name() + " o0", std::move(text), "usmx"))
      .first->second;
}

array fused_kernel::reduce(const value_reduction& how, const reduction_axes& axes,
                           const array* given) {
  const reduction_kernel kernel =
      kernel_of(inputs_, declared_, passed_, lines_, names_.at(&root_), how);
  const std::vector<operand> in = operands();
  expression_output out;
  out.given = given;
  const only_reading inputs;
  kernel.submit(root_.queue_, in, std::span(&out, 1), axes);
  return given != nullptr ? *given : std::move(out.made);
}

void fused_kernel::run(const array* given) {
  const elementwise_kernel kernel = kernel_of(inputs_, outputs_, lines_ + ends_);
  const std::vector<operand> in = operands();
  std::vector<expression_output> out(computed_.size());
  if (given != nullptr) out.back().given = given;  // the root is written last
  {
    const only_reading inputs;
    kernel.submit(root_.queue_, in, out);
  }
  if (given != nullptr) computed_.pop_back();
  for (std::size_t k = 0; k < computed_.size(); ++k) computed_[k]->finish(std::move(out[k].made));
  for (value* v : computed_) v->announce_users();
  // Last: what they are made of may end with them.
  for (value* v : computed_) computing::drop(std::exchange(v->sources_, {}));
}

shared_value fused_kernel::repeated_in(const value& v, const extents& shape) {
  for (const source& s : v.sources_) {
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr || (*inner)->is_computed()) continue;
    if (!((*inner)->shape_ == shape)) return *inner;
    if ((*inner)->is_view()) {
      shared_value first;
      if (!(*inner)->alone(first)) return first ? first : *inner;
      continue;
    }
    if (shared_value found = repeated_in(**inner, shape)) return found;
  }
  return nullptr;
}

void fused_kernel::compute_repeated(value& root) {
  while (const shared_value inner = repeated_in(root, root.shape_)) inner->get();
}

}  // namespace usmx::detail
