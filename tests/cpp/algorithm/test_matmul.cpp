// Products by both ways: all types, stacks that broadcast, rows and columns, transposed views, and
// shapes that do not fit. Small integers are multiplied and added without rounding.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/matmul.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::array;
using usmx::to_vector;
using ints = std::vector<std::int64_t>;

sycl::queue queue() { return usmx::default_queue(); }

/// Numbers from -3 to 3 in C order.
template <class T>
array numbers(const std::vector<std::int64_t>& shape, std::int64_t first = 0) {
  array made = array::empty(queue(), shape, usmx::dtype::of<T>(), usmx::usm_kind::device);
  const auto values = std::make_unique<T[]>(static_cast<std::size_t>(made.size()));
  for (std::int64_t k = 0; k < made.size(); ++k) {
    const auto value = static_cast<float>(static_cast<int>((first + k) * 5 % 7) - 3);
    values[static_cast<std::size_t>(k)] = static_cast<T>(value);
  }
  usmx::detail::write_elements(made, values.get());
  return made;
}

/// What matmul gives of two stacks of one shape, in C order.
ints wanted(const array& x1, const array& x2, std::int64_t count) {
  const std::int64_t n = x1.extent(x1.rank() - 2), k = x1.extent(x1.rank() - 1),
                     m = x2.extent(x2.rank() - 1);
  const ints a = to_vector<std::int64_t>(x1), b = to_vector<std::int64_t>(x2);
  ints made;
  for (std::int64_t s = 0; s < count; ++s) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < m; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += a[std::size_t((s * n + i) * k + l)] * b[std::size_t((s * k + l) * m + j)];
        }
        made.push_back(sum);
      }
    }
  }
  return made;
}

template <class T>
bool multiplies() {
  for (const auto& [n, k, m] :
       {std::array<std::int64_t, 3>{3, 4, 2}, {1, 5, 40}, {70, 9, 65}, {17, 130, 3}, {64, 1, 64}}) {
    if (sizeof(T) < 4 && k > 9) continue;  // sums that such a type holds
    const array a = numbers<T>({n, k}), b = numbers<T>({k, m}, 3);
    if (to_vector<std::int64_t>(usmx::matmul(a, b)) != wanted(a, b, 1)) return false;
  }
  return true;
}

array transposed(const array& a) {
  return a.with_view(a.elements().with_layout(a.elements().layout().permuted(std::array{1, 0}), 0));
}

}  // namespace

TEST(Matmul, MatricesOfAllTypesAreMultiplied) {
  CHECK(multiplies<std::int8_t>());
  CHECK(multiplies<float>());
  if (check::quick()) return;  // each type is kernels of its own
  CHECK(multiplies<std::int64_t>());
  CHECK(multiplies<double>());
  CHECK(multiplies<usmx::bfloat16>());
  const array a = numbers<std::complex<float>>({20, 3}), b = numbers<float>({3, 20});
  CHECK(usmx::matmul(a, b).elements().dtype() == usmx::dtype::of<std::complex<float>>());
  const array c = numbers<bool>({20, 3});
  CHECK(usmx::matmul(c, transposed(c)).elements().dtype() == usmx::dtype::of<bool>());
  CHECK(usmx::matmul(c, numbers<std::int8_t>({3, 20})).elements().dtype() ==
        usmx::dtype::of<std::int8_t>());
}

TEST(Matmul, StacksBroadcast) {
  for (const std::int64_t n : {3, 33}) {
    const array a = numbers<float>({4, n, 5}), b = numbers<float>({4, 5, n}, 2);
    CHECK(to_vector<std::int64_t>(usmx::matmul(a, b)) == wanted(a, b, 4));
    const array one = numbers<float>({5, n}, 1), row = numbers<float>({1, 5, n}, 1);
    const ints made = to_vector<std::int64_t>(usmx::matmul(a, one));
    CHECK(made == to_vector<std::int64_t>(usmx::matmul(a, row)));
    CHECK(usmx::matmul(numbers<float>({2, 1, n, 5}), b).shape()[1] == 4);
  }
}

TEST(Matmul, RowsColumnsAndViews) {
  const array a = numbers<double>({30, 20}), x = numbers<double>({20}), y = numbers<double>({30});
  const array column = numbers<double>({20, 1}), row = numbers<double>({1, 30});
  CHECK(to_vector<std::int64_t>(usmx::matmul(a, x)) == wanted(a, column, 1));
  CHECK(to_vector<std::int64_t>(usmx::matmul(y, a)) == wanted(row, a, 1));
  CHECK(usmx::matmul(a, x).rank() == 1);
  CHECK(usmx::matmul(x, x).rank() == 0);
  CHECK(usmx::item<double>(usmx::matmul(x, x)) == usmx::item<double>(usmx::vecdot(x, x)));
  const array turned = transposed(numbers<double>({25, 20}, 1));
  CHECK(to_vector<std::int64_t>(usmx::matmul(a, turned)) == wanted(a, turned, 1));
  const array made = usmx::matmul(numbers<double>({20, 0}), numbers<double>({0, 20}));
  CHECK(to_vector<double>(made) == std::vector<double>(400, 0));
}

TEST(Matmul, VectorsAlongAnyAxis) {
  const array a = usmx::from_host<int>(queue(), std::array{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(to_vector<int>(usmx::vecdot(a, a)) == std::vector<int>({14, 77}));
  CHECK(to_vector<int>(usmx::vecdot(a, a, 0)) == std::vector<int>({17, 29, 45}));
  const std::array<std::complex<double>, 2> values{{{0, 1}, {2, 0}}};
  const array z = usmx::from_host<std::complex<double>>(queue(), values);
  CHECK(usmx::item<std::complex<double>>(usmx::vecdot(z, z)) == std::complex<double>(5, 0));
  const array table = usmx::outer(numbers<float>({2}), numbers<int>({3}));
  CHECK(to_vector<int>(table) == std::vector<int>({9, -6, 0, -6, 4, 0}));
}

TEST(Matmul, ShapesThatDoNotFitAreRefused) {
  const array a = numbers<float>({2, 3}), b = numbers<float>({4, 2}), one = numbers<float>({});
  const auto refused = [](auto call) { return check::message_of<std::invalid_argument>(call); };
  CHECK(check::contains(refused([&] { usmx::matmul(a, b); }),
                        "x2: has shape (4, 2), expected 3 where it has 4"));
  CHECK(check::contains(refused([&] { usmx::matmul(one, b); }), "x1: has no dimensions"));
  CHECK(check::contains(refused([&] { usmx::vecdot(a, b); }),
                        "x2: has length 2 along axis -1, x1 has 3"));
  CHECK(
      check::contains(refused([&] { usmx::vecdot(a, b, 2); }), "axis: 2 of x1 with 2 dimensions"));
  CHECK(check::contains(refused([&] { usmx::outer(a, b); }), "x1: has 2 dimensions; expected one"));
  CHECK(check::contains(
      refused([] { usmx::matmul(numbers<float>({2, 20, 3}), numbers<float>({3, 3, 20})); }),
      "broadcast"));
}
