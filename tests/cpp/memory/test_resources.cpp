// Every adaptor is a resource like any other, and does the one thing that it is there for.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <thread>

#include <sycl/properties/queue_properties.hpp>

#include "gate.hpp"
#include "paper_resource.hpp"
#include "resource_suite.hpp"
#include "runtime/driver_gate.hpp"
#include "usmx/pool.hpp"

namespace usmx {
namespace {

using resource_pointer = std::shared_ptr<memory_resource>;

resource_pointer direct(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<usm_resource>(q.get_context(), q.get_device(), kind);
}

/// A file that goes with its owner.
class temporary_file {
 public:
  temporary_file() : path_(std::filesystem::temp_directory_path() / "usmx-XXXXXX") {
    const int file = mkstemp(path_.data());
    CHECK(file >= 0);
    close(file);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

resource_pointer statistics(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<statistics_resource>(direct(q, kind));
}
resource_pointer limiting(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<limiting_resource>(direct(q, kind), std::size_t{8} << 30);
}
resource_pointer binning(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<binning_resource>(
      direct(q, kind),
      std::vector<binning_resource::bin>{{100000, std::make_shared<pool_resource>(direct(q, kind))},
                                         {1000, direct(q, kind)}});
}
resource_pointer aligned(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<aligned_resource>(direct(q, kind), 4096, 10000);
}
resource_pointer tracking(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<tracking_resource>(direct(q, kind));
}
resource_pointer logging(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<logging_resource>(direct(q, kind), "/dev/null");
}
resource_pointer calling_back(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<failure_callback_resource>(direct(q, kind),
                                                     [](std::size_t) { return false; });
}
resource_pointer prefetching(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<prefetch_resource>(direct(q, kind), q);
}
/// As on a driver that aligns to 64 bytes alone.
resource_pointer shifting(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<usm_resource>(q.get_context(), q.get_device(), kind, 64);
}
/// All at once, on a pool.
resource_pointer tower(const sycl::queue& q, usm_kind kind) {
  resource_pointer top = std::make_shared<pool_resource>(direct(q, kind));
  top = std::make_shared<limiting_resource>(top, std::size_t{8} << 30);
  top = std::make_shared<aligned_resource>(top, 256);
  top = std::make_shared<prefetch_resource>(top, q);
  top = std::make_shared<tracking_resource>(top);
  return std::make_shared<statistics_resource>(top);
}
const std::array added = {
    resource_suite<statistics>::add("StatisticsResource"),
    resource_suite<limiting>::add("LimitingResource"),
    resource_suite<binning>::add("BinningResource"),
    resource_suite<aligned>::add("AlignedResource"),
    resource_suite<tracking>::add("TrackingResource"),
    resource_suite<logging>::add("LoggingResource"),
    resource_suite<calling_back>::add("FailureCallbackResource"),
    resource_suite<prefetching>::add("PrefetchResource"),
    resource_suite<shifting>::add("ShiftedBlocks"),
    resource_suite<tower>::add("StackedResources"),
};

TEST(UsmResource, ShiftsABlockThatTheDriverAlignsTooLittle) {
  const sycl::queue q = default_queue();
  usm_resource shifted(q.get_context(), q.get_device(), usm_kind::shared, 64);
  for (const std::size_t alignment : {128u, 1024u, 4096u, 65536u}) {
    auto* const p = static_cast<std::byte*>(shifted.allocate(1000, alignment));
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
    const auto extent = extent_of(p, q.get_context());
    CHECK(extent && extent->base <= p && extent->bytes >= 1000 + alignment);
    CHECK(extent->base + extent->bytes >= p + 1000);
    shifted.deallocate(p, 1000, alignment);
    CHECK(kind_of(p, q.get_context()) == usm_kind::unknown);
  }
}

TEST(StackedResource, NeedsAnUpstream) {
  CHECK_THROWS(std::invalid_argument, statistics_resource(nullptr));
  CHECK_THROWS(std::invalid_argument, limiting_resource(nullptr, 100));
  CHECK_THROWS(std::invalid_argument, pool_resource(nullptr));
}

TEST(StatisticsResource, CountsWhatIsAliveAndWhatEverWas) {
  const auto paper = std::make_shared<paper_resource>();
  statistics_resource counted(paper);
  void* const one = counted.allocate(1000);
  void* const two = counted.allocate(500);
  counted.deallocate(one, 1000);
  void* const three = counted.allocate(200);
  paper->fails = 1;
  CHECK_THROWS(allocation_error, counted.allocate(99));
  statistics_resource::figures f = counted.now();
  CHECK_EQUAL(f.bytes, 700u);
  CHECK_EQUAL(f.peak_bytes, 1500u);
  CHECK_EQUAL(f.total_bytes, 1700u);
  CHECK_EQUAL(f.blocks, 2u);
  CHECK_EQUAL(f.peak_blocks, 2u);
  CHECK_EQUAL(f.total_blocks, 3u);
  CHECK_EQUAL(f.failures, 1u);
  counted.reset_peaks();
  f = counted.now();
  CHECK_EQUAL(f.peak_bytes, 700u);
  CHECK_EQUAL(f.total_bytes, 1700u);
  counted.deallocate(two, 500);
  counted.deallocate(three, 200);
  CHECK_EQUAL(counted.now().bytes, 0u);
}

TEST(StatisticsResource, LosesNoCountAmongThreads) {
  statistics_resource counted(std::make_shared<pool_resource>(std::make_shared<paper_resource>()));
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 4; ++t) {
      workers.emplace_back([&] {
        for (int k = 0; k < 5000; ++k) counted.deallocate(counted.allocate(10), 10);
      });
    }
  }
  const statistics_resource::figures f = counted.now();
  CHECK_EQUAL(f.blocks, 0u);
  CHECK_EQUAL(f.bytes, 0u);
  CHECK_EQUAL(f.total_blocks, 20000u);
  CHECK_EQUAL(f.total_bytes, 200000u);
  CHECK(f.peak_blocks >= 1 && f.peak_blocks <= 4);
}

TEST(LimitingResource, LetsNoMoreThanTheLimitBeAlive) {
  const auto paper = std::make_shared<paper_resource>();
  limiting_resource limited(paper, 1000);
  void* const one = limited.allocate(600);
  try {
    static_cast<void>(limited.allocate(401));
    CHECK(!"more than the limit");
  } catch (const allocation_error& e) {
    CHECK_EQUAL(e.bytes(), 401u);
    CHECK(std::string(e.what()).find("the limit is 1000 bytes, of which 600 bytes are in use") !=
          std::string::npos);
  }
  CHECK_EQUAL(paper->calls, 1);
  void* const two = limited.allocate(400);
  CHECK_EQUAL(limited.used(), 1000u);
  CHECK_THROWS(allocation_error, limited.allocate(~std::size_t{0}));
  limited.deallocate(one, 600);
  limited.deallocate(two, 400);
  paper->fails = 1;
  CHECK_THROWS(allocation_error, limited.allocate(100));
  CHECK_EQUAL(limited.used(), 0u);  // what failed is not in use
  limited.deallocate(limited.allocate(1000), 1000);
}

TEST(BinningResource, ServesEachSizeFromItsOwn) {
  const auto rest = std::make_shared<paper_resource>();
  const auto large = std::make_shared<paper_resource>();
  const auto small = std::make_shared<paper_resource>();
  binning_resource bins(rest, {{1000, large}, {100, small}});
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (const std::size_t bytes : {0, 1, 100, 101, 1000, 1001, 50000}) {
    blocks.emplace_back(bins.allocate(bytes), bytes);
  }
  CHECK_EQUAL(small->live(), 3u);
  CHECK_EQUAL(large->live(), 2u);
  CHECK_EQUAL(rest->live(), 2u);
  for (auto [p, bytes] : blocks) bins.deallocate(p, bytes);
  CHECK_EQUAL(small->live() + large->live() + rest->live(), 0u);
}

TEST(BinningResource, RefusesBinsOfAnotherKindOrContext) {
  const auto rest = std::make_shared<paper_resource>();
  const auto kind = std::make_shared<paper_resource>(usm_kind::host);
  const auto context = std::make_shared<paper_resource>(
      usm_kind::device, sycl::context(default_queue().get_device()));
  for (const resource_pointer& wrong :
       {resource_pointer(kind), resource_pointer(context), resource_pointer()}) {
    CHECK_THROWS(std::invalid_argument,
                 binning_resource(rest, std::vector<binning_resource::bin>{{100, wrong}}));
  }
}

TEST(AlignedResource, AlignsWhatIsLargeEnough) {
  const auto paper = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  aligned_resource aligned(paper, 1 << 16, 1000);
  const auto multiple_of = [](void* p, std::size_t of) {
    return reinterpret_cast<std::uintptr_t>(p) % of == 0;
  };
  std::vector<void*> blocks;
  bool small_are_not = false;
  for (int k = 0; k < 8; ++k) {
    blocks.push_back(aligned.allocate(1000, 8));
    CHECK(multiple_of(blocks.back(), 1 << 16));
    blocks.push_back(aligned.allocate(999, 64));
    small_are_not |= !multiple_of(blocks.back(), 1 << 16);
  }
  CHECK(small_are_not);
  void* const more = aligned.allocate(1000, 1 << 18);
  CHECK(multiple_of(more, 1 << 18));
  aligned.deallocate(more, 1000, 1 << 18);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    k % 2 == 0 ? aligned.deallocate(blocks[k], 1000, 8) : aligned.deallocate(blocks[k], 999, 64);
  }
  CHECK_THROWS(std::invalid_argument, aligned_resource(paper, 48));
}

[[gnu::noinline]] void* somebody_allocates(memory_resource& from) {
  void* const p = from.allocate(4000);
  asm volatile("" : : "r"(p) : "memory");  // or the call would be the last thing here: a jump
  return p;
}

TEST(TrackingResource, KnowsWhatIsAliveAndWhoAskedForIt) {
  tracking_resource tracked(std::make_shared<paper_resource>());
  void* const gone = tracked.allocate(1);
  void* const first = somebody_allocates(tracked);
  void* second = nullptr;
  std::jthread([&] { second = tracked.allocate(300, 512); }).join();
  tracked.deallocate(gone, 1);
  const auto alive = tracked.alive();
  CHECK_EQUAL(alive.size(), 2u);
  if (alive.size() != 2) return;
  CHECK(alive[0].data == first && alive[1].data == second);
  CHECK_EQUAL(alive[0].bytes, 4000u);
  CHECK_EQUAL(alive[1].alignment, 512u);
  CHECK_EQUAL(alive[0].number, 2u);
  CHECK(alive[0].thread != alive[1].thread);
  // One of the callers is the function that asked.
  const auto begin = reinterpret_cast<std::uintptr_t>(&somebody_allocates);
  CHECK(std::ranges::any_of(alive[0].callers, [&](void* caller) {
    return reinterpret_cast<std::uintptr_t>(caller) - begin < 200;
  }));
  const std::string report = tracked.report();
  for (const char* words :
       {"2 blocks of device USM are alive, 4300 bytes", "request 2", "usmx_tests"}) {
    CHECK(report.find(words) != std::string::npos);
  }
  tracked.deallocate(first, 4000);
  tracked.deallocate(second, 300, 512);
  CHECK(tracked.alive().empty());
}

TEST(TrackingResource, TakesTheWordOfWhoKnowsTheCallers) {
  int asked = 0;
  tracking_resource tracked(std::make_shared<paper_resource>(),
                            [&] { return "    line " + std::to_string(++asked) + "\n"; });
  void* const p = tracked.allocate(10);
  const auto alive = tracked.alive();
  CHECK_EQUAL(alive.size(), 1u);
  CHECK_EQUAL(alive[0].note, "    line 1\n");
  CHECK(alive[0].callers.empty());
  CHECK(tracked.report().find("10 bytes\n    line 1\n") != std::string::npos);
  tracked.deallocate(p, 10);
}

TEST(LoggingResource, WritesALineForEachRequest) {
  const temporary_file file;
  const auto paper = std::make_shared<paper_resource>();
  logging_resource logged(paper, file.path());
  void* const p = logged.allocate(1000, 256);
  paper->fails = 1;
  CHECK_THROWS(allocation_error, logged.allocate(77));
  std::jthread([&] { logged.deallocate(p, 1000, 256); }).join();
  logged.flush();
  std::ifstream in(file.path());
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string>& row = rows.emplace_back(1);
    for (const char c : line) c == ',' ? row.emplace_back() : row.back() += c;
  }
  CHECK_EQUAL(rows.size(), 4u);
  if (rows.size() != 4) return;
  const auto cells = [&](std::size_t row) {
    return rows[row][2] + " " + rows[row][4] + " " + rows[row][5];
  };
  CHECK_EQUAL(cells(0), "action bytes alignment");
  CHECK_EQUAL(cells(1), "allocate 1000 256");
  CHECK_EQUAL(cells(2), "fail 77 64");
  CHECK_EQUAL(cells(3), "deallocate 1000 256");
  CHECK_EQUAL(rows[1][3], rows[3][3]);
  CHECK_EQUAL(rows[1][1], rows[2][1]);
  CHECK(rows[1][1] != rows[3][1]);
  CHECK(std::stoll(rows[1][0]) <= std::stoll(rows[3][0]));
}

