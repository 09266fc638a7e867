// Calls of elementwise kernels: shapes, types and layouts are looked at once, and whatever was seen
// before finds its program by a few bytes.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/elementwise.hpp"

#include <algorithm>
#include <stdexcept>

#include "expression/elementwise_state.hpp"
#include "expression/expression_call.hpp"
#include "kernel/kernel_state.hpp"
#include "runtime/backend.hpp"
#include "transfer/copy_paths.hpp"
#include "usmx/copy.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::access;
using detail::elementwise_plan;
using detail::known_call;

bool same_elements(const any_view& a, const any_view& b) {
  return a.data() == b.data() && a.dtype().itemsize() == b.dtype().itemsize() &&
         a.layout() == b.layout();
}

array allocate(const sycl::queue& queue, layout where, const dtype& type, usm_kind kind) {
  if (where.is_c_contiguous()) return array::empty(queue, where.shape().span(), type, kind);
  const std::int64_t count[] = {where.size()};
  const array flat = array::empty(queue, count, type, kind);
  any_view elements;
  const fault code = any_view::make(flat.data(), type, std::move(where), kind, false, elements);
  if (code != fault::none) throw interop_error(code, std::string(message(code)));
  return flat.with_view(std::move(elements));
}

}  // namespace

// --- programs
// -------------------------------------------------------------------------------------

known_call& elementwise_kernel::state::known_for(std::span<const operand> in,
                                                 std::span<const expression_output> out,
                                                 const elementwise_plan& plan) const {
  std::string key;
  key += static_cast<char>('0' + plan.visited.rank());
  key += plan.is_small ? 'i' : 'l';
  key += plan.vector_bytes == 0 ? 's' : 'v';
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const array* a = array_at(k, in, out);
    const bool is_input = k < input_count;
    const bool made = !is_input && !a;
    key += made ? '-'
                : static_cast<char>('A' +
                                    number_index(is_input ? in[k].type() : a->elements().dtype()));
    key += is_input && in[k].weak() ? 'w' : static_cast<char>(plan.ways[k]);
    if (plan.ways[k] == access::raw_strided) key += static_cast<char>('0' + a->elements().rank());
  }
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<std::optional<dtype>> given(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k].given) given[k] = out[k].given->elements().dtype();
  }
  expression_types types = resolve_types(inputs(), outputs(), in, given);
  std::vector<dtype> own;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const array* a = array_at(k, in, out);
    own.push_back(k < input_count ? in[k].type()
                  : a             ? a->elements().dtype()
                                  : types.outputs[k - input_count]);
  }
  const std::lock_guard lock(mutex);
  // Entries stay where they are, and their types as they are, as long as the kernel lives.
  const auto [place, is_new] = known.try_emplace(std::move(key));
  if (is_new) {
    place->second.types = std::move(types);
    place->second.elements = detail::elements_of_an_item(own, plan);
  }
  return place->second;
}

const kernel& elementwise_kernel::state::program_for(const sycl::queue& queue,
                                                     std::span<const operand> in,
                                                     std::span<const expression_output> out,
                                                     const elementwise_plan& plan,
                                                     known_call& call) const {
  return call.built.get(queue, [&] {
    require_types(queue.get_device(), call.types);
    std::vector<dtype> own;
    std::vector<int> raw_ranks;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const array* a = array_at(k, in, out);
      own.push_back(a ? a->elements().dtype() : in[k].type());
      raw_ranks.push_back(a && parameters[k].raw ? a->elements().rank() : 0);
    }
    std::string source =
        detail::elementwise_source(parameters, input_count, call.types, own, raw_ranks, plan,
                                   call.elements, name, operation, text);
    kernel made = detail::compile_expression(queue, source, detail::elementwise_kernel_name(name),
                                             text.options);
    const std::lock_guard lock(mutex);
    call.source = std::move(source);
    return made;
  });
}

