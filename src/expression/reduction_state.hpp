// One call of a reduction between what it was given and the programs that it becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expression/expression_call.hpp"
#include "expression/reduction_plan.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {

/// A call once its shapes and types are known.
struct reduction_call {
  sycl::queue& queue;
  std::span<const operand> in;
  std::vector<const array*> out;
  expression_types types;
  /// Outputs, then inputs that are arrays and not raw, then the number of the result.
  loops kept;
  /// The inputs, then the number of the element.
  loops reduced;
  /// The place of each input in both, among the arrays.
  std::vector<std::size_t> place;
  std::size_t arrays = 0;
  std::int64_t results = 1;
  std::int64_t count = 1;
};

/// One stage: rows of elements, those of each result cut into parts.
struct reduction_stage {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  std::int64_t rows_a_part = 1;
  std::int64_t parts_a_row = 1;
  std::int64_t chunk = 1;
  std::int64_t parts = 1;

  /// Parts of at most `most` elements.
  static reduction_stage cut(std::int64_t rows, std::int64_t length, std::int64_t most);
};

}  // namespace usmx::detail

namespace usmx {

struct reduction_kernel::state {
  detail::expression_signature signature;
  std::string name;
  reduction_text text;
  bool numbers_elements = false;
  bool numbers_results = false;
  /// The map names how many elements there are.
  bool counts_elements = false;
  mutable detail::program_table programs;

  std::string kernel_name() const { return "usmx_reduction_" + name; }
  detail::reduction_form choose(const detail::reduction_call& call,
                                const detail::reduction_shape& along) const;
  sycl::event run(detail::reduction_call& call, std::span<const sycl::event> depends) const;
  sycl::event launch(const detail::reduction_call& call, const detail::reduction_program& program,
                     const detail::reduction_stage& s, const array* from, const array* to,
                     std::span<const sycl::event> depends) const;
  void add_loops(std::vector<kernel_argument>& arguments, const detail::reduction_call& call,
                 const detail::reduction_program& program, std::size_t kept_place,
                 std::optional<std::size_t> reduced_place) const;
};

}  // namespace usmx
