// The example of usmx/promotion.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <complex>

#include <usmx/promotion.hpp>

#include "check.hpp"

TEST(Promotion, Reference) {
  using usmx::dtype;
  const auto f4 = dtype::of<float>(), f8 = dtype::of<double>(), i8 = dtype::of<std::int64_t>();
  const auto c8 = dtype::of<std::complex<float>>();

  // As NumPy: of two types, and of operands of which some are numbers in the text.
  CHECK(usmx::promote(f4, i8) == f8);
  const std::array<usmx::operand_type, 2> operands{{{f4, false}, {f8, true}}};
  CHECK(usmx::result_type(operands) == f4);  // x * 2.0 has the type of x
  CHECK(usmx::can_cast_same_kind(f8, f4) && !usmx::can_cast_same_kind(f4, i8));

  // What texts of kernels call them.
  CHECK(usmx::device_name(c8) == "complex<float>");
  CHECK(usmx::part_type(c8) == f4 && usmx::part_type(i8) == i8);
  CHECK(usmx::passed_type(dtype::of<usmx::bfloat16>()) == f4);

  // For tables with a place for each type.
  for (int k = 0; k < usmx::number_types; ++k) {
    CHECK(usmx::number_index(usmx::number_type(k)) == k);
  }
}
