// Operators and functions on arrays: NumPy's types and values, one kernel for what belongs
// together, and the values of the line also if the operands change later.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arithmetic.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::array;
using usmx::to_vector;

sycl::queue queue() { return usmx::default_queue(); }
usmx::typed_array<float, 1> some() {
  return usmx::from_host<float>(queue(), std::array{1.F, 4.F, 9.F});
}
using floats = std::vector<float>;

template <class Exception, class Call>
bool fails(Call call, const std::string& part) {
  return check::contains(check::message_of<Exception>(call), part);
}

}  // namespace

TEST(Arithmetic, OperatorsAreThoseOfNumbers) {
  const auto x = some();
  CHECK(to_vector<float>(2 * x + 1) == floats({3, 9, 19}));
  CHECK(to_vector<float>(x / x - 1.5) == floats({-0.5F, -0.5F, -0.5F}));
  CHECK(to_vector<float>(-x) == floats({-1, -4, -9}));
  CHECK(to_vector<char>(x > 3) == std::vector<char>({0, 1, 1}));
  CHECK(to_vector<char>((x > 3) & (x != 9)) == std::vector<char>({0, 1, 0}));
  const auto n = usmx::from_host<std::int32_t>(queue(), std::array{5, -5});
  CHECK(to_vector<int>(n % 3) == std::vector<int>({2, 1}));  // of the sign of the divisor
  CHECK(to_vector<int>(~n | 1) == std::vector<int>({-5, 5}));
}

TEST(Arithmetic, FunctionsHaveTheNamesOfTheTable) {
  const auto x = some();
  CHECK(to_vector<float>(sqrt(x)) == floats({1, 2, 3}));
  CHECK(to_vector<float>(usmx::maximum(x, 4)) == floats({4, 4, 9}));
  CHECK(to_vector<float>(where(x > 3, x, 0)) == floats({0, 4, 9}));
  CHECK(to_vector<float>(usmx::compute("square", x)) == floats({1, 16, 81}));
  CHECK(fails<std::invalid_argument>([&] { usmx::compute("squared", x); },
                                     "name: 'squared' is not an operation"));
}

TEST(Arithmetic, TypesAreThoseOfNumPy) {
  const auto x = some();
  const auto n = usmx::from_host<std::int32_t>(queue(), std::array{1, 2, 3});
  CHECK((x + 2.0).dtype() == usmx::dtype::of<float>());
  CHECK((x + n).dtype() == usmx::dtype::of<double>());
  CHECK((n / 2).dtype() == usmx::dtype::of<double>());
  CHECK(sum(n).dtype() == usmx::dtype::of<std::int64_t>());
  CHECK(mean(n).dtype() == usmx::dtype::of<double>());
}

TEST(Arithmetic, ShapesBroadcast) {
  const auto column = usmx::from_host<float>(queue(), std::array{1.F, 2.F}, {2, 1});
  const auto made = column * some();
  CHECK_EQUAL(made.rank(), 2);
  CHECK_EQUAL(made.extent(1), 3);
  CHECK(to_vector<float>(made) == floats({1, 4, 9, 2, 8, 18}));
  CHECK(fails<std::invalid_argument>([&] { some() + usmx::zeros<float>(queue(), {2}); },
                                     "broadcast"));
}

TEST(Arithmetic, ALineIsOneKernel) {
  const auto x = usmx::full<float>(queue(), {5000}, 4);
  const auto y = sqrt(x) * 3 + x;
  CHECK_EQUAL(usmx::explain(y.value()).size(), 1U);
  CHECK_EQUAL(to_vector<float>(y)[4999], 10.F);
}

TEST(Arithmetic, ValuesAreThoseOfTheLine) {
  const auto x = usmx::full<float>(queue(), {5000}, 4, usmx::usm_kind::shared);
  const auto y = x + 1;
  const float nine = 9;
  usmx::fill(x, &nine);
  CHECK_EQUAL(to_vector<float>(y)[7], 5.F);
  const auto z = x + 1;
  x.host()(7) = 100;
  CHECK_EQUAL(to_vector<float>(z)[7], 10.F);
  auto elements = x.host();
  const auto late = x + 1;
  elements(8) = 100;
  CHECK_EQUAL(to_vector<float>(late)[8], 10.F);
}

TEST(Arithmetic, ReductionsTakeAxes) {
  const auto x = usmx::from_host<float>(queue(), std::array{1.F, 2.F, 3.F, 4.F, 5.F, 6.F}, {2, 3});
  CHECK_EQUAL(usmx::item<float>(sum(x)), 21.F);
  CHECK_EQUAL(usmx::item<float>(prod(x)), 720.F);
  CHECK(to_vector<float>(mean(x, {.axes = {{0}}})) == floats({2.5F, 3.5F, 4.5F}));
  CHECK(to_vector<float>(max(x, {.axes = {{1}}})) == floats({3, 6}));
  CHECK(to_vector<float>(x - min(x, {.axes = {{-1}}, .keep = true})) == floats({0, 1, 2, 0, 1, 2}));
  CHECK_EQUAL(usmx::item<char>(any(x > 5)), 1);
  CHECK_EQUAL(usmx::item<char>(all(x > 5)), 0);
  CHECK(
      fails<std::invalid_argument>([&] { max(usmx::empty<float>(queue(), {0})); }, "no elements"));
}

TEST(Arithmetic, AResultIsAnArrayOfItsOwn) {
  const auto x = usmx::full<float>(queue(), {5000}, 4);
  array y = x * 2;
  const auto also = usmx::typed<float, 1>(x * 2);
  CHECK(y.data() != x.data());
  CHECK_EQUAL(also.extent(0), 5000);
  CHECK_EQUAL(to_vector<float>(y + also)[0], 16.F);
}
