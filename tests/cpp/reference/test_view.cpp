// The example of usmx/view.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/view.hpp>

#include "check.hpp"

TEST(View, Reference) {
  // A pointer with a checked layout, of which the type is known at run time ...
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  usmx::layout where;
  CHECK(usmx::layout::c_order({2, 3}, sizeof(float), where) == usmx::fault::none);
  usmx::any_view any;
  CHECK(usmx::any_view::make(numbers, usmx::dtype::of<float>(), where, usmx::usm_kind::host, false,
                             any) == usmx::fault::none);
  CHECK(any.rank() == 2 && any.nbytes() == 24 && usmx::host_accessible(any.kind()));
  CHECK(std::string_view(usmx::name(any.kind())) == "host");

  // ... and with the type in the type: for loops and for kernels, which take it by value.
  usmx::view<const float, 2> typed;
  CHECK(any.typed(typed) == usmx::fault::none);
  CHECK(typed(1, 2) == 5 && typed.extent(0) == 2);
  usmx::view<double, 2> wrong;
  CHECK(any.typed(wrong) == usmx::fault::dtype_mismatch);

  // x[:, ::-1], whose first element is the last of the row.
  CHECK(any.sliced(1, 2, 3, -1).data() == numbers + 2);
}
