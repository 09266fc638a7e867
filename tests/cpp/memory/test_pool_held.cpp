// What a pool takes from its upstream and gives back, and what it does when there is no more.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "failing_new.hpp"
#include "gate.hpp"
#include "pool_checks.hpp"

namespace usmx {
namespace {

// --- what is held

TEST(Pool, AsksTheUpstreamOnceForManyBlocks) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  std::vector<void*> blocks;
  for (int k = 0; k < 1000; ++k) blocks.push_back(pool.allocate(1024));
  CHECK_EQUAL(paper->calls, 1);
  const pool_stats now = pool.stats();
  CHECK_EQUAL(now.blocks, 1000u);
  CHECK_EQUAL(now.used, 1000u * 1024);
  CHECK_EQUAL(now.chunks, 1u);
  CHECK_EQUAL(now.held, 2 * MiB);
  for (void* p : blocks) pool.deallocate(p, 1024);
  CHECK_EQUAL(pool.stats().used, 0u);
  CHECK_EQUAL(pool.stats().held, 2 * MiB);
}

TEST(Pool, FreeNeighboursBecomeOneBlockAgain) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  pool.reserve(64 * MiB);
  for (const bool backwards : {false, true}) {
    std::vector<void*> blocks;
    for (int k = 0; k < 32; ++k) blocks.push_back(pool.allocate(2 * MiB));
    if (backwards) std::ranges::reverse(blocks);
    for (void* p : blocks) pool.deallocate(p, 2 * MiB);
    pool.deallocate(pool.allocate(64 * MiB), 64 * MiB);
  }
  // Small ones too, though they are cached until their slab's memory is needed.
  std::vector<void*> small;
  for (int k = 0; k < 2000; ++k) small.push_back(pool.allocate(20 * KiB));
  for (void* p : small) pool.deallocate(p, 20 * KiB);
  pool.deallocate(pool.allocate(64 * MiB), 64 * MiB);
  CHECK_EQUAL(paper->calls, 1);
}

TEST(Pool, TakesTheHoleThatFitsBest) {
  pool_resource pool(std::make_shared<paper_resource>());
  pool.reserve(64 * MiB);
  std::byte* const wide = get(pool, 12 * MiB);
  std::byte* const wall = get(pool, 2 * MiB);
  std::byte* const narrow = get(pool, 5 * MiB);
  std::byte* const end = get(pool, 2 * MiB);
  pool.deallocate(narrow, 5 * MiB);
  pool.deallocate(wide, 12 * MiB);
  CHECK(get(pool, 5 * MiB) == narrow);
  CHECK(get(pool, 12 * MiB) == wide);
  for (auto [p, bytes] :
       {std::pair{wide, 12 * MiB}, {narrow, 5 * MiB}, {wall, 2 * MiB}, {end, 2 * MiB}}) {
    pool.deallocate(p, bytes);
  }
}

TEST(Pool, TrimGivesBackWhatHasNoBlock) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  void* const small = pool.allocate(100);
  void* const large = pool.allocate(100 * MiB);
  void* const other = pool.allocate(50 * MiB);
  CHECK_EQUAL(pool.trim(), 0u);
  pool.deallocate(large, 100 * MiB);
  pool.deallocate(other, 50 * MiB);
  CHECK_EQUAL(pool.trim(60 * MiB), 100 * MiB);  // the largest goes first
  CHECK_EQUAL(paper->held(), 52 * MiB);
  CHECK_EQUAL(pool.trim(), 50 * MiB);
  CHECK_EQUAL(paper->held(), 2 * MiB);
  CHECK(is_live(pool, small, small, 100));
  pool.deallocate(small, 100);
  CHECK_EQUAL(pool.trim(), 2 * MiB);
  CHECK_EQUAL(pool.stats().chunks, 0u);
  CHECK_EQUAL(paper->live(), 0u);
}

