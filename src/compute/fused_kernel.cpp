// Writes all that a value is made of, as far as it was not computed before, into the text of one
// kernel, which is found again by the form of the expression.
// SPDX-License-Identifier: Apache-2.0
#include "compute/fused_kernel.hpp"

#include <algorithm>
#include <new>
#include <string_view>

#include "compute/fused_rows.hpp"
#include "compute/waiting_reductions.hpp"
#include "core/aliasing.hpp"
#include "core/format.hpp"
#include "core/kept_order.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/loops.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {

std::size_t bytes_of(const value& v) noexcept {
  std::size_t count = 1;
  for (const std::int64_t length : v.shape()) count *= static_cast<std::size_t>(length);
  return count * v.dtype().itemsize();
}

fused_kernel::fused_kernel(std::vector<element_reduction>&& reductions)
    : fused_kernel(std::move(reductions), true, nullptr) {}

fused_kernel::fused_kernel(std::vector<element_reduction>&& reductions, bool counts,
                           kernel_plan* plan)
    : queue_(reductions.front().elements->queue_),
      shape_(reductions.front().elements->shape_),
      reductions_(std::move(reductions)),
      counts_(counts),
      plan_(plan) {
  for (const element_reduction& r : reductions_) place_of(*r.elements);
}

fused_kernel::fused_kernel(value& root, kernel_plan& plan)
    : queue_(root.queue_), shape_(root.shape_), stored_(&root), plan_(&plan) {
  place_of(root);
}

fused_kernel::~fused_kernel() {
  try {
    std::vector<source> used;
    for (array& a : arrays_) used.emplace_back(std::move(a));
    for (auto& [v, part] : in_place_) used.emplace_back(std::move(part));
    for (element_reduction& r : reductions_) used.emplace_back(std::move(r.elements));
    computing::drop(std::move(used));
  } catch (const std::bad_alloc&) {  // they end here
  }
}

void fused_kernel::describe() {
  planned_kernel made;
  made.text = form_.lines();
  made.shape = shape_;
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    const element_reduction& r = reductions_[k];
    made.text += format("reduce {}: {}{}\n", form_.name(*known_place(*r.elements)),
                        reductions_.size() > 1 ? format("r{} = ", k) : "", r.how.reduce);
    made.bytes_written += r.how.result.itemsize();
  }
  made.operations = static_cast<int>(places_.size());
  made.bytes_read = planned_bytes_;
  for (const array& a : arrays_) {
    // Elements that are repeated are read once.
    const any_view& v = a.elements();
    made.bytes_read +=
        std::min(v.nbytes(), static_cast<std::size_t>(v.last_byte() - v.first_byte()));
  }
  for (const auto& [v, where] : places_) {
    if (std::ranges::find(computed_, v) != computed_.end()) {
      made.bytes_written += bytes_of(*v);
    } else {
      made.bytes_saved += 2 * bytes_of(*v);
    }
  }
  plan_->kernels.push_back(std::move(made));
}

const fused_kernel::place* fused_kernel::known_place(const value& v) const noexcept {
  const auto found = std::ranges::find(places_, &v, &std::pair<value*, place>::first);
  return found == places_.end() ? nullptr : &found->second;
}

fused_kernel::place fused_kernel::place_of(value& v) {
  if (const place* known = known_place(v)) return *known;
  std::array<place, 3> from;
  const std::size_t count = v.sources_.size();
  for (std::size_t k = 0; k < count; ++k) {
    from[k] = place_of(v.sources_[k], v.types_.operands[k]);
  }
  const place made = form_.add_step(v.op_, v.types_, std::span(from).first(count));
  places_.emplace_back(&v, made);
  if (stored_ != nullptr && (&v == stored_ || v.seen_.load(std::memory_order_relaxed) > 0)) {
    form_.add_output(made);
    computed_.push_back(&v);
  }
  return made;
}

fused_kernel::place fused_kernel::place_of(const array& a) {
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].first < 0) continue;
    if (is_same(arrays_[static_cast<std::size_t>(operands_[k].first)].elements(), a.elements())) {
      return {place::kind::input, static_cast<std::uint32_t>(k)};
    }
  }
  operands_.emplace_back(static_cast<int>(arrays_.size()), operand(false));
  arrays_.push_back(a);
  return form_.add_input(a.elements().dtype(), true);
}

