// Kernels that compute each element from the elements at the same place, made from one expression:
// broadcasting, any strides and mixed types need no code of the user's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
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
/// A program is compiled for each list of types and kind of layout, once in a process and once on
/// the machine. Cheap to copy, thread-safe.
class elementwise_kernel {
 public:
  /// Throws std::invalid_argument naming the parameter, as parse_parameters does; also if there is
  /// no output, if an output is called as an input, and if `name` is no identifier.
  elementwise_kernel(std::string_view in_params, std::string_view out_params, std::string operation,
                     std::string name = "kernel", elementwise_text text = {});

  std::span<const expression_parameter> inputs() const noexcept;
  std::span<const expression_parameter> outputs() const noexcept;
  const std::string& name() const noexcept;
  const std::string& operation() const noexcept;
  const elementwise_text& text() const noexcept;

  /// One array for the only output, allocated as `strongest_kind` says and laid out as the inputs.
  /// Throws as `enqueue` does, and std::invalid_argument if there are several outputs.
  array operator()(sycl::queue& queue, std::initializer_list<operand> inputs) const;

  /// Computes into `outputs`, of which those without a `given` array are made. A given output may
  /// be one of the inputs; one that overlaps them in another way is computed beside them and
  /// copied. `size` is the number of elements where no array says it, because all are raw. Commands
  /// on other queues are waited for only if they are in `depends`. There is no event, which is
  /// quicker: wait for the queue, or for a `marker` on it. Throws std::invalid_argument (number of
  /// operands, shapes, contexts, overlapping outputs), interop_error (dtype_mismatch, read_only),
  /// std::overflow_error (a number that does not fit), build_error, allocation_error.
  void enqueue(sycl::queue& queue, std::span<const operand> inputs,
               std::span<expression_output> outputs, std::optional<std::int64_t> size = {},
               std::span<const sycl::event> depends = {}) const;

  /// The C++ text of every program that was compiled for this kernel so far, in no order.
  std::vector<std::string> sources() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace usmx
