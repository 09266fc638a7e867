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
  usmx::local<usmx::sorting::tile_space<element, HAS_PLACES, place, BITS, ITEMS, EACH>> space;
  usmx::local<place[1 << BITS]> shift;
  const usmx::sorting::tile_of_row tile(uint32_t(usmx::group_id()), {length, size, in_row});
  const int64_t* const of_row = before + tile.row * in_row * (1 << BITS) + tile.number;
  usmx::sorting::move_tile<own, BITS, HAS_PLACES>(
      space.get(), shift.get(), tile, (const element*)from, (element*)to, places, new_places,
      lowest, is_first != 0, word(flip), [=](int d, uint32_t) { return of_row[d * in_row]; });
}
#endif

#ifdef COUNT_DIGITS
USMX_KERNEL(1)
count_digits(const word* from, COUNT* counts, int64_t length, int64_t size, int64_t in_row,
             uint64_t flip) {
  usmx::local<uint32_t[DIGITS][1 << BITS]> space;
  usmx::sorting::count_digits<own, BITS, DIGITS>(space.get(), (const element*)from, counts,
                                                 {length, size, in_row}, word(flip));
}
#endif

#ifdef SWEEP_TILE
USMX_KERNEL(1)
sweep_tile(const word* from, word* to, const place* places, place* new_places,
           const int64_t* begins, COUNT* board, COUNT* next, int64_t length, int64_t size,
           int64_t in_row, int32_t lowest, int32_t is_first, uint64_t flip) {
  usmx::local<usmx::sorting::tile_space<element, HAS_PLACES, place, BITS, ITEMS, EACH>> space;
  usmx::local<place[1 << BITS]> shift;
  usmx::local<COUNT> number;
  constexpr int values = 1 << BITS;
  const uint32_t taken = uint32_t(usmx::take_number(number.get(), next));
  const usmx::sorting::tile_of_row tile(taken, {length, size, in_row});
  begins += (int64_t(tile.row) * DIGITS + lowest / BITS) * values;
  board += int64_t(taken) * values;
  usmx::sorting::move_tile<own, BITS, HAS_PLACES>(
      space.get(), shift.get(), tile, (const element*)from, (element*)to, places, new_places,
      lowest, is_first != 0, word(flip), [=](int d, uint32_t count) {
        return begins[d] +
               int64_t(usmx::sorting::come_earlier<BITS>(board, tile.number > 0, d, COUNT(count)));
      });
}
#endif

#ifdef SORT_IN_TILE
USMX_KERNEL(1)
sort_in_tile(const word* from, word* to, place* places, int32_t length, uint64_t flip) {
  usmx::local<usmx::sorting::tile_space<element, HAS_PLACES, uint16_t, BITS, ITEMS, EACH>> space;
  usmx::sorting::sort_in_tile<own, BITS, DIGITS, HAS_PLACES>(
      space.get(), (const element*)from, (element*)to, places, length, word(flip));
}
#endif

#ifdef COUNT_RANKED
USMX_KERNEL(1)
count_ranked(const word* from, uint32_t* counts, int64_t length, int64_t size, int64_t in_row,
             int32_t pass, int32_t places, int64_t r0, int64_t r1, int64_t r2, int64_t r3,
             int64_t r4, int64_t r5, int64_t r6, int64_t r7) {
  const int64_t ranks[] = {r0, r1, r2, r3, r4, r5, r6, r7};
  usmx::local<usmx::sorting::ranked_space<BITS, EACH>> space;
  usmx::local<uint32_t[EACH][1 << BITS]> counted;
  usmx::sorting::count_ranked<own, BITS, DIGITS>(space.get(), counted.get(), from, ranks, places,
                                                 counts, {length, size, in_row}, pass);
}
#endif

#ifdef RANKED
USMX_KERNEL(1)
ranked(const uint32_t* counts, word* to, int32_t places, int64_t r0, int64_t r1, int64_t r2,
       int64_t r3, int64_t r4, int64_t r5, int64_t r6, int64_t r7) {
  const int64_t ranks[] = {r0, r1, r2, r3, r4, r5, r6, r7};
  usmx::local<usmx::sorting::ranked_space<BITS, EACH>> space;
  usmx::sorting::ranked<own, BITS, DIGITS>(space.get(), ranks, places, counts, to);
}
#endif
