// Type strings and records: every short string against a table made another way, and every rule a
// record can break.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/dtype.hpp"

#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <unordered_map>

#include "check.hpp"
#include "heap.hpp"

using usmx::dtype;
using usmx::fault;
using usmx::type_class;
using namespace std::string_literals;

namespace {

fault parse(std::string_view typestr) {
  dtype ignored;
  return dtype::parse(typestr, ignored);
}

dtype type(std::string_view typestr) {
  dtype t;
  CHECK_EQUAL(dtype::parse(typestr, t), fault::none);
  return t;
}

usmx::field member(std::string name, std::string_view typestr,
                   std::vector<std::int64_t> shape = {}) {
  return {std::move(name), "", type(typestr), std::move(shape)};
}

fault record(dtype::fields members, std::size_t itemsize) {
  dtype ignored;
  return dtype::make_record(std::move(members), itemsize, ignored);
}

dtype made_record(dtype::fields members, std::size_t itemsize) {
  dtype t;
  CHECK_EQUAL(dtype::make_record(std::move(members), itemsize, t), fault::none);
  return t;
}

// What each string of up to four characters means; all others are malformed.
std::unordered_map<std::string, fault> table() {
  std::unordered_map<std::string, fault> t;
  const std::string orders = "<|=>";
  for (const char order : orders) {
    for (const char letter : "biufcV"s) {
      for (int n = 0; n < 100; ++n) {
        t[order + (letter + std::to_string(n))] = fault::typestr_unsupported;
      }
    }
    for (const char letter : "OSUTmMt"s) {
      t[{order, letter}] = fault::typestr_unsupported;
      for (int n = 0; n < 10; ++n) {
        t[order + (letter + std::to_string(n))] = fault::typestr_unsupported;
        for (int m = 0; m < 10; ++m) {
          t[order + (letter + std::to_string(n)) + std::to_string(m)] = fault::typestr_unsupported;
        }
      }
    }
    const auto known = [&](const std::string& name, bool one_byte) {
      t[order + name] = order == '>' && !one_byte ? fault::typestr_byte_order : fault::none;
    };
    for (const char* name : {"b1", "i1", "u1", "V1"}) known(name, true);
    for (const char* name : {"i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}) {
      known(name, false);
    }
    for (int n = 2; n < 100; ++n) known(std::string("V").append(std::to_string(n)), false);
  }
  return t;
}

}  // namespace

TEST(Typestr, EveryStringOfUpToFourCharactersIsClassifiedAsTheTableSays) {
  const auto expected = table();
  const std::string alphabet = "<>|=!@biufcVOSUTmMtagdlxF0123456789[]+-. ?\0\xff"s;
  const auto verify = [&](const std::string& s) {
    const auto found = expected.find(s);
    const fault wanted = found == expected.end() ? fault::typestr_malformed : found->second;
    if (parse(s) != wanted) check::fail(__FILE__, __LINE__, "classified wrongly: " + s);
  };
  std::string s;
  verify(s);
  std::size_t seen = 1;
  for (std::size_t length = 1; length <= 4; ++length) {
    std::vector<std::size_t> digits(length, 0);
    s.assign(length, alphabet[0]);
    for (std::size_t k = 0; k < length;) {
      verify(s);
      ++seen;
      for (k = 0; k < length; ++k) {
        digits[k] = (digits[k] + 1) % alphabet.size();
        s[k] = alphabet[digits[k]];
        if (digits[k] != 0) break;
      }
    }
  }
  const std::size_t a = alphabet.size();
  CHECK_EQUAL(seen, 1 + a + a * a + a * a * a + a * a * a * a);
  for (const auto& [known, wanted] : expected) CHECK_EQUAL(parse(known), wanted);
}

TEST(Typestr, LongerStringsAreReadToTheirEnd) {
  const std::pair<std::string, fault> cases[] = {
      {"<c16", fault::none},
      {">c16", fault::typestr_byte_order},
      {"|V2147483647", fault::none},
      {"|V2147483648", fault::typestr_unsupported},
      {"|V4294967297", fault::typestr_unsupported},
      {"|V18446744073709551617", fault::typestr_unsupported},
      {"<f18446744073709551620", fault::typestr_unsupported},
      {"|V" + std::string(1000000, '9'), fault::typestr_unsupported},
      {"|V0" + std::string(1000, '1'), fault::typestr_malformed},
      {"<f004", fault::typestr_malformed},
      {"<f4\0"s, fault::typestr_malformed},
      {"<f\0004"s, fault::typestr_malformed},
      {"\0<f4"s, fault::typestr_malformed},
      {" <f4", fault::typestr_malformed},
      {"<f4 ", fault::typestr_malformed},
      {"<float32", fault::typestr_malformed},
      {"float32", fault::typestr_malformed},
      {"<f4,<f4", fault::typestr_malformed},
      {"<f-4", fault::typestr_malformed},
      {"<\xc2\xb2", fault::typestr_malformed},
      {"<M8[ns]", fault::typestr_unsupported},
      {"<m8[25s]", fault::typestr_unsupported},
      {"<M8[]", fault::typestr_malformed},
      {"<M8[ns", fault::typestr_malformed},
      {"<M8ns]", fault::typestr_malformed},
      {"<S8[ns]", fault::typestr_malformed},
      {"<U123456", fault::typestr_unsupported},
      {"<f128", fault::typestr_unsupported},
      {">f16", fault::typestr_unsupported},
  };
  for (const auto& [typestr, wanted] : cases) {
    if (parse(typestr) != wanted) {
      check::fail(__FILE__, __LINE__, "classified wrongly: " + typestr.substr(0, 40));
    }
  }
}

TEST(Typestr, IsNotReadBeyondItsLength) {
  const std::string_view whole = "<f42";
  CHECK_EQUAL(parse(whole.substr(0, 3)), fault::none);
  CHECK_EQUAL(parse(whole), fault::typestr_unsupported);
  CHECK_EQUAL(parse(std::string_view()), fault::typestr_malformed);
}

TEST(Typestr, NeedsNoHeap) {
  const std::string digits = "|V" + std::string(100000, '9');
  const std::size_t before = heap::requests;
  dtype t;
  bool as_expected = dtype::parse("<c16", t) == fault::none;
  as_expected &= dtype::parse(digits, t) == fault::typestr_unsupported;
  as_expected &= dtype::parse("<M8[ns]", t) == fault::typestr_unsupported;
  const std::size_t after = heap::requests;
  CHECK(as_expected);
  CHECK_EQUAL(after, before);
}

TEST(Typestr, AFaultLeavesTheResultAlone) {
  dtype t = type("<f8");
  for (const char* bad : {"", "<f", "<f3", ">f4", "|O", "<f04"}) {
    CHECK(dtype::parse(bad, t) != fault::none);
    CHECK(t == type("<f8"));
  }
}

TEST(Dtype, SpellsItselfInNativeOrderAndReadsItselfBack) {
  const std::pair<const char*, const char*> cases[] = {
      {"|b1", "bool"},
      {"|i1", "int8"},
      {"<i2", "int16"},
      {"<i4", "int32"},
      {"<i8", "int64"},
      {"|u1", "uint8"},
      {"<u2", "uint16"},
      {"<u4", "uint32"},
      {"<u8", "uint64"},
      {"<f2", "float16"},
      {"<f4", "float32"},
      {"<f8", "float64"},
      {"<c8", "complex64"},
      {"<c16", "complex128"},
      {"|V12", "record96"},
      {"|V1", "record8"},
      {"|V2147483647", "record17179869176"},
  };
  for (const auto& [typestr, name] : cases) {
    const dtype t = type(typestr);
    CHECK_EQUAL(t.typestr(), typestr);
    CHECK_EQUAL(t.name(), name);
    CHECK_EQUAL(static_cast<char>(t.kind()), typestr[1]);
    CHECK_EQUAL(t.itemsize(), std::atoll(typestr + 2));
    for (const char order : {'|', '=', '<'}) {
      CHECK(type(order + std::string(typestr).substr(1)) == t);
    }
  }
}

TEST(Dtype, AlignmentIsThatOfTheParts) {
  CHECK_EQUAL(type("|b1").alignment(), 1);
  CHECK_EQUAL(type("<i2").alignment(), alignof(std::int16_t));
  CHECK_EQUAL(type("<u4").alignment(), alignof(std::uint32_t));
  CHECK_EQUAL(type("<f8").alignment(), alignof(double));
  CHECK_EQUAL(type("<c8").alignment(), alignof(std::complex<float>));
  CHECK_EQUAL(type("<c16").alignment(), alignof(std::complex<double>));
  CHECK_EQUAL(type("|V16").alignment(), 1);
}

TEST(Dtype, FollowsFromACppType) {
  struct triple {
    float x, y, z;
  };
  CHECK(dtype::of<bool>() == type("|b1"));
  CHECK(dtype::of<std::int8_t>() == type("|i1"));
  CHECK(dtype::of<const std::int16_t>() == type("<i2"));
  CHECK(dtype::of<long>() == type("<i8"));
  CHECK(dtype::of<long long>() == type("<i8"));
  CHECK(dtype::of<std::uint8_t>() == type("|u1"));
  CHECK(dtype::of<std::byte>() == type("|u1"));
  CHECK(dtype::of<unsigned long long>() == type("<u8"));
  CHECK(dtype::of<volatile float>() == type("<f4"));
  CHECK(dtype::of<double>() == type("<f8"));
  CHECK(dtype::of<std::complex<float>>() == type("<c8"));
  CHECK(dtype::of<std::complex<double>>() == type("<c16"));
  CHECK(dtype::of<triple>() == type("|V12"));
  CHECK(dtype() == type("|u1"));
}

TEST(Dtype, DiffersByClassSizeAndFields) {
  CHECK(!(type("<i4") == type("<u4")));
  CHECK(!(type("<f4") == type("<f8")));
  const dtype a = made_record({member("x", "<f4"), member("y", "<f4")}, 8);
  CHECK(a == made_record({member("x", "<f4"), member("y", "<f4")}, 8));
  CHECK(!(a == made_record({member("x", "<f4"), member("z", "<f4")}, 8)));
  CHECK(!(a == made_record({member("x", "<f4"), member("y", "<i4")}, 8)));
  CHECK(!(a == made_record({member("x", "<f4", {2})}, 8)));
  CHECK(!(a == type("|V8")));
  CHECK(!(type("|V8") == a));
}

TEST(Record, KeepsItsFieldsInOrder) {
  dtype inner = made_record({member("re", "<f8"), member("im", "<f8")}, 16);
  dtype t = made_record({member("id", "<i8"),
                         {"z", "impedance", inner, {2, 3}},
                         member("", "|V4"),
                         member("flag", "|b1", {4})},
                        8 + 6 * 16 + 4 + 4);
  CHECK_EQUAL(t.typestr(), "|V112");
  CHECK(t.is_record() && t.members() && t.members()->size() == 4);
  CHECK_EQUAL((*t.members())[1].title, "impedance");
  CHECK((*t.members())[1].type == inner);
  CHECK_EQUAL((*t.members())[2].name, "");
  CHECK(type("|V112").members() == nullptr);
  CHECK(type("<f4").members() == nullptr);
}

TEST(Record, SizeMustBeWhatWasPromised) {
  CHECK_EQUAL(record({member("x", "<f4"), member("y", "<f8")}, 12), fault::none);
  CHECK_EQUAL(record({member("x", "<f4"), member("y", "<f8")}, 11), fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "<f4"), member("y", "<f8")}, 13), fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "<f4"), member("y", "<f8")}, 0), fault::typedescr_size);
  CHECK_EQUAL(record({}, 4), fault::typedescr_size);
  CHECK_EQUAL(record({}, 0), fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "<f4", {0})}, 0), fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "<f4", {0}), member("y", "|u1")}, 1), fault::none);
  CHECK_EQUAL(record({member("x", "<f4", {2, 3}), member("y", "|u1", {1, 1})}, 25), fault::none);
}

