// Numbers of a distribution for elements that are neighbours: -DFUNCTION= says which distribution,
// -DTYPE= which numbers.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/random.hpp"

#ifdef RANDOM_FILL
USMX_KERNEL(1)
random_fill(uint64_t key, uint64_t stream, uint64_t place, TYPE* z, int64_t size, TYPE a, TYPE b) {
  usmx::random::fill(key, stream, place, z, size,
                     [&](const usmx::random::share<TYPE>& s) __attribute__((always_inline)) {
                       return usmx::random::FUNCTION(s, a, b);
                     });
}
#endif
