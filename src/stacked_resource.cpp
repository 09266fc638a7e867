// What every resource needs that stands on another one: that there is one.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <stdexcept>
#include <utility>

namespace usmx {

stacked_resource::stacked_resource(std::shared_ptr<memory_resource> upstream)
    : upstream_(std::move(upstream)) {
  if (upstream_ == nullptr) throw std::invalid_argument("upstream: null; a resource stands on one");
}

}  // namespace usmx
