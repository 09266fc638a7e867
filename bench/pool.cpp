// What a block costs in C++: malloc, UMF's disjoint pool, the driver and our pool alternate in one
// run, because the machine is shared and only a ratio survives that. Each figure is the fastest of
// many rounds. UMF uses pages of the system, which cost it less than the driver's would.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/pool.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "umf.hpp"
#include "usmx/runtime.hpp"

namespace {

using usmx::memory_resource;

/// malloc as a resource would pay for a virtual call that malloc does not need, so each source is a
/// pair of functions that the compiler sees.
struct heap {
  void* get(std::size_t bytes) { return std::malloc(bytes); }
  void put(void* p, std::size_t) { std::free(p); }
};

struct resource {
  memory_resource& from;
  void* get(std::size_t bytes) { return from.allocate(bytes); }
  void put(void* p, std::size_t bytes) { from.deallocate(p, bytes); }
};

/// Keeps the compiler from removing unused results.
void used(void* p) { asm volatile("" : : "g"(p) : "memory"); }

template <class Source>
void pairs(Source source, std::size_t bytes, int count) {
  for (int k = 0; k < count; ++k) {
    void* const p = source.get(bytes);
    used(p);
    source.put(p, bytes);
  }
}

template <class Source>
void batches(Source source, std::size_t bytes, int count) {
  std::array<void*, 64> live;
  for (int k = 0; k < count; k += 64) {
    for (void*& p : live) used(p = source.get(bytes));
    for (void* p : live) source.put(p, bytes);
  }
}

template <class Source>
void mixed(Source source, std::size_t, int count) {
  std::array<std::pair<void*, std::size_t>, 256> live{};
  unsigned random = 12345;
  for (int k = 0; k < count; ++k) {
    random = random * 1664525 + 1013904223;
    auto& [p, bytes] = live[random >> 24];
    if (p != nullptr) source.put(p, bytes);
    bytes = std::size_t{64} << (random >> 20) % 12;  // 64 bytes to 128 KiB
    used(p = source.get(bytes));
  }
  for (auto [p, bytes] : live) {
    if (p != nullptr) source.put(p, bytes);
  }
}

template <class Source>
void threads(Source source, std::size_t bytes, int count) {
  std::vector<std::jthread> workers;
  for (int t = 0; t < 8; ++t) workers.emplace_back([=] { pairs(source, bytes, count / 8); });
}

double nanoseconds_each(const std::function<void()>& work, int count) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / count;
}

struct style {
  bool json = false;
  int rounds = 15;
  bool first = true;
};

template <class Malloc, class Umf, class Driver, class Pool>
void row(style& how, const char* name, int count, Malloc from_malloc, Umf from_umf,
         Driver from_driver, Pool from_pool) {
  std::array<double, 4> best;
  best.fill(1e30);
  const int fewer = count / 50;  // or the driver would take all the time there is
  for (int round = 0; round < how.rounds; ++round) {
    best[0] = std::min(best[0], nanoseconds_each([&] { from_malloc(count); }, count));
    best[1] = std::min(best[1], nanoseconds_each([&] { from_umf(count); }, count));
    best[2] = std::min(best[2], nanoseconds_each([&] { from_driver(fewer); }, fewer));
    best[3] = std::min(best[3], nanoseconds_each([&] { from_pool(count); }, count));
  }
  if (how.json) {
    std::printf(
        "%s{\"case\": \"%s\", \"malloc\": %.2f, \"UMF\": %.2f, \"driver\": %.2f, \"ours\": %.2f}",
        std::exchange(how.first, false) ? "[" : ",\n", name, best[0], best[1], best[2], best[3]);
    return;
  }
  std::printf("%-28s %9.1f %9.1f %9.1f %9.1f   %7.2f %7.2f %9.1f\n", name, best[0], best[1],
              best[2], best[3], best[3] / best[0], best[1] / best[3], best[2] / best[3]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  style how;
  for (int k = 1; k < argc; ++k) {
    if (std::string_view(argv[k]) == "--json") how.json = true;
    if (std::string_view(argv[k]) == "--quick") how.rounds = 1;
  }
  const sycl::queue& queue = usmx::default_queue();
  usmx::usm_resource driver(queue.get_context(), queue.get_device(), usmx::usm_kind::device);
  usmx::pool_resource pool(std::make_shared<usmx::usm_resource>(
      queue.get_context(), queue.get_device(), usmx::usm_kind::device));
  const bench::umf rival;
  if (!how.json) {
    std::printf("%-28s %9s %9s %9s %9s   %7s %7s %9s\n", "nanoseconds a pair", "malloc", "UMF",
                "driver", "ours", "/malloc", "UMF/", "driver/");
  }
  const auto compare = [&](const char* name, int count, std::size_t bytes, auto task) {
    row(
        how, name, count, [&](int n) { task(heap{}, bytes, n); },
        [&](int n) { task(rival.blocks(), bytes, n); },
        [&](int n) { task(resource{driver}, bytes, n); },
        [&](int n) { task(resource{pool}, bytes, n); });
  };
  const auto pair = [](auto s, std::size_t b, int n) { pairs(s, b, n); };
  const auto batch = [](auto s, std::size_t b, int n) { batches(s, b, n); };
  compare("pair of 64 B", 200000, 64, pair);
  compare("pair of 4 KiB", 200000, 4096, pair);
  compare("pair of 64 KiB", 200000, 64 << 10, pair);
  compare("pair of 1 MiB", 50000, 1 << 20, pair);
  compare("pair of 16 MiB", 20000, 16 << 20, pair);
  compare("pair of 256 MiB", 5000, 256 << 20, pair);
  compare("64 live of 1 KiB", 64000, 1024, batch);
  compare("64 live of 64 KiB", 64000, 64 << 10, batch);
  compare("256 live, 64 B to 128 KiB", 100000, 0,
          [](auto s, std::size_t b, int n) { mixed(s, b, n); });
  compare("pair of 1 KiB, 8 threads", 400000, 1024,
          [](auto s, std::size_t b, int n) { threads(s, b, n); });
  if (how.json) {
    std::puts("]");
    return 0;
  }
  const usmx::pool_stats now = pool.stats();
  std::printf("pool: %zu MiB held in %zu chunks, %zu blocks alive\n", now.held >> 20, now.chunks,
              now.blocks);
}
