// Which reductions wait for each other, and how they are computed together.
// SPDX-License-Identifier: Apache-2.0
#include "compute/waiting_reductions.hpp"

#include <algorithm>
#include <utility>

#include "compute/fused_kernel.hpp"
#include "compute/fused_rows.hpp"
#include "core/aliasing.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {
namespace {

/// The members of the structure that a kernel joins have at most so many bytes together, as
/// `reduction_text` says.
constexpr std::size_t most_joined_bytes = 32;

/// What reductions read.
struct reduced_data {
  const extents& shape;
  std::vector<array> arrays = {};
  std::vector<const value*> values = {};
  std::size_t operands = 0, joined_bytes = 0;
  /// Whether elements are joined in the same order when the kernel reads other arrays too: if all
  /// are in C order.
  bool is_simple = true;

  void add(const value& reduction);
  void add_source(const source& s);
  bool has_common(const reduced_data& other) const;
};

void reduced_data::add(const value& reduction) {
  const value_reduction& how = reduction.how();
  const std::size_t item = how.value.itemsize(), aligned = std::min<std::size_t>(item, 8),
                    // Four numbers have the most that one is made of: moments.hpp, product.hpp.
      size = how.reduce_type.empty() ? item : 4 * item;
  joined_bytes = (joined_bytes + aligned - 1) / aligned * aligned + size;
  add_source(reduction.sources().front());
}

void reduced_data::add_source(const source& s) {
  const auto add_array = [&](const array& a) {
    const layout& l = a.elements().layout();
    is_simple &= a.elements().size() == 1 || (l.is_c_contiguous() && l.shape() == shape);
    arrays.push_back(a);
    ++operands;
  };
  if (const auto* a = std::get_if<array>(&s)) return add_array(*a);
  const auto* v = std::get_if<shared_value>(&s);
  if (v == nullptr) {
    ++operands;
    return;
  }
  if ((*v)->is_computed()) return add_array((*v)->get());
  is_simple &= !(*v)->is_reduction() && !(*v)->is_view() && (*v)->shape() == shape;
  if (!is_simple || std::ranges::find(values, v->get()) != values.end()) return;
  values.push_back(v->get());
  for (const source& inner : (*v)->sources()) add_source(inner);
}

bool reduced_data::has_common(const reduced_data& other) const {
  const auto is_read = [&](const value* v) {
    return std::ranges::find(other.values, v) != other.values.end();
  };
  const auto is_read_array = [&](const array& a) {
    return std::ranges::any_of(other.arrays,
                               [&](const array& b) { return is_same(a.elements(), b.elements()); });
  };
  return std::ranges::any_of(values, is_read) || std::ranges::any_of(arrays, is_read_array);
}

/// Whether one kernel can compute a reduction and others that wait.
bool fits(const value& reduction, std::span<const shared_value> waiting) {
  const value& first = *waiting.front();
  const extents& shape = first.reduced_shape();
  if (!(shape == reduction.reduced_shape()) || first.axes().axes != reduction.axes().axes ||
      first.queue() != reduction.queue() || first.kind() != reduction.kind()) {
    return false;
  }
  reduced_data own{shape}, all{shape};
  own.add(reduction);
  for (const shared_value& v : waiting) all.add(*v);
  if (!own.is_simple || !all.is_simple || !own.has_common(all)) return false;
  all.add(reduction);
  return all.joined_bytes <= most_joined_bytes && all.operands <= most_operands &&
         all.values.size() <= most_operations;
}

/// Results with the axes that were reduced, of length one.
array with_axes(const array& result, const std::vector<int>& axes) {
  layout l = result.elements().layout();
  for (const int axis : axes) l = l.with_axis(axis);
  return result.with_view(result.elements().with_layout(std::move(l), 0));
}

}  // namespace

std::vector<waiting_reductions::group>& waiting_reductions::list() {
  static auto& one = *new std::vector<group>;
  return one;
}

