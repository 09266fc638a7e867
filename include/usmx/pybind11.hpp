// Functions that take and return USM, callable with objects of any library: include this in a
// pybind11 extension, and these are parameters.
//
//   host_view<T, Rank>          loops on the host      shared or host memory, NumPy's too; idle
//   view<T, Rank>               kernels                any memory; idle; no queue
//   array, typed_array<T, Rank> work on `queue()`      any memory; may have pending work
//   sycl::queue                 objects that name one
//
// The parameters, the results and the two kinds of "no" are those of usmx/nanobind.hpp. What
// differs is pybind11's own: a producer is asked once for each overload that is tried, and
// std::optional and containers need <pybind11/stl.h>.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <pybind11/pybind11.h>

#include "usmx/detail/argument.hpp"

namespace usmx::python {
#pragma GCC visibility push(hidden)

/// The table of the `usmx` that this process imports. Called by the casters when they are first
/// used; call it in PYBIND11_MODULE to fail at import instead. Throws pybind11::error_already_set
/// (ImportError).
inline const python_api& api() {
  static const python_api& table = []() -> const python_api& {
    const python_api* const found = find_api();
    if (found == nullptr) throw pybind11::error_already_set();
    pybind11::register_local_exception_translator([](std::exception_ptr error) {
      if (error && !find_api()->set_error(&error)) std::rethrow_exception(error);
    });
    return *found;
  }();
  return table;
}

/// A new object for what a function returns. Throws pybind11::error_already_set.
inline pybind11::handle returned(PyObject* made) {
  if (made == nullptr) throw pybind11::error_already_set();
  return made;
}

#pragma GCC visibility pop
}  // namespace usmx::python

namespace pybind11::detail {

/// A parameter that is a value of the caster's own. Conversion operators raise the reason of a
/// refusal: they run when all arguments of an overload fit.
template <class Value>
struct usmx_value_caster {
  static constexpr auto name = const_name(usmx::python::parameter_text<Value>.value);
  template <class T>
  using cast_op_type = movable_cast_op_type<T>;

  bool load(handle source, bool) {
    return refused_.keep([&] {
      const usmx::python_api& t = usmx::python::api();
      const usmx::array* elements = t.array_of(source.ptr());
      if (elements == nullptr) {
        made_ = reinterpret_steal<object>(usmx::python::takes_host<Value>
                                              ? t.import_host(source.ptr())
                                              : t.import_array(source.ptr()));
        if (!made_) {
          if (PyErr_Occurred() != nullptr) throw error_already_set();
          return false;
        }
        elements = t.array_of(made_.ptr());
        // A container copies the value out of this caster, which then ends before the call does.
        if constexpr (usmx::python::borrows<Value>) loader_life_support::add_patient(made_);
      }
      return usmx::python::fill(value_, *elements);
    });
  }
  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() && { return static_cast<Value&&>(checked()); }

 private:
  Value& checked() {
    refused_.raise();
    return value_;
  }

  usmx::python::kept_error<error_already_set> refused_;
  object made_;
  Value value_;
};

/// What a function may return as well.
template <class Value>
struct usmx_array_caster : usmx_value_caster<Value> {
  static handle cast(const usmx::array& value, return_value_policy, handle) {
    return usmx::python::returned(usmx::python::api().wrap_array(&value));
  }
};

template <>
struct type_caster<usmx::array> : usmx_array_caster<usmx::array> {
#if PYBIND11_VERSION_MAJOR >= 3
  static constexpr auto name = io_name("usmx.typing.SupportsUSM", "usmx.ndarray");
#endif
};

template <class T, int Rank>
struct type_caster<usmx::typed_array<T, Rank>> : usmx_array_caster<usmx::typed_array<T, Rank>> {};

template <class T, int Rank>
struct type_caster<usmx::view<T, Rank>> : usmx_value_caster<usmx::view<T, Rank>> {};

template <class T, int Rank>
struct type_caster<usmx::host_view<T, Rank>> : usmx_value_caster<usmx::host_view<T, Rank>> {};

/// Objects that name a queue: Queue, dpctl.SyclQueue, a capsule, a filter string; None for the
/// default.
template <>
struct type_caster<sycl::queue> {
  static constexpr auto name = const_name("usmx.typing.QueueLike");
  template <class T>
  using cast_op_type = movable_cast_op_type<T>;

  bool load(handle source, bool) {
    return refused_.keep([&] {
      usmx::python::api().import_queue(source.ptr(), &value_);
      if (!value_) throw error_already_set();
      return true;
    });
  }
  static handle cast(const sycl::queue& value, return_value_policy, handle) {
    return usmx::python::returned(usmx::python::api().wrap_queue(&value));
  }
  explicit operator sycl::queue*() { return &checked(); }
  explicit operator sycl::queue&() { return checked(); }
  explicit operator sycl::queue&&() && { return std::move(checked()); }

 private:
  sycl::queue& checked() {
    refused_.raise();
    return *value_;
  }

  usmx::python::kept_error<error_already_set> refused_;
  std::optional<sycl::queue> value_;
};

}  // namespace pybind11::detail
