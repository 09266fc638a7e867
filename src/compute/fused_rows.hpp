// Values that join the elements of rows and go on with the same rows: one kernel computes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/expression_form.hpp"
#include "compute/fused_kernel.hpp"
#include "compute/value.hpp"
#include "expression/row_kernel.hpp"

namespace usmx::detail {

/// `x - x.mean(axis=-1, keepdims=True)`, softmax, the norm of layers: reductions along the last
/// axis, which keep it, of elements that are used again with what comes out.
///
/// Used with `computing` locked.
class fused_rows {
 public:
  /// Whether one kernel computes a value with reductions on the way.
  static bool takes(value& root) { return root.has_reductions() && fused_rows(root).fits_; }
  /// Computes such a value, and others on the way that are seen or used elsewhere.
  static bool compute(value& root);
  /// Adds what `compute` runs, and gives the name of the result.
  static std::optional<std::string> plan(value& root, kernel_plan& plan);

  fused_rows(const fused_rows&) = delete;
  fused_rows& operator=(const fused_rows&) = delete;
  ~fused_rows();

 private:
  using place = expression_form::place;
  explicit fused_rows(value& root);

  /// What is known of a step besides its operation.
  struct step {
    value* of;
    bool in_rows;
    /// How many stages come before it.
    int level;
    /// What is joined, of a reduction.
    place elements = {};
  };
  struct input {
    int array;  // its number, or -1 for a number
    operand number;
    bool in_rows;
  };

  row_shape whole() const;
  std::optional<place> place_of(value& v);
  std::optional<place> place_of(const source& s, const dtype& as);
  std::optional<place> place_of(const array& a);
  bool in_rows(const place& p) const;
  int level(const place& p) const;
  void add_outputs();

  row_text text() const;
  row_text::stage stage(int number, std::string& preamble) const;
  /// The steps of elements that a stage joins, or that are stored at the end.
  std::vector<bool> needed_by(int stage) const;
  /// The lines of elements that some steps need, after those that are known of a row.
  std::string lines_for(std::vector<bool>&& needed, int level) const;
  /// What elements need in each stage and at the end, and so which of it earlier stages have.
  struct needs {
    std::vector<std::vector<bool>> computed, taken;  // steps
    std::vector<bool> kept;
    std::vector<row_text::stages_of_input> inputs;
  };
  needs all_needs() const;
  std::string lines_in_hand(const needs& all, std::size_t stage) const;
  /// Variables for what is known of a row.
  std::string known_variables(int level) const;
  void run();
  planned_kernel describe() const;

  value& root_;
  extents shape_, row_shape_;
  bool fits_ = false;
  int stages_ = 0;
  expression_form form_;
  std::vector<step> steps_;
  std::vector<input> inputs_;
  std::vector<array> arrays_;
  std::vector<std::size_t> outputs_;  // steps
};

}  // namespace usmx::detail