std::vector<shared_value> waiting_reductions::left_of(const group& waiting) {
  std::vector<shared_value> found;
  for (const auto& known : waiting) {
    if (auto v = known.lock(); v && !v->is_computed()) found.push_back(std::move(v));
  }
  return found;
}

std::vector<shared_value> waiting_reductions::with(const shared_value& reduction) {
  for (const group& waiting : list()) {
    std::vector<shared_value> together = left_of(waiting);
    if (std::ranges::find(together, reduction) != together.end()) return together;
  }
  return {reduction};
}

void waiting_reductions::add(const shared_value& reduction) {
  std::erase_if(list(), [](const group& waiting) { return left_of(waiting).empty(); });
  const bool has_waiting = !list().empty();
  const std::vector<shared_value> last =
      has_waiting ? left_of(list().back()) : std::vector<shared_value>();
  if (has_waiting && fits(*reduction, last)) {
    std::erase_if(list().back(), [](const auto& known) {
      const auto v = known.lock();
      return !v || v->is_computed();
    });
    list().back().push_back(reduction);
    return;
  }
  if (has_waiting && !fused_rows::takes(*reduction)) {
    for (const group& waiting : std::vector(list())) {
      for (const shared_value& v : left_of(waiting)) v->compute_now();
    }
    list().clear();
  }
  list().push_back({reduction});
}

shared_value value::reduction_of(const sycl::queue& queue, source of, const value_reduction& how,
                                 const reduction_axes& axes, usm_kind kind) {
  operation_types types;
  std::ranges::fill(types.operands, how.value);
  types.result = how.result;
  const extents& shape = shape_of(of);
  std::vector<source> sources;
  extents result = usmx::reduced_shape(shape, axes);
  sources.push_back(std::move(of));
  auto made = std::make_shared<value>(queue, reduction_row, types, std::move(sources),
                                      std::move(result), kind);
  made->reduces_ = std::make_unique<const reduction>(how, axes);
  return made;
}

shared_value value::reduced_elements() const {
  operation_types types;
  std::ranges::fill(types.operands, how().value);
  types.result = how().value;
  return std::make_shared<value>(queue_, cast_row, types, std::vector(sources_),
                                 extents(reduced_shape()), kind_);
}

const extents& value::reduced_shape() const { return shape_of(sources_.front()); }

void value::compute_reduction() { compute_together(waiting_reductions::with(shared_from_this())); }

void value::compute_together(std::vector<shared_value> reductions) {
  // Values that are reduced once more are worth to be stored.
  std::vector<shared_value> elements;
  for (const shared_value& r : reductions) {
    const auto* of = std::get_if<shared_value>(&r->sources_.front());
    if (of && std::ranges::find(elements, *of) == elements.end()) elements.push_back(*of);
  }
  for (const shared_value& of : elements) {
    if (of->is_reduced()) of->get();
  }
  std::vector<element_reduction> parts;
  std::erase_if(reductions, [](const shared_value& r) { return r->is_computed(); });
  for (const shared_value& r : reductions) {
    parts.push_back({r->reduced_elements(), r->how()});
    fused_kernel::compute_repeated(*parts.back().elements, r->axes());
  }
  if (std::ranges::any_of(reductions, [](const shared_value& r) { return r->is_computed(); })) {
    return compute_together(std::move(reductions));  // those that are left
  }
  if (reductions.empty()) return;
  fused_kernel kernel(std::move(parts));
  reduction_axes axes = reductions.front()->axes();
  axes.keep = false;
  std::vector<array> made = kernel.reduce(axes);
  for (std::size_t k = 0; k < made.size(); ++k) {
    value& r = *reductions[k];
    r.finish(r.axes().keep ? with_axes(made[k], *r.axes().axes) : std::move(made[k]));
  }
  for (const shared_value& r : reductions) r->announce_users();
  for (const shared_value& r : reductions) computing::drop(std::exchange(r->sources_, {}));
}

}  // namespace usmx::detail
