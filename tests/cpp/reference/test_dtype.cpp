// The example of usmx/dtype.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <complex>

#include <usmx/dtype.hpp>

#include "check.hpp"

namespace {

/// Two bytes of one's own that are a floating-point type.
struct my_half {
  std::uint16_t bits;
};

}  // namespace

template <>
inline constexpr bool usmx::is_half<my_half> = true;

TEST(Dtype, Reference) {
  // From a type of C++, or from the text of a protocol.
  const auto single = usmx::dtype::of<float>();
  usmx::dtype read;
  CHECK(usmx::dtype::parse("<f4", read) == usmx::fault::none && read == single);
  CHECK(usmx::dtype::parse(">f4", read) == usmx::fault::typestr_byte_order);
  CHECK(single.name() == "float32" && single.typestr() == "<f4" && single.itemsize() == 4);
  CHECK(single.kind() == usmx::type_class::floating);
  CHECK(usmx::dtype::of<my_half>().name() == "float16");
  CHECK(usmx::dtype::of<std::complex<double>>().name() == "complex128");

  // Rounded to the nearest, of two to the even one.
  CHECK(usmx::bfloat16(1.00390625F) == 1);
  CHECK(usmx::dtype::of<usmx::bfloat16>().is_bfloat16());

  // Records have fields, one after the other.
  const usmx::field place{.name = "place", .title = "", .type = single, .shape = {3}};
  const usmx::field mass{.name = "mass", .title = "", .type = single, .shape = {}};
  usmx::dtype star;
  CHECK(usmx::dtype::make_record({place, mass}, 16, star) == usmx::fault::none);
  CHECK(star.is_record() && star.members()->at(1).name == "mass");
}
