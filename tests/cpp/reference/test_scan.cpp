// The example of usmx/scan.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <usmx/runtime.hpp>
#include <usmx/scan.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Scan, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<int>(queue, std::vector{3, 1, 4, 1, 5});

  const usmx::scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"}, "running");
  CHECK(usmx::to_vector<int>(running(queue, {x})) == std::vector({3, 4, 8, 9, 14}));

  usmx::scan_text before{.map = "x", .scan = "a + b"};
  before.identity = "0";
  before.exclusive = true;  // of the elements before each
  const usmx::scan_kernel offsets("T x", "T y", before, "offsets");
  CHECK(usmx::to_vector<int>(offsets(queue, {x})) == std::vector({0, 3, 4, 8, 9}));
}
