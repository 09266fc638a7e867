// Freed memory is reused on its own queue at once, and elsewhere when its commands have ended.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/queue_ordered.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "failing_new.hpp"
#include "gate.hpp"
#include "pool_checks.hpp"
#include "resource_suite.hpp"
#include "usmx/array.hpp"
#include "usmx/resources.hpp"

namespace usmx {
namespace {

std::shared_ptr<memory_resource> direct(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<usm_resource>(q.get_context(), q.get_device(), kind);
}
std::shared_ptr<memory_resource> ordered(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<queue_ordered_resource>(direct(q, kind));
}
std::shared_ptr<memory_resource> ordered_pool(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<queue_ordered_resource>(std::make_shared<pool_resource>(direct(q, kind)));
}
const int direct_added = resource_suite<ordered>::add("QueueOrderedResource");
const int pool_added = resource_suite<ordered_pool>::add("QueueOrderedPool");

sycl::queue new_queue() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}

/// A resource that orders by queues, and what it stands on.
struct chain {
  std::shared_ptr<pool_resource> pool;
  std::shared_ptr<queue_ordered_resource> ordered;

  explicit chain(usm_kind kind = usm_kind::device, pool_limits limits = {})
      : pool(std::make_shared<pool_resource>(direct(default_queue(), kind), limits)),
        ordered(std::make_shared<queue_ordered_resource>(pool)) {}
};

/// Has a command on the bytes, and ends.
std::byte* use_and_drop(const chain& c, sycl::queue& q, std::size_t bytes) {
  const shared_owner o = allocate(c.ordered, q, bytes);
  o->used_on(q);
  o->used_until(q, q.memset(o->base(), 1, std::min<std::size_t>(bytes, 64)));
  return o->base();
}

TEST(QueueOrder, ABlockComesBackToItsQueueAtOnce) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  std::byte* const first = use_and_drop(c, q, 1000);
  CHECK_EQUAL(c.ordered->stats().blocks, 1u);
  CHECK_EQUAL(c.ordered->stats().bytes, 1000u);
  for (int k = 0; k < 100; ++k) {
    CHECK(use_and_drop(c, q, 1000) == first);  // a wait would never end: the gate is closed
  }
  CHECK_EQUAL(c.ordered->stats().reused, 100u);
  CHECK_EQUAL(c.pool->stats().blocks, 1u);
  gate.open();
  drain();
  CHECK_EQUAL(c.ordered->stats().blocks, 0u);
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, ABlockWithoutACommandComesBackToItsQueueToo) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  std::byte* const first = use_and_drop(c, q, 1000);
  for (int k = 0; k < 3; ++k) {
    const shared_owner o = allocate(c.ordered, q, 1000);
    CHECK(o->base() == first);
    CHECK(o->has_own_work());  // of the previous owner
    CHECK(o->busy());
  }
  gate.open();
  q.wait();
  const shared_owner o = allocate(c.ordered, q, 1000);
  CHECK(o->base() == first);
  CHECK(!o->busy());
}

TEST(QueueOrder, WhatIsStackedOnItKeepsTheOrder) {
  const chain c(usm_kind::shared);
  sycl::queue q = new_queue();
  const auto path = std::filesystem::temp_directory_path() /
                    ("usmx_queue_order_" + std::to_string(getpid()) + ".csv");
  const auto counted = std::make_shared<statistics_resource>(c.ordered);
  const auto tracked = std::make_shared<tracking_resource>(
      std::make_shared<limiting_resource>(counted, 4096), [] { return std::string("here"); });
  const std::shared_ptr<memory_resource> tower = std::make_shared<binning_resource>(
      std::make_shared<aligned_resource>(
          std::make_shared<failure_callback_resource>(
              std::make_shared<logging_resource>(tracked, path.string()),
              [](std::size_t) { return false; }),
          256),
      std::vector<binning_resource::bin>{});
  const auto use = [&] {
    const shared_owner o = allocate(tower, q, 1000);
    o->used_on(q);
    o->used_until(q, q.memset(o->base(), 1, 64));
    return o->base();
  };
  check::gate gate(q);
  std::byte* const first = use();
  for (int k = 0; k < 20; ++k) {
    CHECK(use() == first);  // nothing waits, and the limit is one of four such blocks
    CHECK_EQUAL(counted->now().blocks, 0u);
    CHECK(tracked->alive().empty());
  }
  CHECK_EQUAL(counted->now().total_blocks, 21u);
  CHECK_EQUAL(c.ordered->stats().reused, 20u);
  gate.open();
  drain();
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
  std::filesystem::remove(path);
}

