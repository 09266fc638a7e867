// Products and transforms that a library of the vendor computes as they are given, without a word
// of Python: a small one takes less than what Python says about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nvidia/functions.hpp"
#include "support/bindings.hpp"

namespace usmx::python {

/// Whether NVIDIA's library is what `usmx._namespace._libraries` chooses for arrays on a queue: it
/// was loaded, which Python does at the first call, and the thread says nothing else.
bool nvidia_computes(detail::nvidia::library which, const sycl::queue& queue);

/// `usmx.matmul` of two arrays of ours.
nb::object product_of(nb::handle x1, nb::handle x2);

}  // namespace usmx::python
