// The programs of one call: which items do what, and how many programs after each other until one
// number is left of each.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "expression/reduction_state.hpp"
#include "kernel/kernel_state.hpp"
#include "runtime/backend.hpp"
#include "usmx/promotion.hpp"

namespace usmx {

using detail::class_of;
using detail::reduction_call;
using detail::reduction_form;
using detail::reduction_operand;
using detail::reduction_program;
using detail::reduction_stage;
using detail::step_class;

namespace {

/// How reductions are cut into groups, the only numbers that depend on the device. On a CPU a group
/// is one vector of items that goes through memory from front to back, several results one after
/// the other because a group costs as much as a few hundred elements; elsewhere it fills one core.
struct device_shape {
  int along_items;
  int along_blocks;
  int along_segments;
  /// The most elements of a part: few where there are few results to keep all cores busy.
  std::int64_t along_part;
  std::int64_t along_part_of_many;
  int across_items;
  int across_blocks;
  int across_blocks_of_few;
  std::int64_t across_part;
  /// Where there are fewer columns, several rows of them are taken for one; 0: never.
  std::int64_t across_columns;
};
constexpr device_shape on_cpu = {16, 8, 16, 4096, 32768, 16, 16, 4, 512, 0};
constexpr device_shape elsewhere = {256, 4, 1, 16384, 65536, 64, 1, 1, 512, 256};

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The loop that was innermost goes out, and loop `k` takes its place.
void move_innermost(loops& all, std::size_t k) {
  const std::size_t rank = all.rank();
  const auto swap_in = [&](std::int64_t* list) { std::swap(list[k], list[rank - 1]); };
  swap_in(all.lengths.data());
  for (std::size_t o = 0; o < all.starts.size(); ++o) swap_in(all.steps.data() + o * rank);
}

std::int64_t item_bytes(const array& a) {
  return static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

std::int64_t inner_step(const loops& l, std::size_t operand) {
  return l.rank() == 0 ? 0 : l.steps_of(operand)[l.rank() - 1];
}

/// How many rows of few columns, neighbours in every operand, can be taken for one row, so that all
/// items of a group have a column; 1 if that is not possible.
std::int64_t rows_to_join(const reduction_call& call, std::int64_t columns) {
  if (call.results >= columns / 2 || call.kept.rank() != 1 || call.reduced.rank() != 1) return 1;
  for (std::size_t a = 0; a < call.arrays; ++a) {
    const std::int64_t element = inner_step(call.reduced, a);
    const std::int64_t result = inner_step(call.kept, call.out.size() + a);
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
  call.kept.lengths.front() *= k;
  call.kept.size *= k;
  call.reduced.lengths.front() /= k;
  call.reduced.size /= k;
  for (auto& step : call.reduced.steps) step *= k;
  return call;
}

}  // namespace

reduction_stage reduction_stage::cut(std::int64_t rows, std::int64_t length, std::int64_t most) {
  reduction_stage s{rows, length};
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

/// Where results are neighbours and elements are not, items beside each other make results beside
/// each other. Otherwise the items share the elements of one.
reduction_form reduction_kernel::state::choose(const reduction_call& call,
                                               const detail::reduction_shape& along) const {
  if (call.count == 0) return reduction_form::empty;
  if (call.results == 1) return reduction_form::along;
  std::int64_t element = 0;
  std::int64_t result = 0;
  for (std::size_t a = 0; a < call.arrays && element == 0; ++a) {
    element = std::abs(inner_step(call.reduced, a));
    result = std::abs(inner_step(call.kept, call.out.size() + a));
  }
  const std::int64_t neighbours = call.kept.lengths.back();
  const bool few_elements = call.count <= 2 * along.items && call.results >= 4 * along.items;
  if (few_elements || (result != 0 && result < element)) {
    if (call.kept.rank() == 1 || neighbours >= along.items / 2) return reduction_form::across;
    if (few_elements) return reduction_form::scattered;
  }
  return reduction_form::along;
}

void reduction_kernel::state::add_loops(std::vector<kernel_argument>& arguments,
                                        const reduction_call& call,
                                        const reduction_program& program, std::size_t kept_place,
                                        std::optional<std::size_t> reduced_place) const {
  const auto kept = call.kept.steps_of(kept_place);
  for (std::size_t k = 0; k < program.kept_rank; ++k) arguments.emplace_back(kept[k]);
  if (!reduced_place) return;
  const auto rows = call.reduced.steps_of(*reduced_place);
  for (std::size_t k = 0; k < program.row_rank; ++k) arguments.emplace_back(rows[k]);
}

sycl::event reduction_kernel::state::launch(const reduction_call& call,
                                            const reduction_program& program,
                                            const reduction_stage& s, const array* from,
                                            const array* to,
                                            std::span<const sycl::event> depends) const {
  const std::string key =
      detail::type_key(call.in, call.out) + program.key() + (call.out.empty() ? "" : ".");
  const kernel k = programs.get(call.queue, key, kernel_name(), text.options, [&] {
    std::vector<dtype> own_inputs;
    std::vector<dtype> own_outputs;
    for (const auto& o : call.in) own_inputs.push_back(o.type());
    for (const auto* a : call.out) own_outputs.push_back(a->elements().dtype());
    return detail::reduction_source(
        {signature.inputs, signature.outputs, &text, &call.types, own_inputs, own_outputs,
         detail::value_text_of(text.reduce_type, call.types), kernel_name()},
        program);
  });

  const bool tiled = program.form == reduction_form::across;
  const bool reads = !program.folds && program.form != reduction_form::empty;
  const std::int64_t columns = !tiled                                ? call.results
                               : program.is_partial && program.folds ? call.results
                               : call.kept.rank() == 0               ? 1
                                                                     : call.kept.lengths.back();
  const std::int64_t a_tile = program.shape.items * program.shape.blocks;
  std::vector<kernel_argument> arguments = {call.results, call.count};
  if (program.form != reduction_form::empty) {
    arguments.insert(arguments.end(),
                     {s.rows, s.length, s.rows_a_part, s.parts_a_row, s.chunk, s.parts});
  }
  if (tiled) arguments.insert(arguments.end(), {columns, over(columns, a_tile)});
  for (std::size_t d = 1; d < program.kept_rank; ++d) arguments.emplace_back(call.kept.lengths[d]);
  for (std::size_t d = 1; d < program.row_rank; ++d)
    arguments.emplace_back(call.reduced.lengths[d]);
  if (from) arguments.emplace_back(*from);
  for (std::size_t j = 0; reads && j < call.in.size(); ++j) {
    const auto& in = program.inputs[j];
    const array* a = call.in[j].array();
    if (in.what == reduction_operand::kind::number) {
      add_number(arguments, call.types.inputs[j],
                 call.in[j].number_as(call.types.inputs[j]).data());
      continue;
    }
    if (in.what == reduction_operand::kind::raw) {
      arguments.emplace_back(*a);
      arguments.emplace_back(a->elements().size());
      continue;
    }
    const std::size_t at = call.place[j];
    const std::int64_t start = call.kept.starts[call.out.size() + at] + call.reduced.starts[at];
    arguments.emplace_back(*a, static_cast<const std::byte*>(a->data()) + start * item_bytes(*a));
    if (in.inner == step_class::any) arguments.emplace_back(inner_step(call.reduced, at));
    if (tiled && in.column == step_class::any) {
      arguments.emplace_back(inner_step(call.kept, call.out.size() + at));
    }
    add_loops(arguments, call, program, call.out.size() + at, at);
  }
  if (reads && numbers_elements) {
    arguments.emplace_back(call.reduced.starts[call.arrays]);
    arguments.emplace_back(inner_step(call.reduced, call.arrays));
    const auto rows = call.reduced.steps_of(call.arrays);
    for (std::size_t d = 0; d < program.row_rank; ++d) arguments.emplace_back(rows[d]);
  }
  if (to) {
    arguments.emplace_back(*to);
  } else {
    for (std::size_t o = 0; o < call.out.size(); ++o) {
      const array& a = *call.out[o];
      arguments.emplace_back(
          a, static_cast<const std::byte*>(a.data()) + call.kept.starts[o] * item_bytes(a));
      if (tiled) arguments.emplace_back(inner_step(call.kept, o));
      add_loops(arguments, call, program, o, {});
    }
    if (numbers_results) {
      const std::size_t place = call.out.size() + call.arrays;
      arguments.emplace_back(call.kept.starts[place]);
      if (tiled) arguments.emplace_back(inner_step(call.kept, place));
      add_loops(arguments, call, program, place, {});
    }
  }

  std::int64_t groups = 0;
  switch (program.form) {
    case reduction_form::along:
      groups = over(call.results * s.parts, program.shape.segments);
      break;
    case reduction_form::across:
      groups = over(columns, a_tile) * (call.results / columns) * s.parts;
      break;
    case reduction_form::scattered:
      groups = over(call.results, a_tile) * s.parts;
      break;
    case reduction_form::empty:
      groups = over(call.results, program.shape.items);
      break;
  }
  const auto local = static_cast<std::size_t>(program.shape.items);
  const std::size_t global = static_cast<std::size_t>(groups) * local;
  return detail::own_launch::launch(
      k, call.queue, launch_range(std::span(&global, 1), std::span(&local, 1)), arguments, depends);
}

sycl::event reduction_kernel::state::run(reduction_call& call,
                                         std::span<const sycl::event> depends) const {
  const device_shape& d = detail::forms_of(call.queue).groups_are_loops ? on_cpu : elsewhere;
  reduction_program program;
  program.shape = {d.along_items, d.along_blocks, d.along_segments};
  program.numbers_elements = numbers_elements;
  program.numbers_results = numbers_results;
  program.form = choose(call, program.shape);
  const bool along = program.form == reduction_form::along;
  if (!along) {
    const std::int64_t columns =
        program.form == reduction_form::across ? call.kept.lengths.back() : call.results;
    const bool many = columns >= d.across_items * d.across_blocks;
    program.shape = {d.across_items, many ? d.across_blocks : d.across_blocks_of_few, 1};
  }
  if (program.form == reduction_form::empty) {
    program.shape = {d.across_items, 1, 1};
    program.kept_rank = call.kept.rank();
    return launch(call, program, {}, nullptr, nullptr, depends);
  }

  std::int64_t joined = 1;
  if (program.form == reduction_form::across && !numbers_elements && !counts_elements) {
    joined = rows_to_join(call, d.across_columns);
  }
  std::optional<reduction_call> wide;
  if (joined > 1) wide.emplace(joined_rows(call, joined));

  // Neighbouring items want a long innermost loop, whichever it is.
  auto& lengths = call.reduced.lengths;
  if (along && !lengths.empty() && lengths.back() < program.shape.items) {
    const auto longest = std::ranges::max_element(lengths);
    if (*longest > 2 * lengths.back()) {
      move_innermost(call.reduced, static_cast<std::size_t>(longest - lengths.begin()));
    }
  }
  const std::int64_t length = lengths.empty() ? 1 : lengths.back();
  const std::int64_t most = !along                ? d.across_part
                            : call.results >= 256 ? d.along_part_of_many
                                                  : d.along_part;
  reduction_stage s = wide ? reduction_stage::cut(1, wide->count, most)
                           : reduction_stage::cut(call.count / length, length, most);

  program.row_rank = lengths.empty() ? 0 : lengths.size() - 1;
  const std::size_t kept_rank = program.form == reduction_form::across && call.kept.rank() > 0
                                    ? call.kept.rank() - 1
                                    : call.kept.rank();
  program.kept_rank = kept_rank;
  for (std::size_t j = 0; j < call.in.size(); ++j) {
    reduction_operand o;
    if (!call.in[j].array()) {
      o.what = reduction_operand::kind::number;
    } else if (signature.inputs[j].raw) {
      o.what = reduction_operand::kind::raw;
    } else {
      o.inner = class_of(inner_step(call.reduced, call.place[j]));
      o.column = class_of(inner_step(call.kept, call.out.size() + call.place[j]));
    }
    program.inputs.push_back(o);
  }

  const auto value = detail::value_type(text.reduce_type, call.types);
  const auto parts_array = [&](std::int64_t count) {
    const dtype type = value ? *value : dtype();
    const std::int64_t elements =
        value ? count : count * static_cast<std::int64_t>(detail::most_value_bytes);
    return array::empty(call.queue, std::span(&elements, 1), type, usm_kind::device);
  };
  const bool in_order = call.queue.is_in_order();
  array from;
  sycl::event last;
  std::vector<sycl::event> before(depends.begin(), depends.end());
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
    if (program.is_partial) to = parts_array(now.results * s.parts);
    last = launch(now, program, s, first ? nullptr : &from, program.is_partial ? &to : nullptr,
                  before);
    if (!program.is_partial) return last;
    before.clear();
    if (!in_order) before.push_back(last);
    from = std::move(to);
    if (wide && s.parts == 1) {  // the rows that the last joined one is made of
      wide.reset();
      s = reduction_stage::cut(1, joined, most);
    } else {
      s = reduction_stage::cut(1, s.parts, most);
    }
  }
}

}  // namespace usmx
