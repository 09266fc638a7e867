// Layouts against a model that enumerates every element: all small shapes times strides, and what
// each operation does to them.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/layout.hpp"

#include <functional>
#include <numeric>

#include "check.hpp"
#include "naive_model.hpp"

using naive::numbers;
using naive::positions;
using usmx::extents;
using usmx::fault;
using usmx::layout;

namespace {

layout made(const numbers& shape, const numbers& strides) {
  layout l;
  CHECK_EQUAL(layout::strided(naive::extents(shape), naive::extents(strides), 8, l), fault::none);
  return l;
}

numbers shifted(numbers at, std::int64_t by) {
  for (std::int64_t& p : at) p += by;
  return at;
}

void for_each_list(std::size_t length, const numbers& values,
                   const std::function<void(const numbers&)>& visit) {
  numbers list(length);
  const std::function<void(std::size_t)> fill = [&](std::size_t k) {
    if (k == length) return visit(list);
    for (const std::int64_t v : values) {
      list[k] = v;
      fill(k + 1);
    }
  };
  fill(0);
}

// Every shape up to rank three with lengths 0 to 3, times strides that are C order, Fortran order,
// reversed, broadcast, overlapping or far apart; then a few of rank four.
void for_each_layout(const std::function<void(const layout&)>& visit) {
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    for_each_list(rank, {0, 1, 2, 3}, [&](const numbers& shape) {
      const numbers all{-6, -2, -1, 0, 1, 2, 3, 4, 6, 9};
      const numbers some = check::quick() ? numbers{-1, 0, 3} : numbers{-6, -1, 0, 1, 3};
      for_each_list(rank, rank < 3 ? all : some,
                    [&](const numbers& strides) { visit(made(shape, strides)); });
    });
  }
  for_each_list(4, {1, 2}, [&](const numbers& shape) {
    for_each_list(4, {-2, 1, 6}, [&](const numbers& strides) { visit(made(shape, strides)); });
  });
}

numbers shape_of(const layout& l) { return naive::list(l.shape()); }

}  // namespace

TEST(Layout, RangeSizeAndContiguityAgreeWithEnumeration) {
  std::size_t seen = 0;
  for_each_layout([&](const layout& l) {
    ++seen;
    const numbers at = positions(l);
    CHECK_EQUAL(l.size(), at.size());
    CHECK_EQUAL(l.range().first, at.empty() ? 0 : *std::min_element(at.begin(), at.end()));
    CHECK_EQUAL(l.range().last, at.empty() ? 0 : *std::max_element(at.begin(), at.end()) + 1);
    const numbers strides = naive::list(l.strides());
    CHECK_EQUAL(l.is_c_contiguous(), naive::is_c_contiguous(shape_of(l), strides));
    CHECK_EQUAL(l.is_f_contiguous(), naive::is_f_contiguous(shape_of(l), strides));
  });
  CHECK(seen > (check::quick() ? 4000U : 8000U));
}

TEST(Layout, KeepsTheStridesItWasGiven) {
  for_each_list(2, {0, 1, 2}, [&](const numbers& shape) {
    for_each_list(2, {-7, 0, 5, std::int64_t{1} << 40}, [&](const numbers& strides) {
      CHECK(naive::list(made(shape, strides).strides()) == strides);
    });
  });
}

TEST(Layout, COrderAndFortranOrderAreContiguous) {
  for (std::size_t rank = 0; rank <= 5; ++rank) {
    for_each_list(rank, {0, 1, 2, 3}, [&](const numbers& shape) {
      layout c, f;
      CHECK_EQUAL(layout::c_order(naive::extents(shape), 4, c), fault::none);
      CHECK_EQUAL(layout::f_order(naive::extents(shape), 4, f), fault::none);
      CHECK(c.shape() == naive::extents(shape) && f.shape() == naive::extents(shape));
      CHECK(naive::counts_up(positions(c)));
      CHECK(c.is_c_contiguous() && f.is_f_contiguous());
      CHECK(naive::is_f_contiguous(shape, naive::list(f.strides())));
      CHECK_EQUAL(c.itemsize(), 4);
    });
  }
}

