// What a range must be before it is launched.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/launch_range.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/format.hpp"

namespace usmx {

launch_range::launch_range(std::span<const std::size_t> global,
                           std::span<const std::size_t> local) {
  if (global.empty() || global.size() > 3) {
    throw std::invalid_argument("global range: has " + std::to_string(global.size()) +
                                " dimensions, expected 1, 2 or 3");
  }
  rank_ = static_cast<int>(global.size());
  std::ranges::copy(global, global_.begin());
  if (local.empty()) return;
  if (local.size() != global.size()) {
    throw std::invalid_argument("local range: " + detail::shape_text(local) +
                                " must have as many dimensions " + "as the global range " +
                                detail::shape_text(global));
  }
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (local[k] == 0 || global[k] % local[k] != 0) {
      throw std::invalid_argument("local range: " + detail::shape_text(local) +
                                  " must divide the global range " + detail::shape_text(global) +
                                  " in every dimension");
    }
  }
  has_local_ = true;
  std::ranges::copy(local, local_.begin());
}

std::size_t launch_range::size() const noexcept { return global_[0] * global_[1] * global_[2]; }

}  // namespace usmx