const std::byte* elementwise_kernel::state::first_of(const array& a, std::size_t k,
                                                     const elementwise_plan& plan) const {
  const std::int64_t start =
      plan.place.empty() || parameters[k].raw ? 0 : plan.visited.starts[plan.place[k]];
  return static_cast<const std::byte*>(a.data()) +
         start * static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

bool elementwise_kernel::state::starts_at_multiples_of(std::size_t bytes,
                                                       std::span<const operand> in,
                                                       std::span<const expression_output> out,
                                                       const elementwise_plan& plan) const {
  if (bytes == 0 || plan.size < 2) return false;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (plan.ways[k] == access::number) continue;
    if (plan.ways[k] != access::run) return false;
    const array* a = array_at(k, in, out);
    if (a && reinterpret_cast<std::uintptr_t>(first_of(*a, k, plan)) % bytes != 0) return false;
  }
  return true;
}

void elementwise_kernel::state::enqueue(sycl::queue& queue, std::span<const operand> in,
                                        std::span<expression_output> out,
                                        std::optional<std::int64_t> size,
                                        std::span<const sycl::event> depends) const {
  elementwise_plan plan;
  if (size || !plan_run(in, out, plan)) {
    plan.shape = shape_of(in, out, size);
    plan_loops(in, out, plan);
  }
  const detail::kernel_forms& forms = detail::forms_of(queue);
  if (starts_at_multiples_of(forms.vector_bytes, in, out, plan)) {
    plan.vector_bytes = forms.vector_bytes;
  }
  known_call* known_one = &known_for(in, out, plan);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k].given) continue;
    out[k].made = allocate(queue, plan.made, known_one->types.outputs[k], strongest_kind(in));
  }
  if (plan.size == 0) return;
  if (plan.vector_bytes != 0 && !starts_at_multiples_of(forms.vector_bytes, in, out, plan)) {
    plan.vector_bytes = 0;  // what was made is of a resource that aligns less
    known_one = &known_for(in, out, plan);
  }
  known_call& call = *known_one;

  const kernel& k = program_for(queue, in, out, plan, call);
  std::vector<kernel_argument> arguments;
  arguments.reserve(2 + 2 * parameters.size());
  const auto add_count = [&](std::int64_t value) {
    if (plan.is_small) {
      arguments.emplace_back(static_cast<std::uint32_t>(value));
    } else {
      arguments.emplace_back(static_cast<std::uint64_t>(value));
    }
  };
  const auto add_distance = [&](std::int64_t value) {
    if (plan.is_small) {
      arguments.emplace_back(static_cast<std::int32_t>(value));
    } else {
      arguments.emplace_back(value);
    }
  };
  arguments.emplace_back(static_cast<std::uint64_t>(plan.size));
  for (std::size_t a = 1; a < plan.visited.rank(); ++a) add_count(plan.visited.lengths[a]);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (plan.ways[p] == access::number) {
      const dtype& type = call.types.inputs[p];
      try {
        add_number(arguments, type, in[p].number_as(type).data());
      } catch (const std::overflow_error& e) {
        throw std::overflow_error(detail::called("input", parameters[p]) + ": " + e.what());
      }
      continue;
    }
    const array& a = *array_at(p, in, out);
    const auto& v = a.elements();
    arguments.emplace_back(a, first_of(a, p, plan));
    if (plan.ways[p] == access::strided) {
      for (const auto step : plan.visited.steps_of(plan.place[p])) add_distance(step);
    } else if (parameters[p].raw) {
      arguments.emplace_back(v.size());
      if (plan.ways[p] != access::raw_strided) continue;
      for (std::size_t axis = 0; axis < v.layout().shape().size(); ++axis) {
        arguments.emplace_back(v.layout().shape()[axis]);
        arguments.emplace_back(v.layout().strides()[axis]);
      }
    }
  }
  const auto elements = static_cast<std::size_t>(call.elements);
  const std::size_t turns = (static_cast<std::size_t>(plan.size) + elements - 1) / elements;
  const launch_range items = detail::items_for(k, forms, turns);
  // A made output is likely to be freed soon, which has to know whether it is still in use: an
  // event is asked in a tenth of the time that a queue takes.
  const bool any_made = std::ranges::any_of(out, [](const auto& o) { return !o.given; });
  if (any_made) {
    detail::own_launch::launch(k, queue, items, arguments, depends);
  } else {
    detail::own_launch::enqueue(k, queue, items, arguments, depends);
  }
}

