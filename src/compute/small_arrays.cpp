// See small_arrays.hpp. Elements are read in C order, as lines along an axis: `outer` times
// `length` times `inner` of them.
// SPDX-License-Identifier: Apache-2.0
#include "compute/small_arrays.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "compute/in_memory_order.hpp"
#include "compute/named_reductions.hpp"
#include "compute/on_host.hpp"
#include "compute/operations.hpp"
#include "compute/value.hpp"
#include "core/kept_order.hpp"
#include "core/numbers.hpp"
#include "expression/reduction_shape.hpp"
#include "memory/ready.hpp"
#include "runtime/backend.hpp"
#include "runtime/traced_queue.hpp"

namespace usmx::detail {
namespace {

/// Room for elements, on the stack for a few of them.
class host_room {
 public:
  host_room() = default;
  host_room(const host_room&) = delete;
  host_room& operator=(const host_room&) = delete;
  std::byte* of(std::int64_t bytes) {
    if (bytes <= static_cast<std::int64_t>(sizeof few_)) return few_;
    many_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    return many_.get();
  }

 private:
  alignas(64) std::byte few_[most_at_high_cost * 16];
  std::unique_ptr<std::byte[]> many_;
};

/// The elements of an array in C order: where they are if that is how they lie, else copied.
class row_of_small {
 public:
  explicit row_of_small(const any_view& v) {
    if (v.layout().is_c_contiguous()) {
      first_ = static_cast<const std::byte*>(v.data());
    } else {
      std::byte* const to = room_.of(static_cast<std::int64_t>(v.nbytes()));
      host_gather(v, v.layout().shape()).copy(to, v.size());
      first_ = to;
    }
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(first_);
  }

 private:
  const std::byte* first_;
  host_room room_;
};

/// The lines of a shape along an axis.
struct lines {
  std::int64_t outer = 1, length = 1, inner = 1;

  lines(const extents& shape, int axis) : length(shape[static_cast<std::size_t>(axis)]) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d < static_cast<std::size_t>(axis)) outer *= shape[d];
      if (d > static_cast<std::size_t>(axis)) inner *= shape[d];
    }
  }
  /// `visit(k)` for the number of the first element of each line; the others are `inner` apart.
  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) visit(o * length * inner + i);
    }
  }
};

array like(const array& a, std::span<const std::int64_t> shape, const dtype& type) {
  return array::empty(a.queue(), shape, type, a.kind());
}
array like(const array& a, const dtype& type) {
  return like(a, a.elements().layout().shape().span(), type);
}
template <class T>
T* elements_of(const array& a) {
  return static_cast<T*>(a.data());
}
array number_like(const array& a, std::int64_t number) {
  array out = like(a, {}, dtype::of<std::int64_t>());
  *elements_of<std::int64_t>(out) = number;
  return out;
}

/// `visit(T())` for the type of the elements, if the host knows it; else nothing. Bools are bytes.
template <class Visit>
auto with_type(const dtype& type, Visit visit) {
  return visit_number(type.kind() == type_class::boolean ? dtype::of<std::uint8_t>() : type,
                      [&]<class T>(std::type_identity<T>)
                        requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
                      { return visit(T()); });
}

template <class T>
bool is_not_a_number(T x) {
  return x != x;
}

/// Whether one stands before another; NaN is last in both directions.
template <class T>
struct comes_before {
  bool descending;

  bool operator()(T a, T b) const {
    if (is_not_a_number(a) || is_not_a_number(b)) return !is_not_a_number(a) && is_not_a_number(b);
    return descending ? b < a : a < b;
  }
};

/// An element and where it was.
template <class T>
struct placed {
  T value;
  std::int64_t at;
};

template <class Element, class Before>
void sort_line(Element* line, std::int64_t length, const Before& before) {
  if (length > 24) {
    std::stable_sort(line, line + length, before);
    return;
  }
  // Without the memory that stable_sort takes.
  for (std::int64_t k = 1; k < length; ++k) {
    const Element moved = line[k];
    std::int64_t to = k;
    for (; to > 0 && before(moved, line[to - 1]); --to) line[to] = line[to - 1];
    line[to] = moved;
  }
}

template <class T>
void sort_placed(placed<T>* line, std::int64_t length, bool descending) {
  const comes_before<T> before{descending};
  sort_line(line, length,
            [before](const placed<T>& a, const placed<T>& b) { return before(a.value, b.value); });
}

bool is_bool(const array& a) noexcept { return a.elements().dtype().kind() == type_class::boolean; }

/// Joins as kernels do: integers wrap around.
template <class T, bool IsProduct>
T joined(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(IsProduct ? x * y : x + y);
  } else {
    return IsProduct ? a * b : a + b;
  }
}

