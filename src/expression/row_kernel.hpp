// Kernels over rows: the elements of each row are joined, what comes out is used with the same
// elements, and so on, in one launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "usmx/dtype.hpp"
#include "usmx/expression.hpp"

namespace usmx::detail {

/// The C++ of such a kernel. Inputs that are the same for a row are members `_at.x` of what is
/// known of it, those of elements are variables `x`; `n` is the length of a row.
struct row_text {
  /// Joins elements of each row.
  struct stage {
    /// The type of `a` and `b`, and its size at most.
    std::string value_type;
    std::size_t value_bytes = 0;
    /// Statements, and the value of an element.
    std::string lines, value;
    /// The same where items keep what they have of a row: `_k` is the number of an element there.
    std::string lines_in_hand;
    /// A value of `a` and `b`.
    std::string join;
    /// Local memory for what comes out of `_slots` rows, and statements that store it at `_slot`
    /// from `a`.
    std::string declared, stores;
  };

  std::string preamble;
  /// Members of what is known of a row, besides its inputs.
  std::string members;
  /// For each stage and for the end: statements that fill these members, in the place `_slot`.
  std::vector<std::string> known;
  std::vector<stage> stages;
  /// At the end, for each element and for each row; empty if there is nothing to store.
  std::string lines, row_lines;

  /// The lines where items keep what they have of a row. Variables that a later stage has from an
  /// earlier one are elements `_k` of arrays with an underscore before their names.
  std::string lines_in_hand;
  struct kept_variable {
    dtype type;
    std::string name;
    /// The stage that computes it and the last that has it.
    std::size_t first, last;
  };
  std::vector<kept_variable> kept;
  /// The first stage and the last that each input of elements is needed for; the end comes after
  /// all stages.
  struct stages_of_input {
    std::size_t first, last;
  };
  std::vector<stages_of_input> used;
};

/// The rows of a call.
struct row_shape {
  /// Lengths of the axes that are not joined, and of the one that is, the innermost.
  std::vector<std::int64_t> outer;
  std::int64_t length = 0;

  std::int64_t rows() const noexcept;
};

class row_kernel {
 public:
  /// `in_rows` and `out_rows` say which inputs and outputs have one element for a row.
  row_kernel(std::string_view in_params, std::string_view out_params, std::vector<bool> in_rows,
             std::vector<bool> out_rows, row_text text, std::string name);

  /// Whether rows of such a shape can be joined on the device of the queue, in the order of a
  /// reduction alone.
  static bool takes(const sycl::queue& queue, const row_shape& shape);
  /// Whether a kernel has memory for the values of so many reductions.
  static bool joins(const sycl::queue& queue, std::ptrdiff_t reductions);

  /// Computes into arrays in C order that share no memory with the inputs. Those of elements are
  /// neighbours in each row.
  void submit(const sycl::queue& queue, std::span<const operand> in, std::span<const array> out,
              const row_shape& shape) const;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

}  // namespace usmx::detail
