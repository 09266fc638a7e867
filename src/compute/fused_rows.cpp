// Finds out whether one kernel over rows can compute a value, and writes its text.
// SPDX-License-Identifier: Apache-2.0
#include "compute/fused_rows.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <ranges>

#include "core/aliasing.hpp"
#include "core/format.hpp"

namespace usmx::detail {
namespace {

/// The shape of what some reduction on the way joins; null if they were computed meanwhile.
const extents* joined_shape(const value& v) {
  if (v.is_reduction()) return &v.reduced_shape();
  for (const source& s : v.sources()) {
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr || (*inner)->is_computed()) continue;
    if ((*inner)->is_reduction() || (*inner)->has_reductions()) return joined_shape(**inner);
  }
  return nullptr;
}

}  // namespace

fused_rows::fused_rows(value& root) : root_(root) {
  const extents* const shape = joined_shape(root);
  if (shape == nullptr || shape->empty() || (*shape)[shape->size() - 1] < 2) return;
  shape_ = row_shape_ = *shape;
  row_shape_[shape_.size() - 1] = 1;
  if (!row_kernel::takes(root.queue_, whole())) return;
  if (!place_of(root)) return;
  const auto joins = [](const step& s) { return s.of->is_reduction(); };
  // A reduction alone is a kernel of its own, with others that wait.
  const auto joined = std::ranges::count_if(steps_, joins);
  fits_ = joined > (root.is_reduction() ? 1 : 0) && row_kernel::joins(root.queue_, joined);
  if (fits_) add_outputs();
}

fused_rows::~fused_rows() {
  try {
    std::vector<source> used;
    for (array& a : arrays_) used.emplace_back(std::move(a));
    computing::drop(std::move(used));
  } catch (const std::bad_alloc&) {  // they end here
  }
}

row_shape fused_rows::whole() const {
  const auto lengths = shape_.span();
  const auto outer = lengths.first(lengths.size() - 1);
  return {{outer.begin(), outer.end()}, lengths.back()};
}

bool fused_rows::in_rows(const place& p) const {
  return p.what == place::kind::input ? inputs_[p.number].in_rows : steps_[p.number].in_rows;
}

int fused_rows::level(const place& p) const {
  return p.what == place::kind::input ? 0 : steps_[p.number].level;
}

// --- what the kernel is made of -----------------------------------------------------------------

std::optional<fused_rows::place> fused_rows::place_of(value& v) {
  const auto known = std::ranges::find(steps_, &v, &step::of);
  if (known != steps_.end()) {
    return place{place::kind::step, static_cast<std::uint32_t>(known - steps_.begin())};
  }
  if (v.is_view() || v.is_counted() || steps_.size() >= 2 * most_operations) return {};
  std::array<place, 3> from;
  step made{&v, true, 0};
  for (std::size_t k = 0; k < v.sources_.size(); ++k) {
    const auto p = place_of(v.sources_[k], v.types_.operands[k]);
    if (!p) return {};
    from[k] = *p;
    made.in_rows = made.in_rows && in_rows(*p);
    made.level = std::max(made.level, level(*p));
  }
  if (v.is_reduction()) {
    const std::vector<int>& axes = *v.axes().axes;
    const bool is_last = axes.size() == 1 && axes[0] == static_cast<int>(shape_.size()) - 1;
    if (!is_last || !(v.reduced_shape() == shape_) || in_rows(from[0])) return {};
    if (!v.axes().keep && &v != &root_) return {};
    made.in_rows = true;
    made.elements = from[0];
    stages_ = std::max(stages_, ++made.level);
  } else if (made.in_rows ? !(v.shape_ == row_shape_) : !(v.shape_ == shape_)) {
    return {};
  }
  const place p = form_.add_step(v.op_, v.types_, std::span(from).first(v.sources_.size()));
  if (v.is_reduction()) form_.add_reduction(from[0], v.how());
  steps_.push_back(made);
  return p;
}

