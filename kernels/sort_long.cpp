// The kernels of sort_long.hpp, compiled one at a time: -DCOUNT_PREFIXES and so on says which. With
// -DFORM=, -DWORD=, -DPLACE= and -DHAS_PLACES= as in sort.cpp, and -DEXACT=, whether keys have all
// bits of their elements.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/sort_long.hpp"

constexpr usmx::sorting::form own = usmx::sorting::form::FORM;
using word = WORD;
using place = PLACE;
using element = usmx::sorting::travelling<own, EXACT, HAS_PLACES, word, place>::type;
using prefixes = usmx::sorting::prefixes<own, EXACT, word>;

#ifdef COUNT_PREFIXES
USMX_KERNEL(1)
count_prefixes(const word* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip,
               place* counts, int64_t length, int64_t size, int64_t in_row) {
  usmx::sorting::count_prefixes(prefixes{from, lowest, bits, word(base), word(flip)}, counts,
                                usmx::sorting::chunks{length, size, in_row});
}
#endif

#ifdef CUT_BUCKETS
USMX_KERNEL(1)
cut_buckets(const word* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip,
            const place* counts, uint16_t* bucket_of, place* next, int64_t* starts, int64_t chunks,
            int64_t limit, int64_t buckets) {
  usmx::sorting::cut_buckets(prefixes{from, lowest, bits, word(base), word(flip)}, counts,
                             bucket_of, next, starts, chunks, limit, buckets);
}
#endif

#ifdef MOVE_TO_BUCKETS
USMX_KERNEL(1)
move_to_buckets(const word* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip,
                uint8_t* to, const uint16_t* bucket_of, place* next, int64_t length, int64_t size,
                int64_t in_row, int64_t buckets) {
  usmx::sorting::move_to_buckets<own, EXACT, HAS_PLACES, word, place>(
      prefixes{from, lowest, bits, word(base), word(flip)}, (element*)to, bucket_of, next,
      usmx::sorting::chunks{length, size, in_row}, buckets);
}
#endif

#ifdef SORT_BUCKET
USMX_KERNEL(1)
sort_bucket(uint8_t* x, uint8_t* y, word* values, int32_t has_values, int64_t* places,
            const int64_t* starts, uint64_t flip) {
  usmx::sorting::sort_bucket<own, EXACT, HAS_PLACES, place>(
      (element*)x, (element*)y, values, has_values != 0, places, starts, word(flip));
}
#endif

#ifdef LIST_PREFIXES
USMX_KERNEL(1)
list_prefixes(const word* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip,
              const place* counts, word* values, int64_t* starts, int64_t* number, int64_t chunks) {
  usmx::sorting::list_prefixes(prefixes{from, lowest, bits, word(base), word(flip)}, counts, values,
                               starts, number, chunks);
}
#endif

#ifdef FILL_IN_ORDER
USMX_KERNEL(1)
fill_in_order(const word* values, const int64_t* starts, const int64_t* number, word* to,
              int64_t length, int64_t size, int64_t in_row) {
  usmx::sorting::fill_in_order(values, starts, number, to,
                               usmx::sorting::chunks{length, size, in_row});
}
#endif

#ifdef PLACE_IN_ORDER
USMX_KERNEL(1)
place_in_order(const word* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip,
               int64_t* places, const uint16_t* bucket_of, place* next, int64_t length,
               int64_t size, int64_t in_row, int64_t buckets) {
  usmx::sorting::place_in_order(prefixes{from, lowest, bits, word(base), word(flip)}, places,
                                bucket_of, next, usmx::sorting::chunks{length, size, in_row},
                                buckets);
}
#endif
