// Reductions: a call becomes one program after the other, until one value is left of each result.
// What the items of a group do stands in kernels/expression/reduce.hpp; here is how the work is
// cut, and the text that calls it with the expressions.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/reduction.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <stdexcept>

#include "core/format.hpp"
#include "core/kept_order.hpp"
#include "expression/call.hpp"
#include "expression/reduction_shape.hpp"
#include "expression/source.hpp"
#include "kernel/source/user_text.hpp"
#include "runtime/backend.hpp"

namespace usmx {
namespace {

using detail::call_request;
using detail::class_of;
using detail::expression_call;
using detail::format;
using detail::loops_text;
using detail::parameter_list;
using detail::parameter_name;
using detail::reduction_shape;
using detail::step_class;

/// How the items of a group share the work.
enum class form : char {
  /// Neighbouring items read neighbouring elements of one result and join what they have.
  along = 'l',
  /// Neighbouring items make neighbouring results, each alone.
  across = 'c',
  /// The same where results have no common step: each item finds its own place.
  scattered = 's',
  /// Some neighbouring items share a result of few elements, and read neighbouring ones.
  shared = 'h',
  /// There is nothing to reduce: each item stores the identity.
  empty = 'e',
};

/// The size of a group's work: template arguments of the kernel.
struct group_shape {
  /// Items of a group.
  int items;
  /// Elements (along) or results (across) that an item has in hand at once.
  int blocks;
  /// Results or parts of such that a group makes one after the other (along).
  int segments;
  /// Rounds of loads on their way (across, scattered).
  int rounds = 1;
  /// Items that share a result (shared).
  int lanes = 1;
};

/// One loop variable's way through an operand.
struct input_form {
  enum class kind : char { array = 'a', number = 'n', raw = 'r', index = 'i' };

  kind what = kind::array;
  /// Of the innermost loop over reduced elements, and of neighbouring results.
  step_class inner = step_class::any;
  step_class column = step_class::any;
};

/// Everything that the text depends on besides types.
struct program_form {
  form way = form::along;
  group_shape shape{};
  /// Reads what an earlier program left, not the inputs.
  bool folds = false;
  /// Leaves parts for a later program instead of results.
  bool is_partial = false;
  /// Loops over results that are taken apart from a flat number, and over rows of elements.
  std::size_t kept_rank = 0;
  std::size_t row_rank = 0;
  std::vector<input_form> inputs;
  /// Whether `i` is needed, in the map and in the post map.
  bool numbers_elements = false;
  bool numbers_results = false;

  std::string key() const;
};

/// A call once its shapes and types are known.
struct reduction_call {
  expression_call& c;
  const expression_types& types;
  /// Outputs, then inputs that are arrays and not raw, then the number of the result.
  loops kept = {};
  /// The inputs, then the number of the element.
  loops reduced = {};
  /// The place of each input in both, among the arrays.
  std::vector<std::size_t> place = {};
  std::size_t arrays = 0;
  std::int64_t results = 1;
  std::int64_t count = 1;
};

/// One stage: rows of elements, those of each result cut into parts.
struct stage {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  std::int64_t rows_a_part = 1;
  std::int64_t parts_a_row = 1;
  std::int64_t chunk = 1;
  std::int64_t parts = 1;

