// Layouts at the edges of 64 bits: every fault is predicted by a 128-bit model, and what is
// accepted stays free of overflow through every operation (run it under UBSan too).
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <limits>
#include <new>

#include "check.hpp"
#include "heap.hpp"
#include "naive_model.hpp"

using naive::numbers;
using naive::wide;
using usmx::extents;
using usmx::fault;
using usmx::layout;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t bit(int n) { return std::int64_t{1} << n; }

const numbers lengths{0,        1,        2,       3,       bit(30), bit(31) + 1,
                      bit(32),  bit(59),  bit(60), bit(61), bit(62), bit(62) + 1,
                      most / 3, most - 1, most,    -1,      least};
const numbers steps{
    0,       1,        -1,       2,        -3,           bit(31), -bit(32), bit(59),  -bit(60),
    bit(61), -bit(61), bit(62),  -bit(62), -bit(62) - 1, most,    most - 1, most / 2, most / 3 + 1,
    -most,   least,    least + 1};
const std::vector<std::size_t> itemsizes{0,
                                         1,
                                         2,
                                         3,
                                         8,
                                         16,
                                         2147483647,
                                         std::size_t{1} << 62,
                                         std::size_t{1} << 63,
                                         std::numeric_limits<std::size_t>::max()};

// Everything that an accepted layout promises, and every operation on it, inside 64 bits.
void exercise(const layout& l, const naive::extent& expected, std::size_t itemsize) {
  CHECK(l.size() == expected.count);
  CHECK(l.range().first == expected.first);
  CHECK(l.range().last == (expected.count == 0 ? 0 : expected.last));
  const wide bytes = itemsize == 0 ? 1 : wide{itemsize};
  CHECK(l.size() * bytes <= naive::largest);
  for (std::size_t k = 0; k < l.shape().size(); ++k) {
    const wide stride = naive::product(l.strides()[k], bytes);
    CHECK(stride <= naive::largest && stride >= -naive::largest);
  }
  (void)l.is_c_contiguous();
  (void)l.is_f_contiguous();
  for (int axis = 0; axis < l.rank(); ++axis) {
    const std::int64_t n = l.shape()[static_cast<std::size_t>(axis)];
    std::int64_t shift = 0;
    const auto stays_inside = [&](const layout& s) {
      if (s.size() == 0) return;
      CHECK(wide{s.range().first} + shift >= expected.first);
      CHECK(wide{s.range().last} + shift <= expected.last);
    };
    for (const std::int64_t step : {std::int64_t{1}, std::int64_t{-1}, bit(62), least, most}) {
      stays_inside(l.sliced(axis, 0, 0, step, shift));
      if (n == 0) continue;
      stays_inside(l.sliced(axis, n - 1, 1, step, shift));
    }
    if (n > 0) {
      stays_inside(l.sliced(axis, n - 1, n, -1, shift));
      stays_inside(l.sliced(axis, 0, (n - 1) / 2 + 1, 2, shift));
      stays_inside(l.indexed(axis, n - 1, shift));
    }
    layout ignored;
    (void)l.with_axis(axis).broadcast(extents({2, 2, 2, 2, 2}), ignored);
  }
  layout reshaped;
  CHECK(l.reshaped(l.shape(), reshaped));
  const layout column = l.with_axis(0).with_axis(l.rank() + 1);
  if (column.reshaped(l.shape(), reshaped)) {
    CHECK(reshaped.size() == l.size());
    CHECK(reshaped.range().first == l.range().first);
    CHECK(reshaped.range().last == l.range().last);
  } else {
    check::fail(__FILE__, __LINE__, "dropping dimensions of length one needs no copy");
  }
  (void)l.reshaped(column.shape(), reshaped);
  (void)l.reshaped({l.size()}, reshaped);
}

void verify(const numbers& shape, const numbers& strides, std::size_t itemsize) {
  const naive::extent expected = naive::measure(shape, strides, itemsize);
  layout l;
  const fault f = layout::strided(naive::extents(shape), naive::extents(strides), itemsize, l);
  if (f != expected.fault) {
    check::fail(__FILE__, __LINE__,
                "shape " + check::show(shape) + "strides " + check::show(strides) + "itemsize " +
                    check::show(itemsize) + ": " + check::show(f) + " is not " +
                    check::show(expected.fault));
  } else if (f == fault::none) {
    exercise(l, expected, itemsize);
  } else {
    CHECK(l == layout());
  }
}

}  // namespace

TEST(LayoutExtremes, RankOneFaultsAreThoseOfTheWideModel) {
  for (const std::size_t itemsize : itemsizes) {
    for (const std::int64_t n : lengths) {
      for (const std::int64_t s : steps) verify({n}, {s}, itemsize);
    }
  }
}

TEST(LayoutExtremes, RankTwoFaultsAreThoseOfTheWideModel) {
  for (const std::size_t itemsize : itemsizes) {
    for (const std::int64_t n : lengths) {
      for (const std::int64_t m : lengths) {
        for (const std::int64_t s : steps) {
          for (const std::int64_t t : steps) verify({n, m}, {s, t}, itemsize);
        }
      }
    }
  }
}

TEST(LayoutExtremes, RankThreeFaultsAreThoseOfTheWideModel) {
  const numbers short_lengths{0, 1, 2, 3, bit(31), most},
      few{1, -3, bit(61), -bit(62), most, least};
  for (const std::int64_t n : short_lengths) {
    for (const std::int64_t m : short_lengths) {
      for (const std::int64_t o : short_lengths) {
        for (const std::int64_t s : few) {
          for (const std::int64_t t : few) {
            for (const std::int64_t u : few) verify({n, m, o}, {s, t, u}, 1);
          }
        }
      }
    }
  }
}