TEST(Pool, ReserveTakesItAllAtOnce) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  pool.reserve(100 * MiB);
  pool.reserve(50 * MiB);
  CHECK_EQUAL(paper->calls, 1);
  CHECK_EQUAL(pool.stats().held, 100 * MiB);
  void* const p = pool.allocate(90 * MiB);
  CHECK_EQUAL(paper->calls, 1);
  pool.deallocate(p, 90 * MiB);
  paper->fails = 1;
  CHECK_THROWS(allocation_error, (pool.reserve(200 * MiB), 0));
  CHECK_THROWS(allocation_error, (pool.reserve(~std::size_t{0}), 0));
  pool.reserve(101 * MiB + 1);
  CHECK_EQUAL(pool.stats().held, 101 * MiB + 4 * KiB);
}

/// Repeats a step that needs `large` bytes in addition to two blocks of `small`, one of which is
/// kept from each step until the next; throws if the pool exceeds its limit.
void repeat_beside_a_kept_block(std::size_t limit, std::size_t small, std::size_t large) {
  pool_resource pool(std::make_shared<paper_resource>(), {.most = limit});
  void* kept = nullptr;
  for (int step = 0; step < 20; ++step) {
    void* const result = pool.allocate(small);
    void* const work = pool.allocate(large);
    pool.deallocate(work, large);
    if (kept != nullptr) pool.deallocate(kept, small);
    kept = pool.allocate(small);
    pool.deallocate(result, small);
  }
  pool.deallocate(kept, small);
}

TEST(PoolLimit, LeavesALargeBlockWholeForTheNextStep) {
  for (const std::size_t small : {KiB / 16, 100 * KiB, MiB, 5 * MiB, 10 * MiB, 20 * MiB}) {
    repeat_beside_a_kept_block(80 * MiB, small, 40 * MiB);
  }
  // Without room for another chunk it is cut, as otherwise nothing would be left.
  pool_resource pool(std::make_shared<paper_resource>(), {.most = 40 * MiB});
  pool.deallocate(pool.allocate(40 * MiB), 40 * MiB);
  pool.deallocate(pool.allocate(10 * MiB), 10 * MiB);
  CHECK_EQUAL(pool.stats().held, 40 * MiB);
}

TEST(Pool, NeverHoldsMoreThanItMay) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper, {.most = 10 * MiB});
  std::vector<void*> blocks;
  try {
    for (;;) blocks.push_back(pool.allocate(64 * KiB));
  } catch (const allocation_error& e) {
    CHECK_EQUAL(e.bytes(), 64 * KiB);
    const std::string text = e.what();
    for (const char* words : {"the pool holds 10485760 bytes (10.0 MiB)", "160 blocks use",
                              "may hold 10485760 bytes"}) {
      CHECK(text.find(words) != std::string::npos);
    }
  }
  CHECK_EQUAL(blocks.size(), 160u);  // to the last byte
  CHECK_EQUAL(paper->held(), 10 * MiB);
  CHECK_THROWS(allocation_error, pool.allocate(1));
  for (void* p : blocks) pool.deallocate(p, 64 * KiB);
  // What is kept aside gives way, even as other pieces than it was taken in.
  void* const whole = pool.allocate(9 * MiB);
  CHECK(paper->held() <= 10 * MiB);
  pool.deallocate(whole, 9 * MiB);
  CHECK_THROWS(allocation_error, pool.allocate(11 * MiB));
}

TEST(Pool, ReleasesAboveTheThreshold) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper, {.release_above = 8 * MiB});
  void* const kept = pool.allocate(7 * MiB);
  void* const above = pool.allocate(30 * MiB);
  CHECK_EQUAL(paper->held(), 37 * MiB);
  pool.deallocate(above, 30 * MiB);
  CHECK_EQUAL(paper->held(), 7 * MiB);
  pool.deallocate(kept, 7 * MiB);
  CHECK_EQUAL(paper->held(), 7 * MiB);
}

/// Takes and drops blocks of a MiB, `at_once` of them at a time, until `bytes` have come back.
void work(pool_resource& pool, std::size_t at_once, std::size_t bytes, bool varied = false) {
  for (std::size_t done = 0, step = 0; done < bytes; ++step) {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t k = 0; k < at_once; ++k) {
      const std::size_t size = varied ? MiB / 2 + (step * 7919 + k * 104729) % MiB : MiB;
      blocks.emplace_back(pool.allocate(size), size);
      done += size;
    }
    for (const auto& [p, size] : blocks) pool.deallocate(p, size);
  }
}

