// The text of kernels from expressions, and what they take. Each parameter is declared and passed
// in one place, so that the text and the arguments of a launch cannot differ.
//
// The texts' own names begin with an underscore, which no name of a parameter does, and end with
// what they are: _x_data, _x_step0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmx/expression.hpp"

namespace usmx::detail {

/// What is known of a step when the text is written: some make better code than a number that comes
/// with the launch, for neighbours are loaded at once, in either direction.
enum class step_class : char { zero = '0', one = '1', back = 'b', any = 's' };
step_class class_of(std::int64_t step) noexcept;

/// "_x_step0", or "_step0" of no operand.
struct parameter_name {
  std::string_view of;
  std::string_view role;
  int number = -1;

  std::string text() const;
};

/// The parameters of a kernel, in order. The same function adds them when the text is written and
/// at each launch, where only the arguments are kept and no name is looked at.
class parameter_list {
 public:
  explicit parameter_list(bool writes, std::size_t expected = 8) : writes_(writes) {
    arguments_.reserve(expected);
  }

  bool writes() const noexcept { return writes_; }
  /// What is read from now on shares no memory with what is written: loads need not wait for
  /// stores.
  void keep_inputs_apart() noexcept { inputs_are_apart_ = true; }
  std::span<const kernel_argument> arguments() const noexcept { return arguments_; }
  /// "int64_t _size, const float* _x_data"
  const std::string& text() const noexcept { return text_; }
  std::vector<kernel_parameter> take_declared() noexcept { return std::move(declared_); }

  template <class T>
  void scalar(const parameter_name& name, T value) {
    if (writes_) declare(name.text(), device_name(dtype::of<T>()), dtype::of<T>(), pointer::none);
    arguments_.emplace_back(value);
  }
  /// A step as the text has it: 0, 1, -1, or the name of a parameter.
  std::string step(const parameter_name& name, std::int64_t value, step_class known);
  /// The steps of an operand in the first `rank` loops, "_x_row_step0, _x_row_step1".
  std::string steps(std::string_view of, std::string_view role, const loops& all,
                    std::size_t operand, std::size_t rank);
  /// A number as a value of type `as`, "_x_value"; of a complex one both parts, "_x_re".
  void number(const expression_parameter& p, const dtype& as, const operand& value);
  /// The elements of an array from `first` on, "_x_data".
  void elements(const expression_parameter& p, const array& a, std::int64_t first, bool is_written);
  /// Values in memory of ours, of the type `type_name` of the text.
  void values(std::string_view name, std::string_view type_name, const array& a, bool is_written);
  /// Numbers in memory of ours.
  void numbers(std::string_view name, const array& a);
  /// What a raw parameter is made of: "_x_data", "_x_size", of one with strides "_x_length0" ...
  void raw(const expression_parameter& p, const array& a, bool is_written) {
    raw(p, a, a.elements().layout(), is_written);
  }
  /// The same of elements that stand otherwise: of an array that is broadcast.
  void raw(const expression_parameter& p, const array& a, const layout& where, bool is_written);

 private:
  enum class pointer : char { none, read, written };
  void declare(const std::string& name, std::string_view type_name, std::optional<dtype> type,
               pointer to);

  bool writes_;
  bool inputs_are_apart_ = false;
  std::vector<kernel_argument> arguments_;
  std::string text_;
  std::size_t line_ = 0;
  std::vector<kernel_parameter> declared_;
};

/// "const expression::loops<2, 3> _rows{{_length1}, {{...}, ...}};" from the parameters or numbers
/// that stand for its lengths and steps.
class loops_text {
 public:
  loops_text(std::string_view name, std::size_t rank, std::string_view types = {})
      : name_(name), types_(types), rank_(rank) {}

  void length(const parameter_name& name) {
    lengths_ += (lengths_.empty() ? "" : ", ") + name.text();
  }
  void operand(const std::string& steps);
  std::string text() const;

 private:
  std::string_view name_, types_;
  std::size_t rank_, operands_ = 0;
  std::string lengths_, steps_;
};

// --- pieces of texts ------------------------------------------------------------------------

/// "const float x = _x_value;"
std::string number_variable(const expression_parameter& p, const dtype& as);
/// "const float x = expression::load<float, int16_t>(_x_data, at);"
std::string loaded_variable(const expression_parameter& p, const dtype& as, const dtype& own,
                            std::string_view at);
/// "const expression::raw_row<float, const float> x{_x_data, _x_size};" of the array that is
/// passed.
std::string raw_variable(const expression_parameter& p, const dtype& as, const array& a,
                         const layout& where, bool is_written);
inline std::string raw_variable(const expression_parameter& p, const dtype& as, const array& a,
                                bool is_written) {
  return raw_variable(p, as, a, a.elements().layout(), is_written);
}
/// "expression::store<float>(_z_data, at, z);"
std::string stored_variable(const expression_parameter& p, const dtype& own, std::string_view at);

/// The most bytes of a structure of the user's.
inline constexpr std::size_t most_value_bytes = 32;
/// The type of `a` and `b` if it is a number's: `wanted` names it, or it is that of the first
/// output.
std::optional<dtype> value_type(const std::string& wanted, const expression_types& types);
/// Memory for so many values.
array values_of(const sycl::queue& queue, std::int64_t count, const std::optional<dtype>& type);

/// What stands before a kernel that joins values: types, the preamble, `_value`, and `_join` of `a`
/// and `b`, which came by `argument`.
std::string joining_prologue(std::string_view header, const expression_types& types,
                             const std::string& preamble, const std::string& value_type,
                             std::string_view argument, const std::string& join);

}  // namespace usmx::detail
