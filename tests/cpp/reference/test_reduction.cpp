// The example of usmx/reduction.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <usmx/reduction.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Reduction, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x =
      usmx::from_host<float>(queue, std::vector{1.F, -2.F, 3.F, -4.F, 5.F, -6.F}, {2, 3});

  const usmx::reduction_text text{
      .map = "abs(x)", .reduce = "a > b ? a : b", .post_map = "y = a", .identity = "0"};
  const usmx::reduction_kernel largest("T x", "T y", text, "largest");
  CHECK(usmx::item<float>(largest(queue, {x})) == 6);

  // Along some axes, which the results may keep.
  const usmx::reduction_axes rows{.axes = {{1}}, .keep = true};
  const usmx::array of_rows = largest(queue, {x}, rows);
  CHECK(usmx::to_vector<float>(of_rows) == std::vector({3.F, 6.F}));
  CHECK(usmx::reduced_shape({2, 3}, rows) == usmx::extents({2, 1}));
  CHECK(usmx::reduced_axes({.axes = {{-1}}}, 2) == std::vector<int>{1});
}
