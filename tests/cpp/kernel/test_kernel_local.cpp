// Local memory whose size the launch says: compiled once for each size, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

#include <numeric>

#include "check.hpp"
#include "messages.hpp"

namespace {

using usmx::array;
using usmx::dtype;
using usmx::extents;
using usmx::local_memory;
using usmx::program;

const char* const source = R"(
USMX_KERNEL(1) reverse(float* a, usmx::local_view<float, 1> tile) {
  usmx::nd_item<1> item;
  auto l = item.get_local_id(0);
  tile[l] = a[item.get_global_id(0)];
  item.barrier();
  a[item.get_global_id(0)] = tile[tile.shape[0] - 1 - l];
}
USMX_KERNEL(1) twice(float* a) { a[usmx::global_id()] *= 2; }
USMX_KERNEL(2) turn(usmx::strided<int, 2> a, usmx::local_view<int, 2> tile, int by,
                    usmx::local_view<uint8_t, 1> flags) {
  usmx::nd_item<2> item;
  auto i = item.get_local_id(0), j = item.get_local_id(1);
  tile(i, j) = a(item.get_global_id(0), item.get_global_id(1));
  flags[i * tile.shape[1] + j] = uint8_t(by);
  item.barrier();
  a(item.get_global_id(0), item.get_global_id(1)) = tile(j, i) * flags[flags.size() - 1];
}
)";

array floats(std::int64_t n) {
  const std::int64_t shape[] = {n};
  auto a = array::empty(usmx::default_queue(), shape, dtype::of<float>(), usmx::usm_kind::shared);
  std::iota(static_cast<float*>(a.data()), static_cast<float*>(a.data()) + n, 0.0f);
  return a;
}
usmx::launch_range in_groups(std::size_t global, std::size_t local) {
  return sycl::nd_range<1>(global, local);
}
local_memory tile(std::int64_t n) { return {dtype::of<float>(), {n}}; }

}  // namespace

TEST(KernelLocal, HasTheSizeOfTheLaunch) {
  auto q = usmx::default_queue();
  const auto k = program::build(q, source).get("reverse");
  for (const std::size_t group : {4u, 16u, 4u}) {
    const auto a = floats(64);
    const auto memory = tile(std::int64_t(group));
    k.launch(q, in_groups(64, group), {a, memory}).wait();
    for (std::size_t i = 0; i < 64; ++i) {
      CHECK_EQUAL(static_cast<const float*>(a.data())[i],
                  float(i / group* group + group - 1 - i % group));
    }
  }
}

TEST(KernelLocal, IsCompiledOnceForASize) {
  auto q = usmx::default_queue();
  const auto k = program::build(q, std::string("// once\n") + source).get("reverse");
  const auto a = floats(64);
  const auto small = tile(8), large = tile(32);
  const auto made = [] {
    const auto counts = program::counts();
    return counts.compiled + counts.loaded;
  };
  const auto before = made();
  k.enqueue(q, in_groups(64, 8), {a, small});
  k.enqueue(q, in_groups(64, 32), {a, large});
  CHECK_EQUAL(made() - before, 2u);
  k.enqueue(q, in_groups(64, 8), {a, small});
  const auto again = program::build(q, std::string("// once\n") + source).get("reverse");
  again.launch(q, in_groups(64, 32), {a, large}).wait();
  CHECK_EQUAL(made() - before, 2u);
}

TEST(KernelLocal, StandsBetweenViewsAndNumbers) {
  auto q = usmx::default_queue();
  const std::int64_t shape[] = {4, 4};
  const auto a = array::empty(q, shape, dtype::of<std::int32_t>(), usmx::usm_kind::shared);
  auto* const at = static_cast<std::int32_t*>(a.data());
  std::iota(at, at + 16, 0);
  const local_memory square{dtype::of<std::int32_t>(), {4, 4}};
  const local_memory flags{dtype::of<std::uint8_t>(), {16}};
  const auto k = program::build(q, source).get("turn");
  CHECK_EQUAL(k.argument_count(), 4u);
  k.launch(q, sycl::nd_range<2>({4, 4}, {4, 4}), {a, square, 3, flags}).wait();
  for (int i = 0; i < 16; ++i) CHECK_EQUAL(at[i], 3 * (i % 4 * 4 + i / 4));
}

