// Scans: the lines and their chunks, and the stages of a line that has several. What the items of a
// group do stands in kernels/expression/scan.hpp; here is the text that calls it.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/scan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>

#include "core/format.hpp"
#include "expression/call.hpp"
#include "expression/source.hpp"
#include "kernel/source/user_text.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

using detail::call_request;
using detail::expression_call;
using detail::format;
using detail::loops_text;
using detail::parameter_list;
using detail::parameter_name;

struct scan_program {
  /// Neighbouring items have neighbouring lines, each alone; otherwise a group shares a chunk of
  /// one line, tile by tile.
  bool across = false;
  /// Items of a group, and elements of a tile that each of them has.
  int items = 1;
  int blocks = 1;
  /// Scans totals in their place, not the inputs.
  bool folds = false;
  /// Leaves the total of each chunk and nothing else.
  bool totals = false;
  /// Begins each chunk with what the chunks before it come to.
  bool carries = false;
  /// All in one launch: groups wait for each other, see kernels/expression/scan.hpp. Then `blocks`
  /// fit the type of the values, and so many neighbours are loaded and stored together.
  bool once = false;
  int elements = 1;
  /// All neighbours along the axis are neighbours in memory: then a loop over them can be vectors.
  bool contiguous = false;
  /// Loops over lines, taken apart from a flat number.
  std::size_t kept_rank = 0;

  /// Each item is a group, and shares its chunk with nothing.
  bool is_alone() const noexcept { return across && items == 1; }
  bool is_dense() const noexcept { return elements > 1 || contiguous; }
  std::string key() const;
};

/// Tiles of which a group joins the totals itself, and windows of so many tiles.
inline constexpr int scan_window = 128;

std::string scan_program::key() const {
  std::string key;
  for (const bool flag : {across, folds, totals, carries, once, contiguous})
    key += flag ? '1' : '0';
  return key + format("{},{},{},{}", items, blocks, elements, kept_rank);
}

/// How scans are cut into groups, the only numbers that depend on the device.
struct device_shape {
  int along_items;
  int along_blocks;
  /// Elements of a line that one group takes, a whole number of tiles.
  std::int64_t along_chunk;
  int across_items;
  std::int64_t across_chunk;
  /// So many lines keep the device busy without chunks.
  std::int64_t enough_lines;
};
/// Of one launch for everything: a tile takes so many bytes of local memory.
constexpr int once_items = 256;
constexpr std::int64_t once_bytes = 16384;
/// On a CPU an item that is a group takes a long part of a line alone: a core needs no barriers for
/// it. The parts depend on the length alone, so sums of floats are the same with any number of
/// cores.
constexpr std::int64_t least_alone = 4096, parts_alone = 64;
constexpr device_shape on_cpu = {16, 16, 16384, 64, 2048, 2048};
constexpr device_shape elsewhere = {256, 4, 8192, 64, 1024, 65536};

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t item_bytes(const array& a) {
  return static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

/// Whether neighbours of an array can be loaded or stored together, wherever a tile begins.
bool stands_at_multiples_of(std::int64_t elements, const array& a, std::int64_t start,
                            std::int64_t step, std::span<const std::int64_t> lines) {
  const auto first = reinterpret_cast<std::uintptr_t>(a.data()) +
                     static_cast<std::uintptr_t>(start * item_bytes(a));
  return step == 1 && first % static_cast<std::uintptr_t>(elements * item_bytes(a)) == 0 &&
         std::ranges::all_of(lines, [&](std::int64_t l) { return l % elements == 0; });
}

/// A call once its shapes and types are known.
struct scan_call {
  expression_call& c;
  const expression_types& types;
  /// Over the other axes: outputs, then inputs that are arrays and not raw.
  loops kept = {};
  /// Of outputs, then of those inputs, along the axis.
  std::vector<std::int64_t> steps = {};
  std::int64_t lines = 1;
  std::int64_t length = 1;
};

/// One launch: lines of `length` elements in chunks.
struct stage_work {
  std::int64_t length, chunk;
  /// Totals that are scanned in their place, instead of the inputs.
  const array* values = nullptr;
  /// Of the chunks.
  const array* totals = nullptr;
  const array* flags = nullptr;

  std::int64_t chunks() const { return over(length, chunk); }
};

}  // namespace

