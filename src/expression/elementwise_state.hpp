// What an elementwise kernel keeps between calls, and the steps of a call that share it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/elementwise_plan.hpp"
#include "usmx/detail/built_kernels.hpp"
#include "usmx/elementwise.hpp"

namespace usmx {
namespace detail {

/// What was found out about a list of types and ways.
struct known_call {
  expression_types types;
  std::string source;
  /// Of one item.
  int elements = 1;
  built_kernels built;
};

}  // namespace detail

struct elementwise_kernel::state {
  std::vector<expression_parameter> parameters;  // inputs, then outputs
  std::size_t input_count = 0;
  std::string name;
  std::string operation;
  elementwise_text text;
  /// The expression names `i`, so that turns have to be counted in C order.
  bool counts_in_c_order = false;

  mutable std::mutex mutex;
  mutable std::unordered_map<std::string, detail::known_call> known;

  std::span<const expression_parameter> inputs() const { return {parameters.data(), input_count}; }
  std::span<const expression_parameter> outputs() const {
    return std::span(parameters).subspan(input_count);
  }

  void check_operands(const sycl::queue& queue, std::span<const operand> in,
                      std::span<const expression_output> out) const;
  extents shape_of(std::span<const operand> in, std::span<const expression_output> out,
                   std::optional<std::int64_t> size) const;
  bool plan_run(std::span<const operand> in, std::span<const expression_output> out,
                detail::elementwise_plan& plan) const;
  void plan_loops(std::span<const operand> in, std::span<const expression_output> out,
                  detail::elementwise_plan& plan) const;
  /// Null for a number, and for an output that is still to be made.
  const array* array_at(std::size_t k, std::span<const operand> in,
                        std::span<const expression_output> out) const {
    if (k < input_count) return in[k].array();
    const auto& o = out[k - input_count];
    return o.given ? o.given : o.made.data() ? &o.made : nullptr;
  }
  /// The first element of operand `k` that is visited.
  const std::byte* first_of(const array& a, std::size_t k,
                            const detail::elementwise_plan& plan) const;
  /// Whether all operands, but outputs that are still to be made, are numbers or such runs.
  bool starts_at_multiples_of(std::size_t bytes, std::span<const operand> in,
                              std::span<const expression_output> out,
                              const detail::elementwise_plan& plan) const;
  detail::known_call& known_for(std::span<const operand> in, std::span<const expression_output> out,
                                const detail::elementwise_plan& plan) const;
  const kernel& program_for(const sycl::queue& queue, std::span<const operand> in,
                            std::span<const expression_output> out,
                            const detail::elementwise_plan& plan, detail::known_call& call) const;
  void enqueue(sycl::queue& queue, std::span<const operand> in, std::span<expression_output> out,
               std::optional<std::int64_t> size, std::span<const sycl::event> depends) const;
};

}  // namespace usmx
