// The struct of the C-level exchange without Python: every field arrives, and what a dictionary
// could not say is refused by its field.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/exchange.hpp"

#include <array>
#include <string>

#include "check.hpp"

using usmx::any_view;
using usmx::dtype;
using usmx::extents;
using usmx::fault;
namespace exchange = usmx::exchange;

namespace {

std::array<std::int64_t, 2> shape{2, 3};
std::array<std::int64_t, 2> strides{-3, 1};

sycl_usm_array good() {
  sycl_usm_array a{};
  a.data = reinterpret_cast<void*>(0x1000);
  a.shape = shape.data();
  a.ndim = 2;
  a.itemsize = 4;
  a.type = 'f';
  return a;
}

/// What is said of a struct that cannot be read; "" if it can.
template <class Change>
std::string refusal_of(Change change) {
  sycl_usm_array a = good();
  change(a);
  try {
    exchange::read(a);
  } catch (const usmx::interop_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST(Exchange, EveryFieldArrives) {
  sycl_usm_array a = good();
  a.strides = strides.data();
  a.offset = 3;
  a.flags = SYCL_USM_READ_ONLY | SYCL_USM_PENDING;
  any_view v;
  CHECK_EQUAL(usmx::suai::check(exchange::read(a), v), fault::none);
  CHECK(v.layout().shape() == extents({2, 3}) && v.layout().strides() == extents({-3, 1}));
  CHECK(v.read_only() && v.dtype() == dtype::of<float>());
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(v.data()), std::uintptr_t{0x100c});
}

TEST(Exchange, AViewThatGoesOutComesBack) {
  any_view v;
  CHECK_EQUAL(usmx::suai::check(exchange::read(good()), v), fault::none);
  sycl_usm_array out{};
  const any_view read_only = v.as_read_only();
  exchange::describe(read_only, out);
  any_view back;
  CHECK_EQUAL(usmx::suai::check(exchange::read(out), back), fault::none);
  CHECK(back.layout() == v.layout() && back.data() == v.data() && back.read_only());
}

TEST(Exchange, WhatNoDictionarySaysIsRefusedByItsField) {
  CHECK_EQUAL(refusal_of([](sycl_usm_array&) {}), std::string());
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.ndim = -1; }),
              std::string("ndim: -1 is not supported; 0 to 64 dimensions are"));
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.ndim = 65; }),
              std::string("ndim: 65 is not supported; 0 to 64 dimensions are"));
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.shape = nullptr; }),
              std::string("shape: is null, with 2 dimensions"));
  const std::string expected =
      " bytes is not supported; expected 'b' of 1 byte, 'i' or 'u' of 1 to 8, 'f' of 2 to 8, 'c' "
      "of "
      "8 or 16, 'E' of 2, or 'V' of at least 1";
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.type = 'M'; }),
              "type, itemsize: 'M', 4" + expected);
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.type = '\n'; }),
              "type, itemsize: 10, 4" + expected);
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) { a.itemsize = 0xffffffff; }),
              "type, itemsize: 'f', 4294967295" + expected);
}

TEST(Exchange, Bfloat16HasALetterOfItsOwn) {
  sycl_usm_array a = good();
  a.type = 'E';
  a.itemsize = 2;
  any_view v;
  CHECK_EQUAL(usmx::suai::check(exchange::read(a), v), fault::none);
  CHECK(v.dtype() == dtype::of<usmx::bfloat16>());
  sycl_usm_array out{};
  exchange::describe(v, out);
  CHECK(out.type == 'E' && out.itemsize == 2);
  CHECK(refusal_of([](sycl_usm_array& b) { b.type = 'E'; }).starts_with("type, itemsize: 'E', 4"));
}

TEST(Exchange, ANumberWithoutDimensionsNeedsNoShape) {
  CHECK_EQUAL(refusal_of([](sycl_usm_array& a) {
                a.ndim = 0;
                a.shape = nullptr;
              }),
              std::string());
}
