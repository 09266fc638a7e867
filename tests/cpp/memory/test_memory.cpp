// Memory lives exactly as long as it must: resources, owners, and the bytes that wait for a queue.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/memory.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include <sycl/properties/queue_properties.hpp>

#include "failing_new.hpp"
#include "gate.hpp"
#include "resource_suite.hpp"
#include "usmx/array.hpp"

namespace usmx {
namespace {

std::shared_ptr<memory_resource> direct(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<usm_resource>(q.get_context(), q.get_device(), kind);
}
const int direct_added = resource_suite<direct>::add("UsmResource");
const int default_added = resource_suite<default_resource>::add("DefaultResource");

sycl::queue new_queue() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}

/// Runs `wait` on a thread of its own and opens the gate after it began; true if it returned only
/// after that.
template <class Wait>
bool returns_only_after_opening(check::gate& gate, Wait wait) {
  std::atomic<bool> entered = false;
  std::atomic<bool> opened = false;
  std::atomic<bool> in_order = false;
  std::jthread waiter([&] {
    entered = true;
    wait();
    in_order = opened.load();
  });
  while (!entered) std::this_thread::yield();
  // Proves nothing by itself; it gives a wait that does not wait the time to be caught.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  opened = true;
  gate.open();
  waiter.join();
  return in_order;
}

/// Counts what an upstream has handed out and not got back.
class counting_resource final : public memory_resource {
 public:
  explicit counting_resource(std::shared_ptr<memory_resource> upstream)
      : upstream_(std::move(upstream)) {}
  usm_kind kind() const noexcept override { return upstream_->kind(); }
  sycl::context context() const override { return upstream_->context(); }
  sycl::device device() const override { return upstream_->device(); }
  std::atomic<int> live = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const p = upstream_->allocate(bytes, alignment);
    ++live;
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override {
    upstream_->deallocate(p, bytes, alignment);
    --live;
  }
  std::shared_ptr<memory_resource> upstream_;
};

std::shared_ptr<counting_resource> counted(usm_kind kind = usm_kind::device) {
  return std::make_shared<counting_resource>(direct(default_queue(), kind));
}

TEST(UsmResource, RefusesAKindThatIsNone) {
  const sycl::queue q = default_queue();
  CHECK_THROWS(std::invalid_argument,
               usm_resource(q.get_context(), q.get_device(), usm_kind::unknown));
}

TEST(DefaultResource, IsOnePerContextDeviceAndKind) {
  const sycl::queue q = default_queue();
  CHECK(default_resource(q, usm_kind::shared) == default_resource(new_queue(), usm_kind::shared));
  CHECK(default_resource(q, usm_kind::shared) != default_resource(q, usm_kind::device));
  const sycl::queue other(sycl::context(q.get_device()), q.get_device());
  CHECK(default_resource(q, usm_kind::shared) != default_resource(other, usm_kind::shared));
}

TEST(DefaultResource, LetsOldContextsGo) {
  const sycl::device device = default_queue().get_device();
  std::weak_ptr<memory_resource> first;
  for (int k = 0; k < 70; ++k) {
    const sycl::queue q(sycl::context(device), device);
    const auto r = default_resource(q, usm_kind::host);
    if (k == 0) first = r;
  }
  CHECK(first.expired());
}

TEST(Owner, GivesBytesBackAtOnceWhenNoQueueUsesThem) {
  const auto resource = counted();
  const sycl::queue q = new_queue();
  {
    const shared_owner o = allocate(resource, 1000);
    CHECK_EQUAL(o->bytes(), 1000u);
    CHECK_EQUAL(resource->live, 1);
    o->used_on(q);
    CHECK(!o->busy());
    o->wait();
  }
  CHECK_EQUAL(resource->live, 0);
  CHECK_EQUAL(collect(), 0u);
}

TEST(Owner, KeepsBytesUntilTheQueueThatUsesThemHasPassed) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  std::array<std::uint8_t, 4> seen{};
  {
    const shared_owner o = allocate(resource, 4);
    o->used_on(q);
    q.memset(o->base(), 7, 4);
    q.memcpy(seen.data(), o->base(), 4);
    CHECK(o->busy());
  }
  CHECK_EQUAL(resource->live, 1);
  CHECK_EQUAL(collect(), 1u);
  gate.open();
  drain();
  CHECK_EQUAL(resource->live, 0);
  CHECK_EQUAL(collect(), 0u);
  CHECK_EQUAL(seen[3], 7);  // the commands had their memory
}

