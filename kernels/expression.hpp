// What a kernel made from expressions may use: its operands, and the algorithms that visit them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expression/elementwise.hpp"
#include "expression/loops.hpp"
#include "expression/operand.hpp"
#include "expression/reduce.hpp"
#include "expression/scan.hpp"
