// Which commands are on their way, so that memory is not pulled from under them and not left open
// to the host after them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CL/cl_icd.h>

#include <functional>

namespace simulated {

/// The functions of the loader below this layer.
extern const cl_icd_dispatch* below;

/// Submits a command through `enqueue`, which gets where to put its event, and follows it to its
/// end. `opens` says that it works at the program's addresses (a kernel). The caller's `event` may
/// be null.
cl_int follow(cl_command_queue queue, bool opens, cl_event* event,
              const std::function<cl_int(cl_event*)>& enqueue);

/// Waits until commands that were submitted before now have ended: freeing does that in this
/// runtime.
void wait_for_running();
/// After a wait returned: lets the bookkeeping of finished commands of that queue catch up, so that
/// the next touch by the host is judged right.
void settle(cl_command_queue queue);

long in_flight() noexcept;

}  // namespace simulated
