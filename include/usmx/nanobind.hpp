// Functions that take and return USM, callable with objects of any library: include this in a
// nanobind extension, and these are parameters.
//
//   host_view<T, Rank>          loops on the host      shared or host memory; idle
//   view<T, Rank>               kernels                any memory; idle; no queue
//   array, typed_array<T, Rank> work on `queue()`      any memory; may have pending work
//   sycl::queue                 whatever names one
//
// Idle: work that was pending on the memory is waited for before the function gets it. `const T`
// also takes read-only memory. Results are returned as `array`.
//
// Two kinds of "no". Another dtype or rank, or an object without USM: the next overload is tried,
// and nanobind's TypeError comes last. Malformed, read-only where the function writes, or outside
// its allocation: a ValueError that names the field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <type_traits>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "usmx/detail/nanobind_argument.hpp"

namespace usmx {

/// A view that the host may loop over, valid until the function returns.
template <class T, int Rank>
struct host_view : view<T, Rank> {
  const array* origin = nullptr;
  /// Where results belong: compute follows data.
  const sycl::queue& queue() const { return origin->queue(); }
};

/// An array whose dtype and rank were checked, for work that outlives the call.
template <class T, int Rank>
struct typed_array : array {
  usmx::view<T, Rank> view;
};

}  // namespace usmx

namespace nanobind::detail {

/// What a signature says of an array argument: `Annotated[SupportsUSM, dict(dtype='float32',
/// ...)]`.
template <class T>
constexpr auto usmx_dtype_name() {
  using U = std::remove_cv_t<T>;
  constexpr auto bits = const_name<sizeof(U) * 8>();
  if constexpr (std::is_same_v<U, bool>) {
    return const_name("bool");
  } else if constexpr (std::is_integral_v<U>) {
    return const_name<std::is_signed_v<U>>("int", "uint") + bits;
  } else if constexpr (std::is_floating_point_v<U> || usmx::is_half<U>) {
    return const_name("float") + bits;
  } else if constexpr (usmx::detail::is_complex<U>::value) {
    return const_name("complex") + bits;
  } else {
    return const_name("record") + bits;
  }
}
template <class T, int Rank>
constexpr auto usmx_view_name() {
  return const_name("typing.Annotated[usmx.typing.SupportsUSM, dict(dtype='") +
         usmx_dtype_name<T>() + const_name("', ndim=") + const_name<Rank>() +
         const_name<std::is_const_v<T>>("", ", writable=True") + const_name(")]");
}

/// By value or by const reference. The function gets it without waiting: it submits to `queue()`,
/// or calls `wait()`.
template <>
struct type_caster<usmx::array> {
  static constexpr auto Name = io_name("usmx.typing.SupportsUSM", "usmx.ndarray");
  template <class T>
  using Cast =
      std::conditional_t<std::is_same_v<T, const usmx::array&>, const usmx::array&, usmx::array>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(handle source, std::uint32_t, cleanup_list* call,
                   const char* caller = __builtin_FUNCTION()) {
    return from_.load(source, call, usmx::python::may_throw(caller));
  }
  static handle from_cpp(const usmx::array& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_array(&value);
  }
  explicit operator const usmx::array&() { return *from_.elements; }
  explicit operator usmx::array() { return *from_.elements; }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::view<T, Rank>> {
  using Argument = usmx::view<T, Rank>;
  NB_TYPE_CASTER(Argument, (usmx_view_name<T, Rank>()))

  bool from_python(handle source, std::uint32_t, cleanup_list* call,
                   const char* caller = __builtin_FUNCTION()) {
    using namespace usmx::python;
    const bool throws = may_throw(caller);
    return from_.load(source, call, throws) && load_typed(value, *from_.elements, throws) &&
           load_idle(*from_.elements, throws);
  }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::host_view<T, Rank>> {
  using Argument = usmx::host_view<T, Rank>;
  NB_TYPE_CASTER(Argument, (usmx_view_name<T, Rank>()))

  bool from_python(handle source, std::uint32_t, cleanup_list* call,
                   const char* caller = __builtin_FUNCTION()) {
    using namespace usmx::python;
    const bool throws = may_throw(caller);
    if (!from_.load(source, call, throws)) return false;
    value.origin = from_.elements;
    return load_typed(value, *from_.elements, throws) && load_on_host(*from_.elements, throws) &&
           load_idle(*from_.elements, throws);
  }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::typed_array<T, Rank>> {
  using Argument = usmx::typed_array<T, Rank>;
  NB_TYPE_CASTER(Argument, (usmx_view_name<T, Rank>()))

  bool from_python(handle source, std::uint32_t, cleanup_list* call,
                   const char* caller = __builtin_FUNCTION()) {
    const bool throws = usmx::python::may_throw(caller);
    usmx::python::argument from;
    if (!from.load(source, call, throws)) return false;
    static_cast<usmx::array&>(value) = *from.elements;
    return usmx::python::load_typed(value.view, value, throws);
  }
  static handle from_cpp(const usmx::array& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_array(&value);
  }
};

/// Whatever names a queue: Queue, dpctl.SyclQueue, a capsule, a filter string; None for the
/// default.
template <>
struct type_caster<sycl::queue> {
  static constexpr auto Name = io_name("usmx.typing.QueueLike", "usmx.Queue");
  template <class>
  using Cast = sycl::queue&;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(handle source, std::uint32_t, cleanup_list*,
                   const char* caller = __builtin_FUNCTION()) {
    usmx::python::api().import_queue(source.ptr(), &value_);
    if (value_) return true;
    if (usmx::python::may_throw(caller)) throw python_error();
    PyErr_Clear();
    return false;
  }
  static handle from_cpp(const sycl::queue& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_queue(&value);
  }
  explicit operator sycl::queue&() { return *value_; }

 private:
  std::optional<sycl::queue> value_;
};

template <class T>
concept usmx_argument = requires(type_caster<T> c, const char* caller) {
  c.from_python(handle(), 0U, nullptr, caller);
};

/// nanobind's own caster for optional cannot pass the reason of a refusal on.
template <usmx_argument T>
struct type_caster<std::optional<T>> {
  NB_TYPE_CASTER(std::optional<T>, optional_name(make_caster<T>::Name))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call,
                   const char* caller = __builtin_FUNCTION()) {
    if (source.is_none()) return true;
    if (!inner_.from_python(source, flags, call, caller)) return false;
    value.emplace(inner_.operator cast_t<T>());
    return true;
  }
  static handle from_cpp(const std::optional<T>& value, rv_policy policy,
                         cleanup_list* call) noexcept {
    return value ? make_caster<T>::from_cpp(*value, policy, call) : none().release();
  }

 private:
  make_caster<T> inner_;
};

}  // namespace nanobind::detail
