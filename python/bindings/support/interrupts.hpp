// Ctrl-C while Python's main thread waits for a long command.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/wait_forms.hpp"
#include "support/gil.hpp"

namespace usmx::python {

/// Runs the handlers of signals that have arrived; throws what they raise. Without the GIL.
void raise_if_signalled();

/// Python's handlers run on this thread alone.
bool on_main_thread() noexcept;

/// Before a copy to the host, whose own wait must not end before the copy has: whether to wait
/// first for what comes before it, in a way that can be interrupted.
inline bool waits_before_copying() noexcept {
  return detail::expects_long_waits() && on_main_thread();
}

/// Without the GIL around a wait that guards nothing: on the main thread it ends when the handler
/// of a signal raises, as that of Ctrl-C does. The command goes on, and its memory knows it.
class waiting_without_gil {
 private:
  gil_released released_;
  detail::interruptible interruptible_{on_main_thread() ? raise_if_signalled : nullptr};
};

}  // namespace usmx::python
