// Reductions along any axes, from three expressions: what becomes of each element, how two of those
// are joined, and what is stored in the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmx/expression.hpp"

namespace usmx {

/// The expressions of a reduction. In `map` the inputs are constants, `i` is the number of the
/// element among those that are reduced together (in C order of the axes) and `n` how many those
/// are. `reduce` joins `a` and `b`. `post_map` assigns the outputs from `a`; there `i` is the
/// number of the result in C order. `_J`, `_in_ind.size()` and `_out_ind.size()` mean what they
/// mean in CuPy.
struct reduction_text {
  std::string map;
  /// Must be associative and commutative: elements are joined in an order that depends on their
  /// number and on the device, and on nothing else.
  std::string reduce;
  std::string post_map = {};
  /// The result for no elements at all, as C++; without one a reduction of nothing is an error.
  std::optional<std::string> identity = {};
  /// What `a` and `b` are: a placeholder, a type of NumPy or of C++, a structure of the preamble
  /// (at most 32 bytes, no constructor). By default the type of the first output.
  std::string reduce_type = {};
  /// C++ before the kernel: functions, types, macros.
  std::string preamble = {};
  /// For the compiler, such as "-DN=8".
  std::vector<std::string> options = {};
};

/// Which axes of the broadcast inputs are reduced.
struct reduction_axes {
  /// Negative ones count from the end; without a list, all.
  std::optional<std::vector<int>> axes = {};
  /// The results keep them with length one.
  bool keep = false;
};

/// The axes of so many dimensions that are reduced, in order. Throws std::invalid_argument for one
/// that is not there, or named twice.
std::vector<int> reduced_axes(const reduction_axes& axes, std::size_t rank);
/// The shape of the results. Throws as `reduced_axes` does.
extents reduced_shape(const extents& shape, const reduction_axes& axes);

/// `reduction_kernel total("T x", "T y", {.map = "x", .reduce = "a + b", .post_map = "y = a",
/// .identity = "0"})`, then `array sum = total(queue, {x}, {.axes = {{0}}})`.
///
/// Results are the same from run to run. Sums of floating-point numbers are made of chunks, so that
/// their error grows with the logarithm of the number of elements, not with the number.
///
/// Inputs are broadcast, new outputs are in C order. A given output may share memory with an input:
/// it is written after all was read. No elements and no identity is an error.
class reduction_kernel : public expression_kernel_with<reduction_axes> {
 public:
  /// Throws std::invalid_argument naming the parameter, as parse_parameters does; also if there is
  /// no input that is not raw, if there is no output or a raw one, if a name is used for both, if
  /// an expression is empty, and if `name` is not an identifier.
  reduction_kernel(std::string_view in_params, std::string_view out_params, reduction_text text,
                   std::string name = "kernel");

  const reduction_text& text() const noexcept;

 private:
  struct state;
  const state& own() const noexcept;
};

}  // namespace usmx
