// Kernels without an event: ordered as those that have one, their memory kept as long.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

#include <chrono>
#include <thread>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "usmx/queue_ordered.hpp"

namespace usmx {
namespace {

sycl::queue in_order() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}
sycl::queue out_of_order() { return {default_queue().get_context(), default_queue().get_device()}; }

kernel add_to(const sycl::queue& q) {
  return program::build(q, "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }")
      .get("add");
}

array zeros(sycl::queue q, std::int64_t n) {
  const std::int64_t shape[] = {n};
  const array a = array::empty(q, shape, dtype::of<int>(), usm_kind::device);
  wait(q.memset(a.data(), 0, n * sizeof(int)), q);
  return a;
}

std::vector<int> read(sycl::queue q, const array& a) {
  std::vector<int> values(a.elements().nbytes() / sizeof(int));
  wait(q.memcpy(values.data(), a.data(), a.elements().nbytes()), q);
  return values;
}

/// With time to run if nothing holds it.
bool is_held(const sycl::event& command) {
  for (int looks = 0; looks < 50 && !is_done(command); ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return !is_done(command);
}

TEST(Enqueue, RunsInTheOrderOfItsQueue) {
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 100);
  for (int k = 0; k < 50; ++k) add.enqueue(q, 100, {x, 1});
  CHECK(read(q, x) == std::vector<int>(100, 50));
}

TEST(Enqueue, TakesTheQueueOfAnArray) {
  const array x = zeros(in_order(), 10);
  const kernel add = add_to(x.queue());
  add.enqueue(x.queue(), 10, {x, 1});
  wait(add.launch(x.queue(), 10, {x, 2}), x.queue());
  CHECK(read(x.queue(), x) == std::vector<int>(10, 3));
}

TEST(Enqueue, WaitsForWhatItDependsOnAndOnAnyQueue) {
  for (const bool ordered : {true, false}) {
    sycl::queue first = in_order();
    sycl::queue q = ordered ? in_order() : out_of_order();
    const kernel add = add_to(q);
    const array x = zeros(q, 100);
    check::gate gate(first);
    const sycl::event before[] = {add.launch(first, 100, {x, 1})};
    add.enqueue(q, 100, {x, 2}, before);
    CHECK(!is_idle(q));
    gate.open();
    wait(q);
    CHECK(is_done(before[0]));
    CHECK(read(q, x) == std::vector<int>(100, 3));
  }
}

TEST(Enqueue, ComesAfterWhatItsArraysAreUsedForOnOtherQueues) {
  for (const bool ordered : {true, false}) {
    for (const bool has_event : {true, false}) {
      sycl::queue first = in_order();
      sycl::queue q = ordered ? in_order() : out_of_order();
      const kernel add = add_to(q);
      const kernel multiply =
          program::build(q, "USMX_KERNEL(1) multiply(int* x, int n) { x[usmx::global_id()] *= n; }")
              .get("multiply");
      const array x = zeros(q, 100);
      check::gate gate(first);
      const sycl::event before = add.launch(first, 100, {x, 1});
      if (has_event) {
        multiply.launch(q, 100, {x, 10});
      } else {
        multiply.enqueue(q, 100, {x, 10});
      }
      CHECK(is_held(marker(q)));
      CHECK(!is_done(before));
      gate.open();
      wait(q);
      CHECK(is_done(before));
      CHECK(read(q, x) == std::vector<int>(100, 10));
    }
  }
}

TEST(Enqueue, ForeignMemoryWaitsForItsWholeQueue) {
  sycl::queue theirs = in_order();
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array memory = zeros(theirs, 100);
  const std::int64_t shape[] = {100};
  const array x = array::adopt(theirs, memory.data(), shape, dtype::of<int>(), nullptr);
  check::gate gate(theirs);
  const int six = 6;
  theirs.fill(memory.data(), six, 100);
  const sycl::event added = add.launch(q, 100, {x, 1});
  CHECK(is_held(added));
  gate.open();
  wait(added);
  CHECK(read(q, x) == std::vector<int>(100, 7));
}

TEST(Enqueue, OrderedByHandItComesAfterItsEventsAlone) {
  sycl::queue first = in_order();
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 100);
  const array y = zeros(q, 100);
  check::gate gate(first);
  add.launch(first, 100, {x, 1});
  wait(add.launch(q, 100, {x, 0}, {}, ordering::by_hand));
  const sycl::event before[] = {add.launch(first, 100, {y, 1})};
  const sycl::event held = add.launch(q, 100, {x, 1}, before, ordering::by_hand);
  CHECK(!is_done(held));
  gate.open();
  wait(held);
  CHECK(is_done(before[0]));
}