TEST(LayoutExtremes, CAndFortranOrderRefuseExactlyWhatIsTooBig) {
  for (const std::size_t itemsize : itemsizes) {
    for (const std::int64_t n : lengths) {
      for (const std::int64_t m : lengths) {
        for (const std::int64_t o : {std::int64_t{0}, std::int64_t{1}, bit(2), bit(31), most}) {
          const fault expected = naive::measure({n, m, o}, {0, 0, 0}, itemsize).fault;
          layout c, f;
          CHECK_EQUAL(layout::c_order({n, m, o}, itemsize, c), expected);
          CHECK_EQUAL(layout::f_order({n, m, o}, itemsize, f), expected);
          if (expected != fault::none) continue;
          CHECK(c.size() == f.size() && c.range().last == f.range().last);
          CHECK(c.range().last == c.size() && c.range().first == 0);
          CHECK(c.is_c_contiguous() && f.is_f_contiguous());
        }
      }
    }
  }
}

TEST(LayoutExtremes, RankHasALimitThatIsCheckedFirst) {
  layout l;
  for (const std::size_t rank : {std::size_t{64}, std::size_t{65}, std::size_t{1000000}}) {
    const fault expected = rank > 64 ? fault::rank_too_high : fault::none;
    CHECK_EQUAL(layout::c_order(extents(rank, 1), 1, l), expected);
    CHECK_EQUAL(layout::f_order(extents(rank, 1), 1, l), expected);
    CHECK_EQUAL(layout::strided(extents(rank, 1), extents(rank, 1), 1, l), expected);
  }
  CHECK_EQUAL(layout::c_order(extents(std::size_t{65}, -1), 1, l), fault::rank_too_high);
  CHECK_EQUAL(layout::c_order(extents(std::size_t{64}, 2), 1, l), fault::shape_overflow);
}

TEST(LayoutExtremes, StridesMustBeAsManyAsDimensions) {
  layout l;
  CHECK_EQUAL(layout::strided({2, 3}, {1}, 1, l), fault::strides_rank);
  CHECK_EQUAL(layout::strided({2, 3}, {1, 1, 1}, 1, l), fault::strides_rank);
  CHECK_EQUAL(layout::strided({0}, extents(), 1, l), fault::strides_rank);
  CHECK_EQUAL(layout::strided(extents(), {1}, 1, l), fault::strides_rank);
  CHECK_EQUAL(layout::strided({-2, 3}, {1}, 1, l), fault::shape_negative);
  CHECK_EQUAL(layout::strided({most, 3}, {1}, 1, l), fault::shape_overflow);
}

TEST(LayoutExtremes, BroadcastRefusesMoreBytesThanItsItemsizeAllows) {
  layout scalar, out;
  CHECK_EQUAL(layout::c_order(extents(), 8, scalar), fault::none);
  CHECK(scalar.broadcast({bit(59)}, out));
  CHECK(scalar.broadcast({most / 8}, out));
  CHECK(!scalar.broadcast({bit(60)}, out));
  CHECK(!scalar.broadcast({bit(31), bit(31)}, out));
  CHECK(!scalar.broadcast({most, most, 0}, out));
  CHECK(!scalar.broadcast({-1}, out));
  CHECK(!scalar.broadcast(extents(std::size_t{65}, 1), out));
  CHECK(layout().broadcast({most}, out));
}

TEST(LayoutExtremes, UnusedStridesAreKeptUnlessTheyWouldOverflowInBytes) {
  const auto kept = [](std::int64_t length, std::int64_t stride, std::size_t itemsize) {
    layout l;
    CHECK_EQUAL(layout::strided({length, 2}, {stride, 1}, itemsize, l), fault::none);
    return l.strides()[0] == stride;
  };
  for (const std::int64_t length : {0, 1}) {
    CHECK(kept(length, bit(59), 8));
    CHECK(kept(length, most / 8, 8));
    CHECK(kept(length, -(most / 8), 8));
    CHECK(!kept(length, most / 8 + 1, 8));
    CHECK(!kept(length, -(most / 8) - 1, 8));
    CHECK(kept(length, most, 1));
    CHECK(kept(length, -most, 1));
    CHECK(!kept(length, least, 1));
  }
  layout l;
  CHECK_EQUAL(layout::strided({1, 2, 3}, {least, 3, 1}, 8, l), fault::none);
  CHECK(l.strides() == extents({6, 3, 1}));
}

TEST(LayoutExtremes, NoMemoryIsAnExceptionAndLeavesTheResultAlone) {
  const extents shape(std::size_t{9}, 2), strides(std::size_t{9}, 1);
  layout l;
  CHECK_EQUAL(layout::c_order({4, 5}, 1, l), fault::none);
  const layout before = l;
  int refused = 0;
  for (bool done = false; !done; ++refused) {
    heap::left = refused;
    try {
      layout made;
      (void)layout::c_order(shape, 8, made);
      (void)layout::strided(shape, strides, 8, made);
      (void)made.with_axis(3).reshaped(shape, made);
      (void)made.broadcast(extents(std::size_t{10}, 2), made);
      std::int64_t shift = 0;
      made = made.sliced(2, 0, 1, 1, shift).indexed(2, 0, shift);
      l = made;
      done = true;
    } catch (const std::bad_alloc&) {
    }
    heap::left = -1;
    if (!done) CHECK(l == before);
  }
  CHECK(refused > 10);
  CHECK(!(l == before));
}
