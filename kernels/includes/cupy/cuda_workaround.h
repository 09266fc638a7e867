// What texts written for CuPy use of the C++ library, whose headers the machine must have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "../../cuda.hpp"
