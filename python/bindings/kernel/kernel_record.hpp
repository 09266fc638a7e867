// How a record of NumPy's, a structure of ctypes' or bytes become a struct that a kernel declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/bindings.hpp"
#include "usmx/kernel.hpp"

namespace usmx::python {

/// The struct of `type` as the kernel has it in memory, from an object with the same fields in the
/// same order, wherever that has them. `where` begins the message of an error.
/// Throws TypeError (no record; another number, name or type of a field) or ValueError (bytes of
/// another size).
std::vector<std::byte> to_record(nb::handle obj, const dtype& type, const std::string& where);

}  // namespace usmx::python