  /// Parts of at most `most` elements.
  static stage cut(std::int64_t rows, std::int64_t length, std::int64_t most);
};

std::vector<std::int64_t> c_order_steps(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> steps(lengths.size());
  std::int64_t step = 1;
  for (std::size_t k = lengths.size(); k-- > 0;) {
    steps[k] = step;
    step *= lengths[k];
  }
  return steps;
}

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The loop that was innermost goes out, and loop `k` takes its place.
void move_innermost(loops& all, std::size_t k) {
  const std::size_t rank = all.rank();
  const auto swap_in = [&](std::int64_t* list) { std::swap(list[k], list[rank - 1]); };
  swap_in(all.lengths.data());
  for (std::size_t o = 0; o < all.starts.size(); ++o) swap_in(all.steps.data() + o * rank);
}

/// How many rows of few columns, neighbours in every operand, can be taken for one row, so that all
/// items of a group have a column; 1 if that is not possible.
std::int64_t rows_to_join(const reduction_call& call, std::int64_t columns) {
  if (call.results >= columns / 2 || call.kept.rank() != 1 || call.reduced.rank() != 1) return 1;
  for (std::size_t a = 0; a < call.arrays; ++a) {
    const std::int64_t element = call.reduced.inner_step(a);
    const std::int64_t result = call.kept.inner_step(call.c.outputs() + a);
    if (element != result * call.results) return 1;
  }
  for (std::int64_t k = columns / call.results; k > 1; --k) {
    if (call.count % k == 0) return k;
  }
  return 1;
}

/// The same elements seen as rows that are `k` times as long.
reduction_call joined_rows(reduction_call call, std::int64_t k) {
  call.results *= k;
  call.count /= k;
  call.kept.lengths[0] *= k;
  call.kept.size *= k;
  call.reduced.lengths[0] /= k;
  call.reduced.size /= k;
  for (std::size_t n = 0; n < call.reduced.steps.size(); ++n) call.reduced.steps[n] *= k;
  return call;
}

std::string program_form::key() const {
  std::string key;
  key += static_cast<char>(way);
  key += folds ? 'f' : '-';
  key += is_partial ? 'p' : '-';
  key += format("{},{},{},{},{},{}", shape.items, shape.blocks, shape.segments, shape.lanes,
                kept_rank, row_rank);
  for (const auto& in : inputs) {
    key += static_cast<char>(in.what);
    key += static_cast<char>(in.inner);
    key += static_cast<char>(in.column);
  }
  return key;
}

stage stage::cut(std::int64_t rows, std::int64_t length, std::int64_t most) {
  stage s{rows, length};
  if (length > most) {
    s.parts_a_row = over(length, most);
    s.chunk = most;
    s.parts = rows * s.parts_a_row;
  } else {
    s.chunk = length;
    s.rows_a_part = std::max<std::int64_t>(1, most / length);
    s.parts = over(rows, s.rows_a_part);
  }
  return s;
}

/// Items of a group, each with its blocks.
std::int64_t items_of(const program_form& program) {
  return std::int64_t{program.shape.items} * program.shape.blocks;
}
/// Results that are neighbours of each other.
std::int64_t columns_of(const reduction_call& call, const program_form& program) {
  if (program.way != form::across) return call.results;
  if (program.is_partial && program.folds) return call.results;
  return call.kept.rank() == 0 ? 1 : call.kept.lengths[call.kept.rank() - 1];
}

std::string times(const std::string& index, const std::string& step) {
  return step == "1" ? index : index + " * " + step;
}
std::string zeros(std::size_t rank) {
  std::string all;
  for (std::size_t d = 0; d < rank; ++d) all += d == 0 ? "0" : ", 0";
  return all;
}

}  // namespace

std::vector<int> reduced_axes(const reduction_axes& axes, std::size_t rank) {
  const auto n = static_cast<int>(rank);
  std::vector<int> reduced;
  if (!axes.axes) {
    for (int axis = 0; axis < n; ++axis) reduced.push_back(axis);
    return reduced;
  }
  for (const int axis : *axes.axes) {
    const int at = axis < 0 ? axis + n : axis;
    if (at < 0 || at >= n) {
      throw std::invalid_argument(format("axis: {} is out of range for {} dimensions", axis, n));
    }
    const auto place = std::ranges::lower_bound(reduced, at);
    if (place != reduced.end() && *place == at) {
      throw std::invalid_argument(format("axis: {} is named twice", axis));
    }
    reduced.insert(place, at);
  }
  return reduced;
}

extents reduced_shape(const extents& shape, const reduction_axes& axes) {
  const std::vector<int> reduced = reduced_axes(axes, shape.size());
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const bool is_reduced = std::ranges::binary_search(reduced, static_cast<int>(k));
    if (!is_reduced || axes.keep) lengths.push_back(is_reduced ? 1 : shape[k]);
  }
  return extents{std::span<const std::int64_t>(lengths)};
}

