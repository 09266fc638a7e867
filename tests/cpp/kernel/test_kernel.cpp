// Kernels from text: what compiles, what is found again, what a launch refuses, and what it
// computes.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "check.hpp"
#include "gate.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "messages.hpp"

namespace {

using check::contains;
using check::message_of;
using usmx::array;
using usmx::dtype;
using usmx::kernel_argument;
using usmx::launch_range;
using usmx::program;
using usmx::usm_kind;

sycl::queue queue() { return usmx::default_queue(); }

/// Shared memory for `n` elements, filled with `value`.
template <class T>
array filled(std::int64_t n, T value, usm_kind kind = usm_kind::shared) {
  const std::int64_t shape[] = {n};
  auto a = array::empty(queue(), shape, dtype::of<T>(), kind);
  std::fill_n(static_cast<T*>(a.data()), n, value);
  return a;
}
template <class T>
T* at(const array& a) {
  return static_cast<T*>(a.data());
}

/// A source that no other test has compiled.
std::string unique(const std::string& body) {
  static std::atomic<int> next = 0;
  return "// " + std::to_string(++next) + "\n" + body;
}

const char* const axpy = R"(
USMX_KERNEL(1) axpy(float a, const float* x, float* y) {
  auto i = usmx::global_id();
  y[i] += a * x[i];
}
USMX_KERNEL(1) fill_with(int* p, int value) { p[usmx::global_id()] = value; }
)";

}  // namespace

// --- building -----------------------------------------------------------------------------------

TEST(Program, OfAGeneratedTextKnowsWhatItIsTold) {
  // A reader of the text would take `number` for an int of its own, and find no kernel at all.
  auto q = queue();
  usmx::kernel_parameter out, number;
  out.text = "float* out";
  out.pointer = true;
  out.type = dtype::of<float>();
  number.text = "float number";
  number.type = dtype::of<float>();
  const std::string text = unique(R"(
#define BEGIN USMX_KERNEL(1) told
using number = int;
BEGIN(float* out, float number) { out[usmx::global_id()] = number; }
)");
  const auto p = program::build(
      q, {.text = text,
          .kernels = {{.name = "told", .rank = 1, .parameters = std::vector{out, number}}}});
  CHECK(p.names() == std::vector<std::string>{"told"});
  const auto k = p.get("told");
  CHECK_EQUAL(k.rank(), 1);
  CHECK_EQUAL(k.argument_count(), 2U);
  CHECK_EQUAL((*k.parameters())[1].text, "float number");
  const auto x = filled(3, 0.0f);
  k.launch(q, 3, {x, 1.5f}).wait();
  CHECK_EQUAL(at<float>(x)[2], 1.5f);
  CHECK(contains(message_of<usmx::interop_error>([&] { k.launch(q, 3, {x, 2}); }),
                 "argument 1 of kernel 'told' (float number): has type int32; expected float32"));
}

TEST(Program, ComputesWhatItsSourceSays) {
  const auto k = program::build(queue(), axpy).get("axpy");
  auto x = filled(1000, 2.0f), y = filled(1000, 1.0f);
  auto q = queue();
  k.launch(q, 1000, {3.0f, x, y}).wait();
  bool right = true;
  for (int i = 0; i < 1000; ++i) right &= at<float>(y)[i] == 7.0f;
  CHECK(right);
}

TEST(Program, NamesItsKernelsInOrder) {
  const auto names = program::build(queue(), axpy).names();
  CHECK_EQUAL(names, (std::vector<std::string>{"axpy", "fill_with"}));
}

TEST(Program, MissingNameListsThoseThereAre) {
  const auto p = program::build(queue(), axpy);
  const auto text = message_of<std::out_of_range>([&] { p.get("axpi"); });
  CHECK(contains(text, "'axpi'"));
  CHECK(contains(text, "axpy, fill_with"));
  CHECK_THROWS(std::out_of_range, p.get(""));
}

TEST(Program, SourceWithoutKernelSaysHowToDeclareOne) {
  const auto p = program::build(queue(), unique("int helper(int x) { return x; }\n"));
  CHECK_EQUAL(p.names().size(), 0u);
  CHECK(contains(message_of<std::out_of_range>([&] { p.get("helper"); }), "USMX_KERNEL"));
}

TEST(Program, SameSourceIsCompiledOnce) {
  const auto source = unique(axpy);
  const auto before = program::counts();
  program::build(queue(), source);
  for (int i = 0; i < 5; ++i) program::build(queue(), source);
  const auto after = program::counts();
  CHECK_EQUAL(after.compiled - before.compiled, 1u);
  CHECK_EQUAL(after.found - before.found, 5u);
}