/// A line whose neighbours are neighbours in memory, as a group of kernels/expression/scan.hpp goes
/// through it: 16 items have 16 neighbours each, first join those, and then what they have.
template <class T, bool IsProduct>
void scan_neighbours(T* x, std::int64_t length) {
  constexpr std::int64_t items = 16, blocks = 16;
  const auto join = joined<T, IsProduct>;
  const std::int64_t used = (length + blocks - 1) / blocks;
  std::array<T, items> sums[2];
  for (std::int64_t item = 0; item < used; ++item) {
    T own = x[item * blocks];
    for (std::int64_t k = item * blocks + 1; k < std::min((item + 1) * blocks, length); ++k) {
      own = join(own, x[k]);
    }
    sums[0][static_cast<std::size_t>(item)] = own;
  }
  std::size_t now = 0;
  for (std::int64_t step = 1; step < items; step *= 2) {
    for (std::int64_t item = 0; item < used; ++item) {
      const auto at = static_cast<std::size_t>(item);
      sums[1 - now][at] =
          item < step ? sums[now][at]
                      : join(sums[now][static_cast<std::size_t>(item - step)], sums[now][at]);
    }
    now = 1 - now;
  }
  for (std::int64_t item = 0; item < used; ++item) {
    for (std::int64_t k = item * blocks; k < std::min((item + 1) * blocks, length); ++k) {
      if (k > item * blocks) {
        x[k] = join(x[k - 1], x[k]);
      } else if (item > 0) {
        x[k] = join(sums[now][static_cast<std::size_t>(item - 1)], x[k]);
      }
    }
  }
}

/// Lines along an axis that is not the last one with several elements: each is one item's.
template <class T, bool IsProduct>
void scan_lines(T* x, const lines& l) {
  // Products of floats are joined in turn: see scan_kernel::state::is_in_turn.
  if (l.inner == 1 && !(IsProduct && !std::is_integral_v<T>)) {
    l.each([&](std::int64_t first) { scan_neighbours<T, IsProduct>(x + first, l.length); });
    return;
  }
  l.each([&](std::int64_t first) {
    for (std::int64_t k = 1; k < l.length; ++k) {
      T& next = x[first + k * l.inner];
      next = joined<T, IsProduct>(x[first + (k - 1) * l.inner], next);
    }
  });
}

}  // namespace

namespace {

bool may_be_read(const any_view& v) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(v.data());
  return host_accessible(v.kind()) && address % v.dtype().alignment() == 0;
}

/// What the library that the memory came from submitted is known to its queue only.
bool is_known_by_lender(const array& a) noexcept {
  return a.keep_alive()->is_lent() && a.kind() != usm_kind::unknown;
}

}  // namespace

bool is_idle_at_once(const array& a) noexcept {
  if (!may_be_read(a.elements())) return false;
  const shared_owner& owner = a.keep_alive();
  return !owner || (!owner->try_submitted().value_or(true) && !is_known_by_lender(a));
}

bool is_idle_on_host(const array& a) noexcept {
  if (!may_be_read(a.elements())) return false;
  const shared_owner& owner = a.keep_alive();
  if (!owner) return true;
  const std::optional<bool> has_commands = owner->try_submitted();
  if (has_commands.value_or(false)) return false;
  const bool is_lent = is_known_by_lender(a);
  if (has_commands && !is_lent) return true;
  bool is_idle_now = false;
  unlocked([&] {
    is_idle_now = (has_commands || !owner->has_commands()) && (!is_lent || is_idle(a.queue()));
  });
  return is_idle_now;
}

namespace {

/// Numbers that are ready for the host, of a device that is this processor.
bool are_here(const array& a) noexcept {
  const any_view& v = a.elements();
  return v.size() > 0 && v.kind() != usm_kind::unknown && !v.dtype().is_record() &&
         is_idle_on_host(a) && backend_of(a.queue().get_device()).is_host;
}

}  // namespace

bool is_small(const array& a) noexcept {
  return a.elements().size() <= most_on_host && are_here(a);
}

bool has_rows_on_host(const array& a) noexcept {
  const layout& where = a.elements().layout();
  return where.rank() > 1 && where.is_c_contiguous() && are_here(a);
}

// --- operations and reductions

namespace {

/// The elements of an operand in C order and as a type, one block after the other.
class operand_on_host {
 public:
  /// Of a block, where elements are not used where they are.
  static constexpr std::int64_t most = 512;

  operand_on_host() = default;
  operand_on_host(const operand_on_host&) = delete;
  operand_on_host& operator=(const operand_on_host&) = delete;

  /// False for casts that are left to kernels.
  bool read(const any_view& v, const extents& shape, std::int64_t count, const dtype& type) {
    cast_ = cast_on_host(v.dtype(), type);
    if (cast_ == nullptr) return false;
    if (v.dtype() == type) cast_ = nullptr;
    row_ = static_cast<const std::byte*>(v.data());
    bytes_ = static_cast<std::int64_t>(v.dtype().itemsize());
    if (!v.layout().is_c_contiguous() || v.size() != count) gather_.emplace(v, shape);
    return true;
  }
  /// The same number again and again, up to `count` of them in a block.
  void repeat(const operand& number, std::int64_t count, const dtype& type) {
    const auto bytes = number.number_as(type);
    const std::size_t all = static_cast<std::size_t>(std::min(count, most)) * type.itemsize();
    std::memcpy(cast_room_, bytes.data(), type.itemsize());
    for (std::size_t done = type.itemsize(); done < all; done *= 2) {
      std::memcpy(cast_room_ + done, cast_room_, std::min(done, all - done));
    }
    row_ = cast_room_;
  }
  bool is_in_place() const noexcept { return bytes_ != 0 && cast_ == nullptr && !gather_; }