namespace {

/// The layout of results whose axes stand in memory as they do in what is reduced.
layout reduced_layout(const layout& whole, const std::vector<bool>& is_reduced,
                      const extents& shape) {
  const dtype widest = dtype::of<std::complex<double>>();
  if (whole.is_c_contiguous()) return detail::kept_layout(shape, {}, widest.itemsize());
  const bool keeps_all = shape.size() == is_reduced.size();
  std::vector<int> order;
  for (const int axis : detail::kept_order(whole.shape(), std::array{&whole})) {
    if (!keeps_all && is_reduced[static_cast<std::size_t>(axis)]) continue;
    // Those before it that are gone do not count.
    const auto gone = std::count(is_reduced.begin(), is_reduced.begin() + axis, true);
    order.push_back(keeps_all ? axis : axis - static_cast<int>(gone));
  }
  return detail::packed(shape, order, widest.itemsize());
}

}  // namespace

struct reduction_kernel::state final : detail::callable_state<reduction_axes> {
  state(detail::expression_signature its_signature, reduction_text its_text)
      : callable_state(std::move(its_signature), "_reduction", its_text.options),
        text(std::move(its_text)) {
    const auto any_word = [](const std::string& in, std::initializer_list<const char*> words) {
      return std::ranges::any_of(words, [&](auto word) { return detail::has_word(in, word); });
    };
    numbers_elements = any_word(text.map, {"i", "_J"});
    counts_elements = any_word(text.map, {"n", "_in_ind", "_out_ind"});
    numbers_results = any_word(text.post_map, {"i", "_i"});
    for (const auto& p : signature.inputs()) {
      in_post_map.push_back(detail::has_word(text.post_map, p.name));
    }
  }

  reduction_text text;
  bool numbers_elements = false;
  bool numbers_results = false;
  /// The map names how many elements there are.
  bool counts_elements = false;
  /// For each input, whether the post map names it: it may if it is a number or raw.
  std::vector<bool> in_post_map;

  form choose(const reduction_call& call, const reduction_shape& d) const;
  std::optional<sycl::event> run(const call_request& asked,
                                 const reduction_axes& axes) const override;
  void reduce(reduction_call& call) const;
  void launch(const reduction_call& call, const program_form& program, const stage& s,
              const array* from, const array* to) const;

  // What a program takes, and its text if the list writes one.
  std::string bind(parameter_list& list, const reduction_call& call, const program_form& program,
                   const stage& s, const array* from, const array* to) const;
  std::string bind_inputs(parameter_list& list, const reduction_call& call,
                          const program_form& program) const;
  std::string bind_folded(parameter_list& list, const program_form& program,
                          const array& from) const;
  std::string bind_outputs(parameter_list& list, const reduction_call& call,
                           const program_form& program) const;
  std::string bind_parts(parameter_list& list, const program_form& program, const array& to) const;
};

/// Where results are neighbours and elements are not, neighbouring items make neighbouring results.
/// Otherwise the items share the elements of one.
form reduction_kernel::state::choose(const reduction_call& call, const reduction_shape& d) const {
  if (call.count == 0) return form::empty;
  if (call.results == 1) return form::along;
  std::int64_t element = 0;
  std::int64_t result = 0;
  for (std::size_t a = 0; a < call.arrays && element == 0; ++a) {
    element = std::abs(call.reduced.inner_step(a));
    result = std::abs(call.kept.inner_step(call.c.outputs() + a));
  }
  const std::int64_t neighbours = call.kept.lengths[call.kept.rank() - 1];
  const bool few_elements = d.are_few(call.count, call.results);
  if (few_elements && d.most_lanes > 0 && (result == 0 || element <= result)) return form::shared;
  if (few_elements || (result != 0 && result < element)) {
    if (call.kept.rank() == 1 || neighbours >= d.along_items / 2) return form::across;
    if (few_elements) return form::scattered;
  }
  return form::along;
}

