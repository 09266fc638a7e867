// The example of usmx/arithmetic.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <usmx/arithmetic.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Arithmetic, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<double>(queue, std::vector{1.0, 4.0, 9.0, 16.0});

  // Nothing is computed before an array is made of it; then it is one kernel.
  const usmx::deferred_array y = 2 * x + sqrt(x);
  const usmx::array made = y;
  CHECK(usmx::to_vector<double>(made) == std::vector({3.0, 10.0, 21.0, 36.0}));

  // Each row of the table has its function; by name, where a program chooses it.
  const auto largest = usmx::compute("maximum", x, 5);
  CHECK(usmx::item<double>(sum(largest)) == 35);

  // Reductions, over all axes or some.
  CHECK(usmx::item<double>(prod(x)) == 576);
  CHECK(usmx::item<double>(mean(x)) == 7.5);
  CHECK(usmx::item<double>(min(x)) == 1 && usmx::item<double>(max(x)) == 16);
  CHECK(usmx::item<bool>(any(x > 15)) && !usmx::item<bool>(all(x > 15)));
  CHECK(sum(x, {.axes = {{0}}, .keep = true}).rank() == 1);
}
