// Calls whose arguments do not fit a bound function are told in one line: which function, which
// argument, and the nearest name that there is. nanobind's own message is a list of overloads.
//
//   NB_MODULE(my_ext, m) {
//     m.def("scale", &scale, "x"_a, "factor"_a);
//     usmx::python::explain_calls(m);  // after everything was bound
//   }
//
//   my_ext.scale: got an unexpected argument 'facter'; did you mean 'factor'?
//
// nanobind keeps the function that is called in the object, as CPython's vectorcall protocol says.
// A door in its place calls it, and looks closer only after an error, so that a right call costs a
// jump. The line is made by `usmx`, of the signature that the function carries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

namespace usmx::python {
#pragma GCC visibility push(hidden)

#ifndef Py_LIMITED_API

/// The doors of this module. A door knows by its number what it stands in front of: nanobind has
/// seven dispatchers, which all of its functions share.
class explained_calls {
 public:
  /// What a bound function calls.
  static vectorcallfunc& called_by(PyObject* function) noexcept {
    auto* const object = reinterpret_cast<char*>(function);
    return *reinterpret_cast<vectorcallfunc*>(object + Py_TYPE(function)->tp_vectorcall_offset);
  }

  /// The door in front of a dispatcher; itself if it is one, or if there is none left.
  static vectorcallfunc in_front_of(vectorcallfunc dispatcher) noexcept {
    const auto is_among = [&](const auto& some) {
      return std::ranges::find(some, dispatcher) != some.end();
    };
    if (is_among(doors_) || is_among(own_)) return dispatcher;
    const auto place = std::ranges::find_if(
        dispatchers_, [&](auto one) { return one == dispatcher || one == nullptr; });
    if (place == dispatchers_.end()) return dispatcher;
    *place = dispatcher;
    return doors_[static_cast<std::size_t>(place - dispatchers_.begin())];
  }

  /// Calls something else in the place of nanobind's dispatcher, and returns that behind a door:
  /// for the calls that are passed on.
  static vectorcallfunc replace(PyObject* function, vectorcallfunc own) {
    own_.push_back(own);
    return in_front_of(std::exchange(called_by(function), own));
  }

  /// The dispatcher of functions with `*args` or `**kwargs`.
  static void learn() {
    namespace nb = nanobind;
    const nb::object any = nb::cpp_function([](const nb::args&, const nb::kwargs&) {});
    with_any_arguments_ = called_by(any.ptr());
  }

  /// Called with the error of a call that failed: adds what helps, and leaves the error set.
  static inline void (*after_error)() noexcept = nullptr;

  /// Sets the line that `line(module, error, given, named)` makes of what a call gave in the place
  /// of the error that is set; leaves that if the line is None.
  template <class Line>
  static void tell(std::span<PyObject* const> args, PyObject* names, Line line) noexcept {
    namespace nb = nanobind;
    nb::python_error error;
    try {
      auto given = nb::steal<nb::list>(PyList_New(0));
      auto named = nb::steal<nb::dict>(PyDict_New());
      if (!given.is_valid() || !named.is_valid()) nb::raise_python_error();
      for (PyObject* const one : args) given.append(nb::handle(one));
      const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
      for (Py_ssize_t k = 0; k < count; ++k)
        named[nb::handle(PyTuple_GET_ITEM(names, k))] = nb::handle(args.data()[args.size() + k]);
      const nb::object told = line(nb::module_::import_("usmx._wrong_calls"), error, given, named);
      if (!told.is_none()) {
        PyErr_SetObject(PyExc_TypeError, told.ptr());
        return;
      }
    } catch (...) {  // of a process that ends, or without memory: the message of the error it is
      PyErr_Clear();
    }
    error.restore();
  }

  static bool is_function(nanobind::handle object) {
    const std::string_view name = Py_TYPE(object.ptr())->tp_name;
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return last == "nb_func" || last == "nb_method";
  }

 private:
  static constexpr std::size_t most = 16;

  template <std::size_t K>
  static PyObject* door(PyObject* function, PyObject* const* args, std::size_t nargsf,
                        PyObject* names) {
    if (dispatchers_[K] == with_any_arguments_ && !has_memory(nargsf, names)) return nullptr;
    PyObject* const result = dispatchers_[K](function, args, nargsf, names);
    if (result == nullptr) [[unlikely]] {
      explain(function, {args, count_of(nargsf)}, names);
      if (after_error != nullptr) after_error();
    }
    return result;
  }

