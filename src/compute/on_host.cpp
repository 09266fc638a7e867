// The operations that are exact, so that every processor gives the same values, and those that are
// computed alike everywhere: see on_host.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/on_host.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/value.hpp"
#include "core/numbers.hpp"
#include "usmx/promotion.hpp"

// The text of kernels, in a namespace of its own: its types have names that ours have too.
#define USMX_COMPILED_FOR_HOST
#define usmx usmx_of_kernels
#include "../../kernels/expression/product.hpp"
#include "../../kernels/operations.hpp"
#undef usmx

#if defined(__x86_64__) && !defined(__FMA__)
#define USMX_WITH_FMA [[gnu::target("avx2,fma")]]
#endif
#define USMX_ON_HOST [[gnu::always_inline]] inline

// --- the rows, as functions of numbers

// Inside, where the names in the texts of rows are those that kernels see.
namespace usmx_of_kernels::fusion::host_rows {
namespace {

constexpr bool has(std::string_view kinds, char kind) {
  return kinds.find(kind) != std::string_view::npos;
}
template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return 'b';
  } else if constexpr (expression::is_complex<T>) {
    return 'c';
  } else if constexpr (is_floating<T>) {
    return 'f';
  } else {
    return std::is_signed_v<T> ? 'i' : 'u';
  }
}
template <class T>
constexpr bool is_of(std::string_view kinds) {
  return has(kinds, kind_of<T>());
}

template <class T>
struct part {
  using type = T;
};
template <class T>
struct part<complex<T>> {
  using type = T;
};
template <class T>
using part_of = typename part<T>::type;

template <class... T>
struct list_of {};
/// In the order of number_index.
using numbers = list_of<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                        uint64_t, half, float, double, complex<float>, complex<double>, bfloat16>;

using ::usmx::detail::most_at_high_cost;
using ::usmx::detail::most_at_low_cost;
using ::usmx::detail::most_at_some_cost;

#include "compute/host_rows.inc"

}  // namespace
}  // namespace usmx_of_kernels::fusion::host_rows

namespace usmx::detail {

namespace expression = usmx_of_kernels::expression;
namespace host_rows = usmx_of_kernels::fusion::host_rows;
using host_rows::has;
using host_rows::kind_of;
using host_rows::list_of;

namespace {

/// Elements of a type. A foreign true need not be 1.
template <class T>
struct row_of {
  const std::byte* first;

  USMX_ON_HOST T operator[](std::int64_t k) const {
    if constexpr (std::is_same_v<T, bool>) {
      return first[k] != std::byte{};
    } else {
      return reinterpret_cast<const T*>(first)[k];
    }
  }
};

// The memory of results is new, so no loop writes what it reads. All operands are read, so that a
// choice between them is not a branch.
template <class Row, class T>
USMX_ON_HOST void compute(std::byte* out, const std::byte* const* in, std::int64_t count) {
  if constexpr (requires(T x) { Row::template of<T>(x); }) {
    auto* const __restrict to = reinterpret_cast<decltype(Row::template of<T>(T()))*>(out);
    const row_of<T> a{in[0]};
    for (std::int64_t k = 0; k < count; ++k) to[k] = Row::template of<T>(a[k]);
  } else if constexpr (requires(T x) { Row::template of<T>(x, x); }) {
    auto* const __restrict to = reinterpret_cast<decltype(Row::template of<T>(T(), T()))*>(out);
    const row_of<T> a{in[0]}, b{in[1]};
    for (std::int64_t k = 0; k < count; ++k) to[k] = Row::template of<T>(a[k], b[k]);
  } else {
    auto* const __restrict to = reinterpret_cast<T*>(out);
    const row_of<bool> a{in[0]};
    const row_of<T> b{in[1]}, c{in[2]};
    for (std::int64_t k = 0; k < count; ++k) {
      const T first = b[k], second = c[k];
      to[k] = Row::template of<T>(a[k], first, second);
    }
  }
}

#ifdef USMX_WITH_FMA
template <class Row, class T>
USMX_WITH_FMA void loop_with_fma(std::byte* out, const std::byte* const* in, std::int64_t count) {
  compute<Row, T>(out, in, count);
}
#endif
/// Without instructions for fma each is a call. The bits are the same.
template <class Row, class T>
void loop(std::byte* out, const std::byte* const* in, std::int64_t count) {
#ifdef USMX_WITH_FMA
  if constexpr (Row::has_fma) {
    static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_fma) return loop_with_fma<Row, T>(out, in, count);
  }
#endif
  compute<Row, T>(out, in, count);
}

/// The entry of a type in a table of all types of numbers; null for records, which none has.
template <class Entry, std::size_t count>
const Entry* entry_of(const std::array<Entry, count>& all, const dtype& type) noexcept {
  const int number = number_index(type);
  return number < 0 ? nullptr : &all[static_cast<std::size_t>(number)];
}

using loops_of_types = std::array<host_loop, number_types>;
struct row {
  std::string_view name;
  loops_of_types loops;
  std::int64_t most;
};

template <class Row, class... T>
constexpr row row_of_loops(list_of<T...>) {
  const auto one = []<class U>() -> host_loop {
    if constexpr (has(Row::kinds, kind_of<U>())) {
      return loop<Row, U>;
    } else {
      return nullptr;
    }
  };
  return {Row::name, {one.template operator()<T>()...}, Row::most};
}
template <class... Rows>
constexpr auto all_rows(list_of<Rows...>) {
  return std::array{row_of_loops<Rows>(host_rows::numbers())...};
}
constexpr auto rows = all_rows(host_rows::all_rows());

}  // namespace

