// Sorts of few and many elements, of rows along any axis, in both directions; where elements were;
// and places in what is sorted.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/sort.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "algorithm/sort_rows.hpp"
#include "check.hpp"
#include "messages.hpp"
#include "usmx/detail/inspection.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::to_vector;

sycl::queue queue() { return usmx::default_queue(); }

template <class T>
std::vector<T> numbers(std::size_t count, int values) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<T> all(count);
  for (T& one : all)
    one = static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(values)) - values / 2);
  return all;
}

/// What std::stable_sort makes of the places of elements.
template <class T>
std::vector<std::int64_t> places_of(const std::vector<T>& x, bool descending) {
  std::vector<std::int64_t> at(x.size());
  std::iota(at.begin(), at.end(), 0);
  std::ranges::stable_sort(at, [&](auto a, auto b) {
    const T &left = x[static_cast<std::size_t>(a)], &right = x[static_cast<std::size_t>(b)];
    return descending ? left > right : left < right;
  });
  return at;
}

template <class T>
bool sorts(std::size_t count, int values) {
  const std::vector<T> x = numbers<T>(count, values);
  for (const auto kind : {usmx::usm_kind::device, usmx::usm_kind::shared}) {
    const auto a = usmx::from_host<T>(queue(), x, kind);
    for (const bool descending : {false, true}) {
      const auto at = places_of(x, descending);
      std::vector<T> wanted;
      for (const auto k : at) wanted.push_back(x[static_cast<std::size_t>(k)]);
      const usmx::sort_options how{.descending = descending};
      if (to_vector<T>(usmx::sort(a, how)) != wanted) return false;
      if (to_vector<std::int64_t>(usmx::argsort(a, how)) != at) return false;
      const auto both = usmx::sort_with_places(a, how);
      if (to_vector<T>(both.values) != wanted || both.values.kind() != kind) return false;
      if (to_vector<std::int64_t>(both.places) != at) return false;
    }
  }
  return true;
}

}  // namespace

TEST(Sort, FewAndManyElementsAreInOrderAndEqualOnesInTheirs) {
  for (const std::size_t count : {1, 2, 10, 300, 5000, 40000}) {
    CHECK(sorts<float>(count, 1 << 20));
    if (!check::quick()) CHECK(sorts<std::int32_t>(count, 100));
  }
  if (check::quick()) return;  // each type is kernels of its own
  CHECK(sorts<std::uint8_t>(5000, 2));
  CHECK(sorts<double>(70000, 1 << 30));
}

TEST(Sort, SameOnDevicesWhoseItemsRunSideBySide) {
  usmx::detail::use_forms_of("level_zero");
  for (const std::size_t count : {2, 900, 5000}) CHECK(sorts<std::int32_t>(count, 100));
  usmx::detail::use_forms_of("");
}

TEST(Sort, ReadOnlyElementsAreRead) {
  for (const char* forms : {"native_cpu", "level_zero"}) {
    usmx::detail::use_forms_of(forms);
    for (const std::size_t count : {10, 5000, 40000}) {
      std::vector<float> x = numbers<float>(count, 1 << 20);
      const usmx::array a = usmx::from_host<float>(queue(), x, usmx::usm_kind::device);
      const usmx::array read_only = a.with_view(a.elements().as_read_only());
      std::ranges::sort(x);
      CHECK(to_vector<float>(usmx::sort(read_only)) == x);
      CHECK(to_vector<float>(usmx::detail::different_or_sorted(read_only).values).size() > 9);
      CHECK(usmx::searchsorted(read_only, read_only).size() == a.size());
    }
  }
  usmx::detail::use_forms_of("");
}

TEST(Sort, NaNComesLastInBothDirections) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = usmx::from_host<float>(queue(), std::array{2.F, nan, 1.F});
  for (const bool descending : {false, true}) {
    const auto made = to_vector<float>(usmx::sort(x, {.descending = descending}));
    CHECK(std::isnan(made[2]));
    CHECK(made[0] == (descending ? 2 : 1));
  }
}

TEST(Sort, AnyAxisAndAnyLayout) {
  const auto a = usmx::from_host<std::int32_t>(queue(), std::array{5, 1, 4, 2, 3, 0}, {2, 3});
  CHECK(to_vector<int>(usmx::sort(a)) == std::vector<int>({1, 4, 5, 0, 2, 3}));
  CHECK(to_vector<int>(usmx::sort(a, {.axis = 0})) == std::vector<int>({2, 1, 0, 5, 3, 4}));
  CHECK(to_vector<std::int64_t>(usmx::argsort(a, {.axis = -2})) ==
        std::vector<std::int64_t>({1, 0, 1, 0, 1, 0}));
  CHECK(
      check::contains(check::message_of<std::invalid_argument>([&] { usmx::sort(a, {.axis = 2}); }),
                      "axis: 2 of an array with 2 dimensions"));
}

TEST(Sort, PlacesOfValuesAreThoseOfBounds) {
  for (const std::size_t count : {10, 20000}) {
    std::vector<std::int32_t> line = numbers<std::int32_t>(count, 500);
    std::ranges::sort(line);
    const std::vector<std::int32_t> wanted = numbers<std::int32_t>(600, 700);
    const auto sorted = usmx::from_host<std::int32_t>(queue(), line);
    const auto values = usmx::from_host<std::int32_t>(queue(), wanted);
    std::vector<std::int64_t> left, right;
    for (const auto v : wanted) {
      left.push_back(std::ranges::lower_bound(line, v) - line.begin());
      right.push_back(std::ranges::upper_bound(line, v) - line.begin());
    }
    CHECK(to_vector<std::int64_t>(usmx::searchsorted(sorted, values)) == left);
    CHECK(to_vector<std::int64_t>(usmx::searchsorted(sorted, values, true)) == right);
    CHECK(check::contains(check::message_of<std::invalid_argument>([&] {
                            usmx::searchsorted(sorted,
                                               usmx::from_host<float>(queue(), std::array{1.F}));
                          }),
                          "values: are of float32; expected int32"));
  }
}
