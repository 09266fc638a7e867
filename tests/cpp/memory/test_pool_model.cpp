// A pool against the simplest thing that is right, over random operations; and what it holds then,
// compared with what is used.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pool_checks.hpp"

namespace usmx {
namespace {

/// Random operations compared with the simplest correct model: a map of the live blocks.
class model {
 public:
  model(unsigned seed, std::size_t live, int largest_log2)
      : random_(seed), live_wanted_(live), largest_log2_(largest_log2) {}
  ~model() {
    while (!live_.empty()) free_one();
    CHECK_EQUAL(pool.stats().blocks, 0u);
    CHECK_EQUAL(pool.stats().used, 0u);
    CHECK_EQUAL(pool.stats().held, paper->held());
    pool.trim();
    CHECK_EQUAL(pool.stats().held, 0u);
    CHECK_EQUAL(paper->live(), 0u);
  }

  void step() {
    const bool full = live_.size() >= live_wanted_;
    if (live_.empty() || random_() % 100 < (full ? 45 : 60)) {
      allocate_one();
    } else {
      free_one();
    }
    if (random_() % 16 == 0) look_anywhere();
    if (random_() % 5000 == 0) pool.trim(pool.stats().held / 2);
  }

  std::shared_ptr<paper_resource> paper = std::make_shared<paper_resource>();
  pool_resource pool{paper};

 private:
  struct known {
    std::size_t bytes;
    std::size_t alignment;
  };

  void allocate_one() {
    const int log2 = static_cast<int>(random_() % static_cast<unsigned>(largest_log2_));
    const std::size_t bytes = random_() % 50 == 0 ? 0 : random_() % (std::size_t{2} << log2);
    const std::size_t alignment =
        random_() % 4 != 0 ? default_alignment : std::size_t{1} << random_() % 18;
    std::byte* const p = get(pool, bytes, alignment);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
    const auto after = live_.upper_bound(p);
    if (after != live_.end()) CHECK(p + std::max<std::size_t>(bytes, 1) <= after->first);
    if (after != live_.begin()) {
      const auto before = std::prev(after);
      CHECK(before->first + std::max<std::size_t>(before->second.bytes, 1) <= p);
    }
    live_[p] = {bytes, alignment};
  }

  void free_one() {
    auto at = live_.lower_bound(somewhere());
    if (at == live_.end()) at = live_.begin();
    const auto [p, k] = *at;
    CHECK(is_live(pool, p, p, k.bytes));
    live_.erase(at);
    pool.deallocate(p, k.bytes, k.alignment);
    CHECK(is_unknown(pool, p));
  }

  /// Any address: the pool and the model must agree on whose it is.
  void look_anywhere() {
    if (live_.empty()) return;
    const std::byte* const p = somewhere();
    const auto after = live_.upper_bound(const_cast<std::byte*>(p));
    const auto before = after == live_.begin() ? live_.end() : std::prev(after);
    const bool inside = before != live_.end() && p < before->first + before->second.bytes;
    if (inside) {
      CHECK(is_live(pool, p, before->first, before->second.bytes));
    } else if (before == live_.end() || before->first != p) {
      CHECK(is_unknown(pool, p));
    }
  }

  std::byte* somewhere() {
    std::byte* const first = live_.begin()->first;
    std::byte* const last = live_.rbegin()->first + live_.rbegin()->second.bytes;
    return first + random_() % static_cast<std::size_t>(last - first + 1);
  }

  std::mt19937_64 random_;
  std::size_t live_wanted_;
  int largest_log2_;
  std::map<std::byte*, known> live_;
};

TEST(Pool, AgreesWithAModelOverRandomOperations) {
  // The last has eight gibibytes in a block, which are never accessed.
  for (const auto& [live, largest_log2] : {std::pair{300, 12}, {200, 24}, {40, 33}}) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      model m(seed, static_cast<std::size_t>(live), largest_log2);
      for (int k = 0; k < 6000; ++k) m.step();
    }
  }
}

/// Allocates and frees, and knows the most that was alive and the most that was held.
class meter {
 public:
  ~meter() {
    for (auto [p, bytes] : live_) pool_.deallocate(p, bytes);
  }
  void take(std::size_t bytes) {
    live_.emplace_back(pool_.allocate(bytes), bytes);
    used_ += bytes;
    most_used_ = std::max(most_used_, used_);
    most_held_ = std::max(most_held_, pool_.stats().held);
  }
  void give(std::size_t which) {
    pool_.deallocate(live_[which].first, live_[which].second);
    used_ -= live_[which].second;
    live_[which] = live_.back();
    live_.pop_back();
  }
  std::size_t live() const { return live_.size(); }
  bool holds_at_most(double times_used) const {
    return static_cast<double>(most_held_) <= times_used * static_cast<double>(most_used_);
  }

 private:
  pool_resource pool_{std::make_shared<paper_resource>()};
  std::vector<std::pair<void*, std::size_t>> live_;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  std::size_t most_held_ = 0;
};

