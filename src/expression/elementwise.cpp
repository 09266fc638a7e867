// Elementwise kernels: shapes, types and layouts are looked at once, and whatever was seen before
// finds its program by a few bytes. The text has one item for each element, or for several
// neighbours, with everything compiled in that a call knows before it runs.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/elementwise.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "core/format.hpp"
#include "expression/expression_call.hpp"
#include "expression/source.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/source/user_text.hpp"
#include "runtime/backend.hpp"
#include "transfer/copy_paths.hpp"
#include "usmx/copy.hpp"
#include "usmx/detail/built_kernels.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::called;
using detail::format;
using detail::loops_text;
using detail::parameter_list;
using detail::parameter_name;

/// How the kernel finds the element of an operand that belongs to a turn.
enum class access : char {
  number = 'n',      // passed by value
  run = 'd',         // the turn is the index
  one = 'o',         // always the first
  strided = 's',     // each loop has a step
  raw_row = 'r',     // a raw array, its elements in a row
  raw_strided = 'R'  // a raw array whose flat index has to be taken apart
};

/// The shape of a call and the ways to its operands: inputs first, then outputs.
struct elementwise_plan {
  extents shape;
  /// Of outputs that are still to be made.
  layout made;
  std::int64_t size = 1;
  std::vector<access> ways;
  /// Not looked at if every way is a number, a run or raw.
  loops visited;
  /// For each operand its place in `visited`.
  std::vector<std::size_t> place;
  bool is_small = true;
  /// Every operand is a number or a run that begins at a multiple of so many bytes, which an item
  /// shall load at once; 0 if not.
  std::size_t vector_bytes = 0;
};

/// What was found out about a list of types and ways.
struct known_call {
  expression_types types;
  std::string source;
  /// Of one item.
  int elements = 1;
  detail::built_kernels built;
};

/// How many elements an item has, for so many bytes of the widest one of `own`.
int elements_of_an_item(std::span<const dtype> own, const elementwise_plan& plan) {
  std::size_t widest = 1;
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (plan.ways[k] != access::number) widest = std::max(widest, own[k].itemsize());
  }
  return std::max(1, static_cast<int>(plan.vector_bytes / widest));
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

/// The text ends a statement even if its author did not.
std::string statements(std::string_view argument, const std::string& text) {
  return text.empty() ? text : detail::marked(argument, text) + "\n;\n";
}

}  // namespace

struct elementwise_kernel::state {
  std::vector<expression_parameter> parameters;  // inputs, then outputs
  std::size_t input_count = 0;
  std::string name;
  std::string operation;
  elementwise_text text;
  /// The expression names `i`, so that turns have to be counted in C order.
  bool counts_in_c_order = false;

  mutable std::mutex mutex;
  mutable std::unordered_map<std::string, known_call> known;

  std::span<const expression_parameter> inputs() const { return {parameters.data(), input_count}; }
  std::span<const expression_parameter> outputs() const {
    return std::span(parameters).subspan(input_count);
  }

  void check_operands(const sycl::queue& queue, std::span<const operand> in,
                      std::span<const expression_output> out) const;
  extents shape_of(std::span<const operand> in, std::span<const expression_output> out,
                   std::optional<std::int64_t> size) const;
  bool plan_run(std::span<const operand> in, std::span<const expression_output> out,
                elementwise_plan& plan) const;
  void plan_loops(std::span<const operand> in, std::span<const expression_output> out,
                  elementwise_plan& plan) const;
  /// Null for a number, and for an output that is still to be made.
  const array* array_at(std::size_t k, std::span<const operand> in,
                        std::span<const expression_output> out) const {
    if (k < input_count) return in[k].array();
    const auto& o = out[k - input_count];
    return o.given ? o.given : o.made.data() ? &o.made : nullptr;
  }
  /// The first element of operand `k` that is visited, counted from its first one.
  std::int64_t first_of(std::size_t k, const elementwise_plan& plan) const {
    return plan.place.empty() || parameters[k].raw ? 0 : plan.visited.starts[plan.place[k]];
  }
  /// Whether all operands, but outputs that are still to be made, are numbers or such runs.
  bool starts_at_multiples_of(std::size_t bytes, std::span<const operand> in,
                              std::span<const expression_output> out,
                              const elementwise_plan& plan) const;
  known_call& known_for(std::span<const operand> in, std::span<const expression_output> out,
                        const elementwise_plan& plan) const;
  const kernel& program_for(const sycl::queue& queue, std::span<const operand> in,
                            std::span<const expression_output> out, const elementwise_plan& plan,
                            known_call& call) const;
  std::string kernel_name() const { return name + "_elementwise"; }
  /// What the program takes, and its text if the list writes one.
  std::string bind(parameter_list& list, std::span<const operand> in,
                   std::span<const expression_output> out, const elementwise_plan& plan,
                   const known_call& call) const;
  void enqueue(sycl::queue& queue, std::span<const operand> in, std::span<expression_output> out,
               std::optional<std::int64_t> size, std::span<const sycl::event> depends) const;
};

