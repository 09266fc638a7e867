// What a call of an elementwise kernel is asked to do: whether its operands can be what they are,
// its shape, and the way to each element.
// SPDX-License-Identifier: Apache-2.0
#include "expression/elementwise_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "core/format.hpp"
#include "expression/elementwise_state.hpp"
#include "transfer/copy_paths.hpp"

namespace usmx {
namespace {

using detail::access;
using detail::called;
using detail::elementwise_plan;

/// Gapless, with the axes in the order of the inputs where these agree, as NumPy's "K".
layout output_layout(const extents& shape, std::span<const operand> in,
                     std::span<const expression_parameter> parameters, std::size_t itemsize) {
  layout out;
  std::vector<std::size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  const layout* first = nullptr;
  for (std::size_t j = 0; j < in.size(); ++j) {
    if (!in[j].array() || parameters[j].raw) continue;
    const layout& where = in[j].array()->elements().layout();
    if (!(where.shape() == shape) || where.is_c_contiguous()) continue;
    const auto step = [&](std::size_t axis) { return std::abs(where.strides()[axis]); };
    if (!first) {
      first = &where;
      std::ranges::stable_sort(axes,
                               [&](std::size_t a, std::size_t b) { return step(a) > step(b); });
    }
    if (!std::ranges::is_sorted(axes,
                                [&](std::size_t a, std::size_t b) { return step(a) > step(b); })) {
      first = nullptr;
      break;
    }
  }
  // One input in C order among others decides for C.
  const bool any_c = std::ranges::any_of(in, [&](const operand& o) {
    return o.array() && o.array()->elements().layout().shape() == shape &&
           o.array()->elements().layout().is_c_contiguous();
  });
  fault code = fault::none;
  if (!first || any_c) {
    code = layout::c_order(shape, itemsize, out);
  } else {
    extents strides(shape.size());
    std::int64_t step = 1;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      strides[*axis] = step;
      step *= std::max<std::int64_t>(shape[*axis], 1);
    }
    code = layout::strided(shape, std::move(strides), itemsize, out);
  }
  if (code != fault::none) throw interop_error(code, std::string(message(code)));
  return out;
}

}  // namespace

void elementwise_kernel::state::check_operands(const sycl::queue& queue,
                                               std::span<const operand> in,
                                               std::span<const expression_output> out) const {
  if (in.size() != input_count || out.size() != parameters.size() - input_count) {
    throw std::invalid_argument("'" + name + "' takes " + std::to_string(input_count) +
                                " inputs and " + std::to_string(parameters.size() - input_count) +
                                " outputs, got " + std::to_string(in.size()) + " and " +
                                std::to_string(out.size()));
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    const auto& p = parameters[k];
    if (const auto* a = in[k].array()) {
      detail::check_memory(queue, "input", p, *a);
    } else if (p.raw) {
      throw interop_error(fault::kind_mismatch,
                          called("input", p) + ": is a number, expected an array");
    }
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto& p = outputs()[k];
    if (!out[k].given) {
      if (!p.raw) continue;
      throw std::invalid_argument(called("output", p) + ": a raw output has to be given");
    }
    detail::check_memory(queue, "output", p, *out[k].given);
    const auto& v = out[k].given->elements();
    if (v.read_only()) {
      throw interop_error(fault::read_only, called("output", p) + ": is read-only");
    }
    if (detail::repeats_elements(v.layout())) {
      throw std::invalid_argument(called("output", p) +
                                  ": several of its elements share their memory");
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (out[j].given && v.size() > 0 && detail::overlap(v, out[j].given->elements())) {
        throw std::invalid_argument(called("output", p) + ": shares memory with output '" +
                                    outputs()[j].name + "'");
      }
    }
  }
}

