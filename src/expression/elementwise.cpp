// Elementwise kernels: shapes, types and layouts are looked at once, and a call like an earlier one
// finds its program by a few bytes. The text has one item for each element, or for several
// neighbours, with everything compiled in that a call knows before it runs.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/elementwise.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "core/format.hpp"
#include "expression/call.hpp"
#include "expression/source.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/row_groups.hpp"
#include "kernel/source/user_text.hpp"
#include "runtime/backend.hpp"

namespace usmx {
namespace {

using detail::call_request;
using detail::class_of;
using detail::expression_call;
using detail::expression_program;
using detail::format;
using detail::loops_text;
using detail::parameter_list;
using detail::parameter_name;
using detail::step_class;

/// How the kernel finds the element of an operand that belongs to an iteration.
enum class access : char {
  number = 'n',      // passed by value
  run = 'd',         // the iteration is the index
  one = 'o',         // always the first
  strided = 's',     // each loop has a step
  raw_row = 'r',     // a raw array, contiguous
  raw_strided = 'R'  // a raw array whose flat index has to be taken apart
};

/// The loops of a call and the ways to its operands: inputs first, then outputs.
struct elementwise_plan {
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
  /// loads at once; 0 if not.
  std::size_t vector_bytes = 0;
  /// Of one item.
  int elements = 1;

  /// The innermost loop is a row: the items of a group are neighbours in it, so that its steps
  /// stand in the text and a group, not each item, finds its place in the outer loops.
  bool by_rows = false;
  /// There is one loop, whose iterations are the items and whose steps stand in the text, too.
  bool is_line = false;
  /// An operand is read or written across its own rows.
  bool in_tiles = false;
  detail::row_groups groups;

  std::int64_t row() const { return visited.lengths[visited.rank() - 1]; }
  /// The loops whose iterations the text takes apart.
  std::size_t outer_rank() const { return visited.rank() - (by_rows || is_line ? 1 : 0); }
};

bool broadcasts_to(const extents& from, const extents& to) noexcept {
  if (from.size() > to.size()) return false;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const auto length = from[from.size() - 1 - k];
    if (length != 1 && length != to[to.size() - 1 - k]) return false;
  }
  return true;
}

/// The first element of operand `k` that is visited, counted from its first one.
std::int64_t first_of(const elementwise_plan& plan, std::size_t k) {
  const bool is_raw = plan.ways[k] == access::raw_row || plan.ways[k] == access::raw_strided;
  return plan.place.empty() || is_raw ? 0 : plan.visited.starts[plan.place[k]];
}

/// What CuPy calls the array of a parameter that is not raw.
std::string whole_name(const expression_parameter& p) { return "_raw_" + p.name; }

/// The text ends a statement even if its author did not.
std::string statements(std::string_view argument, const std::string& text) {
  return text.empty() ? text : detail::marked(argument, text) + "\n;\n";
}

}  // namespace

struct elementwise_kernel::state final : detail::callable_state<std::optional<std::int64_t>> {
  state(detail::expression_signature its_signature, std::string its_operation,
        elementwise_text its_text)
      : callable_state(std::move(its_signature), "_elementwise", its_text.options),
        operation(std::move(its_operation)),
        text(std::move(its_text)) {
    for (const auto* part : {&operation, &text.loop_prep, &text.after_loop}) {
      names_index |= detail::has_word(*part, "_ind");
      counts_in_c_order |= names_index || detail::has_word(*part, "i");
    }
    for (const auto* part : {&operation, &text.loop_prep, &text.after_loop, &text.preamble}) {
      has_atomics |= part->find("atomic") != std::string::npos;
    }
    leaves_loop = detail::has_word(operation, "continue") || detail::has_word(operation, "break");
    for (const auto& p : signature.parameters) named_whole.push_back(names_whole(p));
  }

  std::string operation;
  elementwise_text text;
  /// The expression names `i`, so that iterations are in C order.
  bool counts_in_c_order = false;
  /// It names `_ind`, the index along each axis.
  bool names_index = false;
  /// It ends by `continue` or `break`, as in a loop over the elements.
  bool leaves_loop = false;
  /// It may use an element where others see it, in memory.
  bool has_atomics = false;
  /// For each parameter, whether the texts name `_raw_x`: all of an array that is not raw.
  std::vector<bool> named_whole;