TEST(LoggingResource, SaysWhenItCannotWrite) {
  const auto paper = std::make_shared<paper_resource>();
  CHECK_THROWS(std::system_error, logging_resource(paper, "/nowhere/at/all.csv"));
  logging_resource full(paper, "/dev/full");
  full.deallocate(full.allocate(10), 10);
  CHECK_THROWS(std::system_error, (full.flush(), 0));
}

TEST(FailureCallbackResource, TriesAgainAsLongAsSomethingWasFreed) {
  const auto paper = std::make_shared<paper_resource>();
  paper->capacity = 1000;
  std::vector<void*> kept = {paper->allocate(300), paper->allocate(300), paper->allocate(300)};
  std::vector<std::size_t> asked;
  failure_callback_resource patient(paper, [&](std::size_t bytes) {
    asked.push_back(bytes);
    if (kept.empty()) return false;
    paper->deallocate(kept.back(), 300);
    kept.pop_back();
    return true;
  });
  void* const p = patient.allocate(600);
  CHECK_EQUAL(asked.size(), 2u);
  CHECK_EQUAL(asked.front(), 600u);
  CHECK_EQUAL(kept.size(), 1u);
  CHECK_THROWS(allocation_error, patient.allocate(1001));
  CHECK(kept.empty());
  patient.deallocate(p, 600);
  CHECK_THROWS(std::invalid_argument, failure_callback_resource(paper, nullptr));
}

