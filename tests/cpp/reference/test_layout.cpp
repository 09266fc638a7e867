// The example of usmx/layout.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <usmx/layout.hpp>

#include "check.hpp"

TEST(Layout, Reference) {
  // Shape and strides in elements; what cannot be is a fault, not an exception.
  usmx::layout rows, columns, every_second;
  CHECK(usmx::layout::c_order({2, 3}, 4, rows) == usmx::fault::none);
  CHECK(usmx::layout::f_order({2, 3}, 4, columns) == usmx::fault::none);
  CHECK(usmx::layout::strided({2}, {-2}, 4, every_second) == usmx::fault::none);
  CHECK(usmx::layout::c_order({-1}, 4, rows) == usmx::fault::shape_negative);
  CHECK(rows.strides() == usmx::extents({3, 1}) && rows.is_c_contiguous());
  CHECK(columns.strides() == usmx::extents({1, 2}) && columns.is_f_contiguous());
  CHECK(rows.rank() <= usmx::max_rank);

  // Which elements are touched, counted from the first one.
  const usmx::element_range range = every_second.range();
  CHECK(range.first == -2 && range.last == 1);

  // Views: x[:, 1:3], x[1], x.T, x.reshape(6), and x[0] for each of four rows.
  std::int64_t shift = 0;
  CHECK(rows.sliced(1, 1, 2, 1, shift).shape()[1] == 2 && shift == 1);
  CHECK(rows.indexed(0, 1, shift).rank() == 1 && shift == 3);
  CHECK(rows.permuted(std::array{1, 0}).shape() == usmx::extents({3, 2}));
  usmx::layout flat, repeated;
  CHECK(rows.reshaped({6}, flat) && !columns.reshaped({6}, flat));
  CHECK(rows.indexed(0, 0, shift).with_axis(0).broadcast({4, 3}, repeated));
  CHECK(repeated.strides() == usmx::extents({0, 1}));
}
