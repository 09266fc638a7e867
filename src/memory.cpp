// Turns a size, an alignment and a kind into USM and back: the one place that frees what SYCL
// allocated, and the cache of resources that makes all libraries of a process draw from one source.
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
#include "recent_resources.hpp"
#include "traced_queue.hpp"
#include "usmx/error.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

sycl::usm::alloc to_sycl(usm_kind kind) {
  switch (kind) {
    case usm_kind::host:
      return sycl::usm::alloc::host;
    case usm_kind::device:
      return sycl::usm::alloc::device;
    case usm_kind::shared:
      return sycl::usm::alloc::shared;
    case usm_kind::unknown:
      break;
  }
  throw std::invalid_argument("kind: unknown is not a kind of USM; pass host, device or shared");
}

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
  static_cast<void>(to_sycl(kind));
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
    try {
      return sycl::aligned_alloc(alignment, asked, device_, context_, to_sycl(kind_));
    } catch (const sycl::exception& e) {
      cause = e.what();
      return nullptr;
    }
  };
  void* p = attempt();
  if (p == nullptr) {
    drain();  // what was put aside may be all that is missing
    p = attempt();
  }
  if (p == nullptr) detail::fail_allocation(bytes, alignment, kind_, device_, cause);
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    // Seen with sizes that no device has; a kernel that trusts the alignment would crash later.
    do_deallocate(p, bytes, alignment);
    detail::fail_allocation(bytes, alignment, kind_, device_,
                            "the pointer it returned is not aligned");
  }
  record.at(p);
  return p;
}

void usm_resource::do_deallocate(void* p, std::size_t bytes, std::size_t) noexcept {
  const traced record(trace_action::driver_free, [&] {
    return detail::traced_on(device_, {.bytes = bytes, .address = p, .kind = kind_});
  });
  try {
    sycl::free(p, context_);
  } catch (...) {  // the context is broken, and its memory went with it
  }
}

namespace {

struct cached_resource {
  sycl::context context;
  sycl::device device;
  usm_kind kind;
  std::shared_ptr<memory_resource> resource;
  bool chosen;  // by set_default_resource: somebody wants that one, so it is not forgotten
};

/// Few enough to search in order, enough for every device and kind of a large machine.
constexpr std::size_t most_resources = 64;

struct resource_cache {
  detail::recent_resources recent;
  std::mutex mutex;
  std::vector<cached_resource> entries;  // the least recently made first

  cached_resource* find(const sycl::context& context, const sycl::device& device, usm_kind kind) {
    const auto found = std::ranges::find_if(entries, [&](const cached_resource& entry) {
      return entry.kind == kind && entry.device == device && entry.context == context;
    });
    return found == entries.end() ? nullptr : &*found;
  }
};

resource_cache& resources() {
  // Never destroyed: arrays may outlive every static object, and the runtime may be gone by then.
  static auto* const cache = new resource_cache;
  return *cache;
}

}  // namespace

std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind) {
  resource_cache& cache = resources();
  if (auto known = cache.recent.find(queue, kind)) return known;
  sycl::context context = queue.get_context();
  sycl::device device = queue.get_device();
  // These end after the lock: they may free.
  std::shared_ptr<memory_resource> forgotten;
  detail::recent_resources::entry recent;
  detail::recent_resources::entries all_recent;
  const std::scoped_lock lock(cache.mutex);
  if (const cached_resource* const found = cache.find(context, device, kind)) {
    recent = cache.recent.keep(queue, kind, found->resource);
    return found->resource;
  }
  auto made = std::make_shared<usm_resource>(context, device, kind);
  if (cache.entries.size() >= most_resources) {
    const auto oldest = std::ranges::find(cache.entries, false, &cached_resource::chosen);
    if (oldest != cache.entries.end()) {
      forgotten = std::move(oldest->resource);
      all_recent = cache.recent.forget();
      cache.entries.erase(oldest);
    }
  }
  cache.entries.push_back({std::move(context), std::move(device), kind, made, false});
  return made;
}

std::shared_ptr<memory_resource> set_default_resource(std::shared_ptr<memory_resource> resource) {
  if (resource == nullptr) throw std::invalid_argument("resource: null; pass one");
  sycl::context context = resource->context();
  sycl::device device = resource->device();
  const usm_kind kind = resource->kind();
  resource_cache& cache = resources();
  detail::recent_resources::entries recent;  // ends after the lock
  const std::scoped_lock lock(cache.mutex);
  recent = cache.recent.forget();
  if (cached_resource* const found = cache.find(context, device, kind)) {
    found->chosen = true;
    return std::exchange(found->resource, std::move(resource));
  }
  cache.entries.push_back({std::move(context), std::move(device), kind, std::move(resource), true});
  return nullptr;
}

std::vector<std::shared_ptr<memory_resource>> default_resources() {
  resource_cache& cache = resources();
  std::vector<std::shared_ptr<memory_resource>> found;
  const std::scoped_lock lock(cache.mutex);
  for (const cached_resource& entry : cache.entries) found.push_back(entry.resource);
  return found;
}

}  // namespace usmx
