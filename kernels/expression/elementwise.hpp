// Elementwise kernels whose items load and store several neighbours at once, or are parts of rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../rows.hpp"
#include "loops.hpp"
#include "operand.hpp"

namespace usmx::expression {

/// A pointer to elements of which items store so many at once.
template <int Elements, class T>
inline T* aligned(T* p) {
  return static_cast<T*>(__builtin_assume_aligned(p, alignment<T, Elements>));
}

/// All loads come before the first store, so that they and the stores become one each.
template <int Elements, class One, class... Loaded>
[[gnu::always_inline]] inline void each_of(uint64_t first, const One& one,
                                           const Loaded&... loaded) {
  _Pragma("unroll") for (int k = 0; k < Elements; ++k) one(first + k, k, loaded.at...);
}

/// Computes `Elements` neighbours: `one(at, k, pointers...)` reads its inputs at `k` of the
/// pointers and writes its outputs at `at`.
template <int Elements, class One, class... Inputs>
[[gnu::always_inline]] inline void each_several(uint64_t size, const One& one,
                                                const Inputs*... inputs) {
  const uint64_t first = global_id() * Elements;
  if (first >= size) return;
  if (size - first < Elements) {
    for (uint64_t at = first; at < size; ++at) one(at, int64_t(at), inputs...);
    return;
  }
  each_of<Elements>(first, one, load_several<Elements>(inputs + first)...);
}

}  // namespace usmx::expression