host_function function_on_host(const operation& op, const dtype& type) noexcept {
  // By the place of the operation in the table: names are compared once.
  static const auto* const known = [] {
    auto* const all = new std::array<const row*, most_rows>{};
    for (const row& r : rows) (*all)[row_number(*find_operation(r.name))] = &r;
    return all;
  }();
  // What is cast was cast when it was read.
  static const operation& copy = *find_operation("positive");
  const row* const found = (*known)[row_number(&op == &cast_row ? copy : op)];
  if (found == nullptr) return {};
  const auto* const loop = entry_of(found->loops, type);
  return loop != nullptr ? host_function{*loop, found->most} : host_function{};
}

// --- casts, and elements that do not lie in a row

namespace {

template <class From, class To>
void cast_row_of(std::byte* out, const std::byte* in, std::int64_t count) {
  auto* const __restrict to = reinterpret_cast<To*>(out);
  const row_of<From> from{in};
  for (std::int64_t k = 0; k < count; ++k) to[k] = expression::convert<To>(from[k]);
}

template <class... T>
constexpr auto casts_of(list_of<T...>) {
  const auto from = []<class From>() {
    return std::array<host_cast, sizeof...(T)>{cast_row_of<From, T>...};
  };
  return std::array{from.template operator()<T>()...};
}
constexpr auto casts = casts_of(host_rows::numbers());

}  // namespace

host_cast cast_on_host(const dtype& from, const dtype& to) noexcept {
  const auto* const row = entry_of(casts, from);
  const host_cast* const cast = row != nullptr ? entry_of(*row, to) : nullptr;
  return cast != nullptr ? *cast : nullptr;
}

host_gather::host_gather(const any_view& v, const extents& shape)
    : next_(static_cast<const std::byte*>(v.data())), bytes_(v.dtype().itemsize()) {
  const auto& own = v.layout();
  const std::size_t rank = shape.size(), missing = rank - own.shape().size();
  axes_.reserve(rank + 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_one = d < missing || own.shape()[d - missing] == 1;
    const std::int64_t step = is_one ? 0 : own.strides()[d - missing];
    axes_.push_back({shape[d], step * static_cast<std::int64_t>(bytes_), 0});
  }
  if (rank == 0) axes_.push_back({1, 0, 0});
}

namespace {

template <class Word>
void copy_line(std::byte* out, const std::byte* from, std::int64_t step, std::int64_t count) {
  constexpr std::size_t bytes = sizeof(Word);
  for (std::int64_t k = 0; k < count; ++k) {
    std::memcpy(out + k * static_cast<std::int64_t>(bytes), from + k * step, bytes);
  }
}

}  // namespace

void host_gather::copy(std::byte* out, std::int64_t count) {
  axis& last = axes_.back();
  while (count > 0) {
    const std::int64_t here = std::min(count, last.length - last.at);
    const auto bytes = here * static_cast<std::int64_t>(bytes_);
    visit_word(bytes_, [&]<class Word>(std::type_identity<Word>) {
      copy_line<Word>(out, next_, last.step, here);
    });
    out += bytes;
    count -= here;
    last.at += here;
    next_ += here * last.step;
    for (std::size_t d = axes_.size(); d-- > 0 && axes_[d].at == axes_[d].length;) {
      next_ -= axes_[d].length * axes_[d].step;
      axes_[d].at = 0;
      if (d == 0) break;
      ++axes_[d - 1].at;
      next_ += axes_[d - 1].step;
    }
  }
}

