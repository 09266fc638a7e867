// Random numbers in C++: those of Python for a seed and a place, parameters that are refused,
// streams and threads. Their distributions are tested where SciPy is, in
// tests/python/array/test_random.py.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/random.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/runtime.hpp"
#include "usmx/typed_array.hpp"

namespace {

using usmx::operand;
using usmx::random_generator;
using usmx::to_vector;

sycl::queue queue() { return usmx::default_queue(); }

using doubles = std::vector<double>;
using integers = std::vector<std::int64_t>;

}  // namespace

TEST(Random, NumbersOfASeedAreThoseOfPython) {
  random_generator random(2026);
  CHECK(to_vector<double>(random.random(queue(), {2})) ==
        doubles({0.08238301449768404, 0.5255588651369488}));
  CHECK(to_vector<std::int64_t>(random.integers(queue(), 0, 1000, {.size = {{4}}})) ==
        integers({181, 276, 635, 596}));
  CHECK(to_vector<double>(random.normal(queue(), {2})) ==
        doubles({-1.3938717682956057, -1.0717366770618137}));
  CHECK(to_vector<double>(random.draw(queue(), "gamma", {0.5, 1}, {.size = {{2}}})) ==
        doubles({0.3774113360187513, 0.1805933767387807}));
  const auto means = usmx::from_host<double>(queue(), std::array{3.0, 300.0});
  CHECK(to_vector<std::int64_t>(random.draw(queue(), "poisson", {means})) == integers({3, 296}));
  const auto chances = usmx::from_host<double>(queue(), std::array{0.001, 0.5});
  CHECK(to_vector<std::int64_t>(random.draw(queue(), "binomial", {1000, chances})) ==
        integers({2, 477}));
  CHECK(to_vector<std::int64_t>(random.permutation(queue(), 6)) == integers({0, 4, 2, 5, 3, 1}));
}

TEST(Random, NumbersDependOnSeedAndPlaceAlone) {
  for (const usmx::dtype& type : {usmx::dtype::of<float>(), usmx::dtype::of<double>()}) {
    random_generator random(7);
    const auto whole = to_vector<double>(random.normal(queue(), {63}, 1, 2, {.type = type}));
    random_generator again(7);
    doubles parts;
    for (const std::int64_t count : {1, 0, 20, 42}) {
      const auto part = to_vector<double>(
          again.normal(queue(), {count}, 1, 2, {.type = type, .kind = usmx::usm_kind::host}));
      parts.insert(parts.end(), part.begin(), part.end());
    }
    CHECK(parts == whole);
    again.advance(-13);
    CHECK(to_vector<double>(again.normal(queue(), {13}, 1, 2, {.type = type})) ==
          doubles(whole.end() - 13, whole.end()));
  }
}

TEST(Random, ElementsThatAreThereGetTheSameNumbers) {
  const auto apart = usmx::zeros<float>(queue(), {4, 6});
  std::int64_t shift = 0;
  const usmx::layout columns = apart.elements().layout().sliced(1, 0, 3, 2, shift);
  const usmx::array view = apart.with_view(apart.elements().with_layout(columns, shift));
  const std::array<operand, 2> bounds{-1.0, 1.0};
  random_generator(3).draw_into(view, "uniform", bounds);
  CHECK(to_vector<float>(view) ==
        to_vector<float>(random_generator(3).uniform(queue(), {4, 3}, -1.0, 1.0,
                                                     {.type = usmx::dtype::of<float>()})));
}

TEST(Random, StatesAndChildrenAreGivenBack) {
  random_generator random(usmx::random_state{.seed = {"3", "1267650600228229401496703205376"}});
  random.random(queue(), {5});
  random.spawn(1);
  random_generator same(random.state());
  random_generator other(0);
  other = random;
  const auto next = to_vector<double>(random.random(queue(), {3}));
  CHECK(to_vector<double>(same.random(queue(), {3})) == next);
  CHECK(to_vector<double>(other.random(queue(), {3})) == next);
  auto children = random.spawn(2), theirs = same.spawn(2);
  const auto first = to_vector<double>(children[0].random(queue(), {3}));
  CHECK(to_vector<double>(theirs[0].random(queue(), {3})) == first);
  CHECK(to_vector<double>(children[1].random(queue(), {3})) != first);
  CHECK(random.state().children == 3);
}

