// Scans along one axis: cumulative sums, and the same with any associative function.
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
///
/// Its calls take the axis, which one dimension need not name. Inputs are broadcast, new outputs
/// are in C order. A given output may share memory with an input: it is written after all was read.
class scan_kernel : public expression_kernel_with<std::optional<int>> {
 public:
  /// Throws std::invalid_argument naming the parameter, as parse_parameters does; also if there is
  /// no input that is not raw, if there is no output or a raw one, if a name is used for both, if
  /// an expression is empty, if an exclusive scan has no identity, and if `name` is not an
  /// identifier.
  scan_kernel(std::string_view in_params, std::string_view out_params, scan_text text,
              std::string name = "kernel");

  const scan_text& text() const noexcept;

 private:
  struct state;
  const state& own() const noexcept;
};

}  // namespace usmx
