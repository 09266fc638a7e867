// Views and structs as arguments of kernels in C++: what is passed for one, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

#include <numeric>

#include "check.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "usmx/error.hpp"

namespace {

using usmx::array;
using usmx::dtype;
using usmx::program;

const char* const scale = R"(
USMX_KERNEL(1) scale(float a, usmx::strided<float, 1> x, usmx::dense<const float, 1> by) {
  auto i = usmx::global_id();
  x[i] *= a * by[i];
}
)";

array floats(std::int64_t n) {
  const std::int64_t shape[] = {n};
  auto a = array::empty(usmx::default_queue(), shape, dtype::of<float>(), usmx::usm_kind::shared);
  std::iota(static_cast<float*>(a.data()), static_cast<float*>(a.data()) + n, 1.0f);
  return a;
}

}  // namespace

TEST(KernelView, IsAnArrayAtTheLaunch) {
  auto q = usmx::default_queue();
  const auto k = program::build(q, scale).get("scale");
  const auto x = floats(4), by = floats(4);
  k.launch(q, 4, {2.0f, x, by}).wait();
  const auto* const got = static_cast<const float*>(x.data());
  for (int i = 0; i < 4; ++i) CHECK_EQUAL(got[i], 2.0f * float((i + 1) * (i + 1)));
}

TEST(KernelView, IsOneParameterOfTheKernel) {
  const auto k = program::build(usmx::default_queue(), scale).get("scale");
  CHECK_EQUAL(k.argument_count(), 3u);
  CHECK_EQUAL(k.rank(), 1);
  const auto& p = *k.parameters();
  CHECK(p[1].view == usmx::kernel_parameter::view_form::strided && p[1].rank == 1);
  CHECK(!p[1].read_only && p[1].type == dtype::of<float>());
  CHECK(p[2].view == usmx::kernel_parameter::view_form::dense && p[2].read_only);
  CHECK(p[0].view == usmx::kernel_parameter::view_form::none);
  CHECK_EQUAL(p[2].name, "by");
  CHECK_EQUAL(program::build(usmx::default_queue(), scale).names(),
              std::vector<std::string>{"scale"});
}

TEST(KernelView, RefusesAPointerWithoutAShape) {
  auto q = usmx::default_queue();
  const auto k = program::build(q, scale).get("scale");
  const auto x = floats(4);
  const void* const pointer = x.data();
  CHECK_THROWS(usmx::interop_error, k.launch(q, 4, {2.0f, pointer, x}));
  CHECK_THROWS(usmx::interop_error, k.enqueue(q, 4, {2.0f, x, pointer}));
  CHECK_THROWS(usmx::interop_error, k.launch(q, 4, {2.0f, 1.0f, x}));
  CHECK_THROWS(std::invalid_argument, k.launch(q, 4, {2.0f, x}));
}

// --- structs ------------------------------------------------------------------------------------

namespace {

struct step {
  char sign;
  double width;
};
struct other {
  float width;
};
const char* const walk = R"(
struct step { char sign; double width; };
USMX_KERNEL(1) walk(step s, double* x) { x[usmx::global_id()] = s.sign * s.width; }
)";

}  // namespace

TEST(KernelStruct, ArrivesByItsBytes) {
  auto q = usmx::default_queue();
  const std::int64_t shape[] = {3};
  const auto x = array::empty(q, shape, dtype::of<double>(), usmx::usm_kind::shared);
  const step s{-1, 2.5};
  const auto k = program::build(q, walk).get("walk");
  k.launch(q, 3, {usmx::kernel_argument(dtype::of<step>(), &s), x}).wait();
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(static_cast<const double*>(x.data())[i], -2.5);
  CHECK_EQUAL(k.argument_count(), 2u);
}

TEST(KernelStruct, RefusesAnotherSizeAndNumbers) {
  auto q = usmx::default_queue();
  const auto x = floats(2);
  const auto k = program::build(q, walk).get("walk");
  const void* const out = x.data();
  const other wrong{1.0f};
  const step s{1, 1.0};
  CHECK_THROWS(usmx::interop_error,
               k.launch(q, 1, {usmx::kernel_argument(dtype::of<other>(), &wrong), out}));
  CHECK_THROWS(usmx::interop_error, k.launch(q, 1, {1.0, out}));
  const auto plain = program::build(q, scale).get("scale");
  CHECK_THROWS(usmx::interop_error,
               plain.launch(q, 1, {usmx::kernel_argument(dtype::of<step>(), &s), x, x}));
}

// A backslash at the end of a line joins it with the next, before comments and words are seen.
TEST(KernelView, LinesAreJoinedBeforeAParameterListIsRead) {
  const auto found = usmx::detail::read_signatures(
      "#define N \\\n  2\n"
      "USMX_KERNEL(1) f(const flo\\\nat* x, // a comment \\\n int lost,\n usmx::dense<int, \\ \n "
      "N> v)"
      " {}\n");
  CHECK_EQUAL(found.size(), 1u);
  const auto& p = found.at(0).parameters;
  CHECK_EQUAL(p.size(), 2u);
  CHECK_EQUAL(p.at(0).text, "const float* x");
  CHECK(p.at(0).read_only && p.at(0).type == dtype::of<float>());
  CHECK(p.at(1).view == usmx::kernel_parameter::view_form::dense && p.at(1).rank == 2);
}

TEST(KernelView, JoinedLinesKeepTheirNumbers) {
  auto q = usmx::default_queue();
  const std::string text =
      "USMX_KER\\\nNEL(1) scale(float a, usmx::strided<flo\\\nat, 1> x, // and \\\n more\n"
      "    usmx::dense<const float, 1> by) {\n  auto i = usmx::global_id();\n"
      "  x[i] *= a * by[i] + WRONG;\n}\n";
  const auto k = program::build(q, text, {"-DWRONG=0"}).get("scale");
  const auto x = floats(4), by = floats(4);
  k.launch(q, 4, {2.0f, x, by}).wait();
  CHECK_EQUAL(static_cast<const float*>(x.data())[3], 32.0f);
  try {
    program::build(q, text);
    CHECK(false);
  } catch (const usmx::build_error& e) {
    CHECK(std::string(e.what()).find("source:7:") != std::string::npos);
  }
}
