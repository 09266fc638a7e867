// The kernel of values that are computed together: its text, its operands, and what it stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compute/expression_form.hpp"
#include "compute/value.hpp"
#include "usmx/operations.hpp"

namespace usmx::detail {

/// What is joined, and how.
struct element_reduction {
  shared_value elements;  // those of one shape, for all that a kernel reduces
  const value_reduction& how;
};

/// Of the elements of a value.
std::size_t bytes_of(const value& v) noexcept;

/// The kernels that computing a value would run, and the names of what they compute.
struct kernel_plan {
  std::vector<planned_kernel> kernels = {};
  std::unordered_map<const value*, std::string> names = {};
};

/// The kernel of a value, or of reductions along the same axes: its text, what it is called with,
/// and which values it computes.
class fused_kernel {
 public:
  /// After `compute_repeated`: nothing that the text is made of is computed while it is written.
  explicit fused_kernel(value& root) : queue_(root.queue_), shape_(root.shape_), stored_(&root) {
    place_of(root);
  }
  explicit fused_kernel(std::vector<element_reduction>&& reductions);
  fused_kernel(const fused_kernel&) = delete;
  fused_kernel& operator=(const fused_kernel&) = delete;
  ~fused_kernel();

  /// Computes the root, and the other values that are seen; with `out` only the root, into that.
  void run(const array* out = nullptr);
  /// Computes what the root repeats for each element that it is broadcast to. Commands on the same
  /// memory may compute other values of the expression on the way, and the root itself.
  static void compute_repeated(value& root) { compute_repeated(root, true); }
  static bool has_repeated(const value& root) { return repeated_in(root, true) != nullptr; }
  /// The same for what is reduced: numbers that count up are among it if some operand shows how
  /// many there are.
  static void compute_repeated(value& root, const reduction_axes& axes);
  /// Joins elements as they are computed. `out` is for a single reduction.
  std::vector<array> reduce(const reduction_axes& axes, const array* out = nullptr);
  /// Computes nothing: adds what computing `v` runs, and gives the name of the result.
  static std::string plan(value& v, kernel_plan& plan);

 private:
  fused_kernel(value& root, kernel_plan& plan);
  fused_kernel(std::vector<element_reduction>&& reductions, bool counts, kernel_plan* plan);

  std::vector<operand> operands() const;
  /// A value that is not computed and has to be before: one of another shape than the root's, a
  /// reduction, a view that shares memory; numbers that count up if `counts` is false.
  static shared_value repeated_in(const value& root, bool counts);
  static shared_value repeated_in(const value& v, const extents& shape, bool counts,
                                  visited_values& known);
  std::string planned_name(value& v);

  using place = expression_form::place;

  /// Where an operand or a value is in the form; what it is made of comes before it.
  place place_of(value& v);
  place place_of_view(value& v);
  place place_of(const array& a);
  place place_of(const operand& number, const dtype& as);
  place place_of(const source& s, const dtype& as);
  place planned_place(value& v);
  static void compute_repeated(value& root, bool counts);
  /// How a value lies if each operation on the way leaves a result in memory: the order that a line
  /// of operations has in NumPy.
  const layout& layout_of(const value& v);
  array empty_for(const value& v);
  const place* known_place(const value& v) const noexcept;
  void describe();

  sycl::queue queue_;
  extents shape_;
  value* stored_ = nullptr;  // the root; reductions store no value on the way
  std::vector<element_reduction> reductions_;
  bool counts_ = true;  // numbers that count up are made where they are needed
  kernel_plan* plan_ = nullptr;
  std::size_t planned_bytes_ = 0;  // of operands that are not computed yet
  expression_form form_;
  std::vector<array> arrays_;
  std::vector<std::pair<int, operand>> operands_;  // the number of an array, or -1 and a number
  std::vector<std::pair<value*, place>> places_;
  std::vector<value*> computed_;
  std::unordered_set<const value*> planned_;
  std::unordered_map<const value*, layout> layouts_;
  std::unordered_map<value*, shared_value> in_place_;  // of views whose base is not computed
};

}  // namespace usmx::detail