TEST(Layout, EmptyArraysHaveTheStridesOfLengthOneInPlaceOfZero) {
  layout c, f;
  CHECK_EQUAL(layout::c_order({3, 0, 2}, 8, c), fault::none);
  CHECK(c.strides() == extents({2, 2, 1}));
  CHECK_EQUAL(layout::f_order({3, 0, 2}, 8, f), fault::none);
  CHECK(f.strides() == extents({1, 3, 3}));
}

TEST(Layout, NegativeStrideReachesBelowTheFirstElement) {
  const layout l = made({2, 3}, {-10, 2});
  CHECK_EQUAL(l.range().first, -10);
  CHECK_EQUAL(l.range().last, 5);
}

TEST(Layout, ScalarIsOneElement) {
  const layout l;
  CHECK_EQUAL(l.rank(), 0);
  CHECK_EQUAL(l.size(), 1);
  CHECK(l.is_c_contiguous() && l.is_f_contiguous());
  CHECK_EQUAL(l.range().first, 0);
  CHECK_EQUAL(l.range().last, 1);
}

TEST(Layout, SlicingSelectsTheElementsThatEnumerationSelects) {
  std::size_t seen = 0;
  for_each_layout([&](const layout& l) {
    if (l.rank() > 2 && l.size() > 8) return;
    const numbers shape = shape_of(l), strides = naive::list(l.strides());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      for (std::int64_t start = 0; start < std::max<std::int64_t>(shape[axis], 1); ++start) {
        for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
          for (std::int64_t count = 0; count <= shape[axis]; ++count) {
            const std::int64_t last = start + (count - 1) * step;
            if (count > 0 && (last < 0 || last >= shape[axis])) continue;
            std::int64_t shift = -1;
            const layout s = l.sliced(static_cast<int>(axis), start, count, step, shift);
            numbers expected;
            numbers wanted_shape = shape;
            wanted_shape[axis] = count;
            for (numbers index : naive::indices(wanted_shape)) {
              index[axis] = start + index[axis] * step;
              expected.push_back(naive::position(index, strides));
            }
            CHECK(shape_of(s) == wanted_shape);
            CHECK(shifted(positions(s), shift) == expected);
            CHECK_EQUAL(s.size(), expected.size());
            if (s.size() == 0) CHECK_EQUAL(shift, 0);
            CHECK_EQUAL(s.range().first + shift < l.range().first, false);
            CHECK_EQUAL(s.range().last + (s.size() > 0 ? shift : 0) > l.range().last, false);
            ++seen;
          }
        }
      }
    }
  });
  CHECK(seen > 80000);
}

TEST(Layout, ASliceOfOneElementHasTheStrideOfNumPy) {
  std::int64_t shift = 0;
  const layout s = made({2, 4}, {4, 1}).sliced(1, 1, 1, 3, shift);
  CHECK(s.strides() == extents({4, 3}));
  CHECK_EQUAL(shift, 1);
}

TEST(Layout, AStrideThatASliceNoLongerUsesStaysHarmless) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  std::int64_t shift = 0;
  // Its product with the step does not fit: it stays what it was.
  CHECK(made({4}, {far}).sliced(0, 0, 1, far << 22, shift).strides() == extents({far}));
  // The product fits in elements, but not in bytes: C order's.
  CHECK(made({4}, {far}).sliced(0, 0, 1, far >> 20, shift).strides() == extents({1}));
}

TEST(Layout, IndexingDropsOneAxis) {
  for_each_layout([&](const layout& l) {
    if (l.rank() > 3) return;
    const numbers shape = shape_of(l), strides = naive::list(l.strides());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      for (std::int64_t at = 0; at < shape[axis]; ++at) {
        numbers expected;
        for (const numbers& index : naive::indices(shape)) {
          if (index[axis] == at) expected.push_back(naive::position(index, strides));
        }
        std::int64_t shift = -1;
        const layout s = l.indexed(static_cast<int>(axis), at, shift);
        CHECK_EQUAL(s.rank(), l.rank() - 1);
        CHECK_EQUAL(s.size(), expected.size());
        CHECK_EQUAL(s.itemsize(), l.itemsize());
        if (expected.empty()) {
          CHECK_EQUAL(shift, 0);
        } else {
          CHECK(shifted(positions(s), shift) == expected);
          const std::int64_t last = *std::max_element(expected.begin(), expected.end()) + 1;
          CHECK_EQUAL(s.range().last + shift, last);
        }
      }
    }
  });
}

