// Selections from few and many elements by both ways; NaN, equal elements, other axes.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/detail/inspection.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::to_vector;

sycl::queue queue() { return usmx::default_queue(); }

template <class T>
bool selects(std::size_t count, int values) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<T> x(count);
  for (T& one : x) one = static_cast<T>(static_cast<int>(random() % unsigned(values)) - values / 2);
  std::vector<T> in_order = x;
  std::ranges::sort(in_order);
  const auto n = static_cast<std::int64_t>(count);
  const std::vector<std::int64_t> kth{n / 2, 0, -1, n / 2, n / 3};
  for (const auto kind : {usmx::usm_kind::device, usmx::usm_kind::shared}) {
    const auto a = usmx::from_host<T>(queue(), x, kind);
    const auto parts = to_vector<T>(usmx::partition(a, kth));
    const auto places = to_vector<std::int64_t>(usmx::argpartition(a, kth));
    const usmx::array values_only = usmx::kth_values(a, kth);
    if (values_only.kind() != kind) return false;
    const auto picked = to_vector<T>(values_only);
    for (std::size_t k = 0; k < kth.size(); ++k) {
      const auto at = static_cast<std::size_t>(kth[k] < 0 ? kth[k] + n : kth[k]);
      const T wanted = in_order[at];
      if (parts[at] != wanted || x[std::size_t(places[at])] != wanted || picked[k] != wanted) {
        return false;
      }
      const auto begin = parts.begin(), middle = begin + std::ptrdiff_t(at);
      if (std::any_of(begin, middle, [&](T e) { return e > wanted; })) return false;
      if (std::any_of(middle, parts.end(), [&](T e) { return e < wanted; })) return false;
    }
    std::vector<T> all = parts;
    std::ranges::sort(all);
    if (all != in_order) return false;
  }
  return true;
}

}  // namespace

TEST(Select, ElementsAskedForAreAtTheirPlacesByBothWays) {
  for (const char* forms : {"native_cpu", "level_zero"}) {
    usmx::detail::use_forms_of(forms);
    for (const std::size_t count : {1, 10, 300, 5000, 40000}) {
      if (check::quick() && count != 10 && count != 5000) continue;
      CHECK(selects<float>(count, 1 << 20));
      if (!check::quick()) CHECK(selects<std::int32_t>(count, 100));
    }
    if (check::quick()) continue;  // each type is kernels of its own
    CHECK(selects<std::uint8_t>(5000, 2));
    CHECK(selects<double>(5000, 1));
    CHECK(selects<std::int16_t>(5000, 300));
  }
  usmx::detail::use_forms_of("");
}

TEST(Select, NaNComesLastOfEitherSign) {
  std::vector<float> x(1000, 2.F);
  x[3] = -std::numeric_limits<float>::quiet_NaN();
  x[5] = std::numeric_limits<float>::quiet_NaN();
  x[7] = -std::numeric_limits<float>::infinity();
  x[8] = std::numeric_limits<float>::infinity();
  const auto a = usmx::from_host<float>(queue(), x);
  const auto made = to_vector<float>(usmx::kth_values(a, {0, 1, -3, -2, -1}));
  CHECK(made[0] == x[7]);
  CHECK(made[1] == 2);
  CHECK(made[2] == x[8]);
  CHECK(std::isnan(made[3]) && std::isnan(made[4]));
}

TEST(Select, AxesAndPlacesThatAreNotThereAreRefused) {
  const auto a = usmx::from_host<std::int32_t>(queue(), std::array{5, 1, 4, 2, 3, 0}, {2, 3});
  CHECK(to_vector<int>(usmx::kth_values(a, {0}, 0)) == std::vector<int>({2, 1, 0}));
  const auto message = [&](std::int64_t place, int axis) {
    return check::message_of<std::invalid_argument>([&] { usmx::partition(a, {place}, axis); });
  };
  CHECK(check::contains(message(3, 1), "kth: 3 is out of bounds for an axis of length 3"));
  CHECK(check::contains(message(0, 2), "axis: 2 of an array with 2 dimensions"));
}
