// How an argument of a Python function becomes an array: the part of usmx/nanobind.hpp that is no
// caster.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
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

/// What a caster found in an argument, valid until the call ends.
struct argument {
  const array* elements = nullptr;
  nb::object keep_alive;

  /// False if the object carries no USM, and also, in place of an exception, if `may_throw` is
  /// false.
  bool load(nb::handle source, nb::detail::cleanup_list* call, bool may_throw) {
    const python_api& t = api();
    elements = t.array_of(source.ptr());
    if (elements != nullptr) return true;
    // A foreign object is asked once per call, however many overloads look at it: what it answered
    // waits in the call's list of things to release, behind the object itself.
    if (call != nullptr) {
      for (std::size_t k = 1; k + 1 < call->size(); ++k) {
        if ((*call)[k] == source.ptr() && (elements = t.array_of((*call)[k + 1])) != nullptr) {
          return true;
        }
      }
    }
    PyObject* imported = t.import_array(source.ptr());
    if (imported == nullptr) {
      if (PyErr_Occurred() == nullptr) return false;
      if (may_throw) throw nb::python_error();
      PyErr_Clear();
      return false;
    }
    elements = t.array_of(imported);
    if (call != nullptr) {
      call->append(source.inc_ref().ptr());
      call->append(imported);
    } else {
      keep_alive = nb::steal(imported);
    }
    return true;
  }
};

/// Casters inside casters (a vector, an optional) are called from functions that must not throw;
/// there every "no" leads to the TypeError.
inline bool may_throw(const char* caller) noexcept {
  return std::strcmp(caller, "operator()") == 0 || std::strcmp(caller, "cast_impl") == 0;
}

inline bool refuse(fault code, std::string what, bool may_throw) {
  if (may_throw) throw interop_error(code, std::move(what));
  return false;
}

/// The typed form of what was loaded; false if dtype or rank differ.
template <class T, int Rank>
bool load_typed(view<T, Rank>& out, const array& from, bool may_throw) {
  const any_view& v = from.elements();
  switch (v.typed(out)) {
    case fault::none:
      return true;
    case fault::dtype_mismatch:
    case fault::rank_mismatch:
      return false;
    case fault::read_only:
      return refuse(fault::read_only,
                    "data: is read-only, and the function writes to this argument", may_throw);
    default:
      return refuse(fault::data_misaligned,
                    "data: is not aligned for elements of type " + v.dtype().name(), may_throw);
  }
}

/// Waits for pending work on the memory.
inline bool load_idle(const array& from, bool may_throw) {
  if (api().wait(&from)) return true;
  if (may_throw) throw nb::python_error();
  PyErr_Clear();
  return false;
}

/// The host may touch every element.
inline bool load_on_host(const array& from, bool may_throw) {
  const any_view& v = from.elements();
  if (v.size() == 0 || host_accessible(v.kind())) return true;
  return refuse(fault::kind_mismatch,
                std::string("data: is USM of kind '") + name(v.kind()) +
                    "', which the host cannot touch; this function takes shared or host memory",
                may_throw);
}

#pragma GCC visibility pop
}  // namespace python
}  // namespace usmx