TEST(Random, ThreadsGetNumbersOnce) {
  random_generator random(1);
  std::vector<integers> parts(4);
  std::vector<std::thread> threads;
  for (integers& part : parts) {
    threads.emplace_back([&] {
      for (int k = 0; k < 8; ++k) {
        const auto drawn = to_vector<std::int64_t>(
            random.integers(queue(), 0, std::numeric_limits<std::int64_t>::max(), {.size = {{5}}}));
        part.insert(part.end(), drawn.begin(), drawn.end());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  integers all;
  for (const integers& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  integers wanted = to_vector<std::int64_t>(random_generator(1).integers(
      queue(), 0, std::numeric_limits<std::int64_t>::max(), {.size = {{160}}}));
  std::ranges::sort(wanted);
  CHECK(all == wanted);
}

TEST(Random, IntegersReachTheEndsOfTheirTypes) {
  random_generator random(1);
  const auto words = to_vector<std::uint64_t>(random.integers(
      queue(), 0, std::numeric_limits<std::uint64_t>::max(),
      {.size = {{500}}, .type = usmx::dtype::of<std::uint64_t>(), .endpoint = true}));
  CHECK(std::ranges::max(words) > 1ULL << 63);
  const auto low = usmx::from_host<std::int8_t>(queue(), std::array<std::int8_t, 2>{-128, 127});
  const auto ends =
      random.integers(queue(), low, 128, {.size = {{300, 2}}, .type = low.elements().dtype()});
  const auto bytes = to_vector<int>(ends);
  for (std::size_t k = 1; k < bytes.size(); k += 2) CHECK(bytes[k] == 127);
  CHECK(std::ranges::min(bytes) < -100);
}

TEST(Random, PartsOfAWholeAddUp) {
  random_generator random(22);
  const auto chances = usmx::from_host<double>(queue(), std::array{0.2, 0.3, 0.5});
  const auto counts =
      to_vector<std::int64_t>(random.multinomial(queue(), 20, chances, {.size = {{50}}}));
  for (std::size_t k = 0; k < counts.size(); k += 3) {
    CHECK(counts[k] + counts[k + 1] + counts[k + 2] == 20);
  }
  const auto parts = to_vector<double>(random.dirichlet(queue(), chances, {.size = {{50}}}));
  for (std::size_t k = 0; k < parts.size(); k += 3) {
    CHECK(std::abs(parts[k] + parts[k + 1] + parts[k + 2] - 1) < 1e-12);
  }
}

TEST(Random, WhatADistributionDoesNotTakeIsNamed) {
  random_generator random(1);
  const auto refused = [&](const char* name, std::initializer_list<operand> values,
                           const usmx::random_options& how = {}) {
    return check::message_of<std::invalid_argument>(
        [&] { random.draw(queue(), name, values, how); });
  };
  const auto numbers = usmx::from_host<double>(queue(), std::array{1.0, -1.0, 2.0});
  CHECK(check::contains(refused("normal", {0, -1}),
                        "scale: expected a number that is not smaller than 0, got -1"));
  CHECK(check::contains(refused("normal", {0, numbers}), "scale: "));
  CHECK(check::contains(refused("normal", {0}), "parameters: 1 of normal; expected 2"));
  CHECK(check::contains(refused("geometric", {0.0}),
                        "p: expected a number above 0, at most 1, got 0"));
  CHECK(check::contains(refused("logseries", {1.0}),
                        "p: expected a number from 0 to below 1, got 1"));
  CHECK(check::contains(refused("binomial", {0.5, 0.5}), "n: expected integers, got float64"));
  CHECK(check::contains(refused("triangular", {0, 2, 1}), "left, mode, right: "));
  CHECK(check::contains(refused("normal", {numbers, 1}, {.size = {{2}}}),
                        "size: the shape (3,) of the arguments cannot be broadcast to (2,)"));
  CHECK(check::contains(refused("normal", {0, 1}, {.size = {{-2}}}),
                        "size: (-2,) has a negative length"));
  CHECK(check::contains(refused("normal", {0, 1}, {.type = usmx::dtype::of<int>()}),
                        "dtype: expected float32 or float64, got int32"));
  CHECK(
      check::contains(refused("normals", {}), "distribution: 'normals'; expected one of uniform"));
  const auto bounds = [&](const operand& low, const operand& high) {
    return check::message_of<std::invalid_argument>([&] { random.integers(queue(), low, high); });
  };
  CHECK(check::contains(bounds(3, 3), "low, high: there is no integer from 3 to below 3"));
  CHECK(check::contains(bounds(0.5, 3), "low: expected integers, got float64"));
  CHECK(random.state().place == 0);
}
