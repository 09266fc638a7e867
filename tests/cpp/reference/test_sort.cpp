// The example of usmx/sort.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/runtime.hpp>
#include <usmx/sort.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Sort, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::array{3.F, 1.F, 2.F, 9.F, 7.F, 8.F}, {2, 3});

  // Along the last axis, or another one; smallest first, or largest.
  CHECK(usmx::to_vector<float>(usmx::sort(x)) == std::vector<float>({1, 2, 3, 7, 8, 9}));
  const usmx::sort_options how{.axis = 0, .descending = true};
  CHECK(usmx::to_vector<float>(usmx::sort(x, how)) == std::vector<float>({9, 7, 8, 3, 1, 2}));

  // Where the elements were, alone or together with them.
  CHECK(usmx::to_vector<int>(usmx::argsort(x)) == std::vector<int>({1, 2, 0, 1, 2, 0}));
  const usmx::sorted_array both = usmx::sort_with_places(x);
  CHECK(usmx::to_vector<float>(both.values)[0] == 1);
  CHECK(usmx::to_vector<int>(both.places)[0] == 1);

  // Where values stand in a sorted row.
  const auto sorted = usmx::from_host<float>(queue, std::array{10.F, 20.F, 30.F});
  const auto values = usmx::from_host<float>(queue, std::array{5.F, 20.F});
  CHECK(usmx::to_vector<int>(usmx::searchsorted(sorted, values)) == std::vector<int>({0, 1}));
  CHECK(usmx::to_vector<int>(usmx::searchsorted(sorted, values, true)) == std::vector<int>({0, 2}));
}