TEST(Pool, HoldsLittleMoreThanATrainingLoopUses) {
  meter m;
  std::mt19937 random(1);
  for (std::size_t layer = 1; layer <= 24; ++layer) m.take(layer * 700 * KiB + 3 * layer);
  const std::size_t weights = m.live();
  for (int step = 0; step < 125; ++step) {
    const std::size_t batch = step % 8 == 7 ? 3 : 4;  // the last of an epoch is smaller
    for (std::size_t layer = 1; layer <= 24; ++layer) {
      m.take(batch * layer * 150 * KiB);  // what the layer gives, kept for the way back
      m.take(random() % (2 * MiB));       // what it needs meanwhile
      m.take(64 + random() % 4096);       // shapes, scalars
      m.give(m.live() - 2);
    }
    while (m.live() > weights) m.give(m.live() - 1);
  }
  CHECK(m.holds_at_most(1.2));
}

TEST(Pool, HoldsNotMuchMoreThanIsUsedAtRandom) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    meter m;
    std::mt19937 random(seed);
    for (int k = 0; k < 10000; ++k) {
      if (m.live() < 2 || random() % 100 < (m.live() > 400 ? 45 : 60)) {
        m.take(random() % (std::size_t{2} << random() % 25));
      } else {
        m.give(random() % m.live());
      }
    }
    CHECK(m.holds_at_most(1.5));
  }
}

TEST(Pool, DoesNotGrowOverAMillionOperations) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  std::array<std::pair<void*, std::size_t>, 128> live{};
  std::mt19937 random(7);
  std::size_t after_a_tenth = 0;
  for (int k = 0; k < 1000000; ++k) {
    auto& [p, bytes] = live[random() % live.size()];
    if (p != nullptr) pool.deallocate(p, bytes);
    bytes = random() % (std::size_t{2} << random() % 21);
    p = pool.allocate(bytes);
    if (k == 100000) after_a_tenth = paper->held();
  }
  CHECK(paper->held() <= after_a_tenth * 3 / 2);
  for (auto [p, bytes] : live) pool.deallocate(p, bytes);
}

// --- threads

TEST(Pool, BlocksComeBackFromOtherThreads) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  struct entry {
    void* p = nullptr;
    std::size_t bytes = 0;
  };
  std::mutex mutex;
  std::vector<entry> passing;
  std::map<std::byte*, std::size_t> live;
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < 8; ++t) {
      workers.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int k = 0; k < 4000; ++k) {
          const std::size_t bytes = 1 + random() % (std::size_t{2} << random() % 18);
          const entry made{pool.allocate(bytes), bytes};
          auto* const p = static_cast<std::byte*>(made.p);
          entry taken;
          {
            const std::scoped_lock lock(mutex);
            const auto after = live.upper_bound(p);
            CHECK(after == live.end() || p + bytes <= after->first);
            CHECK(after == live.begin() || std::prev(after)->first + std::prev(after)->second <= p);
            live[p] = bytes;
            passing.push_back(made);
            if (passing.size() > 64) {
              std::swap(passing[random() % passing.size()], passing.back());
              taken = passing.back();
              passing.pop_back();
              live.erase(static_cast<std::byte*>(taken.p));
            }
          }
          pool.deallocate(taken.p, taken.bytes);
          if (k % 500 == 0) pool.trim();
        }
      });
    }
  }
  CHECK_EQUAL(pool.stats().blocks, passing.size());
  for (const entry& e : passing) pool.deallocate(e.p, e.bytes);
  CHECK_EQUAL(pool.stats().blocks, 0u);
  pool.trim();
  CHECK_EQUAL(paper->live(), 0u);
}

TEST(Pool, ThreadsThatEndLeaveTheirBlocksToOthers) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  for (int k = 0; k < 200; ++k) {
    std::jthread([&] {
      std::array<void*, 32> blocks;
      for (void*& p : blocks) p = pool.allocate(64 * KiB);
      for (void* p : blocks) pool.deallocate(p, 64 * KiB);
    }).join();
  }
  CHECK(paper->held() <= 8 * MiB);
  pool.trim();
  CHECK_EQUAL(paper->live(), 0u);
}

TEST(Pool, AThreadMayOutliveThePool) {
  std::atomic<int> stage = 0;
  auto pool = std::make_unique<pool_resource>(std::make_shared<paper_resource>());
  std::jthread outliving([&] {
    pool->deallocate(pool->allocate(1000), 1000);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  while (stage != 1) std::this_thread::yield();
  pool.reset();
  stage = 2;
}

TEST(Pool, TrimsAndLooksWhileOthersAllocate) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper, {.release_above = 4 * MiB});
  std::atomic<bool> done = false;
  {
    std::jthread looking([&] {
      while (!done) {
        void* const p = pool.allocate(100);
        CHECK(is_live(pool, static_cast<std::byte*>(p) + 50, p, 100));
        pool.trim();
        CHECK(pool.stats().held <= paper->held() + 64 * MiB);
        pool.deallocate(p, 100);
      }
    });
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < 4; ++t) {
      workers.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int k = 0; k < 3000; ++k) {
          const std::size_t bytes = random() % (4 * MiB);
          void* const p = pool.allocate(bytes, std::size_t{1} << random() % 14);
          CHECK(is_live(pool, p, p, bytes));
          pool.deallocate(p, bytes);
        }
      });
    }
    workers.clear();
    done = true;
  }
  pool.trim();
  CHECK_EQUAL(paper->live(), 0u);
}

}  // namespace
}  // namespace usmx
