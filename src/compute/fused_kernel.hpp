// The kernel of values that are computed together: its text, its operands, and what it stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compute/value.hpp"
#include "usmx/operations.hpp"

namespace usmx::detail {

/// The kernel of a value: its text, what it is called with, and which values it computes.
class fused_kernel {
 public:
  /// After `compute_repeated`: nothing that the text is made of is computed while it is written.
  explicit fused_kernel(value& root) : root_(root) { name_of(root); }
  fused_kernel(const fused_kernel&) = delete;
  fused_kernel& operator=(const fused_kernel&) = delete;
  ~fused_kernel() {
    std::vector<source> arrays;
    for (array& a : arrays_) arrays.emplace_back(std::move(a));
    for (auto& [v, part] : in_place_) arrays.emplace_back(std::move(part));
    computing::drop(std::move(arrays));
  }
  /// Computes nothing: what is needed first is added to `plan`, and then this.
  fused_kernel(value& root, std::vector<planned_kernel>& plan) : root_(root), plan_(&plan) {
    name_of(root);
    describe();
  }

  /// Computes the root, and the other values that are seen; with `out` only the root, into that.
  void run(const array* out = nullptr);
  /// Computes what the root repeats for each element that it is broadcast to. Commands on the same
  /// memory may compute other values of the expression on the way, and the root itself.
  static void compute_repeated(value& root);
  /// Computes the root on the way of a reduction.
  array reduce(const value_reduction& how, const reduction_axes& axes, const array* out);

 private:
  std::vector<operand> operands() const;
  /// A value that is not computed and has to be before: one of another shape than the root's, a
  /// view that shares memory.
  static shared_value repeated_in(const value& v, const extents& shape);
  std::string planned_name(value& v);

  /// The variable of a value; its lines are written first.
  std::string name_of(value& v);
  std::string name_of_view(value& v);
  std::string name_of(const array& a);
  std::string name_of(const operand& number, const dtype& as);
  std::string source_text(const source& s, const dtype& as);
  void add_input(const dtype& type, const std::string& name);
  void describe();

  value& root_;
  std::vector<planned_kernel>* plan_ = nullptr;
  std::size_t planned_bytes_ = 0;  // of operands that are not computed yet
  std::string lines_, inputs_, outputs_, ends_;
  std::string declared_, passed_;  // the same inputs for a function in C++
  std::vector<array> arrays_;
  std::vector<std::pair<int, operand>> operands_;  // the number of an array, or -1 and a number
  std::unordered_map<value*, std::string> names_;
  std::vector<value*> computed_;
  std::unordered_map<value*, std::string> planned_;
  std::unordered_map<value*, shared_value> in_place_;  // of views whose base is not computed
};

}  // namespace usmx::detail
