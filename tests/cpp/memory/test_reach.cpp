// Two devices in one context, and allocations of several mappings: the parts of a CPU stand for two
// GPUs, and recorded answers for a driver that is not here.
// SPDX-License-Identifier: Apache-2.0
#include "memory/reach.hpp"

#include <array>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "runtime/backend.hpp"
#include "transfer/staging.hpp"
#include "usmx/copy.hpp"
#include "usmx/kernel.hpp"

namespace usmx {
namespace {

using detail::cuda_driver;

/// Two parts of a device, each with a queue, in one context.
struct two_devices {
  std::vector<sycl::device> parts =
      default_queue()
          .get_device()
          .create_sub_devices<sycl::info::partition_property::partition_equally>(1);
  sycl::context context{{parts.at(0), parts.at(1)}};
  sycl::queue first = queue_for(context, parts.at(0));
  sycl::queue second = queue_for(context, parts.at(1));
};

std::string error_of(auto&& act) {
  try {
    act();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

array numbers(const sycl::queue& q, std::span<const std::int64_t> shape, int first = 0) {
  array a = array::empty(q, shape, dtype::of<int>());
  std::vector<int> values(static_cast<std::size_t>(a.elements().size()));
  std::iota(values.begin(), values.end(), first);
  any_view host;
  layout where;
  CHECK(layout::c_order(extents(shape), sizeof(int), where) == fault::none);
  CHECK(any_view::make(values.data(), dtype::of<int>(), where, usm_kind::unknown, true, host) ==
        fault::none);
  copy_from_host(a, host);
  return a;
}

template <class T>
std::vector<T> values_of(const array& a) {
  std::vector<T> values(static_cast<std::size_t>(a.elements().size()));
  any_view host;
  layout where;
  CHECK(layout::c_order(a.elements().layout().shape(), sizeof(T), where) == fault::none);
  CHECK(any_view::make(values.data(), dtype::of<T>(), where, usm_kind::unknown, false, host) ==
        fault::none);
  copy_to_host(host, a);
  return values;
}

TEST(Reach, ADeviceReachesItsOwnMemoryAndThatOfItsParent) {
  const two_devices two;
  const sycl::device whole = default_queue().get_device();
  const auto& [a, b] = std::tie(two.parts[0], two.parts[1]);
  CHECK(detail::is_within_reach(usm_kind::device, a, a));
  CHECK(detail::is_within_reach(usm_kind::device, whole, a));
  CHECK(!detail::is_within_reach(usm_kind::device, a, b));
  CHECK(detail::is_within_reach(usm_kind::shared, a, b));
  CHECK(detail::is_within_reach(usm_kind::host, a, b));
}

TEST(Reach, AKernelOverDeviceMemoryOfAnotherDeviceIsRefusedWithBothNames) {
  two_devices two;
  const kernel add = program::build(two.first,
                                    "USMX_KERNEL(1) add(int* x, const int* y) {"
                                    "  x[usmx::global_id()] += y[usmx::global_id()]; }")
                         .get("add");
  const std::array<std::int64_t, 1> shape = {100};
  const array x = numbers(two.first, shape);
  const array y = numbers(two.second, shape);
  const std::string text = error_of([&] { add.launch(two.first, launch_range(100), {x, y}); });
  for (const char* words : {"device memory of", "cannot access it", "to_device("}) {
    CHECK(text.find(words) != std::string::npos);
  }
  const array moved = copied(y, two.first, dtype::of<int>(), usm_kind::device);
  add.launch(two.first, launch_range(100), {x, moved}).wait();
  CHECK_EQUAL(values_of<int>(x)[99], 198);
}

TEST(Reach, AnArrayStaysOnItsDevice) {
  const two_devices two;
  const std::array<std::int64_t, 1> shape = {100};
  const array x = numbers(two.first, shape);
  CHECK(error_of([&] { static_cast<void>(x.on(two.second)); }).starts_with("queue: is device"));
  const array shared = array::empty(two.first, shape, dtype::of<int>(), usm_kind::shared);
  CHECK(shared.on(two.second).queue() == two.second);
}

TEST(Reach, WorkFollowsTheMemoryWhereAQueueOfAnotherDeviceWasNamed) {
  const two_devices two;
  const auto near = [&](usm_kind kind, const sycl::device& home) {
    return detail::queue_near(two.first, kind, home);
  };
  CHECK(near(usm_kind::device, two.parts[0]) == two.first);
  CHECK(near(usm_kind::device, two.parts[1]) == two.second);
  CHECK(near(usm_kind::shared, two.parts[1]) == two.first);
}

// --- copies between two devices

TEST(Reach, CopiesBetweenTwoDevicesAreRightInEveryLayoutAndType) {
  const two_devices two;
  const std::array<std::int64_t, 2> shape = {37, 53};
  const array x = numbers(two.first, shape, -500);
  const std::vector<int> expected = values_of<int>(x);
  for (const bool staged : {false, true}) {
    if (staged) set_staging(staging_limits{.from = 1, .block = 1000, .blocks = 2});
    const array plain = copied(x, two.second, dtype::of<int>(), usm_kind::device);
    CHECK(plain.queue() == two.second);
    CHECK(values_of<int>(plain) == expected);

    const array cast = copied(x, two.second, dtype::of<double>(), usm_kind::device);
    const std::vector<double> doubles = values_of<double>(cast);
    CHECK(std::equal(doubles.begin(), doubles.end(), expected.begin(), expected.end()));

    const array there = array::empty(two.second, std::array<std::int64_t, 2>{53, 37},
                                     dtype::of<int>(), usm_kind::device);
    const array turned = there.with_view(
        there.elements().with_layout(there.elements().layout().permuted(std::array{1, 0}), 0));
    copy(turned, x);
    CHECK(values_of<int>(turned) == expected);
    set_staging({});
  }
}

TEST(Reach, MemoryOfTwoContextsGoesThroughTheHost) {
  const two_devices two;
  const std::array<std::int64_t, 1> shape = {100003};
  set_staging(staging_limits{.from = 1, .block = 4096, .blocks = 2});
  const array x = numbers(two.first, shape);
  const array y = copied(x, default_queue(), dtype::of<int>(), usm_kind::device);
  CHECK(values_of<int>(y) == values_of<int>(x));
  copy(x, y);
  CHECK(values_of<int>(x) == values_of<int>(y));
  set_staging({});
}

TEST(Reach, TheDriverCopiesToTheHostWhereItsRowSaysSo) {
  const auto& cuda = detail::backend_row_of(sycl::backend::ext_oneapi_cuda);
  CHECK(!detail::stages_to_host(cuda, false));
  CHECK(detail::stages_to_host(cuda, true));
  CHECK(
      detail::stages_to_host(detail::backend_row_of(sycl::backend::ext_oneapi_level_zero), false));
  CHECK(cuda.copies_between_devices);
  CHECK_EQUAL(cuda.most_alignment, 256u);
}

// --- allocations of several mappings, as PyTorch's expandable segments are

constexpr std::size_t mapping = 20 << 20;

/// What a driver answers about rows of mappings at these addresses, in units of `mapping`.
class recorded_driver {
 public:
  explicit recorded_driver(std::vector<std::size_t> places) : places_(std::move(places)) {}

  std::optional<allocation_extent> operator()(const std::byte* p) {
    ++asked;
    for (const std::size_t place : places_) {
      if (p >= at(place) && p < at(place + 1)) return allocation_extent{at(place), mapping};
    }
    return {};
  }
  static std::byte* at(std::size_t place) {
    return reinterpret_cast<std::byte*>((std::size_t{1} << 40) + place * mapping);
  }

  int asked = 0;

 private:
  std::vector<std::size_t> places_;
};

TEST(Extent, GoesOnOverAdjacentMappingsAsFarAsIsNeeded) {
  recorded_driver driver({3, 4, 5, 6, 8});
  const allocation_extent known{driver.at(4), mapping};
  const auto reach = [&](const std::byte* first, const std::byte* last) {
    driver.asked = 0;
    return detail::continued(known, first, last, [&](const std::byte* p) { return driver(p); });
  };
  allocation_extent found = reach(driver.at(4), driver.at(5));
  CHECK_EQUAL(driver.asked, 0);
  CHECK_EQUAL(found.bytes, mapping);

  found = reach(driver.at(4) + 5, driver.at(5) + 1);
  CHECK_EQUAL(driver.asked, 1);
  CHECK_EQUAL(found.bytes, 2 * mapping);

  found = reach(driver.at(3) + 7, driver.at(6) + 7);
  CHECK(found.base == driver.at(3));
  CHECK_EQUAL(found.bytes, 4 * mapping);

  // A hole ends it on either side: a request for more finds that it is missing.
  found = reach(driver.at(2), driver.at(9));
  CHECK(found.base == driver.at(3));
  CHECK_EQUAL(found.bytes, 4 * mapping);
}

/// A driver of two devices: the second knows the rows of mappings, the first another allocation.
namespace recorded {
recorded_driver rows({});
int inside = -1;

cuda_driver functions() {
  cuda_driver d;
  d.retain_primary = [](cuda_driver::context* out, cuda_driver::device device) {
    *out = reinterpret_cast<void*>(std::uintptr_t{1} + static_cast<std::uintptr_t>(device));
    return 0;
  };
  d.push = [](cuda_driver::context c) {
    inside = static_cast<int>(reinterpret_cast<std::uintptr_t>(c)) - 1;
    return 0;
  };
  d.pop = [](cuda_driver::context*) {
    inside = -1;
    return 0;
  };
  d.range = [](cuda_driver::address* base, std::size_t* bytes, cuda_driver::address p) {
    const auto found = rows(reinterpret_cast<const std::byte*>(p));
    if (inside != 1 || !found) return 1;
    *base = reinterpret_cast<cuda_driver::address>(found->base);
    *bytes = found->bytes;
    return 0;
  };
  d.retain_mapping = [](unsigned long long* handle, void* p) {
    *handle = 1;
    // The mapping with the number 7 is none that the program made.
    const bool is_mapped =
        rows(static_cast<const std::byte*>(p)).has_value() && !(p >= rows.at(7) && p < rows.at(8));
    return is_mapped ? 0 : 1;
  };
  d.release_mapping = [](unsigned long long) { return 0; };
  return d;
}
}  // namespace recorded

TEST(Extent, OfCudaIsAskedOfEachDeviceAndGoesOnOverMappings) {
  recorded::rows = recorded_driver({3, 4, 5, 7});
  const cuda_driver driver = recorded::functions();
  const std::array<cuda_driver::device, 2> both = {0, 1};
  const auto at = [](std::size_t place) { return recorded_driver::at(place); };
  const auto known = detail::cuda_extent(at(4) + 9, both, driver);
  CHECK(known && known->base == at(4) && known->bytes == mapping);
  CHECK_EQUAL(recorded::inside, -1);
  CHECK(!detail::cuda_extent(at(4), std::span(both).first(1), driver));
  CHECK(!detail::cuda_extent(at(9), both, driver));
  CHECK(!detail::cuda_extent(at(4), both, cuda_driver()));

  const allocation_extent all = detail::cuda_mapped_extent(*known, at(3) + 1, at(6), both, driver);
  CHECK(all.base == at(3));
  CHECK_EQUAL(all.bytes, 3 * mapping);

  // An ordinary allocation next to another one ends where it ends.
  recorded::rows = recorded_driver({7, 8});
  const allocation_extent alone{at(7), mapping};
  const allocation_extent same = detail::cuda_mapped_extent(alone, at(7), at(9), both, driver);
  CHECK_EQUAL(same.bytes, mapping);
}

TEST(Extent, IsNotContinuedOverOtherAllocations) {
  // On this backend nothing is a row of mappings: neighbours stay neighbours.
  const sycl::queue q = default_queue();
  const array a = array::empty(q, std::array<std::int64_t, 1>{64}, dtype::of<std::uint8_t>());
  auto* const p = static_cast<std::byte*>(a.data());
  const allocation_extent known{p, 64};
  const allocation_extent same = detail::mapped_extent(known, p, p + 65, q.get_context());
  CHECK(same.base == p);
  CHECK_EQUAL(same.bytes, 64u);
}

}  // namespace
}  // namespace usmx
