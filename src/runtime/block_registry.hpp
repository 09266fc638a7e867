// The driver sees the large allocations of a pool, and would let an array run from one block into
// the next. This is where pools say what they have divided, and where extents are looked up first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <sycl/context.hpp>

#include "usmx/runtime.hpp"

namespace usmx::detail {

/// Somebody who hands out parts of an allocation.
class block_source {
 public:
  /// The live block around `p`, which lies in an allocation that this source registered; empty if
  /// none is there.
  virtual std::optional<allocation_extent> block_around(const std::byte* p) noexcept = 0;
  virtual usm_kind kind_of_blocks() const noexcept = 0;

 protected:
  ~block_source() = default;
};

/// From now on `source` answers for these bytes of `context`. May throw std::bad_alloc.
void add_divided(const sycl::context& context, const std::byte* base, std::size_t bytes,
                 block_source& source);
/// Until now. Returns when nobody asks the source any more.
void remove_divided(const sycl::context& context, const std::byte* base,
                    const block_source& source) noexcept;

/// What the source of the bytes around `p` says: of unknown kind if no block is alive there. Empty
/// if nobody divided them, which leaves the question to the driver.
std::optional<allocation> find_divided(const void* p, const sycl::context& context) noexcept;

}  // namespace usmx::detail