  const std::byte* next(std::int64_t count) {
    const std::byte* block = row_;
    if (gather_) {
      gather_->copy(gathered_, count);
      block = gathered_;
    } else {
      row_ += count * bytes_;
    }
    if (cast_ == nullptr) return block;
    cast_(cast_room_, block, count);
    return cast_room_;
  }

 private:
  const std::byte* row_ = nullptr;
  std::int64_t bytes_ = 0;  ///< from one element of the row to the next
  host_cast cast_ = nullptr;
  std::optional<host_gather> gather_;
  alignas(64) std::byte gathered_[most * 16];
  alignas(64) std::byte cast_room_[most * 16];
};

/// All elements in C order as `type`: where they are if that is how they lie, else in `room`.
const std::byte* row_on_host(const any_view& v, const dtype& type, host_room& room) {
  operand_on_host elements;
  const std::int64_t count = v.size();
  if (!elements.read(v, v.layout().shape(), count, type)) return nullptr;
  if (elements.is_in_place()) return elements.next(count);
  const auto bytes = static_cast<std::int64_t>(type.itemsize());
  std::byte* const row = room.of(count * bytes);
  for (std::int64_t k = 0; k < count; k += operand_on_host::most) {
    const std::int64_t here = std::min(count - k, operand_on_host::most);
    std::memcpy(row + k * bytes, elements.next(here), static_cast<std::size_t>(here * bytes));
  }
  return row;
}

}  // namespace

namespace {

/// The axes of a result, slowest first; nothing for C order, which nearly all have.
std::vector<int> order_of_result(std::span<const small_operand> operands, const extents& shape) {
  if (shape.size() < 2) return {};
  const layout* layouts[3];
  std::size_t count = 0;
  for (const small_operand& one : operands) {
    if (one.elements != nullptr && one.number == nullptr) {
      layouts[count++] = &one.elements->elements().layout();
    }
  }
  const std::span<const layout* const> given(layouts, count);
  if (all_in_c_order(given)) return {};
  std::vector<int> order = kept_order(shape, given);
  if (std::ranges::is_sorted(order)) return {};
  return order;
}

extents taken(const extents& shape, std::span<const int> order) {
  extents out(shape.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[k] = shape[static_cast<std::size_t>(order[k])];
  return out;
}

/// An operand with its axes in another order, broadcast to the shape before.
any_view turned_view(const any_view& v, const extents& shape, std::span<const int> order) {
  layout whole = v.layout();
  if (!(whole.shape() == shape)) v.layout().broadcast(shape, whole);
  return v.with_layout(whole.permuted(order), 0);
}

}  // namespace

std::optional<array> operate_small(const sycl::queue& queue, const operation& op,
                                   const operation_types& types,
                                   std::span<const small_operand> operands, const extents& shape,
                                   usm_kind kind) {
  if (!host_accessible(kind)) return {};
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  if (count > most_on_host || count == 0) return {};
  const dtype& type = types.operands[op.chooses ? 1 : 0];
  if (type != types.operands[operands.size() - 1]) return {};
  const host_function function = function_on_host(op, type);
  if (function.loop == nullptr || count > function.most) return {};
  if (!backend_of(queue.get_device()).is_host) return {};
  const std::vector<int> order = order_of_result(operands, shape);
  extents other_shape;
  if (!order.empty()) other_shape = taken(shape, order);
  const extents& turned = order.empty() ? shape : other_shape;
  operand_on_host in[3];
  std::int64_t block = count;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].number != nullptr) {
      in[k].repeat(*operands[k].number, count, types.operands[k]);
    } else {
      const array& a = *operands[k].elements;
      if (!is_idle_on_host(a)) return {};
      const bool is_read = order.empty() ? in[k].read(a.elements(), shape, count, types.operands[k])
                                         : in[k].read(turned_view(a.elements(), shape, order),
                                                      turned, count, types.operands[k]);
      if (!is_read) return {};
    }
    if (!in[k].is_in_place()) block = std::min(count, operand_on_host::most);
  }
  array out = array::empty(queue, turned.span(), types.result, kind);
  auto* to = static_cast<std::byte*>(out.data());
  for (std::int64_t left = count; left > 0; left -= block) {
    const std::int64_t here = std::min(left, block);
    const std::byte* rows[3] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) rows[k] = in[k].next(here);
    function.loop(to, rows, here);
    to += here * static_cast<std::int64_t>(types.result.itemsize());
  }
  if (order.empty()) return out;
  return out.with_view(
      out.elements().with_layout(packed(shape, order, types.result.itemsize()), 0));
}