// --- what a program takes, and its text -----------------------------------------------------

/// The parameters come first, and then what the text makes of them: both are written in one walk.
std::string reduction_kernel::state::bind(parameter_list& list, const reduction_call& call,
                                          const program_form& program, const stage& s,
                                          const array* from, const array* to) const {
  const bool tiled = program.way == form::across;
  list.scalar({"", "results"}, call.results);
  list.scalar({"", "count"}, call.count);
  if (program.way != form::empty) {
    list.scalar({"", "rows"}, s.rows);
    list.scalar({"", "length"}, s.length);
    list.scalar({"", "rows_a_part"}, s.rows_a_part);
    list.scalar({"", "parts_a_row"}, s.parts_a_row);
    list.scalar({"", "chunk"}, s.chunk);
    list.scalar({"", "parts"}, s.parts);
  }
  if (tiled) {
    list.scalar({"", "columns"}, columns_of(call, program));
    list.scalar({"", "tiles"}, over(columns_of(call, program), items_of(program)));
  }
  for (std::size_t d = 1; d < program.kept_rank; ++d) {
    list.scalar({"", "kept_length", static_cast<int>(d)}, call.kept.lengths[d]);
  }
  for (std::size_t d = 1; d < program.row_rank; ++d) {
    list.scalar({"", "row_length", static_cast<int>(d)}, call.reduced.lengths[d]);
  }
  std::string map;
  if (program.way != form::empty) {
    map = from ? bind_folded(list, program, *from) : bind_inputs(list, call, program);
  }
  const std::string store = to ? bind_parts(list, program, *to) : bind_outputs(list, call, program);
  if (!list.writes()) return {};

  std::string out = detail::joining_prologue("reduce", call.types, text.preamble, text.reduce_type,
                                             "reduce_expr", text.reduce);
  out += format("USMX_KERNEL(1) {}({}) {{\n", kernel_name, list.text());
  out +=
      "  [[maybe_unused]] const int64_t n = _count;\n"
      "  [[maybe_unused]] const expression::reduce::index_range _in_ind{_count * _results}, "
      "_out_ind{_results};\n";
  if (program.way == form::empty) {
    return out + store +
           format(
               "  const auto _identity = [&] {{ return _value({}); }};\n"
               "  expression::reduce::nothing(_results, _identity, _store);\n}}\n",
               *text.identity);
  }
  // Not needed here, but what is wrong with it shall be said before an array without elements
  // comes.
  if (text.identity) {
    out += format("  [[maybe_unused]] const auto _identity = [&] {{ return _value({}); }};\n",
                  *text.identity);
  }
  out += map;
  out += "  const auto _both = [](_value a, _value b) { return _join(a, b); };\n" + store;
  out +=
      "  const expression::reduce::work _work{_results, _rows, _length, _rows_a_part, "
      "_parts_a_row, _chunk, _parts};\n";
  const auto& g = program.shape;
  switch (program.way) {
    case form::along:
      out += format(
          "  local<expression::reduce::tile<_value, {0}, {2}>> _tile;\n"
          "  expression::reduce::along<{0}, {1}, {2}>(\n"
          "      _work, _tile.get(), _begin, _row, _map, _both, _store);\n",
          g.items, g.blocks, g.segments);
      break;
    case form::across:
      out += format(
          "  expression::reduce::across<{}, {}, {}, _value>(\n"
          "      _work, _columns, _tiles, _begin, _row, _map, _both, _store);\n",
          g.items, g.blocks, g.rounds);
      break;
    case form::shared:
      out += format(
          "  local<_value[{0}]> _values;\n"
          "  expression::reduce::shared<{0}, {1}, {2}>(\n"
          "      _work, _values.get(), _begin, _row, _map, _both, _store);\n",
          g.items, g.lanes, g.blocks);
      break;
    default:
      out += format(
          "  expression::reduce::scattered<{}, {}, {}, _value>(\n"
          "      _work, _begin, _row, _map, _both, _store);\n",
          g.items, g.blocks, g.rounds);
  }
  return out + "}\n";
}

