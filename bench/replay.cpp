// Replays the requests that a logging_resource recorded on the driver and on a pool, in the order
// in which they were made: what a program gains from a pool. Usage: bench_replay trace.csv
// [--json]
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "umf.hpp"
#include "usmx/pool.hpp"
#include "usmx/resources.hpp"
#include "usmx/runtime.hpp"

namespace {

struct request {
  bool allocates;
  std::size_t block;  // which of the trace's blocks
  std::size_t bytes;
  std::size_t alignment;
};

struct trace {
  std::vector<request> requests;
  std::size_t blocks = 0;
};

/// Blocks that the trace never returns are returned at its end.
trace read(const char* path) {
  trace found;
  std::ifstream in(path);
  std::unordered_map<std::string, request> alive;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (row.size() != 6) continue;
    const std::string& pointer = row[3];
    if (row[2] == "allocate") {
      alive[pointer] = {true, found.blocks++, std::stoull(row[4]), std::stoull(row[5])};
      found.requests.push_back(alive[pointer]);
    } else if (const auto known = alive.find(pointer); known != alive.end()) {
      known->second.allocates = false;
      found.requests.push_back(known->second);
      alive.erase(known);
    }
  }
  for (auto& [pointer, left] : alive) {
    left.allocates = false;
    found.requests.push_back(left);
  }
  return found;
}

struct resource {
  usmx::memory_resource& from;
  void* get(std::size_t bytes, std::size_t alignment) { return from.allocate(bytes, alignment); }
  void put(void* p, std::size_t bytes, std::size_t alignment) {
    from.deallocate(p, bytes, alignment);
  }
};

/// A size of zero is one byte to them, and the size need not be a multiple of the alignment.
struct heap {
  void* get(std::size_t bytes, std::size_t) { return std::malloc(std::max<std::size_t>(bytes, 1)); }
  void put(void* p, std::size_t, std::size_t) { std::free(p); }
};

struct disjoint {
  umf_memory_pool_handle_t pool;
  void* get(std::size_t bytes, std::size_t alignment) {
    return umfPoolAlignedMalloc(pool, std::max<std::size_t>(bytes, 1), alignment);
  }
  void put(void* p, std::size_t, std::size_t) { umfPoolFree(pool, p); }
};

template <class Source>
double nanoseconds_each(Source from, const trace& what) {
  std::vector<void*> blocks(what.blocks);
  const auto begin = std::chrono::steady_clock::now();
  for (const request& r : what.requests) {
    void*& p = blocks[r.block];
    if (r.allocates) {
      p = from.get(r.bytes, r.alignment);
    } else {
      from.put(p, r.bytes, r.alignment);
    }
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(std::max<std::size_t>(what.requests.size(), 1));
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::string_view(argv[2]) == "--json";
  const trace what = argc == 2 || json ? read(argv[1]) : trace{};
  if (what.requests.empty()) {
    std::fprintf(stderr,
                 "usage: bench_replay trace.csv [--json], as a logging_resource writes it\n");
    return 2;
  }
  const sycl::queue& queue = usmx::default_queue();
  const auto driver = std::make_shared<usmx::usm_resource>(queue.get_context(), queue.get_device(),
                                                           usmx::usm_kind::device);
  const auto pool = std::make_shared<usmx::pool_resource>(driver);
  usmx::statistics_resource counted(pool);
  const double first = nanoseconds_each(resource{counted}, what);
  double direct = 1e30;
  double pooled = 1e30;
  double from_umf = 1e30;
  double from_malloc = 1e30;
  const bench::umf rival;
  for (int round = 0; round < 5; ++round) {
    direct = std::min(direct, nanoseconds_each(resource{*driver}, what));
    from_malloc = std::min(from_malloc, nanoseconds_each(heap{}, what));
    from_umf = std::min(from_umf, nanoseconds_each(disjoint{rival.blocks().pool}, what));
    pooled = std::min(pooled, nanoseconds_each(resource{*pool}, what));
  }
  const std::size_t peak = counted.now().peak_bytes;
  const std::size_t held = pool->stats().held;
  if (json) {
    std::printf(
        "{\"requests\": %zu, \"driver\": %.2f, \"UMF\": %.2f, \"malloc\": %.2f, \"ours\": %.2f, "
        "\"peak\": %zu, \"held\": %zu}\n",
        what.requests.size(), direct, from_umf, from_malloc, pooled, peak, held);
    return 0;
  }
  std::printf("%zu requests, %zu blocks\n", what.requests.size(), what.blocks);
  std::printf(
      "nanoseconds a request: driver %.1f, UMF %.1f, malloc %.1f, pool %.1f (first time %.1f)\n",
      direct, from_umf, from_malloc, pooled, first);
  std::printf("bytes: %zu alive at the peak, %zu held by the pool, ratio %.2f\n", peak, held,
              static_cast<double>(held) / static_cast<double>(std::max<std::size_t>(peak, 1)));
}
