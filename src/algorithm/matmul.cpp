// See usmx/matmul.hpp and products.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/matmul.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "algorithm/axes.hpp"
#include "algorithm/own_kernels.hpp"
#include "algorithm/products.hpp"
#include "algorithm/rows.hpp"
#include "compute/named_reductions.hpp"
#include "core/format.hpp"
#include "usmx/arithmetic.hpp"
#include "usmx/copy.hpp"
#include "usmx/loops.hpp"
#include "usmx/placement.hpp"
#include "usmx/promotion.hpp"

namespace usmx {
namespace {

using detail::format;
using detail::matrix_product;
using steps = std::vector<view_step>;

/// Rows and columns of a tile, as in kernels/matrix_product.hpp.
constexpr std::int64_t tile_length = 64;
/// Rows or columns from which on tiles are faster than sums of products.
constexpr std::int64_t small_length = 16;

const extents& shape_of(const deferred_operand& x) {
  const auto* const later = std::get_if<shared_deferred>(&x);
  return later != nullptr ? (*later)->shape()
                          : std::get<operand>(x).array()->elements().layout().shape();
}
const dtype& type_of(const deferred_operand& x) {
  const auto* const later = std::get_if<shared_deferred>(&x);
  return later != nullptr ? (*later)->dtype() : std::get<operand>(x).type();
}
int rank_of(const deferred_operand& x) { return static_cast<int>(shape_of(x).size()); }

dtype type_of_product(const deferred_operand& x1, const deferred_operand& x2) {
  const std::optional<dtype> type = promote(type_of(x1), type_of(x2));
  if (type) return *type;
  throw interop_error(fault::dtype_mismatch, format("x1, x2: of {} and {}; expected numbers",
                                                    type_of(x1).name(), type_of(x2).name()));
}

view_step swapped(int axis, int other) {
  return {.what = view_step::kind::swap, .axis = axis, .other = other};
}
view_step inserted(int axis) { return {.what = view_step::kind::insert, .axis = axis}; }

/// A view of an operand.
class viewed {
 public:
  viewed(const deferred_operand& x, steps all) : value_(x) {
    if (all.empty()) return;
    if (const auto* const later = std::get_if<shared_deferred>(&x)) {
      value_ = view_of(*later, std::move(all));
      return;
    }
    const array& whole = *std::get<operand>(x).array();
    part_ = whole.with_view(stepped(whole.elements(), all));
    value_ = operand(part_);
  }
  viewed(const viewed&) = delete;
  viewed& operator=(const viewed&) = delete;
  const deferred_operand& get() const noexcept { return value_; }

