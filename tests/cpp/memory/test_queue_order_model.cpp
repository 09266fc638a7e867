// Random programs on several queues against a model of what is in use, and long ones that must not
// grow.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "pool_checks.hpp"
#include "usmx/queue_ordered.hpp"

namespace usmx {
namespace {

sycl::queue new_queue() {
  return {default_queue().get_context(), default_queue().get_device(),
          sycl::property::queue::in_order()};
}

std::shared_ptr<memory_resource> direct(usm_kind kind = usm_kind::device) {
  return std::make_shared<usm_resource>(default_queue().get_context(), default_queue().get_device(),
                                        kind);
}

struct span_of_bytes {
  const std::byte* base;
  std::size_t bytes;
  bool overlaps(const span_of_bytes& other) const {
    return base < other.base + other.bytes && other.base < base + bytes;
  }
};

/// A queue, and what its commands use that cannot have run yet.
struct modelled_queue {
  sycl::queue queue = new_queue();
  std::unique_ptr<check::gate> gate;
  std::vector<span_of_bytes> in_use;

  bool uses(const span_of_bytes& span) const {
    return std::ranges::any_of(in_use, [&](const auto& used) { return used.overlaps(span); });
  }
  void close() {
    if (!gate) gate = std::make_unique<check::gate>(queue);
  }
  void open() {
    if (gate) gate->open();
  }
  void pass() {
    usmx::wait(queue);
    gate.reset();
    in_use.clear();
  }
};

struct modelled_owner {
  shared_owner owner;
  span_of_bytes span;
};

/// All at once, because one queue may come after another.
void open(std::array<modelled_queue, 4>& queues) {
  for (modelled_queue& q : queues) q.open();
  for (modelled_queue& q : queues) q.pass();
}

/// `steps` random operations; what comes back may be in use by the queue it was asked for alone.
/// How often it was.
std::size_t run_model(unsigned seed, int steps) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<std::size_t>(random() % n); };
  const auto pool = std::make_shared<pool_resource>(direct());
  const auto ordered = std::make_shared<queue_ordered_resource>(pool);
  std::array<modelled_queue, 4> queues;
  std::vector<modelled_owner> live;
  std::size_t at_once = 0;

  for (int step = 0; step < steps; ++step) {
    modelled_queue& q = queues[below(queues.size())];
    const std::size_t what = below(100);
    if (what < 40) {
      constexpr std::array<std::size_t, 6> sizes = {0, 100, 1000, 1010, 70000, 3 << 20};
      const std::size_t bytes = sizes[below(sizes.size())];
      const bool on_queue = below(4) != 0;
      modelled_owner made;
      made.owner = on_queue ? allocate(ordered, q.queue, bytes) : allocate(ordered, bytes);
      made.span = {made.owner->base(), std::max<std::size_t>(bytes, 1)};
      for (const modelled_owner& other : live) CHECK(!made.span.overlaps(other.span));
      const bool used_here = q.uses(made.span);
      CHECK(!used_here || on_queue);
      for (const modelled_queue& other : queues) CHECK(&other == &q || !other.uses(made.span));
      if (used_here) {
        ++at_once;
        CHECK(made.owner->busy());
      }
      live.push_back(std::move(made));
    } else if (what < 70 && !live.empty()) {
      const modelled_owner& o = live[below(static_cast<unsigned>(live.size()))];
      // What comes after a closed queue is as good as closed itself, which the model cannot say.
      if (std::ranges::any_of(queues, [&](const modelled_queue& other) {
            return &other != &q && other.uses(o.span);
          })) {
        continue;
      }
      const bool ours = what < 65;
      if (ours) {
        o.owner->used_on(q.queue);
      } else {
        o.owner->exposed_on(q.queue);  // whose commands are not recorded
      }
      const sycl::event last =
          q.queue.memset(o.owner->base(), step & 0xff, std::min<std::size_t>(o.owner->bytes(), 64));
      if (ours && below(3) != 0) o.owner->used_until(q.queue, last);
      if (q.gate && o.owner->bytes() != 0) q.in_use.push_back(o.span);
    } else if (what < 92 && !live.empty()) {
      std::swap(live[below(static_cast<unsigned>(live.size()))], live.back());
      live.pop_back();
    } else if (what < 96) {
      q.close();
    } else if (what < 98) {
      open(queues);
    } else {
      static_cast<void>(collect());
    }
  }
  open(queues);
  live.clear();
  drain();
  CHECK_EQUAL(ordered->stats().blocks, 0u);
  CHECK_EQUAL(pool->stats().blocks, 0u);
  CHECK_EQUAL(pool->stats().used, 0u);
  return at_once;
}

TEST(QueueOrderModel, NothingComesBackWhileACommandUsesIt) {
  std::size_t at_once = 0;
  for (unsigned seed = 1; seed <= 16; ++seed) at_once += run_model(seed, 1500);
  CHECK(at_once > 20);  // or nothing was tried
}