TEST(Layout, PermutingReordersTheAxes) {
  for_each_layout([&](const layout& l) {
    std::vector<int> order(static_cast<std::size_t>(l.rank()));
    std::iota(order.begin(), order.end(), 0);
    do {
      const layout p = l.permuted(order);
      bool same = p.size() == l.size() && p.range().first == l.range().first &&
                  p.range().last == l.range().last && p.rank() == l.rank();
      for (std::size_t k = 0; k < order.size(); ++k) {
        const auto from = static_cast<std::size_t>(order[k]);
        same &= p.shape()[k] == l.shape()[from] && p.strides()[k] == l.strides()[from];
      }
      CHECK(same);
    } while (std::next_permutation(order.begin(), order.end()));
  });
  const std::vector<int> transposed{1, 0};
  CHECK(positions(made({2, 3}, {3, 1}).permuted(transposed)) == numbers({0, 3, 1, 4, 2, 5}));
}

TEST(Layout, ANewAxisChangesNoElement) {
  for_each_layout([&](const layout& l) {
    for (int axis = 0; axis <= l.rank(); ++axis) {
      const layout w = l.with_axis(axis);
      numbers shape = shape_of(l);
      shape.insert(shape.begin() + axis, 1);
      CHECK(shape_of(w) == shape);
      CHECK(positions(w) == positions(l));
      CHECK_EQUAL(w.size(), l.size());
      CHECK_EQUAL(w.is_c_contiguous(), l.is_c_contiguous());
    }
  });
  CHECK(made({2}, {3}).with_axis(1).strides() == extents({3, 0}));
}

TEST(Layout, ReshapesWithoutACopyExactlyWhenSomeStridesExist) {
  // All shapes of up to four dimensions, by their number of elements.
  std::vector<std::vector<numbers>> shapes(82);
  for (std::size_t rank = 0; rank <= 4; ++rank) {
    for_each_list(rank, {0, 1, 2, 3, 4, 6, 9}, [&](const numbers& shape) {
      std::int64_t n = 1;
      for (const std::int64_t k : shape) n *= k;
      if (n < 82) shapes[static_cast<std::size_t>(n)].push_back(shape);
    });
  }
  std::size_t possible = 0, impossible = 0, turn = 0;
  for_each_layout([&](const layout& l) {
    const numbers at = positions(l);
    const auto& targets = shapes[at.size()];
    // Rank three has too many layouts to try every target on each: alternate.
    const std::size_t stride = l.rank() < 3 ? 1 : 7;
    for (std::size_t i = turn++ % stride; i < targets.size(); i += stride) {
      layout r = made({5}, {7});
      const bool done = l.reshaped(naive::extents(targets[i]), r);
      CHECK_EQUAL(done, naive::strides_for(targets[i], at).has_value());
      if (done) {
        ++possible;
        CHECK(shape_of(r) == targets[i]);
        CHECK(positions(r) == at);
        CHECK_EQUAL(r.size(), l.size());
        CHECK_EQUAL(r.itemsize(), l.itemsize());
      } else {
        ++impossible;
        CHECK(r == made({5}, {7}));
      }
    }
  });
  CHECK(possible > 2000);
  CHECK(impossible > 2000);
}

TEST(Layout, ReshapingGivesTheStridesOfNumPy) {
  const auto strides = [](const layout& from, extents shape) {
    layout r;
    CHECK(from.reshaped(shape, r));
    return r.strides();
  };
  CHECK(strides(made({1, 3, 4}, {24, 4, 1}), {1, 3, 4}) == extents({24, 4, 1}));
  CHECK(strides(made({4, 3}, {6, 2}), {2, 2, 3, 1, 1}) == extents({12, 6, 2, 2, 2}));
  CHECK(strides(made({4}, {-1}), {1, 4, 1}) == extents({-4, -1, -1}));
  CHECK(strides(made({2, 2}, {0, 0}), {4}) == extents({0}));
  CHECK(strides(made({0, 2}, {9, 9}), {2, 0}) == extents({1, 1}));
  CHECK(strides(made({1, 1}, {9, 9}), {1}) == extents({1}));
}

