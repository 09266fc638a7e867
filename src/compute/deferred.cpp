// Values that are computed when they are needed: when that is, and what is deferred.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/fused_kernel.hpp"
#include "compute/fused_rows.hpp"
#include "compute/named_reductions.hpp"
#include "compute/operations.hpp"
#include "compute/small_arrays.hpp"
#include "compute/value.hpp"
#include "compute/waiting_reductions.hpp"
#include "core/aliasing.hpp"
#include "core/format.hpp"
#include "kernel/kernel_state.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"
#include "usmx/detail/driver_gate.hpp"
#include "usmx/memory.hpp"
#include "usmx/operations.hpp"
#include "usmx/placement.hpp"
#include "usmx/reduction.hpp"

namespace usmx {
namespace detail {
namespace {

/// Counts what sources have in common once, as the text of a kernel has it once.
struct exact_count {
  visited_values values;
  std::vector<const array*> arrays = {};
  kernel_size size = {};

  exact_count() { arrays.reserve(most_operands); }

  void add(const source& s) {
    if (const auto* v = std::get_if<shared_value>(&s)) return add(**v);
    if (const auto* a = std::get_if<array>(&s)) return add(*a);
    ++size.operands;
  }
  void add(value& v) {
    if (!values.is_new(v)) return;
    if (v.is_computed()) return add(v.get());
    ++size.operations;
    for (const source& s : v.sources()) {
      if (!size.fits()) return;
      add(s);
    }
  }
  void add(const array& a) {
    const bool is_known = std::ranges::any_of(
        arrays, [&](const array* b) { return is_same(a.elements(), b->elements()); });
    if (is_known) return;
    arrays.push_back(&a);
    ++size.operands;
  }
};

}  // namespace

kernel_size kernel_size::of(std::span<const source> sources) {
  kernel_size sum;
  for (const source& s : sources) {
    const auto* v = std::get_if<shared_value>(&s);
    if (v == nullptr || (*v)->is_computed()) {
      ++sum.operands;
    } else {
      sum.operations += (*v)->size().operations;
      sum.operands += (*v)->size().operands;
    }
  }
  if (sum.fits()) return sum;
  const computing lock;
  exact_count exact;
  for (const source& s : sources) exact.add(s);
  return exact.size;
}

void value::compute_now() noexcept {
  if (is_computed()) return;
  // Before the lock, as everywhere: a fork waits for threads in the driver.
  const detail::driver_entry inside(std::nothrow);
  const computing lock;
  if (is_computed()) return;
  try {
    const shared_value keep = shared_from_this();
    if (is_view()) return compute_view();
    if (fused_rows::compute(*this)) return;
    if (is_reduction()) return compute_reduction();
    fused_kernel::compute_repeated(*this);
    if (!is_computed()) fused_kernel(*this).run();
  } catch (...) {
    failure_ = std::current_exception();
    computing::drop(std::exchange(sources_, {}));
    computed_.store(true, std::memory_order_release);
  }
}

void value::finish(array&& result) noexcept {
  result_ = std::move(result);
  computed_.store(true, std::memory_order_release);
}

void value::announce_users() {
  const auto users = std::exchange(made_of_this_, {});
  const shared_owner& owner = result_.keep_alive();
  if (!owner) return;
  for (const auto& user : users) {
    if (const auto v = user.lock(); v && !v->is_computed()) owner->used_later(user);
  }
}

bool value::is_shared() {
  const computing lock;
  if (is_computed() || is_view()) return true;
  return std::ranges::any_of(made_of_this_, [](const auto& user) {
    const auto v = user.lock();
    return v && v->is_view();
  });
}

bool value::is_only_base() const {
  if (seen_.load(std::memory_order_relaxed) > 0) return false;
  int views = 0;
  for (const auto& user : made_of_this_) {
    const auto v = user.lock();
    views += v && v->is_view() && !v->is_computed() ? 1 : 0;
  }
  return views <= 1;
}

shared_value value::alone(shared_value& first) const {
  if (base()->is_computed() || base()->is_reduction() || base()->is_counted() ||
      !base()->is_only_base()) {
    return nullptr;
  }
  parts known;
  return base()->seen_through(steps_, shape_, first, known);
}

shared_value value::seen_through(std::span<const view_step> steps, const extents& shape,
                                 shared_value& first, parts& known) const {
  if (const auto found = known.of.find(this); found != known.of.end()) return found->second;
  std::vector<source> sources;
  const auto add = [&](const array& a) {
    layout repeated;
    if (!a.elements().layout().broadcast(shape_, repeated)) return false;  // too many bytes
    const any_view all = a.elements().with_layout(std::move(repeated), 0);
    sources.emplace_back(a.with_view(stepped(all, steps)));
    return true;
  };
  for (const source& s : sources_) {
    if (const auto* a = std::get_if<array>(&s)) {
      if (!add(*a)) return nullptr;
      continue;
    }
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr) {
      sources.push_back(s);
    } else if ((*inner)->is_computed()) {
      if (!add((*inner)->get())) return nullptr;
    } else if ((*inner)->is_reduction() || (*inner)->is_counted() ||
               !((*inner)->shape_ == shape_) ||
               (*inner)->seen_.load(std::memory_order_relaxed) > 0) {
      first = *inner;
      return nullptr;
    } else {
      shared_value whole = *inner;
      if (whole->is_view()) {
        whole = (*inner)->alone(first);
        if (!whole) {
          if (!first) first = *inner;
          return nullptr;
        }
        known.kept.push_back(whole);
      }
      shared_value part = whole->seen_through(steps, shape, first, known);
      if (!part) return nullptr;
      sources.emplace_back(std::move(part));
    }
  }
  auto made =
      std::make_shared<value>(queue_, op_, types_, std::move(sources), extents(shape), kind_);
  known.of.emplace(this, made);
  return made;
}

shared_deferred value::view_of(shared_value base, std::vector<view_step>&& steps, extents&& shape) {
  if (base->is_view()) {  // views of views share what the first one is of
    steps.insert(steps.begin(), base->steps_.begin(), base->steps_.end());
    base = shared_value(base->base());
  }
  const operation_types types = base->types_;
  const sycl::queue queue = base->queue_;
  const usm_kind kind = base->kind_;
  std::vector<source> sources;
  sources.emplace_back(std::move(base));
  const auto made =
      std::make_shared<value>(queue, view_row, types, std::move(sources), std::move(shape), kind);
  made->steps_ = std::move(steps);
  made->announce();
  return made;
}

void value::compute_view() {
  std::optional<array> elements;
  const shared_value whole = base();
  while (!elements && !whole->is_computed()) {
    shared_value first;
    if (const shared_value part = alone(first)) {
      elements = part->get();
    } else if (first) {
      first->get();
    } else {
      break;
    }
  }
  if (!elements) {
    const array& a = whole->get();
    elements = a.with_view(stepped(a.elements(), steps_));
  }
  finish(*std::move(elements));
  announce_users();
  computing::drop(std::exchange(sources_, {}));
}

void value::compute() noexcept {
  if (is_computed()) return;
  const detail::driver_entry inside(std::nothrow);
  const computing lock;
  std::vector<shared_value> known;
  compute(known);
}

void value::compute(std::vector<shared_value>& known) noexcept {
  if (is_computed()) return;
  if (seen_.load(std::memory_order_relaxed) > 0) return compute_now();
  // Not needed itself, only by what is made of it; that may be made of it in several ways.
  if (std::ranges::find(known, this, &shared_value::get) != known.end()) return;
  std::vector<std::weak_ptr<value>> users;
  try {
    known.push_back(shared_from_this());
    users = made_of_this_;
  } catch (const std::bad_alloc&) {
    return compute_now();  // needs more memory, and what is made of it reads the result then
  }
  for (const auto& user : users) {
    if (const auto v = user.lock()) v->compute(known);
  }
}

bool value::announce() {
  const detail::driver_entry inside;
  const computing lock;
  bool may_change = false;
  const auto announce_to = [&](const array& a) {
    const shared_owner& owner = a.keep_alive();
    if (!owner) return;
    owner->used_later(weak_from_this());
    may_change |= owner->is_exposed();
  };
  for (const source& s : sources_) {
    if (const auto* a = std::get_if<array>(&s)) {
      announce_to(*a);
    } else if (const auto* v = std::get_if<shared_value>(&s)) {
      if ((*v)->is_computed()) {
        announce_to((*v)->get());
        continue;
      }
      auto& users = (*v)->made_of_this_;
      if (users.size() == users.capacity()) {
        std::erase_if(users, [](const auto& user) { return user.expired(); });
      }
      users.push_back(weak_from_this());
    }
  }
  return may_change;
}

}  // namespace detail

