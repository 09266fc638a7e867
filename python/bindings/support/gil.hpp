// Letting go of the GIL in a way that daemon threads survive: when the interpreter ends, CPython
// before 3.14 unwinds a thread that waits for the GIL, and C++ ends the process if that passes a
// destructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <nanobind/nanobind.h>

#include "usmx/trace.hpp"

namespace usmx::python {

/// What this thread's Python was at when it let go of the GIL, for records that are made meanwhile:
/// they cannot look. bind_trace.cpp finds and names the lines.
std::uint32_t remember_place() noexcept;
void forget_place(std::uint32_t previous) noexcept;

/// As nanobind's gil_scoped_release, but a thread that never gets the GIL back stops where it is.
class gil_released {
 public:
  gil_released() noexcept
      : traced_(is_traced()),
        previous_(traced_ ? remember_place() : 0),
        state_(PyEval_SaveThread()) {}
  gil_released(const gil_released&) = delete;
  gil_released& operator=(const gil_released&) = delete;
  ~gil_released() {
    if (traced_) forget_place(previous_);
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      // The unwinding of pthread_exit: it may be stopped but not swallowed. The process is ending.
      for (;;) pause();
    }
  }

 private:
  bool traced_;
  std::uint32_t previous_;
  PyThreadState* state_;
};

}  // namespace usmx::python