namespace {

/// The order in which kernels join the elements of each result: `choose` in
/// expression/reduction.cpp, for arrays in C order whose reduced axes are neighbours.
enum class join_order : std::uint8_t { by_items, in_turn, unknown };

join_order order_of(const extents& shape, std::span<const int> axes, std::int64_t each) noexcept {
  const auto first = static_cast<std::size_t>(axes.front());
  const std::size_t last = first + axes.size();
  if (static_cast<std::size_t>(axes.back()) + 1 != last) return join_order::unknown;
  std::int64_t before = 1, after = 1;
  for (std::size_t d = 0; d < first; ++d) before *= shape[d];
  for (std::size_t d = last; d < shape.size(); ++d) after *= shape[d];
  if (after == 1) return join_order::by_items;
  const bool are_many = each <= 32 && before * after >= 64;
  return before == 1 || after >= 8 || are_many ? join_order::in_turn : join_order::by_items;
}

/// The axes that stay, the slowest in memory first.
std::vector<int> kept_axes(const layout& where, std::span<const int> axes) {
  std::vector<int> order;
  if (where.is_c_contiguous()) {
    for (int d = 0; d < where.rank(); ++d) order.push_back(d);
  } else {
    order = kept_order(where.shape(), std::array{&where});
  }
  std::erase_if(order, [&](int d) { return std::ranges::binary_search(axes, d); });
  return order;
}

/// Results in the order of the axes that stay, as an array of the reduced shape.
array with_shape(const array& made, const extents& shape, std::vector<int> kept,
                 const reduction_axes& axes) {
  if (!axes.keep) {
    for (int& axis : kept) {
      axis -= static_cast<int>(std::ranges::lower_bound(*axes.axes, axis) - axes.axes->begin());
    }
  } else {
    kept.insert(kept.begin(), axes.axes->begin(), axes.axes->end());  // each of length one
  }
  return made.with_view(
      made.elements().with_layout(packed(shape, kept, made.elements().dtype().itemsize()), 0));
}

}  // namespace

std::optional<array> reduce_small(const sycl::queue& queue, const array& a,
                                  const value_reduction& how, const reduction_axes& axes,
                                  usm_kind kind) {
  const any_view& v = a.elements();
  const extents& shape = v.layout().shape();
  const std::int64_t count = v.size();
  if (!host_accessible(kind) || kind == usm_kind::unknown || count == 0 || count > most_on_host ||
      how.map != "x" || how.result != how.value || !how.reduce_type.empty() ||
      !backend_of(queue.get_device()).is_host) {
    return {};
  }
  const host_fold fold = fold_on_host(how.reduce, how.value);
  const bool is_mean = how.post_map == "a / float(n)" || how.post_map == "a / double(n)";
  if (fold.run == nullptr || (!is_mean && how.post_map != "a")) return {};
  std::int64_t each = 1;
  for (const int axis : *axes.axes) each *= shape[static_cast<std::size_t>(axis)];
  const std::int64_t results = count / each;
  const join_order order =
      axes.axes->empty() ? join_order::by_items : order_of(shape, *axes.axes, each);
  const bool any_order = fold.any_order || each <= 2;
  // Kernels join longer ones in parts.
  if (!any_order && order == join_order::in_turn && each > on_cpu.across_part) return {};
  if (!any_order && (order == join_order::unknown || !v.layout().is_c_contiguous())) return {};
  if (!is_idle_on_host(a)) return {};

  host_room room;
  const std::vector<int> kept = kept_axes(v.layout(), *axes.axes);
  any_view rows = v;
  if (results != 1) {
    std::vector<int> kept_first = kept;
    kept_first.insert(kept_first.end(), axes.axes->begin(), axes.axes->end());
    rows = v.with_layout(v.layout().permuted(kept_first), 0);
  }
  const std::byte* const row = row_on_host(rows, how.value, room);
  if (row == nullptr) return {};
  const auto bytes = static_cast<std::int64_t>(how.value.itemsize());
  array out = array::empty(queue, reduced_shape(shape, axes).span(), how.result, kind);
  auto* result = static_cast<std::byte*>(out.data());
  const auto run = order == join_order::in_turn ? fold.in_turn : fold.run;
  for (std::int64_t k = 0; k < results; ++k, result += bytes) {
    run(result, row + k * each * bytes, each);
    if (is_mean) divide_on_host(result, how.value, static_cast<double>(each));
  }
  if (std::ranges::is_sorted(kept)) return out;
  return with_shape(out, reduced_shape(shape, axes), kept, axes);
}

std::optional<array> variance_small(const array& a, double correction) {
  const any_view& v = a.elements();
  const dtype type = v.dtype().kind() == type_class::floating ? v.dtype() : dtype::of<double>();
  const host_fold add = fold_on_host("a + b", type);
  host_room room, room_of_squares;
  if (add.run == nullptr || v.dtype().kind() == type_class::complex) return {};
  if (!v.layout().is_c_contiguous()) return {};
  const std::int64_t count = v.size();
  const std::byte* const row = row_on_host(v, type, room);
  if (row == nullptr) return {};
  array out = array::empty(a.queue(), {}, type, a.kind());
  auto* const result = static_cast<std::byte*>(out.data());
  add.run(result, row, count);
  divide_on_host(result, type, static_cast<double>(count));
  with_type(type, [&]<class T>(T) -> std::optional<bool> {
    if constexpr (std::is_floating_point_v<T>) {
      const T mean = *reinterpret_cast<const T*>(result);
      auto* const squares =
          reinterpret_cast<T*>(room_of_squares.of(count * static_cast<std::int64_t>(sizeof(T))));
      for (std::int64_t k = 0; k < count; ++k) {
        const T distance = reinterpret_cast<const T*>(row)[k] - mean;
        squares[k] = distance * distance;
      }
      add.run(result, reinterpret_cast<const std::byte*>(squares), count);
    }
    return {};
  });
  const double divisor = static_cast<double>(count) - correction;
  divide_on_host(result, type, divisor > 0 ? divisor : 0);
  return out;
}

