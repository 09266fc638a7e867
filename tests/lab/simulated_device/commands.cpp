// The list of commands between their submission and their end.
// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <vector>

#include "memory.hpp"
#include "settings.hpp"

namespace simulated {

const cl_icd_dispatch* below = nullptr;

namespace {

struct command {
  long ticket;
  cl_command_queue queue;
  cl_event event;  // retained
  bool opens;
};

// Never destroyed: callbacks still come while the process ends.
struct state {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<command> running;
  long tickets = 0;
};
state& s = *new state;

void finish(long ticket) {
  cl_event event = nullptr;
  bool opened = false;
  {
    const std::lock_guard lock(s.mutex);
    const auto found = std::ranges::find(s.running, ticket, &command::ticket);
    if (found == s.running.end()) return;
    event = found->event;
    opened = found->opens;
    s.running.erase(found);
    // Closed before a thread that waits for this command continues.
    if (opened) close();
    s.changed.notify_all();
  }
  if (event) below->clReleaseEvent(event);
}

void CL_CALLBACK on_end(cl_event, cl_int, void* ticket) { finish(reinterpret_cast<long>(ticket)); }

bool is_over(const command& c) {
  cl_int status = CL_QUEUED;
  below->clGetEventInfo(c.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                        nullptr);
  return status <= CL_COMPLETE;
}

}  // namespace

cl_int follow(cl_command_queue queue, bool opens, cl_event* event,
              const std::function<cl_int(cl_event*)>& enqueue) {
  if (const cl_int error = check(call::lost)) return error;
  long ticket = 0;
  {
    const std::lock_guard lock(s.mutex);
    ticket = ++s.tickets;
    s.running.push_back({ticket, queue, nullptr, opens});
  }
  if (opens) open();
  cl_event made = nullptr;
  if (const cl_int error = enqueue(&made); error != CL_SUCCESS) {
    finish(ticket);
    return error;
  }
  below->clRetainEvent(made);
  {
    const std::lock_guard lock(s.mutex);
    const auto found = std::ranges::find(s.running, ticket, &command::ticket);
    found->event = made;
  }
  if (below->clSetEventCallback(made, CL_COMPLETE, on_end, reinterpret_cast<void*>(ticket)) !=
      CL_SUCCESS) {
    below->clWaitForEvents(1, &made);
    finish(ticket);
  }
  if (event) {
    *event = made;
  } else {
    below->clReleaseEvent(made);
  }
  return CL_SUCCESS;
}

void wait_for_running() {
  std::unique_lock lock(s.mutex);
  const long last = s.tickets;
  const auto none = [&] {
    return std::ranges::none_of(s.running, [&](const command& c) { return c.ticket <= last; });
  };
  if (none()) return;
  if (configuration().report_early_free) {
    defect("memory is freed while %zu commands run; other runtimes do not wait", s.running.size());
  }
  std::vector<cl_command_queue> queues;
  for (const command& c : s.running) {
    below->clRetainCommandQueue(c.queue);
    queues.push_back(c.queue);
  }
  // Without the lock: a flush may run commands to their end right here, which takes it.
  lock.unlock();
  for (cl_command_queue queue : queues) {
    below->clFlush(queue);
    below->clReleaseCommandQueue(queue);
  }
  lock.lock();
  if (!s.changed.wait_for(lock, std::chrono::seconds(20), none)) {
    defect("memory is freed, and the commands that run do not end");
  }
}

void settle(cl_command_queue queue) {
  std::unique_lock lock(s.mutex);
  const auto caught_up = [&] {
    return std::ranges::none_of(s.running, [&](const command& c) {
      return c.opens && c.event && c.queue == queue && is_over(c);
    });
  };
  s.changed.wait_for(lock, std::chrono::seconds(2), caught_up);
}

long in_flight() noexcept {
  const std::lock_guard lock(s.mutex);
  return static_cast<long>(s.running.size());
}

}  // namespace simulated
