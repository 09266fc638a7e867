// The functions of elementary/functions.hpp for kernels of arrays' operations, whose results on the
// CPU have the bits that the host computes. Other devices have their own functions. Those of half
// and bfloat16 are computed in float.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/bfloat16.hpp"
#include "prelude/math.hpp"
#include "prelude/types.hpp"

#ifdef USMX_HOST_CORES
#include "elementary/functions.hpp"

namespace usmx::elementary {

#define USMX_ELEMENTARY_1(name)                             \
  inline half name(half x) { return half(name(float(x))); } \
  inline bfloat16 name(bfloat16 x) { return name(float(x)); }
#define USMX_ELEMENTARY_2(name)                                               \
  inline half name(half x, half y) { return half(name(float(x), float(y))); } \
  inline bfloat16 name(bfloat16 x, bfloat16 y) { return name(float(x), float(y)); }

USMX_ELEMENTARY_1(exp)
USMX_ELEMENTARY_1(log)
USMX_ELEMENTARY_1(sin)
USMX_ELEMENTARY_1(cos)
USMX_ELEMENTARY_1(tanh)
USMX_ELEMENTARY_2(atan2)
USMX_ELEMENTARY_2(hypot)

#undef USMX_ELEMENTARY_1
#undef USMX_ELEMENTARY_2

}  // namespace usmx::elementary
#else
namespace usmx::elementary {

using usmx::atan2, usmx::cos, usmx::exp, usmx::hypot, usmx::log, usmx::sin, usmx::tanh;

}  // namespace usmx::elementary
#endif
