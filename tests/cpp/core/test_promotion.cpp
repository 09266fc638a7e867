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
