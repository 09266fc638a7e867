// Shared contexts and queues, made once per device.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/runtime.hpp"

#include <fstream>
#include <string>
#include <utility>

#include <sycl/exception_list.hpp>
#include <sycl/ext/intel/info/device.hpp>
#include <sycl/properties/queue_properties.hpp>
#include <sycl/usm/usm_pointer_info.hpp>

#include "runtime/backend.hpp"
#include "runtime/block_registry.hpp"
#include "runtime/cache.hpp"
#include "runtime/driver_gate.hpp"

namespace usmx {
namespace {

void throw_first(sycl::exception_list errors) {
  for (const auto& error : errors) std::rethrow_exception(error);
}

sycl::context make_default_context(const sycl::device& device) {
  if (!is_sub_device(device)) {
    try {
      return device.get_platform().khr_get_default_context();
    } catch (const sycl::exception&) {
      // Switched off by SYCL_ENABLE_DEFAULT_CONTEXTS=0: then one of our own is used.
    }
  }
  return sycl::context(device, throw_first);
}

std::optional<std::size_t> available_host_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes && std::getline(file, unit))
    if (key == "MemAvailable:") return kibibytes * 1024;
  return {};
}

using context_and_device = std::pair<sycl::context, sycl::device>;

}  // namespace

bool is_sub_device(const sycl::device& device) {
  // A question to the driver takes longer than an export that asks it.
  static auto& known = *new detail::lasting_cache<sycl::device, bool>;  // leaked: cache.hpp
  return known.get(device, [&] {
    return device.get_info<sycl::info::device::partition_type_property>() !=
           sycl::info::partition_property::no_partition;
  });
}

sycl::context default_context(const sycl::device& device) {
  static auto& cache =
      *new detail::lasting_cache<sycl::device, sycl::context>;  // leaked: cache.hpp
  return cache.get(device, [&] {
    detail::uses_driver_of(detail::backend_of(device));
    return make_default_context(device);
  });
}

sycl::queue make_queue(const sycl::context& context, const sycl::device& device,
                       const sycl::property_list& properties) {
  const detail::driver_entry inside;  // says so in a child of fork that has lost its driver
  return {context, device, throw_first, properties};
}

const sycl::queue& default_queue(const sycl::device& device) {
  static auto& cache = *new detail::lasting_cache<sycl::device, sycl::queue>;
  return cache.get(device, [&] {
    return make_queue(default_context(device), device, sycl::property::queue::in_order());
  });
}

const sycl::queue& default_queue() {
  static const sycl::queue& queue = default_queue(select_device(""));
  return queue;
}

sycl::queue queue_for(const sycl::context& context, const sycl::device& device) {
  static auto& cache = *new detail::recent_cache<context_and_device, sycl::queue, 16>;
  if (context == default_context(device)) return default_queue(device);
  return cache.get({context, device},
                   [&] { return make_queue(context, device, sycl::property::queue::in_order()); });
}

usm_kind kind_of(const void* p, const sycl::context& context) noexcept {
  if (!p) return usm_kind::unknown;
  if (const auto divided = detail::find_divided(p, context)) return divided->kind;
  try {
    switch (sycl::get_pointer_type(p, context)) {
      case sycl::usm::alloc::host:
        return usm_kind::host;
      case sycl::usm::alloc::device:
        return usm_kind::device;
      case sycl::usm::alloc::shared:
        return usm_kind::shared;
      case sycl::usm::alloc::unknown:
        break;
    }
  } catch (...) {
    // A platform without USM throws here; memory that it does not know is foreign.
  }
  return usm_kind::unknown;
}

sycl::device device_of(const void* p, const sycl::context& context) {
  switch (kind_of(p, context)) {
    case usm_kind::unknown:
      throw interop_error(fault::not_usm, "data: the pointer is not USM of this context");
    case usm_kind::host:
      return context.get_devices().front();
    default:
      return sycl::get_pointer_device(p, context);
  }
}

std::optional<std::size_t> free_memory(const sycl::device& device) noexcept {
  try {
    if (device.has(sycl::aspect::ext_intel_free_memory))
      return device.get_info<sycl::ext::intel::info::device::free_memory>();
    if (detail::backend_of(device).is_host) return available_host_memory();
  } catch (...) {
    // Level Zero tells only with ZES_ENABLE_SYSMAN=1.
  }
  return {};
}

}  // namespace usmx
