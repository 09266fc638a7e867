// Checks ranges when they are made.
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
    throw std::invalid_argument(
        detail::format("global range: has {} dimensions; expected 1, 2 or 3", global.size()));
  }
  rank_ = static_cast<int>(global.size());
  std::ranges::copy(global, global_.begin());
  if (local.empty()) return;
  if (local.size() != global.size()) {
    throw std::invalid_argument(
        detail::format("local range: {} must have as many dimensions as the global range {}",
                       detail::shape_text(local), detail::shape_text(global)));
  }
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (local[k] == 0 || global[k] % local[k] != 0) {
      throw std::invalid_argument(
          detail::format("local range: {} must divide the global range {} in every dimension",
                         detail::shape_text(local), detail::shape_text(global)));
    }
  }
  has_local_ = true;
  std::ranges::copy(local, local_.begin());
}

std::size_t launch_range::size() const noexcept { return global_[0] * global_[1] * global_[2]; }

}  // namespace usmx
