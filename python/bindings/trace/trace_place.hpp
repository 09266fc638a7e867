// The lines of Python that records name by numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>

#include "support/gil.hpp"

namespace usmx::python {

namespace nb = nanobind;

/// (file, line, function) of the place with that number; None for 0.
nb::object place_of(std::uint32_t number);
/// From now on records name lines: the innermost one that is not in `folder`, which ends in a
/// slash.
void find_places_outside(std::string folder);

}  // namespace usmx::python
