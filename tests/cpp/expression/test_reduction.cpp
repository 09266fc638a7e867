// Reductions and scans as C++ calls them: plain loops over the same numbers say what is right. What
// the expressions can say is tested from Python.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/reduction.hpp"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"
#include "usmx/runtime.hpp"
#include "usmx/scan.hpp"
#include "usmx/wait.hpp"

namespace {

using check::contains;
using check::message_of;
using usmx::any_view;
using usmx::array;
using usmx::dtype;
using usmx::extents;
using usmx::layout;
using usmx::operand;
using usmx::usm_kind;

any_view host_view(std::vector<std::int64_t>& values, const extents& shape) {
  layout where;
  any_view view;
  CHECK(layout::c_order(shape, sizeof(std::int64_t), where) == usmx::fault::none);
  CHECK(any_view::make(values.data(), dtype::of<std::int64_t>(), where, usm_kind::unknown, false,
                       view) == usmx::fault::none);
  return view;
}

array on_device(const sycl::queue& queue, std::vector<std::int64_t> values, const extents& shape) {
  array a = array::empty(queue, shape.span(), dtype::of<std::int64_t>(), usm_kind::device);
  copy_from_host(a, host_view(values, shape));
  return a;
}

std::vector<std::int64_t> values_of(const array& a) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(a.elements().size()));
  copy_to_host(host_view(values, a.elements().layout().shape()), a);
  return values;
}

std::vector<std::int64_t> some_numbers(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::int64_t> values(count);
  for (auto& x : values) x = static_cast<std::int64_t>(random() % 1000) - 500;
  return values;
}

const usmx::reduction_kernel& total() {
  static const usmx::reduction_kernel kernel(
      "T x", "T y", {.map = "x", .reduce = "a + b", .post_map = "y = a", .identity = "0"}, "total");
  return kernel;
}

/// Work is cut as for a GPU while this lives.
struct as_for_a_gpu {
  as_for_a_gpu() {
    usmx::detail::choose_forms(&usmx::detail::backend_row_of(sycl::backend::ext_oneapi_cuda).forms);
  }
  ~as_for_a_gpu() { usmx::detail::choose_forms(nullptr); }
};

void reduce_any_axes() {
  const extents shape{30, 50, 70};
  const auto values = some_numbers(30 * 50 * 70);
  for (const bool in_order : {true, false}) {
    sycl::queue queue = in_order ? usmx::default_queue()
                                 : sycl::queue(usmx::default_queue().get_context(),
                                               usmx::default_queue().get_device());
    const array x = on_device(queue, values, shape);
    for (int mask = 0; mask < 8; ++mask) {
      std::vector<int> axes;
      for (int k = 0; k < 3; ++k) {
        if ((mask >> k) % 2 == 1) axes.push_back(k);
      }
      for (const bool keep : {false, true}) {
        usmx::expression_output out;
        const operand in[] = {x};
        usmx::wait(total().enqueue(queue, in, std::span(&out, 1), {axes, keep}));
        CHECK_EQUAL(out.made.elements().rank(), keep ? 3 : 3 - static_cast<int>(axes.size()));
        const auto got = values_of(out.made);
        std::vector<std::int64_t> expected(got.size());
        for (std::size_t flat = 0; flat < values.size(); ++flat) {
          const std::size_t index[] = {flat / 3500, flat / 70 % 50, flat % 70};
          std::size_t at = 0;
          for (int k = 0; k < 3; ++k) {
            if ((mask >> k) % 2 == 0)
              at = at * static_cast<std::size_t>(shape[static_cast<std::size_t>(k)]) +
                   index[static_cast<std::size_t>(k)];
          }
          expected[at] += values[flat];
        }
        CHECK(got == expected);
      }
    }
  }
}

