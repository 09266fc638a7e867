// A pool is a resource like any other, and knows where its blocks end.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/pool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "pool_checks.hpp"
#include "resource_suite.hpp"
#include "usmx/array.hpp"

namespace usmx {
namespace {

std::shared_ptr<memory_resource> direct(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<usm_resource>(q.get_context(), q.get_device(), kind);
}
std::shared_ptr<memory_resource> pooled(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<pool_resource>(direct(q, kind));
}
std::shared_ptr<memory_resource> pooled_twice(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<pool_resource>(pooled(q, kind));
}
/// Keeps nothing: every block that comes back may send a chunk to the upstream.
std::shared_ptr<memory_resource> releasing(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<pool_resource>(direct(q, kind), pool_limits{.release_above = 0});
}
const int pool_added = resource_suite<pooled>::add("PoolResource");
const int twice_added = resource_suite<pooled_twice>::add("PoolOnPool");
const int releasing_added = resource_suite<releasing>::add("ReleasingPool");

// --- where blocks end

TEST(PoolExtent, AnArrayMayNotLeaveItsBlock) {
  const sycl::queue q = default_queue();
  const auto pool = std::make_shared<pool_resource>(direct(q, usm_kind::shared));
  const shared_owner one = allocate(pool, 1000);
  const shared_owner two = allocate(pool, 1000);
  const auto bind = [&](std::byte* first, std::int64_t bytes) {
    layout where;
    const std::array<std::int64_t, 1> shape = {bytes};
    CHECK(layout::c_order(extents(shape), 1, where) == fault::none);
    any_view view;
    CHECK(any_view::make(first, dtype::of<std::uint8_t>(), where, usm_kind::unknown, false, view) ==
          fault::none);
    return array::bind(view, q, one).kind();
  };
  CHECK_EQUAL(bind(one->base(), 1000), usm_kind::shared);
  CHECK_EQUAL(bind(one->base() + 999, 1), usm_kind::shared);
  // The driver sees the pool's whole chunk and would let all of these pass.
  for (const auto& [at, bytes] : {std::pair{0, 1001}, {500, 501}, {0, 1000000}}) {
    try {
      bind(one->base() + at, bytes);
      CHECK(!"an array that leaves its block");
    } catch (const interop_error& e) {
      CHECK(e.code() == fault::out_of_allocation);
    }
  }
  try {
    bind(one->base() + 1000, 1);  // between two blocks
    CHECK(!"an array that lies in no block");
  } catch (const interop_error& e) {
    CHECK(e.code() == fault::not_usm);
  }
}

TEST(PoolExtent, InteriorPointersOfLargeBlocksFindTheirBeginning) {
  pool_resource pool(std::make_shared<paper_resource>());
  std::byte* const before = get(pool, 300 * MiB);
  std::byte* const p = get(pool, 3000 * MiB);
  for (std::size_t at = 0; at < 3000 * MiB; at += 7 * MiB + 12345) {
    CHECK(is_live(pool, p + at, p, 3000 * MiB));
  }
  CHECK(is_live(pool, p + 3000 * MiB - 1, p, 3000 * MiB));
  pool.deallocate(p, 3000 * MiB);
  CHECK(is_unknown(pool, p + 1500 * MiB));
  CHECK(is_live(pool, before + 300 * MiB - 1, before, 300 * MiB));
  pool.deallocate(before, 300 * MiB);
}

TEST(PoolExtent, OtherContextsKnowNothingOfIt) {
  const sycl::queue q = default_queue();
  pool_resource pool(direct(q, usm_kind::shared));
  void* const p = pool.allocate(100);
  CHECK_EQUAL(describe_allocation(p, sycl::context(q.get_device())).kind, usm_kind::unknown);
  // And what no pool divided is still asked of the driver.
  const auto plain = direct(q, usm_kind::host);
  void* const undivided = plain->allocate(100);
  const allocation found = describe_allocation(undivided, q.get_context());
  CHECK_EQUAL(found.kind, usm_kind::host);
  CHECK(found.extent && found.extent->base == undivided);
  plain->deallocate(undivided, 100);
  pool.deallocate(p, 100);
}

TEST(PoolExtent, APoolOnAPoolAnswersForItsOwnBlocks) {
  const auto lower = std::make_shared<pool_resource>(std::make_shared<paper_resource>());
  lower->reserve(32 * MiB);  // so that the upper one's chunk lies in the middle
  void* const below = lower->allocate(100);
  pool_resource upper(lower);
  void* const p = upper.allocate(100);
  void* const after = lower->allocate(3 * MiB);
  CHECK(is_live(*lower, below, below, 100));
  CHECK(is_live(upper, p, p, 100));
  CHECK(is_live(*lower, after, after, 3 * MiB));
  CHECK_EQUAL(lower->stats().chunks, 1u);
  CHECK(after > p);
  CHECK(is_unknown(upper, static_cast<std::byte*>(p) + 200));
  upper.deallocate(p, 100);
  upper.trim();
  CHECK(is_unknown(*lower, p));
  lower->deallocate(below, 100);
  lower->deallocate(after, 3 * MiB);
}

TEST(PoolExtent, NothingIsLeftOfAPoolThatIsGone) {
  const sycl::queue q = default_queue();
  void* p = nullptr;
  {
    pool_resource pool(direct(q, usm_kind::shared));
    p = pool.allocate(100);
    pool.deallocate(p, 100);
  }
  CHECK(!extent_of(p, q.get_context()));
  void* const again = direct(q, usm_kind::shared)->allocate(100);
  CHECK(extent_of(again, q.get_context()).has_value());
  direct(q, usm_kind::shared)->deallocate(again, 100);
}

// --- misuse

/// True if `wrong` ends a process, and says why.
template <class Wrong>
bool ends_the_program(Wrong wrong) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    wrong();
    _exit(0);
  }
  close(ends[1]);
  std::string said(1000, ' ');
  const ssize_t length = read(ends[0], said.data(), said.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return length > 0 && said.find("not the start of a live block") != std::string::npos &&
         !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(PoolMisuse, EndsTheProgramWithAMessage) {
  pool_resource pool(std::make_shared<paper_resource>());
  for (const std::size_t bytes : {100 * std::size_t{1}, 64 * KiB, 3 * MiB}) {
    std::byte* const p = get(pool, bytes);
    CHECK(ends_the_program([&] {
      pool.deallocate(p, bytes);
      pool.deallocate(p, bytes);
    }));
    CHECK(ends_the_program([&] { pool.deallocate(p + 64, bytes); }));
    pool.deallocate(p, bytes);
  }
  int elsewhere = 0;
  CHECK(ends_the_program([&] { pool.deallocate(&elsewhere, 4); }));
}

}  // namespace
}  // namespace usmx
