// What SYCL does not provide: finding a device by name, sharing one queue per device, and
// querying the driver for the extent of an allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>
#include <sycl/platform.hpp>
#include <sycl/queue.hpp>

#include "usmx/view.hpp"

namespace usmx {

/// Every root device of every platform, best first: GPUs, then accelerators, then CPUs; in the
/// order of their platforms within that. Empty without a driver; device_error only if the runtime
/// itself fails, as it does on a malformed ONEAPI_DEVICE_SELECTOR.
std::vector<sycl::device> devices();

/// The device that a filter string names: "backend:type:index" with any part left out ("opencl",
/// "cpu", "gpu:1", "level_zero:gpu", "0"); "" is the default device. The index counts the devices
/// that match the other parts, in the order of `devices()`. Alternatives are separated by
/// commas ("gpu,cpu"): the first that exists is taken. Letter case does not matter.
/// Throws std::invalid_argument if the string is malformed, naming the wrong part; device_error if
/// no device matches, with the list of available devices and, without any, how to install a
/// driver.
sycl::device select_device(std::string_view filter);

/// The full filter string of a root device, "opencl:cpu:0"; a sub-device has none: "".
std::string filter_string(const sycl::device& device);

/// "opencl", "level_zero", "cuda", "hip", "native_cpu", "offload"; "unknown" for any other.
const char* backend_name(sycl::backend backend) noexcept;
/// "cpu", "gpu", "accelerator", "custom"; "unknown" for any other.
const char* device_type_name(const sycl::device& device);
/// Whether the device is a part of another one.
bool is_sub_device(const sycl::device& device);

/// The context that libraries share by default: the platform's for a root device (dpctl's and
/// dpnp's too), one cached context per sub-device.
sycl::context default_context(const sycl::device& device);

/// The cached in-order queue of a device in its default context. Cheap after the first call.
const sycl::queue& default_queue(const sycl::device& device);
/// The same for the default device. Throws device_error without one.
const sycl::queue& default_queue();

/// A cached in-order queue for memory that came with a context only. `device` must belong to it.
/// Few are kept: the least recently used contexts are dropped.
sycl::queue queue_for(const sycl::context& context, const sycl::device& device);

/// A new queue whose asynchronous errors are thrown by its next `wait_and_throw`. SYCL's own
/// default ends the process instead.
sycl::queue make_queue(const sycl::context& context, const sycl::device& device,
                       const sycl::property_list& properties);

/// The kind of the memory at `p`, as its context sees it; `unknown` for foreign memory, never
/// throws.
usm_kind kind_of(const void* p, const sycl::context& context) noexcept;
/// The device that `p` was allocated for; for host memory the first of the context.
/// Throws interop_error (fault::not_usm) if the pointer is not USM of the context.
sycl::device device_of(const void* p, const sycl::context& context);

/// Where an allocation begins and how many bytes it has.
struct allocation_extent {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

/// The allocation around `p` as the driver knows it (OpenCL, Level Zero, CUDA), also for interior
/// pointers; empty if the driver cannot report it and for memory that is not USM.
std::optional<allocation_extent> extent_of(const void* p, const sycl::context& context) noexcept;

/// What is known of the memory at a pointer.
struct allocation {
  usm_kind kind = usm_kind::unknown;
  std::optional<allocation_extent> extent;
};

/// `kind_of` and `extent_of` in one, with as few calls of the driver as possible. Memory of
/// unknown kind has no extent.
allocation describe_allocation(const void* p, const sycl::context& context) noexcept;

/// Free memory of a device in bytes, if the driver reports it; for a CPU what the system has
/// without swapping.
std::optional<std::size_t> free_memory(const sycl::device& device) noexcept;

/// Whether kernels of the device read and write memory of the host that no USM function allocated:
/// malloc, NumPy's arrays, mapped files (sycl::aspect::usm_system_allocations).
bool reads_host_memory(const sycl::device& device);

/// Waits for a stream of the device's driver that another library gave, as an integer or pointer
/// (CUstream; null is the default stream). Throws device_error if the driver cannot be asked.
void wait_for_native_stream(const sycl::device& device, void* stream);

/// What is submitted to `queue` from now on comes after all that is on the stream, as above, and
/// the other way round; the host does not wait. False where that cannot be: the queue has no order
/// of its own, or the driver no events.
bool put_behind_native_stream(const sycl::queue& queue, void* stream);
bool put_native_stream_behind(void* stream, const sycl::queue& queue);

/// The driver's own handle as an integer: cl_*, ze_*_handle_t (for queues an immediate command list
/// where SYCL uses one), CUdevice or CUstream. Borrowed: valid as long as the SYCL object lives;
/// to keep it longer, retain it with the driver. Throws sycl::exception if there is none.
std::uintptr_t native_handle(const sycl::platform& platform);
std::uintptr_t native_handle(const sycl::device& device);
std::uintptr_t native_handle(const sycl::context& context);
std::uintptr_t native_handle(const sycl::queue& queue);

}  // namespace usmx
