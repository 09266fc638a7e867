// See row_kernel.hpp. What the items of a group do stands in kernels/expression/joined_rows.hpp;
// here is the text that calls it, and what it takes.
// SPDX-License-Identifier: Apache-2.0
#include "expression/row_kernel.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/format.hpp"
#include "expression/call.hpp"
#include "expression/reduction_shape.hpp"
#include "expression/source.hpp"
#include "runtime/backend.hpp"

namespace usmx::detail {
namespace {

/// Rows that a group has at most, one after the other, and elements: so many stay in the first
/// caches of a core. Elsewhere a row fills a group, or some of its items.
constexpr std::int64_t most_rows_of_loops = 16;
constexpr std::int64_t elements_of_group = 16384;

/// How rows are joined by the groups of a device.
struct row_form {
  const reduction_shape& shape;
  std::int64_t most_rows;
  /// Reductions of a kernel: each takes local memory for a value of each item.
  std::ptrdiff_t most_joined;
};
row_form form_of(const sycl::queue& queue) {
  return forms_of(queue).groups_are_loops
             ? row_form{on_cpu, most_rows_of_loops, std::numeric_limits<std::ptrdiff_t>::max()}
             : row_form{elsewhere, 1, 4};
}

constexpr std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What an item keeps in registers at most: with a quarter of those that it can have, groups fill a
/// core. Each of 1024 items has 64 of them, and one that does the work of several needs some more.
constexpr int most_items_in_hand = 1024;
constexpr std::int64_t most_in_hand = 36;
constexpr std::size_t most_bytes_in_hand = 256, most_bytes_of_few = 128;
/// Local memory of a group, which has 48 KiB on all devices of CUDA.
constexpr std::size_t most_bytes_joined = 32768;

/// How the groups of one launch share its rows.
struct row_work {
  std::int64_t rows_a_group;
  int items;  ///< of a group
  int lanes;  ///< items that share a row
  int width;  ///< so many share it in a reduction alone, whose order of joining is kept
  int blocks;
  /// Of elements that an item keeps in registers: so many rounds, and whether there are more.
  std::int64_t rounds;
  bool rest;
  bool in_hand = false;

  row_work(const row_form& form, const row_shape& shape)
      : rows_a_group(std::clamp<std::int64_t>(elements_of_group / shape.length, 1, form.most_rows)),
        items(form.shape.along_items),
        lanes(lanes_of_row(form.shape, shape.rows(), shape.length)),
        width(lanes),
        blocks(form.shape.along_blocks),
        rounds(shape.length / (lanes * blocks)),
        rest(shape.length % (lanes * blocks) != 0) {
    if (lanes < items) rows_a_group = items / lanes;
  }

  /// The same with elements in hand, where so many items share a row.
  row_work in_hand_of(int its_lanes) const {
    row_work made = *this;
    made.in_hand = true;
    made.lanes = its_lanes;
    made.items = std::max(items, its_lanes);
    made.rows_a_group = made.items / its_lanes;
    return made;
  }
  std::int64_t elements_in_hand() const {
    return rounds * blocks * width / lanes + (rest ? blocks * std::max(width / lanes, 1) : 0);
  }
  /// Whether elements of so many bytes, of inputs and variables together, are few enough.
  bool has_room(std::size_t bytes) const {
    const bool few = lanes < width || items == most_items_in_hand;
    const std::size_t most = few ? most_bytes_of_few : most_bytes_in_hand;
    const std::int64_t elements = elements_in_hand();
    return elements <= most_in_hand && static_cast<std::size_t>(elements) * bytes <= most;
  }
};

/// How many items of a group share a row that is in hand. One sub-group has all of a row of full
/// rounds, as it waits for no other; with a rest half of the usual items do; a long row has more
/// items, so that each has up to 32 elements.
int best_lanes(const row_work& usual, const row_shape& shape) {
  constexpr int sub_group = 32, elements = 32;
  int lanes = usual.width;
  if (lanes < usual.items) return lanes;
  const bool are_many = shape.rows() >= 4 * usual.items;
  if (are_many && shape.length > 2 * lanes && shape.length <= elements * sub_group)
    return usual.rest ? lanes / 2 : sub_group;
  while (lanes < most_items_in_hand && shape.length > lanes * elements) lanes *= 2;
  return lanes;
}

}  // namespace

struct row_kernel::state : expression_state {
  state(expression_signature its_signature, std::vector<bool> its_in_rows,
        std::vector<bool> its_out_rows, row_text its_text)
      : expression_state(std::move(its_signature), "_rows", {}),
        in_rows(std::move(its_in_rows)),
        out_rows(std::move(its_out_rows)),
        text(std::move(its_text)) {}