TEST(Program, OptionsMakeAnotherProgram) {
  const auto source = unique("USMX_KERNEL(1) f(int* p) { p[0] = VALUE; }\n");
  auto p = filled(1, 0);
  auto q = queue();
  for (const int value : {3, 4, 3}) {
    const auto k = program::build(q, source, {"-DVALUE=" + std::to_string(value)}).get("f");
    k.launch(q, 1, {p}).wait();
    CHECK_EQUAL(*at<int>(p), value);
  }
}

TEST(Program, MacrosOfTheUserDoNotReachThePrelude) {
  const auto source = unique(R"(
#if defined(GONE) || ON != 1
#error options are not as given
#endif
USMX_KERNEL(1) f(T* p) { p[0] = SUM(T(2), usmx::max(x, 4)); }
)");
  const auto k = program::build(queue(), source,
                                {"-DT=int", "-Dx=3", "-DSUM(a, b)=a + b", "-DON", "-D", "GONE=1",
                                 "-UGONE", "-O2"})
                     .get("f");
  auto p = filled(1, 0);
  auto q = queue();
  k.launch(q, 1, {p}).wait();
  CHECK_EQUAL(*at<int>(p), 6);
}

TEST(Program, AnotherContextMakesAnotherProgram) {
  const auto source = unique(axpy);
  const sycl::context other(queue().get_device());
  const auto before = program::counts();
  program::build(queue(), source);
  program::build(sycl::queue(other, queue().get_device()), source);
  CHECK_EQUAL(program::counts().compiled - before.compiled, 2u);
}

TEST(Program, ConcurrentRequestsShareOneCompilation) {
  const auto source = unique(axpy);
  const auto before = program::counts();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto q = queue();
      auto p = filled(4, 0);
      program::build(q, source).get("fill_with").launch(q, 4, {p, t}).wait();
      right += at<int>(p)[3] == t;
    });
  }
  for (auto& t : threads) t.join();
  CHECK_EQUAL(right.load(), 8);
  CHECK_EQUAL(program::counts().compiled - before.compiled, 1u);
}

TEST(Program, ConcurrentRequestsShareAFailure) {
  const auto source = unique("USMX_KERNEL(1) f(int* p) { p[0] = ; }\n");
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      try {
        program::build(queue(), source);
      } catch (const usmx::build_error&) {
        ++refused;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK_EQUAL(refused.load(), 4);
}

TEST(Program, BuildErrorNamesTheUsersLine) {
  try {
    program::build(queue(), "\n\nUSMX_KERNEL(1) f(int* p) {\n  p[0] = nothing;\n}\n");
    CHECK(false);
  } catch (const usmx::build_error& e) {
    CHECK(contains(e.what(), "source:4:10: error: use of undeclared identifier 'nothing'"));
    CHECK(contains(e.log(), "4 |   p[0] = nothing;"));
    CHECK(e.log().find("rtc_") == std::string::npos);
  }
}

TEST(Program, WhatTheTextGetsWrongIsCompiledOnce) {
  const auto source = unique("USMX_KERNEL(1) f(int* p) { p[0] = ; }\n");
  const auto before = program::counts();
  CHECK_THROWS(usmx::build_error, program::build(queue(), source));
  CHECK_THROWS(usmx::build_error, program::build(queue(), source));
  CHECK_EQUAL(program::counts().compiled - before.compiled, 1u);
}

TEST(Program, AFailureThatAFileMayMendIsNotRemembered) {
  const auto source = unique("#include \"no_such_file.hpp\"\n" + std::string(axpy));
  const auto before = program::counts();
  CHECK_THROWS(usmx::build_error, program::build(queue(), source));
  CHECK_THROWS(usmx::build_error, program::build(queue(), source));
  CHECK_EQUAL(program::counts().compiled - before.compiled, 2u);
}

TEST(Program, UnknownOptionIsABuildError) {
  CHECK(contains(message_of<usmx::build_error>(
                     [] { program::build(queue(), unique(axpy), {"--no-such-option"}); }),
                 "--no-such-option"));
}

TEST(Program, SourceWithSyclHeadersIsCompiledAsItIs) {
  const auto k = program::build(queue(), R"(
#include <sycl/sycl.hpp>
namespace e = sycl::ext::oneapi::experimental;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((e::nd_range_kernel<1>))
void twice(float* p) {
  auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id();
  p[i] = 2 * sycl::sqrt(p[i]);
})")
                     .get("twice");
  auto p = filled(64, 16.0f);
  auto q = queue();
  k.launch(q, sycl::nd_range<1>(64, 16), {p}).wait();
  CHECK_EQUAL(at<float>(p)[63], 8.0f);
  CHECK(k.parameters().has_value());
}

// --- signatures ---------------------------------------------------------------------------------

TEST(Signature, KnowsTheTypesOfParameters) {
  const std::string options[] = {"-DREAL=double"};
  const auto found = usmx::detail::read_signatures(R"(
// a comment with f(int x) { in it
#define COUNT unsigned int
using index = int64_t;
typedef const half* halves;
USMX_KERNEL(1) f(const float* __restrict__ x, REAL a, COUNT n, index i, halves h, void* raw,
                 unsigned char flags[], float const *y, std::complex<float>* z, T* unknown,
                 unsigned long, char const* const s, bool on /* , int gone */) {
  if (n) { g("(", ')', x); }
}
)",
                                                   options);
  CHECK_EQUAL(found.size(), 1u);
  const auto& p = found.at(0).parameters;
  CHECK_EQUAL(found.at(0).name, "f");
  CHECK_EQUAL(p.size(), 13u);
  struct expected {
    bool pointer, read_only;
    const char* type;
  };
  const expected want[] = {
      {true, true, "float32"}, {false, false, "float64"}, {false, false, "uint32"},
      {false, false, "int64"}, {true, true, "float16"},   {true, false, ""},
      {true, false, "uint8"},  {true, true, "float32"},   {true, false, "complex64"},
      {true, false, ""},       {false, false, "uint64"},  {true, true, "int8"},
      {false, false, "bool"}};
  for (std::size_t i = 0; i < std::size(want); ++i) {
    CHECK_EQUAL(p.at(i).pointer, want[i].pointer);
    CHECK_EQUAL(p.at(i).read_only, want[i].read_only);
    CHECK_EQUAL(p.at(i).type ? p.at(i).type->name() : "", want[i].type);
  }
  CHECK_EQUAL(p.at(0).text, "const float* __restrict__ x");
}

