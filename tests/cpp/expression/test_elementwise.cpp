// Elementwise kernels from C++: one line makes one, calls broadcast and promote, programs are found
// again, and what does not fit is named.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/elementwise.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

#include <numeric>

#include "check.hpp"
#include "messages.hpp"

namespace {

using usmx::array;
using usmx::dtype;
using usmx::elementwise_kernel;
using usmx::usm_kind;

sycl::queue queue() { return usmx::default_queue(); }

template <class T>
array counted(std::vector<std::int64_t> shape, usm_kind kind = usm_kind::shared) {
  const auto a = array::empty(queue(), shape, dtype::of<T>(), kind);
  std::iota(static_cast<T*>(a.data()), static_cast<T*>(a.data()) + a.elements().size(), T(0));
  return a;
}
template <class T>
std::vector<T> values(const array& a) {
  a.wait();
  const auto* first = static_cast<const T*>(a.data());
  return {first, first + a.elements().size()};
}
template <class Exception, class Call>
bool fails(Call call, const std::string& part) {
  return check::contains(check::message_of<Exception>(call), part);
}

}  // namespace

TEST(Elementwise, ComputesFromArraysAndNumbers) {
  const elementwise_kernel muladd("T x, T y", "T z", "z = x * y + 1", "muladd");
  auto q = queue();
  const array x = counted<float>({4});
  const array z = muladd(q, {x, 2});
  CHECK(z.elements().dtype() == dtype::of<float>());
  CHECK(values<float>(z) == std::vector<float>({1, 3, 5, 7}));
  CHECK(values<float>(muladd(x.queue(), {x, 0})) == std::vector<float>(4, 1));
  CHECK(values<double>(muladd(q, {counted<std::int32_t>({2}), 0.5})) ==
        std::vector<double>({1, 1.5}));
}

TEST(Elementwise, BroadcastsAndComputesIntoGivenArrays) {
  const elementwise_kernel add("T x, T y", "T z, bool even", "z = x + y; even = (i & 1) == 0");
  auto q = queue();
  const array column = counted<std::int32_t>({3, 1}), line = counted<std::int32_t>({2});
  usmx::expression_output out[2];
  const array given = counted<std::int32_t>({3, 2});
  out[0].given = &given;
  const usmx::operand in[] = {column, line};
  add.enqueue(q, in, out);
  CHECK(values<std::int32_t>(given) == std::vector<std::int32_t>({0, 1, 1, 2, 2, 3}));
  CHECK(out[0].made.data() == nullptr);
  CHECK(values<std::uint8_t>(out[1].made) == std::vector<std::uint8_t>({1, 0, 1, 0, 1, 0}));
}

TEST(Elementwise, CompilesOnceForEqualTypes) {
  const elementwise_kernel k("T x", "T z", "z = x * x * x", "cube");
  auto q = queue();
  k(q, {counted<float>({4})});
  const auto built = [] {
    const auto counts = usmx::program::counts();
    return counts.compiled + counts.loaded;
  };
  const auto before = built();
  k(q, {counted<float>({2, 8})});
  CHECK_EQUAL(built(), before);
  k(q, {counted<double>({4})});
  CHECK_EQUAL(built(), before + 1);
  CHECK_EQUAL(k.sources().size(), 2U);
  usmx::wait(q);
}

TEST(Elementwise, ErrorsNameTheParameter) {
  auto q = queue();
  CHECK(fails<std::invalid_argument>([] { elementwise_kernel("T x", "", ""); }, "out_params"));
  CHECK(fails<std::invalid_argument>([] { elementwise_kernel("T x", "T x", ""); }, "'x'"));
  CHECK(fails<std::invalid_argument>([] { elementwise_kernel("T x", "T z", "", "1st"); }, "name"));
  const elementwise_kernel add("T x, T y", "T z", "z = x + y", "add");
  const array x = counted<std::uint8_t>({4});
  CHECK(fails<std::invalid_argument>([&] { add(q, {x}); }, "takes 2 inputs"));
  CHECK(fails<std::overflow_error>([&] { add(q, {x, 256}); }, "input 'y' (T y): 256"));
  CHECK(fails<std::invalid_argument>([&] { add(q, {x, counted<float>({3})}); },
                                     "(4,) and (3,) do not broadcast"));
  const elementwise_kernel shift("raw T x", "T z", "z = x[i]");
  CHECK(fails<std::invalid_argument>([&] { shift(q, {2}); }, "size: is needed"));
  CHECK(fails<std::invalid_argument>([&] { shift(q, {x}); }, "size: is needed"));
}