TEST(Pool, GivesBackWhatAPeakHasLeft) {
  for (const bool varied : {false, true}) {
    const auto paper = std::make_shared<paper_resource>();
    pool_resource pool(paper);
    void* const kept = pool.allocate(100 * KiB);
    work(pool, 1024, 1024 * MiB, varied);
    const std::size_t peak = paper->held();
    CHECK(peak >= 1000 * MiB);
    work(pool, 128, 8 * peak, varied);
    // What it needs, a quarter more, and the piece in which something lives.
    CHECK(paper->held() <= 128 * MiB * 3 / 2 * (varied ? 5 : 4) / 3);
    pool.deallocate(kept, 100 * KiB);
  }
}

TEST(Pool, TakesLargeBlocksBackAtOnceWhileItHoldsOnlyWhatIsUsed) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  int refused = 0;
  for (int k = 0; k < 200; ++k) {
    void* const p = pool.allocate(256 * MiB);
    if (pool.try_deallocate(p, 256 * MiB)) continue;
    ++refused;
    pool.deallocate(p, 256 * MiB);
  }
  CHECK_EQUAL(refused, 0);
  CHECK_EQUAL(paper->calls, 1);
}

TEST(Pool, KeepsWhatALoopNeedsInOneOfItsSteps) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  work(pool, 1024, 1024 * MiB);
  const int calls = paper->calls;
  // Of each round a quarter is the large step, in which all of it is needed.
  for (int round = 0; round < 10; ++round) {
    work(pool, 16, 512 * MiB);
    work(pool, 1024, 1024 * MiB);
  }
  CHECK_EQUAL(paper->calls, calls);
}

TEST(Pool, ShowsEveryByteOfItsChunksOnce) {
  pool_resource pool(std::make_shared<paper_resource>());
  std::vector<std::pair<std::byte*, std::size_t>> live;
  for (std::size_t k = 0; k < 500; ++k) {
    const std::size_t bytes = (k * 7919) % 90000;
    live.emplace_back(get(pool, bytes), bytes);
  }
  live.emplace_back(get(pool, 5 * MiB), 5 * MiB);
  for (std::size_t k = 0; k < 200; ++k) {
    pool.deallocate(live[k].first, live[k].second);
  }
  live.erase(live.begin(), live.begin() + 200);
  std::vector<std::pair<std::byte*, std::size_t>> shown;
  std::size_t held = 0;
  const std::byte* before = nullptr;
  for (const held_chunk& c : pool.snapshot()) {
    CHECK(c.base > before);
    before = c.base;
    held += c.bytes;
    std::size_t end = 0;
    bool was_free = false;
    for (const held_block& b : c.blocks) {
      CHECK_EQUAL(b.offset, end);
      CHECK(b.bytes != 0 && b.asked <= b.bytes);
      const bool is_free = b.now == held_block::state::free;
      CHECK(!(is_free && was_free));
      was_free = is_free;
      end += b.bytes;
      if (b.now == held_block::state::used) shown.emplace_back(c.base + b.offset, b.asked);
    }
    CHECK_EQUAL(end, c.bytes);
  }
  CHECK_EQUAL(held, pool.stats().held);
  std::ranges::sort(live);
  CHECK(shown == live);
  for (auto [p, bytes] : live) pool.deallocate(p, bytes);
}

