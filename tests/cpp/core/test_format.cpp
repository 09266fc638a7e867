// Text of values in messages.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/format.hpp"

using usmx::detail::format;
using usmx::detail::shape_text;

TEST(Format, PutsValuesIntoTheirPlaces) {
  const std::string name = "x";
  CHECK_EQUAL(format("{}: is {}, expected {}", name, -3, 2.5), "x: is -3, expected 2.5");
  CHECK_EQUAL(format("{:#x} and {{}}", 255U), "0xff and {}");
}

TEST(Format, WritesShapesAsPythonDoes) {
  CHECK_EQUAL(shape_text(std::vector<int>{}), "()");
  CHECK_EQUAL(shape_text(std::array<std::size_t, 1>{3}), "(3,)");
  CHECK_EQUAL(shape_text(std::vector<long>{3, -4}), "(3, -4)");
}
