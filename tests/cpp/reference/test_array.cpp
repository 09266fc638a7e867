// The example of usmx/array.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <vector>

#include <usmx/array.hpp>
#include <usmx/copy.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(Array, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto type = usmx::dtype::of<float>();

  // New memory; a copy of the object shares it.
  const std::vector<std::int64_t> shape{2, 3};
  const usmx::array x = usmx::array::empty(queue, shape, type, usmx::usm_kind::shared);
  CHECK(x.rank() == 2 && x.size() == 6 && x.extent(1) == 3);
  const float one = 1;
  usmx::fill(x, &one);
  x.wait();
  CHECK(static_cast<const float*>(x.data())[5] == 1);

  // Another view of the same memory: the second row.
  const usmx::array row = x.with_view(x.elements().indexed(0, 1));
  CHECK(row.rank() == 1 && row.data() == static_cast<float*>(x.data()) + 3);

  // The same memory, computed on another queue.
  const auto other = usmx::make_queue(queue.get_context(), queue.get_device(), {});
  CHECK(x.on(other).queue() == other);

  // Memory of another library: checked by the driver, and freed with its own function.
  const auto theirs = usmx::array::bind(x.elements(), queue, x.keep_alive());
  CHECK(theirs.kind() == usmx::usm_kind::shared);
  if (usmx::reads_host_memory(queue.get_device())) {
    auto* plain = static_cast<float*>(std::malloc(6 * sizeof(float)));
    usmx::any_view view;
    CHECK(usmx::any_view::make(plain, type, x.elements().layout(), usmx::usm_kind::unknown, false,
                               view) == usmx::fault::none);
    const auto over = usmx::array::over_host(
        view, queue, usmx::adopt(plain, 6 * sizeof(float), [](void* p) { std::free(p); }));
    usmx::copy(over, x);
    CHECK(plain[5] == 1);
  }
}
