// Host tasks for the tests in Python: their events have no context, as those that oneMKL and dpctl
// hand out.
// SPDX-License-Identifier: Apache-2.0
#include <future>

#include <sycl/event.hpp>
#include <sycl/handler.hpp>
#include <sycl/queue.hpp>

namespace {

struct task {
  std::promise<void> opened;
  sycl::event event;
};

}  // namespace

/// Submits a host task to `queue`, a sycl::queue, that ends when it is opened.
extern "C" void* host_task_submit(const void* queue) {
  auto* const made = new task;
  made->event = sycl::queue(*static_cast<const sycl::queue*>(queue)).submit([&](sycl::handler& h) {
    h.host_task([opened = made->opened.get_future().share()] { opened.wait(); });
  });
  return made;
}

/// The sycl::event of a task.
extern "C" void* host_task_event(void* made) { return &static_cast<task*>(made)->event; }

extern "C" void host_task_open(void* made) { static_cast<task*>(made)->opened.set_value(); }

/// After it was opened.
extern "C" void host_task_end(void* made) { delete static_cast<task*>(made); }