TEST(QueueOrder, WhatIsStackedOnNoOrderWaitsAsBefore) {
  const auto pool = std::make_shared<pool_resource>(direct(default_queue(), usm_kind::device));
  const auto tracked = std::make_shared<tracking_resource>(pool);
  sycl::queue q = new_queue();
  check::gate gate(q);
  {
    const shared_owner o = allocate(tracked, q, 1000);
    o->used_on(q);
    o->used_until(q, q.memset(o->base(), 1, 64));
  }
  CHECK_EQUAL(tracked->alive().size(), 1u);
  CHECK_EQUAL(pool->stats().blocks, 1u);
  gate.open();
  drain();
  CHECK(tracked->alive().empty());
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

TEST(QueueOrder, OtherQueuesGetOtherBytesUntilTheCommandsAreDone) {
  const chain c;
  sycl::queue q = new_queue();
  const sycl::queue other = new_queue();
  check::gate gate(q);
  std::byte* const first = use_and_drop(c, q, 1000);
  for (int k = 0; k < 20; ++k) {
    CHECK(allocate(c.ordered, other, 1000)->base() != first);
    CHECK(allocate(c.ordered, 1000)->base() != first);
  }
  CHECK_EQUAL(c.ordered->collect(), 1u);
  gate.open();
  q.wait();
  CHECK_EQUAL(c.ordered->collect(), 0u);
  CHECK(allocate(c.ordered, other, 1000)->base() == first);
}

TEST(QueueOrder, CommandsOnAnotherQueueComeAfterThoseOfWhoeverHadTheBytes) {
  const chain c(usm_kind::shared);
  sycl::queue q = new_queue();
  sycl::queue other = new_queue();
  check::gate gate(q);
  std::byte* const first = use_and_drop(c, q, 64);
  const shared_owner o = allocate(c.ordered, q, 64);
  CHECK(o->base() == first);
  o->used_on(other);
  const sycl::event second = other.memset(o->base(), 2, 64);
  o->used_until(other, second);
  CHECK(!is_done(second));
  gate.open();
  o->wait();
  CHECK_EQUAL(static_cast<int>(o->base()[63]), 2);
}

TEST(QueueOrder, WhoGetsTheAddressOnAnotherQueueComesAfterThemToo) {
  const chain c(usm_kind::shared);
  sycl::queue q = new_queue();
  sycl::queue other = new_queue();
  check::gate gate(q);
  use_and_drop(c, q, 64);
  const shared_owner o = allocate(c.ordered, q, 64);
  o->exposed_on(other);
  const sycl::event second = other.memset(o->base(), 2, 64);
  CHECK(!is_done(second));
  gate.open();
  o->wait();
  CHECK_EQUAL(static_cast<int>(o->base()[0]), 2);
}

TEST(QueueOrder, ABlockOfAboutTheSameSizeComesBackAsOneOfTheRightSize) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  for (const auto& [before, after] : {std::pair<std::size_t, std::size_t>{1000, 960},
                                      {100 * KiB, 99 * KiB},
                                      {960, 1000},
                                      {5 * MiB, 5 * MiB - 100 * KiB}}) {
    std::byte* const first = use_and_drop(c, q, before);
    const shared_owner o = allocate(c.ordered, q, after);
    CHECK(o->base() == first);
    CHECK(is_live(*c.pool, first, first, after));  // so that no array reads past its end
    CHECK_EQUAL(c.pool->stats().used - c.ordered->stats().bytes, after);
  }
  std::byte* const first = use_and_drop(c, q, 5 * MiB);
  CHECK(allocate(c.ordered, q, 5 * MiB + 8 * KiB)->base() != first);  // no room
  CHECK(allocate(c.ordered, q, 4 * MiB)->base() != first);            // too much of it
}

TEST(QueueOrder, AlignmentCounts) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  use_and_drop(c, q, 1000);
  for (const std::size_t alignment : {128ul, 4096ul, 1ul << 16}) {
    const shared_owner o = allocate(c.ordered, q, 1000, alignment);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(o->base()) % alignment, 0u);
  }
}

