// How one call of an elementwise kernel visits its operands: what decides which program serves it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expression/expression_call.hpp"
#include "usmx/elementwise.hpp"

namespace usmx::detail {

/// How the kernel finds the element of an operand that belongs to a turn.
enum class access : char {
  number = 'n',      // passed by value
  run = 'd',         // the turn is the index
  one = 'o',         // always the first
  strided = 's',     // each loop has a step
  raw_row = 'r',     // a raw array, its elements in a row
  raw_strided = 'R'  // a raw array whose flat index has to be taken apart
};

/// The shape of a call and the ways to its operands: inputs first, then outputs.
struct elementwise_plan {
  extents shape;
  /// Of outputs that are still to be made.
  layout made;
  std::int64_t size = 1;
  std::vector<access> ways;
  /// Not looked at if every way is a number, a run or raw.
  loops visited;
  /// For each operand its place in `visited`.
  std::vector<std::size_t> place;
  bool is_small = true;
  /// Every operand is a number or a run that begins at a multiple of so many bytes, which an item
  /// shall load at once; 0 if not.
  std::size_t vector_bytes = 0;
};

/// How many elements an item has, at most, for so many bytes of the widest one of `own`.
int elements_of_an_item(std::span<const dtype> own, const elementwise_plan& plan);

/// The C++ text of the program for a call of these types. `own` are the types of the elements,
/// those of outputs included; an item computes `elements` of them.
std::string elementwise_source(std::span<const expression_parameter> parameters,
                               std::size_t input_count, const expression_types& types,
                               std::span<const dtype> own, std::span<const int> raw_ranks,
                               const elementwise_plan& plan, int elements, const std::string& name,
                               const std::string& operation, const elementwise_text& text);

/// The name of the kernel in that text, which nothing in the prelude has.
std::string elementwise_kernel_name(const std::string& name);

}  // namespace usmx::detail
