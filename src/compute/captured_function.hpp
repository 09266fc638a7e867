// What a function does to its arguments, found by calling it once on placeholders: `usmx.fuse`.
// Types, texts and reductions are those of lazy arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/expression_form.hpp"

namespace usmx::detail {

/// The values that a function computes, each known by its number. Equal ones are computed once.
///
/// Functions throw interop_error (dtype_mismatch) for types that there is no operation of,
/// std::overflow_error for a number that does not fit, std::out_of_range for a value that is not
/// there.
class captured_function {
 public:
  /// A parameter of the kernel. One that is a number of Python has a type of its own, and is weak.
  std::size_t add_argument(const dtype& type, bool is_weak);
  /// A number that the function itself has.
  std::size_t add_number(const operand& number);
  /// The same value where it is weak, or is not.
  std::size_t add_same(std::size_t value, bool is_weak);
  std::size_t add_cast(std::size_t value, const dtype& as);
  std::size_t apply(const operation& op, std::span<const std::size_t> operands);
  /// What no operation of the table gives: "complex" of two parts, "mantissa" and "exponent" of a
  /// float, "ldexp" of a float and an int64. Empty for other names.
  std::optional<std::size_t> apply_part(std::string_view name,
                                        std::span<const std::size_t> operands);

  const dtype& type(std::size_t value) const { return values_.at(value).type; }
  bool is_weak(std::size_t value) const { return values_.at(value).is_weak; }
  /// Arguments that are ints of Python, and the types that they have to fit into.
  std::vector<std::pair<std::size_t, dtype>> fits() const;

  elementwise_kernel elementwise(std::span<const std::size_t> outputs, std::string name,
                                 std::vector<std::string> options) const;
  reduction_kernel reduction(std::size_t value, const value_reduction& how, std::string name,
                             std::vector<std::string> options);

 private:
  using place = expression_form::place;
  struct known_value {
    place where;
    dtype type;
    bool is_weak = false;
    std::optional<operand> number = {};  // of one that the function has
  };

  std::size_t add(known_value&& made);
  place in_type(const known_value& v, const dtype& as);
  std::size_t add_step(const operation& op, const operation_types& types,
                       std::span<const std::size_t> operands);
  /// The form with its outputs, and parameters in the types that they are used in.
  expression_form form(std::span<const std::size_t> outputs) const;

  expression_form form_;
  std::vector<known_value> values_;
  std::vector<bool> is_weak_;  // of the arguments
};

}  // namespace usmx::detail
