// Raw arrays and indices, by the name under which texts written for CuPy include them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../cuda.hpp"
