// The one function of signatures.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// Gives nanobind's functions a `__signature__`. After everything else was bound.
void bind_signatures(nb::module_& m);

}  // namespace usmx::python
