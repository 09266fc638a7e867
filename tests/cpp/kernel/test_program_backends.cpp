// What is refused, counted and asked of the compiler on backends that are not here: each test
// passes the row of one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "kernel/compile.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/kernel_wrapper.hpp"
#include "runtime/backend.hpp"
#include "usmx/runtime.hpp"

namespace {

using usmx::detail::backend_row_of;
using usmx::detail::common_options;
using usmx::detail::declaration_of;
using usmx::detail::read_signatures;

const auto& cuda = backend_row_of(sycl::backend::ext_oneapi_cuda);
const auto& cpu = backend_row_of(sycl::backend::opencl, true);

std::string refusal(const std::string& source, const usmx::detail::backend_row& row = cuda) {
  try {
    usmx::detail::check_by_value(row, read_signatures(source));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

std::string groups(const usmx::detail::backend_row& row, const usmx::launch_range& range) {
  try {
    usmx::detail::check_groups(row, "f", range);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

bool has(const std::vector<std::string>& options, const char* option) {
  return std::ranges::count(options, option) == 1;
}

}  // namespace

TEST(ProgramBackends, EachRoundsEveryOperationAndTakesLargeRanges) {
  for (const auto& row : usmx::detail::backend_rows()) {
    const auto options = common_options(row);
    CHECK(has(options, "-ffp-contract=off"));
    CHECK(has(options, "-fsycl-fp32-prec-sqrt"));
    CHECK(has(options, "-fsycl-id-queries-range=size_t"));
    CHECK_EQUAL(has(options, "-fno-sycl-early-optimizations"), !row.optimises_early);
  }
}

TEST(ProgramBackends, ArgumentsAreCountedInTheTextWhereTheRuntimeDoesNotCountThem) {
  const auto text = read_signatures(
      "USMX_KERNEL(1) f(float* x, usmx::strided<float, 2> v, int n) {}\n"
      "USMX_KERNEL(1) unclear(ARGUMENTS) {}\n"
      "USMX_KERNEL(1) twice(int* x) {}\nUSMX_KERNEL(1) twice(int* x, int n) {}\n");
  CHECK_EQUAL(declaration_of(text, "f", {}).parameters->size(), 3u);
  CHECK_EQUAL(declaration_of(text, "f", {}).rank, 1);
  CHECK_EQUAL(declaration_of(text, "f", 7).parameters->size(), 3u);
  // The runtime knows better.
  CHECK(!declaration_of(text, "f", 3).parameters);
  for (const char* name : {"unclear", "twice", "absent"}) {
    CHECK(!declaration_of(text, name, {}).parameters);
  }
}

TEST(ProgramBackends, StructuresByValueAreRefusedBeforeACompilerEnds) {
  const std::string known = "struct s { int n; float x[2]; };\n";
  CHECK_EQUAL(refusal(known + "USMX_KERNEL(1) f(s v, const float* x, int64_t n, float a) {}"),
              std::string());
  CHECK_EQUAL(refusal("USMX_KERNEL(1) f(usmx::strided<float, 1> x, usmx::dense<int, 2> y) {}"),
              std::string());
  CHECK_EQUAL(refusal("float helper(vec v) { return v.x; }\nUSMX_KERNEL(1) f(float* x) {}"),
              std::string());
  CHECK_EQUAL(refusal("USMX_KERNEL(1) f(vec v, float* x) {}"),
              std::string("kernel 'f', parameter 'vec v': structures by value are not "
                          "supported by cuda; expected a number, a pointer, or, in a kernel that "
                          "begins with USMX_KERNEL(rank), a structure of numbers that the source "
                          "defines"));
  CHECK_EQUAL(refusal("USMX_KERNEL(1) f(usmx::complex<float> z, float* x) {}"), std::string());
  // Nothing takes it apart in a kernel of this form.
  const std::string free =
      "SYCL_EXTERNAL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((nd_range_kernel<1>))\n";
  CHECK(!refusal(known + free + "void f(s v) {}").empty());
  CHECK(!refusal(free + "void f(usmx::strided<float, 1> v) {}").empty());
  CHECK_EQUAL(refusal("USMX_KERNEL(1) f(vec v, float* x) {}", cpu), std::string());
}

TEST(ProgramBackends, MoreGroupsThanTheDeviceTakesAreNamed) {
  const std::size_t tall[] = {131072, 64}, wide[] = {64, 131072}, local[] = {1, 64};
  CHECK_EQUAL(groups(cuda, usmx::launch_range(tall, local)),
              std::string("range: (131072, 64) in groups of (1, 64) has 131072 groups along axis "
                          "0 of kernel 'f'; cuda supports at most 65535 there. Use larger groups, "
                          "or put the longest axis last"));
  CHECK_EQUAL(groups(cuda, usmx::launch_range(wide, local)), std::string());
  CHECK_EQUAL(groups(cpu, usmx::launch_range(tall, local)), std::string());
  const std::size_t most[] = {65535, 1}, one[] = {1, 1};
  CHECK_EQUAL(groups(cuda, usmx::launch_range(most, one)), std::string());
}

TEST(ProgramBackends, AFailureWithoutAReasonSaysWhatItMayBe) {
  const auto message = usmx::detail::summary_of("The program was built for 1 devices");
  CHECK(message.find("gave no reason") != std::string::npos);
  CHECK(message.find("undefined functions") != std::string::npos);
  CHECK_EQUAL(usmx::detail::summary_of("x\nsource:1:2: error: wrong\n  text"),
              std::string("the kernel source could not be compiled: source:1:2: error: wrong"));
}

namespace {

std::vector<std::size_t> groups_of(const usmx::launch_range& range) {
  const auto cut = usmx::detail::fit_groups(cuda, "f", range, 1024);
  return {cut.local().begin(), cut.local().end()};
}

}  // namespace

TEST(ProgramBackends, PlainRangesOfSeveralDimensionsAreCutToTheGroupsThatABackendTakes) {
  using sizes = std::vector<std::size_t>;
  CHECK(groups_of(sycl::range<2>(65535, 100)).empty());
  CHECK(groups_of(sycl::range<2>(0, 100)).empty());
  CHECK(groups_of(sycl::range<2>(100000, 0)).empty());
  CHECK(groups_of(sycl::range<2>(100000, 64)) == (sizes{2, 64}));
  CHECK(groups_of(sycl::range<2>(65536, 1000)) == (sizes{2, 125}));
  CHECK(groups_of(sycl::range<2>(std::size_t{8} * 16411, 7)) == (sizes{4, 7}));
  CHECK(groups_of(sycl::range<3>(4, 70000, 33)) == (sizes{1, 2, 33}));
  CHECK(groups_of(sycl::range<3>(70000, 70000, 1)) == (sizes{2, 2, 1}));
}

TEST(ProgramBackends, APlainRangeThatHasNoSuchGroupsIsRefused) {
  std::string said;
  try {
    groups_of(sycl::range<2>(65537, 4));  // a prime number
  } catch (const std::invalid_argument& e) {
    said = e.what();
  }
  CHECK_EQUAL(said,
              "range: (65537, 4) has 65537 work-items along axis 0 of kernel 'f', which cannot "
              "be divided into at most 65535 equal groups, the limit of cuda; put the longest axis "
              "last, or round it up");
  CHECK(usmx::detail::fit_groups(cpu, "f", sycl::range<2>(65537, 4), 1024).local().empty());
}

TEST(ProgramBackends, ARangeThatWasCutForCudaGivesTheSameValues) {
  auto q = usmx::default_queue();
  const auto k =
      usmx::program::build(q,
                           "USMX_KERNEL(2) count(int* p) {\n"
                           "  usmx::nd_item<2> item;\n"
                           "  const auto i = item.get_global_id(0), j = item.get_global_id(1);\n"
                           "  p[i * 3 + j] += int(i * 7 + j);\n}\n")
          .get("count");
  const sycl::range<2> range(131072, 3);
  const auto cut = usmx::detail::fit_groups(cuda, "count", range, k.max_work_group_size());
  CHECK(!cut.local().empty());
  const std::int64_t shape[] = {131072 * 3};
  const auto x = usmx::array::empty(q, shape, usmx::dtype::of<int>(), usmx::usm_kind::shared);
  auto* const values = static_cast<int*>(x.data());
  std::fill_n(values, shape[0], 0);
  k.launch(q, cut, {x}).wait();
  int wrong = 0;
  for (int i = 0; i < 131072; ++i)
    for (int j = 0; j < 3; ++j) wrong += values[i * 3 + j] != i * 7 + j;
  CHECK_EQUAL(wrong, 0);
}

TEST(ProgramBackends, AnObjectNamesWhatHasToBeLinkedToIt) {
  const std::string object =
      "IBYS....[SYCLBIN/global metadata]\nstate=1|1\n[SYCL/imported symbols]\n_Z1gif=1|1\n"
      "_Z1hv=1|1\n[SYCL/misc properties]\noptLevel=1|2\n[SYCL/imported symbols]\n_Z1gif=1|1\n";
  CHECK(usmx::detail::imported_symbols(object) == (std::vector<std::string>{"_Z1gif", "_Z1hv"}));
  CHECK(usmx::detail::imported_symbols("").empty());
  CHECK(usmx::detail::imported_symbols("[SYCL/imported symbols]\n_Z1g").empty());
}

TEST(Program, ImagesOfCudaAreReadUnderTheCompilersNameOfTheDevice) {
  const std::string before = "[SYCLBIN/native device code image metadata]\ntarget=2|";
  const std::string after = "\narch=2|ACAAAAAAAAgb2lGZpF2XnBXdfNXbflDM\n";
  // As an H200 wrote it, and as one read it.
  std::string text = before + "gDAAAAAAAAAbsZXbf5mdwRHe2QTL152au92du1Sdutmbvdnb" + after + before +
                     "wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdnb" + after;
  std::vector<char> binary(text.begin(), text.end());
  usmx::detail::name_device(binary);
  text.replace(text.find("gDA"), 48, "gDAAAAAAAAgb2BHd4ZDNtUnbr52b35WL152au92du1yY1RWY");
  CHECK(std::string(binary.begin(), binary.end()) == text);
  binary.clear();
  usmx::detail::name_device(binary);
  CHECK(binary.empty());
}

TEST(ProgramBackends, WhatIsDefinedNowhereIsNamedAndTheFailureKept) {
  auto q = usmx::default_queue();
  const std::string text =
      "__attribute__((sycl_device)) float g(float);\n"
      "namespace n { struct T; __attribute__((sycl_device)) double h(int, const T*); }\n"
      "USMX_KERNEL(1) f(float* p) { p[0] = g(p[1]) + float(n::h(3, nullptr)) + usmx::sin(p[2]); "
      "}\n";
  std::string said;
  const auto before = usmx::program::counts().compiled;
  for (int k = 0; k < 2; ++k) {
    try {
      usmx::program::build(q, text);
    } catch (const usmx::build_error& e) {
      said = e.what();
    }
  }
  CHECK_EQUAL(said.substr(0, said.find('\n')),
              "the kernel source could not be compiled: source: error: undefined: g(float), "
              "n::h(int, n::T const*)");
  CHECK_EQUAL(usmx::program::counts().compiled, before + 1);
}
