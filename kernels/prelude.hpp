// What a run-time compiled kernel sees without including anything: no SYCL header and no C++
// standard header, so that it compiles in a tenth of the time and on machines without a C++
// compiler.
//
// Everything stands in namespace usmx; kernels are declared with USMX_KERNEL(rank):
//
//   USMX_KERNEL(1) axpy(float a, const float* x, float* y) {
//     auto i = usmx::global_id();
//     y[i] += a * x[i];
//   }
//
// Only forms that every backend takes are used: scalars and pointers as parameters, local memory of
// a size known when compiling, no constant address space. Operand types of the __spirv_ functions
// must be exactly the ones used here: a wrong one crashes the back end instead of giving an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/atomic.hpp"
#include "prelude/bfloat16.hpp"
#include "prelude/complex.hpp"
#include "prelude/group.hpp"
#include "prelude/item.hpp"
#include "prelude/local.hpp"
#include "prelude/math.hpp"
#include "prelude/numbers.hpp"
#include "prelude/operators.hpp"
#include "prelude/print.hpp"
#include "prelude/types.hpp"
#include "prelude/view.hpp"
#include "prelude/wrapped.hpp"
