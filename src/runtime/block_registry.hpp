// The driver knows only the large allocations of a pool, so an array could exceed its block
// unnoticed. Pools register here what they have divided, and extents are looked up here first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <sycl/context.hpp>

#include "usmx/runtime.hpp"

namespace usmx::detail {

/// An object that divides allocations into blocks.
class block_source {
 public:
  /// The live block around `p`, which lies in an allocation that this source registered; empty if
  /// none is there.
  virtual std::optional<allocation_extent> block_around(const std::byte* p) noexcept = 0;
  virtual usm_kind kind_of_blocks() const noexcept = 0;

 protected:
  ~block_source() = default;
};

/// Registers `source` for these bytes of `context`. May throw std::bad_alloc.
void add_divided(const sycl::context& context, const std::byte* base, std::size_t bytes,
                 block_source& source);
/// Removes it. Returns when no thread queries the source any more.
void remove_divided(const sycl::context& context, const std::byte* base,
                    const block_source& source) noexcept;

/// The answer of the source of the bytes around `p`: unknown kind if there is no live block. Empty
/// if they were not divided; then the driver has to be queried.
std::optional<allocation> find_divided(const void* p, const sycl::context& context) noexcept;

}  // namespace usmx::detail
