// SYCL cannot tell where an allocation begins and ends, but the drivers below it can: this queries
// them, through the libraries that the runtime has loaded already and without linking to any.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <sycl/backend.hpp>

#include "memory/reach.hpp"
#include "runtime/backend.hpp"
#include "runtime/block_registry.hpp"
#include "runtime/cache.hpp"
#include "runtime/cuda_driver.hpp"
#include "runtime/drivers.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

using extent = std::optional<allocation_extent>;

// --- OpenCL -------------------------------------------------------------------------------------

struct opencl_query {
  cl_context context = nullptr;
  clGetMemAllocInfoINTEL_fn ask = nullptr;
};

opencl_query make_opencl_query(const sycl::context& context) {
  static const auto address =
      detail::loaded_function<decltype(&clGetExtensionFunctionAddressForPlatform)>(
          detail::opencl_library, "clGetExtensionFunctionAddressForPlatform");
  static const auto release = detail::loaded_function<decltype(&clReleaseContext)>(
      detail::opencl_library, "clReleaseContext");
  if (!address || !release) return {};
  const auto platform = sycl::get_native<sycl::backend::opencl>(context.get_platform());
  opencl_query query;
  query.ask =
      reinterpret_cast<clGetMemAllocInfoINTEL_fn>(address(platform, "clGetMemAllocInfoINTEL"));
  query.context = sycl::get_native<sycl::backend::opencl>(context);
  // get_native retained it; the SYCL context in the same cache entry keeps it alive.
  release(query.context);
  return query;
}

/// Few contexts are in use at a time, and the platforms' default ones are never destroyed.
opencl_query cached_opencl_query(const sycl::context& context) {
  static auto& lasting =
      *new detail::lasting_cache<sycl::context, opencl_query>;  // leaked: cache.hpp
  static auto& recent = *new detail::recent_cache<sycl::context, opencl_query, 16>;
  if (const opencl_query* found = lasting.find(context)) return *found;
  const auto make = [&] { return make_opencl_query(context); };
  for (const auto& device : context.get_devices())
    if (default_context(device) == context) return lasting.get(context, make);
  return recent.get(context, make);
}

extent opencl_extent(const void* p, const opencl_query& query) {
  if (!query.ask) return {};
  void* base = nullptr;
  std::size_t bytes = 0;
  if (query.ask(query.context, p, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base, &base, nullptr) !=
          CL_SUCCESS ||
      !base ||
      query.ask(query.context, p, CL_MEM_ALLOC_SIZE_INTEL, sizeof bytes, &bytes, nullptr) !=
          CL_SUCCESS)
    return {};
  return allocation_extent{static_cast<std::byte*>(base), bytes};
}

/// Where the allocation around `p` begins; null if the driver knows none.
const void* opencl_base(const void* p, const opencl_query& query) noexcept {
  if (!query.ask) return nullptr;
  void* base = nullptr;
  const cl_int result =
      query.ask(query.context, p, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base, &base, nullptr);
  return result == CL_SUCCESS ? base : nullptr;
}

/// Empty if the driver returns an error; then SYCL's own queries decide.
std::optional<usm_kind> opencl_kind(const void* p, const opencl_query& query) noexcept {
  cl_uint type = CL_MEM_TYPE_UNKNOWN_INTEL;
  if (!query.ask || query.ask(query.context, p, CL_MEM_ALLOC_TYPE_INTEL, sizeof type, &type,
                              nullptr) != CL_SUCCESS) {
    return {};
  }
  switch (type) {
    case CL_MEM_TYPE_HOST_INTEL:
      return usm_kind::host;
    case CL_MEM_TYPE_DEVICE_INTEL:
      return usm_kind::device;
    case CL_MEM_TYPE_SHARED_INTEL:
      return usm_kind::shared;
    default:
      return usm_kind::unknown;
  }
}

// --- Level Zero ---------------------------------------------------------------------------------

// Two lines of its API, so that building needs no Level Zero headers. 0 is ZE_RESULT_SUCCESS.
using ze_get_address_range = int (*)(ze_context_handle_t, const void*, void**, std::size_t*);

extent level_zero_extent(const void* p, const sycl::context& context) {
  static const auto ask = detail::loaded_function<ze_get_address_range>(detail::level_zero_library,
                                                                        "zeMemGetAddressRange");
  if (!ask) return {};
  void* base = nullptr;
  std::size_t bytes = 0;
  const auto native = sycl::get_native<sycl::backend::ext_oneapi_level_zero>(context);
  if (ask(native, p, &base, &bytes) != 0 || !base) return {};
  return allocation_extent{static_cast<std::byte*>(base), bytes};
}

// --- CUDA ---------------------------------------------------------------------------------------

/// The devices of a context as CUDA numbers them.
std::vector<detail::cuda_driver::device> cuda_devices(const sycl::context& context) {
  std::vector<detail::cuda_driver::device> all;
  for (const auto& device : context.get_devices()) {
    all.push_back(sycl::get_native<sycl::backend::ext_oneapi_cuda>(device));
  }
  return all;
}

