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

/// Neighbours of an operand that an item has in registers. Those of an output are loaded too, for
/// an expression may leave some as they are; where it assigns all of them the compiler drops the
/// load.
template <int Elements, class T>
struct in_hand {
  T* p;
  decltype(load_several<Elements>(static_cast<T*>(nullptr))) values;

  explicit in_hand(T* from) : p(from), values(load_several<Elements>(from)) {}
};

template <int Elements, class T>
inline void store_several(const T*, const several<T, Elements>&) {}  // an input
template <int Elements, class T>
inline void store_several(T* p, const several<T, Elements>& values) {
  __builtin_memcpy(aligned<Elements>(p), &values, sizeof values);
}

/// All loads come before the first store, so that they and the stores become one each, even where
/// an expression branches.
template <int Elements, class One, class... Operands>
[[gnu::always_inline]] inline void each_of(uint64_t first, const One& one, Operands... hands) {
  _Pragma("unroll") for (int k = 0; k < Elements; ++k) one(first + k, k, hands.values.at...);
  (store_several<Elements>(hands.p, hands.values), ...);
}

/// Computes `Elements` neighbours: `one(at, k, pointers...)` reads and writes its operands at `k`
/// of the pointers; `at` is the number of the element.
template <int Elements, class One, class... Operands>
[[gnu::always_inline]] inline void each_several(uint64_t size, const One& one,
                                                Operands*... operands) {
  const uint64_t first = global_id() * Elements;
  if (first >= size) return;
  if (size - first < Elements) {
    for (uint64_t at = first; at < size; ++at) one(at, int64_t(at), operands...);
    return;
  }
  each_of<Elements>(first, one, in_hand<Elements, Operands>(operands + first)...);
}

}  // namespace usmx::expression