  std::vector<bool> in_rows, out_rows;
  row_text text;

  std::string bind(parameter_list& list, const expression_call& c, const expression_types& types,
                   const row_shape& shape, const loops& visited, const row_work& work) const;
  /// Whether an input of elements is needed by several stages.
  bool is_kept(std::size_t j) const { return text.used[j].first < text.used[j].last; }
  /// Of an element, what one stage leaves for the next ones at most.
  std::size_t bytes_in_hand(const expression_types& types) const;
};

std::int64_t row_shape::rows() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t n : outer) product *= n;
  return product;
}

row_kernel::row_kernel(std::string_view in_params, std::string_view out_params,
                       std::vector<bool> in_rows, std::vector<bool> out_rows, row_text text,
                       std::string name)
    : state_(std::make_shared<const state>(
          expression_signature(in_params, out_params, std::move(name), false), std::move(in_rows),
          std::move(out_rows), std::move(text))) {}

bool row_kernel::takes(const sycl::queue& queue, const row_shape& shape) {
  return are_joined_by_groups(form_of(queue).shape, shape.rows(), shape.length);
}

bool row_kernel::joins(const sycl::queue& queue, std::ptrdiff_t reductions) {
  return reductions <= form_of(queue).most_joined;
}

std::size_t row_kernel::state::bytes_in_hand(const expression_types& types) const {
  const auto bytes_of = [](const dtype& type) {
    constexpr std::size_t a_register = 4;
    return std::max(type.itemsize(), a_register);
  };
  std::size_t most = 0;
  for (std::size_t k = 0; k < text.stages.size(); ++k) {
    std::size_t bytes = 0;
    for (std::size_t j = 0; j < in_rows.size(); ++j) {
      const auto [first, last] = text.used[j];
      if (!in_rows[j] && first <= k && k < last) bytes += bytes_of(types.inputs[j]);
    }
    for (const auto& v : text.kept) {
      if (v.first <= k && k < v.last) bytes += bytes_of(v.type);
    }
    most = std::max(most, bytes);
  }
  return most;
}

