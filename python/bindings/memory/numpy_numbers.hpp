// NumPy's numbers as its binary interface describes them: they need no conversion by Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// The type of objects of one of NumPy's own classes of numbers, `numpy.float32` for one; null for
/// all other classes. NumPy is not imported, and no code of Python runs.
const dtype* type_of_numpy_number(PyTypeObject* type) noexcept;
/// The bytes of an object of such a class, as many as its type has.
const void* bytes_of_numpy_number(PyObject* number) noexcept;

}  // namespace usmx::python
