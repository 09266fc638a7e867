// SPDX-License-Identifier: Apache-2.0
#include "support/interrupts.hpp"

#include <unistd.h>

#include <nanobind/nanobind.h>

namespace usmx::python {

void raise_if_signalled() {
  const nanobind::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

bool on_main_thread() noexcept { return gettid() == getpid(); }

}  // namespace usmx::python