std::optional<fused_rows::place> fused_rows::place_of(const source& s, const dtype& as) {
  if (const auto* number = std::get_if<operand>(&s)) {
    if (inputs_.size() >= most_operands) return {};
    const auto bytes = number->number_as(as);
    inputs_.push_back({-1, operand(as, bytes.data()), true});
    return form_.add_input(as, false);
  }
  if (const auto* a = std::get_if<array>(&s)) return place_of(*a);
  value& inner = *std::get<shared_value>(s);
  if (!inner.is_computed()) return place_of(inner);
  // An error of an operand is one of the line that needs it.
  if (inner.failure_) return {};
  return place_of(inner.get());
}

std::optional<fused_rows::place> fused_rows::place_of(const array& a) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (inputs_[k].array < 0) continue;
    if (is_same(arrays_[static_cast<std::size_t>(inputs_[k].array)].elements(), a.elements())) {
      return place{place::kind::input, static_cast<std::uint32_t>(k)};
    }
  }
  const layout& l = a.elements().layout();
  const std::size_t rank = l.shape().size();
  const std::int64_t inner = rank == 0 ? 1 : l.shape()[rank - 1];
  const bool is_whole = l.shape() == shape_ && l.is_c_contiguous();
  // The same elements for each row.
  const bool is_one_row = rank > 0 && rank <= shape_.size() && inner == a.elements().size() &&
                          inner == shape_[shape_.size() - 1] && l.is_c_contiguous();
  const bool is_of_rows = inner == 1 && rank <= shape_.size();
  if (inputs_.size() >= most_operands || (!is_whole && !is_one_row && !is_of_rows)) return {};
  inputs_.push_back({static_cast<int>(arrays_.size()), operand(false), is_of_rows});
  arrays_.push_back(a);
  const place p = form_.add_input(a.elements().dtype(), true);
  form_.add_letter(is_of_rows ? 'r' : 'e');
  return p;
}

/// What something shows is stored too, and a reduction that is used elsewhere: it is small, and
/// costs a pass over all elements.
void fused_rows::add_outputs() {
  const auto is_used_elsewhere = [](const value& v) {
    return std::ranges::count_if(v.made_of_this_, [](const auto& user) {
             const auto u = user.lock();
             return u && !u->is_computed();
           }) > 1;
  };
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const value& v = *steps_[k].of;
    if (&v == &root_ || v.seen_.load(std::memory_order_relaxed) > 0 ||
        (v.is_reduction() && is_used_elsewhere(v))) {
      form_.add_output({place::kind::step, static_cast<std::uint32_t>(k)});
      outputs_.push_back(k);
    }
  }
}

// --- its text -----------------------------------------------------------------------------------

std::string fused_rows::known_variables(int level) const {
  std::string all;
  const auto add = [&](const std::string& name) {
    all += format("    [[maybe_unused]] const auto {0} = _at.{0};\n", name);
  };
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (inputs_[k].in_rows) add(format("x{}", k));
  }
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (steps_[k].in_rows && steps_[k].level <= level) add(format("v{}", k));
  }
  return all;
}

std::string fused_rows::lines_for(std::vector<bool>&& needed, int level) const {
  std::string all;
  for (std::size_t k = steps_.size(); k-- > 0;) {
    if (!needed[k] || steps_[k].in_rows) continue;
    const auto& s = form_.at(k);
    for (const place& p : std::span(s.from).first(s.count)) {
      if (p.what == place::kind::step) needed[p.number] = true;
    }
    all = "    " + form_.line(k) + all;
  }
  return known_variables(level) + all;
}

std::vector<bool> fused_rows::needed_by(int stage) const {
  std::vector<bool> needed(steps_.size());
  if (stage == stages_) {
    for (const std::size_t k : outputs_) needed[k] = !steps_[k].in_rows;
    return needed;
  }
  for (const step& s : steps_) {
    const bool joins = s.of->is_reduction() && s.level == stage + 1;
    if (joins && s.elements.what == place::kind::step) needed[s.elements.number] = true;
  }
  return needed;
}

