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

}  // namespace usmx