void scan_each_axis() {
  const usmx::scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"}, "running");
  for (const bool in_order : {true, false}) {
    sycl::queue queue = in_order ? usmx::default_queue()
                                 : sycl::queue(usmx::default_queue().get_context(),
                                               usmx::default_queue().get_device());
    for (const extents& shape : {extents{40'000, 3}, extents{3, 40'000}, extents{1, 120'000}}) {
      const auto values = some_numbers(120'000);
      const array x = on_device(queue, values, shape);
      const auto columns = static_cast<std::size_t>(shape[1]);
      for (const int axis : {0, 1}) {
        auto expected = values;
        for (std::size_t k = 0; k < expected.size(); ++k) {
          if (axis == 0 && k >= columns) expected[k] += expected[k - columns];
          if (axis == 1 && k % columns != 0) expected[k] += expected[k - 1];
        }
        CHECK(values_of(running(queue, {x}, axis)) == expected);
      }
    }
  }
}

}  // namespace

TEST(Reduction, AnyAxesOnQueuesOfBothOrders) { reduce_any_axes(); }

TEST(Reduction, TakesTheQueueOfAnArray) {
  const usmx::scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"}, "running");
  const array x = on_device(usmx::default_queue(), {1, 2, 3, 4}, {4});
  CHECK_EQUAL(values_of(total()(x.queue(), {x}))[0], 10);
  CHECK(values_of(running(x.queue(), {x})) == std::vector<std::int64_t>({1, 3, 6, 10}));
}

// What runs on GPUs runs here too, only slower.
TEST(Reduction, AnyAxesCutAsForAGpu) {
  const as_for_a_gpu here;
  reduce_any_axes();
  sycl::queue queue = usmx::default_queue();
  for (const std::int64_t n : {1, 2, 255, 256, 257, 1023, 1025, 16'383, 16'385, 1'000'003}) {
    const auto values = some_numbers(static_cast<std::size_t>(n));
    const std::int64_t expected = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    CHECK_EQUAL(values_of(total()(queue, {on_device(queue, values, {n})}))[0], expected);
    // Along the longer axis of two, both ways round.
    const array thin = on_device(queue, values, {n, 1});
    CHECK_EQUAL(values_of(total()(queue, {thin}, {.axes = {{0}}}))[0], expected);
  }
}

TEST(Reduction, StagesFollowEachOtherWithoutAnOrderOfTheQueue) {
  sycl::queue queue(usmx::default_queue().get_context(), usmx::default_queue().get_device());
  const auto values = some_numbers(1'000'000);
  const array x = on_device(queue, values, {1'000'000});
  const std::int64_t expected = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  for (int k = 0; k < 20; ++k) CHECK_EQUAL(values_of(total()(queue, {x}))[0], expected);
}

TEST(Reduction, ManyThreadsShareOneKernel) {
  const usmx::reduction_kernel fresh(
      "T x", "T y", {.map = "x + 1", .reduce = "a + b", .post_map = "y = a"}, "fresh");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      sycl::queue queue = usmx::default_queue();
      const array x = on_device(queue, std::vector<std::int64_t>(5000, 1), {5000});
      for (int k = 0; k < 10; ++k) wrong += values_of(fresh(queue, {x}))[0] != 10'000;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
  CHECK(!fresh.sources().empty());
}

TEST(Reduction, ErrorsNameTheParameter) {
  sycl::queue queue = usmx::default_queue();
  const array x = on_device(queue, {1, 2, 3, 4}, {2, 2});
  const auto error = [&](const usmx::reduction_axes& axes) {
    return message_of<std::invalid_argument>([&] { total()(queue, {x}, axes); });
  };
  CHECK(contains(error({.axes = {{2}}}), "axis: 2 is out of range for 2 dimensions"));
  CHECK(contains(error({.axes = {{0, -2}}}), "axis: -2 is named twice"));
  CHECK(contains(message_of<std::invalid_argument>([&] { total()(queue, {x, x}); }),
                 "takes 1 inputs, got 2"));
  const std::int64_t none[] = {0, 3};
  const array nothing = array::empty(queue, none, dtype::of<float>(), usm_kind::device);
  const usmx::reduction_kernel largest(
      "T x", "T y", {.map = "x", .reduce = "maximum(a, b)", .post_map = "y = a"}, "largest");
  CHECK(contains(message_of<std::invalid_argument>([&] { largest(queue, {nothing}); }),
                 "kernel 'largest' has no identity"));
}

TEST(Scan, EachAxisOnQueuesOfBothOrders) { scan_each_axis(); }

// What runs on GPUs runs here too, only slower.
TEST(Scan, EachAxisCutAsForAGpu) {
  const as_for_a_gpu here;
  scan_each_axis();
}

TEST(Scan, ErrorsNameTheParameter) {
  CHECK(contains(message_of<std::invalid_argument>([] {
                   usmx::scan_kernel("T x", "T y",
                                     {.map = "x", .scan = "a + b", .exclusive = true});
                 }),
                 "identity: is missing"));
  sycl::queue queue = usmx::default_queue();
  const usmx::scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"}, "running");
  const array x = on_device(queue, {1, 2, 3, 4}, {2, 2});
  CHECK(contains(message_of<std::invalid_argument>([&] { running(queue, {x}); }),
                 "axis: is needed for an input of 2 dimensions"));
}
