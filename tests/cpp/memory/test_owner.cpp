// An owner and its reference count are one piece of the heap, and blocks may come and go without
// waiting: what that must not change.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "paper_resource.hpp"
#include "usmx/memory.hpp"
#include "usmx/pool.hpp"
#include "usmx/resources.hpp"

namespace usmx {
namespace {

sycl::queue new_queue() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}

TEST(TryAllocate, GivesWhatThePoolHasAndAsksNobody) {
  const auto paper = std::make_shared<paper_resource>();
  const auto pool = std::make_shared<pool_resource>(paper);
  CHECK(try_allocate(pool, 100) == nullptr);
  CHECK_EQUAL(paper->calls.load(), 0);
  allocate(pool, 100).reset();
  const int calls = paper->calls;
  shared_owner o = try_allocate(pool, 100);
  CHECK(o != nullptr);
  CHECK_EQUAL(o->bytes(), 100u);
  CHECK_EQUAL(pool->stats().used, 100u);
  CHECK(!o->is_lent());
  o.reset();
  CHECK_EQUAL(pool->stats().blocks, 0u);
  CHECK(try_allocate(pool, std::size_t{1} << 40) == nullptr);
  CHECK(try_allocate(pool, 100, 3) == nullptr);
  CHECK_EQUAL(paper->calls.load(), calls);
}

TEST(TryAllocate, ReturnsASpareOfALargeBlock) {
  const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  constexpr std::size_t large = 100 << 20;
  const void* const first = allocate(pool, large)->base();
  const shared_owner again = try_allocate(pool, large);
  CHECK(again != nullptr);
  CHECK_EQUAL(again->base(), first);
}

TEST(TryAllocate, LeavesOtherResourcesToAllocate) {
  CHECK(try_allocate(std::make_shared<paper_resource>(), 1) == nullptr);
}

TEST(Owner, RemembersWhatItHasWaitedFor) {
  sycl::queue queue = new_queue();
  const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  const shared_owner o = allocate(pool, 100);
  o->used_on(queue);
  queue.ext_oneapi_submit_barrier();
  o->used_until(queue);  // no event: only the queue knows
  CHECK(!o->try_submitted().has_value());
  o->wait();
  CHECK(o->try_submitted() == false);
  CHECK(!o->busy());
  o->used_on(queue);
  o->wait();  // others are still submitting
  CHECK(o->try_submitted() != false);
  o->used_until(queue);
}

TEST(Owner, ForgetsWhatItHasFoundToHaveEnded) {
  sycl::queue queue = new_queue();
  const auto use = [&](const shared_owner& o) {
    o->used_on(queue);
    sycl::event last = queue.ext_oneapi_submit_barrier();
    o->used_until(queue, last);
    last.wait();
  };
  const auto gives_back_at_once = [&](auto ask) {
    const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
    const shared_owner o = allocate(pool, 100);
    use(o);
    CHECK(!o->try_release());  // an event that was not asked yet
    ask(*o);
    return o->try_release();
  };
  CHECK(gives_back_at_once([](owner& o) { CHECK(o.try_submitted() == false); }));
  CHECK(gives_back_at_once([](owner& o) { CHECK(o.try_own_work() == false); }));
  CHECK(gives_back_at_once([](owner& o) { CHECK(!o.has_submitted_work()); }));
  CHECK(gives_back_at_once([](owner& o) { o.wait(); }));
  CHECK(!gives_back_at_once([&](owner& o) {
    o.exposed_on(queue);  // what others submit is known to the queue only
    o.wait();
  }));
}

TEST(TryRelease, GivesBackOnceAndAtOnce) {
  const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  shared_owner o = allocate(pool, 64);
  CHECK(o->try_release());
  CHECK_EQUAL(pool->stats().blocks, 0u);
  const shared_owner other = allocate(pool, 64);  // the same block, most likely
  o.reset();
  CHECK_EQUAL(pool->stats().blocks, 1u);
}

TEST(TryRelease, LeavesToTheEndWhatTheUpstreamGets) {
  const auto paper = std::make_shared<paper_resource>();
  const auto pool = std::make_shared<pool_resource>(paper, pool_limits{.release_above = 0});
  shared_owner o = allocate(pool, 2 << 20);
  CHECK(!o->try_release());
  CHECK_EQUAL(pool->stats().blocks, 1u);
  CHECK(paper->held() > 0);
  o.reset();
  CHECK_EQUAL(paper->held(), 0u);
}

TEST(TryRelease, LeavesToTheEndWhatAQueueMayUse) {
  sycl::queue q = new_queue();
  const auto pool = std::make_shared<pool_resource>(default_resource(q, usm_kind::device));
  shared_owner o = allocate(pool, 64);
  o->exposed_on(q);
  check::gate gate(q);
  CHECK(!o->try_release());
  o.reset();
  CHECK_EQUAL(pool->stats().blocks, 1u);
  gate.open();
  drain();
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

TEST(Owner, AWeakReferenceMayOutliveIt) {
  const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  shared_owner o = allocate(pool, 64);
  std::weak_ptr<owner> weak = o;
  o.reset();
  CHECK(weak.expired());
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

TEST(Owner, MayEndAfterItsLastReference) {
  sycl::queue q = new_queue();
  int ended = 0;
  std::weak_ptr<owner> weak;
  check::gate gate(q);
  int byte = 0;
  {
    const shared_owner o = adopt(&byte, 1, [&](void*) { ++ended; });
    o->exposed_on(q);
    weak = o;
  }
  CHECK(weak.expired());
  CHECK_EQUAL(ended, 0);
  gate.open();
  drain();
  CHECK_EQUAL(ended, 1);
}

// Such a thread may be the runtime's, in a host task that drops what a library computed on.
void last_reference_goes_on_a_thread_of_others(const sycl::queue& queue) {
  int ended = 0;
  int byte = 0;
  shared_owner used = adopt(&byte, 1, [&](void*) { ++ended; });
  shared_owner unused = adopt(&byte, 1, [&](void*) { ++ended; });
  used->exposed_on(queue);
  std::jthread([&] {
    used.reset();
    unused.reset();
  }).join();
  CHECK_EQUAL(ended, 0);
  drain();
  CHECK_EQUAL(ended, 2);
}

TEST(Owner, LeavesAnInOrderQueueAloneOnAThreadOfOthers) {
  last_reference_goes_on_a_thread_of_others(new_queue());
}
TEST(Owner, LeavesAnOutOfOrderQueueAloneOnAThreadOfOthers) {
  last_reference_goes_on_a_thread_of_others(
      {default_queue().get_context(), default_queue().get_device()});
}

TEST(Owner, EndsAtOnceOnAThreadThatUsesMemory) {
  int ended = 0;
  int byte = 0;
  shared_owner o = adopt(&byte, 1, [&](void*) { ++ended; });
  std::jthread([&] {
    o->wait();
    o.reset();
  }).join();
  CHECK_EQUAL(ended, 1);
}

TEST(Owner, GoesBackWithTheNextAllocationAfterAThreadOfOthersDroppedIt) {
  int ended = 0;
  int byte = 0;
  shared_owner o = adopt(&byte, 1, [&](void*) { ++ended; });
  std::jthread([&] { o.reset(); }).join();
  const auto paper = std::make_shared<paper_resource>();
  allocate(paper, 100);
  CHECK_EQUAL(ended, 1);
}

TEST(DefaultResource, IsTheChosenOneForQueuesThatAskedBefore) {
  const sycl::queue q = new_queue();
  const auto before = default_resource(q, usm_kind::host);
  CHECK(default_resource(q, usm_kind::host) == before);  // known of this queue by now
  const auto chosen = std::make_shared<statistics_resource>(before);
  CHECK(set_default_resource(chosen) == before);
  CHECK(default_resource(q, usm_kind::host) == chosen);
  const auto all = default_resources();
  CHECK(std::find(all.begin(), all.end(), chosen) != all.end());
  CHECK(set_default_resource(before) == chosen);
  CHECK(default_resource(q, usm_kind::host) == before);
}

TEST(UsingResource, ServesItsOwnThreadUntilItEnds) {
  const sycl::queue q = new_queue();
  const auto common = default_resource(q, usm_kind::host);
  const auto first = std::make_shared<statistics_resource>(common);
  const auto second = std::make_shared<statistics_resource>(common);
  {
    using_resource outer(first);
    CHECK(default_resource(q, usm_kind::host) == first);
    CHECK(default_resource(q, usm_kind::shared) != first);
    using_resource inner(second);
    CHECK(default_resource(q, usm_kind::host) == second);
    std::jthread([&] {
      CHECK(default_resource(q, usm_kind::host) == common);
      CHECK(!inner.end());
    }).join();
    CHECK(outer.end());  // in any order
    CHECK(outer.end());
    CHECK(default_resource(q, usm_kind::host) == second);
  }
  CHECK(default_resource(q, usm_kind::host) == common);
  CHECK_THROWS(std::invalid_argument, using_resource(nullptr));
}

TEST(DefaultResource, IsThatOfTheQueueAmongMany) {
  std::vector<sycl::queue> queues;
  for (int k = 0; k < 20; ++k) queues.push_back(new_queue());
  for (int round = 0; round < 3; ++round) {
    for (const sycl::queue& q : queues) {
      for (const usm_kind kind : {usm_kind::host, usm_kind::device, usm_kind::shared}) {
        CHECK(default_resource(q, kind)->kind() == kind);
        CHECK(default_resource(q, kind) == default_resource(queues[0], kind));
      }
    }
  }
  const sycl::context other(queues[0].get_device());
  const sycl::queue foreign(other, queues[0].get_device());
  CHECK(default_resource(foreign, usm_kind::host) == default_resource(foreign, usm_kind::host));
  CHECK(default_resource(foreign, usm_kind::host)->context() == other);
}

TEST(Pool, RemembersItsPeakAndItsLimits) {
  pool_resource pool(std::make_shared<paper_resource>(), {.most = 1 << 30});
  pool.deallocate(pool.allocate(100 << 20), 100 << 20);
  const std::size_t held = pool.stats().held;
  CHECK(held >= 100u << 20);
  pool.trim();
  CHECK_EQUAL(pool.stats().held, 0u);
  CHECK_EQUAL(pool.stats().peak, held);
  CHECK_EQUAL(pool.limits().most, std::size_t{1} << 30);
}

}  // namespace
}  // namespace usmx