TEST(Owner, WaitsForEveryQueueThatWasNamed) {
  const auto resource = counted();
  sycl::queue one = new_queue();
  sycl::queue two = new_queue();
  check::gate first(one);
  check::gate second(two);
  {
    const shared_owner o = allocate(resource, 4);
    o->used_on(one);
    o->used_on(two);
    o->used_on(one);
  }
  first.open();
  one.wait();
  CHECK_EQUAL(collect(), 1u);
  CHECK_EQUAL(resource->live, 1);
  second.open();
  two.wait();
  drain();
  CHECK_EQUAL(resource->live, 0);
}

TEST(Owner, AnOutOfOrderQueueIsMarkedBehindAllOfItsWork) {
  const auto resource = counted();
  sycl::queue q(default_queue().get_context(), default_queue().get_device());
  sycl::queue blocked = new_queue();
  check::gate gate(blocked);
  const sycl::event passed = blocked.ext_oneapi_submit_barrier();
  {
    const shared_owner o = allocate(resource, 64);
    o->used_on(q);
    q.memset(o->base(), 1, 64, passed);
  }
  CHECK_EQUAL(collect(), 1u);
  CHECK_EQUAL(resource->live, 1);
  gate.open();
  drain();
  CHECK_EQUAL(resource->live, 0);
}

TEST(Owner, WaitReturnsWhenTheQueueIsDone) {
  sycl::queue q = new_queue();
  check::gate gate(q);
  const shared_owner o = allocate(counted(), 4);
  o->used_on(q);
  CHECK(returns_only_after_opening(gate, [&] { o->wait(); }));
  CHECK(!o->busy());
}

TEST(Owner, TellsItsOwnWorkFromThatOfOthers) {
  sycl::queue q = new_queue();
  check::gate gate(q);
  const shared_owner o = allocate(counted(), 4);
  o->exposed_on(q);
  CHECK(o->busy());
  CHECK(!o->has_own_work());
  o->used_on(q);
  CHECK(o->has_own_work());
  o->exposed_on(q);
  CHECK(o->has_own_work());
  gate.open();
  o->wait();
  CHECK(!o->has_own_work());
}

TEST(Owner, AsksTheEventOfTheLastCommandRatherThanTheQueue) {
  sycl::queue q = new_queue();
  const shared_owner o = allocate(counted(), 4);
  o->used_on(q);
  o->used_until(q, sycl::event());
  // What comes later in the queue is not about these bytes.
  check::gate gate(q);
  CHECK(!is_idle(q));
  CHECK(!o->has_own_work());
  CHECK(!o->busy());
  o->wait();
  o->exposed_on(q);  // commands of others may be anywhere in the queue
  CHECK(!o->has_own_work());
  CHECK(o->busy());
  o->used_on(q);
  CHECK(o->has_own_work());
  o->used_until(q, marker(q));
  CHECK(o->has_own_work());
}

TEST(Owner, AsksTheQueueIfItCannotKnowWhichCommandIsTheLast) {
  sycl::queue q = new_queue();
  const shared_owner o = allocate(counted(), 4);
  o->used_on(q);
  o->used_on(q);
  o->used_until(q, sycl::event());
  check::gate gate(q);
  CHECK(o->has_own_work());  // one has not said that it is done
  o->used_until(q, sycl::event());
  CHECK(o->has_own_work());  // both have, in an unknown order
  o->used_on(q);
  const sycl::event last = marker(q);
  o->used_until(q, last);
  gate.open();
  wait(last, q);
  check::gate later(q);
  CHECK(!o->has_own_work());  // alone, and behind the other two
}