TEST(PrefetchResource, ABlockThatGoesWaitsForItsPrefetch) {
  sycl::queue q(default_queue().get_context(), default_queue().get_device(),
                sycl::property::queue::in_order());
  check::gate gate(q);
  const auto counted = std::make_shared<statistics_resource>(direct(q, usm_kind::shared));
  prefetch_resource prefetching(counted, q);
  void* const p = prefetching.allocate(100000);
  CHECK(!is_idle(q));  // the command is there
  std::atomic<bool> opened = false;
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    opened = true;
    gate.open();
  });
  prefetching.deallocate(p, 100000);
  CHECK(opened);
  CHECK_EQUAL(counted->now().blocks, 0u);
}

TEST(PrefetchResource, AForkKnowsThatItsQueueIsBusy) {
  sycl::queue q(default_queue().get_context(), default_queue().get_device(),
                sycl::property::queue::in_order());
  prefetch_resource prefetching(direct(q, usm_kind::shared), q);
  check::gate gate(q);
  void* const p = prefetching.allocate(100000);
  const pid_t child = fork();
  if (child == 0) _exit(detail::driver_is_lost() ? 0 : 1);
  int status = -1;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  gate.open();
  prefetching.deallocate(p, 100000);
}

TEST(PrefetchResource, LeavesOtherKindsAlone) {
  sycl::queue q(default_queue().get_context(), default_queue().get_device(),
                sycl::property::queue::in_order());
  prefetch_resource prefetching(direct(q, usm_kind::device), q);
  check::gate gate(q);
  prefetching.deallocate(prefetching.allocate(100000), 100000);  // or it would wait for ever
  gate.open();
  CHECK_THROWS(std::invalid_argument,
               prefetch_resource(std::make_shared<paper_resource>(usm_kind::shared),
                                 sycl::queue(sycl::context(q.get_device()), q.get_device())));
}

