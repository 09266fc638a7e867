// The example of usmx/loops.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <usmx/loops.hpp>

#include "check.hpp"

TEST(Loops, Reference) {
  // x of (2, 3) and a row of (3,) broadcast; two arrays of (2, 3) are one loop of 6.
  const usmx::extents shape{2, 3}, row{3};
  const std::array<const usmx::extents*, 2> shapes{&shape, &row};
  CHECK(usmx::broadcast_shape(shapes) == shape);

  usmx::layout x, y;
  CHECK(usmx::layout::c_order(shape, 4, x) == usmx::fault::none);
  CHECK(usmx::layout::c_order(row, 4, y) == usmx::fault::none);
  CHECK(usmx::broadcast_step(y, shape, 0) == 0);
  const std::array<const usmx::layout*, 2> same{&x, &x}, other{&x, &y};
  const usmx::loops one = usmx::make_loops(shape, same);
  CHECK(one.rank() == 1 && one.size == 6 && one.is_run(0));
  const usmx::loops two = usmx::make_loops(shape, other, usmx::loop_order::c);
  CHECK(two.rank() == 2 && two.inner_step(1) == 1 && two.steps_of(1)[0] == 0);
}
