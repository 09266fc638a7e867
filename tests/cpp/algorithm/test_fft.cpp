// Transforms of all kinds of lengths against the sums that they are, along each axis, cut and
// filled lines, and their inverses.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/fft.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/default_kind.hpp"
#include "usmx/memory.hpp"
#include "usmx/resources.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::array;
using usmx::to_vector;
using number = std::complex<double>;
using complexes = std::vector<number>;

sycl::queue queue() { return usmx::default_queue(); }

/// The sums of a line of n numbers.
complexes transformed(const complexes& x, double sign) {
  const std::size_t n = x.size();
  complexes made(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      const double turns = sign * static_cast<double>(j * k % n) / static_cast<double>(n);
      made[k] += x[j] * std::polar(1.0, 2 * std::numbers::pi * turns);
    }
  }
  return made;
}

complexes numbers(std::size_t n) {
  complexes x(n);
  for (std::size_t k = 0; k < n; ++k) {
    x[k] = {static_cast<double>(k * 7 % 11) - 5, static_cast<double>(k * 5 % 13) - 6};
  }
  return x;
}

bool are_near(const complexes& a, const complexes& b, double error) {
  if (a.size() != b.size()) return false;
  double most = 0, away = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    most = std::max(most, std::abs(b[k]));
    away = std::max(away, std::abs(a[k] - b[k]));
  }
  return away <= error * most;
}

}  // namespace

TEST(Fft, LengthsOfAllFactors) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 8, 12, 49, 121, 169, 17, 97, 202, 1024, 1155}) {
    if (check::quick() && n % 3 != 1) continue;  // 1, 4, 49, 121, 169, 97, 202 and 1024
    const complexes x = numbers(n);
    const array wide = usmx::from_host<number>(queue(), x);
    CHECK(are_near(to_vector<number>(usmx::fft(wide)), transformed(x, -1), 1e-13));
    CHECK(are_near(to_vector<number>(usmx::ifft(usmx::fft(wide))), x, 1e-13));
    std::vector<std::complex<float>> narrow(x.begin(), x.end());
    const array made = usmx::fft(usmx::from_host<std::complex<float>>(queue(), narrow));
    CHECK(made.elements().dtype() == usmx::dtype::of<std::complex<float>>());
    CHECK(are_near(to_vector<number>(made), transformed(x, -1), 1e-5));
  }
}

TEST(Fft, RealNumbersAndTheirHalves) {
  for (const std::size_t n : {2, 7, 16, 34}) {
    std::vector<float> x(n);
    for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>(k * 7 % 11) - 4;
    const array given = usmx::from_host<float>(queue(), x);
    complexes whole = transformed(complexes(x.begin(), x.end()), -1);
    whole.resize(n / 2 + 1);
    const array half = usmx::rfft(given);
    CHECK(are_near(to_vector<number>(half), whole, 1e-5));
    const array back = usmx::irfft(half, {.n = static_cast<std::int64_t>(n)});
    CHECK(back.elements().dtype() == usmx::dtype::of<float>());
    const auto again = to_vector<double>(back);
    CHECK(are_near(complexes(again.begin(), again.end()), complexes(x.begin(), x.end()), 1e-5));
    CHECK(usmx::irfft(half).extent(0) == static_cast<std::int64_t>(n / 2 * 2));
  }
}

TEST(Fft, LinesAlongAnAxisAreCutAndFilled) {
  const auto x = usmx::from_host<int>(queue(), std::array{1, 2, 3, 4, 5, 6}, {2, 3});
  const array columns = usmx::fft(x, {.axis = 0});
  CHECK(to_vector<number>(columns) == complexes({5, 7, 9, -3, -3, -3}));
  CHECK(columns.elements().layout().is_c_contiguous());
  const array filled = usmx::fft(x, {.n = 4, .axis = 1});
  CHECK(are_near(to_vector<number>(filled), {6, {-2, -2}, 2, {-2, 2}, 15, {-2, -5}, 5, {-2, 5}},
                 1e-14));
  CHECK(to_vector<number>(usmx::fft(x, {.n = 1})) == complexes({1, 4}));
  CHECK(usmx::fft(usmx::empty<float>(queue(), {0, 3})).size() == 0);
}

TEST(Fft, Norms) {
  const array x = usmx::from_host<double>(queue(), std::array{1.0, 2.0, 3.0, 2.0});
  using enum usmx::fft_norm;
  CHECK(to_vector<number>(usmx::fft(x, {.norm = backward}))[0] == 8.0);
  CHECK(to_vector<number>(usmx::fft(x, {.norm = ortho}))[0] == 4.0);
  CHECK(to_vector<number>(usmx::fft(x, {.norm = forward}))[0] == 2.0);
  CHECK(to_vector<number>(usmx::ifft(x, {.norm = backward}))[0] == 2.0);
  CHECK(to_vector<number>(usmx::ifft(x, {.norm = forward}))[0] == 8.0);
}

TEST(Fft, WhatIsNotTransformedIsRefused) {
  const array x = usmx::from_host<number>(queue(), numbers(4));
  const auto refused = [](auto call) { return check::message_of<std::invalid_argument>(call); };
  CHECK(check::contains(refused([&] { usmx::fft(x, {.n = 0}); }), "n: 0 elements; expected"));
  CHECK(check::contains(refused([&] { usmx::fft(x, {.axis = 1}); }), "axis: 1"));
  CHECK(check::contains(refused([&] { usmx::rfft(x); }), "x: of complex128; expected real"));
}

// Tables of roots are kept for the next call, until memory is asked for.
TEST(Fft, TablesAreSpareMemory) {
  const auto used = std::make_shared<usmx::statistics_resource>(
      usmx::default_resource(queue(), usmx::default_kind(queue())));
  const usmx::using_resource here(used);
  const auto x = usmx::from_host<number>(queue(), numbers(24));
  usmx::trim_default_resources();
  const std::size_t before = used->now().blocks;
  CHECK_EQUAL(before, 1u);
  static_cast<void>(usmx::fft(x));
  usmx::drain();
  CHECK(used->now().blocks > before);
  usmx::trim_default_resources();
  CHECK_EQUAL(used->now().blocks, before);
}
