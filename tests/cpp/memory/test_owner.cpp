// An owner and its reference count are one piece of the heap, and blocks may come and go without
// waiting: what that must not change.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "paper_resource.hpp"
#include "usmx/memory.hpp"
#include "usmx/pool.hpp"
#include "usmx/resources.hpp"
#include "usmx/wait.hpp"

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

TEST(Owner, KeepsInMindWhatIsPendingWhenACommandWithoutWorkFollows) {
  sycl::queue queue = new_queue();
  const shared_owner o = allocate(default_resource(queue, usm_kind::device), 100);
  check::gate gate(queue);
  o->used_on(queue);
  o->used_until(queue, queue.memset(o->base(), 1, 100));
  o->used_on(queue);
  const sycl::event nothing = queue.memset(o->base(), 1, 0);
  CHECK(is_done(nothing));  // although what came before has not begun
  o->used_until(queue, nothing);
  CHECK(o->busy());
  CHECK(o->has_own_work());
  gate.open();
  o->wait();
  CHECK(!o->busy());
}

TEST(Owner, IsSeenByTheHostAsLongAsAViewLives) {
  const auto paper = std::make_shared<paper_resource>();
  shared_owner o = allocate(paper, 100);
  CHECK(!o->is_seen_by_host());
  {
    host_access first(o);
    CHECK(o->is_seen_by_host());
    CHECK(o->is_exposed());
    host_access second(o);
    host_access moved = std::move(first);
    first.end();  // it has none any more
    second.end();
    second.end();
    CHECK(o->is_seen_by_host());
  }
  CHECK(!o->is_seen_by_host());
  CHECK(!o->is_exposed());
  host_access last(o);
  o.reset();
  CHECK(paper->held() > 0);
  last.end();
  CHECK_EQUAL(paper->held(), 0u);
}

TEST(Owner, IsSeenByTheHostForGoodWithoutAnEnd) {
  const shared_owner o = allocate(std::make_shared<paper_resource>(), 100);
  o->exposed_to_host();
  host_access(o).end();
  CHECK(o->is_seen_by_host());
}

TEST(Owner, CountsViewsOfSeveralThreads) {
  const shared_owner o = allocate(std::make_shared<paper_resource>(), 100);
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k) {
      threads.emplace_back([&] {
        for (int round = 0; round < 1000; ++round) {
          const host_access view(o);
          CHECK(o->is_seen_by_host());
        }
      });
    }
  }
  CHECK(!o->is_seen_by_host());
}

TEST(Owner, AsksTheQueueOfAnExportedArrayOnceItsHandleHasLeft) {
  sycl::queue home = new_queue();
  sycl::queue theirs = new_queue();
  const shared_owner o = allocate(default_resource(home, usm_kind::device), 100);
  o->exposed_on(theirs, home);
  check::gate gate(home);
  home.memset(o->base(), 1, 100);  // of another library that has the queue
  if (!has_left(home)) CHECK(!o->busy());
  leaves(home);
  CHECK(has_left(home));
  CHECK(o->busy());
  CHECK(!o->has_own_work());
  std::vector<sycl::event> before;
  o->pending(theirs, before);
  CHECK_EQUAL(before.size(), 1u);
  std::vector<sycl::queue> queues;
  o->add_exposed_queues(home, queues);
  CHECK(queues == std::vector{theirs});
  gate.open();
  o->wait();
  CHECK(!o->busy());
}

TEST(MemoryThatCameBack, HasTheOwnerThatIsThere) {
  const shared_owner o = allocate(std::make_shared<paper_resource>(), 4096);
  const shared_owner unknown = adopt(o->base() + 64, 100, {});
  CHECK(unknown.get() != o.get());  // its address never left
  CHECK(!came_back(unknown));
  address_leaves(o);
  CHECK(o->is_known());
  CHECK(!came_back(o));
  int deleted = 0;
  shared_owner back = adopt(o->base() + 64, 100, [&](void*) { ++deleted; });
  CHECK_EQUAL(back.get(), o.get());
  CHECK(came_back(back));
  CHECK_EQUAL(kept_by(back)->base(), o->base() + 64);
  CHECK_EQUAL(kept_by(back)->bytes(), 100u);
  CHECK_EQUAL(kept_by(o), static_cast<const owner*>(o.get()));
  const shared_owner again = adopt(back->base(), 1, {});
  CHECK_EQUAL(again.get(), o.get());
  for (const auto& [offset, bytes] : {std::pair{0, 4097}, {4000, 97}, {4096, 1}, {-1, 10}}) {
    CHECK(!came_back(adopt(o->base() + offset, static_cast<std::size_t>(bytes), {})));
  }
  CHECK_EQUAL(deleted, 0);
  back.reset();
  CHECK_EQUAL(deleted, 1);
}

TEST(MemoryThatCameBack, KeepsTheMemoryAndIsNotTheOnlyReference) {
  const auto paper = std::make_shared<paper_resource>();
  shared_owner o = allocate(paper, 4096);
  const std::byte* const base = o->base();
  address_leaves(o);
  shared_owner back = adopt(o->base(), 4096, {});
  o.reset();
  CHECK(!back->try_release());
  CHECK(paper->held() > 0);
  back.reset();
  CHECK_EQUAL(paper->held(), 0u);
  CHECK(!came_back(adopt(const_cast<std::byte*>(base), 4096, {})));
}

TEST(MemoryThatCameBack, EndsBehindTheCommandsOnIt) {
  sycl::queue queue = new_queue();
  const shared_owner o = allocate(default_resource(queue, usm_kind::device), 100);
  address_leaves(o);
  bool is_deleted = false;
  shared_owner back = adopt(o->base(), 100, [&](void*) { is_deleted = true; });
  check::gate gate(queue);
  back->used_on(queue);
  back->used_until(queue, queue.memset(o->base(), 1, 100));
  CHECK(o->has_own_work());
  back.reset();
  CHECK(!is_deleted);
  gate.open();
  drain();
  CHECK(is_deleted);
  CHECK(!o->busy());
}

TEST(MemoryThatCameBack, IsFoundByThreadsWhileItEnds) {
  const auto pool = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        shared_owner o = allocate(pool, 100);
        address_leaves(o);
        shared_owner back = adopt(o->base(), 100, {});
        CHECK_EQUAL(back.get(), o.get());
        if (round % 2 == 0) o.reset();
      }
    });
  }
  threads.clear();
  CHECK_EQUAL(pool->stats().blocks, 0u);
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
