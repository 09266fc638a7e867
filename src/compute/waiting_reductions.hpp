// Reductions that wait for others of the same data: one kernel computes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "compute/value.hpp"

namespace usmx::detail {

/// The reductions that one kernel will compute, along the same axes of elements that are made of
/// the same arrays. There is one such group, or one after the other where each is made of what an
/// earlier one gives and one kernel over rows may compute them all: another reduction starts anew,
/// and what waits is computed. So results of a loop over large arrays do not keep all of these
/// alive.
///
/// Used with `computing` locked.
class waiting_reductions {
 public:
  static void add(const shared_value& reduction);
  /// All that wait together with a reduction, itself among them.
  static std::vector<shared_value> with(const shared_value& reduction);

 private:
  using group = std::vector<std::weak_ptr<value>>;
  static std::vector<shared_value> left_of(const group& waiting);
  static std::vector<group>& list();
};

}  // namespace usmx::detail
