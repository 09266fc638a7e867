// The parts of a call that all kinds of kernels have; see call.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/call.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "core/format.hpp"
#include "core/kept_order.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/source/user_text.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/placement.hpp"
#include "usmx/submission.hpp"

namespace usmx::detail {
namespace {

bool is_part_of_word(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether elements of an array may share their memory. Lengths and steps decide, and they are
/// right for every slice and transposition of an array without such elements.
bool repeats_elements(const layout& where) {
  if (where.is_c_contiguous()) return false;
  // Sorted by step, each axis must reach beyond everything that is inside of it.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t k = 0; k < where.shape().size(); ++k) {
    if (where.shape()[k] > 1) axes.emplace_back(std::abs(where.strides()[k]), where.shape()[k]);
  }
  std::ranges::sort(axes);
  std::int64_t reach = 0;
  for (const auto& [step, length] : axes) {
    if (step <= reach) return true;
    reach += step * (length - 1);
  }
  return false;
}

void check_placement(const sycl::queue& queue, const char* what, const expression_parameter& p,
                     const array& a) {
  if (!can_use(queue, a)) refuse_placement(called(what, p), a, queue);
}

char type_letter(const dtype& type) { return static_cast<char>('A' + number_index(type)); }

}  // namespace

bool has_word(std::string_view text, std::string_view word) noexcept {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool starts = at == 0 || !is_part_of_word(text[at - 1]);
    if (starts && (end == text.size() || !is_part_of_word(text[end]))) return true;
  }
  return false;
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void require_text(const char* argument, std::string_view text) {
  if (is_blank(text)) {
    throw std::invalid_argument(format("{}: is empty, expected an expression", argument));
  }
}

expression_signature::expression_signature(std::string_view in_params, std::string_view out_params,
                                           std::string its_name, bool joins_values)
    : parameters(parse_parameters(in_params, "in_params")),
      input_count(parameters.size()),
      name(std::move(its_name)),
      joins(joins_values) {
  if (joins && std::ranges::all_of(parameters, [](const auto& p) { return p.raw; })) {
    throw std::invalid_argument(format(
        "in_params: '{}': expected at least one input that is not raw", std::string(in_params)));
  }
  for (auto& p : parse_parameters(out_params, "out_params")) {
    const auto wrong = [&](const std::string& why) {
      throw std::invalid_argument(format("out_params: '{}': {}", p.text, why));
    };
    if (joins && p.raw) wrong("an output of this kernel cannot be raw");
    if (joins && (p.name == "a" || p.name == "b")) {
      wrong(format("'{}' is one of the joined values; choose another name", p.name));
    }
    if (std::ranges::any_of(inputs(), [&](const auto& in) { return in.name == p.name; })) {
      wrong(format("'{}' is the name of an input", p.name));
    }
    parameters.push_back(std::move(p));
  }
  if (outputs().empty()) {
    throw std::invalid_argument("out_params: is empty, expected at least one output");
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::ranges::all_of(name, is_part_of_word)) {
    throw std::invalid_argument(format("name: '{}' is not a valid C++ identifier", name));
  }
}

expression_call::expression_call(const expression_state& kernel, const call_request& asked)
    : kernel_(kernel), asked_(asked), before_(asked.depends) {
  const auto parameters = std::span(signature().parameters);
  const std::size_t inputs = signature().input_count, outputs = parameters.size() - inputs;
  if (in().size() != inputs) {
    throw std::invalid_argument(
        format("'{}' takes {} inputs, got {}", signature().name, inputs, in().size()));
  }
  if (asked.out.size() != outputs) {
    throw std::invalid_argument(format("outputs: got {}, expected {}", asked.out.size(), outputs));
  }
  for (std::size_t k = 0; k < inputs; ++k) {
    const auto& p = parameters[k];
    const array* a = in()[k].array();
    if (!a) continue;
    check_placement(queue(), "input", p, *a);
    if (p.raw && signature().joins && !a->elements().layout().is_c_contiguous()) {
      throw std::invalid_argument(
          format("{}: is strided, but raw parameters of this kernel must be contiguous; pass "
                 "x.copy()",
                 called("input", p)));
    }
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto& p = parameters[inputs + o];
    const array* given = asked.out[o].given;
    if (!given && p.raw) {
      throw std::invalid_argument(format("{}: a raw output has to be given", called("output", p)));
    }
    if (!given) continue;
    const any_view& v = given->elements();
    check_placement(queue(), "output", p, *given);
    if (v.read_only()) {
      throw interop_error(fault::read_only, format("{}: is read-only", called("output", p)));
    }
    if (repeats_elements(v.layout())) {
      throw std::invalid_argument(
          format("{}: several of its elements share their memory", called("output", p)));
    }
    for (std::size_t j = 0; j < o; ++j) {
      if (asked.out[j].given && overlap(v, asked.out[j].given->elements())) {
        throw std::invalid_argument(format("{}: shares memory with output '{}'",
                                           called("output", p), parameters[inputs + j].name));
      }
    }
  }
}

extents expression_call::input_shape() const {
  std::vector<const extents*> shapes;
  for (std::size_t j = 0; j < in().size(); ++j) {
    if (is_visited(j)) shapes.push_back(&in()[j].array()->elements().layout().shape());
  }
  return broadcast_shape(shapes);
}

void expression_call::check_output_shapes(const extents& shape) const {
  for (std::size_t o = 0; o < outputs(); ++o) {
    const auto& p = signature().outputs()[o];
    if (!asked_.out[o].given || p.raw) continue;
    const extents& own = asked_.out[o].given->elements().layout().shape();
    if (own == shape) continue;
    throw std::invalid_argument(format("{}: has shape {}, expected {}", called("output", p),
                                       shape_text(own.span()), shape_text(shape.span())));
  }
}

void expression_call::write_in_temporary(std::size_t output, bool keeps) {
  if (temporaries_.empty()) temporaries_.resize(outputs());
  const array& given = *asked_.out[output].given;
  const any_view& v = given.elements();
  array& made = temporaries_[output].emplace(
      array::empty(queue(), v.layout().shape().span(), v.dtype(), usm_kind::device));
  if (!keeps) return;
  if (own_before_.empty()) own_before_.assign(asked_.depends.begin(), asked_.depends.end());
  own_before_.push_back(copy_async(queue(), made, given, asked_.depends));
  before_ = own_before_;
}

std::string expression_call::type_key() const {
  std::string key;
  for (const auto& o : in()) {
    key += type_letter(o.type());
    if (!o.array()) key += o.weak() ? 'w' : 'n';
  }
  for (const auto& o : asked_.out) {
    key += o.given ? type_letter(o.given->elements().dtype()) : '-';
  }
  for (std::size_t k = 0; k < signature().parameters.size(); ++k) {
    const array* a = signature().parameters[k].raw ? array_at(k) : nullptr;
    if (a) key += static_cast<char>('0' + a->elements().rank());
  }
  return key;
}

expression_types expression_call::types() const {
  std::vector<std::optional<dtype>> given(outputs());
  for (std::size_t o = 0; o < outputs(); ++o) {
    if (asked_.out[o].given) given[o] = asked_.out[o].given->elements().dtype();
  }
  return resolve_types(signature().inputs(), signature().outputs(), in(), given);
}

layout expression_call::output_layout(const extents& shape) const {
  // Steps count elements: they are valid for all types if they are for the widest.
  constexpr std::size_t itemsize = sizeof(std::complex<double>);
  std::vector<const layout*> operands;
  for (std::size_t j = 0; j < in().size(); ++j) {
    if (is_visited(j)) operands.push_back(&array_at(j)->elements().layout());
  }
  return kept_layout(shape, operands, itemsize);
}

usm_kind expression_call::kind_of_outputs() const {
  joint_kind kinds;
  for (const operand& o : in()) {
    if (o.array()) kinds.add(*o.array());
  }
  return kinds.result(queue());
}

void expression_call::make_outputs(const expression_types& types, const layout& where) {
  for (std::size_t o = 0; o < outputs(); ++o) {
    auto& out = asked_.out[o];
    if (out.given) continue;
    has_made_ = true;
    const dtype& type = types.outputs[o];
    out.made = empty_in(queue(), where, type, kind_of_outputs());
  }
}

std::pair<kernel, std::string> expression_call::compile(
    const expression_types& types, const std::function<std::string(parameter_list&)>& bind) const {
  require_types(queue().get_device(), types);
  parameter_list list(true);
  std::string text = bind(list);
  const std::string& name = kernel_.kernel_name;
  try {
    kernel made =
        program::build(queue(),
                       {.text = text,
                        .kernels = {{.name = name, .rank = 1, .parameters = list.take_declared()}},
                        .options = kernel_.options})
            .get(name);
    return {std::move(made), std::move(text)};
  } catch (const build_error& e) {
    throw in_marked_text(text, e);
  }
}

void expression_call::launch(const kernel& k, const launch_range& range, const parameter_list& list,
                             bool is_last) {
  // Memory that is likely to be freed soon has to know whether it is still in use: an event is
  // asked in a tenth of the time that a queue takes.
  const bool with_event = !is_last || asked_.needs_event || has_made_ || !temporaries_.empty();
  auto event =
      own_launch::run(k, queue(), range, list.arguments(), before_, asked_.order, with_event);
  if (event) then(*std::move(event));
}

void expression_call::then(sycl::event event) {
  own_before_.clear();
  if (!queue().is_in_order()) own_before_.push_back(event);
  before_ = own_before_;
  last_ = std::move(event);
}

std::optional<sycl::event> expression_call::finish() {
  for (std::size_t o = 0; o < temporaries_.size(); ++o) {
    if (temporaries_[o]) then(copy_async(queue(), *asked_.out[o].given, *temporaries_[o], before_));
  }
  return std::move(last_);
}

std::optional<sycl::event> expression_call::finish_without_elements() {
  if (!asked_.needs_event && asked_.depends.empty()) return {};
  submission command(queue());
  command.after(asked_.depends);
  for (std::size_t k = 0; k < signature().parameters.size(); ++k) {
    const array* a = array_at(k);
    if (a && asked_.order == ordering::automatic) command.after(*a);
  }
  return command.submit();
}

}  // namespace usmx::detail
