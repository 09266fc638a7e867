// What the tests of pools ask about an address.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "paper_resource.hpp"
#include "usmx/pool.hpp"
#include "usmx/runtime.hpp"

namespace usmx {

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;

inline std::byte* get(memory_resource& from, std::size_t bytes, std::size_t alignment = 64) {
  return static_cast<std::byte*>(from.allocate(bytes, alignment));
}

inline bool is_live(pool_resource& pool, const void* p, const void* base, std::size_t bytes) {
  const allocation found = describe_allocation(p, pool.context());
  return found.kind == pool.kind() && found.extent && found.extent->base == base &&
         found.extent->bytes == bytes;
}

inline bool is_unknown(pool_resource& pool, const void* p) {
  return describe_allocation(p, pool.context()).kind == usm_kind::unknown &&
         !extent_of(p, pool.context());
}

}  // namespace usmx
