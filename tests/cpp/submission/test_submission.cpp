// One command on its way: behind what its memory waits for, and its memory knows it until it ends,
// also if it throws or is never submitted.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/submission.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "host_task.hpp"
#include "usmx/copy.hpp"
#include "usmx/queue_ordered.hpp"
#include "usmx/resources.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using events = std::vector<sycl::event>;

sycl::queue in_order() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}
sycl::queue out_of_order() { return {default_queue().get_context(), default_queue().get_device()}; }

constexpr std::int64_t bytes = 100;

array some(const sycl::queue& q) {
  const std::int64_t shape[] = {bytes};
  return array::empty(q, shape, dtype::of<std::uint8_t>(), usm_kind::device);
}

sycl::event set(const sycl::queue& q, const array& a, int value) {
  submission command(q);
  command.uses(a);
  return command.submit([&](sycl::queue& on, const events& before) {
    return on.memset(a.data(), value, bytes, before);
  });
}

std::vector<std::uint8_t> read(sycl::queue q, const array& a) {
  std::vector<std::uint8_t> values(bytes);
  wait(q.memcpy(values.data(), a.data(), bytes), q);
  return values;
}

/// The memory knows its last command: it is idle although its queue is not.
void check_knows_its_last_command(sycl::queue& q, const array& a) {
  wait(set(q, a, 1), q);
  check::gate gate(q);
  CHECK(!a.keep_alive()->busy());
}

TEST(Submission, ComesAfterWhatItsMemoryIsUsedForOnOtherQueues) {
  for (const bool ordered : {true, false}) {
    sycl::queue first = in_order();
    sycl::queue second = ordered ? in_order() : out_of_order();
    const array a = some(first);
    check::gate gate(first);
    set(first, a, 1);
    const sycl::event last = set(second, a, 2);
    CHECK(!is_done(last));
    gate.open();
    wait(last, second);
    CHECK(read(second, a) == std::vector<std::uint8_t>(bytes, 2));
  }
}

TEST(Submission, CommandsOfOneQueueWithoutAnOrderFollowEachOther) {
  sycl::queue first = in_order();
  sycl::queue q = out_of_order();
  const array a = some(q);
  const array b = some(q);
  check::gate gate(first);
  const sycl::event held = first.memset(b.data(), 0, bytes);
  {
    submission command(q);
    command.after(held);
    command.uses(a);
    command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(a.data(), 1, bytes, before);
    });
  }
  const sycl::event last = set(q, a, 2);
  CHECK(!is_done(last));
  gate.open();
  wait(last, q);
  CHECK(read(q, a) == std::vector<std::uint8_t>(bytes, 2));
}

TEST(Submission, WithoutACommandItsEventComesAfterTheQueue) {
  for (const sycl::queue& q : {in_order(), out_of_order()}) {
    const array a = some(q);
    sycl::queue gated = q;
    check::gate gate(gated);
    set(q, a, 1);
    submission command(q);
    command.after(a);
    const sycl::event last = command.submit();
    CHECK(!is_done(last));
    gate.open();
    wait(last);
  }
}

TEST(Submission, MemoryIsBusyUntilTheCommandHasEnded) {
  for (const bool has_event : {true, false}) {
    sycl::queue q = in_order();
    const array a = some(q);
    check::gate gate(q);
    submission command(q);
    command.uses(a);
    if (has_event) {
      command.submit([&](sycl::queue& on, const events& before) {
        return on.memset(a.data(), 1, bytes, before);
      });
    } else {
      command.submit(
          [&](sycl::queue& on, const events& before) { on.memset(a.data(), 1, bytes, before); });
    }
    CHECK(a.keep_alive()->busy());
    gate.open();
    a.wait();
    CHECK(!a.keep_alive()->busy());
    check_knows_its_last_command(q, a);
  }
}

TEST(Submission, KeepsMemoryUntilTheCommandHasEnded) {
  sycl::queue q = in_order();
  const array memory = some(q);
  int freed = 0;
  check::gate gate(q);
  {
    shared_owner temporary = adopt(nullptr, 0, [&](void*) { ++freed; });
    submission command(q);
    command.keep(temporary);
    temporary.reset();
    collect();
    CHECK_EQUAL(freed, 0);
    command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(memory.data(), 1, bytes, before);
    });
  }
  collect();
  CHECK_EQUAL(freed, 0);
  gate.open();
  drain();
  CHECK_EQUAL(freed, 1);
}

/// A command that ends when `task` is opened, and whose event is that of a host task, as the
/// commands of oneMKL on the CPU device.
sycl::event submit_host_task(const sycl::queue& q, const array& a,
                             std::optional<check::host_task>& task) {
  submission command(q);
  command.uses(a);
  return command.submit(
      [&](sycl::queue& on, const events& before) { return task.emplace(on, before).event(); });
}

