// The table of faults: every one names a field of the protocol and a rule, and never a null text.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/error.hpp"

#include <set>
#include <string>

#include "check.hpp"

using usmx::fault;

namespace {

constexpr int count = static_cast<int>(fault::rank_mismatch) + 1;

fault at(int i) { return static_cast<fault>(i); }

}  // namespace

// A rule follows what the field held: "version: 2 is not supported; only 1 is".
TEST(Fault, EveryOneHasItsOwnRuleThatFollowsTheValue) {
  const std::set<std::string> verbs{"must", "is", "has"};
  std::set<std::string> seen;
  for (int i = 1; i < count; ++i) {
    const std::string rule(usmx::message(at(i)));
    CHECK(verbs.contains(rule.substr(0, rule.find(' '))));
    CHECK(seen.insert(rule).second);
  }
  CHECK_EQUAL(seen.size(), count - 1);
}

TEST(Fault, EveryOneNamesAFieldOfTheProtocol) {
  const std::set<std::string> fields{"shape",  "typestr", "typedescr", "strides",
                                     "offset", "data",    "version"};
  std::set<std::string> named;
  for (int i = 1; i < count; ++i) named.emplace(usmx::field_of(at(i)));
  CHECK(named == fields);
}

TEST(Fault, RulesBelongToTheirFaults) {
  using usmx::field_of, usmx::message;
  CHECK_EQUAL(message(fault::rank_too_high), "has too many dimensions; at most 64 are supported");
  CHECK_EQUAL(message(fault::version_unsupported), "is not supported; only 1 is");
  CHECK_EQUAL(message(fault::shape_negative), "has a negative length; lengths must be 0 or more");
  CHECK_EQUAL(field_of(fault::rank_too_high), "shape");
  CHECK_EQUAL(field_of(fault::typestr_byte_order), "typestr");
  CHECK_EQUAL(field_of(fault::typedescr_size), "typedescr");
  CHECK_EQUAL(field_of(fault::strides_rank), "strides");
  CHECK_EQUAL(field_of(fault::offset_overflow), "offset");
  CHECK_EQUAL(field_of(fault::data_null), "data");
  CHECK_EQUAL(field_of(fault::version_unsupported), "version");
  CHECK_EQUAL(field_of(fault::out_of_allocation), "data");
  CHECK_EQUAL(field_of(fault::rank_mismatch), "shape");
}

TEST(Fault, NoneAndUnknownValuesReadAsEmptyTextsNotNull) {
  for (const fault f : {fault::none, at(count), at(255)}) {
    CHECK(usmx::message(f).empty() && usmx::message(f).data() != nullptr);
    CHECK(usmx::field_of(f).empty() && usmx::field_of(f).data() != nullptr);
  }
}

TEST(Errors, MapToTheStandardExceptionsThatPythonKnows) {
  CHECK_THROWS(std::invalid_argument, throw usmx::interop_error(fault::data_null, "data: null"), 0);
  CHECK_THROWS(std::bad_alloc, throw usmx::allocation_error(7, "7 bytes"), 0);
  CHECK_THROWS(std::runtime_error, throw usmx::build_error("failed", "log"), 0);
  CHECK_THROWS(std::runtime_error, throw usmx::device_error("no device"), 0);
}

TEST(Errors, CarryWhatTheyWereGiven) {
  const usmx::interop_error interop(fault::data_null, "data: null");
  CHECK_EQUAL(interop.code(), fault::data_null);
  CHECK_EQUAL(std::string(interop.what()), "data: null");
  const usmx::allocation_error allocation(7, "7 bytes");
  CHECK_EQUAL(allocation.bytes(), 7);
  CHECK_EQUAL(std::string(allocation.what()), "7 bytes");
  CHECK_EQUAL(usmx::build_error("failed", "log").log(), "log");
}
