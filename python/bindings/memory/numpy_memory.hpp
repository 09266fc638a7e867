// The way from an array of NumPy to the pool of ours that it was allocated from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "support/bindings.hpp"

namespace usmx::python {

/// The queue of the block of `usmx.numpy_memory` that the array's memory was allocated in; empty
/// for all other objects, and for a view of such an array. Costs one comparison while there are
/// none.
std::optional<sycl::queue> queue_of_numpy_block(PyObject* array) noexcept;

void bind_numpy_memory(nb::module_& m);

}  // namespace usmx::python