fused_kernel::place fused_kernel::place_of(const operand& number, const dtype& as) {
  const auto bytes = number.number_as(as);
  operands_.emplace_back(-1, operand(as, bytes.data()));
  return form_.add_input(as, false);
}

std::string fused_kernel::planned_name(value& v) {
  shared_value part, first;
  const bool is_part = v.is_view() && !(part = v.alone(first));
  value* const of = is_part ? v.base().get() : part ? part.get() : &v;
  const value* const key = part && !is_part ? &v : of;
  if (planned_.insert(key).second) planned_bytes_ += bytes_of(*of);
  const auto known = plan_->names.find(key);
  const std::string name = known != plan_->names.end() ? known->second : plan(*of, *plan_);
  plan_->names.try_emplace(key, name);
  return is_part ? name + "[...]" : name;
}

fused_kernel::place fused_kernel::planned_place(value& v) {
  return form_.add_named(planned_name(v), v.types_.result);
}

fused_kernel::place fused_kernel::place_of_view(value& v) {
  if (const auto known = in_place_.find(&v); known != in_place_.end()) {
    return place_of(*known->second);
  }
  shared_value first;
  shared_value part = v.alone(first);
  if (!part) {
    if (plan_ == nullptr) return place_of(v.get());
    return v.base()->is_computed() ? place_of(v.base()->get()) : planned_place(v);
  }
  return place_of(*in_place_.emplace(&v, std::move(part)).first->second);
}

fused_kernel::place fused_kernel::place_of(const source& s, const dtype& as) {
  if (const auto* number = std::get_if<operand>(&s)) return place_of(*number, as);
  if (const auto* a = std::get_if<array>(&s)) return place_of(*a);
  value& inner = *std::get<shared_value>(s);
  // Repeated for each element that it is broadcast to, it would be computed many times.
  if (inner.is_computed() || (plan_ == nullptr && !(inner.shape_ == shape_))) {
    return place_of(inner.get());
  }
  const bool is_before = inner.is_reduction() || (inner.is_counted() && !counts_);
  if (is_before || !(inner.shape_ == shape_)) return planned_place(inner);
  return inner.is_view() ? place_of_view(inner) : place_of(inner);
}

std::vector<operand> fused_kernel::operands() const {
  std::vector<operand> in;
  for (const auto& [number, what] : operands_) {
    in.push_back(number < 0 ? what : operand(arrays_[static_cast<std::size_t>(number)]));
  }
  return in;
}

/// Whether a kernel that reduces a value along axes learns from an operand how many elements there
/// are, and numbers them.
bool shows_all(const value& root, const reduction_axes& axes) {
  visited_values known;
  const auto has_all = [&](const auto& self, const value& v) -> bool {
    return std::ranges::any_of(v.sources(), [&](const source& s) {
      if (const auto* a = std::get_if<array>(&s)) {
        return a->elements().layout().shape() == root.shape();
      }
      const auto* const inner = std::get_if<shared_value>(&s);
      if (inner == nullptr) return false;
      if ((*inner)->is_computed() || (*inner)->is_view()) return (*inner)->shape() == root.shape();
      return known.is_new(**inner) && self(self, **inner);
    });
  };
  return (!axes.axes || !axes.axes->empty()) && has_all(has_all, root);
}

std::vector<array> fused_kernel::reduce(const reduction_axes& axes, const array* given) {
  static auto& known = *new known_kernels<reduction_kernel>;
  for (const element_reduction& r : reductions_) {
    form_.add_reduction(*known_place(*r.elements), r.how);
  }
  const reduction_kernel kernel = known.get(form_.key(), [&] {
    std::vector<expression_form::joined> joined;
    for (const element_reduction& r : reductions_) {
      joined.push_back({*known_place(*r.elements), &r.how});
    }
    return form_.reduction(joined, "usmx");
  });
  const std::vector<operand> in = operands();
  std::vector<expression_output> out(reductions_.size());
  out[0].given = given;
  {
    const only_reading inputs;
    kernel.submit(queue_, in, out, axes);
  }
  std::vector<array> made;
  for (expression_output& o : out) made.push_back(o.given ? *o.given : std::move(o.made));
  return made;
}

