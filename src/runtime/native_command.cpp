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

/// The stream that the adapter gives does not wait for events of other queues by itself: on an H200
/// a command that was to come after one went before it.
void put_behind(void* stream, const std::vector<sycl::event>& before) {
  const cuda_driver& driver = cuda_driver::loaded();
  for (const sycl::event& event : before) {
    if (is_done(event)) continue;
    void* const native = sycl::get_native<sycl::backend::ext_oneapi_cuda>(event);
    const int result = driver.put_behind_event ? driver.put_behind_event(stream, native, 0) : -1;
    if (result != 0) throw device_error(format("cuStreamWaitEvent gave status {}", result));
  }
}

}  // namespace

sycl::event on_native_stream(sycl::queue& queue, const std::vector<sycl::event>& before,
                             const std::function<void(void*)>& calls) {
  if (backend_of(queue).api != driver_api::cuda) {
    unlocked([&] {
      usmx::wait(before);
      usmx::wait(queue);
    });
    int token = 0;
    calls(&token);
    return marker(queue);
  }
  const auto made = std::make_shared<outcome>();
  const sycl::event event = queue.submit([&](sycl::handler& command) {
    command.depends_on(before);
    // The runtime calls it as soon as what comes before is on streams: at once, unless that waits
    // for a task of the host.
    command.ext_codeplay_enqueue_native_command([made, calls, before](sycl::interop_handle native) {
      try {
        void* const stream = native.get_native_queue<sycl::backend::ext_oneapi_cuda>();
        put_behind(stream, before);
        calls(stream);
      } catch (...) {
        made->error = std::current_exception();
      }
      made->is_known.store(true, std::memory_order_release);
    });
  });
  // `calls` may name what is on the stack of who called this.
  if (!made->is_known.load(std::memory_order_acquire)) unlocked([&] { usmx::wait(event, queue); });
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
