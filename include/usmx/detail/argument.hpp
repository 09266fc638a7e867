// How an argument of a Python function becomes an array or a view: what the casters of
// usmx/nanobind.hpp and usmx/pybind11.hpp share. Knows Python, but no binding library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>

#include "usmx/python_api.hpp"
#include "usmx/typed_array.hpp"

namespace usmx {

namespace python {
// Each extension has its own copy of everything here.
#pragma GCC visibility push(hidden)

/// Thrown where a Python error is set.
struct error_is_set {};

/// The table of the `usmx` that this process imports; null with an ImportError set.
inline const python_api* find_api() noexcept {
  static const python_api* table = nullptr;
  if (table != nullptr) return table;
  const auto* const found =
      static_cast<const python_api*>(PyCapsule_Import(python_api::capsule_name, 0));
  if (found == nullptr) return nullptr;
  if (found->version != python_api::current_version ||
      found->revision < python_api::current_revision) {
    PyErr_Format(PyExc_ImportError,
                 "this extension was built for version %u.%u of usmx's table of functions, and "
                 "the installed usmx has %u.%u: build the extension again",
                 python_api::current_version, python_api::current_revision, found->version,
                 found->revision);
    return nullptr;
  }
  return table = found;
}

/// Why an argument cannot be used, kept until it may be raised: the next overload, or another
/// argument that does not fit, decides first. `Error` is the binding library's exception; made
/// without an argument it takes the Python error that is set.
template <class Error>
class kept_error {
 public:
  /// Runs `body`, which says whether the caster takes the object; what it throws is kept, and the
  /// caster takes the object so that it can be raised later.
  template <class Body>
  bool keep(Body body) noexcept {
    error_.reset();
    try {
      return body();
    } catch (const Error& e) {
      error_.emplace(e);
    } catch (const error_is_set&) {
      error_.emplace();
    } catch (const std::exception& e) {
      const std::exception_ptr error = std::current_exception();
      const python_api* const table = find_api();
      if (table != nullptr && !table->set_error(&error)) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
      }
      error_.emplace();
    }
    return true;
  }

  /// For conversion operators: throws what was kept.
  void raise() const {
    if (error_) [[unlikely]]
      throw Error(*error_);
  }

 protected:
  std::optional<Error> error_;
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
    default:
      usmx::detail::refuse_typed(v.typed(out), v, dtype::of<T>(), Rank);
  }
}

/// Waits for pending work on the memory. Throws error_is_set.
inline void load_idle(const array& from) {
  if (!find_api()->wait(&from)) throw error_is_set{};
}

// --- each type of parameter: false if dtype or rank differ; throws as above

inline bool fill(array& out, const array& from) {
  out = from;
  return true;
}
template <class T, int Rank>
bool fill(view<T, Rank>& out, const array& from) {
  if (!load_typed(out, from)) return false;
  load_idle(from);
  return true;
}
template <class T, int Rank>
bool fill(host_view<T, Rank>& out, const array& from) {
  out.origin = &from;
  if (!load_typed(out, from)) return false;
  usmx::detail::require_on_host(from);
  load_idle(from);
  return true;
}
template <class T, int Rank>
bool fill(typed_array<T, Rank>& out, const array& from) {
  static_cast<array&>(out) = from;
  return load_typed(out.view, out);
}

/// Whether memory of the host that is not USM is taken too.
template <class Parameter>
inline constexpr bool takes_host = false;
template <class T, int Rank>
inline constexpr bool takes_host<host_view<T, Rank>> = true;

/// Whether the parameter points into the object that it was made of, and does not own anything.
template <class Parameter>
inline constexpr bool borrows = !std::is_base_of_v<array, Parameter>;

// --- what a signature says of a parameter:
// "typing.Annotated[usmx.typing.SupportsUSM, dict(dtype='float32', ndim=2)]"

/// Text of a length that the compiler knows, from which each binding library makes its own.
template <std::size_t Length>
struct fixed_text {
  char value[Length + 1] = {};

  template <std::size_t Other>
  constexpr fixed_text<Length + Other> operator+(const fixed_text<Other>& other) const {
    fixed_text<Length + Other> out;
    for (std::size_t k = 0; k < Length; ++k) out.value[k] = value[k];
    for (std::size_t k = 0; k < Other; ++k) out.value[Length + k] = other.value[k];
    return out;
  }
};
template <std::size_t Size>
constexpr fixed_text<Size - 1> text_of(const char (&literal)[Size]) {
  fixed_text<Size - 1> out;
  for (std::size_t k = 0; k + 1 < Size; ++k) out.value[k] = literal[k];
  return out;
}
template <std::size_t Number>
constexpr auto number_text() {
  if constexpr (Number < 10) {
    fixed_text<1> digit;
    digit.value[0] = static_cast<char>('0' + Number);
    return digit;
  } else {
    return number_text<Number / 10>() + number_text<Number % 10>();
  }
}

template <class T>
constexpr auto dtype_text() {
  using U = std::remove_cv_t<T>;
  constexpr auto bits = number_text<sizeof(U) * 8>();
  if constexpr (std::is_same_v<U, bool>) {
    return text_of("bool");
  } else if constexpr (std::is_same_v<U, bfloat16>) {
    return text_of("bfloat16");
  } else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>) {
    return text_of("int") + bits;
  } else if constexpr (std::is_integral_v<U>) {
    return text_of("uint") + bits;
  } else if constexpr (std::is_floating_point_v<U> || is_half<U>) {
    return text_of("float") + bits;
  } else if constexpr (usmx::detail::is_complex<U>::value) {
    return text_of("complex") + bits;
  } else {
    return text_of("record") + bits;
  }
}
template <class T, int Rank>
constexpr auto view_text() {
  constexpr auto all = text_of("typing.Annotated[usmx.typing.SupportsUSM, dict(dtype='") +
                       dtype_text<T>() + text_of("', ndim=") +
                       number_text<static_cast<std::size_t>(Rank)>();
  if constexpr (std::is_const_v<T>) {
    return all + text_of(")]");
  } else {
    return all + text_of(", writable=True)]");
  }
}

/// Of any parameter type.
template <class Parameter>
inline constexpr auto parameter_text = text_of("usmx.typing.SupportsUSM");
template <class T, int Rank>
inline constexpr auto parameter_text<view<T, Rank>> = view_text<T, Rank>();
template <class T, int Rank>
inline constexpr auto parameter_text<host_view<T, Rank>> = view_text<T, Rank>();
template <class T, int Rank>
inline constexpr auto parameter_text<typed_array<T, Rank>> = view_text<T, Rank>();

#pragma GCC visibility pop
}  // namespace python
}  // namespace usmx