TEST(Signature, FindsFunctionsBesideEachOther) {
  const auto found = usmx::detail::read_signatures(R"x(
static float g(float a) { return a; }
void declared_only(int);
USMX_KERNEL(1) a() {}
USMX_KERNEL(2) b(void) noexcept { auto s = R"y( c(int) { )y"; }
)x");
  std::string names;
  for (const auto& s : found) names += s.name + std::to_string(s.parameters.size()) + " ";
  CHECK_EQUAL(names, "g1 a0 b0 ");
}

TEST(Signature, SurvivesTextThatIsNotCpp) {
  for (const char* text : {"",
                           "(",
                           "f(",
                           "f(int",
                           "f(int)",
                           "f(int) {",
                           "\"",
                           "/*",
                           "R\"(",
                           "R\"",
                           "#",
                           "#define",
                           "using",
                           "using x",
                           "typedef ;",
                           "-D",
                           "f((({",
                           "'",
                           "}}}} f(a b c d<e) {",
                           "using a = a; f(a x) {}"}) {
    usmx::detail::read_signatures(text);
    usmx::detail::includes_sycl(text);
  }
  CHECK_EQUAL(usmx::detail::read_signatures("using a = a; void f(a x) {}").at(0).parameters.size(),
              1u);
}

TEST(Signature, KnowsWhoBringsSyclHeaders) {
  using usmx::detail::includes_sycl;
  CHECK(includes_sycl("#include <sycl/sycl.hpp>\n"));
  CHECK(includes_sycl("int x;\n  #  include \"sycl/queue.hpp\"\n"));
  CHECK(!includes_sycl("// #include <sycl/sycl.hpp>\n"));
  CHECK(!includes_sycl("/*\n#include <sycl/sycl.hpp>\n*/"));
  CHECK(!includes_sycl("#include <cmath>\n"));
}

// --- launching ----------------------------------------------------------------------------------

