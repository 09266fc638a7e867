// The protocol's check: every fault with the sentence it becomes, every combination of extreme
// fields against a wide model, and the law that a described view comes back the same.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/suai.hpp"

#include <limits>

#include "check.hpp"
#include "heap.hpp"
#include "naive_suai.hpp"

using usmx::any_view;
using usmx::dtype;
using usmx::extents;
using usmx::fault;
using usmx::suai::fields;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::uintptr_t top = std::numeric_limits<std::uintptr_t>::max();

fields good() {
  fields f;
  f.typestr = "<f4";
  f.shape = {2, 3};
  f.data = 0x1000;
  return f;
}

template <class Change>
fields changed(Change change) {
  fields f = good();
  change(f);
  return f;
}

dtype type(const char* typestr) {
  dtype t;
  CHECK_EQUAL(dtype::parse(typestr, t), fault::none);
  return t;
}

fault verdict_on(const fields& f) {
  any_view ignored;
  return usmx::suai::check(f, ignored);
}

// `check` must agree with the model, and its result must obey the laws.
void verify(const fields& f) {
  any_view v;
  const naive::verdict wanted = naive::judge(f);
  const fault found = usmx::suai::check(f, v);
  const char* broken = nullptr;
  if (found != wanted.fault) {
    broken = "the model says otherwise";
  } else if (found == fault::none) {
    broken = naive::broken_law(f, v, wanted);
  } else if (v.data() != nullptr || v.size() != 0) {
    broken = "a fault changed the result";
  }
  if (broken) {
    check::fail(__FILE__, __LINE__,
                std::string(broken) + ": " + f.typestr + " shape " + check::show(f.shape) +
                    "strides " + (f.strides ? check::show(*f.strides) : "None ") + "offset " +
                    check::show(f.offset) + " data " + check::show(f.data) + " gave " +
                    usmx::suai::describe(f, found));
  }
}

}  // namespace

TEST(SuaiCheck, MakesAViewOfWhatWasDescribed) {
  any_view v;
  CHECK_EQUAL(usmx::suai::check(changed([](fields& f) {
                                  f.strides = extents{-3, 1};
                                  f.offset = 5;
                                  f.read_only = true;
                                }),
                                v),
              fault::none);
  CHECK_EQUAL(naive::address(v.data()) == 0x1000 + 5 * 4, true);
  CHECK(v.layout().shape() == extents({2, 3}) && v.layout().strides() == extents({-3, 1}));
  CHECK(v.read_only() && v.dtype() == dtype::of<float>());
  CHECK_EQUAL(v.kind(), usmx::usm_kind::unknown);
  CHECK_EQUAL(usmx::suai::check(good(), v), fault::none);
  CHECK(v.layout().strides() == extents({3, 1}) && !v.read_only());
}

