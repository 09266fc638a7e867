// The example of usmx/kernel.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/kernel.hpp>
#include <usmx/launch_range.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Kernel, Reference) {
  const sycl::queue queue = usmx::default_queue();

  // Compiled for the device of the queue, once; later processes find it on disk.
  const auto program = usmx::program::build(queue, R"(
    USMX_KERNEL(1) scale(float* x, float a) { x[usmx::global_id()] *= a; }
    USMX_KERNEL(1) reverse(float* x, usmx::local_view<float, 1> kept) {
      const auto i = usmx::local_id();
      kept(i) = x[i];
      usmx::group_barrier();
      x[i] = kept(kept.size() - 1 - i);
    }
  )");
  CHECK(program.names() == std::vector<std::string>({"scale", "reverse"}));
  const usmx::kernel scale = program.get("scale");

  // Arrays are checked against what the text declares, kept, and put in order.
  const auto x = usmx::from_host<float>(queue, std::vector{1.F, 2.F, 3.F, 4.F});
  usmx::wait(scale.launch(queue, 4, {x, 2.F}));
  const usmx::launch_range groups(std::array<std::size_t, 1>{4}, std::array<std::size_t, 1>{2});
  scale.enqueue(queue, groups, {x, 0.5F});  // without an event: quicker
  CHECK_THROWS(std::invalid_argument, scale.launch(queue, 4, {x}));
  CHECK(scale.parameters()->at(1).name == "a");

  // A list that a program makes, events of its own, and an order by hand.
  const std::vector<usmx::kernel_argument> arguments{x, 3.F};
  const std::array before{usmx::marker(queue)};
  usmx::wait(scale.launch(queue, 4, arguments, before, usmx::ordering::by_hand));
  CHECK(usmx::to_vector<float>(x) == std::vector({3.F, 6.F, 9.F, 12.F}));

  // Local memory gets its size from the launch.
  const usmx::local_memory kept{usmx::dtype::of<float>(), {4}};
  program.get("reverse").launch(
      queue, usmx::launch_range(std::array<std::size_t, 1>{4}, std::array<std::size_t, 1>{4}),
      {x, kept});
  CHECK(usmx::to_vector<float>(x)[0] == 12);

  // What the compiled kernel needs and supports.
  const usmx::kernel_limits limits = scale.limits();
  CHECK(limits.max_work_group_size >= 1);
}

TEST(Kernel, ReferenceOfGeneratedTexts) {
  // A text that a program makes says itself what it declares.
  const usmx::kernel_parameter to{.text = "float* x",
                                  .pointer = true,
                                  .type = usmx::dtype::of<float>(),
                                  .name = "x",
                                  .type_name = ""};
  const usmx::kernel_declaration declared{.name = "one", .rank = 1, .parameters = {{to}}};
  const usmx::kernel_source source{
      .text = "USMX_KERNEL(1) one(float* x) { x[usmx::global_id()] = 1; }", .kernels = {declared}};
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::zeros<float>(queue, {3});
  usmx::program::build(queue, source).get("one").launch(queue, 3, {x});
  CHECK(usmx::to_vector<float>(x) == std::vector<float>(3, 1));
}
