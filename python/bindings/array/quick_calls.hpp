// The plain forms of the calls that programs make most. Each stands before the general function,
// which gets whatever is not plain and everything that goes wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// `MemoryUSM...(nbytes)` and `MemoryUSM...(nbytes, queue=queue)` of one kind of memory.
void quicken_memory(nb::handle type, usm_kind kind);
/// `empty(shape, dtype)`, also with `usm_type=` and `queue=`.
void quicken_empty(nb::handle function);
/// `Queue()` and `Queue("filter")`.
void quicken_queue(nb::handle type);

}  // namespace usmx::python