// --- sorting and places

std::optional<array> sort_small(const array& a, int axis, bool descending) {
  const in_memory_order order(a);
  const any_view& v = order.view();
  if (is_bool(a) || v.size() > most_at_high_cost) return {};  // a foreign true need not be 1
  const lines l(v.layout().shape(), order.place_of(axis));
  return with_type(v.dtype(), [&]<class T>(T) -> std::optional<array> {
    const row_of_small row(v);
    array out = like(a, v.layout().shape().span(), v.dtype());
    T line[most_at_high_cost];
    l.each([&](std::int64_t first) {
      const T* const from = row.as<T>() + first;
      T* const to = elements_of<T>(out) + first;
      for (std::int64_t k = 0; k < l.length; ++k) line[k] = from[k * l.inner];
      sort_line(line, l.length, comes_before<T>{descending});
      for (std::int64_t k = 0; k < l.length; ++k) to[k * l.inner] = line[k];
    });
    return order.turned_back(std::move(out));
  });
}

std::optional<array> argsort_small(const array& a, int axis, bool descending) {
  const any_view& v = a.elements();
  if (is_bool(a) || v.size() > most_at_high_cost) return {};
  const lines l(v.layout().shape(), axis);
  return with_type(v.dtype(), [&]<class T>(T) -> std::optional<array> {
    const row_of_small row(v);
    array out = like(a, dtype::of<std::int64_t>());
    placed<T> line[most_at_high_cost];
    l.each([&](std::int64_t first) {
      const T* const from = row.as<T>() + first;
      auto* const to = elements_of<std::int64_t>(out) + first;
      for (std::int64_t k = 0; k < l.length; ++k) line[k] = {from[k * l.inner], k};
      sort_placed(line, l.length, descending);
      for (std::int64_t k = 0; k < l.length; ++k) to[k * l.inner] = line[k].at;
    });
    return out;
  });
}

std::optional<array> search_small(const array& sorted, const array& values, bool right) {
  const any_view& v = sorted.elements();
  if (is_bool(sorted) || v.dtype() != values.elements().dtype()) return {};
  const std::int64_t count = values.elements().size();
  if (v.rank() != 1 || count > most_at_high_cost) return {};
  return with_type(v.dtype(), [&]<class T>(T) -> std::optional<array> {
    const row_of_small line(v), wanted(values.elements());
    const T* const first = line.as<T>();
    array out = like(values, dtype::of<std::int64_t>());
    auto* const to = elements_of<std::int64_t>(out);
    const comes_before<T> before{false};
    for (std::int64_t k = 0; k < count; ++k) {
      const T value = wanted.as<T>()[k];
      const T* const place = right ? std::upper_bound(first, first + v.size(), value, before)
                                   : std::lower_bound(first, first + v.size(), value, before);
      to[k] = place - first;
    }
    return out;
  });
}

std::optional<small_unique> unique_small(const array& a, bool equal_nan, bool first, bool inverse,
                                         bool counts) {
  const any_view& v = a.elements();
  if (is_bool(a) || v.size() > most_at_high_cost) return {};
  return with_type(v.dtype(), [&]<class T>(T) -> std::optional<small_unique> {
    const std::int64_t count = v.size();
    const row_of_small row(v);
    placed<T> line[most_at_high_cost];
    for (std::int64_t k = 0; k < count; ++k) line[k] = {row.as<T>()[k], k};
    sort_placed(line, count, false);

    std::int64_t begins[most_at_high_cost + 1];
    std::int64_t found = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const bool is_new = k == 0 || line[k].value != line[k - 1].value;
      const bool both_nan =
          k > 0 && is_not_a_number(line[k].value) && is_not_a_number(line[k - 1].value);
      if (is_new && !(equal_nan && both_nan)) begins[found++] = k;
    }
    begins[found] = count;

    const auto integers = [&](std::int64_t length) {
      return like(a, std::span(&length, 1), dtype::of<std::int64_t>());
    };
    small_unique out{like(a, std::span(&found, 1), v.dtype()), {}, {}, {}};
    if (first) out.first = integers(found);
    if (counts) out.counts = integers(found);
    if (inverse) out.inverse = integers(count);
    for (std::int64_t n = 0; n < found; ++n) {
      elements_of<T>(out.values)[n] = line[begins[n]].value;
      if (first) elements_of<std::int64_t>(*out.first)[n] = line[begins[n]].at;
      if (counts) elements_of<std::int64_t>(*out.counts)[n] = begins[n + 1] - begins[n];
      for (std::int64_t k = begins[n]; inverse && k < begins[n + 1]; ++k) {
        elements_of<std::int64_t>(*out.inverse)[line[k].at] = n;
      }
    }
    return out;
  });
}