TEST(SuaiCheck, EveryFaultHasItsSentence) {
  const std::int64_t big = std::int64_t{1} << 32;
  const struct {
    fields f;
    fault code;
    const char* sentence;
  } cases[] = {
      {changed([](fields& f) { f.shape = extents(std::size_t{65}, 1); }), fault::rank_too_high,
       "shape: (1, 1, 1, 1, 1, 1, 1, 1, ...) has too many dimensions; at most 64 are supported, "
       "not 65"},
      {changed([](fields& f) { f.shape = {2, -3}; }), fault::shape_negative,
       "shape: (2, -3) has a negative length; lengths must be 0 or more"},
      {changed([&](fields& f) { f.shape = {big, big}; }), fault::shape_overflow,
       "shape: (4294967296, 4294967296) is too large; at most 2**63 - 1 bytes are supported, "
       "with 4 bytes per element"},
      {changed([](fields& f) { f.typestr = std::string("<f\n\0\x80", 5); }),
       fault::typestr_malformed,
       "typestr: '<f\\x0a\\x00\\x80' is not a valid type; expected a byte order ('<', '|' or "
       "'='), a letter of 'biufcV' and a size in bytes, as in '<f4'"},
      {changed([](fields& f) { f.typestr = std::string(50, 'x'); }), fault::typestr_malformed,
       "typestr: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is not a valid type; expected a "
       "byte order ('<', '|' or '='), a letter of 'biufcV' and a size in bytes, as in '<f4'"},
      {changed([](fields& f) { f.typestr = "|O"; }), fault::typestr_unsupported,
       "typestr: '|O' is not a supported type; expected b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, "
       "f4, "
       "f8, c8, c16 or V with a size of 1 to 2147483647 bytes"},
      {changed([](fields& f) { f.typestr = ">f4"; }), fault::typestr_byte_order,
       "typestr: '>f4' is not in native byte order (little-endian); swap the bytes first"},
      {changed([](fields& f) {
         f.typestr = "|V8";
         f.typedescr = dtype::fields{{"x", "", type("<f4"), {}}, {"x", "", type("<f4"), {}}};
       }),
       fault::typedescr_malformed,
       "typedescr: 2 fields of 8 bytes must have fields with distinct names, non-negative "
       "lengths and at most 32 levels of nesting"},
      {changed([](fields& f) {
         f.typestr = "|V12";
         f.typedescr = dtype::fields{{"x", "", type("<f4"), {2}}};
       }),
       fault::typedescr_size,
       "typedescr: 1 field of 8 bytes must have as many bytes as an element of typestr, 12"},
      {changed([](fields& f) {
         f.typestr = "|V12";
         f.typedescr = dtype::fields{{"x", "", type("<f4"), {most}}};
       }),
       fault::typedescr_size,
       "typedescr: 1 field must have as many bytes as an element of typestr, 12"},
      {changed([](fields& f) { f.strides = extents{1}; }), fault::strides_rank,
       "strides: (1,) must have one stride for each dimension of shape (2, 3)"},
      {changed([](fields& f) { f.strides = extents{most, 1}; }), fault::strides_overflow,
       "strides: (9223372036854775807, 1) is too large; the elements may span at most 2**63 - 1 "
       "bytes, with shape (2, 3) and 4 bytes per element"},
      {changed([](fields& f) { f.offset = std::int64_t{1} << 61; }), fault::offset_overflow,
       "offset: 2305843009213693952 is out of range; at most 2**63 - 1 bytes are supported, with 4 "
       "bytes per element"},
      {changed([](fields& f) { f.offset = -1024; }), fault::address_overflow,
       "data: 0x1000 is out of range; every element must be inside the address space, above "
       "address zero: shape "
       "(2, 3) and offset -1024 of '<f4'"},
      {changed([](fields& f) { f.strides = extents{-1024, 1}; }), fault::address_overflow,
       "data: 0x1000 is out of range; every element must be inside the address space, above "
       "address zero: shape "
       "(2, 3) with strides (-1024, 1) of '<f4'"},
      {changed([](fields& f) { f.data = 0; }), fault::data_null,
       "data: is null, but the array has elements, with shape (2, 3)"},
      {changed([](fields& f) { f.data = 0x1002; }), fault::data_misaligned,
       "data: 0x1002 is not aligned for the element type '<f4'; expected a multiple of 4"},
      {changed([](fields& f) { f.version = 2; }), fault::version_unsupported,
       "version: 2 is not supported; only 1 is"},
  };
  for (const auto& [f, code, sentence] : cases) {
    CHECK_EQUAL(verdict_on(f), code);
    CHECK_EQUAL(usmx::suai::describe(f, code), sentence);
  }
}