std::string fused_kernel::plan(value& v, kernel_plan& plan) {
  if (const auto name = fused_rows::plan(v, plan)) return *name;
  if (!v.is_reduction()) {
    fused_kernel(v, plan).describe();
    return format("k{}", plan.kernels.size() - 1);
  }
  std::vector<element_reduction> reductions;
  const auto together = waiting_reductions::with(v.shared_from_this());
  bool counts = true;
  for (const shared_value& r : together) {
    reductions.push_back({r->reduced_elements(), r->how()});
    counts = counts && shows_all(*reductions.back().elements, r->axes());
  }
  fused_kernel(std::move(reductions), counts, &plan).describe();
  for (std::size_t k = 0; k < together.size(); ++k) {
    const std::string kernel = format("k{}", plan.kernels.size() - 1);
    plan.names[together[k].get()] = together.size() == 1 ? kernel : format("{}.r{}", kernel, k);
  }
  return plan.names[&v];
}

const layout& fused_kernel::layout_of(const value& v) {
  if (const auto known = layouts_.find(&v); known != layouts_.end()) return known->second;
  std::vector<const layout*> operands;
  for (const source& s : v.sources_) {
    if (const auto* a = std::get_if<array>(&s)) {
      operands.push_back(&a->elements().layout());
    } else if (const auto* inner = std::get_if<shared_value>(&s)) {
      const auto part = in_place_.find(inner->get());
      value& from = part == in_place_.end() ? **inner : *part->second;
      operands.push_back(from.is_computed() ? &from.get().elements().layout() : &layout_of(from));
    }
  }
  // Steps count elements: they are valid for all types if they are for the widest.
  constexpr std::size_t itemsize = sizeof(std::complex<double>);
  return layouts_.emplace(&v, kept_layout(v.shape_, operands, itemsize)).first->second;
}

array fused_kernel::empty_for(const value& v) {
  return empty_in(queue_, layout_of(v), v.dtype(), v.kind());
}

void fused_kernel::run(const array* given) {
  static auto& known = *new known_kernels<elementwise_kernel>;
  const elementwise_kernel kernel =
      known.get(form_.key(), [&] { return form_.elementwise("usmx"); });
  const std::vector<operand> in = operands();
  std::vector<expression_output> out(computed_.size());
  std::vector<array> shaped;
  const bool are_in_order = std::ranges::all_of(
      arrays_, [](const array& a) { return a.elements().layout().is_c_contiguous(); });
  // The kernel would lay out all results as its operands lie, and not know the values on the way.
  if (form_.counts() || !are_in_order) {
    const std::size_t made = computed_.size() - (given != nullptr ? 1 : 0);
    for (const value* v : std::span(computed_).first(made)) shaped.push_back(empty_for(*v));
    for (std::size_t k = 0; k < made; ++k) out[k].given = &shaped[k];
  }
  if (given != nullptr) out.back().given = given;  // the root is written last
  {
    const only_reading inputs;
    kernel.submit(queue_, in, out);
  }
  if (given != nullptr) computed_.pop_back();
  for (std::size_t k = 0; k < computed_.size(); ++k) {
    computed_[k]->finish(std::move(shaped.empty() ? out[k].made : shaped[k]));
  }
  for (value* v : computed_) v->announce_users();
  // Last: what they are made of may end with them.
  for (value* v : computed_) computing::drop(std::exchange(v->sources_, {}));
}

shared_value fused_kernel::repeated_in(const value& v, const extents& shape, bool counts,
                                       visited_values& known) {
  for (const source& s : v.sources_) {
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr || (*inner)->is_computed()) continue;
    if ((*inner)->is_reduction() || !((*inner)->shape_ == shape)) return *inner;
    if (!counts && (*inner)->is_counted()) return *inner;
    if ((*inner)->is_view()) {
      shared_value first;
      if (!(*inner)->alone(first)) return first ? first : *inner;
      continue;
    }
    if (!known.is_new(**inner)) continue;
    if (shared_value found = repeated_in(**inner, shape, counts, known)) return found;
  }
  return nullptr;
}

shared_value fused_kernel::repeated_in(const value& root, bool counts) {
  visited_values known;
  return repeated_in(root, root.shape_, counts, known);
}

void fused_kernel::compute_repeated(value& root, bool counts) {
  while (const shared_value inner = repeated_in(root, counts)) inner->get();
}

void fused_kernel::compute_repeated(value& root, const reduction_axes& axes) {
  compute_repeated(root, shows_all(root, axes));
}

}  // namespace usmx::detail
