// Turns a size, an alignment and a kind into USM and back: the one place that frees what SYCL
// allocated, and the cache of resources that makes all libraries of a process draw from one source.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <sycl/aspects.hpp>
#include <sycl/exception.hpp>
#include <sycl/usm.hpp>

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

/// "1536 bytes (1.5 KiB)": people compare the second form, programs the first.
std::string amount(std::size_t bytes) {
  std::string text = std::to_string(bytes) + " bytes";
  if (bytes < 1024) return text;
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> scaled{};
  std::snprintf(scaled.data(), scaled.size(), " (%.1f %s)", value, units[unit]);
  return text + scaled.data();
}

/// "opencl:cpu:0 (name of the device)"; what cannot be asked is left out rather than thrown.
std::string describe(const sycl::device& device) {
  std::string text;
  std::string product;
  try {
    text = filter_string(device);
  } catch (...) {  // a device that is gone still deserves an error about the allocation
  }
  try {
    product = device.get_info<sycl::info::device::name>();
  } catch (...) {
  }
  if (text.empty()) return product.empty() ? "a device without a name" : product;
  return product.empty() ? text : text + " (" + product + ")";
}

[[noreturn]] void fail(std::size_t bytes, std::size_t alignment, usm_kind kind,
                       const sycl::device& device, const std::string& cause) {
  std::string text = "cannot allocate " + amount(bytes) + " of " + name(kind) +
                     " USM, aligned to " + std::to_string(alignment) + ", on " + describe(device);
  if (const auto free = free_memory(device)) text += "; free there: " + amount(*free);
  try {
    const auto limit = device.get_info<sycl::info::device::max_mem_alloc_size>();
    if (bytes > limit) text += "; the most it gives at once: " + amount(limit);
  } catch (...) {
  }
  if (!cause.empty()) text += "; the runtime says: " + cause;
  throw allocation_error(bytes, std::move(text));
}

}  // namespace

void* memory_resource::allocate(std::size_t bytes, std::size_t alignment) {
  if (!std::has_single_bit(alignment)) {
    throw std::invalid_argument("alignment: " + std::to_string(alignment) +
                                " is not a power of two");
  }
  return do_allocate(bytes, alignment);
}

void memory_resource::deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
  if (p != nullptr) do_deallocate(p, bytes, alignment);
}

usm_resource::usm_resource(sycl::context context, sycl::device device, usm_kind kind)
    : context_(std::move(context)), device_(std::move(device)), kind_(kind) {
  static_cast<void>(to_sycl(kind));
  if (!device_.has(aspect_of(kind))) {
    throw device_error(describe(device_) + " has no USM of kind " + name(kind));
  }
}

void* usm_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  // SYCL leaves open what zero bytes give; one byte is a pointer like any other.
  const std::size_t asked = std::max<std::size_t>(bytes, 1);
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
  if (p == nullptr) fail(bytes, alignment, kind_, device_, cause);
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    // Seen with sizes that no device has; a kernel that trusts the alignment would crash later.
    do_deallocate(p, bytes, alignment);
    fail(bytes, alignment, kind_, device_, "the pointer it returned is not aligned");
  }
  return p;
}

void usm_resource::do_deallocate(void* p, std::size_t, std::size_t) noexcept {
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
};

/// Few enough to search in order, enough for every device and kind of a large machine.
constexpr std::size_t most_resources = 64;

struct resource_cache {
  std::mutex mutex;
  std::vector<cached_resource> entries;  // the least recently made first
};

resource_cache& resources() {
  // Never destroyed: arrays may outlive every static object, and the runtime may be gone by then.
  static auto* const cache = new resource_cache;
  return *cache;
}

}  // namespace

std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind) {
  sycl::context context = queue.get_context();
  sycl::device device = queue.get_device();
  resource_cache& cache = resources();
  const std::scoped_lock lock(cache.mutex);
  for (const cached_resource& entry : cache.entries) {
    if (entry.kind == kind && entry.device == device && entry.context == context) {
      return entry.resource;
    }
  }
  auto made = std::make_shared<usm_resource>(context, device, kind);
  if (cache.entries.size() == most_resources) cache.entries.erase(cache.entries.begin());
  cache.entries.push_back({std::move(context), std::move(device), kind, made});
  return made;
}

}  // namespace usmx