struct scan_kernel::state final : detail::callable_state<std::optional<int>> {
  state(detail::expression_signature its_signature, scan_text its_text)
      : callable_state(std::move(its_signature), "_scan", its_text.options),
        text(std::move(its_text)),
        post_map(detail::is_blank(text.post_map) ? signature.outputs().front().name + " = a"
                                                 : text.post_map) {}

  scan_text text;
  std::string post_map;

  std::optional<sycl::event> run(const call_request& asked,
                                 const std::optional<int>& axis) const override;
  void scan(scan_call& call) const;
  /// Scans `values`, which stand as the totals of chunks do, or the inputs if there are none.
  void stage(const scan_call& call, scan_program program, std::int64_t length,
             const array* values) const;
  void launch(const scan_call& call, const scan_program& program, const stage_work& work) const;
  /// What the program takes, and its text if the list writes one.
  std::string bind(parameter_list& list, const scan_call& call, const scan_program& program,
                   const stage_work& work) const;
  /// Products of floats leave the range of their type in some orders only. A processor joins them
  /// as NumPy does, one after the other: 0 and infinity then stand where they do in NumPy.
  bool is_in_turn(const scan_call& call) const;
  /// The one launch of groups that wait for each other; false if it would take too many.
  bool once(const scan_call& call, scan_program program) const;
};