bool is_mapping(const std::byte* p, const detail::cuda_driver& driver) noexcept {
  unsigned long long handle = 0;
  if (!driver.retain_mapping || !driver.release_mapping) return false;
  if (driver.retain_mapping(&handle, const_cast<std::byte*>(p)) != 0) return false;
  driver.release_mapping(handle);
  return true;
}

extent cuda_extent(const void* p, const sycl::context& context) {
  return detail::cuda_extent(p, cuda_devices(context), detail::cuda_driver::loaded());
}

}  // namespace

std::optional<allocation_extent> extent_of(const void* p, const sycl::context& context) noexcept {
  if (!p) return {};
  if (const auto divided = detail::find_divided(p, context)) return divided->extent;
  try {
    switch (detail::backend_row_of(context.get_backend()).api) {
      case detail::driver_api::opencl:
        return opencl_extent(p, cached_opencl_query(context));
      case detail::driver_api::level_zero:
        return level_zero_extent(p, context);
      case detail::driver_api::cuda:
        return cuda_extent(p, context);
      default:
        return {};
    }
  } catch (...) {
    return {};
  }
}

namespace detail {

extent cuda_extent(const void* p, std::span<const cuda_driver::device> devices,
                   const cuda_driver& driver) {
  if (!driver.range) return {};
  for (const cuda_driver::device device : devices) {
    const inside_primary_context inside(device, driver);
    if (!inside) continue;
    cuda_driver::address base = 0;
    std::size_t bytes = 0;
    const int result = driver.range(&base, &bytes, reinterpret_cast<cuda_driver::address>(p));
    if (result == 0 && base != 0) {
      return allocation_extent{reinterpret_cast<std::byte*>(base), bytes};
    }
  }
  return {};
}

// PyTorch's expandable segments are sequences of mappings of 2 or 20 MiB, and the driver reports
// one at a time. Separate allocations that happen to be adjacent are not joined.
allocation_extent cuda_mapped_extent(allocation_extent known, const std::byte* first,
                                     const std::byte* last,
                                     std::span<const cuda_driver::device> devices,
                                     const cuda_driver& driver) {
  if (!is_mapping(known.base, driver)) return known;
  return continued(known, first, last, [&](const std::byte* p) -> extent {
    return is_mapping(p, driver) ? cuda_extent(p, devices, driver) : extent();
  });
}

allocation_extent mapped_extent(allocation_extent known, const std::byte* first,
                                const std::byte* last, const sycl::context& context) noexcept {
  try {
    if (first >= known.base && last <= known.base + known.bytes) return known;
    if (backend_row_of(context.get_backend()).api != driver_api::cuda) return known;
    if (find_divided(known.base, context)) return known;
    return cuda_mapped_extent(known, first, last, cuda_devices(context), cuda_driver::loaded());
  } catch (...) {
    return known;
  }
}

// An allocation is one run of bytes, so that of the last byte has all of them if it begins before
// the first one. Each question takes the driver 0.12 us, a quarter of an import.
bool lies_in_one_allocation(const std::byte* first, const std::byte* last,
                            const sycl::context& context) noexcept {
  try {
    if (backend_row_of(context.get_backend()).api != driver_api::opencl) return false;
    if (find_divided(first, context)) return false;
    const void* const base = opencl_base(last - 1, cached_opencl_query(context));
    return base != nullptr && base <= first;
  } catch (...) {
    return false;
  }
}

described_bytes describe_bytes(const void* data, const std::byte* first, const std::byte* last,
                               const sycl::context& context) noexcept {
  allocation at;
  if (const auto divided = find_divided(data, context)) {
    at = *divided;
  } else {
    try {
      if (backend_row_of(context.get_backend()).api == driver_api::opencl) {
        const opencl_query query = cached_opencl_query(context);
        const auto kind = opencl_kind(data, query);
        if (kind == usm_kind::unknown) return {};
        const void* const base = kind ? opencl_base(last - 1, query) : nullptr;
        if (base != nullptr && base <= first) return {*kind, true};
      }
    } catch (...) {
      // The general way remains.
    }
    at = describe_allocation(data, context);
  }
  if (at.kind == usm_kind::unknown) return {};
  if (!at.extent) {
    return {at.kind, kind_of(first, context) == at.kind && kind_of(last - 1, context) == at.kind};
  }
  const allocation_extent whole = mapped_extent(*at.extent, first, last, context);
  return {at.kind, first >= whole.base && last <= whole.base + whole.bytes, whole};
}

}  // namespace detail

allocation describe_allocation(const void* p, const sycl::context& context) noexcept {
  if (!p) return {};
  if (const auto divided = detail::find_divided(p, context)) return *divided;
  try {
    if (detail::backend_row_of(context.get_backend()).api == detail::driver_api::opencl) {
      const opencl_query query = cached_opencl_query(context);
      if (const auto kind = opencl_kind(p, query)) {
        if (*kind == usm_kind::unknown) return {};
        return {*kind, opencl_extent(p, query)};
      }
    }
  } catch (...) {
    // SYCL's own queries remain.
  }
  const usm_kind kind = kind_of(p, context);
  if (kind == usm_kind::unknown) return {};
  return {kind, extent_of(p, context)};
}

}  // namespace usmx
