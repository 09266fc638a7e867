// float16, by the name under which texts written for CuPy include it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../cuda.hpp"
