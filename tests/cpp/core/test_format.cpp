// Text of values in messages.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/format.hpp"

using usmx::fault;
using usmx::detail::fault_text;
using usmx::detail::format;
using usmx::detail::joined;
using usmx::detail::require_valid;
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

TEST(Format, ListsAreSeparatedByCommas) {
  struct row {
    const char* name;
  };
  CHECK_EQUAL(joined(std::vector<std::string>{}), "");
  CHECK_EQUAL(joined(std::vector<std::string>{"a"}), "a");
  CHECK_EQUAL(joined(std::array{row{"a"}, row{"b"}, row{"c"}}, &row::name), "a, b, c");
  CHECK_EQUAL(joined(std::vector{1, 2}, [](int n) { return format("<{}>", n); }), "<1>, <2>");
}

TEST(Format, AFaultNamesItsFieldAndWhatThatHeld) {
  CHECK_EQUAL(fault_text(fault::shape_negative, "(1, -2)"),
              "shape: (1, -2) has a negative length; lengths must be 0 or more");
  CHECK_EQUAL(fault_text(fault::data_null), "data: is null, but the array has elements");
}

TEST(Format, OnlyAFaultIsThrown) {
  require_valid(fault::none);
  try {
    require_valid(fault::read_only);
    CHECK(false);
  } catch (const usmx::interop_error& e) {
    CHECK(e.code() == fault::read_only);
    CHECK_EQUAL(std::string(e.what()), fault_text(fault::read_only));
  }
}