std::string scan_kernel::state::bind(parameter_list& list, const scan_call& call,
                                     const scan_program& program, const stage_work& work) const {
  list.scalar({"", "lines"}, call.lines);
  list.scalar({"", "length"}, work.length);
  list.scalar({"", "chunk"}, work.chunk);
  list.scalar({"", "chunks"}, work.chunks());
  for (std::size_t d = 1; d < program.kept_rank; ++d) {
    list.scalar({"", "kept_length", static_cast<int>(d)}, call.kept.lengths[d]);
  }
  // Operands that are visited: pointers that a function takes, and that it is called with.
  struct side {
    loops_text begin;
    std::string declared = {}, moved = {};
    int count = 0;
  };
  side read{loops_text("_begin", program.kept_rank)};
  side written{loops_text("_target", program.kept_rank)};
  for (auto* s : {&read, &written}) {
    for (std::size_t d = 1; d < program.kept_rank; ++d) {
      s->begin.length({"", "kept_length", static_cast<int>(d)});
    }
  }
  const auto visit = [&](side& s, const expression_parameter& p, const array& a, std::size_t place,
                         bool is_output) {
    list.elements(p, a, call.kept.starts[place], is_output);
    const parameter_name step{p.name, "step"};
    list.scalar(step, call.steps[place]);
    s.begin.operand(list.steps(p.name, "kept_step", call.kept, place, program.kept_rank));
    if (!list.writes()) return;
    const std::string pointer = parameter_name{p.name, "data"}.text();
    s.declared +=
        format(", {}{}* {}", is_output ? "" : "const ", device_name(a.elements().dtype()), pointer);
    const std::string moved = format("{} + _at.of[{}] + _i{}", pointer, s.count++,
                                     program.is_dense() ? "" : " * " + step.text());
    s.moved += is_output && program.elements > 1
                   ? format(", expression::scan::aligned(_count, {})", moved)
                   : ", " + moved;
  };

  std::string variables, results, stores;
  if (program.folds) list.values("_values", "_value", *work.values, true);
  std::size_t place = call.c.outputs();
  for (std::size_t j = 0; !program.folds && j < call.c.in().size(); ++j) {
    const auto& p = signature.parameters[j];
    const dtype& as = call.types.inputs[j];
    const array* a = call.c.in()[j].array();
    if (!a) {
      list.number(p, as, call.c.in()[j]);
      if (list.writes()) variables += "    " + detail::number_variable(p, as);
    } else if (p.raw) {
      list.raw(p, *a, false);
      if (list.writes()) variables += "    " + detail::raw_variable(p, as, *a, false);
    } else {
      visit(read, p, *a, place++, false);
      if (list.writes()) {
        variables += "    " + detail::loaded_variable(p, as, a->elements().dtype(), "_k");
      }
    }
  }
  if (work.flags) list.numbers("_flags", *work.flags);
  if (work.totals) list.values("_totals", "_value", *work.totals, true);
  const bool stores_elements = !program.folds && !program.totals;
  for (std::size_t o = 0; stores_elements && o < call.c.outputs(); ++o) {
    const auto& p = signature.outputs()[o];
    const array& a = call.c.output(o);
    visit(written, p, a, o, true);
    if (!list.writes()) continue;
    results += format("    {} {}{{}};\n", device_name(call.types.outputs[o]), p.name);
    stores += "    " + detail::stored_variable(p, a.elements().dtype(), "_k");
  }
  if (!list.writes()) return {};

  std::string begin = read.begin.text(), target = written.begin.text();
  std::string map = variables + "    [[maybe_unused]] const int64_t i = _i;\n" +
                    format("    return _value({});\n", detail::marked("map_expr", text.map));
  std::string put = "    [[maybe_unused]] const int64_t i = _i;\n" + results + "    " +
                    detail::marked("post_map_expr", post_map) + ";\n" + stores;
  if (program.folds) {
    // Totals stand as the stage before left them, and are scanned in their place.
    const std::string step = program.across ? "1" : "_length";
    begin = format("  const expression::loops<1, 1> _begin{{{{}}, {{{{{}}}}}}};\n", step);
    target = format("  const expression::loops<1, 1> _target{{{{}}, {{{{{}}}}}}};\n", step);
    read.declared = ", const _value* _values";
    written.declared = ", _value* _values";
    read.moved = written.moved =
        std::string(", _values + _at.of[0] + _i") + (program.across ? " * _lines" : "");
    map = "    return _values[_k];\n";
    put = "    _values[_k] = a;\n";
  }
  const bool exclusive = text.exclusive && !program.folds;
  std::string out = detail::joining_prologue("scan", call.types, text.preamble, text.scan_type,
                                             "scan_expr", text.scan);
  out += format("USMX_KERNEL(1) {}({}) {{\n", kernel_name, list.text());
  out += "  [[maybe_unused]] const int64_t n = _length;\n";
  out += begin +
         format("  const auto _map = [&](int64_t _i, int64_t _k{}) {{\n{}  }};\n", read.declared,
                map) +
         format(
             "  const auto _load = [&](auto _count, const auto& _at, int64_t _i, _value* _to) {{\n"
             "    expression::scan::load(_count, _to, _i, _map{});\n  }};\n",
             read.moved);
  if (program.totals) {
    out +=
        "  const expression::loops<0, 0> _target{};\n  const expression::scan::no_store _store;\n";
  } else {
    out += target +
           format("  const auto _put = [&](int64_t _i, _value a, int64_t _k{}) {{\n{}  }};\n",
                  written.declared, put) +
           format(
               "  const auto _store = [&](auto _count, const auto& _at, int64_t _i, const _value* "
               "_from) {{\n    expression::scan::store(_count, _from, _i, _put{});\n  }};\n",
               written.moved);
  }
  out += "  const auto _both = [](_value a, _value b) { return _join(a, b); };\n";
  out += format("  const auto _first = [&] {{ return _value({}); }};\n",
                exclusive ? *text.identity : std::string());
  out += "  const expression::scan::work _work{_lines, _length, _chunk, _chunks};\n";
  const char* const functions = "_begin, _target, _load, _both, _first, _store";
  const char* const totals = work.totals ? "_totals" : "static_cast<_value*>(nullptr)";
  const char* const task = program.totals ? "totals" : program.carries ? "carried" : "whole";
  if (program.once) {
    out += format(
        "  const expression::scan::board<_value, {6}> _board(\n"
        "      _flags, _totals, _lines * _chunks, _lines * ((_chunks + {3} - 1) / {3}));\n"
        "  local<expression::scan::workspace<_value, {0}, {1}>> _space;\n"
        "  expression::scan::once<{3}, {4}, {5}>(\n      _space.get(), _board, _work, {2});\n",
        program.items, program.blocks, functions, scan_window, program.elements, exclusive,
        device_name(work.flags->elements().dtype()));
  } else if (program.across) {
    out += format(
        "  expression::scan::across<expression::scan::task::{}, {}>(\n      _work, {}, {});\n",
        task, exclusive, totals, functions);
  } else {
    out += format(
        "  local<expression::scan::tile_values<_value, {}, {}>> _space;\n"
        "  expression::scan::along<expression::scan::task::{}, {}>(\n"
        "      _space.get(), _work, {}, {});\n",
        program.items, program.blocks, task, exclusive, totals, functions);
  }
  return out + "}\n";
}

bool scan_kernel::state::is_in_turn(const scan_call& call) const {
  if (text.scan != "a * b" || !detail::forms_of(call.c.queue()).groups_are_loops) return false;
  const auto number = detail::value_type(text.scan_type, call.types);
  return number &&
         (number->kind() == type_class::floating || number->kind() == type_class::complex);
}