TEST(DefaultResource, CanBeChosen) {
  const sycl::device device = default_queue().get_device();
  const sycl::queue q(sycl::context(device), device);
  const auto pool = std::make_shared<pool_resource>(direct(q, usm_kind::shared));
  CHECK(set_default_resource(pool) == nullptr);
  CHECK(default_resource(q, usm_kind::shared) == pool);
  CHECK(default_resource(q, usm_kind::host) != pool);
  CHECK(default_resource(default_queue(), usm_kind::shared) != pool);
  // However many contexts come and go, what was chosen stays.
  for (int k = 0; k < 70; ++k) {
    static_cast<void>(default_resource({sycl::context(device), device}, usm_kind::shared));
  }
  CHECK(default_resource(q, usm_kind::shared) == pool);
  CHECK_THROWS(std::invalid_argument, set_default_resource(nullptr));
  // Live blocks are freed through their own resource, also if the default changed meanwhile.
  shared_owner o = allocate(default_resource(q, usm_kind::shared), 1000);
  CHECK_EQUAL(pool->stats().blocks, 1u);
  CHECK(set_default_resource(direct(q, usm_kind::shared)) == pool);
  o.reset();
  CHECK_EQUAL(pool->stats().blocks, 0u);
}

}  // namespace
}  // namespace usmx