/// The map of the inputs: `_begin` of a result, `_row`, and the element there.
std::string reduction_kernel::state::bind_inputs(parameter_list& list, const reduction_call& call,
                                                 const program_form& program) const {
  loops_text begin("_begin", program.kept_rank), row("_row", program.row_rank);
  for (std::size_t d = 1; d < program.kept_rank; ++d) {
    begin.length({"", "kept_length", static_cast<int>(d)});
  }
  for (std::size_t d = 1; d < program.row_rank; ++d) {
    row.length({"", "row_length", static_cast<int>(d)});
  }
  std::string variables;
  for (std::size_t j = 0; j < call.c.in().size(); ++j) {
    const auto& p = signature.parameters[j];
    const auto& how = program.inputs[j];
    const dtype& as = call.types.inputs[j];
    const array* a = call.c.in()[j].array();
    if (how.what == input_form::kind::number) {
      list.number(p, as, call.c.in()[j]);
      if (list.writes()) variables += "    " + detail::number_variable(p, as);
      continue;
    }
    if (how.what == input_form::kind::raw) {
      list.raw(p, *a, false);
      if (list.writes()) variables += "    " + detail::raw_variable(p, as, *a, false);
      continue;
    }
    const std::size_t place = call.place[j], kept = call.c.outputs() + place;
    list.elements(p, *a, call.kept.starts[kept] + call.reduced.starts[place], false);
    std::string at = format("_at.of[{}]", place);
    const std::string inner =
        list.step({p.name, "element_step"}, call.reduced.inner_step(place), how.inner);
    if (how.inner != step_class::zero) at += times(" + _i", inner);
    if (program.way == form::across) {
      const std::string column =
          list.step({p.name, "column_step"}, call.kept.inner_step(kept), how.column);
      if (how.column != step_class::zero) at += times(" + _column", column);
    }
    begin.operand(list.steps(p.name, "kept_step", call.kept, kept, program.kept_rank));
    row.operand(list.steps(p.name, "row_step", call.reduced, place, program.row_rank));
    if (list.writes()) {
      variables += "    " + detail::loaded_variable(p, as, a->elements().dtype(), at);
    }
  }
  if (program.numbers_elements) {
    list.scalar({"", "first"}, call.reduced.starts[call.arrays]);
    list.scalar({"", "i_step"}, call.reduced.inner_step(call.arrays));
    begin.operand(zeros(program.kept_rank));
    row.operand(list.steps("", "i_row_step", call.reduced, call.arrays, program.row_rank));
    variables += format(
        "    [[maybe_unused]] const int64_t i = _first + _at.of[{}] + _i * _i_step, _J = i;\n",
        call.arrays);
  }
  if (!list.writes()) return {};
  return begin.text() + row.text() +
         "  const auto _map = [&](const auto& _at, int64_t _i, int64_t _column) {\n" + variables +
         format("    return _value({});\n  }};\n", detail::marked("map_expr", text.map));
}

/// The map of what an earlier program left: neighbours are parts of one result, or results.
std::string reduction_kernel::state::bind_folded(parameter_list& list, const program_form& program,
                                                 const array& from) const {
  list.values("_from", "_value", from, false);
  if (!list.writes()) return {};
  const char* const begin = program.way == form::along    ? "_length"
                            : program.way == form::across ? "_columns"
                                                          : "1";
  return format(
      "  const expression::loops<1, 1> _begin{{{{}}, {{{{{}}}}}}};\n"
      "  const expression::loops<0, 1> _row{{}};\n"
      "  const auto _map = [&](const auto& _at, int64_t _i, int64_t _column) {{\n"
      "    return _from[_at.of[0] + _i{} + _column];\n  }};\n",
      begin, program.way == form::along ? "" : " * _results");
}