std::optional<array> scan_small(const array& a, int axis, bool product) {
  const in_memory_order order(a);
  const any_view& v = order.view();
  const dtype type = sum_type(v.dtype());
  const host_cast cast = cast_on_host(v.dtype(), type);
  if (cast == nullptr || v.size() > most_at_high_cost) return {};
  const lines l(v.layout().shape(), order.place_of(axis));
  return with_type(type, [&]<class T>(T) -> std::optional<array> {
    if constexpr (sizeof(T) < 4 || std::is_same_v<T, std::int32_t> ||
                  std::is_same_v<T, std::uint32_t>) {
      return {};  // no sum has such a type
    } else {
      const row_of_small row(v);
      array out = like(a, v.layout().shape().span(), type);
      cast(elements_of<std::byte>(out), row.as<std::byte>(), v.size());
      (product ? scan_lines<T, true> : scan_lines<T, false>)(elements_of<T>(out), l);
      return order.turned_back(std::move(out));
    }
  });
}

std::optional<array> place_small(const array& a, bool largest) {
  if (is_bool(a)) return {};
  const any_view& v = a.elements();
  return with_type(v.dtype(), [&]<class T>(T) -> std::optional<array> {
    const row_of_small row(v);
    const T* const x = row.as<T>();
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < v.size() && !is_not_a_number(x[best]); ++k) {
      if (is_not_a_number(x[k]) || (largest ? x[best] < x[k] : x[k] < x[best])) best = k;
    }
    return number_like(a, best);
  });
}

namespace {

/// `visit(k)` for the number, in C order, of each element that is not 0. False for other types.
template <class Visit>
bool each_not_zero(const any_view& v, Visit visit) {
  return with_type(v.dtype(),
                   [&]<class T>(T) -> std::optional<bool> {
                     const row_of_small row(v);
                     for (std::int64_t k = 0; k < v.size(); ++k) {
                       if (row.as<T>()[k] != T(0)) visit(k);
                     }
                     return true;
                   })
      .has_value();
}

/// Copies bytes, and moves `to` behind them.
void copy_bytes(std::byte*& to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  to += bytes;
}
std::int64_t item_bytes(const array& a) {
  return static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

}  // namespace

std::optional<array> count_small(const array& a) {
  std::int64_t count = 0;
  if (!each_not_zero(a.elements(), [&](std::int64_t) { ++count; })) return {};
  return number_like(a, count);
}

std::optional<std::vector<array>> nonzero_small(const array& a) {
  std::int64_t places[most_on_host];
  std::int64_t count = 0;
  if (!each_not_zero(a.elements(), [&](std::int64_t k) { places[count++] = k; })) return {};
  const extents& shape = a.elements().layout().shape();
  std::vector<array> out;
  out.reserve(shape.size());
  std::int64_t step = a.elements().size();
  for (const std::int64_t length : shape) {
    step /= length;
    array& indices = out.emplace_back(like(a, std::span(&count, 1), dtype::of<std::int64_t>()));
    auto* const to = elements_of<std::int64_t>(indices);
    for (std::int64_t k = 0; k < count; ++k) to[k] = places[k] / step % length;
  }
  return out;
}

namespace {

/// What a mask of the same shape, or indices along an axis, select: pieces of neighbours.
struct small_selected {
  std::int64_t count = 0;   ///< of pieces
  std::int64_t length = 1;  ///< elements of a piece
  /// The number, in C order, of the first element of each.
  std::int64_t begins[most_on_host];

  bool read_mask(const any_view& mask) {
    return each_not_zero(mask, [&](std::int64_t k) { begins[count++] = k; });
  }
  /// False if an index is outside, or if they select many elements that are not long rows.
  bool read_indices(const any_view& indices, const lines& l, std::int64_t itemsize) {
    const std::int64_t each = indices.size();
    if (each == 0 || each > most_on_host || l.outer > most_on_host / each) return false;
    count = l.outer * each;
    length = l.inner;
    if (count > most_on_host / length) {
      if (length < least_bytes_of_row / itemsize) return false;
      if (count > most_bytes_of_rows / itemsize / length) return false;
    }
    const bool are_inside = with_type(indices.dtype(), [&]<class T>(T) -> std::optional<bool> {
                              if constexpr (std::is_integral_v<T>) {
                                return read_inside<T>(indices, l);
                              } else {
                                return {};
                              }
                            }).has_value();
    for (std::int64_t k = each; are_inside && k < count; ++k) {
      begins[k] = begins[k - each] + l.length * l.inner;
    }
    return are_inside;
  }