  bool names_whole(const expression_parameter& p) const;
  /// Where the elements of such an array stand in the shape of the call.
  layout whole_of(const expression_call& c, const elementwise_plan& plan, std::size_t k) const;
  extents shape_of(const expression_call& c, std::optional<std::int64_t> size) const;
  bool plan_run(const expression_call& c, elementwise_plan& plan) const;
  void plan_loops(const expression_call& c, const detail::kernel_forms& forms,
                  elementwise_plan& plan) const;
  /// Whether all operands, but outputs that are still to be made, are numbers or such runs.
  bool starts_at_multiples_of(std::size_t bytes, const expression_call& c,
                              const elementwise_plan& plan) const;
  int elements_of_an_item(const expression_call& c, const elementwise_plan& plan,
                          const expression_types& types) const;
  expression_program& find(const expression_call& c, elementwise_plan& plan) const;
  /// What the program takes, and its text if the list writes one.
  std::string bind(parameter_list& list, const expression_call& c, const elementwise_plan& plan,
                   const expression_types& types) const;
  std::optional<sycl::event> run(const call_request& asked,
                                 const std::optional<std::int64_t>& size) const override;
};

// --- what a call is asked to do -------------------------------------------------------------

extents elementwise_kernel::state::shape_of(const expression_call& c,
                                            std::optional<std::int64_t> size) const {
  bool any_array = false, any_raw = false;
  for (std::size_t j = 0; j < signature.input_count; ++j) {
    any_array |= c.is_visited(j);
    any_raw |= signature.parameters[j].raw;
  }
  if (size && any_array) {
    throw std::invalid_argument(
        format("size: {}; it is allowed only if all input arrays are raw", *size));
  }
  if (size && *size < 0) {
    throw std::invalid_argument(format("size: {} is negative", *size));
  }
  extents shape = size ? extents{*size} : c.input_shape();
  // Numbers alone make one element; with raw arrays they say nothing.
  bool is_known = size || any_array || (signature.input_count > 0 && !any_raw);
  for (std::size_t k = signature.input_count; k < signature.parameters.size(); ++k) {
    const array* given = c.is_visited(k) ? c.array_at(k) : nullptr;
    if (!given) continue;
    const extents& own = given->elements().layout().shape();
    if (!is_known || (!size && broadcasts_to(shape, own))) shape = own;
    is_known = true;
    break;
  }
  if (!is_known) {
    throw std::invalid_argument(
        format("size: is needed by '{}', because no input and no given output has a shape",
               signature.name));
  }
  c.check_output_shapes(shape);
  return shape;
}

/// The usual call: everything contiguous in C order and of one shape. False if it is not.
bool elementwise_kernel::state::plan_run(const expression_call& c, elementwise_plan& plan) const {
  const layout* first = nullptr;
  plan.ways.reserve(signature.parameters.size());
  for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
    if (signature.parameters[k].raw) return false;
    const array* a = c.array_at(k);
    plan.ways.push_back(a || k >= signature.input_count ? access::run : access::number);
    if (!a) continue;
    const layout& where = a->elements().layout();
    if (!where.is_c_contiguous() || (first && !(where.shape() == first->shape()))) return false;
    if (!first) first = &where;
  }
  if (!first) return false;
  plan.made = *first;
  plan.size = first->size();
  return true;
}

void elementwise_kernel::state::plan_loops(const expression_call& c,
                                           const detail::kernel_forms& forms,
                                           elementwise_plan& plan) const {
  plan.place.assign(signature.parameters.size(), 0);
  std::vector<const layout*> layouts;
  // Outputs first: writing in order is worth more than reading in order.
  const auto visit = [&](std::size_t k) {
    if (!c.is_visited(k)) return;
    const array* a = c.array_at(k);
    plan.place[k] = layouts.size();
    layouts.push_back(a ? &a->elements().layout() : &plan.made);
  };
  for (std::size_t k = signature.input_count; k < signature.parameters.size(); ++k) visit(k);
  for (std::size_t k = 0; k < signature.input_count; ++k) visit(k);
  const loop_order order = counts_in_c_order ? loop_order::c : loop_order::any;
  plan.visited = make_loops(plan.made.shape(), layouts, order);
  plan.size = plan.visited.size;
  plan.is_small = plan.visited.fits_31_bits();
  bool any_strided = false;
  const auto find_ways = [&] {
    plan.ways.clear();
    for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
      if (signature.parameters[k].raw && c.array_at(k)) {
        const bool is_row = c.array_at(k)->elements().layout().is_c_contiguous();
        plan.ways.push_back(is_row ? access::raw_row : access::raw_strided);
      } else if (!c.is_visited(k)) {
        plan.ways.push_back(access::number);
      } else if (plan.size == 0 || plan.visited.is_run(plan.place[k])) {
        plan.ways.push_back(plan.size == 1 ? access::one : access::run);
      } else if (plan.visited.is_one_element(plan.place[k])) {
        plan.ways.push_back(access::one);
      } else {
        plan.ways.push_back(access::strided);
        any_strided = true;
      }
    }
  };
  find_ways();
  // Without steps to take the loops do not matter to the program.
  if (!any_strided) plan.visited.lengths = extents();
  const std::size_t rank = plan.visited.rank();
  plan.is_line = any_strided && rank == 1;
  plan.by_rows = any_strided && rank > 1 && detail::are_rows(forms, plan.row());
  plan.in_tiles = plan.by_rows && detail::put_in_tiles(plan.visited, forms, order);
  if (plan.in_tiles) find_ways();  // in another order of loops runs are none
}

