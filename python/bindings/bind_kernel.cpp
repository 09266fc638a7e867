// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
namespace usmx::python {
void bind_kernel(nb::module_&) {}
}
