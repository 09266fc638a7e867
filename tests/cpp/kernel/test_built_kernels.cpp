// The kernels of one text: found again where they were made, made anew for every other place.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/detail/built_kernels.hpp"
#include "usmx/runtime.hpp"

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using usmx::kernel;
using usmx::detail::built_kernels;

kernel make_for(const sycl::queue& queue) {
  return usmx::program::build(queue, "USMX_KERNEL(1) f(int* p) { p[0] = 1; }").get("f");
}

}  // namespace

TEST(BuiltKernels, AreFoundByContextAndDevice) {
  const sycl::queue& here = usmx::default_queue();
  const sycl::queue other(here.get_context(), here.get_device());
  const sycl::queue elsewhere(sycl::context(here.get_device()), here.get_device());
  built_kernels all;
  CHECK(all.find(here) == nullptr);
  const kernel& first = all.get(here, [&] { return make_for(here); });
  CHECK(first.is_for(here));
  CHECK(first.is_for(other));
  CHECK(!first.is_for(elsewhere));
  CHECK(all.find(other) == &first);
  CHECK(all.find(elsewhere) == nullptr);
  const kernel& second = all.get(elsewhere, [&] { return make_for(elsewhere); });
  CHECK(second.is_for(elsewhere));
  CHECK(all.find(here) == &first);
  CHECK(all.find(elsewhere) == &second);
  CHECK(&all.get(here, []() -> kernel { throw std::logic_error("made again"); }) == &first);
}

TEST(BuiltKernels, AreAsBeforeIfMakingOneFails) {
  const sycl::queue& here = usmx::default_queue();
  built_kernels all;
  const auto fail = []() -> kernel { throw std::out_of_range("no"); };
  CHECK_THROWS(std::out_of_range, all.get(here, fail));
  CHECK(all.find(here) == nullptr);
  CHECK(all.get(here, [&] { return make_for(here); }).is_for(here));
}

TEST(BuiltKernels, ComeFromManyThreads) {
  const sycl::queue& here = usmx::default_queue();
  built_kernels all;
  std::array<const kernel*, 4> got{};
  std::vector<std::thread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&] { mine = &all.get(here, [&] { return make_for(here); }); });
  }
  for (auto& t : threads) t.join();
  for (const kernel* k : got) CHECK(k->is_for(here));
  CHECK(all.find(here) != nullptr);
}
