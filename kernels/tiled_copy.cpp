// Copies elements whose order differs between the two sides, tile by tile by way of local memory:
// each side is read and written along the dimension in which its own elements are neighbours.
//
// Compiled with -DWORD= (an unsigned type as wide as an element, or expression::pair), -DTILE=
// (edge of a tile, in words) and -DITEMS= (of a work-group, a multiple of TILE). Distances are in
// words.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/cast.hpp"

// A group moves one tile of `rows` by `columns`. The elements of a row are neighbours in `to`,
// those of a column in `from`. Outside of the matrix there are up to two more dimensions, which
// groups count last.
USMX_KERNEL(1)
tiled_copy(WORD* to, const WORD* from, int64_t rows, int64_t columns, int64_t to_row,
           int64_t from_column, int64_t inner, int64_t to_outer, int64_t to_inner,
           int64_t from_outer, int64_t from_inner) {
  usmx::local<WORD[TILE][TILE + 1]> tile;  // one more, so that columns spread over the banks too
  const int64_t across = (columns + TILE - 1) / TILE;
  const int64_t down = (rows + TILE - 1) / TILE;
  int64_t group = int64_t(usmx::group_id());
  const int64_t column = group % across * TILE;
  group /= across;
  const int64_t row = group % down * TILE;
  group /= down;
  to += group / inner * to_outer + group % inner * to_inner + row * to_row + column;
  from += group / inner * from_outer + group % inner * from_inner + row + column * from_column;

  const int wide = columns - column < TILE ? int(columns - column) : TILE;
  const int high = rows - row < TILE ? int(rows - row) : TILE;
  const int along = int(usmx::local_id()) % TILE;
  const int first = int(usmx::local_id()) / TILE;
  if (along < high) {
    for (int k = first; k < wide; k += ITEMS / TILE) {
      tile[k][along] = from[k * from_column + along];
    }
  }
  usmx::group_barrier();
  if (along < wide) {
    for (int k = first; k < high; k += ITEMS / TILE) {
      to[k * to_row + along] = tile[along][k];
    }
  }
}
