// Arrays whose element type and rank the compiler knows: made in one line, and read and written on
// the host without casts.
//
//   auto x = usmx::empty<float>(queue, {2, 3});   // typed_array<float, 2>
//   x.host()(0, 1) = 5;
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "usmx/array.hpp"
#include "usmx/copy.hpp"
#include "usmx/default_kind.hpp"

namespace usmx {

namespace detail {
/// Throws interop_error that names the field, what it held and what was expected: `why` is what
/// any_view::typed found.
[[noreturn]] void refuse_typed(fault why, const any_view& v, const dtype& wanted, int rank);
/// Throws interop_error (kind_mismatch) unless the host may read and write every element.
void require_on_host(const array& a);
/// Copies all elements to memory of the host, in C order and cast to `type`. Waits.
void read_elements(const array& a, const dtype& type, void* to);
/// The other way, of the array's own type.
void write_elements(const array& a, const void* from);
/// Throws interop_error (strides_rank) unless the elements are contiguous, in C order.
void require_contiguous(const any_view& v);
}  // namespace detail

/// A view that the host may loop over, valid until the function returns that got it as an argument.
template <class T, int Rank>
struct host_view : view<T, Rank> {
  const array* origin = nullptr;
  /// Where results belong: compute follows data.
  const sycl::queue& queue() const { return origin->queue(); }
};

/// The elements of an array for loops on the host; `on_host` makes one. As long as it lives, it
/// keeps the memory, and commands on the memory are waited for where they are submitted, so that
/// both always see what the other wrote before.
template <class T, int Rank>
class host_elements : public view<T, Rank> {
 public:
  host_elements(const view<T, Rank>& elements, const array& of)
      : view<T, Rank>(elements), layout_(of.elements()), access_(of.keep_alive()) {
    of.wait();
  }
  /// All elements, one after the other. Throws interop_error unless they are contiguous, in C
  /// order.
  std::span<T> span() const {
    detail::require_contiguous(layout_);
    return {this->data, static_cast<std::size_t>(this->size())};
  }

 private:
  any_view layout_;
  host_access access_;
};

/// The typed form of any array's elements, for the host. `const T` also takes read-only memory.
/// Waits for pending commands. Throws interop_error: dtype_mismatch, rank_mismatch, read_only,
/// kind_mismatch (device memory).
template <class T, int Rank>
[[nodiscard]] host_elements<T, Rank> on_host(const array& a) {
  view<T, Rank> elements;
  const fault found = a.elements().typed(elements);
  if (found != fault::none) detail::refuse_typed(found, a.elements(), dtype::of<T>(), Rank);
  detail::require_on_host(a);
  return {elements, a};
}

/// An array whose dtype and rank were checked, for work that outlives the call.
template <class T, int Rank>
struct typed_array : array {
  /// What kernels and functions of other libraries take.
  usmx::view<T, Rank> view;

  /// The elements for loops on the host, see `on_host`.
  [[nodiscard]] host_elements<T, Rank> host() const { return on_host<T, Rank>(*this); }
};

/// The array with its dtype and rank checked. Throws interop_error: dtype_mismatch, rank_mismatch,
/// read_only (for a `T` that is not const).
template <class T, int Rank>
typed_array<T, Rank> typed(array a) {
  typed_array<T, Rank> made{std::move(a), {}};
  const fault found = made.elements().typed(made.view);
  if (found != fault::none) detail::refuse_typed(found, made.elements(), dtype::of<T>(), Rank);
  return made;
}

/// New memory in C order with undefined contents: `empty<float>(queue, {2, 3})`. By default of the
/// kind that suits the device. Throws as array::empty does.
template <class T, std::size_t Rank>
typed_array<T, static_cast<int>(Rank)> empty(const sycl::queue& queue,
                                             const std::int64_t (&shape)[Rank],
                                             std::optional<usm_kind> kind = {}) {
  return typed<T, static_cast<int>(Rank)>(
      array::empty(queue, shape, dtype::of<T>(), kind ? *kind : default_kind(queue)));
}

/// The same with all elements equal to `value`. Does not wait.
template <class T, std::size_t Rank>
typed_array<T, static_cast<int>(Rank)> full(const sycl::queue& queue,
                                            const std::int64_t (&shape)[Rank],
                                            const std::type_identity_t<T>& value,
                                            std::optional<usm_kind> kind = {}) {
  auto made = empty<T>(queue, shape, kind);
  fill_async(queue, made, &value);
  return made;
}

/// The same with all elements zero. Does not wait.
template <class T, std::size_t Rank>
typed_array<T, static_cast<int>(Rank)> zeros(const sycl::queue& queue,
                                             const std::int64_t (&shape)[Rank],
                                             std::optional<usm_kind> kind = {}) {
  return full<T>(queue, shape, T{}, kind);
}

/// A copy of elements of the host, in C order: `from_host<float>(queue, values, {2, 3})`. Throws
/// interop_error (shape_overflow) if there are more or fewer values than elements.
template <class T, std::size_t Rank>
typed_array<T, static_cast<int>(Rank)> from_host(const sycl::queue& queue,
                                                 std::span<const std::type_identity_t<T>> values,
                                                 const std::int64_t (&shape)[Rank],
                                                 std::optional<usm_kind> kind = {}) {
  auto made = empty<T>(queue, shape, kind);
  if (made.view.size() != static_cast<std::int64_t>(values.size())) {
    throw interop_error(fault::shape_overflow, "shape: has " + std::to_string(made.view.size()) +
                                                   " elements, and the values are " +
                                                   std::to_string(values.size()));
  }
  if (!values.empty()) detail::write_elements(made, values.data());
  return made;
}
/// The same for one dimension.
template <class T>
typed_array<T, 1> from_host(const sycl::queue& queue,
                            std::span<const std::type_identity_t<T>> values,
                            std::optional<usm_kind> kind = {}) {
  return from_host<T>(queue, values, {static_cast<std::int64_t>(values.size())}, kind);
}

/// All elements in C order, cast to `T` as copies are; of any memory, device memory too. Waits.
template <class T>
std::vector<T> to_vector(const array& a) {
  static_assert(!std::is_same_v<T, bool>, "a vector<bool> has no elements to copy to: take char");
  std::vector<T> made(static_cast<std::size_t>(a.size()));
  if (!made.empty()) detail::read_elements(a, dtype::of<T>(), made.data());
  return made;
}

/// The only element of an array, cast to `T` as copies are. Waits. Throws std::invalid_argument if
/// there are more or none.
template <class T>
T item(const array& a) {
  if (a.size() != 1) {
    throw std::invalid_argument("shape: has " + std::to_string(a.size()) +
                                " elements; expected one");
  }
  T made;
  detail::read_elements(a, dtype::of<T>(), &made);
  return made;
}

}  // namespace usmx
