// The example of usmx/elementwise.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/elementwise.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Elementwise, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::vector{1.F, 2.F, 3.F});

  // T is what the operands say; a number has no say in it.
  const usmx::elementwise_kernel muladd("T x, T y", "T z", "z = x * y + 1", "muladd");
  const usmx::array z = muladd(queue, {x, 2});
  CHECK(usmx::to_vector<float>(z) == std::vector({3.F, 5.F, 7.F}));

  // Functions of one's own, and several outputs, of which one is given.
  usmx::elementwise_text text;
  text.preamble = "template <class T> T cube(T x) { return x * x * x; }";
  const usmx::elementwise_kernel powers("T x", "T square, T cubed",
                                        "square = x * x; cubed = cube(x)", "powers", text);
  std::array<usmx::expression_output, 2> outputs{{{.given = &z, .made = {}}, {}}};
  usmx::wait(powers.enqueue(queue, std::array<usmx::operand, 1>{x}, outputs));
  CHECK(usmx::to_vector<float>(z) == std::vector({1.F, 4.F, 9.F}));
  CHECK(usmx::to_vector<float>(outputs[1].get()) == std::vector({1.F, 8.F, 27.F}));
}
