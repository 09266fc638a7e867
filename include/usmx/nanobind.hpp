// Functions that take and return USM, callable with objects of any library: include this in a
// nanobind extension, and these are parameters.
//
//   host_view<T, Rank>          loops on the host      shared or host memory; idle
//   view<T, Rank>               kernels                any memory; idle; no queue
//   array, typed_array<T, Rank> work on `queue()`      any memory; may have pending work
//   sycl::queue                 objects that name one
//
// Idle: work that was pending on the memory is waited for before the function gets it. `const T`
// also takes read-only memory. Results are returned as `array`.
//
// Two kinds of "no". Another dtype or rank, or an object without USM: the next overload is tried,
// and nanobind's TypeError comes last. Malformed, read-only where the function writes, or outside
// its allocation: a ValueError that names the field, raised when all arguments of the overload fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// What the casters of arguments have in common: they do not throw where nanobind does not allow
/// it, and raise the reason of a refusal when the argument is passed.
struct usmx_caster {
  template <class>
  bool can_cast() const noexcept {
    return refused_.allows();
  }

 protected:
  usmx::python::refusal refused_;
};

/// For arguments that are a value of the caster's own.
template <class Value_>
struct usmx_value_caster : usmx_caster {
  using Value = Value_;
  template <class T>
  using Cast = movable_cast_t<T>;

  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() { return static_cast<Value&&>(checked()); }

 protected:
  Value value_;

 private:
  Value& checked() {
    refused_.raise();
    return value_;
  }
};

/// By value or by const reference. The function gets it without waiting: it submits to `queue()`,
/// or calls `wait()`.
template <>
struct type_caster<usmx::array> : usmx_caster {
  static constexpr auto Name = io_name("usmx.typing.SupportsUSM", "usmx.ndarray");
  template <class T>
  using Cast =
      std::conditional_t<std::is_same_v<T, const usmx::array&>, const usmx::array&, usmx::array>;

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    return refused_.keep(flags, [&] { return from_.load(source, call); });
  }
  static handle from_cpp(const usmx::array& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_array(&value);
  }
  explicit operator const usmx::array&() {
    refused_.raise();
    return *from_.elements;
  }
  explicit operator usmx::array() {
    refused_.raise();
    return *from_.elements;
  }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::view<T, Rank>> : usmx_value_caster<usmx::view<T, Rank>> {
  static constexpr auto Name = usmx_view_name<T, Rank>();

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    return this->refused_.keep(flags, [&] {
      if (!from_.load(source, call) || !usmx::python::load_typed(this->value_, *from_.elements)) {
        return false;
      }
      usmx::python::load_idle(*from_.elements);
      return true;
    });
  }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::host_view<T, Rank>> : usmx_value_caster<usmx::host_view<T, Rank>> {
  static constexpr auto Name = usmx_view_name<T, Rank>();

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    return this->refused_.keep(flags, [&] {
      if (!from_.load(source, call)) return false;
      this->value_.origin = from_.elements;
      if (!usmx::python::load_typed(this->value_, *from_.elements)) return false;
      usmx::python::require_on_host(*from_.elements);
      usmx::python::load_idle(*from_.elements);
      return true;
    });
  }

 private:
  usmx::python::argument from_;
};

template <class T, int Rank>
struct type_caster<usmx::typed_array<T, Rank>> : usmx_value_caster<usmx::typed_array<T, Rank>> {
  static constexpr auto Name = usmx_view_name<T, Rank>();

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    return this->refused_.keep(flags, [&] {
      usmx::python::argument from;
      if (!from.load(source, call)) return false;
      static_cast<usmx::array&>(this->value_) = *from.elements;
      return usmx::python::load_typed(this->value_.view, this->value_);
    });
  }
  static handle from_cpp(const usmx::array& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_array(&value);
  }
};

/// Objects that name a queue: Queue, dpctl.SyclQueue, a capsule, a filter string; None for the
/// default.
template <>
struct type_caster<sycl::queue> : usmx_caster {
  static constexpr auto Name = io_name("usmx.typing.QueueLike", "usmx.Queue");
  template <class>
  using Cast = sycl::queue&;

  bool from_python(handle source, std::uint32_t flags, cleanup_list*) noexcept {
    return refused_.keep(flags, [&] {
      usmx::python::api().import_queue(source.ptr(), &value_);
      if (!value_) throw python_error();
      return true;
    });
  }
  static handle from_cpp(const sycl::queue& value, rv_policy, cleanup_list*) noexcept {
    return usmx::python::api().wrap_queue(&value);
  }
  explicit operator sycl::queue&() {
    refused_.raise();
    return *value_;
  }

 private:
  std::optional<sycl::queue> value_;
};

/// nanobind's own caster for optional converts where it must not throw: the reason of a refusal
/// would be lost.
template <class T>
  requires std::is_base_of_v<usmx_caster, type_caster<T>>
struct type_caster<std::optional<T>> {
  using Value = std::optional<T>;
  template <class>
  using Cast = Value;
  static constexpr auto Name = optional_name(make_caster<T>::Name);

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    is_given_ = !source.is_none();
    return !is_given_ || inner_.from_python(source, flags, call);
  }
  template <class>
  bool can_cast() const noexcept {
    return !is_given_ || inner_.template can_cast<T>();
  }
  static handle from_cpp(const std::optional<T>& value, rv_policy policy,
                         cleanup_list* call) noexcept {
    return value ? make_caster<T>::from_cpp(*value, policy, call) : none().release();
  }
  explicit operator Value() {
    if (!is_given_) return std::nullopt;
    return Value(inner_.operator cast_t<T>());
  }

 private:
  make_caster<T> inner_;
  bool is_given_ = false;
};

}  // namespace nanobind::detail
