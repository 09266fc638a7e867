// C++ exceptions in functions that Python calls without a bound function in between: those know how
// each exception is called in Python, a slot does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// Sets the Python error that a bound function would raise for the exception that is being handled.
/// Call it in a catch block; returns null.
PyObject* raise_current() noexcept;
void bind_slot_errors(nb::module_& m);

}  // namespace usmx::python
