// What a kernel made from an expression reads and writes its operands with: casts as NumPy makes
// them, and arrays that the expression indexes itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cast.hpp"
#include "../cuda.hpp"
#include "../prelude.hpp"

// Apart from what expressions see, so that their own functions may have the same names.
namespace usmx::expression {

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

/// Steps along the axes, in bytes.
template <int Rank>
struct byte_steps {
  int64_t of[Rank];

  int64_t operator[](int64_t axis) const { return of[axis]; }
};

/// A raw parameter with its elements in a row: indexed by the flat number of an element, or by an
/// array with an index for each axis.
template <class As, class Own, int Rank>
struct raw_row {
  using index_t = ptrdiff_t;
  static constexpr int ndim = Rank;

  Own* p;
  int64_t count;
  int64_t lengths[Rank == 0 ? 1 : Rank];

  decltype(auto) operator[](int64_t i) const { return element<As>(p, i); }
  template <class Index>
  decltype(auto) operator[](const Index* index) const {
    int64_t at = 0;
    for (int axis = 0; axis < Rank; ++axis) at = at * lengths[axis] + int64_t(index[axis]);
    return element<As>(p, at);
  }
  int64_t size() const { return count; }
  const int64_t* shape() const { return lengths; }
  auto strides() const {
    byte_steps<Rank == 0 ? 1 : Rank> steps{};
    int64_t step = sizeof(Own);
    for (int axis = Rank - 1; axis >= 0; --axis) {
      steps.of[axis] = step;
      step *= lengths[axis];
    }
    return steps;
  }
};

/// One of any strides.
template <class As, class Own, int Rank>
struct raw_strided {
  using index_t = ptrdiff_t;
  static constexpr int ndim = Rank;

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
  template <class Index>
  decltype(auto) operator[](const Index* index) const {
    int64_t at = 0;
    for (int axis = 0; axis < Rank; ++axis) at += int64_t(index[axis]) * steps[axis];
    return element<As>(p, at);
  }
  int64_t size() const { return count; }
  const int64_t* shape() const { return lengths; }
  auto strides() const {
    byte_steps<Rank> bytes{};
    for (int axis = 0; axis < Rank; ++axis) bytes.of[axis] = steps[axis] * int64_t(sizeof(Own));
    return bytes;
  }
};

/// The index of an element of the output along each axis: `_ind.get()[axis]`.
template <int Rank>
struct indexer {
  static constexpr int ndim = Rank;

  int64_t count;
  int64_t lengths[Rank == 0 ? 1 : Rank];
  int64_t at[Rank == 0 ? 1 : Rank];

  void set(int64_t i) {
    for (int axis = Rank - 1; axis >= 0; --axis) {
      at[axis] = axis == 0 ? i : i % lengths[axis];
      i /= lengths[axis];
    }
  }
  int64_t size() const { return count; }
  const int64_t* shape() const { return lengths; }
  const int64_t* get() const { return at; }
};

}  // namespace usmx::expression