// --- what a call is asked to do -------------------------------------------------------------

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
    if (!out[k].given && p.raw) {
      throw std::invalid_argument(called("output", p) + ": a raw output has to be given");
    }
  }
  detail::check_output_memory(queue, outputs(), out);
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

// --- programs ---------------------------------------------------------------------------------

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
    place->second.elements = elements_of_an_item(own, plan);
  }
  return place->second;
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
    if (!a) continue;
    const auto first =
        static_cast<std::uintptr_t>(first_of(k, plan)) * a->elements().dtype().itemsize();
    if ((reinterpret_cast<std::uintptr_t>(a->data()) + first) % bytes != 0) return false;
  }
  return true;
}

std::string elementwise_kernel::state::bind(parameter_list& list, std::span<const operand> in,
                                            std::span<const expression_output> out,
                                            const elementwise_plan& plan,
                                            const known_call& call) const {
  const std::size_t rank = plan.visited.rank();
  // Distances and lengths are as wide as they have to be: narrow ones are divided faster.
  const auto add_length = [&](std::size_t axis) {
    const parameter_name length{"", "length", static_cast<int>(axis)};
    const auto value = plan.visited.lengths[axis];
    if (plan.is_small) {
      list.scalar(length, static_cast<std::uint32_t>(value));
    } else {
      list.scalar(length, static_cast<std::uint64_t>(value));
    }
  };
  const auto add_steps = [&](std::size_t k) {
    std::string steps;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const parameter_name step{parameters[k].name, "step", static_cast<int>(axis)};
      const auto value = plan.visited.steps_of(plan.place[k])[axis];
      if (plan.is_small) {
        list.scalar(step, static_cast<std::int32_t>(value));
      } else {
        list.scalar(step, value);
      }
      if (list.writes()) steps += (axis == 0 ? "" : ", ") + step.text();
    }
    return steps;
  };

  const bool several = call.elements > 1;
  loops_text places("_places", rank, plan.is_small ? ", uint32_t, int32_t" : ", uint64_t, int64_t");
  std::string variables, stores, declared, passed, aligned;
  std::size_t strided = 0;
  list.scalar({"", "size"}, static_cast<std::uint64_t>(plan.size));
  for (std::size_t axis = 1; axis < rank; ++axis) {
    add_length(axis);
    if (list.writes()) places.length({"", "length", static_cast<int>(axis)});
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const auto& p = parameters[k];
    const bool is_output = k >= input_count;
    const dtype& as = is_output ? call.types.outputs[k - input_count] : call.types.inputs[k];
    const access way = plan.ways[k];
    if (way == access::number) {
      list.number(p, as, in[k]);
      if (list.writes()) variables += "    " + detail::number_variable(p, as);
      continue;
    }
    const array& a = *array_at(k, in, out);
    if (p.raw) {
      list.raw(p, a, is_output);
      if (list.writes()) variables += "    " + detail::raw_variable(p, as, a, is_output);
      continue;
    }
    list.elements(p, a, first_of(k, plan), is_output);
    const std::string steps = way == access::strided ? add_steps(k) : std::string();
    if (!list.writes()) continue;

    std::string at = way == access::one ? "0" : several && !is_output ? "_in" : "_at";
    if (way == access::strided && rank == 1) {
      at = format("int64_t(_at) * {}", steps);
    } else if (way == access::strided) {
      at = format("_place.of[{}]", strided++);
      places.operand(steps);
    }
    const dtype& own = a.elements().dtype();
    const std::string pointer = parameter_name{p.name, "data"}.text();
    if (!is_output) {
      variables += "    " + detail::loaded_variable(p, as, own, at);
      if (several) declared += format(", const {}* {}", device_name(own), pointer);
      if (several) passed += ", " + pointer;
    } else if (own == as) {  // the element itself
      variables += format("    {}& {} = {}[{}];\n", device_name(as), p.name, pointer, at);
    } else {
      variables +=
          "    " +
          detail::loaded_variable(p, as, own, at).substr(std::string_view("const ").size());
      stores += "    " + detail::stored_variable(p, own, at);
    }
    if (several && is_output) {
      aligned += format("  {0} = expression::aligned<{1}>({0});\n", pointer, call.elements);
    }
  }
  if (!list.writes()) return {};

  // As wide as the device counts: of a narrower number no compiler sees that it goes on by one from
  // item to item, and single loads take four times as long.
  std::string begin =
      several ? format(
                    "  const auto _one = [&](const uint64_t _at, [[maybe_unused]] const int64_t "
                    "_in{}) {{\n",
                    declared)
              : std::string("  const uint64_t _at = global_id();\n  if (_at >= _size) return;\n");
  if (strided > 0) begin = places.text() + begin + "  const auto _place = _places.at(_at);\n";
  // A scope of its own: a parameter may be called `n`, and `return` ends only the expression.
  std::string body =
      "  [[maybe_unused]] const int64_t i = int64_t(_at), n = int64_t(_size);\n  {\n" + variables +
      statements("loop_prep", text.loop_prep) + "[&] {\n" + statements("operation", operation) +
      "}();\n" + statements("after_loop", text.after_loop) + stores + "  }\n";
  return format(
      "#include \"usmx/expression/elementwise.hpp\"\nusing namespace usmx;\n{}\n"
      "USMX_KERNEL(1) {}({}) {{\n{}{}{}{}{}}}\n",
      text.preamble.empty() ? "" : detail::marked("preamble", text.preamble) + "\n", kernel_name(),
      list.text(), placeholder_text(call.types), aligned, begin, body,
      several
          ? format("  }};\n  expression::each_several<{}>(_size, _one{});\n", call.elements, passed)
          : std::string());
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
  const kernel& k = call.built.get(queue, [&] {
    require_types(queue.get_device(), call.types);
    auto made = detail::compile_expression(
        queue, kernel_name(), text.options,
        [&](parameter_list& list) { return bind(list, in, out, plan, call); });
    const std::lock_guard lock(mutex);
    call.source = std::move(made.source);
    return std::move(made.compiled);
  });
  parameter_list list(false, 2 + 2 * parameters.size());
  bind(list, in, out, plan, call);
  const auto elements = static_cast<std::size_t>(call.elements);
  const std::size_t items = (static_cast<std::size_t>(plan.size) + elements - 1) / elements;
  const launch_range range = detail::range_in_groups(k, forms, items);
  // A made output is likely to be freed soon, which has to know whether it is still in use: an
  // event is asked in a tenth of the time that a queue takes.
  const bool any_made = std::ranges::any_of(out, [](const auto& o) { return !o.given; });
  if (any_made) {
    detail::own_launch::launch(k, queue, range, list.arguments(), depends);
  } else {
    detail::own_launch::enqueue(k, queue, range, list.arguments(), depends);
  }
}

// --- the class --------------------------------------------------------------------------------

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
    for (std::size_t j = 0; j < in.size(); ++j) {
      if (s.parameters[j].raw || !detail::overlaps(*out[k].given, in[j])) continue;
      const auto& same = detail::same_elements;
      if (!same(out[k].given->elements(), in[j].array()->elements())) return true;
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
