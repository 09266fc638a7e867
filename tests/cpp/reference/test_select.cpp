// The example of usmx/select.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/runtime.hpp>
#include <usmx/select.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Select, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::array{3.F, 1.F, 2.F, 9.F, 7.F, 8.F}, {2, 3});

  // The smallest element of each row comes first, or the largest last; along any axis.
  CHECK(usmx::to_vector<float>(usmx::partition(x, {0}))[3] == 7);
  CHECK(usmx::to_vector<float>(usmx::partition(x, {-1}, 0))[3] == 9);

  // Where it was.
  CHECK(usmx::to_vector<int>(usmx::argpartition(x, {0}))[0] == 1);

  // The largest and the middle element of each row, and nothing else.
  const usmx::array some = usmx::kth_values(x, {-1, 1});
  CHECK(usmx::to_vector<float>(some) == std::vector<float>({3, 2, 9, 8}));
}