fused_rows::needs fused_rows::all_needs() const {
  constexpr auto never = std::numeric_limits<std::size_t>::max();
  needs all{{}, {}, std::vector<bool>(steps_.size()), {}};
  all.inputs.resize(inputs_.size(), {never, 0});
  std::vector<bool> known(steps_.size());
  for (int number = 0; number <= stages_; ++number) {
    const auto at = static_cast<std::size_t>(number);
    const auto use = [&](const place& p) {
      if (p.what != place::kind::input || inputs_[p.number].in_rows) return;
      auto& [first, last] = all.inputs[p.number];
      first = std::min(first, at);
      last = at;
    };
    for (const step& s : steps_) {
      if (s.of->is_reduction() && s.level == number + 1) use(s.elements);
    }
    std::vector<bool> needed = needed_by(number), computed(steps_.size()), taken(steps_.size());
    for (std::size_t k = steps_.size(); k-- > 0;) {
      if (!needed[k] || steps_[k].in_rows) continue;
      if (known[k]) {
        taken[k] = all.kept[k] = true;
        continue;
      }
      computed[k] = known[k] = true;
      const auto& s = form_.at(k);
      for (const place& p : std::span(s.from).first(s.count)) {
        use(p);
        if (p.what == place::kind::step) needed[p.number] = true;
      }
    }
    all.computed.push_back(std::move(computed));
    all.taken.push_back(std::move(taken));
  }
  return all;
}

std::string fused_rows::lines_in_hand(const needs& all, std::size_t stage) const {
  std::string lines = known_variables(static_cast<int>(stage));
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (all.taken[stage][k]) lines += format("    const auto v{0} = _v{0}[_k];\n", k);
    if (!all.computed[stage][k]) continue;
    lines += "    " + form_.line(k);
    if (all.kept[k]) lines += format("    _v{0}[_k] = v{0};\n", k);
  }
  return lines;
}

row_text::stage fused_rows::stage(int number, std::string& preamble) const {
  row_text::stage made;
  made.value_type = format("joined{}", number);
  std::string members, values, both;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const step& s = steps_[k];
    if (!s.of->is_reduction() || s.level != number + 1) continue;
    const value_reduction& how = s.of->how();
    const std::string type = joined_type(how);
    preamble += functions_of(how, k);
    const char* const comma = members.empty() ? "" : ", ";
    members += format("  {} r{};\n", type, k);
    // Four numbers have the most that one is made of: moments.hpp, product.hpp.
    made.value_bytes += (how.reduce_type.empty() ? 1 : 4) * how.value.itemsize();
    values += format("{}map{}({})", comma, k, form_.converted(s.elements, how.value));
    both += format("{0}join{1}(a.r{1}, b.r{1})", comma, k);
    made.declared += format("  local<{}[_slots]> _kept{};\n", device_name(how.result), k);
    made.stores += format("    _kept{0}[_slot] = end{0}(a.r{0}, n);\n", k);
  }
  preamble += format("struct {} {{\n{}}};\n", made.value_type, members);
  made.lines = lines_for(needed_by(number), number);
  made.value = format("{}{{{}}}", made.value_type, values);
  made.join = format("{}{{{}}}", made.value_type, both);
  return made;
}