std::string row_kernel::state::bind(parameter_list& list, const expression_call& c,
                                    const expression_types& types, const row_shape& shape,
                                    const loops& visited, const row_work& work) const {
  list.keep_inputs_apart();
  list.scalar({"", "rows"}, shape.rows());
  list.scalar({"", "length"}, shape.length);
  list.scalar({"", "rows_a_group"}, work.rows_a_group);
  loops_text begin("_begin", visited.rank());
  for (std::size_t d = 1; d < visited.rank(); ++d) {
    list.scalar({"", "kept_length", static_cast<int>(d)}, visited.lengths[d]);
    begin.length({"", "kept_length", static_cast<int>(d)});
  }
  std::string members, of_row, stored, stored_of_row, declared_in_hand;
  const std::size_t end = text.stages.size();
  /// What comes before the lines of each stage and of the end; what is loaded before all of a
  /// stage.
  std::vector<std::string> of_element(end + 1), loaded(end + 1);
  std::size_t place = 0;
  for (std::size_t j = 0; j < c.in().size(); ++j) {
    const auto& p = signature.parameters[j];
    const dtype& as = types.inputs[j];
    const array* a = c.in()[j].array();
    if (a == nullptr) {
      list.number(p, as, c.in()[j]);
      if (list.writes()) {
        members += format("    {} {};\n", device_name(as), p.name);
        of_row += format("    {{\n    {}    _at.{} = {};\n    }}\n", number_variable(p, as), p.name,
                         p.name);
      }
      continue;
    }
    list.elements(p, *a, visited.starts[place], false);
    begin.operand(list.steps(p.name, "kept_step", visited, place, visited.rank()));
    if (list.writes()) {
      const std::string at = format("_at._begin.of[{}]", place);
      const dtype& own = a->elements().dtype();
      if (in_rows[j]) {
        members += format("    {} {};\n", device_name(as), p.name);
        of_row += format("    {{\n    {}    _at.{} = {};\n    }}\n",
                         loaded_variable(p, as, own, at), p.name, p.name);
      } else if (work.in_hand && is_kept(j)) {
        const auto [first, last] = text.used[j];
        declared_in_hand += format("  {} _{}[_mine.size];\n", device_name(as), p.name);
        loaded[first] += format("    {{\n    {}    _{}[_k] = {};\n    }}\n",
                                loaded_variable(p, as, own, at + " + _i"), p.name, p.name);
        for (std::size_t k = first; k <= last; ++k) {
          of_element[k] +=
              format("    [[maybe_unused]] const {0} {1} = _{1}[_k];\n", device_name(as), p.name);
        }
      } else {
        for (std::string& lines : of_element) {
          lines += "    [[maybe_unused]] " + loaded_variable(p, as, own, at + " + _i");
        }
      }
    }
    ++place;
  }
  for (std::size_t o = 0; o < c.outputs(); ++o) {
    const auto& p = signature.outputs()[o];
    const array& a = c.output(o);
    list.elements(p, a, 0, true);
    if (!list.writes()) continue;
    auto& all = out_rows[o] ? stored_of_row : stored;
    all += "    " +
           stored_variable(p, a.elements().dtype(), out_rows[o] ? "_row" : "_row * _length + _i");
  }
  if (!list.writes()) return {};

  std::string out = format(
      "#include \"usmx/expression/joined_rows.hpp\"\nusing namespace usmx;\n{}\n"
      "USMX_KERNEL(1) {}({}) {{\n"
      "  [[maybe_unused]] const int64_t n = _length;\n{}",
      text.preamble, kernel_name, list.text(), begin.text());
  out += format("  struct _known {{\n    expression::positions<{}> _begin;\n{}{}  }};\n",
                std::max<std::size_t>(place, 1), members, text.members);
  out += "  const expression::rows::range _rows_here(_rows, _rows_a_group);\n";
  const auto [d, most_rows, most_joined] = form_of(c.queue());
  out += format("  constexpr int _slots = {};\n",
                std::max<std::int64_t>(most_rows, work.items / work.lanes));
  const auto row = [&](std::size_t stage) {
    return format(
        "  const auto _row{} = [&](int64_t _row, [[maybe_unused]] int64_t _slot) {{\n"
        "    _known _at;\n    _at._begin = _begin.at(_row);\n{}{}    return _at;\n  }};\n",
        stage, of_row, text.known[stage]);
  };
  for (std::size_t k = 0; k < end; ++k) {
    const auto& s = text.stages[k];
    out += s.declared + format("  local<expression::reduce::tile<{}, {}, {}>> _tile{};\n",
                               s.value_type, work.items, most_rows, k);
  }
  /// What a stage is made of, after its map.
  const auto joins = [&](std::size_t k) {
    const auto& s = text.stages[k];
    return format(
        "  const auto _join{0} = [](const {1}& a, const {1}& b) {{ return {2}; }};\n"
        "  const auto _store{0} = [&](const {1}& a, int64_t _slot) {{\n{3}  }};\n",
        k, s.value_type, s.join, s.stores);
  };
  const auto types_of = [&](bool of_rows) {
    std::string variables;
    for (std::size_t o = 0; o < c.outputs(); ++o) {
      if (out_rows[o] != of_rows) continue;
      variables +=
          format("    {} {};\n", device_name(types.outputs[o]), signature.outputs()[o].name);
    }
    return variables;
  };
  if (work.in_hand) {
    out += format(
        "  const expression::rows::hand<{}, {}, {}, {}, {}, {}> _mine(_rows_here, _length);\n",
        work.items, work.lanes, work.width, d.along_blocks, work.rounds, work.rest);
    for (const auto& v : text.kept) {
      declared_in_hand += format("  {} _{}[_mine.size];\n", device_name(v.type), v.name);
    }
    out += declared_in_hand;
    // Each is a part of the kernel: a function would have the elements in memory.
    constexpr std::string_view inlined = "__attribute__((always_inline))";
    const auto stage = [&](std::size_t k) {
      out += row(k) + format("  const _known _at{0} = _row{0}(_mine.row, _mine.slot);\n", k);
      if (loaded[k].empty()) return;
      out += format(
          "  _mine.each([&](int64_t _i, int _k) {} {{\n    const _known& _at = _at{};\n{}  }});\n",
          inlined, k, loaded[k]);
    };
    for (std::size_t k = 0; k < end; ++k) {
      const auto& s = text.stages[k];
      stage(k);
      out += format(
          "  const auto _map{0} = [&]([[maybe_unused]] int64_t _i, [[maybe_unused]] int _k) {1} "
          "{{\n"
          "    [[maybe_unused]] const _known& _at = _at{0};\n{2}{3}    return {4};\n  }};\n{5}"
          "  expression::rows::joined_in_hand<{6}>(_mine, _tile{0}.get(), _map{0}, _join{0}, "
          "_store{0});\n",
          k, inlined, of_element[k], s.lines_in_hand, s.value, joins(k), s.value_type);
    }
    stage(end);
    if (!stored.empty()) {
      out += format(
          "  const int64_t _row = _mine.row;\n"
          "  if (_mine.is_here) _mine.each([&](int64_t _i, [[maybe_unused]] int _k) {} {{\n"
          "    [[maybe_unused]] const _known& _at = _at{};\n{}{}{}{}  }});\n",
          inlined, end, of_element[end], types_of(false), text.lines_in_hand, stored);
    }
    if (!stored_of_row.empty()) out += "  group_barrier();\n";
  } else {
    for (std::size_t k = 0; k < end; ++k) {
      const auto& s = text.stages[k];
      out += row(k);
      out += format(
          "  const auto _map{0} = [&](const _known& _at, int64_t _i, int64_t) {{\n{1}{2}"
          "    return {3};\n  }};\n{4}"
          "  expression::rows::joined<{5}, {6}, {7}>(\n"
          "      _rows_here, _length, _tile{0}.get(), _row{0}, _map{0}, _join{0}, _store{0});\n",
          k, of_element[k], s.lines, s.value, joins(k), d.along_items, work.lanes, d.along_blocks);
    }
    out += row(end);
    if (!stored.empty()) {
      out += format(
          "  expression::rows::each_element<{}, {}, {}>(_rows_here, _length, _row{},\n"
          "      [&](const _known& _at, int64_t _row, int64_t _i) {{\n{}{}{}{}  }});\n",
          d.along_items, work.lanes, most_rows > 1 ? 1 : 4, end, of_element[end], types_of(false),
          text.lines, stored);
    }
  }
  if (!stored_of_row.empty()) {
    out += format(
        "  expression::rows::each_row<{}>(_rows_here, _row{},\n"
        "      [&](const _known& _at, int64_t _row) {{\n{}{}{}  }});\n",
        work.items, end, types_of(true), text.row_lines, stored_of_row);
  }
  return out + "}\n";
}

