// SPDX-License-Identifier: Apache-2.0
#include "runtime/native_command.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include <sycl/backend.hpp>
#include <sycl/handler.hpp>
#include <sycl/interop_handle.hpp>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda_driver.hpp"
#include "usmx/error.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {
namespace {

/// What came of the calls, which the runtime makes: no exception may go through it.
struct outcome {
  std::atomic<bool> is_known = false;
  std::exception_ptr error;
};

}  // namespace

sycl::event on_native_stream(sycl::queue& queue, const std::vector<sycl::event>& before,
                             const std::function<void(void*)>& calls) {
  const auto made = std::make_shared<outcome>();
  const sycl::event event = queue.submit([&](sycl::handler& command) {
    command.depends_on(before);
    // The runtime calls it as soon as what comes before is on streams: at once, unless that waits
    // for a task of the host.
    command.ext_codeplay_enqueue_native_command([made, calls](sycl::interop_handle native) {
      try {
        calls(native.get_native_queue<sycl::backend::ext_oneapi_cuda>());
      } catch (...) {
        made->error = std::current_exception();
      }
      made->is_known.store(true, std::memory_order_release);
    });
  });
  // `calls` may name what is on the stack of who called this.
  if (!made->is_known.load(std::memory_order_acquire)) unlocked([&] { wait(event, queue); });
  if (made->error) std::rethrow_exception(made->error);
  return event;
}

sycl::event call_in_turn(sycl::queue& queue, const std::vector<sycl::event>& before,
                         std::function<void()> step) {
  if (backend_of(queue).api != driver_api::cuda) {
    return queue.submit([&](sycl::handler& command) {
      command.depends_on(before);
      command.host_task(std::move(step));
    });
  }
  return on_native_stream(queue, before, [&](void* stream) {
    const int result = call_on_stream(stream, std::move(step), cuda_driver::loaded());
    if (result != 0) throw device_error(format("cuLaunchHostFunc gave status {}", result));
  });
}

}  // namespace usmx::detail
