// How an argument of a Python function becomes an array: what the casters of usmx/nanobind.hpp
// share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include "usmx/python_api.hpp"

namespace usmx {
namespace python {
// Each extension has its own copy of everything here.
#pragma GCC visibility push(hidden)

namespace nb = nanobind;

/// The table of the `usmx` that this process imports. Called by the casters when they are first
/// used; call it in NB_MODULE to fail at import instead. Throws nb::python_error (ImportError).
inline const python_api& api() {
  static const python_api& table = []() -> const python_api& {
    const void* found = PyCapsule_Import(python_api::capsule_name, 0);
    if (found == nullptr) throw nb::python_error();
    const auto& t = *static_cast<const python_api*>(found);
    if (t.version != python_api::current_version || t.revision < python_api::current_revision) {
      PyErr_Format(PyExc_ImportError,
                   "this extension was built for version %u.%u of usmx's table of functions, and "
                   "the installed usmx has %u.%u: build the extension again",
                   python_api::current_version, python_api::current_revision, t.version,
                   t.revision);
      throw nb::python_error();
    }
    nb::register_exception_translator(
        [](const std::exception_ptr& error, void* self) {
          if (!static_cast<const python_api*>(self)->set_error(&error))
            std::rethrow_exception(error);
        },
        const_cast<void*>(found));
    return t;
  }();
  return table;
}

/// Why an argument cannot be used, kept until it may be raised. nanobind calls a caster's
/// `from_python` and `can_cast` from functions that must not throw; its conversion operators may,
/// and those run only after `can_cast`, or directly before the bound function.
class refusal {
 public:
  refusal() = default;
  refusal(const refusal&) = delete;
  refusal& operator=(const refusal&) = delete;
  ~refusal() {
    // The caller did not use the reason: nb::try_cast, or a container that tries another type.
    if (is_shown_ && PyErr_Occurred() == shown_type_) PyErr_Clear();
  }

  /// Runs `body`, which says whether the caster takes the object; what it throws is kept, and the
  /// caster takes the object so that it can be raised later. The same with a refusal of its own.
  template <class Body>
  bool keep(std::uint32_t flags, Body body) noexcept {
    is_manual_ = (flags & nb::detail::cast_flags::manual) != 0;
    error_.reset();
    try {
      return body();
    } catch (const nb::python_error& e) {
      error_.emplace(e);
    } catch (const std::exception& e) {
      const std::exception_ptr error = std::current_exception();
      if (!known(error)) PyErr_SetString(PyExc_RuntimeError, e.what());
      error_.emplace();
    }
    return true;
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
  /// For conversion operators: throws what was kept.
  void raise() const {
    if (error_) [[unlikely]]
      throw nb::python_error(*error_);
  }

 private:
  static bool known(const std::exception_ptr& error) noexcept {
    try {
      return api().set_error(&error);
    } catch (...) {  // there is no usmx: that was kept before
      return false;
    }
  }

  std::optional<nb::python_error> error_;
  bool is_manual_ = false;
  mutable bool is_shown_ = false;
  mutable PyObject* shown_type_ = nullptr;
};

/// What a caster found in an argument, valid until the call ends.
struct argument {
  const array* elements = nullptr;
  nb::object keep_alive;

  /// False if the object carries no USM. Throws nb::python_error.
  bool load(nb::handle source, nb::detail::cleanup_list* call) {
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
    nb::object imported = nb::steal(t.import_array(source.ptr()));
    if (!imported.is_valid()) {
      if (PyErr_Occurred() == nullptr) return false;
      nb::python_error error;
      remember(call, source, error.value());
      throw error;
    }
    elements = t.array_of(imported.ptr());
    if (!remember(call, source, imported)) keep_alive = std::move(imported);
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

/// The typed form of what was loaded; false if dtype or rank differ. Throws interop_error.
template <class T, int Rank>
bool load_typed(view<T, Rank>& out, const array& from) {
  const any_view& v = from.elements();
  switch (v.typed(out)) {
    case fault::none:
      return true;
    case fault::dtype_mismatch:
    case fault::rank_mismatch:
      return false;
    case fault::read_only:
      throw interop_error(fault::read_only,
                          "data: is read-only, and the function writes to this argument");
    default:
      throw interop_error(fault::data_misaligned,
                          "data: is not aligned for elements of type " + v.dtype().name());
  }
}

/// Waits for pending work on the memory. Throws nb::python_error.
inline void load_idle(const array& from) {
  if (!api().wait(&from)) throw nb::python_error();
}

/// Throws interop_error unless the host may touch every element.
inline void require_on_host(const array& from) {
  const any_view& v = from.elements();
  if (v.size() == 0 || host_accessible(v.kind())) return;
  throw interop_error(fault::kind_mismatch,
                      std::string("data: is USM of kind '") + name(v.kind()) +
                          "', which the host cannot touch; this function takes shared or host "
                          "memory");
}

#pragma GCC visibility pop
}  // namespace python
}  // namespace usmx
