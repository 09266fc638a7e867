// Remainders of numbers that mostly need no division, as places on a ring.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "group.hpp"
#include "operators.hpp"

namespace usmx {

/// modulo(a, b) of signed integers, without a division where -b <= a < 2 * b for all items of a
/// vector. Processors divide their lanes one by one; other devices do what modulo() does. Not
/// behind a branch that only some items take: it stays right there, but the question takes longer.
template <class T>
USMX_TOGETHER inline T wrapped(T a, T b) {
#ifdef USMX_SHORT_VECTOR
  constexpr T most = T(1) << (8 * sizeof(T) - 3);
  const bool is_near = b > T(0) && b <= most && a >= -b && a < 2 * b;
  // Of those that are here, should some be elsewhere.
  if (!__spirv_GroupNonUniformAny(3, !is_near)) return a < T(0) ? a + b : a < b ? a : a - b;
#endif
  return modulo<T>(a, b);
}

}  // namespace usmx
