// The runtime's own queue-ordered allocation, for devices that have it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sycl/aspects.hpp>
#include <sycl/exception.hpp>
#include <sycl/ext/oneapi/experimental/async_alloc/async_alloc.hpp>
#include <sycl/properties/queue_properties.hpp>

#include "memory/allocation_failure.hpp"
#include "memory/pressure.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/usm_names.hpp"
#include "usmx/error.hpp"
#include "usmx/queue_ordered.hpp"
#include "usmx/runtime.hpp"

namespace usmx {

namespace runtime = sycl::ext::oneapi::experimental;

bool has_async_allocation(const sycl::device& device) {
  return device.has(sycl::aspect::ext_oneapi_async_memory_alloc);
}

async_resource::async_resource(sycl::context context, sycl::device device, usm_kind kind)
    : own_(make_queue(context, device, sycl::property::queue::in_order())), kind_(kind) {
  static_cast<void>(detail::to_sycl(kind));
  if (!has_async_allocation(device)) {
    throw device_error(detail::describe(device) +
                       " does not support queue-ordered allocation; use a "
                       "queue_ordered_resource with a pool_resource as its upstream instead");
  }
  detail::submits_to(own_);
}

async_resource::~async_resource() {
  try {
    wait(own_);
  } catch (...) {  // an error here cannot be reported
  }
}

void* async_resource::ask(const sycl::queue& queue, std::size_t bytes, std::size_t alignment) {
  std::string cause;
  const auto attempt = [&]() -> void* {
    const detail::inside_driver inside;
    try {
      return runtime::async_malloc(queue, detail::to_sycl(kind_), std::max<std::size_t>(bytes, 1));
    } catch (const sycl::exception& e) {
      cause = std::string("the runtime says: ") + e.what();
      return nullptr;
    }
  };
  void* p = attempt();
  if (p == nullptr) {
    detail::drain_under_pressure();
    p = attempt();
  }
  if (p != nullptr && reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    runtime::async_free(queue, p);
    p = nullptr;
    cause = "the runtime returned a pointer that is not aligned";
  }
  if (p == nullptr) detail::fail_allocation(bytes, alignment, kind_, device(), cause);
  return p;
}

void* async_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* const p = ask(own_, bytes, alignment);
  // The caller may use it on any queue. Not usmx::wait: a pool calls this with its lock held, which
  // a fork takes after it has closed the gate of usmx::wait. Only allocations run on this queue.
  const detail::inside_driver inside;
  for (const sycl::event there = marker(own_); !is_done(there);) std::this_thread::yield();
  return p;
}

void async_resource::do_deallocate(void* p, std::size_t, std::size_t) noexcept {
  if (detail::driver_is_lost()) return;  // the memory belongs to the parent process
  const detail::inside_driver inside;
  try {
    runtime::async_free(own_, p);
  } catch (...) {  // the context is broken, and its memory went with it
  }
}

void* async_resource::do_allocate_on(const sycl::queue& queue, std::size_t bytes,
                                     std::size_t alignment, std::optional<sycl::event>& pending) {
  const detail::driver_entry inside;
  detail::submits_to(queue);
  void* const p = ask(queue, bytes, alignment);
  sycl::event there = marker(queue);
  if (!is_done(there)) pending = std::move(there);
  return p;
}

bool async_resource::do_deallocate_on(const sycl::queue& queue, const sycl::event&, void* p,
                                      std::size_t, std::size_t) noexcept {
  if (detail::driver_is_lost()) return true;
  const detail::inside_driver inside;
  try {
    runtime::async_free(queue, p);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace usmx
