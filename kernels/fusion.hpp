// What kernels of arrays and of fused functions use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression.hpp"
#include "operations.hpp"
