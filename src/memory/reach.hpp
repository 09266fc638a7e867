// Which device can access which memory, and the extent of an allocation: rules that need several
// devices or another vendor's driver, so they take the answers as parameters and can be tested
// without them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <sycl/device.hpp>
#include <sycl/queue.hpp>

#include "runtime/cuda_driver.hpp"
#include "usmx/array.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {

/// The same device, or one is a sub-device of the other: sub-devices can access parents' memory.
bool is_one_device(const sycl::device& a, const sycl::device& b);

/// Whether a kernel on `worker` can access memory that was allocated for `home`, in one context.
/// It cannot access device memory of another device: on two GPUs such a kernel never ended, or
/// ended with an error of the driver.
inline bool is_within_reach(usm_kind kind, const sycl::device& home, const sycl::device& worker) {
  return kind != usm_kind::device || is_one_device(home, worker);
}

/// Throws placement_error that begins with `what`, names both devices, and says how to copy
/// the memory, unless it is accessible.
void require_within_reach(const std::string& what, usm_kind kind, const sycl::device& home,
                          const sycl::device& worker);

/// The queue for work on memory that was described together with `named`: this one, or one of the
/// same context on the memory's own device where `named` is a queue of another.
sycl::queue queue_near(const sycl::queue& named, usm_kind kind, const sycl::device& home);
/// The same after querying the context for the memory's device, if it has several.
sycl::queue queue_near(const sycl::queue& named, usm_kind kind, const void* data);

/// `known` and the adjacent ranges up to [first, last), if each begins where the previous one
/// ends: an allocation may consist of several mappings. `ask(p)` returns the range that begins
/// at or around `p`, or nothing.
template <class Ask>
allocation_extent continued(allocation_extent known, const std::byte* first, const std::byte* last,
                            Ask ask) {
  while (known.base + known.bytes < last) {
    const std::optional<allocation_extent> next = ask(known.base + known.bytes);
    if (!next || next->base != known.base + known.bytes || next->bytes == 0) break;
    known.bytes += next->bytes;
  }
  while (first < known.base) {
    const std::optional<allocation_extent> before = ask(known.base - 1);
    if (!before || before->bytes == 0 || before->base + before->bytes != known.base) break;
    known.base = before->base;
    known.bytes += before->bytes;
  }
  return known;
}

/// The allocation around `p` by the first of these devices that knows it (extent.cpp).
std::optional<allocation_extent> cuda_extent(const void* p,
                                             std::span<const cuda_driver::device> devices,
                                             const cuda_driver& driver);
/// `known`, continued over adjacent mappings that the program made itself.
allocation_extent cuda_mapped_extent(allocation_extent known, const std::byte* first,
                                     const std::byte* last,
                                     std::span<const cuda_driver::device> devices,
                                     const cuda_driver& driver);
/// `known`, which the driver gave, continued over its other mappings (extent.cpp).
allocation_extent mapped_extent(allocation_extent known, const std::byte* first,
                                const std::byte* last, const sycl::context& context) noexcept;

/// Whether one question to the driver shows that one allocation of the context has the bytes
/// [first, last), which are at least one. False also where more has to be asked (extent.cpp).
bool lies_in_one_allocation(const std::byte* first, const std::byte* last,
                            const sycl::context& context) noexcept;

/// What a context knows of a run of bytes.
struct described_bytes {
  usm_kind kind = usm_kind::unknown;
  /// One allocation has all of them.
  bool is_inside = false;
  /// That of the byte that was asked for; empty if all lie inside, or the driver cannot report it.
  std::optional<allocation_extent> extent = {};
};
/// The bytes [first, last), at least one, of which `data` is one: `describe_allocation` with one
/// question less for those that lie inside (extent.cpp).
described_bytes describe_bytes(const void* data, const std::byte* first, const std::byte* last,
                               const sycl::context& context) noexcept;

}  // namespace usmx::detail
