// The types that meet in an expression, where no NumPy is: the Python tests compare all pairs with
// it, these name the rules.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/promotion.hpp"

#include <string>

#include "check.hpp"

using usmx::dtype;
using usmx::operand_type;

namespace {

dtype type(std::string_view typestr) {
  dtype t;
  CHECK_EQUAL(dtype::parse(typestr, t), usmx::fault::none);
  return t;
}
std::string meet(std::initializer_list<operand_type> operands) {
  const auto found = usmx::result_type({operands.begin(), operands.size()});
  return found ? found->name() : "none";
}

}  // namespace

TEST(Promotion, SignedAndUnsignedMeetInALargerSignedType) {
  CHECK_EQUAL(usmx::promote(type("<u4"), type("<i4"))->name(), "int64");
  CHECK_EQUAL(usmx::promote(type("|u1"), type("<i4"))->name(), "int32");
  CHECK_EQUAL(usmx::promote(type("<u8"), type("|i1"))->name(), "float64");
}

TEST(Promotion, AFloatTakesIntegersOneByOne) {
  CHECK_EQUAL(meet({{type("|i1")}, {type("<u2")}, {type("<f4")}}), "float32");
}

TEST(Promotion, WeakNumbersGiveTheirClassOnly) {
  CHECK_EQUAL(meet({{type("<f4")}, {type("<f8"), true}}), "float32");
  CHECK_EQUAL(meet({{type("<f2")}, {type("<c16"), true}}), "complex64");
  CHECK_EQUAL(meet({{type("|b1")}, {type("<i8"), true}}), "int64");
  CHECK_EQUAL(meet({{type("<i8"), true}, {type("<f8"), true}}), "float64");
}

TEST(Promotion, RecordsAndNothingHaveNoType) {
  CHECK_EQUAL(meet({}), "none");
  CHECK_EQUAL(meet({{type("|V4")}, {type("<f4")}}), "none");
  CHECK_EQUAL(usmx::promote(type("|V4"), type("|V4")).has_value(), false);
}

TEST(Promotion, EveryNumberTypeHasItsIndex) {
  for (int k = 0; k < usmx::number_types; ++k) {
    CHECK_EQUAL(usmx::number_index(usmx::number_type(k)), k);
  }
  CHECK_EQUAL(usmx::number_index(type("|V4")), -1);
}

TEST(Promotion, Bfloat16MeetsOthersAsInPyTorch) {
  const auto bfloat16 = usmx::dtype::of<usmx::bfloat16>();
  for (const char* whole : {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"}) {
    CHECK_EQUAL(usmx::promote(bfloat16, type(whole))->name(), "bfloat16");
    CHECK_EQUAL(usmx::promote(type(whole), bfloat16)->name(), "bfloat16");
  }
  CHECK_EQUAL(usmx::promote(bfloat16, bfloat16)->name(), "bfloat16");
  for (const char* wide : {"<f2", "<f4"}) {
    CHECK_EQUAL(usmx::promote(bfloat16, type(wide))->name(), "float32");
    CHECK_EQUAL(usmx::promote(type(wide), bfloat16)->name(), "float32");
  }
  CHECK_EQUAL(usmx::promote(type("<f8"), bfloat16)->name(), "float64");
  CHECK_EQUAL(usmx::promote(bfloat16, type("<c8"))->name(), "complex64");
  CHECK_EQUAL(usmx::promote(bfloat16, type("<c16"))->name(), "complex128");
  CHECK_EQUAL(meet({{bfloat16}, {type("<f8"), true}}), "bfloat16");
  CHECK_EQUAL(meet({{bfloat16}, {type("<c16"), true}}), "complex64");
  CHECK_EQUAL(meet({{type("<i8")}, {bfloat16}, {type("<i8"), true}}), "bfloat16");
}