// --- programs ---------------------------------------------------------------------------------

expression_program& elementwise_kernel::state::find(const expression_call& c,
                                                    elementwise_plan& plan) const {
  std::string key = c.type_key();
  key += static_cast<char>('0' + plan.visited.rank());
  key += plan.is_small ? 'i' : 'l';
  key += plan.by_rows ? 'r' : plan.vector_bytes == 0 ? 's' : 'v';
  for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
    key += static_cast<char>(plan.ways[k]);
    if ((plan.by_rows || plan.is_line) && plan.ways[k] == access::strided) {
      key += static_cast<char>(class_of(plan.visited.inner_step(plan.place[k])));
    }
  }
  bool any_whole = false;
  for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
    if (!named_whole[k] || !c.is_visited(k)) continue;
    any_whole = true;
    key += whole_of(c, plan, k).is_c_contiguous() ? 'w' : 'W';
  }
  if (names_index || any_whole) key += static_cast<char>('0' + plan.made.shape().size());
  expression_program& found = c.find(key);
  plan.elements = elements_of_an_item(c, plan, found.known);
  return found;
}

bool elementwise_kernel::state::names_whole(const expression_parameter& p) const {
  if (p.raw) return false;
  const std::string name = whole_name(p);
  // A parameter may have that name itself.
  return std::ranges::find(signature.parameters, name, &expression_parameter::name) ==
             signature.parameters.end() &&
         std::ranges::any_of(
             std::initializer_list<std::string_view>{operation, text.loop_prep, text.after_loop},
             [&](auto part) { return detail::has_word(part, name); });
}

layout elementwise_kernel::state::whole_of(const expression_call& c, const elementwise_plan& plan,
                                           std::size_t k) const {
  const array* a = c.array_at(k);
  if (!a) return plan.made;  // an output that is still to be made
  layout where;
  a->elements().layout().broadcast(plan.made.shape(), where);
  return where;
}

/// How many elements of the widest type fit into the bytes that are loaded at once.
int elementwise_kernel::state::elements_of_an_item(const expression_call& c,
                                                   const elementwise_plan& plan,
                                                   const expression_types& types) const {
  if (plan.vector_bytes == 0) return 1;
  std::size_t widest = 1;
  for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
    if (plan.ways[k] == access::number) continue;
    const array* a = c.array_at(k);
    const dtype& own = a ? a->elements().dtype() : types.outputs[k - signature.input_count];
    widest = std::max(widest, own.itemsize());
  }
  return std::max(1, static_cast<int>(plan.vector_bytes / widest));
}

bool elementwise_kernel::state::starts_at_multiples_of(std::size_t bytes, const expression_call& c,
                                                       const elementwise_plan& plan) const {
  if (bytes == 0 || plan.size < 2 || has_atomics) return false;
  for (std::size_t k = 0; k < signature.parameters.size(); ++k) {
    if (plan.ways[k] == access::number) continue;
    if (plan.ways[k] != access::run) return false;
    // Seen as a whole, an output has each element as soon as it is assigned.
    if (named_whole[k] && k >= signature.input_count) return false;
    const array* a = c.array_at(k);
    if (!a) continue;
    const auto first =
        static_cast<std::uintptr_t>(first_of(plan, k)) * a->elements().dtype().itemsize();
    if ((reinterpret_cast<std::uintptr_t>(a->data()) + first) % bytes != 0) return false;
  }
  return true;
}

