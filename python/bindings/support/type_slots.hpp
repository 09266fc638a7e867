// Functions of ours in the slots of Python's types, where a call through nanobind's dispatcher
// would take as long as the act itself. Such a function is the whole door: its first branch is the
// plain case, the others follow it, and nothing is begun twice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "usmx/detail/explained_calls.hpp"

namespace usmx::python {

/// For nb::type_slots: what is called when the type is. nanobind takes the number on every version
/// of Python; CPython names it since 3.14. Classes that Python derives go through `__init__`.
inline constexpr int slot_of_type_call = 82;

/// The slots of a type that was bound. To be filled after the method of that name, which is there
/// for its signature and docstring: both are ways to one function.
inline PyTypeObject& slots_of(nb::handle type) noexcept {
  return *reinterpret_cast<PyTypeObject*>(type.ptr());
}

/// Reads a call into `values`, which hold the defaults, by position and by names that are interned,
/// as those in programs are. False, and nothing was done, for another name or too many values.
template <std::size_t N>
bool read_call(const std::array<PyObject*, N>& names, std::size_t positional,
               std::array<PyObject*, N>& values, PyObject* const* args, std::size_t nargsf,
               PyObject* keywords) noexcept {
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
  if (count > positional) return false;
  std::copy_n(args, count, values.begin());
  if (keywords == nullptr) return true;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords); ++k) {
    const auto name = std::find(names.begin() + count, names.end(), PyTuple_GET_ITEM(keywords, k));
    if (name == names.end()) return false;
    values[static_cast<std::size_t>(name - names.begin())] =
        args[count + static_cast<std::size_t>(k)];
  }
  return true;
}

/// A bound function whose plain calls do without the dispatcher: those with positional arguments
/// and interned names. `Call` has its signature and the function, `run`; the dispatcher serves all
/// other calls.
template <class Call>
class quick_call {
 public:
  template <class... Extra>
  static void def(nb::handle scope, const Extra&... extra) {
    open(Call::signature().bind(scope, Call::run, extra...));
  }
  /// For a function that was bound by that signature.
  static void open(nb::handle function) {
    dispatched_ = explained_calls::replace(function.ptr(), call);
  }

 private:
  static constexpr call_shape shape = decltype(Call::signature())::shape;
  static_assert(shape.args_at == call_shape::most && shape.keywords_at == call_shape::most);
  static constexpr std::size_t self = shape.is_method ? 1 : 0;
  static constexpr std::size_t count = shape.count + self;

  static PyObject* call(PyObject* function, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) noexcept {
    // No call gives the name null; a default that is null is a value that has to be given.
    static const auto names = [] {
      std::array<PyObject*, count> all{};
      for (std::size_t k = 0; k < shape.count; ++k) {
        const char* const name = Call::signature().name_of(k);
        if (name != nullptr) all[k + self] = PyUnicode_InternFromString(name);
      }
      return all;
    }();
    static const auto defaults = [] {
      std::array<PyObject*, count> all{};
      for (std::size_t k = 0; k < shape.count; ++k) {
        if (shape.has(shape.with_default, k))
          all[k + self] = Call::signature().default_of(k).release().ptr();
      }
      return all;
    }();
    auto given = defaults;
    if (!read_call(names, shape.by_place + self, given, args, nargsf, keywords) ||
        std::ranges::find(given, nullptr) != given.end()) {
      return dispatched_(function, args, nargsf, keywords);
    }
    try {
      return std::apply([](auto... values) { return Call::run(nb::handle(values)...); }, given)
          .release()
          .ptr();
    } catch (...) {
      return raise_current();
    }
  }

  static inline vectorcallfunc dispatched_ = nullptr;
};

/// A number of elements or bytes that is an int, not negative, and smaller than any that clips; -1
/// for anything else, without an error.
inline Py_ssize_t plain_count(PyObject* obj) noexcept {
  if (!PyLong_CheckExact(obj)) return -1;
  const Py_ssize_t count = PyLong_AsSsize_t(obj);
  if (count == -1) PyErr_Clear();
  return count == PY_SSIZE_T_MAX ? -1 : count;
}

/// The queue in a Queue of ours, the default one for None; null for anything else.
inline const sycl::queue* plain_queue(PyObject* obj) {
  if (obj == Py_None) return &default_queue();
  return is_ready<sycl::queue>(obj) ? nb::inst_ptr<sycl::queue>(obj) : nullptr;
}

/// A new object of `type`, made by the `__init__` that was bound, which reads all arguments.
[[gnu::noinline]] inline nb::object made_by_init(PyObject* type, PyObject* const* args,
                                                 std::size_t nargsf, PyObject* keywords) {
  const auto positional = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
  const auto named =
      keywords == nullptr ? std::size_t{0} : static_cast<std::size_t>(PyTuple_GET_SIZE(keywords));
  nb::object made = nb::inst_alloc(type);
  std::vector<PyObject*> all{made.ptr()};
  all.insert(all.end(), args, args + positional + named);
  const nb::object init = nb::handle(type).attr("__init__");
  const nb::object none =
      nb::steal(PyObject_Vectorcall(init.ptr(), all.data(), positional + 1, keywords));
  if (!none.is_valid()) nb::raise_python_error();
  return made;
}

}  // namespace usmx::python