void scan_kernel::state::launch(const scan_call& call, const scan_program& program,
                                const stage_work& work) const {
  const std::int64_t chunks = call.lines * work.chunks();
  // The totals are there for another launch; with `once` they are of this one.
  call.c.launch_groups(call.c.type_key() + program.key(),
                       program.across ? over(chunks, program.items) : chunks, program.items,
                       !program.totals && !program.folds,
                       [&](parameter_list& list) { return bind(list, call, program, work); });
}

void scan_kernel::state::stage(const scan_call& call, scan_program program, std::int64_t length,
                               const array* values) const {
  const sycl::queue& queue = call.c.queue();
  const device_shape& d = detail::forms_of(queue).groups_are_loops ? on_cpu : elsewhere;
  const std::int64_t most = program.is_alone() ? std::max(d.along_chunk, over(length, parts_alone))
                            : program.across   ? d.across_chunk
                                               : d.along_chunk;
  const bool whole =
      length <= most || (program.across && call.lines >= d.enough_lines) || is_in_turn(call);
  const std::int64_t chunk = whole ? length : most;
  if (whole) return launch(call, program, {length, chunk, values});

  if (detail::forms_of(queue).groups_wait && !program.across && !program.folds &&
      once(call, program)) {
    return;
  }
  const std::int64_t chunks = over(length, chunk);
  const auto number = detail::value_type(text.scan_type, call.types);
  const array totals = detail::values_of(queue, call.lines * chunks, number);
  program.totals = true;
  launch(call, program, {length, chunk, values, &totals});

  scan_program fold = program;
  fold.folds = true;
  fold.totals = false;
  fold.kept_rank = 0;
  stage(call, fold, chunks, &totals);

  program.totals = false;
  program.carries = true;
  launch(call, program, {length, chunk, values, &totals});
}

bool scan_kernel::state::once(const scan_call& call, scan_program program) const {
  const sycl::queue& queue = call.c.queue();
  const auto number = detail::value_type(text.scan_type, call.types);
  const auto bytes = number ? static_cast<std::int64_t>(number->itemsize())
                            : static_cast<std::int64_t>(detail::most_value_bytes);
  program.once = true;
  program.items = once_items;
  program.blocks = static_cast<int>(std::min<std::int64_t>(16, once_bytes / bytes / once_items));
  const std::int64_t tile = std::int64_t{program.items} * program.blocks;
  const std::int64_t tiles = over(call.length, tile);
  const std::int64_t all = call.lines * tiles;
  // And windows of windows, each of which waits for the one before.
  const std::int64_t of_line = over(tiles, scan_window);
  const std::int64_t windows = call.lines * (of_line + over(of_line, scan_window));
  if (all > std::numeric_limits<std::int32_t>::max()) return false;

  std::int64_t widest = 1;
  const auto each_array = [&](const auto& visit) {
    std::size_t place = 0;
    for (std::size_t k = 0; k < call.c.outputs(); ++k) visit(call.c.output(k), place++);
    for (std::size_t j = 0; j < call.c.in().size(); ++j) {
      if (call.c.is_visited(j)) visit(*call.c.array_at(j), place++);
    }
  };
  each_array([&](const array& a, std::size_t) { widest = std::max(widest, item_bytes(a)); });
  const auto most = static_cast<std::int64_t>(detail::forms_of(queue).vector_bytes);
  const auto elements = std::clamp<std::int64_t>(most / widest, 1, program.blocks);
  bool aligned = program.blocks % elements == 0;
  each_array([&](const array& a, std::size_t place) {
    aligned = aligned && stands_at_multiples_of(elements, a, call.kept.starts[place],
                                                call.steps[place], call.kept.steps_of(place));
  });
  if (aligned) program.elements = static_cast<int>(elements);

  const std::int64_t flag_count = 1 + all + windows;
  const bool in_words = bytes <= 4;
  const dtype word = in_words ? dtype::of<std::uint64_t>() : dtype::of<std::uint32_t>();
  const array flags = array::empty(queue, std::span(&flag_count, 1), word, usm_kind::device);
  const array totals = detail::values_of(queue, in_words ? 1 : all + windows, number);
  call.c.then(memset_async(queue, flags, 0));
  launch(call, program, {call.length, tile, nullptr, &totals, &flags});
  return true;
}