namespace {

using detail::cast_row;
using detail::computing;
using detail::format;
using detail::fused_kernel;
using detail::shared_value;
using detail::source;
using detail::value;
using detail::visited_values;

/// Others may write to this memory without our knowing.
bool may_change(const array& a) noexcept {
  return a.elements().size() > 0 && (!a.keep_alive() || a.keep_alive()->is_exposed());
}

dtype type_of(const deferred_operand& o) {
  if (const auto* v = std::get_if<shared_deferred>(&o)) return (*v)->dtype();
  return std::get<operand>(o).type();
}

/// Whether a value that was not computed is made of memory. It then has to be before that changes.
bool reads(const value& v, const void* memory, visited_values& known) {
  return std::ranges::any_of(v.sources(), [&](const source& s) {
    const auto is_there = [&](const array& a) {
      return !a.keep_alive() || a.keep_alive().get() == memory;
    };
    if (const auto* a = std::get_if<array>(&s)) return is_there(*a);
    const auto* const inner = std::get_if<shared_value>(&s);
    if (inner == nullptr) return false;
    if ((*inner)->is_computed()) return is_there((*inner)->get());
    return known.is_new(**inner) && reads(**inner, memory, known);
  });
}

/// Values that are not kept when what is made of them is computed, for a while.
class not_kept {
 public:
  not_kept(std::span<const shared_deferred> passing, const array& out) {
    for (const shared_deferred& one : passing) {
      auto& v = static_cast<value&>(*one);
      if (v.is_computed() || v.is_view() || v.is_reduction()) continue;
      visited_values known;
      if (!out.keep_alive() || reads(v, out.keep_alive().get(), known)) continue;
      values_.push_back(one);
    }
    // Nothing can fail any more: `reads` throws what a part of a value failed with.
    for (const shared_deferred& one : values_) one->seen(false);
  }
  ~not_kept() {
    for (const shared_deferred& one : values_) one->seen(true);
  }
  not_kept(const not_kept&) = delete;
  not_kept& operator=(const not_kept&) = delete;

