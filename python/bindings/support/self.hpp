// The one way from `self` to the C++ object inside it. Python calls methods and slots with any
// object (`usmx.ndarray.copy(7)`), and with instances whose `__init__` never ran.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <utility>

#include <nanobind/nanobind.h>

#include "support/signature.hpp"

namespace usmx::python {

namespace nb = nanobind;

/// TypeError: `obj` is not an instance of `type`, or one that was never initialised.
[[noreturn]] void refuse_self(nb::handle obj, nb::handle type);

/// Whether `obj` is an initialised instance of the class bound to `T`, or of one derived from it.
template <class T>
bool is_ready(nb::handle obj) noexcept {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
  return PyObject_TypeCheck(obj.ptr(), type) && nb::inst_ready(obj);
}

/// The object inside `obj`. TypeError unless it is an initialised instance of its class.
template <class T>
T& self_of(nb::handle obj) {
  if (!is_ready<T>(obj)) refuse_self(obj, nb::type<T>());
  return *nb::inst_ptr<T>(obj);
}

/// For classes whose `[]` takes no index: without it Python iterates over `x[0]`, `x[1]`, ...
/// without end, for `y in x` too. Both raise TypeError.
inline void refuse_iteration(nb::handle type) {
  for (const char* const name : {"__iter__", "__contains__"}) type.attr(name) = nb::none();
}

/// `_repr_html_`, what notebooks show: a function of usmx._notebook makes it.
template <class T, class... Bases>
void bind_html(nb::class_<T, Bases...>& type, const char* function) {
  type.def("_repr_html_(self) -> str"_sig, [function](nb::handle self) {
    static_cast<void>(self_of<T>(self));
    return nb::module_::import_("usmx._notebook").attr(function)(self);
  });
}

/// The end of an `__init__`: makes the object in place. Reading the arguments may have run Python
/// code that called `__init__` of the same object; it is not made twice.
template <class T, class... Args>
void initialise(const nb::pointer_and_handle<T>& self, Args&&... args) {
  if (nb::inst_ready(self.h)) {
    throw nb::type_error("__init__: the object was initialised by another call meanwhile");
  }
  new (self.p) T(std::forward<Args>(args)...);
}

}  // namespace usmx::python