TEST(Enqueue, AMarkerComesAfterIt) {
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 10);
  wait(q);
  check::gate gate(q);
  add.enqueue(q, 10, {x, 1});
  const sycl::event last = marker(q);
  CHECK(!is_done(last));
  CHECK(!is_idle(q));
  gate.open();
  wait(last, q);
  CHECK(is_idle(q));
  CHECK(read(q, x) == std::vector<int>(10, 1));
}

TEST(Enqueue, KeepsMemoryBusyUntilItHasRun) {
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 10);
  CHECK(!x.keep_alive()->busy());
  check::gate gate(q);
  add.enqueue(q, 10, {x, 1});
  CHECK(x.keep_alive()->busy());
  CHECK(x.keep_alive()->has_own_work());
  std::vector<sycl::event> before;
  x.keep_alive()->pending(q, before);
  CHECK(before.empty());  // the queue's order does it
  x.keep_alive()->pending(in_order(), before);
  CHECK_EQUAL(before.size(), 1u);
  gate.open();
  x.wait();
  CHECK(!x.keep_alive()->busy());
}

TEST(Enqueue, AnEventOfALaterCommandCountsAgain) {
  // What an open use without an end would prevent.
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 10);
  add.enqueue(q, 10, {x, 1});
  wait(add.launch(q, 10, {x, 1}), q);
  check::gate gate(q);
  CHECK(!x.keep_alive()->busy());  // the queue is, the memory's own last command is done
}

TEST(Enqueue, FreedMemoryIsUsedAgainOnItsQueueAndNowhereElse) {
  const auto resource = std::make_shared<queue_ordered_resource>(std::make_shared<usm_resource>(
      default_queue().get_context(), default_queue().get_device(), usm_kind::device));
  sycl::queue q = in_order();
  const sycl::queue other = in_order();
  const kernel add = add_to(q);
  wait(q);
  check::gate gate(q);
  const auto use_and_drop = [&] {
    const shared_owner o = allocate(resource, q, 400);
    any_view view;
    CHECK(any_view::row(o->base(), dtype::of<int>(), 100, usm_kind::device, view) == fault::none);
    add.enqueue(q, 100, {array::over(view, q, o), 1});
    return o->base();
  };
  std::byte* const first = use_and_drop();
  CHECK(use_and_drop() == first);  // a wait would never end: the gate is closed
  // Kept: a driver may wait for all that runs when memory goes back to it, and the gate is closed.
  const shared_owner elsewhere = allocate(resource, other, 400);
  CHECK(elsewhere->base() != first);
  gate.open();
  wait(q);
  drain();
}

TEST(Enqueue, WhatIsRefusedLeavesTheMemoryIdle) {
  sycl::queue q = in_order();
  const kernel add = add_to(q);
  const array x = zeros(q, 10);
  CHECK_THROWS(std::invalid_argument, add.enqueue(q, 10, {x}));
  CHECK_THROWS(interop_error, add.enqueue(q, 10, {x, 1.0f}));
  check::gate gate(q);
  CHECK(!x.keep_alive()->busy());
}

TEST(Enqueue, FromManyThreadsThatWaitForTheQueue) {
  sycl::queue shared = in_order();
  const kernel add = add_to(shared);
  constexpr int threads = 8;
  constexpr int rounds = 200;
  for (const bool together : {true, false}) {
    std::atomic<int> wrong = 0;
    const array common = zeros(shared, 64);
    {
      std::vector<std::jthread> running;
      for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
          sycl::queue q = together ? shared : in_order();
          const array own = zeros(q, 64);
          for (int k = 0; k < rounds; ++k) {
            add.enqueue(q, 64, {own, 1});
            if (together) add.enqueue(q, 64, {common, 1});
            if (k % 3 == 0) wait(q);
            if (k % 7 == 0) wait(marker(q), q);
            if (k % 50 == 0 && !together) {
              wait(q);
              q = in_order();  // the old one ends right after a wait
            }
          }
          wrong += read(q, own) != std::vector<int>(64, rounds);
        });
      }
    }
    CHECK_EQUAL(wrong.load(), 0);
    if (together) CHECK(read(shared, common) == std::vector<int>(64, threads * rounds));
  }
  // What was dropped a moment before its queue was seen to be idle waits for the next allocation,
  // and in this program none comes.
  drain();
}

}  // namespace
}  // namespace usmx