 private:
  array part_;
  deferred_operand value_;
};

/// Along the last axis.
shared_deferred summed(const sycl::queue& queue, const deferred_operand& x1,
                       const deferred_operand& x2) {
  const dtype own = type_of_product(x1, x2);
  const int last = std::max(rank_of(x1), rank_of(x2)) - 1;
  std::array<deferred_operand, 2> both{x1, x2};
  // A product of two bfloat16 has 16 digits.
  if (type_of(x1).is_bfloat16() || type_of(x2).is_bfloat16()) {
    for (deferred_operand& x : both) x = cast(queue, x, detail::added_in(own));
  }
  const bool is_bool = own.kind() == type_class::boolean;
  return reduce(queue, apply(queue, detail::operation_of("multiply"), both),
                {.value = detail::added_in(own),
                 .result = own,
                 .reduce = is_bool ? "a || b" : "a + b",
                 .identity = is_bool ? "false" : "0"},
                {.axes = {{last}}});
}

/// Contiguous matrices of a type, and the distance between them: 0 if there is one for all.
std::pair<array, std::int64_t> stacked(const array& x, const extents& stack, const dtype& type) {
  const std::int64_t matrix = x.extent(x.rank() - 2) * x.extent(x.rank() - 1);
  const bool is_one = x.size() == matrix;
  any_view elements = x.elements();
  const extents own(x.shape().first(x.shape().size() - 2));
  if (!is_one && !(own == stack)) {
    extents shape(stack.size() + 2);
    std::ranges::copy(stack, shape.data());
    std::ranges::copy(x.shape().last(2), shape.data() + stack.size());
    layout all;
    elements.layout().broadcast(shape, all);
    elements = elements.with_layout(std::move(all), 0);
  }
  array made = x.with_view(std::move(elements));
  if (made.elements().dtype() != type || !made.elements().layout().is_c_contiguous()) {
    const array copy = array::empty(x.queue(), made.shape(), type, detail::kind_of_results(x));
    copy_async(x.queue(), copy, made);
    made = copy;
  }
  return {std::move(made), is_one ? 0 : matrix};
}

}  // namespace

namespace detail {

matrix_product::matrix_product(const deferred_operand& x1, const deferred_operand& x2)
    : type(type_of_product(x1, x2)) {
  const extents &first = shape_of(x1), &second = shape_of(x2);
  for (const auto& [name, given] : {std::pair("x1", &first), std::pair("x2", &second)}) {
    if (!given->empty()) continue;
    throw std::invalid_argument(format("{}: has no dimensions; expected at least one", name));
  }
  const std::size_t rank1 = first.size(), rank2 = second.size();
  length = second[rank2 - (rank2 == 1 ? 1 : 2)];
  if (first[rank1 - 1] != length) {
    throw std::invalid_argument(
        format("x2: has shape {}, expected {} where it has {}, because x1 has shape {}",
               shape_text(second), first[rank1 - 1], length, shape_text(first)));
  }
  const std::int64_t n = rank1 == 1 ? 1 : first[rank1 - 2], m = rank2 == 1 ? 1 : second[rank2 - 1];
  in_tiles = type.kind() != type_class::boolean && n > 1 && m > 1 && std::max(n, m) >= small_length;
  if (!in_tiles) return;
  const extents own(first.span().first(rank1 - 2)), other(second.span().first(rank2 - 2));
  const extents* const stacks[] = {&own, &other};
  const extents stack = broadcast_shape(stacks);
  shape = extents(stack.size() + 2, n);
  std::ranges::copy(stack, shape.data());
  shape[stack.size() + 1] = m;
}

std::int64_t matrix_product::work() const noexcept {
  return shape[shape.size() - 2] * length * shape[shape.size() - 1];
}

shared_deferred sum_of_products(const sycl::queue& queue, const deferred_operand& x1,
                                const deferred_operand& x2) {
  // (..., n, 1, k) times (..., 1, m, k); the axes of a row and of a column are not there.
  const int rank1 = rank_of(x1), rank2 = rank_of(x2);
  steps first, second;
  if (rank2 > 1) {
    second.push_back(swapped(rank2 - 2, rank2 - 1));
    if (rank1 > 1) {
      first.push_back(inserted(rank1 - 1));
      second.push_back(inserted(rank2 - 2));
    }
  }
  return summed(queue, viewed(x1, std::move(first)).get(), viewed(x2, std::move(second)).get());
}

shared_deferred vector_product(const sycl::queue& queue, const deferred_operand& x1,
                               const deferred_operand& x2, int axis) {
  const auto with_last = [&](const char* name, const deferred_operand& x) {
    const int rank = rank_of(x);
    if (axis < -rank || axis >= rank) {
      throw std::invalid_argument(format("axis: {} of {} with {} dimensions", axis, name, rank));
    }
    steps all;
    for (int k = axis < 0 ? axis + rank : axis; k + 1 < rank; ++k) all.push_back(swapped(k, k + 1));
    return all;
  };
  const viewed first(x1, with_last("x1", x1)), second(x2, with_last("x2", x2));
  const extents &own = shape_of(first.get()), &other = shape_of(second.get());
  if (own[own.size() - 1] != other[other.size() - 1]) {
    throw std::invalid_argument(format("x2: has length {} along axis {}, x1 has {}",
                                       other[other.size() - 1], axis, own[own.size() - 1]));
  }
  if (type_of(x1).kind() != type_class::complex) return summed(queue, first.get(), second.get());
  const deferred_operand one[] = {first.get()};
  return summed(queue, apply(queue, operation_of("conjugate"), one), second.get());
}

array empty_product(const array& x1, const array& x2, const matrix_product& how) {
  const array* const both[] = {&x1, &x2};
  const sycl::queue queue = *execution_queue(both);
  joint_kind kinds;
  for (const array* x : both) kinds.add(*x);
  array made = array::empty(queue, how.shape.span(), how.type, kinds.result(queue));
  if (how.length == 0 && made.size() != 0) {
    const std::array<std::byte, 16> zero{};
    fill_async(queue, made, zero.data());
  }
  return made;
}

void multiply_in_tiles(const array& x1, const array& x2, const array& made) {
  static auto& kernels = *new own_kernels("matmul.cpp");
  const dtype& type = made.elements().dtype();
  const extents stack(made.shape().first(made.shape().size() - 2));
  const auto [a, step_a] = stacked(x1, stack, type);
  const auto [b, step_b] = stacked(x2, stack, type);
  const std::int64_t n = made.extent(made.rank() - 2), m = made.extent(made.rank() - 1);
  const std::int64_t groups =
      made.size() / (n * m) * quotient_up(n, tile_length) * quotient_up(m, tile_length);
  kernels
      .get(made.queue(), "product",
           {"-ffp-contract=fast", format("-DTYPE={}", device_name(type)),
            format("-DSUM={}", device_name(added_in(type)))})
      .enqueue(made.queue(), in_groups(groups, tile_length),
               {a, b, made, n, x1.extent(x1.rank() - 1), m, step_a, step_b});
}

}  // namespace detail

array matmul(const array& x1, const array& x2) {
  const matrix_product how{operand(x1), operand(x2)};
  if (!how.in_tiles) return detail::sum_of_products(x1.queue(), operand(x1), operand(x2))->get();
  array made = detail::empty_product(x1, x2, how);
  if (made.size() != 0 && how.length != 0) detail::multiply_in_tiles(x1, x2, made);
  return made;
}

array vecdot(const array& x1, const array& x2, int axis) {
  return detail::vector_product(x1.queue(), operand(x1), operand(x2), axis)->get();
}

array outer(const array& x1, const array& x2) {
  for (const auto& [name, x] : {std::pair("x1", &x1), std::pair("x2", &x2)}) {
    if (x->rank() == 1) continue;
    throw std::invalid_argument(format("{}: has {} dimensions; expected one", name, x->rank()));
  }
  return compute("multiply", x1.with_view(stepped(x1.elements(), steps{inserted(1)})), x2);
}

}  // namespace usmx
