// Turns a size, an alignment and a kind into USM and back: the one place that frees what SYCL
// allocated.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <sycl/aspects.hpp>
#include <sycl/exception.hpp>
#include <sycl/usm.hpp>

#include "allocation_failure.hpp"
#include "driver_gate.hpp"
#include "holdings.hpp"
#include "traced_queue.hpp"
#include "usm_names.hpp"
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
  throw std::invalid_argument("alignment: " + std::to_string(alignment) + " is not a power of two");
}

usm_resource::usm_resource(sycl::context context, sycl::device device, usm_kind kind)
    : context_(std::move(context)), device_(std::move(device)), kind_(kind) {
  static_cast<void>(detail::to_sycl(kind));
  if (!device_.has(aspect_of(kind))) {
    throw device_error(detail::describe(device_) + " has no USM of kind " + name(kind));
  }
}

void* usm_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  // SYCL leaves open what zero bytes give; one byte is a pointer like any other.
  const std::size_t asked = std::max<std::size_t>(bytes, 1);
  traced record(trace_action::driver_allocate,
                [&] { return detail::traced_on(device_, {.bytes = bytes, .kind = kind_}); });
  std::string cause;
  const auto attempt = [&]() -> void* {
    const detail::inside_driver inside;
    try {
      return sycl::aligned_alloc(alignment, asked, device_, context_, detail::to_sycl(kind_));
    } catch (const sycl::exception& e) {
      cause = std::string("the runtime says: ") + e.what();
      return nullptr;
    }
  };
  void* p = attempt();
  if (p == nullptr) {
    drain();  // what was put aside may be all that is missing
    p = attempt();
  }
  // Pools of other kinds may hold what is missing: a device has one memory.
  if (p == nullptr && trim_default_resources() != 0) p = attempt();
  if (p == nullptr) {
    detail::fail_allocation(bytes, alignment, kind_, device_, cause, detail::holdings(device_));
  }
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    // Seen with sizes that no device has; a kernel that trusts the alignment would crash later.
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
  const detail::inside_driver inside;
  try {
    sycl::free(p, context_);
  } catch (...) {  // the context is broken, and its memory went with it
  }
}

}  // namespace usmx