extents elementwise_kernel::state::shape_of(std::span<const operand> in,
                                            std::span<const expression_output> out,
                                            std::optional<std::int64_t> size) const {
  std::vector<const extents*> shapes;
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (in[k].array() && !parameters[k].raw) {
      shapes.push_back(&in[k].array()->elements().layout().shape());
    }
  }
  if (size && !shapes.empty()) {
    throw std::invalid_argument("size: " + std::to_string(*size) +
                                "; only where no array but raw ones is an input");
  }
  if (size && *size < 0) {
    throw std::invalid_argument("size: " + std::to_string(*size) + " is negative");
  }
  extents shape = size ? extents{*size} : broadcast_shape(shapes);
  // Numbers alone make one element; beside raw arrays they say nothing.
  const bool any_raw = std::ranges::any_of(inputs(), [](const auto& p) { return p.raw; });
  bool is_known = size || !shapes.empty() || (input_count > 0 && !any_raw);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!out[k].given || outputs()[k].raw) continue;
    const extents& own = out[k].given->elements().layout().shape();
    const extents* both[] = {&shape, &own};
    if (is_known && !(shape == own)) {
      bool fits = false;
      try {
        fits = !size && broadcast_shape(both) == own;
      } catch (const std::invalid_argument&) {
      }
      if (!fits) {
        throw std::invalid_argument(called("output", outputs()[k]) + ": has shape " +
                                    detail::shape_text(own) + ", expected " +
                                    detail::shape_text(shape));
      }
    }
    shape = own;
    is_known = true;
  }
  if (!is_known) {
    throw std::invalid_argument("size: is needed by '" + name +
                                "', because no input and no given output has a shape");
  }
  return shape;
}

/// The usual call: everything gapless in C order and of one shape. False if it is not.
bool elementwise_kernel::state::plan_run(std::span<const operand> in,
                                         std::span<const expression_output> out,
                                         elementwise_plan& plan) const {
  const layout* first = nullptr;
  const auto fits = [&](const array& a) {
    const layout& where = a.elements().layout();
    if (first) return where.shape() == first->shape() && where.is_c_contiguous();
    first = &where;
    return where.is_c_contiguous();
  };
  plan.ways.reserve(parameters.size());
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (parameters[k].raw || (in[k].array() && !fits(*in[k].array()))) return false;
    plan.ways.push_back(in[k].array() ? access::run : access::number);
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (parameters[input_count + k].raw || (out[k].given && !fits(*out[k].given))) return false;
    plan.ways.push_back(access::run);
  }
  if (!first) return false;
  plan.shape = first->shape();
  plan.made = *first;
  plan.size = first->size();
  return true;
}

void elementwise_kernel::state::plan_loops(std::span<const operand> in,
                                           std::span<const expression_output> out,
                                           elementwise_plan& plan) const {
  // Steps count elements, so they do not depend on an element size that is not known yet.
  plan.made = output_layout(plan.shape, in, inputs(), sizeof(std::complex<double>));
  plan.ways.clear();
  plan.place.assign(parameters.size(), 0);
  std::vector<const layout*> layouts;
  // Outputs first: writing in order is worth more than reading in order.
  const auto visit = [&](std::size_t k) {
    const array* a = array_at(k, in, out);
    if (parameters[k].raw || (!a && k < input_count)) return;
    plan.place[k] = layouts.size();
    layouts.push_back(a ? &a->elements().layout() : &plan.made);
  };
  for (std::size_t k = input_count; k < parameters.size(); ++k) visit(k);
  for (std::size_t k = 0; k < input_count; ++k) visit(k);
  plan.visited =
      make_loops(plan.shape, layouts, counts_in_c_order ? loop_order::c : loop_order::any);
  plan.size = plan.visited.size;
  plan.is_small = plan.visited.fits_31_bits();
  bool any_strided = false;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const array* a = array_at(k, in, out);
    if (!a && k < input_count) {
      plan.ways.push_back(access::number);
    } else if (parameters[k].raw) {
      const layout& where = a->elements().layout();
      plan.ways.push_back(where.is_c_contiguous() ? access::raw_row : access::raw_strided);
    } else if (plan.size == 0 || plan.visited.is_run(plan.place[k])) {
      plan.ways.push_back(plan.size == 1 ? access::one : access::run);
    } else if (plan.visited.is_one_element(plan.place[k])) {
      plan.ways.push_back(access::one);
    } else {
      plan.ways.push_back(access::strided);
      any_strided = true;
    }
  }
  // Without steps to take the loops do not matter to the program.
  if (!any_strided) plan.visited.lengths.clear();
}

}  // namespace usmx