TEST(Submission, MemoryIsBusyUntilAHostTaskHasEnded) {
  for (const bool ordered : {true, false}) {
    sycl::queue q = ordered ? in_order() : out_of_order();
    const array a = some(q);
    std::optional<check::host_task> task;
    const sycl::event last = submit_host_task(q, a, task);
    CHECK(a.keep_alive()->busy());
    CHECK(!is_done(last));
    std::jthread opener([&] { task->open(); });
    a.wait();
    CHECK(is_done(last));
    CHECK(!a.keep_alive()->busy());
  }
}

TEST(Submission, CommandsOfOtherQueuesComeAfterAHostTask) {
  sycl::queue first = in_order();
  for (const bool ordered : {true, false}) {
    sycl::queue second = ordered ? in_order() : out_of_order();
    const array a = some(first);
    std::optional<check::host_task> task;
    submit_host_task(first, a, task);
    const sycl::event last = set(second, a, 2);
    CHECK(!is_done(last));
    task->open();
    wait(last, second);
    CHECK(read(second, a) == std::vector<std::uint8_t>(bytes, 2));
  }
}

TEST(Submission, MemoryThatIsDroppedWhileAHostTaskUsesItIsGivenBackAfterIt) {
  for (const bool ordered : {true, false}) {
    for (const bool pooled : {true, false}) {
      sycl::queue q = ordered ? in_order() : out_of_order();
      const auto counted = std::make_shared<statistics_resource>(
          std::make_shared<usm_resource>(q.get_context(), q.get_device(), usm_kind::device));
      std::optional<check::host_task> task;
      {
        std::shared_ptr<memory_resource> resource = counted;
        if (pooled) resource = std::make_shared<queue_ordered_resource>(counted);
        const using_resource here(resource);
        submit_host_task(q, some(q), task);
        collect();
        CHECK(counted->now().bytes > 0);
        std::jthread opener([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          task->open();
        });
        const array next = some(q);  // may come from the same memory, behind the task
        trim_default_resources();    // may wait for it
        wait(set(q, next, 1), q);
      }
      drain();
      CHECK_EQUAL(counted->now().bytes, 0u);
    }
  }
}

TEST(Submission, OneThatIsDroppedLeavesItsMemoryAsItWas) {
  sycl::queue q = in_order();
  const array a = some(q);
  {
    submission command(q);
    command.uses(a);
  }
  CHECK(!a.keep_alive()->busy());
  check_knows_its_last_command(q, a);
}

TEST(Submission, OneThatThrowsLeavesItsMemoryAsItWas) {
  sycl::queue q = in_order();
  const array a = some(q);
  const auto fail = [&] {
    submission command(q);
    command.uses(a);
    command.submit(
        [](sycl::queue&, const events&) -> sycl::event { throw std::runtime_error("on the way"); });
  };
  CHECK_THROWS(std::runtime_error, fail());
  CHECK(!a.keep_alive()->busy());
  check_knows_its_last_command(q, a);
}

TEST(Submission, ATransferThatThrowsLeavesItsMemoryAsItWas) {
  sycl::queue q = in_order();
  const array a = some(q);
  const extents most{bytes - 1};
  layout row;
  CHECK(layout::c_order(most, 1, row) == fault::none);
  const array to = a.with_view(a.elements().with_layout(row, 1));
  const array from = a.with_view(a.elements().with_layout(row, 0));
  {
    // They overlap, so the copy needs memory in between, after it has named the queue to both.
    const using_resource none(std::make_shared<limiting_resource>(
        std::make_shared<usm_resource>(q.get_context(), q.get_device(), usm_kind::device), 1));
    CHECK_THROWS(allocation_error, copy_async(q, to, from));
  }
  check_knows_its_last_command(q, a);
}

TEST(Submission, TheSameMemoryTwiceIsOneUse) {
  sycl::queue q = in_order();
  const array a = some(q);
  const array same = a;
  {
    submission command(q);
    command.uses(a);
    command.uses(same);
    wait(command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(a.data(), 1, bytes, before);
    }));
  }
  check::gate gate(q);
  CHECK(!a.keep_alive()->busy());
}

TEST(Submission, ReturnsWhenTheCommandHasEndedIfTheHostSeesTheMemory) {
  for (const bool has_event : {true, false}) {
    for (const sycl::queue& q : {in_order(), out_of_order()}) {
      const std::int64_t shape[] = {bytes};
      const array a = array::empty(q, shape, dtype::of<std::uint8_t>(), usm_kind::shared);
      const host_access view(a.keep_alive());
      sycl::queue first = in_order();
      check::gate gate(first);
      const sycl::event held = first.ext_oneapi_submit_barrier();
      std::atomic<bool> is_open = false;
      const std::jthread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        is_open = true;
        gate.open();
      });
      submission command(q);
      command.after(held);
      command.uses(a);
      const auto set_all = [&](sycl::queue& on, const events& before) {
        return on.memset(a.data(), 1, bytes, before);
      };
      if (has_event) {
        command.submit(set_all);
      } else {
        command.submit([&](sycl::queue& on, const events& before) { set_all(on, before); });
      }
      CHECK(is_open);
      CHECK_EQUAL(static_cast<const std::uint8_t*>(a.data())[bytes - 1], 1);
    }
  }
}

