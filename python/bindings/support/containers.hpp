// New containers of Python's. Those of nanobind are null where Python has no memory, and a crash
// later (docs/upstream/nanobind-any-arguments.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace usmx::python {

namespace nb = nanobind;

/// What a function of CPython made; raises its error if that is nothing.
template <class Container>
Container checked(PyObject* made) {
  if (made == nullptr) nb::raise_python_error();
  return nb::steal<Container>(made);
}

inline nb::list new_list() { return checked<nb::list>(PyList_New(0)); }
inline nb::dict new_dict() { return checked<nb::dict>(PyDict_New()); }
inline nb::set new_set() { return checked<nb::set>(PySet_New(nullptr)); }

}  // namespace usmx::python