 private:
  template <class T>
  std::optional<bool> read_inside(const any_view& indices, const lines& l) {
    const row_of_small row(indices);
    for (std::int64_t k = 0; k < indices.size(); ++k) {
      const T index = row.as<T>()[k];
      if (!std::in_range<std::int64_t>(index)) return {};
      const auto given = static_cast<std::int64_t>(index);
      const std::int64_t place = given < 0 ? given + l.length : given;
      if (place < 0 || place >= l.length) return {};
      begins[k] = place * l.inner;
    }
    return true;
  }
};

array copy_selected(const array& a, const small_selected& selected,
                    std::span<const std::int64_t> shape) {
  const row_of_small row(a.elements());
  const std::int64_t each = item_bytes(a), bytes = each * selected.length;
  array out = like(a, shape, a.elements().dtype());
  auto* to = elements_of<std::byte>(out);
  auto copy = [&] {
    for (std::int64_t k = 0; k < selected.count; ++k) {
      copy_bytes(to, row.as<std::byte>() + selected.begins[k] * each, bytes);
    }
  };
  if (selected.count * selected.length <= most_on_host) {
    copy();
  } else {
    unlocked(copy);
  }
  return out;
}

bool is_mask_of(const any_view& key, const array& a) {
  return key.dtype().kind() == type_class::boolean &&
         key.layout().shape() == a.elements().layout().shape();
}

}  // namespace

std::optional<array> take_small(const array& a, const any_view& indices, int axis) {
  const extents& shape = a.elements().layout().shape();
  small_selected selected;
  if (!selected.read_indices(indices, lines(shape, axis), item_bytes(a))) return {};
  std::vector<std::int64_t> lengths(shape.begin(), shape.begin() + axis);
  const extents& by = indices.layout().shape();
  lengths.insert(lengths.end(), by.begin(), by.end());
  lengths.insert(lengths.end(), shape.begin() + axis + 1, shape.end());
  if (lengths.size() > static_cast<std::size_t>(max_rank)) return {};
  return copy_selected(a, selected, lengths);
}

std::optional<array> at_small(const array& a, const any_view& key) {
  if (key.dtype().kind() != type_class::boolean) {
    // The axes of the indices come first, the others as they stand in memory.
    const layout& where = a.elements().layout();
    if (where.is_c_contiguous() || where.rank() < 3) return take_small(a, key, 0);
    std::vector<int> order = kept_order(where.shape(), std::array{&where});
    std::erase(order, 0);
    if (std::ranges::is_sorted(order)) return take_small(a, key, 0);
    order.insert(order.begin(), 0);
    std::optional<array> made =
        take_small(a.with_view(a.elements().with_layout(where.permuted(order), 0)), key, 0);
    if (!made) return {};
    const int more = key.layout().rank() - 1;
    std::vector<int> back(static_cast<std::size_t>(made->elements().rank()));
    for (int k = 0; k <= more; ++k) back[static_cast<std::size_t>(k)] = k;
    for (std::size_t k = 1; k < order.size(); ++k) {
      back[static_cast<std::size_t>(order[k] + more)] = static_cast<int>(k) + more;
    }
    return made->with_view(
        made->elements().with_layout(made->elements().layout().permuted(back), 0));
  }
  small_selected selected;
  if (!is_mask_of(key, a) || !selected.read_mask(key)) return {};
  return copy_selected(a, selected, std::span(&selected.count, 1));
}

bool put_small(const array& a, const any_view& key, const any_view& value) {
  const any_view& v = a.elements();
  if (v.read_only() || !v.layout().is_c_contiguous() || value.dtype() != v.dtype()) return false;
  const extents& shape = v.layout().shape();
  small_selected selected;
  std::vector<std::int64_t> lengths;
  if (key.dtype().kind() != type_class::boolean) {
    if (!selected.read_indices(key, lines(shape, 0), item_bytes(a))) return false;
    const extents& by = key.layout().shape();
    lengths.assign(by.begin(), by.end());
    lengths.insert(lengths.end(), shape.begin() + 1, shape.end());
  } else if (is_mask_of(key, a) && selected.read_mask(key)) {
    lengths.push_back(selected.count);
  } else {
    return false;
  }
  if (lengths.size() > static_cast<std::size_t>(max_rank)) return false;
  const bool is_number = value.rank() == 0;
  if (!is_number && !(value.layout().shape() == extents{std::span<const std::int64_t>(lengths)})) {
    return false;
  }
  const std::int64_t each = item_bytes(a), bytes = each * selected.length;
  // Copied before the first is written: it may be a part of the same memory.
  host_room room;
  std::byte* const from = room.of(std::max<std::int64_t>(1, value.size()) * each);
  host_gather(value, value.layout().shape()).copy(from, value.size());
  wait_for(a);
  const traced record(is_number ? trace_action::fill : trace_action::copy, [&] {
    return traced_on(a.queue(), {.bytes = static_cast<std::size_t>(selected.count * bytes),
                                 .address = v.data(),
                                 .kind = v.kind()});
  });
  for (std::int64_t k = 0; k < selected.count; ++k) {
    std::byte* to = elements_of<std::byte>(a) + selected.begins[k] * each;
    if (!is_number) {
      copy_bytes(to, from + k * bytes, bytes);
    } else {
      for (std::int64_t n = 0; n < selected.length; ++n) copy_bytes(to, from, each);
    }
  }
  return true;
}

namespace {

/// Arrays of one type behind each other; `lengths` is the shape of the result, in which each of
/// them has pieces one after the other, `outer` of them.
array joined_pieces(std::span<const array> arrays, std::span<const std::int64_t> lengths,
                    std::int64_t outer) {
  array out = like(arrays[0], lengths, arrays[0].elements().dtype());
  const std::int64_t bytes = item_bytes(arrays[0]);
  std::int64_t all = 0, before = 0;
  for (const array& a : arrays) all += a.elements().size() / outer * bytes;
  for (const array& a : arrays) {
    const row_of_small row(a.elements());
    const traced record(trace_action::copy, [&] {
      trace_subject subject = traced_views(out.elements(), a.elements());
      subject.bytes = a.elements().nbytes();
      return traced_on(a.queue(), subject);
    });
    const std::int64_t piece = a.elements().size() / outer * bytes;
    for (std::int64_t o = 0; o < outer; ++o) {
      std::byte* to = elements_of<std::byte>(out) + o * all + before;
      copy_bytes(to, row.as<std::byte>() + o * piece, piece);
    }
    before += piece;
  }
  return out;
}

/// Whether arrays can be joined as they are, and what they have together is little; the result of
/// those that agree on another order than C has that.
bool are_alike(std::span<const array> arrays) {
  std::int64_t all = 0;
  std::vector<const layout*> layouts;
  for (const array& a : arrays) layouts.push_back(&a.elements().layout());
  if (!all_in_c_order(layouts) && (!std::ranges::all_of(layouts, [&](const layout* l) {
        return l->rank() == layouts[0]->rank();
      }) || !std::ranges::is_sorted(kept_order(layouts[0]->shape(), layouts)))) {
    return false;
  }
  for (const array& a : arrays) {
    if (a.elements().dtype() != arrays[0].elements().dtype() || a.queue() != arrays[0].queue()) {
      return false;
    }
    all += a.elements().size();
  }
  return all <= most_on_host;
}

}  // namespace

array copy_small(const array& a) {
  const row_of_small row(a.elements());
  array out = like(a, a.elements().dtype());
  const traced record(trace_action::copy, [&] {
    return traced_on(a.queue(), traced_views(out.elements(), a.elements()));
  });
  std::memcpy(out.data(), row.as<std::byte>(), a.elements().nbytes());
  return out;
}

std::optional<array> cast_small(const array& a, const dtype& type) {
  operation_types types;
  std::ranges::fill(types.operands, type);
  types.result = type;
  const small_operand one{&a, nullptr};
  return operate_small(a.queue(), cast_row, types, std::span(&one, 1),
                       a.elements().layout().shape(), a.kind());
}

std::optional<array> concat_small(std::span<const array> arrays, int axis) {
  if (!are_alike(arrays)) return {};
  const extents& first = arrays[0].elements().layout().shape();
  std::vector<std::int64_t> lengths(first.begin(), first.end());
  const auto at = static_cast<std::size_t>(axis);
  for (const array& a : arrays.subspan(1)) {
    const extents& shape = a.elements().layout().shape();
    if (shape.size() != first.size()) return {};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d != at && shape[d] != first[d]) return {};
    }
    lengths[at] += shape[at];
  }
  return joined_pieces(arrays, lengths, lines(first, axis).outer);
}