TEST(SuaiCheck, FaultsThatOthersFindHaveSentencesToo) {
  using usmx::suai::describe;
  fields f = good();
  f.shape = {};
  CHECK_EQUAL(describe(f, fault::none), "");
  CHECK_EQUAL(describe(f, fault::not_usm),
              "data: 0x1000 is not USM that was allocated in the context of syclobj");
  CHECK_EQUAL(describe(f, fault::out_of_allocation),
              "data: 0x1000 is not inside its allocation: shape () of '<f4'");
  CHECK_EQUAL(describe(f, fault::rank_mismatch),
              "shape: () has another number of dimensions than expected");
  CHECK_EQUAL(describe(f, fault::dtype_mismatch),
              "typestr: '<f4' is not the expected element type");
  CHECK_EQUAL(describe(f, fault::strides_rank),
              "strides: None must have one stride for each dimension of shape ()");
  // Asked about a fault that does not fit the fields, it still says nothing untrue and stands.
  for (int i = 0; i < 256; ++i) {
    f.typestr = i % 2 ? "junk" : "<f4";
    CHECK_EQUAL(describe(f, static_cast<fault>(i)).empty(), i == 0);
  }
}

TEST(SuaiCheck, EarlierFieldsAreBlamedFirst) {
  fields f;
  f.version = 0;
  f.typestr = "junk";
  f.shape = {-1};
  f.strides = extents{1, 1};
  f.offset = most;
  CHECK_EQUAL(verdict_on(f), fault::version_unsupported);
  f.version = 1;
  CHECK_EQUAL(verdict_on(f), fault::typestr_malformed);
  f.typestr = "<f8";
  CHECK_EQUAL(verdict_on(f), fault::shape_negative);
  f.shape = {3};
  CHECK_EQUAL(verdict_on(f), fault::strides_rank);
  f.strides = extents{most};
  CHECK_EQUAL(verdict_on(f), fault::strides_overflow);
  f.strides = extents{1};
  CHECK_EQUAL(verdict_on(f), fault::offset_overflow);
  f.offset = 0;
  CHECK_EQUAL(verdict_on(f), fault::data_null);
  f.data = 12;
  CHECK_EQUAL(verdict_on(f), fault::data_misaligned);
  f.data = 16;
  CHECK_EQUAL(verdict_on(f), fault::none);
}

TEST(SuaiCheck, ExtremeFieldsAreJudgedAsTheWideModelJudgesThem) {
  const std::int64_t b61 = std::int64_t{1} << 61, b62 = std::int64_t{1} << 62;
  const std::vector<std::int64_t> lengths{0, 1, 2, 3, b61, b62, most, -1};
  const std::vector<std::int64_t> steps{0, 1, -1, 2, b61, -b61, most, least, most / 16, least / 16};
  const std::vector<std::int64_t> offsets{0, 1, -1, 512, -512, b61, -b61, b62, most, least};
  const std::vector<std::uintptr_t> pointers{0,
                                             1,
                                             2,
                                             4,
                                             8,
                                             16,
                                             24,
                                             4096,
                                             top,
                                             top - 1,
                                             top - 7,
                                             top - 15,
                                             top - 31,
                                             top / 2,
                                             top / 2 + 1,
                                             std::uintptr_t{1} << 63,
                                             (std::uintptr_t{1} << 63) + 16};
  for (const char* typestr : {"|u1", "<f2", "<f8", "<c16", "|V3", "|V2147483647", ">i4", "|b2"}) {
    for (const std::int64_t offset : offsets) {
      for (const std::uintptr_t data : pointers) {
        fields f;
        f.typestr = typestr;
        f.offset = offset;
        f.data = data;
        verify(f);
        for (const std::int64_t n : lengths) {
          f.shape = {n};
          f.strides.reset();
          verify(f);
          for (const std::int64_t step : steps) {
            f.strides = extents{step};
            verify(f);
          }
          f.shape = {2, n, 3};
          f.strides.reset();
          verify(f);
          f.strides = extents{-4, steps[static_cast<std::size_t>(n & 7)], 1};
          verify(f);
        }
      }
    }
  }
}

TEST(SuaiCheck, EmptyArraysMayPointAnywhereAndOffsetMovesNothing) {
  for (const std::uintptr_t data : {std::uintptr_t{0}, std::uintptr_t{3}, top}) {
    for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{100}, -std::int64_t{100}}) {
      fields f = good();
      f.shape = {2, 0};
      f.strides = extents{least, most};
      f.data = data;
      f.offset = offset;
      any_view v;
      CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
      CHECK(naive::address(v.data()) == data);
      CHECK_EQUAL(v.size(), 0);
    }
  }
}

