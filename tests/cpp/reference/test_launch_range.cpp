// The example of usmx/launch_range.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <usmx/launch_range.hpp>

#include "check.hpp"

TEST(LaunchRange, Reference) {
  const usmx::launch_range items = 1000;
  CHECK(items.rank() == 1 && items.size() == 1000 && items.local().empty());
  const usmx::launch_range groups(sycl::nd_range<2>({64, 32}, {8, 8}));
  CHECK(groups.global()[1] == 32 && groups.local()[1] == 8);
  const std::array<std::size_t, 1> global{10}, local{3};
  CHECK_THROWS(std::invalid_argument, usmx::launch_range(global, local));  // 3 does not divide 10
}