// --- reductions to one number

namespace {

/// How a group of the CPU joins the elements of one result, which are all in one part: see
/// kernels/expression/reduce.hpp and `on_cpu` in expression/reduction.cpp.
constexpr int items = 16, blocks = 8;

template <class T, class Join, class Row>
T joined_by_item(Row x, std::int64_t count, int item) {
  const Join join;
  std::int64_t at = item;
  T now;
  if (count >= items * blocks) {
    T hand[blocks];
    for (int b = 0; b < blocks; ++b) hand[b] = x[at + b * items];
    at += items * blocks;
    for (; count + item - at >= items * blocks; at += items * blocks) {
      for (int b = 0; b < blocks; ++b) hand[b] = join(hand[b], x[at + b * items]);
    }
    for (int w = blocks / 2; w > 0; w /= 2) {
      for (int b = 0; b < w; ++b) hand[b] = join(hand[b], hand[b + w]);
    }
    now = hand[0];
  } else {
    now = x[at];
    at += items;
  }
  for (; at < count; at += items) now = join(now, x[at]);
  return now;
}

template <class T, class Join, class Row>
T folded(Row x, std::int64_t count) {
  T all = joined_by_item<T, Join>(x, count, 0);
  for (int item = 1; item < items && item < count; ++item) {
    all = Join()(all, joined_by_item<T, Join>(x, count, item));
  }
  return all;
}

template <class T>
struct row_of_products {
  row_of<T> x;
  expression::product<T> operator[](std::int64_t k) const { return expression::start(T(x[k])); }
};
struct join_products {
  template <class T>
  expression::product<T> operator()(const expression::product<T>& a,
                                    const expression::product<T>& b) const {
    return expression::joined(a, b);
  }
};

template <class Row>
struct join_by {
  template <class T>
  T operator()(T a, T b) const {
    return Row::template of<T>(a, b);
  }
};
using add = join_by<host_rows::add_row>;
using multiply = join_by<host_rows::multiply_row>;

template <class T, class Join>
void fold(std::byte* out, const std::byte* in, std::int64_t count) {
  const row_of<T> x{in};
  T all = folded<T, Join>(x, count);
  if constexpr (std::is_same_v<Join, multiply> && std::floating_point<T>) {
    if (all != all) {  // see product.hpp
      all = expression::ended(
          folded<expression::product<T>, join_products>(row_of_products<T>{x}, count));
    }
  }
  *reinterpret_cast<T*>(out) = all;
}

template <class T, class Join>
void fold_in_turn(std::byte* out, const std::byte* in, std::int64_t count) {
  const row_of<T> x{in};
  T all = x[0];
  for (std::int64_t k = 1; k < count; ++k) all = Join()(all, x[k]);
  *reinterpret_cast<T*>(out) = all;
}

template <class T, class Join>
constexpr host_fold both_folds(bool any_order) {
  return {fold<T, Join>, fold_in_turn<T, Join>, any_order || !std::floating_point<T>};
}

template <class Join>
host_fold fold_of(const dtype& type, bool any_order) noexcept {
  const auto one = [any_order]<class T>() -> host_fold {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, usmx_of_kernels::bfloat16> ||
                  expression::is_complex<T>) {
      return {};
    } else {
      return both_folds<T, Join>(any_order);
    }
  };
  const auto all = [&]<class... T>(list_of<T...>) {
    return std::array{one.template operator()<T>()...};
  }(host_rows::numbers());
  const auto* const fold = entry_of(all, type);
  return fold != nullptr ? *fold : host_fold{};
}

}  // namespace

host_fold fold_on_host(std::string_view reduce, const dtype& type) noexcept {
  using namespace host_rows;
  if (reduce == "a + b") return fold_of<add>(type, false);
  if (reduce == "a * b") return fold_of<multiply>(type, false);
  if (reduce == "smaller(a, b)") return fold_of<join_by<minimum_row>>(type, true);
  if (reduce == "larger(a, b)") return fold_of<join_by<maximum_row>>(type, true);
  const bool is_bool = type.kind() == type_class::boolean;
  if (is_bool && reduce == "a || b") return fold_of<add>(type, true);
  if (is_bool && reduce == "a && b") return fold_of<multiply>(type, true);
  return {};
}

void divide_on_host(std::byte* value, const dtype& type, double by) noexcept {
  if (type.itemsize() == sizeof(float)) {
    *reinterpret_cast<float*>(value) /= static_cast<float>(by);
  } else {
    *reinterpret_cast<double*>(value) /= by;
  }
}

}  // namespace usmx::detail