std::string reduction_kernel::state::bind_parts(parameter_list& list, const program_form& program,
                                                const array& to) const {
  list.values("_to", "_value", to, true);
  if (!list.writes()) return {};
  return format(
      "  const auto _store = [&](_value a, const expression::reduce::place& _where) {{\n"
      "    _to[{}] = a;\n  }};\n",
      program.way == form::along ? "_where.result * _parts + _where.part"
                                 : "_where.part * _results + _where.result");
}

std::string reduction_kernel::state::bind_outputs(parameter_list& list, const reduction_call& call,
                                                  const program_form& program) const {
  const bool tiled = program.way == form::across;
  loops_text results("_result", program.kept_rank);
  for (std::size_t d = 1; d < program.kept_rank; ++d) {
    results.length({"", "kept_length", static_cast<int>(d)});
  }
  const auto column = [&](std::string_view of, const char* role, std::size_t place) {
    return tiled ? times(" + _where.column",
                         list.step({of, role}, call.kept.inner_step(place), step_class::any))
                 : std::string();
  };
  std::string variables, number, stores;
  for (std::size_t j = 0; j < call.c.in().size(); ++j) {
    const auto& p = signature.parameters[j];
    const array* a = call.c.in()[j].array();
    if (!in_post_map[j] || (a && !p.raw)) continue;
    const dtype& as = call.types.inputs[j];
    const bool is_declared = program.way != form::empty && !program.folds;
    if (!is_declared && a) list.raw(p, *a, false);
    if (!is_declared && !a) list.number(p, as, call.c.in()[j]);
    if (!list.writes()) continue;
    variables +=
        "    " + (a ? detail::raw_variable(p, as, *a, false) : detail::number_variable(p, as));
  }
  for (std::size_t o = 0; o < call.c.outputs(); ++o) {
    const auto& p = signature.outputs()[o];
    const array& a = call.c.output(o);
    list.elements(p, a, call.kept.starts[o], true);
    const std::string along = column(p.name, "column_step", o);
    results.operand(list.steps(p.name, "kept_step", call.kept, o, program.kept_rank));
    if (!list.writes()) continue;
    variables += format("    {} {}{{}};\n", device_name(call.types.outputs[o]), p.name);
    stores +=
        "    " + detail::stored_variable(p, a.elements().dtype(), format("_at.of[{}]{}", o, along));
  }
  if (program.numbers_results) {
    const std::size_t place = call.c.outputs() + call.arrays;
    list.scalar({"", "first_result"}, call.kept.starts[place]);
    const std::string along = column("", "i_column_step", place);
    results.operand(list.steps("", "i_kept_step", call.kept, place, program.kept_rank));
    number =
        format("    [[maybe_unused]] const int64_t i = _first_result + _at.of[{}]{}, _i = i;\n",
               call.c.outputs(), along);
  }
  if (!list.writes()) return {};
  return results.text() +
         "  const auto _store = [&](_value a, const expression::reduce::place& _where) {\n" +
         format("    const auto _at = _result.at(_where.{});\n", tiled ? "batch" : "result") +
         number + variables + "    " + detail::marked("post_map_expr", text.post_map) + ";\n" +
         stores + "  };\n";
}

