// How a Python or NumPy number becomes the bytes of a kernel's scalar parameter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "usmx/kernel.hpp"

namespace usmx::python {

/// The number in the type that `parameter` declares; null or a parameter of unknown type takes the
/// type of a NumPy scalar. `where` begins the message of an error.
/// Throws TypeError (not a number, a float for an integer, a complex number) or ValueError (out of
/// the range of the type).
kernel_argument to_scalar(nanobind::handle number, const kernel_parameter* parameter,
                          const std::string& where);

/// The same for an int or float of Python's own in the type that most kernels declare for it; empty
/// for everything else, wrong numbers too: ask `to_scalar`, which needs the text for a message.
std::optional<kernel_argument> plain_scalar(nanobind::handle number,
                                            const kernel_parameter* parameter) noexcept;

}  // namespace usmx::python
