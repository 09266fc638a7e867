// The table of backends: what every part of the library reads instead of asking which backend it
// is.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "check.hpp"
#include "usmx/default_kind.hpp"
#include "usmx/detail/whole_groups.hpp"
#include "usmx/runtime.hpp"

using usmx::detail::backend_of;
using usmx::detail::backend_row_of;
using usmx::detail::forms_of;

TEST(Backend, EveryBackendOfTheRuntimeHasARow) {
  using enum sycl::backend;
  for (const auto backend : {opencl, ext_oneapi_level_zero, ext_oneapi_cuda, ext_oneapi_hip,
                             ext_oneapi_native_cpu, ext_oneapi_offload}) {
    CHECK(backend_row_of(backend).backend == backend);
    CHECK(backend_row_of(backend, true).backend == backend);
    CHECK(std::string_view(backend_row_of(backend).name) == usmx::backend_name(backend));
  }
}

TEST(Backend, AnUnknownBackendGetsTheLastRow) {
  const auto& row = backend_row_of(static_cast<sycl::backend>(99));
  CHECK(std::string_view(row.name) == "unknown");
  CHECK(!row.keeps_binaries);
  CHECK(row.api == usmx::detail::driver_api::none);
}

TEST(Backend, OnlyACpuDeviceHasTheRowOfTheHost) {
  CHECK(backend_row_of(sycl::backend::opencl, true).is_host);
  CHECK(!backend_row_of(sycl::backend::opencl, false).is_host);
  const sycl::queue queue = usmx::default_queue();
  CHECK(backend_of(queue).is_host == queue.get_device().is_cpu());
  CHECK(&backend_of(queue) == &backend_of(queue.get_device()));
}

TEST(Backend, NewArraysOfTheHostsDevicesAreInSharedMemoryUnlessAnotherKindIsChosen) {
  using usmx::usm_kind;
  for (const auto& row : usmx::detail::backend_rows()) {
    CHECK(row.default_kind == (row.is_host ? usm_kind::shared : usm_kind::device));
  }
  const sycl::queue queue = usmx::default_queue();
  const std::optional<usm_kind> before = usmx::set_default_kind({});
  const usm_kind own = usmx::default_kind(queue);
  CHECK(usmx::default_kind(queue.get_device()) == own);
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
    usmx::set_default_kind(kind);
    CHECK(usmx::default_kind(queue) == kind);
    CHECK(usmx::default_kind(queue.get_device()) == kind);
  }
  CHECK_THROWS(std::invalid_argument, usmx::set_default_kind(usm_kind::unknown));
  CHECK(usmx::set_default_kind({}) == usm_kind::host);
  CHECK(usmx::default_kind(queue) == own);
  usmx::set_default_kind(before);
}

TEST(Backend, FormsOfAnotherBackendCanBeChosen) {
  const sycl::queue queue = usmx::default_queue();
  const auto& cuda = backend_row_of(sycl::backend::ext_oneapi_cuda).forms;
  CHECK(&forms_of(queue) == &backend_of(queue).forms);
  usmx::detail::choose_forms(&cuda);
  CHECK(&forms_of(queue) == &cuda);
  usmx::detail::choose_forms(nullptr);
  CHECK(&forms_of(queue) == &backend_of(queue).forms);
}

TEST(Backend, PlainRangesGetGroupsThatFillTheDevice) {
  using usmx::detail::plain_group;
  const auto& cuda = backend_row_of(sycl::backend::ext_oneapi_cuda).forms;
  CHECK_EQUAL(plain_group(cuda, 1 << 24, 1024), 256u);
  CHECK_EQUAL(plain_group(cuda, 1 << 24, 100), 64u);   // the kernel's own limit
  CHECK_EQUAL(plain_group(cuda, 1 << 14, 1024), 32u);  // few items: small groups for all cores
  CHECK_EQUAL(plain_group(cuda, 96, 1024), 32u);
  CHECK_EQUAL(plain_group(cuda, 1000003, 1024), 0u);  // a prime number: the runtime chooses
  CHECK_EQUAL(plain_group(cuda, 1 << 24, 0), 0u);     // compiled for groups of one size
  CHECK_EQUAL(plain_group(backend_row_of(sycl::backend::opencl, true).forms, 1 << 24, 1024), 0u);
}

TEST(Backend, RangesOfShortRowsGetGroupsOfManyRowsWhereGroupsAreLoops) {
  using usmx::detail::group_of_rows;
  using group = std::array<std::size_t, 3>;
  using shape = std::vector<std::size_t>;
  const auto& cpu = backend_row_of(sycl::backend::opencl, true).forms;
  const auto found = [&](const shape& global, std::size_t most = 8192) {
    return group_of_rows(cpu, global, most);
  };
  CHECK(found({2048, 2048}) == (group{4, 2048, 1}));
  CHECK(found({256, 256}) == (group{2, 256, 1}));
  CHECK(found({100000, 3}) == (group{625, 3, 1}));
  CHECK(found({1000, 8, 8}) == (group{5, 8, 8}));
  CHECK(found({64, 64, 64}) == (group{1, 32, 64}));
  CHECK(found({2048, 2048}, 4096) == (group{2, 2048, 1}));  // the kernel's own limit
  CHECK(found({2048, 2048}, 1024) == group{});              // rows do not fit: the runtime chooses
  CHECK(found({9973, 3}) == group{});                       // as for a prime number of rows
  CHECK(found({16, 16}) == (group{4, 16, 1}));              // few items: all cores get some
  CHECK(found({4, 2048}) == group{});
  CHECK(found({0, 8}) == group{});
  CHECK(found({std::size_t{1} << 40, std::size_t{1} << 40}) == group{});
  CHECK(group_of_rows(cpu, shape{1 << 20}, 8192) == group{});
}

