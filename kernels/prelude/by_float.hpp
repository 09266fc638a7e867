// Functions of half and bfloat16 that are computed in float, which has digits enough for all steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bfloat16.hpp"
#include "types.hpp"

/// Of one number, and of two.
#define USMX_BY_FLOAT_1(name)                                            \
  USMX_BACKEND_INLINE half name(half x) { return half(name(float(x))); } \
  USMX_BACKEND_INLINE bfloat16 name(bfloat16 x) { return name(float(x)); }
#define USMX_BY_FLOAT_2(name)                                                              \
  USMX_BACKEND_INLINE half name(half x, half y) { return half(name(float(x), float(y))); } \
  USMX_BACKEND_INLINE bfloat16 name(bfloat16 x, bfloat16 y) { return name(float(x), float(y)); }
