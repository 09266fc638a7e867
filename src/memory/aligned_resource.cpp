// One place to request an alignment that a program relies on everywhere.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/format.hpp"

namespace usmx {

aligned_resource::aligned_resource(std::shared_ptr<memory_resource> upstream, std::size_t least,
                                   std::size_t from)
    : stacked_resource(std::move(upstream)), least_(least), from_(from) {
  if (!std::has_single_bit(least)) {
    throw std::invalid_argument(
        detail::format("least: {} is not supported; expected a power of two", least));
  }
}

std::size_t aligned_resource::alignment_of(std::size_t bytes, std::size_t asked) const noexcept {
  return bytes < from_ ? asked : std::max(asked, least_);
}

void* aligned_resource::serve(const request& asked) {
  request aligned = asked;
  aligned.alignment = alignment_of(asked.bytes, asked.alignment);
  return aligned.pass_to(*upstream());
}

bool aligned_resource::take_back(const returned_block& b) noexcept {
  returned_block aligned = b;
  aligned.alignment = alignment_of(b.bytes, b.alignment);
  return aligned.pass_to(*upstream());
}

}  // namespace usmx
