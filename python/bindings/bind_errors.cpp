// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
namespace usmx::python {
void bind_errors(nb::module_&) {}
}