TEST(QueueOrder, AnAddressThatLeftWaitsForWhateverFollowsOnItsQueue) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  std::byte* first = nullptr;
  {
    const shared_owner o = allocate(c.ordered, q, 1000);
    first = o->base();
    o->exposed_on(q);
    q.memset(first, 3, 1000);  // of another library
  }
  CHECK_EQUAL(c.ordered->stats().blocks, 0u);
  CHECK(allocate(c.ordered, q, 1000)->base() != first);
  CHECK_EQUAL(collect(), 1u);
  gate.open();
  drain();
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, AnOutOfOrderQueueHasNoOrder) {
  const chain c;
  sycl::queue q(default_queue().get_context(), default_queue().get_device());
  sycl::queue blocked = new_queue();
  check::gate gate(blocked);
  const sycl::event passed = blocked.ext_oneapi_submit_barrier();
  std::byte* first = nullptr;
  {
    const shared_owner o = allocate(c.ordered, q, 1000);
    first = o->base();
    o->used_on(q);
    q.memset(first, 1, 1000, passed);
  }
  CHECK(allocate(c.ordered, q, 1000)->base() != first);
  gate.open();
  drain();
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, BlocksThatTwoQueuesUsedWaitForBoth) {
  const chain c;
  sycl::queue one = new_queue();
  sycl::queue two = new_queue();
  check::gate first_gate(one);
  check::gate second_gate(two);
  std::byte* first = nullptr;
  {
    const shared_owner o = allocate(c.ordered, one, 1000);
    first = o->base();
    o->used_on(one);
    o->used_on(two);
  }
  CHECK(allocate(c.ordered, one, 1000)->base() != first);
  CHECK(allocate(c.ordered, two, 1000)->base() != first);
  first_gate.open();
  one.wait();
  CHECK_EQUAL(collect(), 1u);
  second_gate.open();
  drain();
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, AQueueMayEndWhileBlocksWaitForIt) {
  const chain c;
  sycl::queue holding = new_queue();
  check::gate gate(holding);
  const sycl::event passed = holding.ext_oneapi_submit_barrier();
  std::byte* first = nullptr;
  {
    sycl::queue q = new_queue();
    q.ext_oneapi_submit_barrier({passed});
    first = use_and_drop(c, q, 1000);
  }
  CHECK_EQUAL(c.ordered->stats().blocks, 1u);
  // One of these may well get the place of the queue that ended, but not its blocks.
  for (int k = 0; k < 50; ++k) {
    const sycl::queue q = new_queue();
    CHECK(allocate(c.ordered, q, 1000)->base() != first);
  }
  gate.open();
  drain();
  CHECK_EQUAL(c.ordered->stats().blocks, 0u);
}

TEST(QueueOrder, ForgetsQueuesForWhichNothingWaits) {
  const chain c;
  for (int k = 0; k < 200; ++k) {
    sycl::queue q = new_queue();
    use_and_drop(c, q, 1000);
  }
  drain();
  CHECK_EQUAL(c.ordered->stats().queues, 0u);
  CHECK_EQUAL(c.ordered->stats().blocks, 0u);
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, ShowsWhatWaits) {
  const chain c;
  sycl::queue one = new_queue();
  sycl::queue two = new_queue();
  check::gate first_gate(one);
  check::gate second_gate(two);
  std::byte* const a = use_and_drop(c, one, 1000);
  std::byte* const b = use_and_drop(c, two, 2000);
  std::byte* const d = use_and_drop(c, one, 3000);
  const auto waiting = c.ordered->waiting();
  CHECK_EQUAL(waiting.size(), 3u);
  CHECK(waiting[0].data == a && waiting[1].data == d && waiting[2].data == b);
  CHECK(waiting[0].queue == waiting[1].queue && waiting[0].queue != waiting[2].queue);
  CHECK_EQUAL(c.ordered->stats().queues, 2u);
  CHECK_EQUAL(c.ordered->stats().bytes, 6000u);
}

TEST(QueueOrder, WaitsForWhatIsInUseBeforeItGivesUp) {
  const chain c(usm_kind::device, {.most = 32 * MiB});
  sycl::queue q = new_queue();
  {
    check::gate gate(q);
    use_and_drop(c, q, 30 * MiB);
    std::jthread opener([&] { gate.open(); });
    const shared_owner o = allocate(c.ordered, new_queue(), 31 * MiB);
    CHECK_EQUAL(c.pool->stats().used, 31 * MiB);
  }
  const shared_owner o = allocate(c.ordered, q, 20 * MiB);
  try {
    static_cast<void>(allocate(c.ordered, q, 20 * MiB));
    CHECK(!"more memory than the pool may hold");
  } catch (const allocation_error& e) {
    const std::string text = e.what();
    CHECK_EQUAL(e.bytes(), 20 * MiB);
    for (const char* words :
         {"1 blocks use 20971520 bytes (20.0 MiB)", "may hold 33554432 bytes"}) {
      CHECK(text.find(words) != std::string::npos);
    }
    CHECK(text.find("queues") == std::string::npos);  // nothing waits for one
  }
}

