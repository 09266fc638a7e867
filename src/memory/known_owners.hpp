// Which owner has the memory at an address: memory of ours that comes back from another library
// keeps the one record of its uses, or its arrays would know nothing of each other's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "usmx/memory.hpp"

namespace usmx::detail {

/// The owner that lives and whose address left, if these bytes lie in its memory; else null.
shared_owner find_known(const std::byte* first, std::size_t bytes) noexcept;
/// For the end of an owner that was made known.
void forget_known(const owner& o) noexcept;

}  // namespace usmx::detail
