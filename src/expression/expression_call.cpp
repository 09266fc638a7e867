// Checks of operands and the table of programs; see expression_call.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/expression_call.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <stdexcept>

#include "core/format.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/source/user_text.hpp"
#include "memory/reach.hpp"
#include "runtime/backend.hpp"
#include "transfer/copy_paths.hpp"
#include "usmx/copy.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {
namespace {

bool is_part_of_word(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether elements of an array may share their memory: it is told by lengths and steps alone,
/// which no slice or transposition of an array without such elements makes wrong.
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

}  // namespace

void check_memory(const sycl::queue& queue, const char* what, const expression_parameter& p,
                  const array& a) {
  if (a.queue() == queue) return;
  if (a.queue().get_context() != queue.get_context()) {
    throw std::invalid_argument(called(what, p) +
                                ": its memory belongs to another context than the queue; copy it "
                                "with to_device()");
  }
  if (a.kind() == usm_kind::device) {
    require_within_reach(called(what, p), usm_kind::device, a.queue().get_device(),
                         queue.get_device());
  }
}

bool has_word(std::string_view text, std::string_view word) noexcept {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool starts = at == 0 || !is_part_of_word(text[at - 1]);
    if (starts && (end == text.size() || !is_part_of_word(text[end]))) return true;
  }
  return false;
}

void check_kernel_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::ranges::all_of(name, is_part_of_word)) {
    throw std::invalid_argument("name: '" + std::string(name) + "' is no name that C++ has");
  }
}

expression_signature::expression_signature(std::string_view in_params, std::string_view out_params,
                                           const std::string& name)
    : inputs(parse_parameters(in_params, "in_params")),
      outputs(parse_parameters(out_params, "out_params")) {
  if (std::ranges::none_of(inputs, [](const auto& p) { return !p.raw; })) {
    throw std::invalid_argument("in_params: '" + std::string(in_params) +
                                "' has no input that is not raw, expected at least one");
  }
  if (outputs.empty()) {
    throw std::invalid_argument("out_params: is empty, expected at least one output");
  }
  for (const auto& p : outputs) {
    const auto wrong = [&](const std::string& why) {
      throw std::invalid_argument("out_params: '" + p.text + "': " + why);
    };
    if (p.raw) wrong("an output of this kernel cannot be raw");
    if (p.name == "a" || p.name == "b")
      wrong("'" + p.name + "' is what is joined; choose another name");
    if (std::ranges::any_of(inputs, [&](const auto& in) { return in.name == p.name; }))
      wrong("'" + p.name + "' is the name of an input");
  }
  check_kernel_name(name);
}

void check_inputs(const sycl::queue& queue, const expression_signature& signature,
                  const std::string& name, std::span<const operand> in) {
  if (in.size() != signature.inputs.size()) {
    throw std::invalid_argument("kernel '" + name + "' takes " +
                                std::to_string(signature.inputs.size()) + " inputs, got " +
                                std::to_string(in.size()));
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    const auto& p = signature.inputs[k];
    const array* a = in[k].array();
    if (!a) {
      if (p.raw)
        throw std::invalid_argument(called("input", p) + ": is a number, expected an array");
      continue;
    }
    check_memory(queue, "input", p, *a);
    if (p.raw && !a->elements().layout().is_c_contiguous()) {
      throw std::invalid_argument(called("input", p) +
                                  ": is strided, and a raw parameter of this kernel knows no "
                                  "strides; pass x.copy()");
    }
  }
}

void check_output_memory(const sycl::queue& queue, std::span<const expression_parameter> parameters,
                         std::span<const expression_output> outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].given) continue;
    const auto& p = parameters[k];
    const auto& v = outputs[k].given->elements();
    check_memory(queue, "output", p, *outputs[k].given);
    if (v.read_only()) {
      throw interop_error(fault::read_only, called("output", p) + ": is read-only");
    }
    if (repeats_elements(v.layout())) {
      throw std::invalid_argument(called("output", p) +
                                  ": several of its elements share their memory");
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (outputs[j].given && v.size() > 0 && overlap(v, outputs[j].given->elements())) {
        throw std::invalid_argument(called("output", p) + ": shares memory with output '" +
                                    parameters[j].name + "'");
      }
    }
  }
}

expression_types check_outputs(const sycl::queue& queue, const expression_signature& signature,
                               std::span<const operand> in,
                               std::span<const expression_output> outputs, const extents& shape) {
  if (outputs.size() != signature.outputs.size()) {
    throw std::invalid_argument("outputs: got " + std::to_string(outputs.size()) + ", expected " +
                                std::to_string(signature.outputs.size()));
  }
  std::vector<std::optional<dtype>> given(outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].given) continue;
    const auto& v = outputs[k].given->elements();
    given[k] = v.dtype();
    if (!(v.layout().shape() == shape)) {
      throw std::invalid_argument(called("output", signature.outputs[k]) + ": has shape " +
                                  shape_text(v.layout().shape()) + ", expected " +
                                  shape_text(shape));
    }
  }
  check_output_memory(queue, signature.outputs, outputs);
  expression_types types = resolve_types(signature.inputs, signature.outputs, in, given);
  require_types(queue.get_device(), types);
  return types;
}