TEST(Record, SizesThatOverflowAreFaultsNotSmallNumbers) {
  constexpr std::int64_t half = std::int64_t{1} << 62,
                         most = std::numeric_limits<std::int64_t>::max();
  CHECK_EQUAL(record({member("x", "|u1", {half, 4}), member("y", "|u1")}, 1),
              fault::typedescr_size);
  CHECK_EQUAL(
      record({member("x", "|u1", {half, 2}), member("y", "|u1", {half, 2}), member("z", "|u1")}, 1),
      fault::typedescr_size);
  CHECK_EQUAL(
      record({member("x", "|u1", {most}), member("y", "|u1", {most}), member("z", "|u1", {3})}, 1),
      fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "|u1", {std::int64_t{1} << 32}), member("y", "|u1")}, 1),
              fault::typedescr_size);
  CHECK_EQUAL(record({member("x", "|u1", {2147483647})}, 2147483647), fault::none);
  CHECK_EQUAL(record({member("x", "|u1", {2147483648})}, 2147483648), fault::typedescr_size);
  // No bytes, for all products of the other lengths and in any order.
  CHECK_EQUAL(record({member("x", "|u1", {half, 4, 0}), member("y", "|u1")}, 1), fault::none);
  CHECK_EQUAL(record({member("x", "|u1", {0, half, 4}), member("y", "|u1")}, 1), fault::none);
}