void reduction_kernel::state::launch(const reduction_call& call, const program_form& program,
                                     const stage& s, const array* from, const array* to) const {
  const std::int64_t columns = columns_of(call, program);
  std::int64_t groups = 0;
  switch (program.way) {
    case form::along:
      groups = over(call.results * s.parts, program.shape.segments);
      break;
    case form::across:
      groups = over(columns, items_of(program)) * (call.results / columns) * s.parts;
      break;
    case form::scattered:
      groups = over(call.results, items_of(program)) * s.parts;
      break;
    case form::shared:
      groups = over(call.results, program.shape.items / program.shape.lanes);
      break;
    case form::empty:
      groups = over(call.results, program.shape.items);
      break;
  }
  call.c.launch_groups(
      call.c.type_key() + program.key(), groups, program.shape.items, !program.is_partial,
      [&](parameter_list& list) { return bind(list, call, program, s, from, to); });
}

void reduction_kernel::state::reduce(reduction_call& call) const {
  const sycl::queue& queue = call.c.queue();
  const reduction_shape& d =
      detail::forms_of(queue).groups_are_loops ? detail::on_cpu : detail::elsewhere;
  program_form program;
  program.shape = {d.along_items, d.along_blocks, d.along_segments};
  program.numbers_elements = numbers_elements;
  program.numbers_results = numbers_results;
  program.way = choose(call, d);
  const bool along = program.way == form::along;
  if (!along && program.way != form::shared) {
    const std::int64_t columns =
        program.way == form::across ? columns_of(call, program) : call.results;
    const bool many = columns >= d.across_items * d.across_blocks;
    program.shape = {d.across_items, many ? d.across_blocks : d.across_blocks_of_few, 1,
                     d.across_rounds};
  }
  if (program.way == form::empty) {
    program.shape = {d.across_items, 1, 1};
    program.kept_rank = call.kept.rank();
    return launch(call, program, {}, nullptr, nullptr);
  }

  std::int64_t joined = 1;
  if (program.way == form::across && !numbers_elements && !counts_elements) {
    joined = rows_to_join(call, d.across_columns);
  }
  std::optional<reduction_call> wide;
  if (joined > 1) wide.emplace(joined_rows(call, joined));

  // Neighbouring items want a long innermost loop, whichever it is.
  const auto& lengths = call.reduced.lengths;
  const auto innermost = [&] { return lengths.empty() ? 1 : lengths[lengths.size() - 1]; };
  if (along && !lengths.empty() && innermost() < program.shape.items) {
    const auto longest = std::ranges::max_element(lengths.span());
    if (*longest > 2 * innermost()) {
      move_innermost(call.reduced, static_cast<std::size_t>(longest - lengths.span().begin()));
    }
  }
  const std::int64_t length = innermost();
  if (program.way == form::shared) program.shape.lanes = d.lanes_of(length);
  const std::int64_t most = along ? d.part_of(call.results, call.count) : d.across_part;
  stage s = wide ? stage::cut(1, wide->count, most) : stage::cut(call.count / length, length, most);

  program.row_rank = lengths.empty() ? 0 : lengths.size() - 1;
  const std::size_t kept_rank =
      program.way == form::across && call.kept.rank() > 0 ? call.kept.rank() - 1 : call.kept.rank();
  program.kept_rank = kept_rank;
  for (std::size_t j = 0; j < call.c.in().size(); ++j) {
    input_form o;
    if (!call.c.in()[j].array()) {
      o.what = input_form::kind::number;
    } else if (signature.parameters[j].raw) {
      o.what = input_form::kind::raw;
    } else {
      o.inner = class_of(call.reduced.inner_step(call.place[j]));
      o.column = class_of(call.kept.inner_step(call.c.outputs() + call.place[j]));
    }
    program.inputs.push_back(o);
  }

  const auto value = detail::value_type(text.reduce_type, call.types);
  array from;
  for (bool first = true;; first = false) {
    program.folds = !first;
    program.is_partial = wide || s.parts > 1;
    const reduction_call& now = wide ? *wide : call;
    if (!first) {
      program.inputs.clear();
      program.row_rank = 0;
      program.kept_rank = program.is_partial ? 0 : kept_rank;
    }
    array to;
    if (program.is_partial) to = detail::values_of(queue, now.results * s.parts, value);
    launch(now, program, s, first ? nullptr : &from, program.is_partial ? &to : nullptr);
    if (!program.is_partial) return;
    from = std::move(to);
    if (wide && s.parts == 1) {  // the rows that the last joined one is made of
      wide.reset();
      s = stage::cut(1, joined, most);
    } else {
      s = stage::cut(1, s.parts, most);
    }
  }
}

