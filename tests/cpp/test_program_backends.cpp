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
              std::string("kernel 'f', parameter 'vec v': cuda takes no structure by value; "
                          "expected a number, a pointer, or, in a kernel that begins with "
                          "USMX_KERNEL(rank), a structure of numbers that the source defines"));
  CHECK(!refusal("USMX_KERNEL(1) f(std::complex<float> z, float* x) {}").empty());
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
                          "0, cuda takes at most 65535 there in kernel 'f'; take larger groups, or "
                          "put the longest axis last"));
  CHECK_EQUAL(groups(cuda, usmx::launch_range(wide, local)), std::string());
  CHECK_EQUAL(groups(cpu, usmx::launch_range(tall, local)), std::string());
  const std::size_t most[] = {65535, 1}, one[] = {1, 1};
  CHECK_EQUAL(groups(cuda, usmx::launch_range(most, one)), std::string());
}

TEST(ProgramBackends, AFailureWithoutAReasonSaysWhereItIs) {
  const auto message = usmx::detail::summary_of("The program was built for 1 devices");
  CHECK(message.find("a function is declared but not defined") != std::string::npos);
  CHECK(message.find("stderr") != std::string::npos);
  CHECK_EQUAL(usmx::detail::summary_of("x\nsource:1:2: error: wrong\n  text"),
              std::string("the kernel source could not be compiled: source:1:2: error: wrong"));
}
