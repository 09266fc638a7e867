// Waiting from many threads at once: right results, no hang, no thread waits for others' work.
// With the runtime's own event::wait, queue::wait and ext_oneapi_empty in these places the threaded
// cases end in a hang, a segmentation fault or UR_RESULT_ERROR_INVALID_EVENT within a few runs.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/wait.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "host_task.hpp"
#include "runtime/wait_forms.hpp"
#include "usmx/memory.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

sycl::queue out_of_order() { return {default_queue().get_context(), default_queue().get_device()}; }
sycl::queue in_order() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}

/// More threads than the driver's task arena has seats on any machine that runs this.
const int threads = static_cast<int>(2 * std::max(4u, std::thread::hardware_concurrency()));

/// Each thread fills device memory and reads it back, over and over; how many reads were wrong.
template <class QueueOf, class Wait>
int wrong_reads(QueueOf queue_of, Wait wait) {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> running;
    for (int number = 1; number <= threads; ++number) {
      running.emplace_back([&, number] {
        sycl::queue queue = queue_of();
        const auto resource = default_resource(queue, usm_kind::device);
        const shared_owner memory = allocate(resource, 4096);
        std::vector<unsigned char> back(4096);
        for (int k = 0; k < 100; ++k) {
          const auto value = static_cast<unsigned char>(number * 7 + k);
          wait(queue, queue.memset(memory->base(), value, back.size()));
          wait(queue, queue.memcpy(back.data(), memory->base(), back.size()));
          for (const unsigned char b : back) wrong += b != value;
        }
      });
    }
  }
  return wrong;
}

const auto wait_for_event = [](const sycl::queue& q, const sycl::event& e) { usmx::wait(e, q); };
const auto wait_for_queue = [](const sycl::queue& q, const sycl::event&) { usmx::wait(q); };
const auto ask_queue = [](const sycl::queue& q, const sycl::event& e) {
  while (!is_idle(q) && !is_done(e)) std::this_thread::yield();
  usmx::wait(e, q);
};

TEST(Threads, WaitForEventsOfOutOfOrderQueuesOfTheirOwn) {
  CHECK_EQUAL(wrong_reads(out_of_order, wait_for_event), 0);
}

TEST(Threads, WaitForOutOfOrderQueuesOfTheirOwn) {
  CHECK_EQUAL(wrong_reads(out_of_order, wait_for_queue), 0);
}

TEST(Threads, WaitForOneOutOfOrderQueue) {
  sycl::queue shared = out_of_order();
  CHECK_EQUAL(wrong_reads([&] { return shared; }, wait_for_queue), 0);
  CHECK_EQUAL(wrong_reads([&] { return shared; }, ask_queue), 0);
}

TEST(Threads, WaitForOneInOrderQueueAndAskIt) {
  sycl::queue shared = in_order();
  CHECK_EQUAL(wrong_reads([&] { return shared; }, wait_for_queue), 0);
  CHECK_EQUAL(wrong_reads([&] { return shared; }, wait_for_event), 0);
  CHECK_EQUAL(wrong_reads([&] { return shared; }, ask_queue), 0);
}

TEST(Threads, WaitForQueuesOfBothSorts) {
  sycl::queue shared[] = {in_order(), out_of_order()};
  std::atomic<int> next = 0;
  const auto either = [&] { return shared[next++ % 2]; };
  CHECK_EQUAL(wrong_reads(either, wait_for_event), 0);
  CHECK_EQUAL(wrong_reads(either, wait_for_queue), 0);
}

TEST(Queue, MayEndRightAfterAWait) {
  const shared_owner memory = allocate(default_resource(default_queue(), usm_kind::device), 64);
  for (int k = 0; k < 2000; ++k) {
    sycl::queue queue = out_of_order();
    const sycl::event e = queue.memset(memory->base(), k % 100, 64);
    wait(queue);
    CHECK(is_done(e));
  }
}

TEST(Threads, DoNotWaitForEachOthersWork) {
  sycl::queue slow = out_of_order();
  sycl::queue fast = out_of_order();
  const shared_owner memory = allocate(default_resource(fast, usm_kind::device), 64);
  check::gate gate(slow);
  std::atomic<bool> entered = false;
  std::jthread waiter([&] {
    entered = true;
    wait(slow);
  });
  while (!entered) std::this_thread::yield();
  // Returns at all: the gate opens only behind this line.
  for (int k = 0; k < 20; ++k) wait(fast.memset(memory->base(), k, 64));
  CHECK(!is_idle(slow));
  gate.open();
  waiter.join();
  CHECK(is_idle(slow));
}