std::optional<array> stack_small(std::span<const array> arrays, int axis) {
  if (!are_alike(arrays)) return {};
  const extents& first = arrays[0].elements().layout().shape();
  for (const array& a : arrays.subspan(1)) {
    if (!(a.elements().layout().shape() == first)) return {};
  }
  if (first.size() == static_cast<std::size_t>(max_rank)) return {};
  std::vector<std::int64_t> lengths(first.begin(), first.end());
  lengths.insert(lengths.begin() + axis, static_cast<std::int64_t>(arrays.size()));
  std::int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= first[static_cast<std::size_t>(d)];
  return joined_pieces(arrays, lengths, outer);
}

std::optional<array> repeat_small(const array& a, std::int64_t times, int axis) {
  const any_view& v = a.elements();
  if (times < 0 || times > most_on_host / v.size()) return {};
  const extents& shape = v.layout().shape();
  std::vector<std::int64_t> lengths(shape.begin(), shape.end());
  lengths[static_cast<std::size_t>(axis)] *= times;
  array out = like(a, lengths, v.dtype());
  const row_of_small row(v);
  const traced record(trace_action::copy,
                      [&] { return traced_on(a.queue(), traced_views(out.elements(), v)); });
  const lines l(shape, axis);
  const std::int64_t bytes = item_bytes(a) * l.inner;
  auto* to = elements_of<std::byte>(out);
  for (std::int64_t k = 0; k < l.outer * l.length; ++k) {
    for (std::int64_t n = 0; n < times; ++n) copy_bytes(to, row.as<std::byte>() + k * bytes, bytes);
  }
  return out;
}

}  // namespace usmx::detail
