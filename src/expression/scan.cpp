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
#include "expression/expression_call.hpp"
#include "expression/source.hpp"
#include "kernel/source/user_text.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

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
  /// Loops over lines, taken apart from a flat number.
  std::size_t kept_rank = 0;

  std::string key() const;
};

/// Tiles of which a group joins the totals itself, once what comes before all of them is known.
inline constexpr int scan_window = 128;

std::string scan_program::key() const {
  std::string key;
  for (const bool flag : {across, folds, totals, carries, once}) key += flag ? '1' : '0';
  for (const int n : {items, blocks, elements, static_cast<int>(kept_rank)})
    key += std::to_string(n) + ",";
  return key;
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
constexpr device_shape on_cpu = {16, 16, 16384, 64, 2048, 2048};
constexpr device_shape elsewhere = {256, 4, 8192, 64, 1024, 65536};

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t item_bytes(const array& a) {
  return static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

/// Whether each element of the output is that of the same place in each input it shares memory
/// with: then it is read before it is written, by the same group.
bool is_in_place(const array& out, std::span<const operand> in,
                 std::span<const expression_parameter> parameters) {
  for (std::size_t j = 0; j < in.size(); ++j) {
    const array* a = in[j].array();
    if (!a || !detail::overlaps(out, in[j])) continue;
    const any_view& v = a->elements();
    const bool same =
        v.dtype() == out.elements().dtype() && detail::same_elements(v, out.elements());
    if (parameters[j].raw || !same) return false;
  }
  return true;
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
  sycl::queue& queue;
  std::span<const operand> in;
  std::vector<const array*> out;
  expression_types types;
  /// Over the other axes: outputs, then inputs that are arrays and not raw.
  loops kept;
  /// Of outputs, then of those inputs, along the axis.
  std::vector<std::int64_t> steps;
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

struct scan_kernel::state {
  detail::expression_signature signature;
  std::string name;
  scan_text text;
  std::string post_map;
  mutable detail::program_table programs;

  std::string kernel_name() const { return name + "_scan"; }
  sycl::event run(const scan_call& call, std::span<const sycl::event> depends) const;
  /// Scans `values`, which stand as the totals of chunks do, or the inputs if there are none.
  sycl::event stage(const scan_call& call, scan_program program, std::int64_t length,
                    const array* values, std::span<const sycl::event> depends) const;
  sycl::event launch(const scan_call& call, const scan_program& program, const stage_work& work,
                     std::span<const sycl::event> depends) const;
  /// What the program takes, and its text if the list writes one.
  std::string bind(parameter_list& list, const scan_call& call, const scan_program& program,
                   const stage_work& work) const;
  /// The one launch of groups that wait for each other, nothing if it would take too many.
  std::optional<sycl::event> once(const scan_call& call, scan_program program,
                                  std::span<const sycl::event> depends) const;
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
                                     program.elements > 1 ? "" : " * " + step.text());
    s.moved += is_output && program.elements > 1
                   ? format(", expression::scan::aligned(_count, {})", moved)
                   : ", " + moved;
  };

  std::string variables, results, stores;
  if (program.folds) list.values("_values", "_value", *work.values, true);
  std::size_t place = call.out.size();
  for (std::size_t j = 0; !program.folds && j < call.in.size(); ++j) {
    const auto& p = signature.inputs[j];
    const dtype& as = call.types.inputs[j];
    const array* a = call.in[j].array();
    if (!a) {
      list.number(p, as, call.in[j]);
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
  for (std::size_t o = 0; stores_elements && o < call.out.size(); ++o) {
    const auto& p = signature.outputs[o];
    const array& a = *call.out[o];
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
  out += format("USMX_KERNEL(1) {}({}) {{\n", kernel_name(), list.text());
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
        "  const expression::scan::board<_value> _board(_flags, _totals, _lines * _chunks);\n"
        "  local<expression::scan::workspace<_value, {}, {}>> _space;\n"
        "  expression::scan::once<{}, {}, {}>(\n      _space.get(), _board, _work, {});\n",
        program.items, program.blocks, scan_window, program.elements, exclusive, functions);
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

sycl::event scan_kernel::state::launch(const scan_call& call, const scan_program& program,
                                       const stage_work& work,
                                       std::span<const sycl::event> depends) const {
  const kernel& k = programs.get(
      call.queue, detail::type_key(call.in, call.out) + program.key(), kernel_name(), text.options,
      [&](parameter_list& list) { return bind(list, call, program, work); });
  parameter_list list(false, 24);
  bind(list, call, program, work);
  const std::int64_t chunks = call.lines * work.chunks();
  return detail::launch_groups(k, call.queue, program.across ? over(chunks, program.items) : chunks,
                               program.items, list, depends);
}

sycl::event scan_kernel::state::stage(const scan_call& call, scan_program program,
                                      std::int64_t length, const array* values,
                                      std::span<const sycl::event> depends) const {
  const device_shape& d = detail::forms_of(call.queue).groups_are_loops ? on_cpu : elsewhere;
  const std::int64_t most = program.across ? d.across_chunk : d.along_chunk;
  const bool whole = length <= most || (program.across && call.lines >= d.enough_lines);
  const std::int64_t chunk = whole ? length : most;
  if (whole) return launch(call, program, {length, chunk, values}, depends);

  if (detail::forms_of(call.queue).groups_wait && !program.across && !program.folds) {
    if (auto done = once(call, program, depends)) return *std::move(done);
  }
  const std::int64_t chunks = over(length, chunk);
  const auto number = detail::value_type(text.scan_type, call.types);
  const array totals = detail::values_of(call.queue, call.lines * chunks, number);
  std::vector<sycl::event> before(depends.begin(), depends.end());
  const auto after = [&](sycl::event last) {
    before.clear();
    if (!call.queue.is_in_order()) before.push_back(std::move(last));
  };
  program.totals = true;
  after(launch(call, program, {length, chunk, values, &totals}, before));

  scan_program fold = program;
  fold.folds = true;
  fold.totals = false;
  fold.kept_rank = 0;
  after(stage(call, fold, chunks, &totals, before));

  program.totals = false;
  program.carries = true;
  return launch(call, program, {length, chunk, values, &totals}, before);
}

std::optional<sycl::event> scan_kernel::state::once(const scan_call& call, scan_program program,
                                                    std::span<const sycl::event> depends) const {
  const auto number = detail::value_type(text.scan_type, call.types);
  const auto bytes = number ? static_cast<std::int64_t>(number->itemsize())
                            : static_cast<std::int64_t>(detail::most_value_bytes);
  program.once = true;
  program.items = once_items;
  program.blocks = static_cast<int>(std::min<std::int64_t>(16, once_bytes / bytes / once_items));
  const std::int64_t tile = std::int64_t{program.items} * program.blocks;
  const std::int64_t tiles = over(call.length, tile);
  const std::int64_t all = call.lines * tiles;
  const std::int64_t windows = call.lines * over(tiles, scan_window);
  if (all > std::numeric_limits<std::int32_t>::max()) return {};

  std::int64_t widest = 1;
  const auto each_array = [&](const auto& visit) {
    std::size_t place = 0;
    for (const auto* a : call.out) visit(*a, place++);
    for (std::size_t j = 0; j < call.in.size(); ++j) {
      if (call.in[j].array() && !signature.inputs[j].raw) visit(*call.in[j].array(), place++);
    }
  };
  each_array([&](const array& a, std::size_t) { widest = std::max(widest, item_bytes(a)); });
  const auto most = static_cast<std::int64_t>(detail::forms_of(call.queue).vector_bytes);
  const auto elements = std::clamp<std::int64_t>(most / widest, 1, program.blocks);
  bool aligned = program.blocks % elements == 0;
  each_array([&](const array& a, std::size_t place) {
    aligned = aligned && stands_at_multiples_of(elements, a, call.kept.starts[place],
                                                call.steps[place], call.kept.steps_of(place));
  });
  if (aligned) program.elements = static_cast<int>(elements);

  const std::int64_t flag_count = 1 + all + windows;
  const array flags = array::empty(call.queue, std::span(&flag_count, 1),
                                   dtype::of<std::uint32_t>(), usm_kind::device);
  const array totals = detail::values_of(call.queue, all + windows, number);
  std::vector<sycl::event> before(depends.begin(), depends.end());
  auto cleared = memset_async(call.queue, flags, 0);
  if (!call.queue.is_in_order()) before.push_back(std::move(cleared));
  return launch(call, program, {call.length, tile, nullptr, &totals, &flags}, before);
}

sycl::event scan_kernel::state::run(const scan_call& call,
                                    std::span<const sycl::event> depends) const {
  const device_shape& d = detail::forms_of(call.queue).groups_are_loops ? on_cpu : elsewhere;
  scan_program program;
  program.kept_rank = call.kept.rank();
  // Neighbours along the axis are shared by a group; otherwise lines are neighbours of each other.
  const std::size_t first = call.out.size() < call.steps.size() ? call.out.size() : 0;
  const std::int64_t along = std::abs(call.steps[first]);
  const std::int64_t across =
      program.kept_rank == 0 ? 0 : std::abs(call.kept.steps_of(first)[program.kept_rank - 1]);
  program.across = call.lines > 1 && across != 0 && (across < along || call.length < 16);
  program.items = program.across ? d.across_items : d.along_items;
  program.blocks = program.across ? 1 : d.along_blocks;
  return stage(call, program, call.length, nullptr, depends);
}

scan_kernel::scan_kernel(std::string_view in_params, std::string_view out_params, scan_text text,
                         std::string name)
    : state_(std::make_shared<state>()) {
  auto& s = *state_;
  s.signature = detail::expression_signature(in_params, out_params, name);
  const auto is_empty = [](const std::string& part) {
    return part.find_first_not_of(" \t\r\n") == std::string::npos;
  };
  if (is_empty(text.map)) {
    throw std::invalid_argument("map_expr: is empty, expected an expression");
  }
  if (is_empty(text.scan)) {
    throw std::invalid_argument("scan_expr: is empty, expected an expression");
  }
  s.post_map = text.post_map;
  if (is_empty(s.post_map)) {
    if (s.signature.outputs.size() != 1) {
      throw std::invalid_argument("post_map_expr: is empty, expected statements that assign the " +
                                  std::to_string(s.signature.outputs.size()) + " outputs");
    }
    s.post_map = s.signature.outputs.front().name + " = a";
  }
  if (text.exclusive && !text.identity) {
    throw std::invalid_argument(
        "identity: is missing, expected what stands before the first element of an exclusive scan");
  }
  s.name = std::move(name);
  s.text = std::move(text);
}

std::span<const expression_parameter> scan_kernel::inputs() const noexcept {
  return state_->signature.inputs;
}
std::span<const expression_parameter> scan_kernel::outputs() const noexcept {
  return state_->signature.outputs;
}
const std::string& scan_kernel::name() const noexcept { return state_->name; }
const scan_text& scan_kernel::text() const noexcept { return state_->text; }
std::vector<std::string> scan_kernel::sources() const { return state_->programs.sources(); }

array scan_kernel::operator()(sycl::queue& queue, std::initializer_list<operand> inputs,
                              std::optional<int> axis) const {
  if (outputs().size() != 1) {
    throw std::invalid_argument("outputs: '" + name() + "' has " +
                                std::to_string(outputs().size()) + "; call enqueue()");
  }
  expression_output out;
  enqueue(queue, std::span(inputs.begin(), inputs.size()), std::span(&out, 1), axis);
  return std::move(out.made);
}

sycl::event scan_kernel::enqueue(sycl::queue& queue, std::span<const operand> in,
                                 std::span<expression_output> outputs, std::optional<int> axis,
                                 std::span<const sycl::event> depends) const {
  const auto& s = *state_;
  detail::check_inputs(queue, s.signature, s.name, in);
  const extents shape = detail::shape_of_inputs(s.signature, in);
  const auto rank = static_cast<int>(shape.size());
  if (rank == 0 || (!axis && rank > 1)) {
    throw std::invalid_argument(rank == 0 ? "shape: () has no axis to scan along"
                                          : "axis: is needed for an input of " +
                                                std::to_string(rank) + " dimensions");
  }
  const int asked = axis.value_or(0);
  if (asked < -rank || asked >= rank) {
    throw std::invalid_argument("axis: " + std::to_string(asked) + " is out of range for " +
                                std::to_string(rank) + " dimensions");
  }
  const auto scanned = static_cast<std::size_t>(asked < 0 ? asked + rank : asked);

  scan_call call{queue, in, {}, {}, {}, {}};
  std::vector<std::int64_t> kept_lengths;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k == scanned) continue;
    kept_lengths.push_back(shape[k]);
    call.lines *= shape[k];
  }
  call.length = shape[scanned];

  call.types = detail::check_outputs(queue, s.signature, in, outputs, shape);

  const detail::output_places places(queue, in, call.types, shape, outputs, [&](const array& out) {
    return !is_in_place(out, in, s.signature.inputs);
  });
  call.out = places.get();
  if (call.lines * call.length == 0) {
    return queue.ext_oneapi_submit_barrier({depends.begin(), depends.end()});
  }

  std::vector<std::vector<std::int64_t>> kept_steps;
  const auto visit = [&](const array& a) {
    auto steps = detail::steps_over(shape, a);
    call.steps.push_back(steps[scanned]);
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(scanned));
    kept_steps.push_back(std::move(steps));
  };
  for (const auto* a : call.out) visit(*a);
  for (std::size_t j = 0; j < in.size(); ++j) {
    if (in[j].array() && !s.signature.inputs[j].raw) visit(*in[j].array());
  }
  const std::vector<std::span<const std::int64_t>> spans(kept_steps.begin(), kept_steps.end());
  call.kept = make_loops(kept_lengths, spans);

  return places.settle(queue, s.run(call, depends));
}

}  // namespace usmx