TEST(Submission, QueuesThatLeftGoOnBehindTheCommand) {
  for (const bool ordered : {true, false}) {
    sycl::queue q = in_order();
    sycl::queue theirs = ordered ? in_order() : out_of_order();
    const array a = some(q);
    a.keep_alive()->exposed_on(theirs, q);
    check::gate gate(q);
    set(q, a, 1);
    const sycl::event last = theirs.memset(a.data(), 2, bytes);
    CHECK(!is_done(last));
    gate.open();
    wait(last, theirs);
    CHECK(read(theirs, a) == std::vector<std::uint8_t>(bytes, 2));
    a.wait();
  }
}

TEST(Submission, AQueueWithoutAnOrderThatLeftGoesOnBehindTheCommandsOnIt) {
  sycl::queue first = in_order();
  sycl::queue q = out_of_order();
  const array a = some(q);
  const array b = some(q);
  a.keep_alive()->exposed_on(q);
  check::gate gate(first);
  const sycl::event held = first.memset(b.data(), 0, bytes);
  {
    submission command(q);
    command.after(held);
    command.uses(a);
    command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(a.data(), 1, bytes, before);
    });
  }
  const sycl::event last = q.memset(a.data(), 2, bytes);
  CHECK(!is_done(last));
  gate.open();
  wait(last, q);
  CHECK(read(q, a) == std::vector<std::uint8_t>(bytes, 2));
}

TEST(Submission, TheQueueOfBorrowedMemoryGoesOnBehindTheCommand) {
  sycl::queue theirs = out_of_order();
  sycl::queue q = in_order();
  const array memory = some(theirs);
  const std::int64_t shape[] = {bytes};
  const array borrowed = array::adopt(theirs, memory.data(), shape, dtype::of<std::uint8_t>(), {});
  check::gate gate(q);
  set(q, borrowed, 1);
  const sycl::event last = theirs.memset(memory.data(), 2, bytes);
  CHECK(!is_done(last));
  gate.open();
  wait(last, theirs);
  CHECK(read(theirs, memory) == std::vector<std::uint8_t>(bytes, 2));
  borrowed.wait();
}

TEST(Submission, ACopyOntoItselfLeavesWhatIsPendingPending) {
  sycl::queue q = in_order();
  const array a = some(q);
  check::gate gate(q);
  set(q, a, 1);
  CHECK(!is_done(copy_async(q, a, a)));
  CHECK(a.keep_alive()->busy());
  gate.open();
  a.wait();
}

TEST(Submission, UsesAnyNumberOfArrays) {
  sycl::queue first = in_order();
  sycl::queue q = in_order();
  std::vector<array> arrays;
  for (int k = 0; k < 20; ++k) arrays.push_back(some(q));
  {
    check::gate gate(first);
    set(first, arrays.back(), 1);
    submission command(q);
    for (const array& a : arrays) command.uses(a);
    CHECK_EQUAL(command.before().size(), 1u);
    command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(arrays[0].data(), 1, bytes, before);
    });
    for (const array& a : arrays) CHECK(a.keep_alive()->busy());
    gate.open();
    wait(q);
  }
  for (const array& a : arrays) check_knows_its_last_command(q, a);
}

TEST(Submission, AsksAForeignQueueOnce) {
  sycl::queue theirs = in_order();
  sycl::queue q = in_order();
  const array memory = some(theirs);
  const std::int64_t shape[] = {bytes / 2};
  const auto part = [&](std::int64_t at) {
    return array::adopt(theirs, static_cast<std::byte*>(memory.data()) + at, shape,
                        dtype::of<std::uint8_t>(), nullptr);
  };
  const array x = part(0);
  const array y = part(bytes / 2);
  check::gate gate(theirs);
  theirs.memset(memory.data(), 1, bytes);
  submission command(q);
  command.uses(x);
  command.uses(y);
  CHECK_EQUAL(command.before().size(), 1u);
}

TEST(Submission, IsOneCommand) {
  sycl::queue q = in_order();
  const array a = some(q);
  submission command(q);
  command.uses(a);
  const auto submit = [&] {
    return command.submit([&](sycl::queue& on, const events& before) {
      return on.memset(a.data(), 1, bytes, before);
    });
  };
  wait(submit());
  CHECK_THROWS(std::logic_error, submit());
}

}  // namespace
}  // namespace usmx
