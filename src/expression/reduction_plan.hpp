// What decides which program serves a call of a reduction, and the numbers that go to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expression/loop_text.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {

/// How a step goes into the text: two of them make better code than a number that nobody knows.
enum class step_class : char { zero = '0', one = '1', any = 's' };
step_class class_of(std::int64_t step) noexcept;

/// How the items of a group share the work.
enum class reduction_form : char {
  /// Neighbouring items read neighbouring elements of one result and join what they have.
  along = 'l',
  /// Neighbouring items make neighbouring results, each alone.
  across = 'c',
  /// The same where results have no common step: each item finds its own place.
  scattered = 's',
  /// There is nothing to reduce: each item stores the identity.
  empty = 'e',
};

/// The size of a group's work; both ends of the library must see the same constants.
struct reduction_shape {
  /// Items of a group.
  int items;
  /// Elements (along) or results (across) that an item has in hand at once.
  int blocks;
  /// Results or parts of such that a group makes one after the other (along).
  int segments;
};

/// One loop variable's way through an operand.
struct reduction_operand {
  enum class kind : char { array = 'a', number = 'n', raw = 'r', index = 'i' };

  kind what = kind::array;
  /// Of the innermost loop over reduced elements, and of neighbouring results.
  step_class inner = step_class::any;
  step_class column = step_class::any;
};

/// Everything that the text depends on besides types.
struct reduction_program {
  reduction_form form = reduction_form::along;
  reduction_shape shape{};
  /// Reads what an earlier program left, not the inputs.
  bool folds = false;
  /// Leaves parts for a later program instead of results.
  bool is_partial = false;
  /// Loops over results that are taken apart from a flat number, and over rows of elements.
  std::size_t kept_rank = 0;
  std::size_t row_rank = 0;
  std::vector<reduction_operand> inputs;
  /// Whether `i` is needed, in the map and in the post map.
  bool numbers_elements = false;
  bool numbers_results = false;

  std::string key() const;
};

/// The parts of the text that do not change from call to call.
struct reduction_source_parts {
  std::span<const expression_parameter> inputs;
  std::span<const expression_parameter> outputs;
  const reduction_text* text;
  const expression_types* types;
  /// The types of the elements of inputs and outputs.
  std::span<const dtype> own_inputs;
  std::span<const dtype> own_outputs;
  value_text value;
  std::string kernel_name;
};

std::string reduction_source(const reduction_source_parts& parts, const reduction_program& program);

}  // namespace usmx::detail