void scan_kernel::state::scan(scan_call& call) const {
  const device_shape& d = detail::forms_of(call.c.queue()).groups_are_loops ? on_cpu : elsewhere;
  scan_program program;
  program.kept_rank = call.kept.rank();
  // Neighbours along the axis are shared by a group; otherwise lines are neighbours of each other.
  const std::size_t first = call.c.outputs() < call.steps.size() ? call.c.outputs() : 0;
  const std::int64_t along = std::abs(call.steps[first]);
  const std::int64_t across =
      program.kept_rank == 0 ? 0 : std::abs(call.kept.steps_of(first)[program.kept_rank - 1]);
  program.across = call.lines > 1 && across != 0 && (across < along || call.length < 16);
  const bool is_alone = detail::forms_of(call.c.queue()).groups_are_loops && !program.across &&
                        (call.length >= least_alone || is_in_turn(call));
  program.across |= is_alone;
  program.contiguous =
      is_alone && std::ranges::all_of(call.steps, [](std::int64_t step) { return step == 1; });
  program.items = is_alone ? 1 : program.across ? d.across_items : d.along_items;
  program.blocks = program.across ? 1 : d.along_blocks;
  stage(call, program, call.length, nullptr);
}

std::optional<sycl::event> scan_kernel::state::run(const call_request& asked,
                                                   const std::optional<int>& axis) const {
  expression_call c(*this, asked);
  const extents shape = c.input_shape();
  const auto rank = static_cast<int>(shape.size());
  if (rank == 0) throw std::invalid_argument("shape: () has no axis to scan along");
  if (!axis && rank > 1) {
    throw std::invalid_argument(format("axis: is needed for an input of {} dimensions", rank));
  }
  const int asked_axis = axis.value_or(0);
  if (asked_axis < -rank || asked_axis >= rank) {
    throw std::invalid_argument(
        format("axis: {} is out of range for {} dimensions", asked_axis, rank));
  }
  const auto scanned = static_cast<std::size_t>(asked_axis < 0 ? asked_axis + rank : asked_axis);
  c.check_output_shapes(shape);

  scan_call call{c, c.find(c.type_key()).known};
  std::vector<std::int64_t> kept_lengths;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k == scanned) continue;
    kept_lengths.push_back(shape[k]);
    call.lines *= shape[k];
  }
  call.length = shape[scanned];

  // Each element of an output may be that of the same place in an input: it is read before it is
  // written, by the same group.
  c.separate_outputs(false,
                     [](const any_view& in, const any_view& out, const expression_parameter& p) {
                       return !p.raw && in.dtype() == out.dtype() && detail::same_places(in, out);
                     });
  c.make_outputs(call.types, c.output_layout(shape));
  if (call.lines * call.length == 0) return c.finish_without_elements();

  std::vector<std::vector<std::int64_t>> kept_steps;
  const auto visit = [&](const array& a) {
    auto& kept = kept_steps.emplace_back();
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const std::int64_t step = broadcast_step(a.elements().layout(), shape, k);
      (k == scanned ? call.steps : kept).push_back(step);
    }
  };
  for (std::size_t o = 0; o < c.outputs(); ++o) visit(c.output(o));
  for (std::size_t j = 0; j < c.in().size(); ++j) {
    if (c.is_visited(j)) visit(*c.array_at(j));
  }
  const std::vector<std::span<const std::int64_t>> spans(kept_steps.begin(), kept_steps.end());
  call.kept = make_loops(kept_lengths, spans);
  scan(call);
  return c.finish();
}

// --- the class --------------------------------------------------------------------------------

scan_kernel::scan_kernel(std::string_view in_params, std::string_view out_params, scan_text text,
                         std::string name)
    : expression_kernel_with([&] {
        detail::expression_signature signature(in_params, out_params, std::move(name), true);
        detail::require_text("map_expr", text.map);
        detail::require_text("scan_expr", text.scan);
        const std::size_t outputs = signature.outputs().size();
        if (detail::is_blank(text.post_map) && outputs != 1) {
          throw std::invalid_argument(format(
              "post_map_expr: is empty, expected statements that assign the {} outputs", outputs));
        }
        if (text.exclusive && !text.identity) {
          throw std::invalid_argument(
              "identity: is missing, expected the value before the first element of an exclusive "
              "scan");
        }
        return std::make_shared<state>(std::move(signature), std::move(text));
      }()) {}

const scan_kernel::state& scan_kernel::own() const noexcept {
  return static_cast<const state&>(*state_);
}
const scan_text& scan_kernel::text() const noexcept { return own().text; }

}  // namespace usmx
