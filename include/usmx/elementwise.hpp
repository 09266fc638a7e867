// Kernels that compute each element from the elements at the same place, made from one expression:
// broadcasting, any strides and mixed types need no code of the user's.
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

/// What the text of an elementwise kernel has besides its expression.
struct elementwise_text {
  /// C++ before the kernel: functions, types, macros.
  std::string preamble;
  /// Statements before and after the expression; variables of the first live on in both others.
  std::string loop_prep;
  std::string after_loop;
  /// For the compiler, such as "-DN=8".
  std::vector<std::string> options;
};

/// `elementwise_kernel muladd("T x, T y", "T z", "z = x * y + 1", "muladd")`, then
/// `array z = muladd(queue, {x, 2.0})`. In the expression inputs are constants, outputs variables,
/// `i` is the number of the element in C order and `n` how many there are. Raw parameters are
/// indexed by the expression itself.
///
/// Its calls take `size`, the number of elements where all arrays are raw. New outputs are laid out
/// as the inputs. A given output may be one of the inputs; one that overlaps them in another way is
/// computed in a temporary and copied.
class elementwise_kernel : public expression_kernel_with<std::optional<std::int64_t>> {
 public:
  /// Throws std::invalid_argument naming the parameter, as parse_parameters does; also if there is
  /// no output, if an output is called as an input, and if `name` is not an identifier.
  elementwise_kernel(std::string_view in_params, std::string_view out_params, std::string operation,
                     std::string name = "kernel", elementwise_text text = {});

  const std::string& operation() const noexcept;
  const elementwise_text& text() const noexcept;

 private:
  struct state;
  const state& own() const noexcept;
};

}  // namespace usmx
