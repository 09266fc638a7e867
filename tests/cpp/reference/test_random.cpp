// The example of usmx/random.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <vector>

#include <usmx/random.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Random, Reference) {
  const sycl::queue queue = usmx::default_queue();
  usmx::random_generator random(2026);

  // Uniform and normal numbers; the same as of usmx.random.default_rng(2026) in Python.
  const usmx::array x = random.random(queue, {2});
  CHECK(usmx::to_vector<double>(x) ==
        std::vector<double>({0.08238301449768404, 0.5255588651369488}));
  const usmx::array y = random.normal(queue, {2, 3}, 10, 0.5, {.type = usmx::dtype::of<float>()});

  // Integers from 1 to 6, and the numbers from 0 to 51 in a random order.
  const usmx::random_options hundred{.size = {{100}}};
  const usmx::array dice = random.integers(queue, 1, 7, hundred);
  const usmx::array cards = random.permutation(queue, 52);

  // Any distribution by its name; a parameter may be an array.
  const auto means = usmx::from_host<double>(queue, std::array{0.0, 1e9});
  const usmx::array events = random.draw(queue, "poisson", {means});
  CHECK(usmx::to_vector<std::int64_t>(events)[0] == 0);

  // What follows is kept with the state; children have streams of their own.
  const usmx::random_state kept = random.state();
  usmx::random_generator later(kept);
  std::vector<usmx::random_generator> workers = random.spawn(4);
  CHECK(usmx::item<double>(later.random(queue, {})) ==
        usmx::item<double>(random.random(queue, {})));
}