TEST(QueueOrderModel, ManyThreadsOnManyQueues) {
  const auto pool = std::make_shared<pool_resource>(direct());
  const auto ordered = std::make_shared<queue_ordered_resource>(pool);
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < 4; ++t) {
      workers.emplace_back([&, t] {
        sycl::queue q = new_queue();
        std::mt19937 random(t);
        for (int k = 0; k < 200; ++k) {
          const std::size_t bytes = 1 + random() % 5000;
          const shared_owner o = allocate(ordered, q, bytes);
          o->used_on(q);
          const auto mark = static_cast<std::uint8_t>(random());
          q.memset(o->base(), mark, bytes);
          std::uint8_t seen = 0;
          const sycl::event last = q.memcpy(&seen, o->base() + bytes - 1, 1);
          if (k % 2 == 0) o->used_until(q, last);
          if (k % 8 != 0) continue;
          usmx::wait(last, q);
          CHECK_EQUAL(seen, mark);
        }
        usmx::wait(q);
      });
    }
  }
  drain();
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

TEST(QueueOrderModel, AMillionOperationsDoNotGrow) {
  const auto pool = std::make_shared<pool_resource>(direct());
  const auto ordered = std::make_shared<queue_ordered_resource>(pool);
  const sycl::queue q = new_queue();
  std::mt19937 random(7);
  std::array<shared_owner, 64> live;
  std::size_t held = 0;
  for (int k = 0; k < 1'000'000; ++k) {
    live[random() % live.size()] = allocate(ordered, q, random() % 100'000);
    if (k == 300'000) held = pool->stats().held;
  }
  CHECK(held > 0);
  CHECK(pool->stats().held <= held + held / 8);
  live = {};
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

/// The loop that the pool alone is tested with, computed on a queue: weights stay, what the layers
/// give is kept for the way back, workspaces are freed before their commands have run. The host
/// reads the loss of each batch.
TEST(QueueOrderModel, ATrainingLoopHoldsLittleMoreThanItUses) {
  const auto pool = std::make_shared<pool_resource>(direct(), pool_limits{.huge_pages = false});
  const auto ordered = std::make_shared<queue_ordered_resource>(pool);
  sycl::queue q = new_queue();
  std::mt19937 random(1);
  std::vector<shared_owner> live;
  std::size_t used = 0;
  std::size_t most_used = 0;
  int allocations = 0;
  const auto take = [&](std::size_t bytes) {
    const shared_owner& o = live.emplace_back(allocate(ordered, q, bytes));
    o->used_on(q);
    o->used_until(q, q.memset(o->base(), 0, std::min<std::size_t>(bytes, 16)));
    most_used = std::max(most_used, used += bytes);
    ++allocations;
  };
  const auto give = [&](std::size_t which) {
    used -= live[which]->bytes();
    std::swap(live[which], live.back());
    live.pop_back();
  };
  for (std::size_t layer = 1; layer <= 24; ++layer) take(layer * 700 * KiB + 3 * layer);
  const std::size_t weights = live.size();
  usmx::wait(q);  // the driver may have to make its kernels first
  for (int step = 0; allocations < 10'000; ++step) {
    const std::size_t batch = step % 8 == 7 ? 3 : 4;  // the last of an epoch is smaller
    for (std::size_t layer = 1; layer <= 24; ++layer) {
      take(batch * layer * 150 * KiB);
      take(random() % (2 * MiB));
      take(64 + random() % 4096);
      give(live.size() - 2);
      // So that the figure does not depend on how far the machine lets the program run ahead.
      usmx::wait(q);
    }
    while (live.size() > weights) give(live.size() - 1);
  }
  CHECK(pool->stats().peak <= most_used + most_used / 5);
  std::printf("held at most %zu KiB, used at most %zu KiB\n", pool->stats().peak / KiB,
              most_used / KiB);
  live.clear();
}

TEST(QueueOrderModel, AChildOfForkFindsNoLockTaken) {
  const auto pool = std::make_shared<pool_resource>(direct(usm_kind::host));
  const auto ordered = std::make_shared<queue_ordered_resource>(pool);
  pool->reserve(64 * MiB);
  sycl::queue q = new_queue();
  check::gate gate(q);
  {
    const shared_owner o = allocate(ordered, q, 100);
    o->used_on(q);
  }
  std::atomic<bool> stop = false;
  std::vector<std::jthread> workers;
  for (unsigned t = 0; t < 3; ++t) {
    workers.emplace_back([&, t] {
      for (std::size_t k = t; !stop; ++k) {
        const shared_owner o = allocate(ordered, 1 + k * 7919 % 100'000);
        static_cast<void>(extent_of(o->base(), pool->context()));
        static_cast<void>(ordered->stats());
        static_cast<void>(collect());
        if (k % 64 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(100));  // others' turn
      }
    });
  }
  for (int k = 0; k < 30; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      drain();  // does not wait for what the parent's queue does
      for (std::size_t n = 0; n < 200; ++n) {
        const shared_owner o = allocate(ordered, n * 503);
        if (!extent_of(o->base(), pool->context())) _exit(1);
      }
      if (collect() != 0) _exit(2);
      _exit(0);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 0);
  }
  stop = true;
  workers.clear();
  gate.open();
  drain();
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

}  // namespace
}  // namespace usmx