TEST(Launch, DimensionZeroIsTheSlowest) {
  const auto k = program::build(queue(), R"(
USMX_KERNEL(3) ids(int* out) {
  usmx::nd_item<3> it;
  auto at = (it.get_global_id(0) * it.get_global_range(1) + it.get_global_id(1)) *
                it.get_global_range(2) + it.get_global_id(2);
  out[at] = int(it.get_group(0) * 100 + it.get_group(1) * 10 + it.get_group(2));
  out[24 + at] = it.get_global_linear_id() == at;
  out[48 + at] = int(it.get_local_range(0) * 100 + it.get_local_range(1) * 10 + it.get_local_range(2));
}
USMX_KERNEL(2) plane(int* out) {
  usmx::nd_item<2> it;
  out[it.get_global_id(0) * it.get_global_range(1) + it.get_global_id(1)] =
      int(it.get_global_id(0) * 100 + it.get_global_id(1));
})");
  auto out = filled(72, -1);
  auto q = queue();
  k.get("ids").launch(q, sycl::nd_range<3>({2, 3, 4}, {1, 3, 2}), {out}).wait();
  CHECK_EQUAL(at<int>(out)[0], 0);
  CHECK_EQUAL(at<int>(out)[3], 1);
  CHECK_EQUAL(at<int>(out)[12], 100);
  CHECK_EQUAL(at<int>(out)[23], 101);
  CHECK_EQUAL(std::accumulate(at<int>(out) + 24, at<int>(out) + 48, 0), 24);
  CHECK_EQUAL(at<int>(out)[48], 132);
  k.get("plane").launch(q, sycl::range<2>(3, 5), {out}).wait();
  CHECK_EQUAL(at<int>(out)[14], 204);
}

TEST(Launch, EmptyRangeRunsNothing) {
  const auto k = program::build(queue(), axpy).get("fill_with");
  auto p = filled(1, 5);
  auto q = queue();
  k.launch(q, 0, {p, 6}).wait();
  CHECK_EQUAL(*at<int>(p), 5);
}

TEST(Launch, WaitsForWhatItDependsOn) {
  const auto k = program::build(queue(), axpy).get("fill_with");
  sycl::queue q(queue().get_context(), queue().get_device());  // keeps no order by itself
  auto p = filled(1 << 16, 0);
  sycl::event last;
  for (int i = 1; i <= 50; ++i) {
    const sycl::event before[] = {last};
    last = k.launch(q, 1 << 16, {p, i}, i == 1 ? std::span<const sycl::event>() : before);
  }
  last.wait();
  CHECK_EQUAL(std::count(at<int>(p), at<int>(p) + (1 << 16), 50), 1 << 16);
}

TEST(Launch, TakesEveryScalarType) {
  const auto k = program::build(queue(), R"(
USMX_KERNEL(1) all(double* out, bool b, int8_t i1, uint8_t u1, int16_t i2, uint16_t u2, int32_t i4,
                   uint32_t u4, int64_t i8, uint64_t u8, half h, float f, double d) {
  double v[] = {double(b), double(i1), double(u1), double(i2), double(u2), double(i4), double(u4),
                double(i8), double(u8), double(h), double(f), d};
  for (int i = 0; i < 12; ++i) out[i] = v[i];
})")
                     .get("all");
  auto out = filled(12, 0.0);
  auto q = queue();
  k.launch(q, 1,
           {out, true, std::int8_t(-128), std::uint8_t(255), std::int16_t(-32768),
            std::uint16_t(65535), -7, 4000000000u, std::int64_t(-1) << 40, std::uint64_t(1) << 50,
            sycl::half(0.5f), 2.5f, -0.125})
      .wait();
  const double want[] = {
      1,   -128, 255,   -32768, 65535, -7, 4e9, -std::pow(2.0, 40), std::pow(2.0, 50),
      0.5, 2.5,  -0.125};
  for (int i = 0; i < 12; ++i) CHECK_EQUAL(at<double>(out)[i], want[i]);
}

TEST(Launch, RefusesWrongArgumentsBeforeTheRuntimeSeesThem) {
  const auto k = program::build(queue(), axpy).get("axpy");
  auto q = queue();
  auto x = filled(8, 1.0f), y = filled(8, 1.0f), wrong = filled(8, 1.0);
  const auto says = [&](std::initializer_list<kernel_argument> arguments) {
    return message_of<std::invalid_argument>([&] { k.launch(q, 8, arguments); });
  };
  CHECK(contains(says({1.0f, x}), "takes 3 arguments, got 2"));
  CHECK(contains(says({1.0f, x, y, y}), "takes 3 arguments, got 4"));
  CHECK(contains(says({x, x, y}), "argument 0 of kernel 'axpy' (float a)"));
  CHECK(contains(says({1.0f, 1.0f, y}), "(const float* x)"));
  CHECK(contains(says({1.0, x, y}), "has type float64; expected float32"));
  CHECK(contains(says({1.0f, x, wrong}), "has elements of float64; expected float32"));
  CHECK_EQUAL(
      message_of<std::invalid_argument>([&] { k.launch(q, sycl::range<2>(4, 4), {1.0f, x, y}); }),
      "range: (4, 4) has 2 dimensions; kernel 'axpy' needs 1");
  const auto frozen = y.with_view(y.elements().as_read_only());
  CHECK(contains(says({1.0f, x, frozen}), "read-only"));
  k.launch(q, 8, {1.0f, frozen, y}).wait();  // a pointer to const takes it
  CHECK_EQUAL(at<float>(y)[0], 2.0f);
}