TEST(Layout, ReshapingChecksTheNewShape) {
  layout r;
  CHECK_THROWS(std::invalid_argument, made({2, 3}, {3, 1}).reshaped({7}, r));
  CHECK_THROWS(std::invalid_argument, made({0}, {1}).reshaped({1}, r));
  CHECK_THROWS(usmx::interop_error, made({2, 3}, {3, 1}).reshaped({-2, -3}, r));
  CHECK_THROWS(usmx::interop_error, made({1}, {1}).reshaped(extents(std::size_t{65}, 1), r));
  CHECK_THROWS(usmx::interop_error,
               made({0}, {1}).reshaped({0, std::int64_t{1} << 62, std::int64_t{1} << 62}, r));
}

TEST(Layout, BroadcastingRepeatsElements) {
  std::size_t broadcast = 0, refused = 0;
  for_each_layout([&](const layout& l) {
    if (l.rank() > 2) return;
    const numbers shape = shape_of(l), strides = naive::list(l.strides());
    for (std::size_t rank = 0; rank <= 3; ++rank) {
      for_each_list(rank, {0, 1, 2, 3}, [&](const numbers& target) {
        bool fits = target.size() >= shape.size();
        for (std::size_t k = 0; fits && k < shape.size(); ++k) {
          const std::int64_t to = target[target.size() - shape.size() + k];
          fits = shape[k] == 1 || shape[k] == to;
        }
        layout b = made({5}, {7});
        CHECK_EQUAL(l.broadcast(naive::extents(target), b), fits);
        if (!fits) {
          ++refused;
          CHECK(b == made({5}, {7}));
          return;
        }
        ++broadcast;
        numbers expected;
        for (const numbers& index : naive::indices(target)) {
          std::int64_t at = 0;
          for (std::size_t k = 0; k < shape.size(); ++k) {
            if (shape[k] != 1) at += index[target.size() - shape.size() + k] * strides[k];
          }
          expected.push_back(at);
        }
        CHECK(shape_of(b) == target);
        CHECK(positions(b) == expected);
      });
    }
  });
  CHECK(broadcast > 10000);
  CHECK(refused > 10000);
}

TEST(Layout, BrokenPreconditionsThrow) {
  const layout l = made({2, 3}, {3, 1});
  std::int64_t shift = 0;
  for (const int axis : {-1, 2, 99}) {
    CHECK_THROWS(std::out_of_range, l.sliced(axis, 0, 1, 1, shift));
    CHECK_THROWS(std::out_of_range, l.indexed(axis, 0, shift));
  }
  CHECK_THROWS(std::out_of_range, l.indexed(0, 2, shift));
  CHECK_THROWS(std::out_of_range, l.indexed(1, -1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 3, 1, 1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 3, 2, -1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, -1, 1, 1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 0, 4, 1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 1, 3, 1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 1, 3, -1, shift));
  CHECK_THROWS(std::out_of_range, l.sliced(1, 0, 2, 3, shift));
  CHECK_THROWS(std::invalid_argument, l.sliced(1, 0, 1, 0, shift));
  CHECK_THROWS(std::invalid_argument, l.sliced(1, 0, -1, 1, shift));
  CHECK_THROWS(std::out_of_range, l.with_axis(-1));
  CHECK_THROWS(std::out_of_range, l.with_axis(3));
  for (const std::vector<int>& order : {std::vector<int>{0}, {0, 0}, {0, 1, 2}, {}}) {
    CHECK_THROWS(std::invalid_argument, l.permuted(order));
  }
  for (const std::vector<int>& order : {std::vector<int>{0, 2}, {-1, 0}, {0, 64}}) {
    CHECK_THROWS(std::out_of_range, l.permuted(order));
  }
  layout deep;
  CHECK_EQUAL(layout::c_order(extents(std::size_t{64}, 1), 1, deep), fault::none);
  CHECK_THROWS(usmx::interop_error, deep.with_axis(0));
  std::vector<int> reversed(64);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  CHECK(deep.permuted(reversed).shape() == deep.shape());
}