std::optional<sycl::event> reduction_kernel::state::run(const call_request& asked,
                                                        const reduction_axes& axes) const {
  expression_call c(*this, asked);
  const extents shape = c.input_shape();
  std::vector<bool> is_reduced(shape.size());
  for (const int axis : reduced_axes(axes, shape.size())) {
    is_reduced[static_cast<std::size_t>(axis)] = true;
  }

  std::vector<std::int64_t> kept_lengths, reduced_lengths;
  std::int64_t results = 1, count = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    (is_reduced[k] ? reduced_lengths : kept_lengths).push_back(shape[k]);
    (is_reduced[k] ? count : results) *= shape[k];
  }
  const extents out_shape = reduced_shape(shape, axes);
  c.check_output_shapes(out_shape);
  if (count == 0 && results != 0 && !text.identity) {
    throw std::invalid_argument(
        format("shape: {} has no elements along the reduced axes, and kernel '{}' has no identity",
               detail::shape_text(shape.span()), signature.name));
  }
  c.separate_outputs(false, [](const auto&...) { return false; });
  reduction_call call{c, c.find(c.type_key()).known};
  call.results = results;
  call.count = count;
  c.make_outputs(call.types, reduced_layout(c.output_layout(shape), is_reduced, out_shape));
  if (results == 0) return c.finish_without_elements();

  // Steps over the axes that are kept, and over those that are not.
  std::vector<std::vector<std::int64_t>> kept_steps, reduced_steps;
  for (std::size_t o = 0; o < c.outputs(); ++o) {
    auto& own = kept_steps.emplace_back();
    std::size_t at = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (!is_reduced[k]) own.push_back(c.output(o).elements().layout().strides()[at]);
      if (!is_reduced[k] || axes.keep) ++at;
    }
  }
  for (std::size_t j = 0; j < c.in().size(); ++j) {
    call.place.push_back(call.arrays);
    if (!c.is_visited(j)) continue;
    ++call.arrays;
    auto& kept = kept_steps.emplace_back();
    auto& reduced = reduced_steps.emplace_back();
    for (std::size_t k = 0; k < shape.size(); ++k) {
      (is_reduced[k] ? reduced : kept)
          .push_back(broadcast_step(c.array_at(j)->elements().layout(), shape, k));
    }
  }
  if (numbers_results) kept_steps.push_back(c_order_steps(kept_lengths));
  if (numbers_elements) reduced_steps.push_back(c_order_steps(reduced_lengths));
  using spans = std::vector<std::span<const std::int64_t>>;
  call.kept = make_loops(kept_lengths, spans(kept_steps.begin(), kept_steps.end()));
  call.reduced = make_loops(reduced_lengths, spans(reduced_steps.begin(), reduced_steps.end()));
  reduce(call);
  return c.finish();
}

// --- the class --------------------------------------------------------------------------------

reduction_kernel::reduction_kernel(std::string_view in_params, std::string_view out_params,
                                   reduction_text text, std::string name)
    : expression_kernel_with([&] {
        detail::expression_signature signature(in_params, out_params, std::move(name), true);
        detail::require_text("map_expr", text.map);
        detail::require_text("reduce_expr", text.reduce);
        detail::require_text("post_map_expr", text.post_map);
        return std::make_shared<state>(std::move(signature), std::move(text));
      }()) {}

const reduction_kernel::state& reduction_kernel::own() const noexcept {
  return static_cast<const state&>(*state_);
}
const reduction_text& reduction_kernel::text() const noexcept { return own().text; }

}  // namespace usmx
