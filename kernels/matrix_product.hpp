// Products of matrices: a group computes a tile of the result. It keeps a tile of the second matrix
// in local memory, and each item a column of sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/complex.hpp"
#include "prelude/item.hpp"
#include "prelude/types.hpp"

namespace usmx::matrix_product {

/// Items of a group, which are columns of its tile; rows of its tile; rows that are read at a time.
inline constexpr int columns = 64, rows = 64, depth = 64;
/// Rows of which an item has the sums in registers.
inline constexpr int block = 8;

/// c = a b of n rows, `length` products for each element, and m columns. Matrices are contiguous;
/// `step_a` and `step_b` elements lie between those of a stack, 0 if there is one for all.
template <class T, class Sum>
inline void tile(Sum (&second)[depth][columns], const T* a, const T* b, T* c, int64_t n,
                 int64_t length, int64_t m, int64_t step_a, int64_t step_b) {
  const int me = int(local_id());
  const int64_t down = (n + rows - 1) / rows, across = (m + columns - 1) / columns;
  const int64_t group = int64_t(group_id());
  // Neighbouring groups read the same part of b.
  const int64_t matrix = group / (down * across), inside = group % (down * across);
  const int64_t first_row = inside % down * rows, j = inside / down * columns + me;
  a += matrix * step_a;
  b += matrix * step_b;
  c += matrix * n * m;
  Sum sums[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) sums[r] = Sum(0);
  for (int64_t first = 0; first < length; first += depth) {
    const int here = length - first < depth ? int(length - first) : depth;
    for (int k = 0; k < here; ++k) {
      second[k][me] = j < m ? Sum(b[(first + k) * m + j]) : Sum(0);
    }
    group_barrier();
#pragma unroll
    for (int r = 0; r < rows; r += block) {
      if (first_row + r < n) {
        Sum own[block];
        const T* lines[block];
#pragma unroll
        for (int q = 0; q < block; ++q) {
          own[q] = sums[r + q];
          const int64_t i = first_row + r + q;
          lines[q] = a + (i < n ? i : n - 1) * length + first;
        }
        for (int k = 0; k < here; ++k) {
          const Sum factor = second[k][me];
#pragma unroll
          for (int q = 0; q < block; ++q) own[q] = Sum(own[q] + Sum(lines[q][k]) * factor);
        }
#pragma unroll
        for (int q = 0; q < block; ++q) sums[r + q] = own[q];
      }
    }
    group_barrier();
  }
  if (j < m) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (first_row + r < n) c[(first_row + r) * m + j] = T(sums[r]);
    }
  }
}

}  // namespace usmx::matrix_product