// --- the class
// -------------------------------------------------------------------------------------

elementwise_kernel::elementwise_kernel(std::string_view in_params, std::string_view out_params,
                                       std::string operation, std::string name,
                                       elementwise_text text)
    : state_(std::make_shared<state>()) {
  auto& s = *state_;
  s.parameters = parse_parameters(in_params, "in_params");
  s.input_count = s.parameters.size();
  for (auto& p : parse_parameters(out_params, "out_params")) {
    for (const auto& input : s.inputs()) {
      if (input.name == p.name) {
        throw std::invalid_argument("out_params: '" + p.text + "': '" + p.name +
                                    "' is the name of an input");
      }
    }
    s.parameters.push_back(std::move(p));
  }
  if (s.outputs().empty()) {
    throw std::invalid_argument("out_params: is empty, expected at least one output");
  }
  detail::check_kernel_name(name);
  s.name = std::move(name);
  s.operation = std::move(operation);
  s.text = std::move(text);
  for (const auto* part : {&s.operation, &s.text.loop_prep, &s.text.after_loop}) {
    s.counts_in_c_order |= detail::has_word(*part, "i");
  }
}

std::span<const expression_parameter> elementwise_kernel::inputs() const noexcept {
  return state_->inputs();
}
std::span<const expression_parameter> elementwise_kernel::outputs() const noexcept {
  return state_->outputs();
}
const std::string& elementwise_kernel::name() const noexcept { return state_->name; }
const std::string& elementwise_kernel::operation() const noexcept { return state_->operation; }
const elementwise_text& elementwise_kernel::text() const noexcept { return state_->text; }

array elementwise_kernel::operator()(sycl::queue& queue,
                                     std::initializer_list<operand> inputs) const {
  expression_output out;
  enqueue(queue, std::span(inputs.begin(), inputs.size()), std::span(&out, 1));
  return std::move(out.made);
}

void elementwise_kernel::enqueue(sycl::queue& queue, std::span<const operand> in,
                                 std::span<expression_output> out, std::optional<std::int64_t> size,
                                 std::span<const sycl::event> depends) const {
  const auto& s = *state_;
  s.check_operands(queue, in, out);
  // An output may stand exactly where an input does: each element is read before it is written.
  const auto overlaps_input = [&](std::size_t k) {
    if (!out[k].given || s.outputs()[k].raw) return false;
    const auto& v = out[k].given->elements();
    for (std::size_t j = 0; j < in.size(); ++j) {
      const auto* a = in[j].array();
      if (!a || s.parameters[j].raw || v.size() == 0 || a->elements().size() == 0) continue;
      if (detail::overlap(v, a->elements()) && !same_elements(v, a->elements())) return true;
    }
    return false;
  };
  bool any_overlap = false;
  for (std::size_t k = 0; k < out.size(); ++k) any_overlap |= overlaps_input(k);
  if (!any_overlap) return s.enqueue(queue, in, out, size, depends);

  std::vector<array> beside(out.size());
  std::vector<expression_output> outputs(out.begin(), out.end());
  std::vector<sycl::event> before(depends.begin(), depends.end());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!overlaps_input(k)) continue;
    layout where;
    const auto& v = out[k].given->elements();
    const fault code = layout::c_order(v.layout().shape(), v.dtype().itemsize(), where);
    if (code != fault::none) throw interop_error(code, std::string(message(code)));
    beside[k] = allocate(queue, std::move(where), v.dtype(), usm_kind::device);
    // The expression may read what was there.
    before.push_back(copy_async(queue, beside[k], *out[k].given, depends));
    outputs[k].given = &beside[k];
  }
  s.enqueue(queue, in, outputs, size, before);
  const sycl::event computed = marker(queue);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (outputs[k].given == out[k].given) {
      out[k].made = std::move(outputs[k].made);
    } else {
      copy_async(queue, *out[k].given, beside[k], std::span(&computed, 1));
    }
  }
}

std::vector<std::string> elementwise_kernel::sources() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> all;
  for (const auto& [key, call] : state_->known) all.push_back(call.source);
  return all;
}

}  // namespace usmx