TEST(KernelLocal, LeavesTheOtherKernelsOfTheSource) {
  auto q = usmx::default_queue();
  const auto p = program::build(q, source);
  CHECK_EQUAL(p.names(), (std::vector<std::string>{"reverse", "twice", "turn"}));
  const auto a = floats(4);
  p.get("twice").launch(q, 4, {a}).wait();
  CHECK_EQUAL(static_cast<const float*>(a.data())[3], 6.0f);
}

TEST(KernelLocal, KnowsItsLimitsOnceItHasASize) {
  const auto k = program::build(usmx::default_queue(), source).get("reverse");
  CHECK_THROWS(std::invalid_argument, k.limits());
  const auto size = tile(64);
  const auto sized = k.with_local({&size, 1});
  CHECK(sized.limits().max_work_group_size > 0);
  CHECK_EQUAL(sized.argument_count(), 2u);
  const auto other = tile(8);
  CHECK_THROWS(std::invalid_argument, sized.with_local({&other, 1}));
  auto q = usmx::default_queue();
  const auto a = floats(64);
  sized.launch(q, in_groups(64, 64), {a, size}).wait();
  CHECK_EQUAL(static_cast<const float*>(a.data())[0], 63.0f);
  CHECK_THROWS(std::invalid_argument, sized.launch(q, in_groups(64, 8), {a, other}));
  CHECK_THROWS(usmx::interop_error, sized.launch(q, in_groups(64, 64), {a, a}));
}

TEST(KernelLocal, RefusesWhatDoesNotFit) {
  auto q = usmx::default_queue();
  const auto p = program::build(q, source);
  const auto k = p.get("reverse");
  const auto a = floats(64);
  const auto groups = in_groups(64, 8);
  const auto good = tile(8), none = tile(0), huge = tile(std::int64_t(1) << 40);
  const local_memory doubles{dtype::of<double>(), {8}}, square{dtype::of<float>(), {2, 4}};
  const auto says = [&](const auto& f) { return check::message_of<std::exception>(f); };
  CHECK_EQUAL(says([&] { k.launch(q, groups, {a, doubles}); }),
              "argument 1 of kernel 'reverse' (usmx::local_view<float, 1> tile): has elements of "
              "float64; expected float32");
  CHECK_EQUAL(says([&] { k.enqueue(q, groups, {a, square}); }),
              "argument 1 of kernel 'reverse' (usmx::local_view<float, 1> tile): has 2 "
              "dimensions; expected 1");
  CHECK_EQUAL(says([&] { k.launch(q, groups, {a, none}); }),
              "argument 1 of kernel 'reverse' (usmx::local_view<float, 1> tile): has shape (0,); "
              "expected lengths of at least 1");
  CHECK(says([&] { k.launch(q, groups, {a, huge}); })
            .find("takes 4398046511104 bytes; the device "
                  "has") != std::string::npos);
  CHECK(says([&] { k.launch(q, groups, {a, a}); })
            .ends_with("expected local memory, with a type and "
                       "shape"));
  CHECK(says([&] { k.launch(q, groups, {good, good}); }).find("(float* a): is local memory") !=
        std::string::npos);
  CHECK(says([&] { k.launch(q, 64, {a, good}); }).starts_with("local range: is missing"));
  CHECK_EQUAL(says([&] { k.launch(q, groups, {a}); }), "kernel 'reverse' takes 2 arguments, got 1");
  CHECK(says([&] { p.get("twice").launch(q, groups, {good}); }).find("is local memory") !=
        std::string::npos);
}