TEST(QueueOrder, TheEndOfTheResourceWaits) {
  sycl::queue q = new_queue();
  const auto pool = std::make_shared<pool_resource>(direct(q, usm_kind::device));
  auto resource = std::make_shared<queue_ordered_resource>(pool);
  check::gate gate(q);
  {
    const shared_owner o = allocate(resource, q, 1000);
    o->used_on(q);
  }
  CHECK_EQUAL(pool->stats().blocks, 1u);
  std::jthread opener([&] { gate.open(); });
  resource.reset();
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

TEST(QueueOrder, LosesNothingWhateverThrows) {
  sycl::queue q = new_queue();
  int failed = 0;
  bool done = false;
  for (int n = 0; !done; ++n) {
    const chain c;
    {
      check::gate gate(q);
      use_and_drop(c, q, 1000);
      try {
        std::shared_ptr<memory_resource> passed = c.ordered;
        new_fails_in = n;
        const shared_owner o = allocate(std::move(passed), q, 1000);
        done = new_fails_in >= 0;
        new_fails_in = -1;
      } catch (const std::bad_alloc&) {
        ++failed;
      }
    }
    drain();
    CHECK_EQUAL(c.ordered->stats().blocks, 0u);
    CHECK_EQUAL(c.pool->stats().blocks, 0u);
  }
  CHECK(failed >= 3);  // the owner, what it inherits, its reference count
}

TEST(QueueOrder, WithoutMemoryToRememberItABlockWaitsElsewhere) {
  const chain c;
  sycl::queue q = new_queue();
  check::gate gate(q);
  shared_owner o = allocate(c.ordered, q, 1000);
  o->used_on(q);
  o->used_until(q, q.memset(o->base(), 1, 64));
  new_fails_in = 1;  // the list of what the owner waits for comes first
  o.reset();
  new_fails_in = -1;
  CHECK_EQUAL(c.ordered->stats().blocks, 0u);
  CHECK_EQUAL(c.pool->stats().blocks, 1u);
  CHECK_EQUAL(collect(), 1u);
  gate.open();
  drain();
  CHECK_EQUAL(c.pool->stats().blocks, 0u);
}

TEST(QueueOrder, AnArrayOfDeviceMemoryComesBackAtOnceAndOthersWhenTheyAreIdle) {
  sycl::queue q = new_queue();
  const std::array<std::int64_t, 1> shape = {12345};
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
    drain();
    check::gate gate(q);
    void* first = nullptr;
    {
      const array a = array::empty(q, shape, dtype::of<float>(), kind);
      first = a.data();
      a.used_on(q);
      a.used_until(q, q.memset(a.data(), 0, 4));
    }
    const array b = array::empty(q, shape, dtype::of<float>(), kind);
    CHECK_EQUAL(b.data() == first, kind == usm_kind::device);
    // The host may write to it: no command uses the old contents.
    CHECK_EQUAL(b.keep_alive()->busy(), kind == usm_kind::device);
  }
  drain();
}

// --- the runtime's own

TEST(AsyncResource, SaysThatTheDeviceCannot) {
  const sycl::queue q = default_queue();
  if (has_async_allocation(q.get_device())) {
    async_resource resource(q.get_context(), q.get_device(), usm_kind::device);
    resource.deallocate(resource.allocate(1000), 1000);
    return;
  }
  try {
    async_resource resource(q.get_context(), q.get_device(), usm_kind::device);
    CHECK(!"an OpenCL device that allocates in the order of queues");
  } catch (const device_error& e) {
    const std::string text = e.what();
    CHECK(text.find(filter_string(q.get_device())) != std::string::npos);
    CHECK(text.find("queue_ordered_resource") != std::string::npos);
  }
  CHECK_THROWS(std::invalid_argument,
               async_resource(q.get_context(), q.get_device(), usm_kind::unknown));
}

}  // namespace
}  // namespace usmx