 private:
  std::vector<shared_deferred> values_;
};

/// Computes the source that has most operations, if there is one to compute.
bool compute_largest(std::vector<source>& sources) {
  source* largest = nullptr;
  int most = 0;
  for (source& s : sources) {
    const auto* v = std::get_if<shared_value>(&s);
    if (v == nullptr || (*v)->size().operations <= most) continue;
    largest = &s;
    most = (*v)->size().operations;
  }
  if (largest == nullptr) return false;
  const auto v = std::get<shared_value>(*largest);
  *largest = v->get();
  return true;
}

/// A few elements that the host can reach, with nothing pending on them.
std::optional<array> computed_at_once(const sycl::queue& queue, const operation& op,
                                      const operation_types& types, std::span<const source> sources,
                                      const extents& shape, usm_kind kind) {
  std::array<detail::small_operand, 3> operands;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    operands[k] = {std::get_if<array>(&sources[k]), std::get_if<operand>(&sources[k])};
    if (operands[k].elements == nullptr && operands[k].number == nullptr) return {};
  }
  return detail::operate_small(queue, op, types, std::span(operands).first(sources.size()), shape,
                               kind);
}

std::shared_ptr<value> compose(const sycl::queue& queue, const operation& op,
                               const operation_types& types,
                               std::span<const deferred_operand> operands) {
  std::vector<source> sources;
  std::vector<const extents*> shapes;
  sources.reserve(operands.size());
  for (const deferred_operand& o : operands) {
    if (const auto* plain = std::get_if<operand>(&o)) {
      if (plain->array()) {
        sources.emplace_back(*plain->array());
      } else {
        sources.emplace_back(*plain);
      }
      continue;
    }
    auto v = std::static_pointer_cast<value>(std::get<shared_deferred>(o));
    if (v->is_computed() || v->queue() != queue) {
      sources.emplace_back(v->get());
    } else {
      sources.emplace_back(std::move(v));
    }
  }
  auto size = detail::kernel_size::of(sources);
  while (!size.fits() && compute_largest(sources)) size = detail::kernel_size::of(sources);
  joint_kind kinds;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (auto* a = std::get_if<array>(&sources[k])) {
      if (!can_use(queue, *a)) {
        refuse_placement(format("operand {} of {}", k + 1, op.name), *a, queue);
      }
      shapes.push_back(&a->elements().layout().shape());
      kinds.add(*a);
    } else if (auto* v = std::get_if<shared_value>(&sources[k])) {
      shapes.push_back(&(*v)->shape());
      kinds.add((*v)->kind(), static_cast<int>((*v)->shape().size()));
    } else {
      // What does not fit is an error of this line, not of the one that looks at the result.
      const auto& number = std::get<operand>(sources[k]);
      const auto bytes = number.number_as(types.operands[k]);
      sources[k] = operand(types.operands[k], bytes.data());
    }
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    detail::require_type(queue.get_device(), types.operands[k]);
  }
  const usm_kind kind = kinds.result(queue);
  extents shape = broadcast_shape(shapes);
  if (auto few = computed_at_once(queue, op, types, sources, shape, kind)) {
    return std::make_shared<value>(*std::move(few), types, std::move(shape));
  }
  return std::make_shared<value>(queue, op, types, std::move(sources), std::move(shape), kind,
                                 size);
}