TEST(Record, LengthsNamesAndNestingMustBeSound) {
  CHECK_EQUAL(record({member("x", "<f4", {-1})}, 4), fault::typedescr_malformed);
  CHECK_EQUAL(record({member("x", "<f4", {-1, -1})}, 4), fault::typedescr_malformed);
  CHECK_EQUAL(record({member("x", "<f4", {0, -1})}, 4), fault::typedescr_malformed);
  const std::vector<std::int64_t> ones(64, 1);
  CHECK_EQUAL(record({member("x", "<f4", ones)}, 4), fault::none);
  CHECK_EQUAL(record({member("x", "<f4", std::vector<std::int64_t>(65, 1))}, 4),
              fault::typedescr_malformed);
  CHECK_EQUAL(record({member("x", "<f4"), member("x", "<f4")}, 8), fault::typedescr_malformed);
  CHECK_EQUAL(record({member("", "<f4"), member("", "<f4")}, 8), fault::none);
  CHECK_EQUAL(record({{"x", "t", type("<f4"), {}}, {"y", "t", type("<f4"), {}}}, 8),
              fault::typedescr_malformed);
  CHECK_EQUAL(record({{"x", "y", type("<f4"), {}}, {"y", "", type("<f4"), {}}}, 8),
              fault::typedescr_malformed);
  CHECK_EQUAL(record({{"x", "x", type("<f4"), {}}}, 4), fault::typedescr_malformed);
}

