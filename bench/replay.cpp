// Gives the requests that a logging_resource recorded to the driver and to a pool, in the order in
// which they were made: what a pool is worth to one's own program. Usage: bench_replay trace.csv
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

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

double nanoseconds_each(usmx::memory_resource& from, const trace& what) {
  std::vector<void*> blocks(what.blocks);
  const auto begin = std::chrono::steady_clock::now();
  for (const request& r : what.requests) {
    void*& p = blocks[r.block];
    if (r.allocates) {
      p = from.allocate(r.bytes, r.alignment);
    } else {
      from.deallocate(p, r.bytes, r.alignment);
    }
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(std::max<std::size_t>(what.requests.size(), 1));
}

}  // namespace

int main(int argc, char** argv) {
  const trace what = argc == 2 ? read(argv[1]) : trace{};
  if (what.requests.empty()) {
    std::fprintf(stderr, "usage: bench_replay trace.csv, as a logging_resource writes it\n");
    return 2;
  }
  const sycl::queue& queue = usmx::default_queue();
  const auto driver = std::make_shared<usmx::usm_resource>(queue.get_context(), queue.get_device(),
                                                           usmx::usm_kind::device);
  const auto pool = std::make_shared<usmx::pool_resource>(driver);
  usmx::statistics_resource counted(pool);
  const double first = nanoseconds_each(counted, what);
  double direct = 1e30;
  double pooled = 1e30;
  for (int round = 0; round < 5; ++round) {
    direct = std::min(direct, nanoseconds_each(*driver, what));
    pooled = std::min(pooled, nanoseconds_each(*pool, what));
  }
  const std::size_t peak = counted.now().peak_bytes;
  const std::size_t held = pool->stats().held;
  std::printf("%zu requests, %zu blocks\n", what.requests.size(), what.blocks);
  std::printf("nanoseconds a request: driver %.1f, pool %.1f (first time %.1f), ratio %.1f\n",
              direct, pooled, first, direct / pooled);
  std::printf("bytes: %zu alive at the peak, %zu held by the pool, ratio %.2f\n", peak, held,
              static_cast<double>(held) / static_cast<double>(std::max<std::size_t>(peak, 1)));
}
