// Copies elements between two strided arrays on the device, with a cast where their types differ:
// what the host must not do with device memory.
//
// Compiled for each pair of types with -DTO=, -DFROM= (a scalar type; the parts of a complex one),
// -DTO_PARTS=, -DFROM_PARTS= (2 for complex) and -DRANK=. A launch has fewer than 2^31 elements.
// Distances are in units of TO and FROM. The outermost dimension comes first.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/cast.hpp"
#include "usmx/prelude.hpp"
#include "usmx/rows.hpp"

using usmx::expression::convert;
using usmx::expression::is_same;

inline FROM load(const FROM* from) {
  if constexpr (is_same<FROM, bool>) {
    return *reinterpret_cast<const uint8_t*>(from) != 0;  // a foreign true need not be 1
  } else {
    return *from;
  }
}

inline void copy_element(TO* to, const FROM* from) {
#if TO_PARTS == 2
  to[0] = convert<TO>(load(from));
#if FROM_PARTS == 2
  to[1] = convert<TO>(from[1]);
#else
  to[1] = TO(0);
#endif
#elif FROM_PARTS == 2
  if constexpr (is_same<TO, bool>) {
    *to = from[0] != FROM(0) || from[1] != FROM(0);
  } else {
    *to = convert<TO>(from[0]);
  }
#else
  *to = convert<TO>(load(from));
#endif
}

/// Distances of an element of each side.
struct distances {
  int64_t to, from;
};

/// Of one iteration of all dimensions but the innermost of four; missing ones are not read.
inline distances outer_distances(uint32_t rest, uint64_t n1, uint64_t n2, int64_t to0, int64_t to1,
                                 int64_t to2, int64_t from0, int64_t from1, int64_t from2) {
  distances d{0, 0};
  if constexpr (RANK > 2) {
    const uint32_t k = rest % uint32_t(n2);
    rest /= uint32_t(n2);
    d.to += int64_t(k) * to2;
    d.from += int64_t(k) * from2;
  }
  if constexpr (RANK > 3) {
    const uint32_t k = rest % uint32_t(n1);
    rest /= uint32_t(n1);
    d.to += int64_t(k) * to1;
    d.from += int64_t(k) * from1;
  }
  return {d.to + int64_t(rest) * to0, d.from + int64_t(rest) * from0};
}

// The steps of the innermost dimension: numbers where the text may have them.
#ifndef TO_STEP
#define TO_STEP to3
#define FROM_STEP from3
#endif

// RANK dimensions, at most four; the lengths and steps of the missing outer ones are not read.
USMX_KERNEL(1)
strided_copy(TO* to, const FROM* from, uint64_t size, uint64_t n1, uint64_t n2, uint64_t n3,
             int64_t to0, int64_t to1, int64_t to2, int64_t to3, int64_t from0, int64_t from1,
             int64_t from2, int64_t from3) {
  const int64_t item = int64_t(usmx::global_id());
  if (item >= int64_t(size)) return;
  if constexpr (RANK > 1) {
    const int64_t column = uint32_t(item) % uint32_t(n3);
    const distances d =
        outer_distances(uint32_t(item) / uint32_t(n3), n1, n2, to0, to1, to2, from0, from1, from2);
    copy_element(to + d.to + column * TO_STEP, from + d.from + column * FROM_STEP);
  } else {
    copy_element(to + item * TO_STEP, from + item * FROM_STEP);
  }
}

// The same where the innermost of several dimensions is long: by rows.
USMX_KERNEL(1)
strided_copy_rows(TO* to, const FROM* from, uint64_t size, uint64_t length, uint64_t parts,
                  uint64_t rows_a_group, uint64_t n1, uint64_t n2, int64_t to0, int64_t to1,
                  int64_t to2, int64_t to3, int64_t from0, int64_t from1, int64_t from2,
                  int64_t from3) {
  const auto one = [&](uint64_t row, int64_t column, uint64_t) {
    const distances d = outer_distances(uint32_t(row), n1, n2, to0, to1, to2, from0, from1, from2);
    copy_element(to + d.to + column * TO_STEP, from + d.from + column * FROM_STEP);
  };
  usmx::expression::each_row(size, length, parts, rows_a_group, one);
}

// Any rank: `loops` holds length, step of `to` and step of `from` of each dimension, the innermost
// first.
USMX_KERNEL(1)
strided_copy_any(TO* to, const FROM* from, uint64_t size, const int64_t* loops, int32_t rank) {
  uint32_t rest = uint32_t(usmx::global_id());
  if (rest >= uint32_t(size)) return;
  int64_t d = 0;
  int64_t s = 0;
  for (int32_t axis = 0; axis < rank; ++axis) {
    const int64_t* loop = loops + 3 * axis;
    const uint32_t k = rest % uint32_t(loop[0]);
    rest /= uint32_t(loop[0]);
    d += int64_t(k) * loop[1];
    s += int64_t(k) * loop[2];
  }
  copy_element(to + d, from + s);
}
