// The handles that OpenCL, Level Zero, CUDA and HIP know SYCL's objects by, for libraries that
// speak to the driver directly.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <sycl/backend.hpp>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "runtime/cache.hpp"
#include "runtime/cuda_driver.hpp"
#include "runtime/drivers.hpp"
#include "runtime/wait_forms.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

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
void give_back_opencl(cl_event e) { give_back(e, "clReleaseEvent"); }
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

[[noreturn]] void refuse_to_wait(const sycl::device& device, const char* what, int result) {
  throw device_error(
      detail::format("{}: the driver of {} cannot wait for it (result {}); finish its work before "
                     "the exchange",
                     what, backend_name(device.get_backend()), result));
}

}  // namespace

namespace detail {

std::optional<bool> is_natively_idle(const sycl::queue& queue) {
  if (queue.get_backend() != sycl::backend::opencl) return {};
  static const auto enqueue_marker = loaded_function<decltype(&clEnqueueMarkerWithWaitList)>(
      opencl_library, "clEnqueueMarkerWithWaitList");
  static const auto get_info =
      loaded_function<decltype(&clGetEventInfo)>(opencl_library, "clGetEventInfo");
  if (enqueue_marker == nullptr || get_info == nullptr) return {};
  cl_command_queue const native = sycl::get_native<sycl::backend::opencl>(queue);
  cl_event last = nullptr;
  const cl_int result = enqueue_marker(native, 0, nullptr, &last);
  give_back_opencl(native);
  if (result != CL_SUCCESS) return false;
  cl_int status = CL_QUEUED;
  // A marker behind nothing takes a moment.
  for (int looks = 64; looks > 0 && status > CL_COMPLETE; --looks) {
    if (looks < 64) std::this_thread::yield();
    if (get_info(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) !=
        CL_SUCCESS) {
      break;
    }
  }
  give_back_opencl(last);
  return status <= CL_COMPLETE;
}

}  // namespace detail

bool reads_host_memory(const sycl::device& device) {
  static auto& known = *new detail::lasting_cache<sycl::device, bool>;
  return known.get(device, [&] { return device.has(sycl::aspect::usm_system_allocations); });
}

void wait_for_native_stream(const sycl::device& device, void* stream) {
  int result = -1;
  if (backend_row_of(device.get_backend()).api == driver_api::cuda) {
    result = detail::wait_for_cuda_stream(sycl::get_native<sycl::backend::ext_oneapi_cuda>(device),
                                          stream, detail::cuda_driver::loaded());
  }
  if (result != 0) refuse_to_wait(device, "stream", result);
}

namespace {

/// The stream that all commands of a queue are on; nothing where there is none, or there are
/// several.
std::optional<void*> cuda_stream_of(const sycl::queue& queue) {
  if (backend_row_of(queue.get_backend()).api != driver_api::cuda || !queue.is_in_order())
    return {};
  return reinterpret_cast<void*>(native_handle(queue));
}

}  // namespace

bool put_behind_native_stream(const sycl::queue& queue, void* stream) {
  const auto own = cuda_stream_of(queue);
  return own && detail::order_cuda_streams(
                    sycl::get_native<sycl::backend::ext_oneapi_cuda>(queue.get_device()), stream,
                    *own, detail::cuda_driver::loaded()) == 0;
}

bool put_native_stream_behind(void* stream, const sycl::queue& queue) {
  const auto own = cuda_stream_of(queue);
  return own && detail::order_cuda_streams(
                    sycl::get_native<sycl::backend::ext_oneapi_cuda>(queue.get_device()), *own,
                    stream, detail::cuda_driver::loaded()) == 0;
}

void detail::wait_for_native_event(const sycl::device& device, void* event) {
  if (backend_row_of(device.get_backend()).dlpack.device == dlpack::device_type::oneapi) {
    return usmx::wait(*static_cast<const sycl::event*>(event));
  }
  int result = -1;
  if (backend_row_of(device.get_backend()).api == driver_api::cuda) {
    result = wait_for_cuda_event(sycl::get_native<sycl::backend::ext_oneapi_cuda>(device),
                                 *static_cast<void**>(event), cuda_driver::loaded());
  }
  if (result != 0) refuse_to_wait(device, "sync_event", result);
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
