// An array as a kernel sees it: a pointer with lengths and strides, which arrive as single scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

namespace usmx {

/// Contiguous in C order: x[i], x(i, j).
template <class T, int Rank>
struct dense {
  using value_type = T;
  T* data;
  int64_t shape[Rank == 0 ? 1 : Rank];

  T& operator[](int64_t i) const { return data[i]; }
  template <class... Index>
  T& operator()(Index... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at = at * shape[axis++] + int64_t(index)), ...);
    return data[at];
  }
  int64_t size() const {
    int64_t n = 1;
    for (int k = 0; k < Rank; ++k) n *= shape[k];
    return n;
  }
};

/// With strides in elements, of either sign.
template <class T, int Rank>
struct strided {
  using value_type = T;
  T* data;
  int64_t shape[Rank == 0 ? 1 : Rank];
  int64_t strides[Rank == 0 ? 1 : Rank];

  T& operator[](int64_t i) const { return data[i * strides[0]]; }
  template <class... Index>
  T& operator()(Index... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at += int64_t(index) * strides[axis++]), ...);
    return data[at];
  }
  int64_t size() const {
    int64_t n = 1;
    for (int k = 0; k < Rank; ++k) n *= shape[k];
    return n;
  }
};

/// The same array for a function that only reads it.
template <class T, int Rank>
inline dense<const T, Rank> readable(const dense<T, Rank>& a) {
  dense<const T, Rank> same{a.data, {}};
  for (int k = 0; k < Rank; ++k) same.shape[k] = a.shape[k];
  return same;
}
template <class T, int Rank>
inline strided<const T, Rank> readable(const strided<T, Rank>& a) {
  strided<const T, Rank> same{a.data, {}, {}};
  for (int k = 0; k < Rank; ++k) same.shape[k] = a.shape[k], same.strides[k] = a.strides[k];
  return same;
}

/// The part of an array at its first indices: row(a, i) of a matrix.
template <class T, int Rank, class... Index>
inline dense<T, Rank - int(sizeof...(Index))> row(const dense<T, Rank>& a, Index... index) {
  constexpr int given = int(sizeof...(Index));
  dense<T, Rank - given> part{a.data, {}};
  int64_t at = 0;
  int axis = 0;
  ((at = at * a.shape[axis++] + int64_t(index)), ...);
  for (int k = given; k < Rank; ++k) at *= part.shape[k - given] = a.shape[k];
  part.data += at;
  return part;
}
template <class T, int Rank, class... Index>
inline strided<T, Rank - int(sizeof...(Index))> row(const strided<T, Rank>& a, Index... index) {
  constexpr int given = int(sizeof...(Index));
  strided<T, Rank - given> part{a.data, {}, {}};
  int axis = 0;
  ((part.data += int64_t(index) * a.strides[axis++]), ...);
  for (int k = given; k < Rank; ++k) {
    part.shape[k - given] = a.shape[k];
    part.strides[k - given] = a.strides[k];
  }
  return part;
}

}  // namespace usmx