/// What it is made of may change without our knowing.
bool is_changeable(const value& v) {
  return std::ranges::any_of(v.sources(), [](const source& s) {
    const auto* a = std::get_if<array>(&s);
    return a != nullptr && may_change(*a);
  });
}

/// Of a value that was just made, and that nothing else knows.
void settle(value& v) {
  if (v.is_computed()) return;
  if (!is_eager() && !is_changeable(v) && !v.announce()) return;
  // Others may need the lock of the language before they end.
  detail::unlocked([&] { v.get(); });
}

shared_deferred make(const sycl::queue& queue, const operation& op, const operation_types& types,
                     std::span<const deferred_operand> operands) {
  const auto made = compose(queue, op, types, operands);
  settle(*made);
  return made;
}

}  // namespace

namespace detail {
namespace {
std::atomic<void (*)(std::recursive_mutex&)> how_to_wait{nullptr};
}  // namespace

void set_wait_for_lock(void (*wait)(std::recursive_mutex&)) noexcept { how_to_wait.store(wait); }

void wait_for_lock(std::recursive_mutex& mutex) {
  if (const auto wait_for = how_to_wait.load()) {
    wait_for(mutex);
  } else {
    mutex.lock();
  }
}
}  // namespace detail

shared_deferred apply(const sycl::queue& queue, const operation& op,
                      std::span<const deferred_operand> operands) {
  shared_deferred made = compose(queue, op, operands);
  settle(made);
  return made;
}

void settle(const shared_deferred& what) { settle(static_cast<value&>(*what)); }

shared_deferred compose(const sycl::queue& queue, const operation& op,
                        std::span<const deferred_operand> operands) {
  if (operands.size() != static_cast<std::size_t>(op.arity)) {
    throw std::invalid_argument(
        format("{} takes {} operands, got {}", op.name, op.arity, operands.size()));
  }
  if (operands.size() == 2) {
    for (const std::size_t k : {0, 1}) {
      const auto* number = std::get_if<operand>(&operands[k]);
      if (number == nullptr || number->array()) continue;
      const auto exact = detail::exact_number(op, *number, type_of(operands[1 - k]));
      if (!exact) continue;
      std::array<deferred_operand, 2> both = {operands[0], operands[1]};
      both[k] = *exact;
      return compose(queue, op, both);
    }
  }
  std::array<operand_type, 3> types;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (const auto* v = std::get_if<shared_deferred>(&operands[k])) {
      types[k] = {(*v)->dtype(), false};
    } else {
      const auto& o = std::get<operand>(operands[k]);
      types[k] = {o.type(), o.weak()};
    }
  }
  const auto given = std::span<const operand_type>(types).first(operands.size());
  return compose(queue, op, detail::types_of(op, given), operands);
}

namespace {
void store_unlocked(value& v, const shared_deferred& what, const array& out,
                    std::span<const shared_deferred> passing);
}  // namespace