void row_kernel::submit(const sycl::queue& queue, std::span<const operand> in,
                        std::span<const array> out, const row_shape& shape) const {
  std::vector<expression_output> outputs(out.size());
  for (std::size_t o = 0; o < out.size(); ++o) outputs[o].given = &out[o];
  // An event is asked in a tenth of the time that a queue takes whether memory is still in use.
  const call_request asked{queue, in, outputs, {}, ordering::automatic, true};
  expression_call c(*state_, asked);
  std::vector<std::vector<std::int64_t>> steps;
  std::vector<std::int64_t> lengths = shape.outer;
  extents whole(shape.outer.size() + 1);
  std::ranges::copy(lengths, whole.data());
  whole[lengths.size()] = shape.length;
  for (std::size_t j = 0; j < in.size(); ++j) {
    if (in[j].array() == nullptr) continue;
    auto& own = steps.emplace_back();
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      own.push_back(broadcast_step(in[j].array()->elements().layout(), whole, k));
    }
  }
  const std::vector<std::span<const std::int64_t>> spans(steps.begin(), steps.end());
  const loops visited = make_loops(lengths, spans, loop_order::c);
  const row_form form = form_of(queue);
  const row_work usual(form, shape);
  const std::string usual_key =
      format("{}{}{}{}", c.type_key(), visited.rank(), form.most_rows > 1 ? 'l' : 'g', usual.lanes);
  const expression_types& types = c.find(usual_key).known;
  row_work work = usual;
  std::string key = usual_key;
  const auto bind = [&](parameter_list& list) {
    return state_->bind(list, c, types, shape, visited, work);
  };
  /// Whether a group that is larger than usual has local memory for what its items join, and
  /// registers, which only the compiler knows.
  const auto runs = [&] {
    const auto items = static_cast<std::size_t>(work.items);
    std::size_t bytes = 0;
    for (const auto& s : state_->text.stages) bytes += items * s.value_bytes;
    return work.items <= usual.items ||
           (bytes <= most_bytes_joined &&
            c.compiled(c.find(key), bind).max_work_group_size() >= items);
  };
  if (form.most_rows == 1) {
    const std::size_t bytes = state_->bytes_in_hand(types);
    const auto next = [&](int lanes) {
      if (lanes > usual.width) return lanes / 2;
      return lanes < usual.width ? usual.width : 0;
    };
    for (int lanes = best_lanes(usual, shape); lanes > 0 && !work.in_hand; lanes = next(lanes)) {
      work = usual.in_hand_of(lanes);
      key = format("{}h{}{}{}", usual_key, lanes, work.rest ? '+' : '.', work.rounds);
      if (!work.has_room(bytes) || !runs()) work = usual;
    }
    if (!work.in_hand) key = usual_key;
  }
  c.launch_groups(key, over(shape.rows(), work.rows_a_group), work.items, true, bind);
}

}  // namespace usmx::detail