std::string elementwise_kernel::state::bind(parameter_list& list, const expression_call& c,
                                            const elementwise_plan& plan,
                                            const expression_types& types) const {
  const auto& parameters = signature.parameters;
  const std::size_t input_count = signature.input_count;
  const std::size_t rank = plan.outer_rank();
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

  const bool several = plan.elements > 1;
  loops_text places("_places", rank, plan.is_small ? ", uint32_t, int32_t" : ", uint64_t, int64_t");
  std::string variables, stores, declared, passed;
  std::size_t strided = 0;
  list.scalar({"", "size"}, static_cast<std::uint64_t>(plan.size));
  if (plan.by_rows) {
    list.scalar({"", "row_length"}, static_cast<std::uint64_t>(plan.row()));
    list.scalar({"", "row_parts"}, plan.groups.parts);
    list.scalar({"", "rows_a_group"}, plan.groups.rows);
  }
  for (std::size_t axis = 1; axis < rank; ++axis) {
    add_length(axis);
    if (list.writes()) places.length({"", "length", static_cast<int>(axis)});
  }
  std::string index;
  for (std::size_t axis = 0; names_index && axis < plan.made.shape().size(); ++axis) {
    const parameter_name length{"", "ind_length", static_cast<int>(axis)};
    list.scalar(length, plan.made.shape()[axis]);
    if (list.writes()) index += (axis == 0 ? "" : ", ") + length.text();
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const auto& p = parameters[k];
    const bool is_output = k >= input_count;
    const dtype& as = is_output ? types.outputs[k - input_count] : types.inputs[k];
    const access way = plan.ways[k];
    if (way == access::number) {
      list.number(p, as, c.in()[k]);
      if (list.writes()) variables += "    " + detail::number_variable(p, as);
      continue;
    }
    const array& a = *c.array_at(k);
    if (p.raw) {
      list.raw(p, a, is_output);
      if (list.writes()) variables += "    " + detail::raw_variable(p, as, a, is_output);
      continue;
    }
    if (named_whole[k]) {
      expression_parameter whole = p;
      whole.name = whole_name(p);
      const layout where = whole_of(c, plan, k);
      list.raw(whole, a, where, is_output);
      if (list.writes()) variables += "    " + detail::raw_variable(whole, as, a, where, is_output);
    }
    list.elements(p, a, first_of(plan, k), is_output);
    const std::string steps = way == access::strided ? add_steps(k) : std::string();
    std::string column;
    if ((plan.by_rows || plan.is_line) && way == access::strided) {
      const std::int64_t step = plan.visited.inner_step(plan.place[k]);
      column = list.step({p.name, "column"}, step, class_of(step));
    }
    if (!list.writes()) continue;

    std::string at = way == access::one ? "0" : several ? "_in" : "_at";
    if (way == access::strided && plan.is_line) {
      at = format("int64_t(_at) * {}", column);
    } else if (way == access::strided && plan.by_rows) {
      at = format("_place.of[{}] + _column * {}", strided++, column);
      places.operand(steps);
    } else if (way == access::strided) {
      at = format("_place.of[{}]", strided++);
      places.operand(steps);
    }
    const dtype& own = a.elements().dtype();
    const std::string pointer = parameter_name{p.name, "data"}.text();
    if (several) {
      declared += format(", {}{}* {}", is_output ? "" : "const ", device_name(own), pointer);
      passed += ", " + pointer;
    }
    if (!is_output) {
      variables += "    " + detail::loaded_variable(p, as, own, at);
    } else if (own == as) {  // the element itself
      variables += format("    {}& {} = {}[{}];\n", device_name(as), p.name, pointer, at);
    } else {
      variables +=
          "    " +
          detail::loaded_variable(p, as, own, at).substr(std::string_view("const ").size());
      stores += "    " + detail::stored_variable(p, own, at);
    }
  }
  if (!list.writes()) return {};

  // Of several elements each is a part of the kernel: a function of its own would be given them in
  // local memory, one after the other, and would store them one by one. Where groups are not loops,
  // an element of a row is one too, for what the function shares with the kernel is there as well.
  const bool in_loop = plan.by_rows || plan.is_line;
  const bool is_part = several || (in_loop && !detail::forms_of(c.queue()).groups_are_loops);
  const char* const inlined = is_part ? "__attribute__((always_inline)) " : "";
  // As wide as the device counts: of a narrower number no compiler sees that it goes on by one from
  // item to item, and single loads take four times as long.
  std::string begin = "  const uint64_t _at = global_id();\n  if (_at >= _size) return;\n", end;
  if (several) {
    begin = format(
        "  const auto _one = [&]([[maybe_unused]] const uint64_t _at,\n"
        "                        const int64_t _in{})\n      {}{{\n",
        declared, inlined);
    end = format("  }};\n  expression::each_several<{}>(_size, _one{});\n", plan.elements, passed);
  } else if (plan.by_rows) {
    begin = format(
        "  const auto _one = [&](const uint64_t _row, const int64_t _column, const uint64_t _at) "
        "{}{{\n",
        inlined);
    end = "  };\n  expression::each_row(_size, _row_length, _row_parts, _rows_a_group, _one);\n";
  }
  if (strided > 0) {
    begin = places.text() + begin +
            format("  const auto _place = _places.at({});\n", plan.by_rows ? "_row" : "_at");
  }
  // A scope of its own: a parameter may be called `n`, and `return` ends only the expression.
  std::string body =
      "  [[maybe_unused]] const int64_t i = int64_t(_at), n = int64_t(_size);\n" +
      (names_index ? format("  expression::indexer<{}> _ind{{n, {{{}}}, {{}}}};\n  _ind.set(i);\n",
                            plan.made.shape().size(), index)
                   : std::string()) +
      "  {\n" + variables + statements("loop_prep", text.loop_prep) +
      (is_part ? format("[&]() {}", inlined) : "[&] ") + (leaves_loop ? "{ do {\n" : "{\n") +
      statements("operation", operation) + (leaves_loop ? "} while (false); }();\n" : "}();\n") +
      statements("after_loop", text.after_loop) + stores + "  }\n";
  return format(
      "#include \"usmx/expression/elementwise.hpp\"\nusing namespace usmx;\n{}{}\n"
      "USMX_KERNEL(1) {}({}) {{\n{}{}{}}}\n",
      placeholder_text(types),
      text.preamble.empty() ? "" : detail::marked("preamble", text.preamble) + "\n", kernel_name,
      list.text(), begin, body, end);
}