row_text fused_rows::text() const {
  row_text made;
  made.preamble = expression_form::prologue;
  for (int k = 0; k < stages_; ++k) made.stages.push_back(stage(k, made.preamble));
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (!steps_[k].in_rows) continue;
    made.members += format("    {} v{};\n", device_name(steps_[k].of->dtype()), k);
  }
  for (int level = 0; level <= stages_; ++level) {
    std::string lines;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k].in_rows) {
        lines += format("    [[maybe_unused]] const auto x{0} = _at.x{0};\n", k);
      }
    }
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (!steps_[k].in_rows || steps_[k].level > level) continue;
      lines += steps_[k].of->is_reduction() ? format("    const auto v{0} = _kept{0}[_slot];\n", k)
                                            : "    " + form_.line(k);
      lines += format("    _at.v{0} = v{0};\n", k);
    }
    made.known.push_back(std::move(lines));
  }
  std::string stores;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::size_t k = outputs_[o];
    if (steps_[k].in_rows) {
      made.row_lines += format("    o{} = v{};\n", o, k);
    } else {
      stores += format("    o{} = v{};\n", o, k);
    }
  }
  made.lines = lines_for(needed_by(stages_), stages_) + stores;
  needs all = all_needs();
  for (std::size_t k = 0; k < made.stages.size(); ++k) {
    made.stages[k].lines_in_hand = lines_in_hand(all, k);
  }
  made.lines_in_hand = lines_in_hand(all, made.stages.size()) + stores;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (!all.kept[k]) continue;
    const auto is_in = [k](const std::vector<bool>& stage) { return stage[k]; };
    const auto first = std::ranges::find_if(all.computed, is_in) - all.computed.begin();
    const auto after = std::ranges::find_if(all.taken | std::views::reverse, is_in);
    const auto last = std::ranges::distance(after, (all.taken | std::views::reverse).end()) - 1;
    made.kept.push_back({steps_[k].of->dtype(), format("v{}", k), static_cast<std::size_t>(first),
                         static_cast<std::size_t>(last)});
  }
  made.used = std::move(all.inputs);
  if (!made.row_lines.empty()) made.row_lines = known_variables(stages_) + made.row_lines;
  return made;
}

// --- what is done with it -----------------------------------------------------------------------

void fused_rows::run() {
  static auto& known = *new known_kernels<row_kernel>;
  const row_kernel kernel = known.get(form_.key(), [&] {
    std::vector<bool> in, out;
    for (const input& i : inputs_) in.push_back(i.in_rows);
    for (const std::size_t k : outputs_) out.push_back(steps_[k].in_rows);
    return row_kernel(form_.inputs(), form_.outputs(), std::move(in), std::move(out), text(),
                      "usmx");
  });
  std::vector<operand> in;
  for (const input& i : inputs_) {
    in.push_back(i.array < 0 ? i.number : operand(arrays_[static_cast<std::size_t>(i.array)]));
  }
  std::vector<array> out;
  for (const std::size_t k : outputs_) {
    const value& v = *steps_[k].of;
    out.push_back(array::empty(root_.queue_, v.shape_.span(), v.dtype(), v.kind_));
  }
  {
    const only_reading inputs;
    kernel.submit(root_.queue_, in, out, whole());
  }
  std::vector<value*> computed;
  for (const std::size_t k : outputs_) computed.push_back(steps_[k].of);
  for (std::size_t o = 0; o < out.size(); ++o) computed[o]->finish(std::move(out[o]));
  for (value* v : computed) v->announce_users();
  // Last: what they are made of may end with them.
  for (value* v : computed) computing::drop(std::exchange(v->sources_, {}));
}

bool fused_rows::compute(value& root) {
  if (!root.has_reductions()) return false;
  fused_rows rows(root);
  if (!rows.fits_) return false;
  rows.run();
  return true;
}

planned_kernel fused_rows::describe() const {
  planned_kernel made;
  made.shape = shape_;
  made.operations = static_cast<int>(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const step& s = steps_[k];
    made.text += s.of->is_reduction() ? format("reduce {}: v{} = {}\n", form_.name(s.elements), k,
                                               s.of->how().reduce)
                                      : form_.line(k);
    if (std::ranges::find(outputs_, k) != outputs_.end()) {
      made.bytes_written += bytes_of(*s.of);
    } else {
      made.bytes_saved += 2 * bytes_of(*s.of);
    }
  }
  for (const array& a : arrays_) {
    // Elements that are repeated are read once.
    const any_view& v = a.elements();
    made.bytes_read +=
        std::min(v.nbytes(), static_cast<std::size_t>(v.last_byte() - v.first_byte()));
  }
  return made;
}

std::optional<std::string> fused_rows::plan(value& root, kernel_plan& plan) {
  if (!root.has_reductions()) return {};
  const fused_rows rows(root);
  if (!rows.fits_) return {};
  plan.kernels.push_back(rows.describe());
  return plan.names[&root] = format("k{}", plan.kernels.size() - 1);
}

}  // namespace usmx::detail
