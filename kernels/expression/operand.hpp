// What a kernel made from an expression reads and writes its operands with: casts as NumPy makes
// them, and arrays that the expression indexes itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cast.hpp"

// Apart from what expressions see, so that their own functions may have the same names.
namespace usmx::expression {

template <class T>
inline T read(const T* p, int64_t i) {
  if constexpr (is_same<T, bool>)
    return reinterpret_cast<const uint8_t*>(p)[i] != 0;  // a foreign true need not be 1
  else
    return p[i];
}
template <class As, class Own>
inline As load(const Own* p, int64_t i) {
  return convert<As>(read(p, i));
}
/// The element itself where it can be named, so that it can be assigned to; otherwise its value.
template <class As, class Own>
inline decltype(auto) element(Own* p, int64_t i) {
  if constexpr (is_same<As, Own>)
    return (p[i]);
  else if constexpr (is_same<const As, Own> && !is_same<As, bool>)
    return (p[i]);
  else
    return load<As>(p, i);
}
template <class Own, class T>
inline void store(Own* p, int64_t i, T value) {
  p[i] = convert<Own>(value);
}

/// What an address of `N` neighbours is a multiple of: their size, for they are loaded at once.
template <class T, int N>
inline constexpr size_t alignment = N == 1 ? alignof(T) : N * sizeof(T);

/// Neighbouring elements that are loaded at once.
template <class T, int N>
struct several {
  alignas(alignment<T, N>) T at[N];
};
template <int N, class T>
inline several<T, N> load_several(const T* p) {
  several<T, N> values;
  __builtin_memcpy(&values, __builtin_assume_aligned(p, alignment<T, N>), sizeof values);
  return values;
}

/// A raw parameter with its elements in a row: indexed by the flat number of an element.
template <class As, class Own>
struct raw_row {
  Own* p;
  int64_t count;

  decltype(auto) operator[](int64_t i) const { return element<As>(p, i); }
  int64_t size() const { return count; }
};

/// One of any strides, indexed by the flat number of an element in C order.
template <class As, class Own, int Rank>
struct raw_strided {
  Own* p;
  int64_t count;
  int64_t lengths[Rank];
  int64_t steps[Rank];

  decltype(auto) operator[](int64_t i) const {
    int64_t at = 0;
    for (int axis = Rank - 1; axis > 0; --axis) {
      at += i % lengths[axis] * steps[axis];
      i /= lengths[axis];
    }
    return element<As>(p, at + i * steps[0]);
  }
  int64_t size() const { return count; }
};

}  // namespace usmx::expression
