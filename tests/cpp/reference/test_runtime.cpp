// The example of usmx/runtime.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <sycl/properties/queue_properties.hpp>

#include <usmx/memory.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(Runtime, Reference) {
  // The devices, best first, and one by its name.
  for (const sycl::device& device : usmx::devices()) {
    std::printf("%s: %s, %s\n", usmx::filter_string(device).c_str(),
                usmx::backend_name(device.get_backend()), usmx::device_type_name(device));
  }
  const sycl::device device = usmx::select_device("");  // "opencl:cpu", "gpu,cpu", "level_zero:1"
  CHECK(!usmx::is_sub_device(device));

  // One queue for each device, which all that is built on usmx shares, and queues of one's own.
  const sycl::queue& queue = usmx::default_queue(device);
  const sycl::context context = usmx::default_context(device);
  const sycl::queue own = usmx::make_queue(context, device, {sycl::property::queue::in_order()});
  CHECK(usmx::queue_for(context, device).get_device() == device);

  // What the driver knows of a pointer.
  const auto memory = usmx::allocate(queue, usmx::usm_kind::device, 1000);
  const void* inside = memory->base() + 100;
  CHECK(usmx::kind_of(inside, context) == usmx::usm_kind::device);
  CHECK(usmx::device_of(inside, context) == device);
  const usmx::allocation found = usmx::describe_allocation(inside, context);
  CHECK(found.kind == usmx::usm_kind::device);
  if (const std::optional<usmx::allocation_extent> extent = usmx::extent_of(inside, context)) {
    CHECK(extent->base <= memory->base() && extent->bytes >= 1000);
  }
  if (const auto bytes = usmx::free_memory(device)) CHECK(*bytes > 0);
  if (usmx::reads_host_memory(device)) {
    // Kernels take memory of malloc too.
  }

  // In order with a stream of the driver's own that another library gave; false without streams.
  void* const stream = nullptr;  // the default one
  if (device.get_backend() == sycl::backend::ext_oneapi_cuda) {
    CHECK(usmx::put_behind_native_stream(own, stream));
    CHECK(usmx::put_native_stream_behind(stream, own));
    usmx::wait_for_native_stream(device, stream);
  }

  // The driver's own objects, for its own functions: here a cl_command_queue.
  CHECK(usmx::native_handle(queue) != 0);
}
