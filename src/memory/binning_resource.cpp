// Small and large requests have different needs: here each range of sizes has its own resource.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/format.hpp"

namespace usmx {

binning_resource::binning_resource(std::shared_ptr<memory_resource> upstream, std::vector<bin> bins)
    : stacked_resource(std::move(upstream)), bins_(std::move(bins)) {
  for (const bin& b : bins_) {
    const std::string of = detail::format("bins: the resource for up to {} bytes ", b.most);
    if (b.resource == nullptr) throw std::invalid_argument(of + "is null");
    if (b.resource->kind() != kind() || b.resource->context() != context() ||
        b.resource->device() != device()) {
      throw std::invalid_argument(of + "has another context, device or kind than the upstream");
    }
  }
  std::ranges::stable_sort(bins_, {}, &bin::most);
}

memory_resource& binning_resource::serving(std::size_t bytes) const noexcept {
  const auto found = std::ranges::lower_bound(bins_, bytes, {}, &bin::most);
  return found == bins_.end() ? *upstream() : *found->resource;
}

void* binning_resource::serve(const request& asked) { return asked.pass_to(serving(asked.bytes)); }

bool binning_resource::take_back(const returned_block& b) noexcept {
  return b.pass_to(serving(b.bytes));
}

}  // namespace usmx
