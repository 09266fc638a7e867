// C++ exceptions in functions that Python calls without a bound function in between: those know how
// each exception is called in Python, a slot does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// Sets the Python error that a bound function would raise for the exception that is being handled.
/// Call it in a catch block; returns null.
PyObject* raise_current() noexcept;
/// Sets MemoryError in the place of the SystemError by which CPython says that a function of
/// another library failed and lost its error: NumPy's do so when an allocation fails
/// (docs/upstream/memory-errors-of-others.md). That one is its cause. Leaves other errors.
void restore_memory_error() noexcept;
/// What a function of a table in C gives: 0, or -1 with the Python error of what `function` throws.
template <class Function>
int guarded(Function function) noexcept {
  try {
    function();
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}
void bind_slot_errors(nb::module_& m);

}  // namespace usmx::python