TEST(Event, WithoutACommandIsDone) {
  CHECK(is_done(sycl::event()));
  wait(sycl::event());
  wait(std::vector<sycl::event>{});
}

template <class Make>
void marker_comes_after_all(Make make) {
  sycl::queue queue = make();
  CHECK(is_idle(queue));
  check::gate gate(queue);
  const sycl::event before = queue.ext_oneapi_submit_barrier();
  const sycl::event last = marker(queue);
  CHECK(!is_done(before));
  CHECK(!is_done(last));
  CHECK(!is_idle(queue));
  gate.open();
  wait(last);
  CHECK(is_done(before));
}

TEST(Marker, ComesAfterAllThatAnInOrderQueueWasGiven) { marker_comes_after_all(in_order); }
TEST(Marker, ComesAfterAllThatAnOutOfOrderQueueWasGiven) { marker_comes_after_all(out_of_order); }

TEST(Marker, OfAQueueThatWasGivenNothingIsDone) { CHECK(is_done(marker(in_order()))); }

/// A backend on which an out-of-order queue is waited for by the event of a barrier.
const detail::backend_row& by_barrier() {
  return *std::ranges::find_if(detail::backend_rows(),
                               &detail::backend_row::waits_by_barrier_event);
}

const auto wait_by_barrier = [](const sycl::queue& q, const sycl::event&) {
  detail::wait(q, by_barrier());
};

TEST(Threads, ThatShareAnOutOfOrderQueueReadWhatTheyWroteWhereABarrierIsWaitedFor) {
  sycl::queue one = out_of_order();
  CHECK_EQUAL(wrong_reads([&] { return one; }, wait_by_barrier), 0);
}

TEST(Wait, ByABarrierEndsAfterAllThatTheQueueWasGiven) {
  sycl::queue queue = out_of_order();
  CHECK(detail::is_idle(queue, by_barrier()));
  check::gate gate(queue);
  const sycl::event before = queue.ext_oneapi_submit_barrier();
  CHECK(!detail::is_idle(queue, by_barrier()));
  gate.open();
  detail::wait(queue, by_barrier());
  CHECK(is_done(before));
}

TEST(Wait, ForSeveralWaitsForEach) {
  sycl::queue one = in_order();
  sycl::queue two = out_of_order();
  check::gate first(one);
  const std::vector<sycl::event> both{marker(two), marker(one)};
  std::atomic<bool> opened = false;
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    opened = true;
    first.open();
  });
  wait(both);
  CHECK(opened.load());
}

/// Calls `wait_for(queue, event)` while the event, of a host task, is pending.
template <class WaitFor>
void host_task_is_waited_for(sycl::queue queue, WaitFor wait_for) {
  check::host_task task(queue);
  CHECK(!is_done(task.event()));
  CHECK(detail::status(task.event()) != detail::command_status::complete);
  std::atomic<bool> opened = false;
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    opened = true;
    task.open();
  });
  wait_for(queue, task.event());
  CHECK(opened.load());
  CHECK(is_done(task.event()));
  CHECK(detail::status(task.event()) == detail::command_status::complete);
  wait_for(queue, task.event());  // once more, when it is complete
}

TEST(HostTask, CanBeWaitedForByItsEventAlone) {
  const auto by_event = [](const sycl::queue&, const sycl::event& e) { wait(e); };
  host_task_is_waited_for(in_order(), by_event);
  host_task_is_waited_for(out_of_order(), by_event);
}

TEST(HostTask, CanBeWaitedForByItsEventAndQueue) {
  host_task_is_waited_for(in_order(), wait_for_event);
  host_task_is_waited_for(out_of_order(), wait_for_event);
}

TEST(HostTask, CanBeWaitedForAmongOtherEvents) {
  const auto among_others = [](const sycl::queue& q, const sycl::event& e) {
    wait(std::vector<sycl::event>{sycl::event(), e, marker(q)});
  };
  host_task_is_waited_for(in_order(), among_others);
  host_task_is_waited_for(out_of_order(), among_others);
}

TEST(HostTask, IsWaitedForWithItsQueue) {
  host_task_is_waited_for(in_order(), wait_for_queue);
  host_task_is_waited_for(out_of_order(), wait_for_queue);
  const auto by_marker = [](const sycl::queue& q, const sycl::event&) {
    CHECK(!is_done(marker(q)) || is_idle(q));
    wait(marker(q));
  };
  host_task_is_waited_for(in_order(), by_marker);
  host_task_is_waited_for(out_of_order(), by_marker);
}

}  // namespace
}  // namespace usmx
