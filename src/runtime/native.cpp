// The handles that OpenCL, Level Zero, CUDA and HIP know SYCL's objects by, for libraries that
// speak to the driver directly.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <type_traits>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <sycl/backend.hpp>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "runtime/cache.hpp"
#include "runtime/drivers.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

using detail::backend_row_of;
using detail::driver_api;

/// OpenCL's get_native adds a reference for its caller, the other back ends do not. All handles
/// returned here are borrowed, so that reference is released; the SYCL object holds its own.
template <class Handle>
void give_back(Handle handle, const char* release_name) {
  using release_function = cl_int(CL_API_CALL*)(Handle);
  static const auto release =
      detail::loaded_function<release_function>(detail::opencl_library, release_name);
  if (release) release(handle);
}
void give_back_opencl(cl_device_id d) { give_back(d, "clReleaseDevice"); }
void give_back_opencl(cl_context c) { give_back(c, "clReleaseContext"); }
void give_back_opencl(cl_command_queue q) { give_back(q, "clReleaseCommandQueue"); }
void give_back_opencl(cl_platform_id) {}

template <class Handle>
std::uintptr_t as_integer(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uintptr_t>(handle);
  else
    return static_cast<std::uintptr_t>(handle);
}

template <class Object>
std::uintptr_t opencl_handle(const Object& object) {
  const auto handle = sycl::get_native<sycl::backend::opencl>(object);
  give_back_opencl(handle);
  return as_integer(handle);
}

[[noreturn]] void refuse(sycl::backend backend, const char* what) {
  throw sycl::exception(
      sycl::make_error_code(sycl::errc::feature_not_supported),
      detail::format("the backend {} has no native handle of a {}", backend_name(backend), what));
}

}  // namespace

bool reads_host_memory(const sycl::device& device) {
  static auto& known = *new detail::lasting_cache<sycl::device, bool>;
  return known.get(device, [&] { return device.has(sycl::aspect::usm_system_allocations); });
}

void wait_for_native_stream(const sycl::device& device, void* stream) {
  using detail::cuda_library;
  using detail::loaded_function;
  // The driver API by hand: no toolkit is needed. 0 is CUDA_SUCCESS.
  static const auto retain =
      loaded_function<int (*)(CUcontext*, CUdevice)>(cuda_library, "cuDevicePrimaryCtxRetain");
  static const auto push = loaded_function<int (*)(CUcontext)>(cuda_library, "cuCtxPushCurrent_v2");
  static const auto pop = loaded_function<int (*)(CUcontext*)>(cuda_library, "cuCtxPopCurrent_v2");
  static const auto release =
      loaded_function<int (*)(CUdevice)>(cuda_library, "cuDevicePrimaryCtxRelease_v2");
  static const auto wait = loaded_function<int (*)(void*)>(cuda_library, "cuStreamSynchronize");
  int result = -1;
  if (backend_row_of(device.get_backend()).api == driver_api::cuda && retain && push && pop &&
      release && wait) {
    const CUdevice native = sycl::get_native<sycl::backend::ext_oneapi_cuda>(device);
    CUcontext primary = nullptr;
    if (retain(&primary, native) == 0) {
      if (push(primary) == 0) {
        result = wait(stream);
        pop(&primary);
      }
      release(native);
    }
  }
  if (result != 0) {
    throw device_error(detail::format(
        "stream: the driver of {} cannot wait for it (result {}); finish its work before the "
        "exchange",
        backend_name(device.get_backend()), result));
  }
}

std::uintptr_t native_handle(const sycl::platform& platform) {
  switch (backend_row_of(platform.get_backend()).api) {
    case driver_api::opencl:
      return opencl_handle(platform);
    case driver_api::level_zero:
      return as_integer(sycl::get_native<sycl::backend::ext_oneapi_level_zero>(platform));
    default:
      refuse(platform.get_backend(), "platform");
  }
}

std::uintptr_t native_handle(const sycl::device& device) {
  switch (backend_row_of(device.get_backend()).api) {
    case driver_api::opencl:
      return opencl_handle(device);
    case driver_api::level_zero:
      return as_integer(sycl::get_native<sycl::backend::ext_oneapi_level_zero>(device));
    case driver_api::cuda:
      return as_integer(sycl::get_native<sycl::backend::ext_oneapi_cuda>(device));
    default:
      refuse(device.get_backend(), "device");
  }
}

std::uintptr_t native_handle(const sycl::context& context) {
  switch (backend_row_of(context.get_backend()).api) {
    case driver_api::opencl:
      return opencl_handle(context);
    case driver_api::level_zero:
      return as_integer(sycl::get_native<sycl::backend::ext_oneapi_level_zero>(context));
    default:
      // SYCL on CUDA and HIP uses the devices' primary contexts and has no context of its own.
      refuse(context.get_backend(), "context");
  }
}

std::uintptr_t native_handle(const sycl::queue& queue) {
  switch (backend_row_of(queue.get_backend()).api) {
    case driver_api::opencl:
      return opencl_handle(queue);
    case driver_api::level_zero:
      return std::visit([](auto handle) { return as_integer(handle); },
                        sycl::get_native<sycl::backend::ext_oneapi_level_zero>(queue));
    case driver_api::cuda:
      return as_integer(sycl::get_native<sycl::backend::ext_oneapi_cuda>(queue));
    default:
      refuse(queue.get_backend(), "queue");
  }
}

}  // namespace usmx