std::optional<sycl::event> elementwise_kernel::state::run(
    const call_request& asked, const std::optional<std::int64_t>& size) const {
  expression_call c(*this, asked);
  // Each element is read before it is written. What an expression finds by itself, in raw inputs,
  // is its own affair, and it may read what was in its outputs.
  c.separate_outputs(true,
                     [](const any_view& in, const any_view& out, const expression_parameter& p) {
                       return p.raw || detail::same_places(in, out);
                     });
  const detail::kernel_forms& forms = detail::forms_of(c.queue());
  elementwise_plan plan;
  if (size || !plan_run(c, plan)) {
    plan.made = c.output_layout(shape_of(c, size));
    plan_loops(c, forms, plan);
  }
  const auto vector_bytes = [&] {
    return starts_at_multiples_of(forms.vector_bytes, c, plan) ? forms.vector_bytes : 0;
  };
  plan.vector_bytes = vector_bytes();
  expression_program* program = &find(c, plan);
  c.make_outputs(program->known, plan.made);
  if (plan.size == 0) return c.finish_without_elements();
  if (plan.vector_bytes != 0 && vector_bytes() == 0) {
    plan.vector_bytes = 0;  // what was made is of a resource that aligns less
    program = &find(c, plan);
  }
  const expression_types& types = program->known;
  const kernel& k =
      c.compiled(*program, [&](parameter_list& list) { return bind(list, c, plan, types); });
  const auto all = static_cast<std::size_t>(plan.size);
  if (plan.by_rows) {
    const auto length = static_cast<std::uint64_t>(plan.row());
    plan.groups = detail::row_groups::cut(k, forms, all / length, length, plan.in_tiles);
  }
  parameter_list list(false, 2 + 2 * signature.parameters.size());
  bind(list, c, plan, types);
  const auto elements = static_cast<std::size_t>(plan.elements);
  c.launch(k,
           plan.by_rows ? plan.groups.range()
                        : detail::range_in_groups(k, forms, (all + elements - 1) / elements),
           list, true);
  return c.finish();
}

// --- the class --------------------------------------------------------------------------------

elementwise_kernel::elementwise_kernel(std::string_view in_params, std::string_view out_params,
                                       std::string operation, std::string name,
                                       elementwise_text text)
    : expression_kernel_with(std::make_shared<state>(
          detail::expression_signature(in_params, out_params, std::move(name), false),
          std::move(operation), std::move(text))) {}

const elementwise_kernel::state& elementwise_kernel::own() const noexcept {
  return static_cast<const state&>(*state_);
}
const std::string& elementwise_kernel::operation() const noexcept { return own().operation; }
const elementwise_text& elementwise_kernel::text() const noexcept { return own().text; }

}  // namespace usmx
