// The functions of elementary/functions.hpp for kernels of arrays' operations, whose results on the
// CPU have the bits that the host computes. Other devices have their own functions. Those of half
// and bfloat16 are computed in float.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/by_float.hpp"
#include "prelude/math.hpp"
#include "prelude/types.hpp"

#ifdef USMX_HOST_CORES
#include "elementary/functions.hpp"

namespace usmx::elementary {

USMX_BY_FLOAT_1(exp)
USMX_BY_FLOAT_1(log)
USMX_BY_FLOAT_1(sin)
USMX_BY_FLOAT_1(cos)
USMX_BY_FLOAT_1(tanh)
USMX_BY_FLOAT_2(atan2)
USMX_BY_FLOAT_2(hypot)

}  // namespace usmx::elementary
#else
namespace usmx::elementary {

using usmx::atan2, usmx::cos, usmx::exp, usmx::hypot, usmx::log, usmx::sin, usmx::tanh;

}  // namespace usmx::elementary
#endif
