// Letting go of the GIL in a way that daemon threads survive: when the interpreter ends, CPython
// before 3.14 unwinds a thread that waits for the GIL, and C++ ends the process if that passes a
// destructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <nanobind/nanobind.h>

namespace usmx::python {

/// As nanobind's gil_scoped_release, but a thread that never gets the GIL back stops where it is.
class gil_released {
 public:
  gil_released() noexcept : state_(PyEval_SaveThread()) {}
  gil_released(const gil_released&) = delete;
  gil_released& operator=(const gil_released&) = delete;
  ~gil_released() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      // The unwinding of pthread_exit: it may be stopped but not swallowed. The process is ending.
      for (;;) pause();
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace usmx::python
