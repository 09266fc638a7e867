// The memory of programs: what was used longest ago leaves it, and comes back with the same values.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/program_memory.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "program_folder.hpp"

namespace {

using kept::unique;
using usmx::kernel;
using usmx::program;

/// A limit for the time of a test.
class with_limit {
 public:
  explicit with_limit(std::size_t bytes) : before_(program::set_memory_limit(bytes)) {}
  with_limit(const with_limit&) = delete;
  with_limit& operator=(const with_limit&) = delete;
  ~with_limit() { program::set_memory_limit(before_); }

 private:
  std::size_t before_;
};

std::string puts(int value) {
  return unique("USMX_KERNEL(1) put(int* p) { p[0] = " + std::to_string(value) + "; }\n");
}

usmx::array one_int() {
  const std::int64_t shape[] = {1};
  return usmx::array::empty(usmx::default_queue(), shape, usmx::dtype::of<int>(),
                            usmx::usm_kind::shared);
}

int value_of(const kernel& k) {
  auto q = usmx::default_queue();
  const auto x = one_int();
  k.launch(q, 1, {x}).wait();
  return *static_cast<const int*>(x.data());
}

}  // namespace

TEST(ProgramMemory, WhatWasUsedLongestAgoLeaves) {
  const with_limit few(std::size_t{4} << 20);
  auto q = usmx::default_queue();
  const auto often = program::build(q, puts(-1)).get("put");
  const auto first = program::build(q, puts(0)).get("put");
  for (int k = 1; k < 12; ++k) {
    CHECK_EQUAL(value_of(program::build(q, puts(k)).get("put")), k);
    CHECK_EQUAL(value_of(often), -1);
    const auto use = program::memory();
    CHECK(use.bytes <= use.limit);
    CHECK(use.programs >= 2);
  }
  const auto before = program::counts().compiled;
  CHECK_EQUAL(value_of(often), -1);
  CHECK_EQUAL(program::counts().compiled, before);
  CHECK_EQUAL(value_of(first), 0);
  CHECK_EQUAL(program::counts().compiled, before + 1);
}

TEST(ProgramMemory, AKernelThatIsHeldIsReadAgainFromDisk) {
  const kept::in_folder folder;
  const with_limit none(0);
  auto q = usmx::default_queue();
  const auto source = puts(7);
  const auto k = program::build(q, source).get("put");
  program::build(q, puts(8));
  const auto before = program::counts();
  CHECK_EQUAL(value_of(k), 7);
  CHECK_EQUAL(program::counts().loaded, before.loaded + 1);
  CHECK_EQUAL(program::counts().compiled, before.compiled);
  CHECK(k.limits().max_work_group_size > 0);
  setenv("USMX_CACHE", "0", 1);
}

TEST(ProgramMemory, AProgramWhoseCodeIsGoneIsFoundWhileAKernelOfItIsHeld) {
  const with_limit none(0);
  auto q = usmx::default_queue();
  const auto source = puts(9);
  const auto k = program::build(q, source).get("put");
  program::build(q, puts(10));
  const auto before = program::counts();
  const auto again = program::build(q, source);
  CHECK_EQUAL(program::counts().compiled, before.compiled);
  CHECK_EQUAL(value_of(again.get("put")), 9);
  CHECK_EQUAL(value_of(k), 9);
  CHECK_EQUAL(program::counts().compiled, before.compiled + 1);
}

TEST(ProgramMemory, ARunningKernelKeepsItsCode) {
  auto q = usmx::default_queue();
  const auto x = one_int();
  auto* const value = static_cast<int*>(x.data());
  *value = 0;
  sycl::event last;
  {
    const auto k = program::build(q, unique("USMX_KERNEL(1) count(int* p) {\n"
                                            "  for (int k = 0; k < 30000000; ++k)\n"
                                            "    *(volatile int*)p = *(volatile int*)p + 1;\n"
                                            "}\n"))
                       .get("count");
    last = k.launch(q, 1, {x});
    const with_limit none(0);
  }
  last.wait();
  CHECK_EQUAL(*value, 30000000);
}

TEST(ProgramMemory, ThreadsUseProgramsThatComeAndGo) {
  const kept::in_folder folder;
  const with_limit few(std::size_t{2} << 20);
  auto q = usmx::default_queue();
  std::vector<std::string> sources;
  std::vector<kernel> kernels;
  for (int k = 0; k < 10; ++k) {
    sources.push_back(puts(k));
    kernels.push_back(program::build(q, sources.back()).get("put"));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      unsigned state = 7u * unsigned(t) + 1;
      for (int round = 0; round < 80; ++round) {
        state = state * 1664525u + 1013904223u;
        const auto k = (state >> 16) % kernels.size();
        auto found = kernels[k];
        if (round % 3 == 0) found = program::build(usmx::default_queue(), sources[k]).get("put");
        if (round % 20 == 19) program::set_memory_limit((state >> 8) % 2 == 0 ? 0 : 2u << 20);
        if (value_of(found) != int(k)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
  setenv("USMX_CACHE", "0", 1);
}

TEST(ProgramMemory, WhatCannotLeaveTakesNoMoreThanTheLimit) {
  auto& memory = usmx::detail::program_memory::get();
  const with_limit small(1000);
  const auto before = program::memory();
  CHECK(memory.reserve_for_good(600));
  CHECK(!memory.reserve_for_good(600));
  CHECK(!memory.reserve_for_good(2000));
  CHECK(memory.reserve_for_good(400));
  CHECK_EQUAL(program::memory().programs, before.programs + 2);
}

TEST(ProgramMemory, AFailureThatIsKeptLeavesAsProgramsDo) {
  const with_limit none(0);
  auto q = usmx::default_queue();
  const auto wrong = unique("USMX_KERNEL(1) f(int* p) { p[0] = nothing; }\n");
  const auto before = program::counts().compiled;
  CHECK_THROWS(usmx::build_error, program::build(q, wrong));
  CHECK_THROWS(usmx::build_error, program::build(q, wrong));
  CHECK_EQUAL(program::counts().compiled, before + 1);
  program::build(q, puts(11));
  CHECK_THROWS(usmx::build_error, program::build(q, wrong));
  CHECK_EQUAL(program::counts().compiled, before + 3);
}
