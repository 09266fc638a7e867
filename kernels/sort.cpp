// The kernels of sort.hpp, compiled one at a time: -DSORT_ROWS and so on says which. With -DFORM=,
// what elements are; -DWORD=, the type of their words; -DPLACE=, that of places; -DHAS_PLACES=,
// whether places are asked for; and -DBITS= of a digit.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/sort.hpp"

constexpr usmx::sorting::form own = usmx::sorting::form::FORM;
using word = WORD;
using place = PLACE;
using element = usmx::sorting::element<own, word>;

#ifdef SORT_ROWS
USMX_KERNEL(1)
sort_rows(const word* from, word* to, place* places, word* spare, place* spare_places,
          int64_t* counts, int64_t rows, int64_t length, int32_t digits, uint64_t flip) {
  usmx::sorting::sort_rows<own, BITS, HAS_PLACES>((const element*)from, (element*)to, places,
                                                  (element*)spare, spare_places, counts, rows,
                                                  length, digits, word(flip));
}
#endif

#ifdef COUNT_CHUNK
USMX_KERNEL(1)
count_chunk(const word* from, place* counts, int64_t length, int64_t size, int64_t in_row,
            int32_t lowest, uint64_t flip) {
  usmx::sorting::count_chunk<own, BITS>((const element*)from, counts, {length, size, in_row},
                                        lowest, word(flip));
}
#endif

#ifdef MOVE_CHUNK
USMX_KERNEL(1)
move_chunk(const word* from, word* to, const place* places, place* new_places, const place* counts,
           place* next, int64_t length, int64_t size, int64_t in_row, int32_t lowest,
           int32_t is_first, uint64_t flip) {
  usmx::sorting::move_chunk<own, BITS, HAS_PLACES>((const element*)from, (element*)to, places,
                                                   new_places, counts, next, {length, size, in_row},
                                                   lowest, is_first != 0, word(flip));
}
#endif

#ifdef SORT_TILE
USMX_KERNEL(1)
sort_tile(const word* from, word* to, place* places, int64_t rows, int32_t length, int32_t width,
          uint64_t flip) {
  usmx::local<usmx::sorting::short_rows<element, SHORT>> space;
  usmx::sorting::sort_tile<own, HAS_PLACES>(space.get(), (const element*)from, (element*)to, places,
                                            rows, length, width, word(flip));
}
#endif

#ifdef COUNT_TILE
USMX_KERNEL(1)
count_tile(const word* from, uint32_t* counts, int64_t length, int64_t size, int64_t in_row,
           int32_t lowest, uint64_t flip) {
  usmx::local<uint32_t[1 << BITS]> space;
  usmx::sorting::count_tile<own, BITS, ITEMS, EACH>(space.get(), (const element*)from, counts,
                                                    {length, size, in_row}, lowest, word(flip));
}
#endif

#ifdef MOVE_TILE
USMX_KERNEL(1)
move_tile(const word* from, word* to, const place* places, place* new_places, const int64_t* before,
          int64_t length, int64_t size, int64_t in_row, int32_t lowest, int32_t is_first,
          uint64_t flip) {
  usmx::local<usmx::sorting::tile_space<element, place, BITS, ITEMS, EACH>> space;
  usmx::sorting::move_tile<own, BITS, HAS_PLACES>(
      space.get(), (const element*)from, (element*)to, places, new_places, before,
      {length, size, in_row}, lowest, is_first != 0, word(flip));
}
#endif
