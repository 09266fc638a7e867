// Arithmetic from C++: values are deferred, keep their operands as they were, are computed once,
// and what they cannot compute is said where it is asked.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/copy.hpp"
#include "usmx/operations.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"
#include "messages.hpp"

namespace {

using usmx::array;
using usmx::deferred_operand;
using usmx::dtype;
using usmx::operand;
using usmx::shared_deferred;

sycl::queue queue() { return usmx::default_queue(); }

array counted(std::int64_t count, usmx::usm_kind kind = usmx::usm_kind::shared) {
  const std::int64_t shape[] = {count};
  const auto a = array::empty(queue(), shape, dtype::of<float>(), kind);
  std::iota(static_cast<float*>(a.data()), static_cast<float*>(a.data()) + count, 0.0F);
  return a;
}
std::vector<float> values(const array& a) {
  a.wait();
  const auto* first = static_cast<const float*>(a.data());
  return {first, first + a.elements().size()};
}
shared_deferred apply(const char* name, std::initializer_list<deferred_operand> operands) {
  return usmx::apply(queue(), *usmx::find_operation(name),
                     std::span(operands.begin(), operands.size()));
}
template <class Exception, class Call>
bool fails(Call call, const std::string& part) {
  return check::contains(check::message_of<Exception>(call), part);
}

constexpr std::int64_t many = 5000;  // more than the host computes

}  // namespace

TEST(Operations, AreDeferredUntilTheyAreNeeded) {
  const array x = counted(many);
  const auto y = apply("add", {apply("multiply", {x, operand(2)}), operand(1)});
  CHECK(!y->is_computed());
  CHECK(y->dtype() == dtype::of<float>());
  CHECK(y->shape() == usmx::extents({many}));
  const auto plan = usmx::explain(y);
  CHECK_EQUAL(plan.size(), 1U);
  CHECK_EQUAL(plan.front().operations, 2);
  CHECK_EQUAL(values(y->get())[3], 7.0F);
  CHECK(y->is_computed());
  CHECK(usmx::explain(y).empty());
}

TEST(Operations, KeepTheValuesOfTheirOperands) {
  const array x = counted(many);
  const auto y = apply("add", {x, operand(1)});
  y->seen(true);
  const float nine = 9;
  usmx::fill(x, &nine);
  CHECK_EQUAL(values(y->get())[3], 4.0F);
  CHECK_EQUAL(values(x)[3], 9.0F);
}

TEST(Operations, OfAFewElementsAreComputedOnTheHost) {
  const auto y = apply("subtract", {counted(3), operand(1)});
  CHECK(y->is_computed());
  CHECK(values(y->get()) == std::vector<float>({-1, 0, 1}));
}

TEST(Operations, ComputeIntoGivenArrays) {
  const array x = counted(many), out = counted(many);
  usmx::store(apply("add", {x, out}), out);
  CHECK_EQUAL(values(out)[5], 10.0F);
  CHECK(fails<std::invalid_argument>(
      [&] { usmx::store(apply("add", {x, operand(1)}), counted(3)); }, "shape"));
}

TEST(Operations, CountWithoutMemoryForTheNumbers) {
  const auto from_ten = usmx::count_up(queue(), operand(std::int64_t{10}), operand(std::int64_t{3}),
                                       many, usmx::usm_kind::shared);
  const auto as_float = usmx::cast(queue(), from_ten, dtype::of<float>());
  const auto y = apply("multiply", {as_float, counted(many)});
  const auto plan = usmx::explain(y);
  CHECK_EQUAL(plan.size(), 1U);
  CHECK_EQUAL(plan.front().bytes_read, sizeof(float) * many);
  CHECK_EQUAL(values(y->get())[4], 22.0F * 4);
  CHECK_EQUAL(values(as_float->get())[many - 1], 10.0F + 3 * (many - 1));
  const auto halves =
      usmx::count_up(queue(), operand(1.0), operand(-0.5), 3, usmx::usm_kind::shared);
  halves->get().wait();
  CHECK_EQUAL(static_cast<const double*>(halves->get().data())[2], 0.0);
  const auto count = [](const operand& start, std::int64_t n) {
    return usmx::count_up(queue(), start, start, n, usmx::usm_kind::shared);
  };
  const float one = 1;
  const operand of_32_bits(dtype::of<float>(), &one);
  CHECK(fails<std::invalid_argument>([&] { count(of_32_bits, 3); }, "float32"));
  CHECK(fails<std::invalid_argument>([&] { count(operand(1.0), -1); }, "-1"));
}

TEST(Operations, AreComputedOnceByManyThreads) {
  const array x = counted(many);
  for (int round = 0; round < 20; ++round) {
    const auto y = apply("add", {x, operand(round)});
    std::vector<const array*> seen(4);
    std::vector<std::thread> threads;
    for (auto& one : seen) threads.emplace_back([&] { one = &y->get(); });
    for (auto& t : threads) t.join();
    for (const auto* one : seen) CHECK(one == seen.front());
    CHECK_EQUAL(values(y->get())[1], 1.0F + static_cast<float>(round));
  }
}

TEST(Operations, SayWhatTheyCannotComputeWhereItIsAsked) {
  const array x = counted(3);
  CHECK(usmx::find_operation("no such") == nullptr);
  CHECK(fails<usmx::interop_error>([&] { apply("bitwise_and", {x, x}); }, "bitwise_and"));
  CHECK(fails<std::invalid_argument>([&] { apply("add", {x, counted(4)}); }, "shape"));
  CHECK(fails<std::invalid_argument>([&] { apply("add", {x}); }, "2 operands"));
  const auto small = usmx::cast(queue(), x, dtype::of<std::int8_t>());
  CHECK(fails<std::overflow_error>([&] { apply("add", {small, operand(300)}); }, "int8"));
}
