// The example of usmx/matmul.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/matmul.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Matmul, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto a = usmx::from_host<float>(queue, std::array{1.F, 2.F, 3.F, 4.F}, {2, 2});
  const auto x = usmx::from_host<float>(queue, std::array{1.F, 10.F});

  // Matrices, a matrix and a vector, two vectors.
  CHECK(usmx::to_vector<float>(usmx::matmul(a, a)) == std::vector<float>({7, 10, 15, 22}));
  CHECK(usmx::to_vector<float>(usmx::matmul(a, x)) == std::vector<float>({21, 43}));
  CHECK(usmx::item<float>(usmx::matmul(x, x)) == 101);

  // The products of rows, of columns, and each element with each.
  CHECK(usmx::to_vector<float>(usmx::vecdot(a, x)) == std::vector<float>({21, 43}));
  CHECK(usmx::to_vector<float>(usmx::vecdot(a, a, 0)) == std::vector<float>({10, 20}));
  CHECK(usmx::to_vector<float>(usmx::outer(x, x)) == std::vector<float>({1, 10, 10, 100}));
}