void store(const shared_deferred& what, const array& out,
           std::span<const shared_deferred> passing) {
  auto& v = static_cast<value&>(*what);
  if (!(v.shape() == out.elements().layout().shape())) {
    throw std::invalid_argument(format("out: has shape {}, expected {}",
                                       detail::shape_text(out.elements().layout().shape().span()),
                                       detail::shape_text(v.shape().span())));
  }
  if (out.keep_alive() && out.keep_alive()->is_exposed()) {
    // Commands of others may need the lock of the language before they end.
    return detail::unlocked([&] { store_unlocked(v, what, out, passing); });
  }
  store_unlocked(v, what, out, passing);
}

namespace {

void store_unlocked(value& v, const shared_deferred& what, const array& out,
                    std::span<const shared_deferred> passing) {
  const detail::driver_entry inside;
  const computing lock;
  // Parts of a value that passes are computed as without `out`: some kernels give all of them.
  const bool is_in_parts =
      std::ranges::find(passing, what) != passing.end() && fused_kernel::has_repeated(v);
  if (!v.is_computed() && !v.is_view() && !v.is_reduction() && !is_in_parts) {
    const not_kept gone(passing, out);
    if (const shared_owner& owner = out.keep_alive()) owner->submit_deferred();
    if (!v.is_computed()) {
      fused_kernel::compute_repeated(v);
      fused_kernel(v).run(&out);
      return;
    }
  }
  copy_async(v.queue(), out, v.get());
}

}  // namespace

std::vector<planned_kernel> explain(const shared_deferred& what) {
  detail::kernel_plan plan;
  const detail::driver_entry inside;
  const computing lock;
  auto& v = static_cast<value&>(*what);
  if (v.is_computed()) return std::move(plan.kernels);
  if (!v.is_view()) {
    fused_kernel::plan(v, plan);
    return std::move(plan.kernels);
  }
  shared_value first;
  if (const shared_value part = v.alone(first)) {
    fused_kernel::plan(*part, plan);
  } else if (!v.base()->is_computed()) {
    fused_kernel::plan(*v.base(), plan);
  }
  return std::move(plan.kernels);
}

namespace {

/// Of the thread: two that switch it on and back would leave it on for each other.
bool& eager() noexcept {
  static const bool in_process = [] {
    const char* const asked = std::getenv("USMX_EAGER");
    return asked != nullptr && std::string_view(asked) == "1";
  }();
  thread_local bool flag = in_process;
  return flag;
}

}  // namespace

bool is_eager() noexcept { return eager(); }
void set_eager(bool is_eager_now) noexcept { eager() = is_eager_now; }

namespace {

/// What a reduction is of.
source elements_of(const sycl::queue& queue, const deferred_operand& what,
                   const value_reduction& how) {
  detail::require_type(queue.get_device(), how.value);
  detail::require_type(queue.get_device(), how.result);
  if (const auto* plain = std::get_if<operand>(&what)) {
    detail::require_type(queue.get_device(), plain->type());
    return *plain->array();
  }
  auto v = std::static_pointer_cast<value>(std::get<shared_deferred>(what));
  if (v->queue() != queue || v->size().operations >= detail::most_operations) v->get();
  if (v->is_computed()) return v->get();
  return v;
}
usm_kind kind_of(const source& s) {
  if (const auto* v = std::get_if<shared_value>(&s)) return (*v)->kind();
  return std::get<array>(s).kind();
}

}  // namespace

shared_deferred reduce(const sycl::queue& queue, const deferred_operand& what,
                       const value_reduction& how, const reduction_axes& axes) {
  const detail::driver_entry inside;
  const computing lock;
  source of = elements_of(queue, what, how);
  const auto* a = std::get_if<array>(&of);
  const extents& shape = detail::shape_of(of);
  reduction_axes listed;
  listed.axes = reduced_axes(axes, shape.size());
  listed.keep = axes.keep;
  const bool is_empty = std::ranges::any_of(
      *listed.axes, [&](int axis) { return shape[static_cast<std::size_t>(axis)] == 0; });
  if (is_empty && !how.identity) {
    throw std::invalid_argument(format(
        "shape: {} has no elements along the reduced axes, and the reduction has no identity",
        detail::shape_text(shape.span())));
  }
  const usm_kind kind = kind_of(of);
  if (a != nullptr) {
    if (auto few = detail::reduce_small(queue, *a, how, listed, kind)) {
      extents result = few->elements().layout().shape();
      return std::make_shared<value>(*std::move(few), operation_types{{}, how.result},
                                     std::move(result));
    }
  }
  const auto ranged = detail::product_in_range(how);
  shared_value made =
      value::reduction_of(queue, std::move(of), ranged ? *ranged : how, listed, kind);
  settle(*made);
  if (!made->is_computed()) detail::waiting_reductions::add(made);
  return made;
}

