// DLPack's structs without Python: every fault with the sentence it becomes, and types that go out
// and come back the same.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/dlpack.hpp"

#include <array>

#include "check.hpp"

using usmx::any_view;
using usmx::dtype;
using usmx::extents;
using usmx::fault;
namespace dlpack = usmx::dlpack;
using dlpack::type_code;

namespace {

std::array<std::int64_t, 2> shape{2, 3};
std::array<std::int64_t, 2> strides{-3, 1};

dlpack::tensor good() {
  return {reinterpret_cast<void*>(0x1000),
          {dlpack::device_type::oneapi, 0},
          2,
          {type_code::floating, 32, 1},
          shape.data(),
          nullptr,
          0};
}

template <class Change>
dlpack::tensor changed(Change change) {
  dlpack::tensor t = good();
  change(t);
  return t;
}

}  // namespace

TEST(DlpackCheck, MakesAViewOfWhatWasDescribed) {
  any_view v;
  CHECK_EQUAL(dlpack::check(good(), false, v), fault::none);
  CHECK(v.layout().shape() == extents({2, 3}) && v.layout().is_c_contiguous() && !v.read_only());
  CHECK(v.dtype() == dtype::of<float>());
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(v.data()) == 0x1000, true);
  const dlpack::tensor t = changed([](dlpack::tensor& x) {
    x.strides = strides.data();
    x.byte_offset = 12;
  });
  CHECK_EQUAL(dlpack::check(t, true, v), fault::none);
  CHECK(v.layout().strides() == extents({-3, 1}) && v.read_only());
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(v.data()) == 0x100c, true);
}

TEST(DlpackCheck, AnEmptyTensorMayBeNull) {
  std::array<std::int64_t, 2> none{0, 3};
  any_view v;
  CHECK_EQUAL(dlpack::check(changed([&](dlpack::tensor& x) {
                              x.shape = none.data();
                              x.data = nullptr;
                              x.byte_offset = ~std::uint64_t{0};
                            }),
                            false, v),
              fault::none);
  CHECK_EQUAL(v.size(), 0);
}

TEST(DlpackCheck, EveryFaultHasItsSentence) {
  static std::array<std::int64_t, 2> negative{2, -3};
  static std::array<std::int64_t, 2> huge{std::int64_t{1} << 32, std::int64_t{1} << 32};
  static std::array<std::int64_t, 2> far{INT64_MAX, 1};
  const struct {
    dlpack::tensor t;
    fault code;
    const char* sentence;
  } cases[] = {
      {changed([](dlpack::tensor& t) { t.rank = 65; }), fault::rank_too_high,
       "ndim: 65 is not supported; 0 to 64 dimensions are"},
      {changed([](dlpack::tensor& t) { t.rank = -1; }), fault::rank_too_high,
       "ndim: -1 is not supported; 0 to 64 dimensions are"},
      {changed([](dlpack::tensor& t) { t.shape = nullptr; }), fault::shape_null,
       "shape: is null, but the array has dimensions, with 2 of them"},
      {changed([](dlpack::tensor& t) { t.shape = negative.data(); }), fault::shape_negative,
       "shape: (2, -3) has a negative length; lengths must be 0 or more"},
      {changed([](dlpack::tensor& t) { t.shape = huge.data(); }), fault::shape_overflow,
       "shape: (4294967296, 4294967296) is too large; at most 2**63 - 1 bytes are supported"},
      {changed([](dlpack::tensor& t) { t.strides = far.data(); }), fault::strides_overflow,
       "strides: (9223372036854775807, 1) is too large; the elements may span at most 2**63 - 1 "
       "bytes, with shape (2, 3)"},
      {changed([](dlpack::tensor& t) { t.type = {type_code::bfloat, 8, 1}; }),
       fault::typestr_unsupported,
       "dtype: code 4, 8 bits, 1 lanes is not supported; expected one lane of int or uint with 8 "
       "to 64 bits, float with 16 to 64, bfloat with 16, complex with 64 or 128, or bool with 8"},
      {changed([](dlpack::tensor& t) { t.data = nullptr; }), fault::data_null,
       "data: 0x0 + 0 is null, but the array has elements, with shape (2, 3)"},
      {changed([](dlpack::tensor& t) { t.byte_offset = ~std::uint64_t{0}; }),
       fault::address_overflow,
       "data: 0x1000 + 18446744073709551615 is out of range; every element must be inside the "
       "address space, above address zero, with shape (2, 3)"},
      {changed([](dlpack::tensor& t) { t.byte_offset = 2; }), fault::data_misaligned,
       "data: 0x1000 + 2 is not aligned for the element type, with shape (2, 3)"},
  };
  for (const auto& c : cases) {
    any_view v;
    CHECK_EQUAL(dlpack::check(c.t, false, v), c.code);
    CHECK_EQUAL(dlpack::describe(c.t, c.code), c.sentence);
    CHECK(v.data() == nullptr && v.size() == 0);
  }
  CHECK_EQUAL(dlpack::describe(good(), fault::none), "");
}

TEST(DlpackCheck, VectorsAndBitFieldsAreNoElementTypes) {
  for (const dlpack::data_type type : {dlpack::data_type{type_code::floating, 32, 4},
                                       {type_code::integer, 4, 1},
                                       {type_code::boolean, 1, 1},
                                       {type_code::floating, 8, 1},
                                       {type_code::handle, 64, 1},
                                       {type_code::complex, 32, 1},
                                       {static_cast<type_code>(17), 8, 1},
                                       {type_code::integer, 0, 1},
                                       {type_code::integer, 32, 0}}) {
    any_view v;
    CHECK_EQUAL(dlpack::check(changed([&](dlpack::tensor& t) { t.type = type; }), false, v),
                fault::typestr_unsupported);
  }
}

TEST(DlpackType, Bfloat16IsACodeOfItsOwn) {
  dlpack::data_type out{};
  CHECK(dlpack::describe_type(dtype::of<usmx::bfloat16>(), out));
  CHECK(out.code == type_code::bfloat && out.bits == 16 && out.lanes == 1);
  any_view v;
  CHECK_EQUAL(dlpack::check(changed([&](dlpack::tensor& t) { t.type = out; }), false, v),
              fault::none);
  CHECK(v.dtype() == dtype::of<usmx::bfloat16>());
}

TEST(DlpackType, GoesOutAndComesBackTheSame) {
  for (const char* typestr : {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2",
                              "<f4", "<f8", "<c8", "<c16"}) {
    dtype type;
    CHECK_EQUAL(dtype::parse(typestr, type), fault::none);
    dlpack::data_type out{};
    CHECK(dlpack::describe_type(type, out));
    any_view v;
    CHECK_EQUAL(dlpack::check(changed([&](dlpack::tensor& t) { t.type = out; }), false, v),
                fault::none);
    CHECK(v.dtype() == type);
  }
  dtype record;
  CHECK_EQUAL(dtype::parse("|V12", record), fault::none);
  dlpack::data_type out{};
  CHECK(!dlpack::describe_type(record, out));
}
