// The example of usmx/copy.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <vector>

#include <usmx/copy.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Copy, Reference) {
  const sycl::queue queue = usmx::default_queue();
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.F);
  const auto x = usmx::from_host<float>(queue, numbers, {3, 4}, usmx::usm_kind::device);

  // Between arrays of any kind, layout and type; `copied` makes the destination.
  const auto y = usmx::empty<double>(queue, {3, 4});
  usmx::copy(y, x);
  const usmx::array z = usmx::copied(x, queue, usmx::dtype::of<int>(), usmx::usm_kind::shared);
  CHECK(usmx::to_vector<int>(z)[11] == 11);
  usmx::wait(usmx::copy_async(y, z));

  // Between an array and plain memory of the host, which a view describes.
  std::vector<float> there(12);
  usmx::any_view view;
  CHECK(usmx::any_view::make(there.data(), usmx::dtype::of<float>(), x.elements().layout(),
                             usmx::usm_kind::unknown, false, view) == usmx::fault::none);
  usmx::copy_to_host(view, x);
  CHECK(there == numbers);
  there[0] = 5;
  usmx::copy_from_host(x, view);
  usmx::wait(usmx::copy_to_host_async(queue, view, x));
  usmx::wait(usmx::copy_from_host_async(queue, x, view));
  usmx::convert_on_host(z.elements(), view);  // both in memory of the host

  // Rows of 8 bytes, 16 bytes from one to the next: the left half of x.
  const auto half = usmx::empty<float>(queue, {3, 2});
  usmx::copy_2d(half, 8, x, 16, 8, 3);
  usmx::wait(usmx::copy_2d_async(queue, half, 8, x, 16, 8, 3));
  CHECK(usmx::to_vector<float>(half) == std::vector<float>({5, 1, 4, 5, 8, 9}));
  const usmx::pitched left{.pitch = 16, .width = 8, .rows = 3};
  const usmx::pitched packed{.pitch = 8, .width = 8, .rows = 3};
  const usmx::any_view rows = usmx::rows_of(x.elements(), left, packed, half.data());
  CHECK(rows.layout().shape()[0] == 3);

  // One value for all elements, or for all bytes.
  const double one = 1;
  usmx::fill(y, &one);
  usmx::wait(usmx::fill_async(queue, y, &one));
  usmx::memset(y, 0);
  usmx::wait(usmx::memset_async(queue, y, 0));
  CHECK(usmx::to_vector<double>(y) == std::vector<double>(12));

  // Hints for the driver.
  usmx::wait(usmx::prefetch_async(queue, z));
  usmx::wait(usmx::mem_advise_async(queue, z, 0));

  // When blocking copies go through pinned blocks: here from 1 MiB on, in two blocks.
  usmx::set_staging(usmx::staging_limits{.from = 1 << 20, .block = 1 << 19, .blocks = 2});
  CHECK(usmx::staging_of(queue.get_device()).blocks == 2);
  usmx::set_staging({});
}
