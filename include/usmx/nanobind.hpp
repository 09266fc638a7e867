// Functions that take and return USM, callable with objects of any library: include this in a
// nanobind extension, and these are parameters.
//
//   host_view<T, Rank>          loops on the host      shared or host memory, NumPy's too; idle
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
//
// With this header NB_MODULE makes that TypeError one line, for all functions of the module: its
// last act is `usmx::python::explain_calls(m)`.
//
// usmx/pybind11.hpp is the same for pybind11.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "usmx/detail/argument.hpp"
#include "usmx/detail/explained_calls.hpp"

namespace usmx::python {
#pragma GCC visibility push(hidden)

namespace nb = nanobind;

/// The table of the `usmx` that this process imports. Called by the casters when they are first
/// used; call it in NB_MODULE to fail at import instead. Throws nb::python_error (ImportError).
inline const python_api& api() {
  static const python_api& table = []() -> const python_api& {
    const python_api* const found = find_api();
    if (found == nullptr) throw nb::python_error();
    nb::register_exception_translator(
        [](const std::exception_ptr& error, void* self) {
          if (!static_cast<const python_api*>(self)->set_error(&error))
            std::rethrow_exception(error);
        },
        const_cast<python_api*>(found));
    return *found;
  }();
  return table;
}

/// nanobind calls a caster's `from_python` and `can_cast` from functions that must not throw; its
/// conversion operators may, and those run only after `can_cast`, or directly before the bound
/// function.
class refusal : public kept_error<nb::python_error> {
 public:
  refusal() = default;
  refusal(const refusal&) = delete;
  refusal& operator=(const refusal&) = delete;
  ~refusal() {
    // The caller did not use the reason: nb::try_cast, or a container that tries another type.
    if (is_shown_ && PyErr_Occurred() == shown_type_) PyErr_Clear();
  }

  template <class Body>
  bool keep(std::uint32_t flags, Body body) noexcept {
    is_manual_ = (flags & nb::detail::cast_flags::manual) != 0;
    return kept_error::keep(std::move(body));
  }

  /// For `can_cast`. In nb::cast, which raises the Python error that a caster leaves, it is left.
  bool allows() const noexcept {
    if (!error_) return true;
    if (is_manual_) {
      nb::python_error(*error_).restore();
      is_shown_ = true;
      shown_type_ = PyErr_Occurred();
    }
    return false;
  }

 private:
  bool is_manual_ = false;
  mutable bool is_shown_ = false;
  mutable PyObject* shown_type_ = nullptr;
};

/// What a caster found in an argument, valid until the call ends.
struct argument {
  const array* elements = nullptr;
  nb::object keep_alive;

  /// False if the object carries no USM. Throws nb::python_error.
  bool load(nb::handle source, nb::detail::cleanup_list* call, bool takes_host = false) {
    const python_api& t = api();
    elements = t.array_of(source.ptr());
    if (elements != nullptr) return true;
    // A foreign object is asked once per call, however many overloads look at it: what it answered,
    // an array or an error, waits in the call's list of things to release, behind the object.
    if (call != nullptr) {
      for (std::size_t k = 1; k + 1 < call->size(); ++k) {
        if ((*call)[k] != source.ptr()) continue;
        PyObject* const answer = (*call)[k + 1];
        if ((elements = t.array_of(answer)) != nullptr) return true;
        if (PyExceptionInstance_Check(answer)) {
          PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(answer)), answer);
          throw nb::python_error();
        }
      }
    }
    nb::object imported =
        nb::steal(takes_host ? t.import_host(source.ptr()) : t.import_array(source.ptr()));
    if (!imported.is_valid()) {
      if (PyErr_Occurred() == nullptr) return false;
      nb::python_error error;
      remember(call, source, error.value());
      throw error;
    }
    elements = t.array_of(imported.ptr());
    // Memory of the host is for this parameter only.
    const bool is_for_all = elements->kind() != usm_kind::unknown;
    if (!is_for_all || !remember(call, source, imported)) keep_alive = std::move(imported);
    return true;
  }

 private:
  static bool remember(nb::detail::cleanup_list* call, nb::handle source, nb::handle answer) {
    if (call == nullptr) return false;
    call->append(source.inc_ref().ptr());
    call->append(answer.inc_ref().ptr());
    return true;
  }
};

#pragma GCC visibility pop
}  // namespace usmx::python

namespace nanobind::detail {

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
  static constexpr auto Name = const_name(usmx::python::parameter_text<Value_>.value);
  template <class T>
  using Cast = movable_cast_t<T>;

  bool from_python(handle source, std::uint32_t flags, cleanup_list* call) noexcept {
    return refused_.keep(flags, [&] {
      return from_.load(source, call, usmx::python::takes_host<Value_>) &&
             usmx::python::fill(value_, *from_.elements);
    });
  }
  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() { return static_cast<Value&&>(checked()); }

 private:
  Value& checked() {
    refused_.raise();
    return value_;
  }

  usmx::python::argument from_;
  Value value_;
};

/// By value or by const reference. The function gets it without waiting: it submits to `queue()`,
/// or calls `wait()`. Not a value of the caster's own, because a reference needs no copy.
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
struct type_caster<usmx::view<T, Rank>> : usmx_value_caster<usmx::view<T, Rank>> {};

template <class T, int Rank>
struct type_caster<usmx::host_view<T, Rank>> : usmx_value_caster<usmx::host_view<T, Rank>> {};

template <class T, int Rank>
struct type_caster<usmx::typed_array<T, Rank>> : usmx_value_caster<usmx::typed_array<T, Rank>> {
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

// nanobind's own, and an act after the body that follows it.
#ifdef NB_MODULE_IMPL
#undef NB_MODULE
#define USMX_MODULE(name, variable)                \
  static void usmx_bind_##name(nanobind::module_); \
  NB_MODULE_IMPL(name, usmx_module) {              \
    usmx_bind_##name(usmx_module);                 \
    usmx::python::explain_calls(usmx_module);      \
  }                                                \
  static void usmx_bind_##name([[maybe_unused]] nanobind::module_ variable)
#define NB_MODULE(name, variable) USMX_MODULE(name, variable)
#endif
