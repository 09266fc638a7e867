// The example of usmx/expression.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <vector>

#include <usmx/elementwise.hpp>
#include <usmx/expression.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

namespace {

/// Reductions, scans and elementwise kernels are called alike; what differs is `How`.
template <class How>
usmx::array called(const usmx::expression_kernel_with<How>& kernel, const sycl::queue& queue,
                   const usmx::operand& x) {
  return kernel(queue, {x, 2});
}

/// What all kernels from expressions have in common.
std::string heading(const usmx::expression_kernel& kernel) {
  std::string text = kernel.name() + ":";
  for (const usmx::expression_parameter& each : kernel.inputs()) text += " " + each.text;
  return text;
}

}  // namespace

TEST(Expression, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::vector{1.F, 2.F, 3.F});

  // Arrays and numbers are operands; an output is given, or made by the call.
  const usmx::elementwise_kernel scaled("T x, T a", "T y", "y = a * x", "scaled");
  const std::array<usmx::operand, 2> operands{x, 2.5};
  std::array<usmx::expression_output, 1> outputs;
  usmx::wait(scaled.enqueue(queue, operands, outputs));
  CHECK(usmx::to_vector<float>(outputs[0].get()) == std::vector({2.5F, 5.F, 7.5F}));
  CHECK(heading(scaled) == "scaled: T x T a");
  CHECK(scaled.sources().size() == 1);
  CHECK(usmx::to_vector<float>(called(scaled, queue, x))[2] == 6);
}

TEST(Expression, ReferenceOfKindsOfOnesOwn) {
  // For another kind of kernel: parameters, their types in a call, and texts for its program.
  const auto inputs = usmx::parse_parameters("T x, T a", "in_params");
  const auto outputs = usmx::parse_parameters("T y", "out_params");
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::zeros<float>(queue, {3});
  const std::array<usmx::operand, 2> operands{x, 2.5};
  const std::array<std::optional<usmx::dtype>, 1> given{};
  const usmx::expression_types types = usmx::resolve_types(inputs, outputs, operands, given);
  usmx::require_types(queue.get_device(), types);
  const usmx::dtype& type = types.outputs[0];
  const std::string value = "a * " + usmx::load_text(type, type, "x_", "i");
  const std::string text =
      std::string(usmx::expression_include) + usmx::placeholder_text(types) +
      "USMX_KERNEL(1) scaled(const float* x_, float* y_" + usmx::number_declaration(type, "a_") +
      ") { const auto i = usmx::global_id(); const T a = " + usmx::number_value(type, "a_") + "; " +
      usmx::store_text(type, "y_", "i", value) + "; }";
  const auto y = usmx::empty<float>(queue, {3});
  std::vector<usmx::kernel_argument> arguments{x, y};
  const auto number = operands[1].number_as(type);
  usmx::add_number(arguments, type, number.data());
  usmx::program::build(queue, text).get("scaled").launch(queue, 3, arguments);
  CHECK(usmx::to_vector<float>(y) == std::vector<float>(3));
}
