// The plain form of a launch. As with the functions of quick_calls.hpp the general one gets
// whatever is not plain.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// `k[global, local]` and `k[global]` of RawKernel, and the call of what it returns: arrays of ours
/// and Python's numbers, on the queue of the first array.
void quicken_raw_kernel(nb::handle kernel, nb::handle bound);

}  // namespace usmx::python
