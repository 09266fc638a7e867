// Kernels that make a running total, or whatever else two numbers are joined to, along one axis.
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

/// The expressions of a scan. In `map` the inputs are constants, `i` is the number of the element
/// along the axis and `n` how many there are. `scan` joins `a`, what came before, and `b`.
/// `post_map` assigns the outputs from `a`, what was joined up to this element, with the same `i`
/// and `n`.
struct scan_text {
  std::string map;
  /// Must be associative; the elements keep their order.
  std::string scan;
  /// By default "y = a" for an only output y.
  std::string post_map = {};
  /// What stands before the first element of an exclusive scan, as C++; others need none.
  std::optional<std::string> identity = {};
  /// Each output is of the elements before its own, not of its own too.
  bool exclusive = false;
  /// What `a` and `b` are: a placeholder, a type of NumPy or of C++, a structure of the preamble
  /// (at most 32 bytes, no constructor). By default the type of the first output.
  std::string scan_type = {};
  /// C++ before the kernel: functions, types, macros.
  std::string preamble = {};
  /// For the compiler, such as "-DN=8".
  std::vector<std::string> options = {};
};

/// `scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"})`, then
/// `array sums = running(queue, {x})`.
///
/// Long axes are cut into chunks: their totals first, the totals' totals, then every element. No
/// group waits for another one. Results are the same from run to run.
/// A program is compiled for each list of types and kind of layout, once in a process and once on
/// the machine. Cheap to copy, thread-safe.
class scan_kernel {
 public:
  /// Throws std::invalid_argument naming the parameter, as parse_parameters does; also if there is
  /// no input that is not raw, if there is no output or a raw one, if a name is used for both, if
  /// an expression is empty, if an exclusive scan has no identity, and if `name` is no identifier.
  scan_kernel(std::string_view in_params, std::string_view out_params, scan_text text,
              std::string name = "kernel");

  std::span<const expression_parameter> inputs() const noexcept;
  std::span<const expression_parameter> outputs() const noexcept;
  const std::string& name() const noexcept;
  const scan_text& text() const noexcept;

  /// One array for the only output, allocated as `strongest_kind` says, in C order. Throws as
  /// `enqueue` does, and std::invalid_argument if there are several outputs.
  array operator()(sycl::queue& queue, std::initializer_list<operand> inputs,
                   std::optional<int> axis = {}) const;

  /// Scans along `axis`, which one dimension need not name, into `outputs`, of which those without
  /// a `given` array are made. Inputs are broadcast. A given output may share memory with an input:
  /// it is written after all was read. Returns the event of the last command; commands on other
  /// queues are waited for only if in `depends`. Throws std::invalid_argument (number of operands,
  /// axis, shapes, contexts, outputs that overlap), interop_error (dtype_mismatch, read_only),
  /// std::overflow_error (a number that does not fit), build_error, allocation_error.
  sycl::event enqueue(sycl::queue& queue, std::span<const operand> inputs,
                      std::span<expression_output> outputs, std::optional<int> axis = {},
                      std::span<const sycl::event> depends = {}) const;

  /// The C++ text of every program that was compiled for this kernel so far, in no order.
  std::vector<std::string> sources() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace usmx
