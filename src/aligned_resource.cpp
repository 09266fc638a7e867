// Alignment that a program relies on everywhere is asked for in one place.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace usmx {

aligned_resource::aligned_resource(std::shared_ptr<memory_resource> upstream, std::size_t least,
                                   std::size_t from)
    : stacked_resource(std::move(upstream)), least_(least), from_(from) {
  if (!std::has_single_bit(least)) {
    throw std::invalid_argument("least: " + std::to_string(least) + " is not a power of two");
  }
}

std::size_t aligned_resource::alignment_of(std::size_t bytes, std::size_t asked) const noexcept {
  return bytes < from_ ? asked : std::max(asked, least_);
}

void* aligned_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  return upstream()->allocate(bytes, alignment_of(bytes, alignment));
}

void aligned_resource::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
  upstream()->deallocate(p, bytes, alignment_of(bytes, alignment));
}

}  // namespace usmx