void reduce(const sycl::queue& queue, const deferred_operand& what, const value_reduction& asked,
            const reduction_axes& axes, const array& out) {
  const auto ranged = detail::product_in_range(asked);
  const value_reduction& how = ranged ? *ranged : asked;
  const detail::driver_entry inside;
  const computing lock;
  source of = elements_of(queue, what, how);
  const usm_kind kind = kind_of(of);
  if (const auto* v = std::get_if<shared_value>(&of); v && (*v)->is_reduced()) (*v)->get();
  const shared_value elements =
      value::reduction_of(queue, std::move(of), how, axes, kind)->reduced_elements();
  if (out.keep_alive()) out.keep_alive()->submit_deferred();
  fused_kernel::compute_repeated(*elements, axes);
  fused_kernel({{elements, how}}).reduce(axes, &out);
}

namespace {

layout stepped(layout where, std::span<const view_step> steps, std::int64_t& shift) {
  for (const view_step& s : steps) {
    std::int64_t by = 0;
    switch (s.what) {
      case view_step::kind::slice:
        where = where.sliced(s.axis, s.first, s.count, s.step, by);
        break;
      case view_step::kind::take:
        where = where.indexed(s.axis, s.first, by);
        break;
      case view_step::kind::insert:
        where = where.with_axis(s.axis);
        break;
      case view_step::kind::swap: {
        std::vector<int> order(static_cast<std::size_t>(where.rank()));
        std::iota(order.begin(), order.end(), 0);
        std::swap(order.at(static_cast<std::size_t>(s.axis)),
                  order.at(static_cast<std::size_t>(s.other)));
        where = where.permuted(order);
        break;
      }
    }
    shift += by;
  }
  return where;
}

}  // namespace

any_view stepped(any_view elements, std::span<const view_step> steps) {
  std::int64_t shift = 0;
  layout where = stepped(elements.layout(), steps, shift);
  return elements.with_layout(std::move(where), shift);
}

shared_deferred view_of(const shared_deferred& of, std::vector<view_step> steps) {
  auto base = std::static_pointer_cast<value>(of);
  layout whole;
  detail::require_valid(layout::c_order(base->shape(), base->dtype().itemsize(), whole));
  std::int64_t shift = 0;
  const layout where = stepped(whole, steps, shift);
  const detail::driver_entry inside;
  const computing lock;
  if (base->is_computed()) {
    const array& a = base->get();
    operation_types types;
    types.result = base->dtype();
    return std::make_shared<value>(a.with_view(stepped(a.elements(), steps)), types,
                                   extents(where.shape()));
  }
  return value::view_of(std::move(base), std::move(steps), extents(where.shape()));
}

shared_deferred cast(const sycl::queue& queue, const deferred_operand& what, const dtype& type) {
  operation_types types;
  std::ranges::fill(types.operands, type);
  types.result = type;
  return make(queue, cast_row, types, std::span(&what, 1));
}

shared_deferred count_up(const sycl::queue& queue, const operand& start, const operand& step,
                         std::int64_t count, usm_kind kind) {
  const dtype type = start.type();
  if (type != dtype::of<std::int64_t>() && type != dtype::of<double>()) {
    throw std::invalid_argument(
        format("start: is of type {}, expected int64 or float64", type.name()));
  }
  if (count < 0) throw std::invalid_argument(format("count: {}, expected 0 or more", count));
  detail::require_type(queue.get_device(), type);
  operation_types types;
  std::ranges::fill(types.operands, type);
  types.result = type;
  auto made = std::make_shared<value>(queue, detail::count_row, types,
                                      std::vector<source>{start, step}, extents{count}, kind);
  if (is_eager()) made->get();
  return made;
}

}  // namespace usmx