TEST(Backend, RangesOfSeveralDimensionsGetTilesWhereGroupsAreNoLoops) {
  using usmx::detail::group_of_rows;
  using group = std::array<std::size_t, 3>;
  using shape = std::vector<std::size_t>;
  for (const auto backend : {sycl::backend::ext_oneapi_cuda, sycl::backend::ext_oneapi_hip}) {
    const auto& forms = backend_row_of(backend).forms;
    const auto found = [&](const shape& global, std::size_t most = 1024) {
      return group_of_rows(forms, global, most);
    };
    CHECK(found({2048, 2048}) == (group{8, 32, 1}));
    CHECK(found({8190, 8192}) == (group{7, 32, 1}));  // rows that 8 does not divide
    CHECK(found({64, 256, 256}) == (group{1, 8, 32}));
    CHECK(found({256, 256}) == (group{4, 32, 1}));       // few items: all cores get some
    CHECK(found({64, 64}) == group{});                   // fewer: the runtime chooses
    CHECK(found({2048, 2048}, 128) == group{});          // the kernel's own limit
    CHECK(found({2048, 2050}) == group{});               // rows that sub-groups do not divide
    CHECK(found({8191, 8192}) == (group{1, 256, 1}));    // a prime number of rows
    CHECK(found({16382, 16384}) == (group{2, 128, 1}));  // always 256 items, where they divide
    CHECK(found({16382, 8224}) == (group{2, 32, 1}));
    CHECK(found({0, 64}) == group{});
    CHECK(found({std::size_t{1} << 40, std::size_t{1} << 40}) == group{});
    CHECK(found({1 << 20}) == group{});
  }
  const auto& level_zero = backend_row_of(sycl::backend::ext_oneapi_level_zero).forms;
  CHECK(group_of_rows(level_zero, shape{2048, 2048}, 1024) == group{});
}

TEST(Backend, RowsThatNoSubGroupDividesGetTilesWithMoreItems) {
  using usmx::launch_range;
  using usmx::detail::in_whole_groups;
  const sycl::queue queue = usmx::default_queue();
  usmx::detail::choose_forms(&backend_row_of(sycl::backend::ext_oneapi_cuda).forms);
  const std::array<std::size_t, 2> plate{8190, 8190}, small{1022, 1022}, prime{8191, 8190},
      large{16382, 16382}, narrow{16382, 700}, short_rows{8190, 101};
  const auto found = in_whole_groups(queue, launch_range(plate));
  const auto of_small = in_whole_groups(queue, launch_range(small));
  const auto of_prime = in_whole_groups(queue, launch_range(prime));
  const auto of_large = in_whole_groups(queue, launch_range(large));
  const auto of_narrow = in_whole_groups(queue, launch_range(narrow));
  const auto of_short = in_whole_groups(queue, launch_range(short_rows));
  usmx::detail::choose_forms(nullptr);
  CHECK(found.has_value());
  CHECK_EQUAL(found->global()[0], 8190u);
  CHECK_EQUAL(found->global()[1], 8192u);
  CHECK_EQUAL(found->local()[0], 7u);
  CHECK_EQUAL(found->local()[1], 32u);
  CHECK(of_small.has_value());
  CHECK_EQUAL(of_small->global()[1], 1024u);
  CHECK_EQUAL(of_small->local()[0], 7u);
  CHECK(of_prime.has_value());
  CHECK_EQUAL(of_prime->local()[0], 1u);
  CHECK_EQUAL(of_prime->local()[1], 256u);
  CHECK(of_large.has_value());
  CHECK_EQUAL(of_large->local()[0], 2u);
  CHECK_EQUAL(of_large->local()[1], 128u);
  CHECK(of_narrow.has_value());
  CHECK_EQUAL(of_narrow->local()[1], 64u);  // 128 would leave more than a tenth idle
  CHECK(!of_short.has_value());
}

TEST(Backend, LengthsThatNoGroupDividesGetMoreItems) {
  using usmx::launch_range;
  using usmx::detail::in_whole_groups;
  const sycl::queue queue = usmx::default_queue();
  for (const std::size_t length : {65, 101, 4099, 999983}) {
    const auto found = in_whole_groups(queue, launch_range(length));
    CHECK(found.has_value());
    CHECK(found->size() >= length);
    CHECK(found->local()[0] >= 64);
    CHECK(found->size() < length + found->local()[0]);
  }
  for (const std::size_t length : {1, 63, 64, 1000000}) {
    CHECK(!in_whole_groups(queue, launch_range(length)));
  }
  const std::array<std::size_t, 2> rows{3, 10007}, short_rows{3, 101}, none{0, 10007};
  const auto found = in_whole_groups(queue, launch_range(rows));
  CHECK(found.has_value());
  CHECK_EQUAL(found->global()[0], 3u);
  CHECK_EQUAL(found->local()[0], 1u);
  CHECK(found->global()[1] >= 10007 && found->global()[1] % found->local()[1] == 0);
  CHECK(!in_whole_groups(queue, launch_range(short_rows)));
  CHECK(!in_whole_groups(queue, launch_range(none)));
  const std::array<std::size_t, 1> length{999983}, one{1};
  CHECK(!in_whole_groups(queue, launch_range(length, one)));  // groups of its own
}