TEST(Owner, AsksAnOutOfOrderQueueWhateverCommandIsTheLast) {
  sycl::queue q(default_queue().get_context(), default_queue().get_device());
  const shared_owner o = allocate(counted(), 4);
  check::gate gate(q);
  o->used_on(q);
  o->used_until(q, sycl::event());
  CHECK(o->has_own_work());
}

TEST(Owner, KnowsWhetherItsBytesAreSomebodyElses) {
  CHECK(!allocate(counted(), 4)->is_lent());
  std::byte bytes[4];
  CHECK(adopt(bytes, 4, nullptr)->is_lent());
}

TEST(Owner, KeepsBytesWhileOthersMayUseThem) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  allocate(resource, 4)->exposed_on(q);
  CHECK_EQUAL(collect(), 1u);
  CHECK_EQUAL(resource->live, 1);
  gate.open();
  drain();
  CHECK_EQUAL(resource->live, 0);
}

TEST(Owner, WorksWithMoreQueuesThanItKeeps) {
  const auto resource = counted();
  {
    const shared_owner o = allocate(resource, 4);
    for (int k = 0; k < 200; ++k) o->used_on(new_queue());
  }
  CHECK_EQUAL(resource->live, 0);
}

TEST(Retired, ASlowQueueHidesNobodyWhoWaitsBehindIt) {
  const auto resource = counted();
  sycl::queue slow = new_queue();
  sycl::queue fast = new_queue();
  check::gate closed(slow);
  check::gate opened(fast);
  for (int k = 0; k < 50; ++k) allocate(resource, 4)->used_on(slow);
  allocate(resource, 4)->used_on(fast);
  CHECK_EQUAL(resource->live, 51);
  opened.open();
  fast.wait();
  // No call of ours to collect(): allocations alone must find it.
  for (int k = 0; k < 20; ++k) static_cast<void>(allocate(counted(), 4));
  CHECK_EQUAL(resource->live, 50);
  closed.open();
  drain();
  CHECK_EQUAL(resource->live, 0);
}

TEST(Retired, DrainWaits) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  for (int k = 0; k < 5; ++k) allocate(resource, 4)->used_on(q);
  CHECK(returns_only_after_opening(gate, [] { drain(); }));
  CHECK_EQUAL(resource->live, 0);
}

TEST(Retired, ManyThreadsRetireAndAllocateAtOnce) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 8; ++t) {
      workers.emplace_back([&] {
        for (int k = 0; k < 50; ++k) allocate(resource, 64)->used_on(q);
      });
    }
  }
  CHECK_EQUAL(resource->live, 400);
  gate.open();
  q.wait();
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 8; ++t) {
      workers.emplace_back([&] {
        for (int k = 0; k < 50; ++k) {
          allocate(resource, 64)->used_on(q);
          static_cast<void>(collect());
        }
      });
    }
  }
  drain();
  CHECK_EQUAL(resource->live, 0);
}

TEST(Retired, WithoutAMarkerTheCollectionWaitsForTheQueue) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  shared_owner o = allocate(resource, 4);
  o->used_on(q);
  CHECK(returns_only_after_opening(gate, [&] {
    o.reset();         // on a thread that may not ask the queue
    new_fails_in = 0;  // no memory for the marker
    collect();
    new_fails_in = -1;
  }));
  CHECK_EQUAL(resource->live, 0);
  CHECK_EQUAL(collect(), 0u);
}

