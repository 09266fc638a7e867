// Local memory whose size a launch from Python says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "support/bindings.hpp"
#include "usmx/kernel.hpp"

namespace usmx::python {

/// A `usmx.LocalMemory`; empty for anything else.
std::optional<local_memory> to_local_memory(nb::handle obj);

/// One, or a sequence of them. Throws TypeError.
std::vector<local_memory> to_local_memories(nb::handle obj);

}  // namespace usmx::python