output_places::output_places(const sycl::queue& queue, std::span<const operand> in,
                             const expression_types& types, const extents& shape,
                             std::span<expression_output> outputs,
                             const std::function<bool(const array&)>& is_read)
    : outputs_(outputs), beside_(outputs.size()) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    auto& o = outputs[k];
    if (!o.given) {
      o.made = array::empty(queue, shape.span(), types.outputs[k], strongest_kind(in));
    } else if (is_read(*o.given)) {
      beside_[k] = array::empty(queue, shape.span(), o.given->elements().dtype(), usm_kind::device);
    }
  }
}

std::vector<const array*> output_places::get() const {
  std::vector<const array*> places;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    places.push_back(beside_[k] ? &*beside_[k] : &outputs_[k].get());
  }
  return places;
}

sycl::event output_places::settle(const sycl::queue& queue, sycl::event last) const {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!beside_[k]) continue;
    const sycl::event written[] = {last};
    last = copy_async(queue, *outputs_[k].given, *beside_[k], written);
  }
  return last;
}

bool overlaps(const array& out, const operand& in) noexcept {
  return in.array() && out.elements().size() > 0 && in.array()->elements().size() > 0 &&
         overlap(out.elements(), in.array()->elements());
}

bool overlaps_inputs(const array& out, std::span<const operand> in) noexcept {
  return std::ranges::any_of(in, [&](const operand& o) { return overlaps(out, o); });
}

bool same_elements(const any_view& a, const any_view& b) noexcept {
  return a.data() == b.data() && a.dtype().itemsize() == b.dtype().itemsize() &&
         a.layout() == b.layout();
}

extents shape_of_inputs(const expression_signature& signature, std::span<const operand> in) {
  std::vector<const extents*> shapes;
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (in[k].array() && !signature.inputs[k].raw)
      shapes.push_back(&in[k].array()->elements().layout().shape());
  }
  return broadcast_shape(shapes);
}

std::vector<std::int64_t> steps_over(const extents& shape, const array& a) {
  const layout& where = a.elements().layout();
  std::vector<std::int64_t> steps(shape.size(), 0);
  const std::size_t missing = shape.size() - where.shape().size();
  for (std::size_t k = 0; k < where.shape().size(); ++k) {
    if (where.shape()[k] != 1) steps[missing + k] = where.strides()[k];
  }
  return steps;
}

compiled_expression compile_expression(const sycl::queue& queue, const std::string& name,
                                       std::span<const std::string> options,
                                       const bind_function& bind) {
  parameter_list list(true);
  std::string text = bind(list);
  try {
    kernel made =
        program::build(queue,
                       {.text = text,
                        .kernels = {{.name = name, .rank = 1, .parameters = list.take_declared()}},
                        .options = {options.begin(), options.end()}})
            .get(name);
    return {std::move(text), std::move(made)};
  } catch (const build_error& e) {
    throw in_marked_text(text, e);
  }
}

const kernel& program_table::get(const sycl::queue& queue, const std::string& key,
                                 const std::string& name, std::span<const std::string> options,
                                 const bind_function& bind) {
  entry& e = [&]() -> entry& {
    const std::lock_guard lock(mutex_);
    return known_[key];  // stays where it is
  }();
  return e.built.get(queue, [&] {
    auto made = compile_expression(queue, name, options, bind);
    const std::lock_guard lock(mutex_);
    e.source = std::move(made.source);
    return std::move(made.compiled);
  });
}

std::vector<std::string> program_table::sources() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [key, e] : known_) {
    if (!e.source.empty()) all.push_back(e.source);  // it was compiled
  }
  return all;
}

sycl::event launch_groups(const kernel& k, sycl::queue& queue, std::int64_t groups, int items,
                          const parameter_list& list, std::span<const sycl::event> depends) {
  const auto local = static_cast<std::size_t>(items);
  const std::size_t global = static_cast<std::size_t>(groups) * local;
  return own_launch::launch(k, queue, launch_range(std::span(&global, 1), std::span(&local, 1)),
                            list.arguments(), depends);
}

std::string type_key(std::span<const operand> in, std::span<const array* const> given) {
  std::string key;
  for (const auto& o : in) {
    key += static_cast<char>('A' + number_index(o.type()));
    if (!o.array()) key += o.weak() ? 'w' : 'n';
  }
  for (const auto* a : given) {
    key += a ? static_cast<char>('A' + number_index(a->elements().dtype())) : '-';
  }
  return key;
}

}  // namespace usmx::detail