TEST(SuaiCheck, ATypedescrGivesRecordsTheirFields) {
  fields f = good();
  f.typestr = "|V12";
  f.typedescr = dtype::fields{{"x", "", type("<f8"), {}}, {"", "", type("|V4"), {}}};
  any_view v;
  CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
  CHECK(v.dtype().members() && *v.dtype().members() == *f.typedescr);
  CHECK(naive::broken_law(f, v, naive::judge(f)) == nullptr);
  // One nameless field that is the element itself is how NumPy says that there is no description.
  f.typedescr = dtype::fields{{"", "", type("|V12"), {}}};
  CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
  CHECK(v.dtype().members() == nullptr);
  f.typedescr = dtype::fields{{"all", "", type("|V12"), {}}};
  CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
  CHECK(v.dtype().members() != nullptr);
}

TEST(SuaiCheck, ATypedescrOfAPlainTypeMustFitAndIsDropped) {
  fields f = good();
  any_view v;
  for (const dtype::fields& same_size :
       {dtype::fields{{"", "", type("<f4"), {}}}, dtype::fields{{"", "", type("<i4"), {}}},
        dtype::fields{{"r", "", type("<f2"), {2}}}}) {
    f.typedescr = same_size;
    CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
    CHECK(v.dtype() == dtype::of<float>());
    CHECK(naive::broken_law(f, v, naive::judge(f)) == nullptr);
  }
  f.typedescr = dtype::fields{{"", "", type("<f8"), {}}};
  CHECK_EQUAL(verdict_on(f), fault::typedescr_size);
  f.typedescr = dtype::fields{};
  CHECK_EQUAL(verdict_on(f), fault::typedescr_size);
}

TEST(SuaiDescribeView, EveryLayoutComesBackTheSame) {
  std::size_t seen = 0;
  const std::vector<std::int64_t> steps{-7, -2, -1, 0, 1, 2, 3, 12};
  for (std::int64_t n = 0; n <= 3; ++n) {
    for (std::int64_t m = 0; m <= 3; ++m) {
      for (const std::int64_t s : steps) {
        for (const std::int64_t t : steps) {
          for (const char* typestr : {"|b1", "<i2", "<f8", "<c16", "|V5"}) {
            fields f = good();
            f.typestr = typestr;
            f.shape = {n, m};
            f.strides = extents{s, t};
            f.offset = 3;
            f.read_only = s < t;
            verify(f);
            any_view v;
            CHECK_EQUAL(usmx::suai::check(f, v), fault::none);
            const fields g = usmx::suai::describe_view(v);
            std::int64_t lowest = 0;
            for (const std::int64_t at : naive::positions({n, m}, {s, t})) {
              lowest = std::min(lowest, at);
            }
            CHECK_EQUAL(g.offset, -lowest);
            CHECK_EQUAL(g.typestr, typestr);
            CHECK_EQUAL(g.strides.has_value(), !naive::is_c_contiguous({n, m}, {s, t}));
            ++seen;
          }
        }
      }
    }
  }
  CHECK(seen > 5000);
}

TEST(SuaiCheck, NoMemoryIsAnExceptionAndLeavesTheResultAlone) {
  fields f = good();
  f.typestr = "|V8";
  f.typedescr = dtype::fields{{"a rather long name of a field", "", type("<f4"), {1, 2}}};
  f.shape = extents(std::size_t{7}, 2);
  f.strides = extents(std::size_t{7}, -1);
  f.offset = 100;
  any_view v;
  int refused = 0;
  for (bool done = false; !done; ++refused) {
    heap::left = refused;
    try {
      done = usmx::suai::check(f, v) == fault::none;
    } catch (const std::bad_alloc&) {
    }
    heap::left = -1;
    CHECK_EQUAL(v.rank(), done ? 7 : 1);
  }
  CHECK(refused > 4);
}