TEST(Launch, RefusesMemoryAndQueuesOfAnotherContext) {
  const auto k = program::build(queue(), axpy).get("fill_with");
  const sycl::context other(queue().get_device());
  sycl::queue elsewhere(other, queue().get_device());
  auto q = queue();
  auto here = filled(8, 0);
  const std::int64_t shape[] = {8};
  const auto there = array::empty(elsewhere, shape, dtype::of<int>(), usm_kind::shared);
  CHECK(contains(message_of<std::invalid_argument>([&] { k.launch(q, 8, {there, 1}); }),
                 "belongs to another context"));
  CHECK(contains(message_of<std::invalid_argument>([&] { k.launch(elsewhere, 8, {there, 1}); }),
                 "compiled for another context"));
  k.launch(q, 8, {here, 1}).wait();
}

TEST(Launch, RefusesRangesThatDoNotFit) {
  const std::size_t four[] = {1, 2, 3, 4}, ten[] = {10}, three[] = {3}, none[] = {0};
  CHECK_THROWS(std::invalid_argument, launch_range(std::span<const std::size_t>()));
  CHECK_THROWS(std::invalid_argument, launch_range(four));
  CHECK_THROWS(std::invalid_argument, launch_range(ten, three));
  CHECK_THROWS(std::invalid_argument, launch_range(ten, none));
  CHECK_THROWS(std::invalid_argument, launch_range(ten, std::span(four).first(2)));
  CHECK_EQUAL(program::build(queue(), axpy).get("axpy").rank(), 1);
  const auto k = program::build(queue(), axpy).get("fill_with");
  auto q = queue();
  auto p = filled(1, 0);
  CHECK(contains(
      message_of<std::invalid_argument>([&] { k.launch(q, sycl::range<2>(1, 1), {p, 1}); }),
      "dimensions"));
  const auto too_many = k.max_work_group_size() * 2;
  CHECK(contains(message_of<std::invalid_argument>(
                     [&] { k.launch(q, sycl::nd_range<1>(too_many, too_many), {p, 1}); }),
                 "at most"));
}

TEST(Launch, KeepsMemoryUntilTheKernelHasRun) {
  const auto k = program::build(queue(), R"(
USMX_KERNEL(1) slow(int* p, int* result) {
  int sum = 0;
  for (int n = 0; n < 20000000; ++n) sum += p[n & 1023] ^ n;
  usmx::atomic_store(result, sum);
})")
                     .get("slow");
  auto q = queue();
  auto result = filled(1, 0);
  {
    auto p = filled(1024, 3);
    k.launch(q, 1, {p, result});
  }
  filled(1024, -1);  // would take the place of p if that had been freed
  q.wait();
  int want = 0;
  for (int n = 0; n < 20000000; ++n)
    want = static_cast<int>(static_cast<unsigned>(want) + static_cast<unsigned>(3 ^ n));
  CHECK_EQUAL(*at<int>(result), want);
}

TEST(Launch, NamesItsQueueToTheMemoryItUses) {
  // What keeps memory until the kernel has run; on a device whose free waits nothing else shows it.
  const auto k = program::build(queue(), axpy).get("axpy");
  auto q = queue();
  auto x = filled(8, 1.0f), y = filled(8, 1.0f);
  check::gate gate(q);
  auto launched = k.launch(q, 8, {1.0f, x, y});
  for (const auto& a : {x, y}) CHECK(a.keep_alive()->has_own_work());
  gate.open();
  launched.wait();
}

TEST(Launch, FromManyThreads) {
  const auto k = program::build(queue(), axpy).get("fill_with");
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto q = queue();
      auto p = filled(64, 0);
      for (int i = 0; i < 100; ++i) {
        k.launch(q, 64, {p, t * 1000 + i}).wait();
        right += at<int>(p)[63] == t * 1000 + i;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK_EQUAL(right.load(), 400);
}