TEST(Record, NestsThirtyTwoLevelsAndNoMore) {
  dtype t = type("<f4");
  for (int level = 1; level <= 32; ++level) {
    dtype outer;
    CHECK_EQUAL(dtype::make_record({{"x", "", t, {}}}, 4, outer), fault::none);
    t = outer;
  }
  CHECK_EQUAL(record({{"x", "", t, {}}}, 4), fault::typedescr_malformed);
  CHECK_EQUAL(record({member("a", "|u1"), {"x", "", t, {}}, member("b", "|u1")}, 6),
              fault::typedescr_malformed);
}

TEST(Record, AFaultLeavesTheResultAlone) {
  dtype t = type("<f8");
  CHECK_EQUAL(dtype::make_record({member("x", "<f4")}, 5, t), fault::typedescr_size);
  CHECK_EQUAL(dtype::make_record({member("x", "<f4", {-1})}, 4, t), fault::typedescr_malformed);
  CHECK(t == type("<f8"));
  std::size_t bytes = 99;
  CHECK_EQUAL(dtype::packed_size({member("x", "<f4", {-1})}, bytes), fault::typedescr_malformed);
  CHECK_EQUAL(bytes, 99);
  CHECK_EQUAL(dtype::packed_size({member("x", "<f4", {3}), member("", "|V2")}, bytes), fault::none);
  CHECK_EQUAL(bytes, 14);
}

TEST(Bfloat16, IsATypeWithADescriptionInPlaceOfATypeString) {
  const dtype t = dtype::of<usmx::bfloat16>();
  CHECK(t.is_bfloat16() && t == dtype::of<const usmx::bfloat16>());
  CHECK_EQUAL(t.name(), "bfloat16");
  CHECK_EQUAL(t.itemsize(), 2);
  CHECK_EQUAL(t.alignment(), 2);
  CHECK(t.kind() == type_class::floating && t.members() == nullptr);
  CHECK(!(t == type("<f2")) && !(t == type("<V2")));
  dtype again;
  CHECK_EQUAL(dtype::make_record(*t.description(), 2, again), fault::none);
  CHECK(again == t);
  CHECK(type("<V2").is_record() && type("<f2").description() == nullptr);
}

TEST(Bfloat16, RoundsFloatsToNearestOfTwoToTheEvenOne) {
  const auto bits = [](float x) { return usmx::bfloat16(x).bits; };
  CHECK_EQUAL(bits(1.0f), 0x3f80);
  CHECK_EQUAL(bits(1.00390625f), 0x3f80);  // a tie
  CHECK_EQUAL(bits(1.01171875f), 0x3f82);  // a tie, from an odd one
  CHECK_EQUAL(bits(0x1.010002p0f), 0x3f81);
  CHECK_EQUAL(bits(std::numeric_limits<float>::max()), 0x7f80);
  CHECK_EQUAL(bits(-0.0f), 0x8000);
  const auto nan = usmx::bfloat16(std::numeric_limits<float>::signaling_NaN());
  CHECK(static_cast<float>(nan) != static_cast<float>(nan));
}
