// Allocates USM of a size, an alignment and a kind, and frees it: the only place that calls
// sycl::free.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/memory_resource.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include <sycl/aspects.hpp>
#include <sycl/exception.hpp>
#include <sycl/usm.hpp>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pressure.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "runtime/usm_names.hpp"
#include "usmx/error.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

sycl::aspect aspect_of(usm_kind kind) {
  switch (kind) {
    case usm_kind::host:
      return sycl::aspect::usm_host_allocations;
    case usm_kind::shared:
      return sycl::aspect::usm_shared_allocations;
    default:
      return sycl::aspect::usm_device_allocations;
  }
}

}  // namespace

void memory_resource::refuse_alignment(std::size_t alignment) {
  throw std::invalid_argument(
      detail::format("alignment: {} is not supported; expected a power of two", alignment));
}

/// The base addresses of the driver's blocks, by the addresses of ours inside them. The driver
/// cannot be queried for that: its own pools may divide what it calls an allocation. Locked inside
/// of the driver's gate only, so that it is never locked at a fork.
struct usm_resource::shifted_blocks {
  std::mutex mutex;
  std::unordered_map<void*, void*> bases;

  /// The first multiple of `alignment` in the block at `base`, which has room for it.
  void* add(void* base, std::size_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    void* const p = static_cast<std::byte*>(base) + (alignment - address % alignment) % alignment;
    const std::scoped_lock lock(mutex);
    bases.emplace(p, base);
    return p;
  }
  /// What is to be freed for `p`.
  void* take(void* p) noexcept {
    const std::scoped_lock lock(mutex);
    const auto found = bases.find(p);
    if (found == bases.end()) return p;
    void* const base = found->second;
    bases.erase(found);
    return base;
  }
};

usm_resource::usm_resource(sycl::context context, sycl::device device, usm_kind kind)
    : usm_resource(std::move(context), device, kind, detail::backend_of(device).most_alignment) {}

usm_resource::usm_resource(sycl::context context, sycl::device device, usm_kind kind,
                           std::size_t most_alignment)
    : context_(std::move(context)),
      device_(std::move(device)),
      kind_(kind),
      most_alignment_(most_alignment) {
  if (most_alignment_ != std::numeric_limits<std::size_t>::max()) {
    shifted_ = std::make_unique<shifted_blocks>();
  }
  static_cast<void>(detail::to_sycl(kind));
  if (!device_.has(aspect_of(kind))) {
    throw device_error(
        detail::format("{} does not support {} USM", detail::describe(device_), name(kind)));
  }
}

usm_resource::~usm_resource() = default;

void* usm_resource::from_driver(std::size_t bytes, std::size_t alignment) {
  const auto ask = [&](std::size_t size, std::size_t aligned) {
    return sycl::aligned_alloc(aligned, size, device_, context_, detail::to_sycl(kind_));
  };
  // Large blocks have pages of their own, and with them the alignment of pages.
  constexpr std::size_t large = 2 << 20;
  const bool is_enough = alignment <= most_alignment_ || bytes >= large;
  void* p = is_enough ? ask(bytes, alignment) : nullptr;
  if (p != nullptr || alignment <= most_alignment_) return p;
  if (alignment > std::numeric_limits<std::size_t>::max() - bytes) return nullptr;
  p = ask(bytes + alignment, most_alignment_);
  if (p == nullptr) return nullptr;
  try {
    return shifted_->add(p, alignment);
  } catch (...) {
    to_driver(p);
    throw;
  }
}

void usm_resource::to_driver(void* p) noexcept {
  try {
    sycl::free(p, context_);
  } catch (...) {  // the context is broken, and its memory went with it
  }
}

void* usm_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  // In SYCL the result for zero bytes is unspecified; one byte gives a valid pointer.
  const std::size_t asked = std::max<std::size_t>(bytes, 1);
  traced record(trace_action::driver_allocate,
                [&] { return detail::traced_on(device_, {.bytes = bytes, .kind = kind_}); });
  std::string cause;
  const auto attempt = [&]() -> void* {
    const detail::inside_driver inside;
    try {
      return from_driver(asked, alignment);
    } catch (const sycl::exception& e) {
      cause = std::string("the runtime says: ") + e.what();
      return nullptr;
    }
  };
  void* p = attempt();
  if (p == nullptr) {
    detail::drain_under_pressure();  // deferred frees may be all that is missing
    p = attempt();
  }
  // Pools of other kinds may hold the missing memory: a device has one memory.
  if (p == nullptr && detail::trim_under_pressure() != 0) p = attempt();
  if (p == nullptr) {
    detail::fail_allocation(bytes, alignment, kind_, device_, cause, detail::holdings(device_));
  }
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    // Seen with sizes that no device has; a kernel that relies on the alignment would crash later.
    do_deallocate(p, bytes, alignment);
    detail::fail_allocation(bytes, alignment, kind_, device_,
                            "the runtime returned a pointer that is not aligned");
  }
  record.at(p);
  return p;
}

void usm_resource::do_deallocate(void* p, std::size_t bytes, std::size_t) noexcept {
  const traced record(trace_action::driver_free, [&] {
    return detail::traced_on(device_, {.bytes = bytes, .address = p, .kind = kind_});
  });
  if (detail::driver_is_lost()) return;  // the memory belongs to the parent process
  const detail::inside_driver inside;
  to_driver(shifted_ ? shifted_->take(p) : p);
}

}  // namespace usmx
