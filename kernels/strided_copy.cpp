// Copies elements between two strided arrays on the device, with a cast where their types differ:
// what the host must not do with device memory.
//
// Compiled for each pair of types with -DTO=, -DFROM=; -DTO_STEP=, -DFROM_STEP=: numbers where they
// are known, else the names of the parameters; and -DOUTER=: how many loops there are around the
// innermost one, at most three, or -DIN_TABLE for any number of them. A launch has fewer than 2^31
// elements. Distances are in elements.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/cast.hpp"
#include "usmx/prelude.hpp"
#include "usmx/rows.hpp"

using namespace usmx;

/// Distances of an element of each side.
struct distances {
  int64_t to, from;
};

#ifdef IN_TABLE
// Length, step of `to` and step of `from` of each loop, the innermost first.
#define OUTER 1
#define LOOPS const int64_t *loops, int32_t count
#define OUTER_DISTANCES(row) outer_distances(uint32_t(row), loops, count)

inline distances outer_distances(uint32_t rest, const int64_t* loops, int32_t count) {
  distances d{0, 0};
  for (int32_t axis = 0; axis < count; ++axis) {
    const int64_t* loop = loops + 3 * axis;
    const uint32_t k = rest % uint32_t(loop[0]);
    rest /= uint32_t(loop[0]);
    d.to += int64_t(k) * loop[1];
    d.from += int64_t(k) * loop[2];
  }
  return d;
}
#else
// The outermost loop first; its length is not needed, and missing loops are not read.
#define LOOPS                                                                                    \
  uint64_t n1, uint64_t n2, int64_t to0, int64_t to1, int64_t to2, int64_t from0, int64_t from1, \
      int64_t from2
#define OUTER_DISTANCES(row) \
  outer_distances(uint32_t(row), n1, n2, to0, to1, to2, from0, from1, from2)

inline distances outer_distances(uint32_t rest, uint64_t n1, uint64_t n2, int64_t to0, int64_t to1,
                                 int64_t to2, int64_t from0, int64_t from1, int64_t from2) {
  distances d{0, 0};
  if constexpr (OUTER > 2) {
    const uint32_t k = rest % uint32_t(n2);
    rest /= uint32_t(n2);
    d.to += int64_t(k) * to2;
    d.from += int64_t(k) * from2;
  }
  if constexpr (OUTER > 1) {
    const uint32_t k = rest % uint32_t(n1);
    rest /= uint32_t(n1);
    d.to += int64_t(k) * to1;
    d.from += int64_t(k) * from1;
  }
  return {d.to + int64_t(rest) * to0, d.from + int64_t(rest) * from0};
}
#endif

inline void copy_element(TO* to, const FROM* from) {
  expression::store(to, 0, expression::load<TO>(from, 0));
}

USMX_KERNEL(1)
strided_copy(TO* to, const FROM* from, uint64_t size, uint64_t length, int64_t to_step,
             int64_t from_step, LOOPS) {
  const int64_t item = int64_t(global_id());
  if (item >= int64_t(size)) return;
  if constexpr (OUTER > 0) {
    const int64_t column = uint32_t(item) % uint32_t(length);
    const distances d = OUTER_DISTANCES(uint32_t(item) / uint32_t(length));
    copy_element(to + d.to + column * TO_STEP, from + d.from + column * FROM_STEP);
  } else {
    copy_element(to + item * TO_STEP, from + item * FROM_STEP);
  }
}

// The same where the innermost of several loops is long: by rows.
USMX_KERNEL(1)
strided_copy_rows(TO* to, const FROM* from, uint64_t size, uint64_t length, int64_t to_step,
                  int64_t from_step, uint64_t parts, uint64_t rows_a_group, LOOPS) {
  const auto one = [&](uint64_t row, int64_t column, uint64_t) {
    const distances d = OUTER_DISTANCES(row);
    copy_element(to + d.to + column * TO_STEP, from + d.from + column * FROM_STEP);
  };
  expression::each_row(size, length, parts, rows_a_group, one);
}
