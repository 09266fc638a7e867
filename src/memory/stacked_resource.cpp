// The common base of resources with an upstream: checks it and forwards to it.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <stdexcept>
#include <utility>

#include "usmx/wait.hpp"

namespace usmx {

stacked_resource::stacked_resource(std::shared_ptr<memory_resource> upstream)
    : upstream_(std::move(upstream)) {
  if (upstream_ == nullptr) throw std::invalid_argument("upstream: is null; expected a resource");
}

void* stacked_resource::request::pass_to(memory_resource& upstream) const {
  return queue == nullptr ? upstream.allocate(bytes, alignment)
                          : upstream.allocate_on(*queue, bytes, alignment, *pending);
}

void stacked_resource::request::undo(memory_resource& upstream, void* p) const noexcept {
  try {
    if (pending != nullptr && *pending) wait(**pending, *queue);
  } catch (...) {  // failed commands have ended too
  }
  upstream.deallocate(p, bytes, alignment);
}

bool stacked_resource::returned_block::pass_to(memory_resource& upstream) const noexcept {
  if (queue != nullptr) return upstream.deallocate_on(*queue, *last, data, bytes, alignment);
  upstream.deallocate(data, bytes, alignment);
  return true;
}

}  // namespace usmx