TEST(Allocate, LosesNothingWhateverThrows) {
  const auto resource = counted();
  bool done = false;
  int failed = 0;
  for (int n = 0; !done; ++n) {
    try {
      std::shared_ptr<memory_resource> passed = resource;
      new_fails_in = n;
      const shared_owner o = allocate(std::move(passed), 64);
      done = new_fails_in >= 0;
      new_fails_in = -1;
      CHECK_EQUAL(resource->live, 1);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    new_fails_in = -1;
    CHECK_EQUAL(resource->live, 0);
  }
  CHECK(failed >= 1);  // the owner with its reference count, what the runtime needs
}

TEST(Adopt, CallsTheDeleterOnce) {
  int block = 0;
  std::atomic<int> deleted = 0;
  void* seen = nullptr;
  {
    const shared_owner o = adopt(&block, sizeof block, [&](void* p) {
      seen = p;
      ++deleted;
    });
    const shared_owner copy = o;
    CHECK_EQUAL(deleted, 0);
  }
  CHECK_EQUAL(deleted, 1);
  CHECK(seen == &block);
  static_cast<void>(adopt(&block, sizeof block, nullptr));  // nothing to call is fine
}

TEST(Adopt, CallsTheDeleterOnceAlsoIfItThrows) {
  int failed = 0;
  bool done = false;
  for (int n = 0; !done; ++n) {
    int block = 0;
    int deleted = 0;
    std::function<void(void*)> deleter = [&deleted](void*) { ++deleted; };
    try {
      new_fails_in = n;
      const shared_owner o = adopt(&block, sizeof block, std::move(deleter));
      done = new_fails_in >= 0;
      new_fails_in = -1;
      CHECK_EQUAL(deleted, 0);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    new_fails_in = -1;
    CHECK_EQUAL(deleted, 1);
  }
  CHECK_EQUAL(failed, 1);  // the owner; its reference count lies in it
}

TEST(Adopt, CallsTheDeleterOnceFromManyThreads) {
  std::atomic<int> deleted = 0;
  for (int round = 0; round < 200; ++round) {
    shared_owner o = adopt(nullptr, 0, [&](void*) { ++deleted; });
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([copy = o] {});
    o.reset();
  }
  drain();  // threads that did nothing else put it aside
  CHECK_EQUAL(deleted, 200);
}

TEST(Adopt, AnArrayOfForeignMemoryFreesItThroughItsOwnDeleter) {
  const sycl::queue q = default_queue();
  const auto resource = counted(usm_kind::shared);
  void* const data = resource->allocate(12 * sizeof(float));
  const auto free = [&](void* p) { resource->deallocate(p, 12 * sizeof(float)); };
  const std::array<std::int64_t, 2> shape = {3, 4};
  {
    const array a = array::adopt(q, data, shape, dtype::of<float>(), free);
    CHECK_EQUAL(a.kind(), usm_kind::shared);
    CHECK_EQUAL(a.elements().size(), 12);
    CHECK_EQUAL(resource->live, 1);
  }
  CHECK_EQUAL(resource->live, 0);
}

TEST(Adopt, AnArrayThatIsRefusedFreesTheMemoryToo) {
  const sycl::queue q = default_queue();
  int deleted = 0;
  int on_the_stack = 0;
  const std::array<std::int64_t, 1> shape = {1};
  CHECK_THROWS(interop_error,
               array::adopt(q, &on_the_stack, shape, dtype::of<int>(), [&](void*) { ++deleted; }));
  CHECK_EQUAL(deleted, 1);
}

TEST(Adopt, ADeleterMayAllocateAndFree) {
  const auto resource = counted();
  sycl::queue q = new_queue();
  check::gate gate(q);
  adopt(nullptr, 0, [&](void*) { static_cast<void>(allocate(resource, 64)); })->used_on(q);
  gate.open();
  drain();
  CHECK_EQUAL(resource->live, 0);
  CHECK_EQUAL(collect(), 0u);
}

}  // namespace
}  // namespace usmx