  /// The number of arguments; above it are flags of CPython, and of nanobind for constructors.
  static std::size_t count_of(std::size_t nargsf) noexcept { return nargsf & 0xffff'ffff; }

  /// nanobind makes a tuple and a dictionary for `*args` and `**kwargs`, and fills them without
  /// looking whether there was memory for them (docs/upstream/nanobind-any-arguments.md). What is
  /// made here goes to the free lists of CPython, where the next ones of the size come from.
  static bool has_memory(std::size_t nargsf, PyObject* names) noexcept {
    // Some of the arguments are parameters: the others are in the tuple.
    for (auto count = static_cast<Py_ssize_t>(count_of(nargsf)); count > 0; --count) {
      PyObject* const args = PyTuple_New(count);
      if (args == nullptr) return false;
      Py_DECREF(args);
    }
    PyObject* const named = PyDict_New();
    if (named == nullptr) return false;
    const bool some = names != nullptr && PyTuple_GET_SIZE(names) != 0;
    const bool kept = !some || PyDict_SetItem(named, PyTuple_GET_ITEM(names, 0), Py_None) == 0;
    Py_DECREF(named);
    return kept;
  }

  template <std::size_t... K>
  static constexpr std::array<vectorcallfunc, most> all_doors(std::index_sequence<K...>) noexcept {
    return {&door<K>...};
  }

  static bool is_about_overloads(const nanobind::python_error& error) {
    // Of that very class, whose text is made without code of others.
    if (error.type().ptr() != PyExc_TypeError) return false;
    const nanobind::str shown(error.value());
    const char* const text = PyUnicode_AsUTF8(shown.ptr());
    if (text == nullptr) PyErr_Clear();  // of other texts, with lone surrogates
    return text != nullptr && std::strstr(text, "(): incompatible function arguments.") != nullptr;
  }

  /// Sets another error in the place of nanobind's; leaves any other, and also that if `usmx` has
  /// no line for it.
  [[gnu::noinline]] static void explain(PyObject* function, std::span<PyObject* const> args,
                                        PyObject* names) noexcept {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
    tell(args, names, [&](const auto& lines, const auto& error, auto& given, auto& named) {
      if (!is_about_overloads(error)) return nanobind::object(nanobind::none());
      return nanobind::object(lines.attr("line_of")(nanobind::handle(function), given, named,
                                                    nanobind::str(error.value())));
    });
  }

  static inline std::array<vectorcallfunc, most> dispatchers_{};
  static inline vectorcallfunc with_any_arguments_ = nullptr;
  static inline std::vector<vectorcallfunc> own_;
  static const std::array<vectorcallfunc, most> doors_;
};

inline constexpr std::array<vectorcallfunc, explained_calls::most> explained_calls::doors_ =
    all_doors(std::make_index_sequence<most>());

/// Functions, methods and properties of a module and of its classes and submodules are told in one
/// line what is wrong with a call. To be called once, at the end of NB_MODULE.
inline void explain_calls(nanobind::handle module) {
  namespace nb = nanobind;
  const auto text_of = [](nb::handle object, const char* attribute) {
    const nb::object text = nb::getattr(object, attribute, nb::none());
    return nb::isinstance<nb::str>(text) ? nb::str(text) : nb::str("");
  };
  const nb::str full = text_of(module, "__name__");
  const std::string_view name = full.c_str();
  const std::string_view package = name.substr(0, name.find('.'));
  // What another package made is at most named here. Functions of properties say no module.
  const auto is_ours = [&](nb::handle object, const char* attribute) {
    const nb::str where = text_of(object, attribute);
    const std::string_view place = where.c_str();
    return place.empty() || place.substr(0, place.find('.')) == package;
  };
  explained_calls::learn();
  std::vector<PyObject*> seen;  // classes and modules, which may name each other
  const auto visit = [&](const auto& self, nb::handle object) -> void {
    PyObject* const one = object.ptr();
    if (explained_calls::is_function(object)) {
      auto& called = explained_calls::called_by(one);
      if (is_ours(object, "__module__")) called = explained_calls::in_front_of(called);
    } else if (PyObject_TypeCheck(one, &PyProperty_Type)) {
      for (const char* const part : {"fget", "fset", "fdel"}) self(self, object.attr(part));
    } else if (PyModule_Check(one) ? is_ours(object, "__name__")
                                   : nb::type_check(object) && is_ours(object, "__module__")) {
      if (std::ranges::find(seen, one) != seen.end()) return;
      seen.push_back(one);
      const nb::list values(nb::handle(object.attr("__dict__").attr("values")()));
      for (const nb::handle value : values) self(self, value);
    }
  };
  visit(visit, module);
}

#else

/// The stable interface does not say where an object keeps what is called: calls keep nanobind's
/// message.
inline void explain_calls(nanobind::handle) {}

#endif

#pragma GCC visibility pop
}  // namespace usmx::python
