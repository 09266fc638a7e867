// Arrays whose type the compiler knows: made in one line, read and written on the host, and refused
// by the name of the field.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/typed_array.hpp"

#include <array>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "usmx/runtime.hpp"

namespace {

using usmx::usm_kind;

sycl::queue queue() { return usmx::default_queue(); }

template <class Exception, class Call>
bool fails(Call call, const std::string& part) {
  return check::contains(check::message_of<Exception>(call), part);
}

}  // namespace

TEST(TypedArray, IsMadeWithTheRankOfItsShape) {
  const usmx::typed_array<float, 2> x = usmx::empty<float>(queue(), {2, 3});
  CHECK_EQUAL(x.rank(), 2);
  CHECK_EQUAL(x.extent(1), 3);
  CHECK_EQUAL(x.size(), 6);
  CHECK_EQUAL(x.shape().size(), 2U);
  CHECK(x.elements().dtype() == usmx::dtype::of<float>());
  CHECK(x.kind() == usmx::default_kind(queue()));
  CHECK(usmx::empty<float>(queue(), {2}, usm_kind::host).kind() == usm_kind::host);
}

TEST(TypedArray, HasTheShapeOfAView) {
  const auto x = usmx::empty<std::int16_t>(queue(), {4, 5});
  const auto like = usmx::empty<float>(x.queue(), x.view.shape);
  CHECK_EQUAL(like.extent(0), 4);
  CHECK_EQUAL(like.extent(1), 5);
}

TEST(TypedArray, IsFilledAndReadInAnyMemory) {
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
    CHECK(usmx::to_vector<int>(usmx::zeros<int>(queue(), {3}, kind)) == std::vector<int>(3));
    CHECK(usmx::to_vector<int>(usmx::full<int>(queue(), {3}, 7, kind)) == std::vector<int>(3, 7));
    const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    const auto x = usmx::from_host<float>(queue(), values, {2, 3}, kind);
    CHECK_EQUAL(x.extent(0), 2);
    CHECK(usmx::to_vector<double>(x) == std::vector<double>({1, 2, 3, 4, 5, 6}));
    CHECK_EQUAL(usmx::item<float>(usmx::from_host<float>(queue(), std::array{5.F}, kind)), 5.F);
  }
  CHECK_EQUAL(usmx::from_host<float>(queue(), std::vector<float>{}).size(), 0);
  CHECK(usmx::to_vector<float>(usmx::empty<float>(queue(), {0, 3})).empty());
}

TEST(TypedArray, IsReadInTheOrderOfItsAxes) {
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const auto x = usmx::from_host<float>(queue(), values, {2, 3});
  const int order[] = {1, 0};
  const usmx::any_view& v = x.elements();
  const usmx::array turned = x.with_view(v.with_layout(v.layout().permuted(order), 0));
  CHECK(usmx::to_vector<float>(turned) == std::vector<float>({1, 4, 2, 5, 3, 6}));
}

TEST(TypedArray, IsWrittenOnTheHost) {
  const auto x = usmx::zeros<float>(queue(), {2, 3}, usm_kind::shared);
  {
    auto on_host = x.host();
    on_host(1, 2) = 5;
    CHECK_EQUAL(on_host.extent(1), 3);
    std::iota(on_host.span().begin(), on_host.span().begin() + 3, 1.F);
  }
  CHECK(usmx::to_vector<float>(x) == std::vector<float>({1, 2, 3, 0, 0, 5}));
}

TEST(TypedArray, IsWaitedForWhileTheHostHasItsElements) {
  const auto x = usmx::zeros<float>(queue(), {100'000}, usm_kind::shared);
  const auto elements = x.host();
  const float nine = 9;
  usmx::fill_async(x.queue(), x, &nine);
  CHECK_EQUAL(elements(99'999), 9.F);
  CHECK(x.keep_alive()->is_seen_by_host());
  {
    const auto moved = x.host();
  }
  CHECK(x.keep_alive()->is_seen_by_host());
}

TEST(TypedArray, IsNotSeenByTheHostAfterwards) {
  const auto x = usmx::zeros<float>(queue(), {10}, usm_kind::shared);
  static_cast<void>(x.host());
  CHECK(!x.keep_alive()->is_seen_by_host());
}

TEST(TypedArray, TakesReadOnlyMemoryAsConst) {
  const usmx::array x = usmx::full<float>(queue(), {3}, 2, usm_kind::shared);
  const usmx::array locked = x.with_view(x.elements().as_read_only());
  const auto elements = usmx::on_host<const float, 1>(locked);
  CHECK_EQUAL(elements(2), 2.F);
  CHECK(fails<usmx::interop_error>([&] { usmx::typed<float, 1>(locked); }, "data: is read-only"));
}

TEST(TypedArray, RefusalsNameTheField) {
  const usmx::array x = usmx::empty<float>(queue(), {2, 3}, usm_kind::device);
  CHECK(fails<usmx::interop_error>([&] { usmx::typed<int, 2>(x); },
                                   "dtype: is float32, and int32 was expected"));
  CHECK(fails<usmx::interop_error>([&] { usmx::typed<float, 1>(x); },
                                   "shape: has 2 dimensions, and 1 were expected"));
  CHECK(fails<usmx::interop_error>([&] { (void)usmx::on_host<float, 2>(x); },
                                   "data: is USM of kind 'device'"));
  CHECK(fails<std::invalid_argument>([&] { usmx::item<float>(x); },
                                     "shape: has 6 elements; expected one"));
  CHECK(fails<usmx::interop_error>(
      [&] { usmx::from_host<float>(queue(), std::array{1.F, 2.F}, {3}); },
      "shape: has 3 elements, and the values are 2"));
  const auto shared = usmx::empty<float>(queue(), {2, 3}, usm_kind::shared);
  const usmx::array column = shared.with_view(shared.elements().indexed(1, 0));
  const auto elements = usmx::on_host<float, 1>(column);
  CHECK(fails<usmx::interop_error>([&] { elements.span(); }, "strides: "));
}
