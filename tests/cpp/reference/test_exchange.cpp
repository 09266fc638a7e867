// The example of usmx/exchange.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/exchange.hpp>
#include <usmx/suai.hpp>

#include "check.hpp"

TEST(Exchange, Reference) {
  // The struct of the C exchange from a checked view, and back.
  float numbers[6] = {};
  usmx::layout where;
  CHECK(usmx::layout::c_order({2, 3}, sizeof(float), where) == usmx::fault::none);
  usmx::any_view view, back;
  CHECK(usmx::any_view::make(numbers, usmx::dtype::of<float>(), where, usmx::usm_kind::shared,
                             false, view) == usmx::fault::none);
  sycl_usm_array out{};
  usmx::exchange::describe(view, out);
  CHECK(out.type == 'f' && out.itemsize == 4 && out.type != usmx::exchange::bfloat16_letter);
  CHECK(usmx::suai::check(usmx::exchange::read(out), back) == usmx::fault::none);
  CHECK(back.data() == numbers && back.rank() == 2);
}
