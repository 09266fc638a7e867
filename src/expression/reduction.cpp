// Calls of reductions: shapes, types and loops.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/reduction.hpp"

#include <stdexcept>

#include "core/format.hpp"
#include "expression/reduction_state.hpp"

namespace usmx {
namespace {

/// Which axes are reduced.
std::vector<bool> reduced_axes(const reduction_axes& axes, std::size_t rank) {
  std::vector<bool> reduced(rank, !axes.axes);
  if (!axes.axes) return reduced;
  const auto n = static_cast<int>(rank);
  for (const int axis : *axes.axes) {
    const int at = axis < 0 ? axis + n : axis;
    if (at < 0 || at >= n) {
      throw std::invalid_argument("axis: " + std::to_string(axis) + " is out of range for " +
                                  std::to_string(n) + " dimensions");
    }
    if (reduced[static_cast<std::size_t>(at)]) {
      throw std::invalid_argument("axis: " + std::to_string(axis) + " is named twice");
    }
    reduced[static_cast<std::size_t>(at)] = true;
  }
  return reduced;
}

std::vector<std::int64_t> c_order_steps(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> steps(lengths.size());
  std::int64_t step = 1;
  for (std::size_t k = lengths.size(); k-- > 0;) {
    steps[k] = step;
    step *= lengths[k];
  }
  return steps;
}

}  // namespace

reduction_kernel::reduction_kernel(std::string_view in_params, std::string_view out_params,
                                   reduction_text text, std::string name)
    : state_(std::make_shared<state>()) {
  auto& s = *state_;
  s.signature = detail::expression_signature(in_params, out_params, name);
  for (const auto& [field, value] :
       {std::pair<const char*, const std::string*>{"map_expr", &text.map},
        {"reduce_expr", &text.reduce},
        {"post_map_expr", &text.post_map}}) {
    if (value->find_first_not_of(" \t\r\n") == std::string::npos) {
      throw std::invalid_argument(std::string(field) + ": is empty, expected an expression");
    }
  }
  s.name = std::move(name);
  s.text = std::move(text);
  s.numbers_elements = detail::has_word(s.text.map, "i") || detail::has_word(s.text.map, "_J");
  for (const char* word : {"n", "_in_ind", "_out_ind"}) {
    s.counts_elements |= detail::has_word(s.text.map, word);
  }
  s.numbers_results =
      detail::has_word(s.text.post_map, "i") || detail::has_word(s.text.post_map, "_i");
}

std::span<const expression_parameter> reduction_kernel::inputs() const noexcept {
  return state_->signature.inputs;
}
std::span<const expression_parameter> reduction_kernel::outputs() const noexcept {
  return state_->signature.outputs;
}
const std::string& reduction_kernel::name() const noexcept { return state_->name; }
const reduction_text& reduction_kernel::text() const noexcept { return state_->text; }
std::vector<std::string> reduction_kernel::sources() const { return state_->programs.sources(); }

array reduction_kernel::operator()(sycl::queue& queue, std::initializer_list<operand> inputs,
                                   const reduction_axes& axes) const {
  if (outputs().size() != 1) {
    throw std::invalid_argument("outputs: '" + name() + "' has " +
                                std::to_string(outputs().size()) + "; call enqueue()");
  }
  expression_output out;
  enqueue(queue, std::span(inputs.begin(), inputs.size()), std::span(&out, 1), axes);
  return std::move(out.made);
}

sycl::event reduction_kernel::enqueue(sycl::queue& queue, std::span<const operand> in,
                                      std::span<expression_output> outputs,
                                      const reduction_axes& axes,
                                      std::span<const sycl::event> depends) const {
  const auto& s = *state_;
  detail::check_inputs(queue, s.signature, s.name, in);
  const extents shape = detail::shape_of_inputs(s.signature, in);
  const std::vector<bool> is_reduced = reduced_axes(axes, shape.size());

  std::vector<std::int64_t> kept_lengths;
  std::vector<std::int64_t> reduced_lengths;
  std::vector<std::int64_t> out_lengths;
  detail::reduction_call call{queue, in, {}, {}, {}, {}, {}};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    (is_reduced[k] ? reduced_lengths : kept_lengths).push_back(shape[k]);
    (is_reduced[k] ? call.count : call.results) *= shape[k];
    if (!is_reduced[k] || axes.keep) out_lengths.push_back(is_reduced[k] ? 1 : shape[k]);
  }
  const extents out_shape{std::span<const std::int64_t>(out_lengths)};

  call.types = detail::check_outputs(queue, s.signature, in, outputs, out_shape);
  if (call.count == 0 && call.results != 0 && !s.text.identity) {
    throw std::invalid_argument("shape: " + detail::shape_text(shape) +
                                " has no elements along the reduced axes, and kernel '" + s.name +
                                "' has no identity");
  }

  const detail::output_places places(
      queue, in, call.types, out_shape, outputs,
      [&](const array& out) { return detail::overlaps_inputs(out, in); });
  call.out = places.get();
  if (call.results == 0) {
    return queue.ext_oneapi_submit_barrier({depends.begin(), depends.end()});
  }

  // Steps over the axes that are kept, and over those that are not.
  std::vector<std::vector<std::int64_t>> kept_steps;
  std::vector<std::vector<std::int64_t>> reduced_steps;
  for (const auto* a : call.out) {
    auto& own = kept_steps.emplace_back();
    std::size_t at = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (!is_reduced[k]) own.push_back(a->elements().layout().strides()[at]);
      if (!is_reduced[k] || axes.keep) ++at;
    }
  }
  for (std::size_t j = 0; j < in.size(); ++j) {
    call.place.push_back(call.arrays);
    if (!in[j].array() || s.signature.inputs[j].raw) continue;
    ++call.arrays;
    const auto steps = detail::steps_over(shape, *in[j].array());
    auto& kept = kept_steps.emplace_back();
    auto& reduced = reduced_steps.emplace_back();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      (is_reduced[k] ? reduced : kept).push_back(steps[k]);
    }
  }
  if (s.numbers_results) kept_steps.push_back(c_order_steps(kept_lengths));
  if (s.numbers_elements) reduced_steps.push_back(c_order_steps(reduced_lengths));
  using spans = std::vector<std::span<const std::int64_t>>;
  call.kept = make_loops(kept_lengths, spans(kept_steps.begin(), kept_steps.end()));
  call.reduced = make_loops(reduced_lengths, spans(reduced_steps.begin(), reduced_steps.end()));

  return places.settle(queue, s.run(call, depends));
}

}  // namespace usmx
