// One command on its way: behind what its memory waits for, and its memory knows it until it ends,
// also if it throws or is never submitted.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/submission.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "usmx/copy.hpp"
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
