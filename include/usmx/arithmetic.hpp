// Arithmetic on arrays as it is written on paper: `2 * x + sqrt(y)` is one kernel, with NumPy's
// types and broadcasting, computed when its elements are needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "usmx/operations.hpp"

namespace usmx {

/// What an operator gives: the elements are computed when an array is made of it, and they are
/// those of the line where it stands, also if its operands change later. Cheap to copy.
class deferred_array {
 public:
  explicit deferred_array(shared_deferred value);

  /// Lengths of the dimensions; valid while a copy of this lives.
  std::span<const std::int64_t> shape() const noexcept { return of().shape().span(); }
  /// Length of dimension `axis`, which must be one.
  std::int64_t extent(int axis) const noexcept {
    return of().shape()[static_cast<std::size_t>(axis)];
  }
  int rank() const noexcept { return static_cast<int>(of().shape().size()); }
  const usmx::dtype& dtype() const noexcept { return of().dtype(); }
  /// Where it will be computed.
  const sycl::queue& queue() const noexcept { return of().queue(); }
  /// Of the memory that the result will have.
  usm_kind kind() const noexcept { return of().kind(); }
  /// What other values are computed from.
  const shared_deferred& value() const noexcept { return *value_; }

  /// Submits what computes it, once. Throws build_error, allocation_error.
  array get() const { return of().get(); }
  operator array() const { return get(); }  // NOLINT: implicit

 private:
  deferred& of() const noexcept { return **value_; }

  /// As long as a copy lives, the value is kept when others are computed from it.
  std::shared_ptr<const shared_deferred> value_;
};

namespace detail {

template <class T>
concept array_operand = std::derived_from<T, array> || std::same_as<T, deferred_array>;
template <class T>
concept number_operand = std::is_arithmetic_v<T> || std::same_as<T, std::complex<double>>;

/// Operands of which one is an array at least: it says on which queue.
template <class... T>
concept operands = ((array_operand<T> || number_operand<T>) && ...) && (array_operand<T> || ...);

inline deferred_operand as_operand(const array& a) { return operand(a); }
inline deferred_operand as_operand(const deferred_array& a) { return a.value(); }
template <number_operand T>
deferred_operand as_operand(const T& number) {
  return operand(number);
}

inline const sycl::queue* queue_of(const array& a) { return &a.queue(); }
inline const sycl::queue* queue_of(const deferred_array& a) { return &a.queue(); }
template <number_operand T>
const sycl::queue* queue_of(const T&) {
  return nullptr;
}

template <class... T>
deferred_array compute(const operation& op, const T&... x) {
  const sycl::queue* queue = nullptr;
  ((queue = queue != nullptr ? queue : queue_of(x)), ...);
  const std::array<deferred_operand, sizeof...(T)> operands{as_operand(x)...};
  return deferred_array(apply(*queue, op, operands));
}

/// Throws std::invalid_argument for a name that no operation has.
const operation& operation_of(std::string_view name);

template <array_operand T>
deferred_array reduced(const T& x, named_reduction which, const reduction_axes& axes) {
  return deferred_array(reduce(*queue_of(x), as_operand(x), which, axes));
}

}  // namespace detail

/// The operation of a name, as `compute("arctan2", y, x)`. Throws std::invalid_argument for a name
/// that no operation has, and as `apply` does.
template <class... T>
  requires detail::operands<T...>
deferred_array compute(std::string_view name, const T&... x) {
  return detail::compute(detail::operation_of(name), x...);
}

// The operators of C++ and the functions of the table, `sin(x)` or `where(x > 0, x, 0)`.
#include "usmx/detail/functions.inc"

/// Over all axes, or some: `sum(x, {.axes = {{0}}, .keep = true})`. Each throws
/// std::invalid_argument (axes; no elements for min and max), interop_error (dtype_mismatch).
template <detail::array_operand T>
deferred_array sum(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::sum, axes);
}
/// The product of the elements.
template <detail::array_operand T>
deferred_array prod(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::product, axes);
}
/// The sum divided by the number of elements.
template <detail::array_operand T>
deferred_array mean(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::mean, axes);
}
/// The smallest element; NaN if there is one.
template <detail::array_operand T>
deferred_array min(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::smallest, axes);
}
/// The largest element; NaN if there is one.
template <detail::array_operand T>
deferred_array max(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::largest, axes);
}
/// Whether one element is not 0.
template <detail::array_operand T>
deferred_array any(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::any, axes);
}
/// Whether all elements are not 0.
template <detail::array_operand T>
deferred_array all(const T& x, const reduction_axes& axes = {}) {
  return detail::reduced(x, named_reduction::all, axes);
}

}  // namespace usmx