/// Whether the process's map of its memory says "huge pages wanted" where `p` lies.
bool is_advised(const void* p) {
  std::ifstream map("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(map, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      const auto address = reinterpret_cast<std::uintptr_t>(p);
      here = begin <= address && address < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

TEST(Pool, AsksForHugePagesWhereMemoryIsTheProcessesOwn) {
  for (const bool wanted : {true, false}) {
    pool_resource pool(std::make_shared<paper_resource>(), {.huge_pages = wanted});
    pool.reserve(8 * MiB);
    const held_chunk only = pool.snapshot().front();
    CHECK_EQUAL(is_advised(only.base + 4 * MiB), wanted && pool.device().is_cpu());
  }
}

// --- an upstream that has no more

TEST(Pool, TakesLessWhenTheUpstreamHasLittle) {
  const auto paper = std::make_shared<paper_resource>();
  paper->capacity = 300 * KiB;  // less than a pool would like to take
  pool_resource pool(paper);
  void* const p = pool.allocate(100);
  void* const q = pool.allocate(200 * KiB);
  CHECK(paper->held() <= 300 * KiB);
  pool.deallocate(p, 100);
  pool.deallocate(q, 200 * KiB);
}

TEST(Pool, TrimsBeforeItGivesUp) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  std::vector<void*> blocks;
  for (int k = 0; k < 4; ++k) blocks.push_back(pool.allocate(45 * MiB));
  for (void* p : blocks) pool.deallocate(p, 45 * MiB);
  paper->capacity = 60 * MiB;               // another program has allocated the rest
  void* const p = pool.allocate(50 * MiB);  // fits only once all of ours is back
  CHECK(paper->refusals > 0);
  CHECK_EQUAL(paper->held(), 50 * MiB);
  pool.deallocate(p, 50 * MiB);
}

TEST(Pool, FreeChunksThatAreTooSmallMakeRoomForALargerOne) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  for (std::size_t bytes = 10 * MiB; bytes <= 100 * MiB; bytes += MiB) {
    pool.deallocate(pool.allocate(bytes), bytes);
    CHECK(paper->held() <= 2 * bytes);
  }
}

TEST(Pool, SaysWhatItHoldsAndWhatTheUpstreamSaid) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  void* const p = pool.allocate(3000);
  paper->capacity = 0;
  try {
    static_cast<void>(pool.allocate(100 * MiB + 1));
    CHECK(!"memory that the upstream has not");
  } catch (const allocation_error& e) {
    CHECK_EQUAL(e.bytes(), 100 * MiB + 1);
    const std::string text = e.what();
    for (const char* words : {"104857601 bytes", "1 blocks use 3000 bytes", "no more paper"}) {
      CHECK(text.find(words) != std::string::npos);
    }
  }
  CHECK_EQUAL(pool.stats().held, 2 * MiB);
  pool.deallocate(p, 3000);
}

TEST(Pool, WaitsForBlocksThatWereFreedInFlightBeforeItGivesUp) {
  const auto pool = std::make_shared<pool_resource>(
      std::make_shared<usm_resource>(default_queue().get_context(), default_queue().get_device(),
                                     usm_kind::device),
      pool_limits{.most = 32 * MiB});
  sycl::queue q(default_queue().get_context(), default_queue().get_device(),
                sycl::property::queue::in_order());
  check::gate gate(q);
  {
    const shared_owner o = allocate(pool, 30 * MiB);
    o->used_on(q);
  }
  CHECK_EQUAL(pool->stats().blocks, 1u);
  std::jthread opener([&] { gate.open(); });
  const shared_owner o = allocate(pool, 31 * MiB);
  CHECK_EQUAL(pool->stats().used, 31 * MiB);
}

TEST(Pool, LosesNothingWhateverThrows) {
  for (const std::size_t bytes : {100 * std::size_t{1}, 64 * KiB, 3 * MiB}) {
    const auto paper = std::make_shared<paper_resource>();
    bool done = false;
    int failed = 0;
    for (int n = 0; !done; ++n) {
      pool_resource pool(paper);
      void* p = nullptr;
      try {
        new_fails_in = n;
        p = pool.allocate(bytes);
        done = new_fails_in >= 0;
      } catch (const std::bad_alloc&) {
        ++failed;
      }
      new_fails_in = -1;
      CHECK_EQUAL(pool.stats().blocks, p == nullptr ? 0u : 1u);
      pool.deallocate(p, bytes);
      CHECK_EQUAL(pool.stats().blocks, 0u);
      CHECK_EQUAL(pool.stats().held, paper->held());
      pool.trim();
      CHECK_EQUAL(paper->live(), 0u);
    }
    CHECK(failed >= 2);
  }
}

TEST(Pool, TakesBlocksBackWithoutAnyMemory) {
  const auto paper = std::make_shared<paper_resource>();
  pool_resource pool(paper);
  std::vector<void*> blocks;
  for (int k = 0; k < 500; ++k) blocks.push_back(pool.allocate(40 * KiB));
  for (void* p : blocks) {
    new_fails_in = 0;
    pool.deallocate(p, 40 * KiB);
  }
  new_fails_in = -1;
  CHECK_EQUAL(pool.stats().blocks, 0u);
}

}  // namespace
}  // namespace usmx
