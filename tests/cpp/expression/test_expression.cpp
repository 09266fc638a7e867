// What kernels from expressions stand on: parameter lists, types found from operands, numbers cast,
// and loops that visit every element once, compared with plain nested loops.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/expression.hpp"
#include "usmx/runtime.hpp"

#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "messages.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/reduction.hpp"
#include "usmx/scan.hpp"
#include "usmx/submission.hpp"
#include "usmx/wait.hpp"

namespace {

using check::contains;
using check::message_of;
using usmx::array;
using usmx::dtype;
using usmx::extents;
using usmx::layout;
using usmx::operand;

dtype type(std::string_view typestr) {
  dtype t;
  CHECK_EQUAL(dtype::parse(typestr, t), usmx::fault::none);
  return t;
}
array row(std::string_view typestr) {
  const std::int64_t shape[] = {4};
  return array::empty(usmx::default_queue(), shape, type(typestr), usmx::usm_kind::shared);
}
std::string parse_error(const char* text) {
  return message_of<std::invalid_argument>([&] { usmx::parse_parameters(text, "in_params"); });
}
usmx::expression_types resolve(const char* in, const char* out, std::vector<operand> operands,
                               std::vector<std::optional<dtype>> given = {}) {
  const auto inputs = usmx::parse_parameters(in, "in_params");
  const auto outputs = usmx::parse_parameters(out, "out_params");
  given.resize(outputs.size());
  return usmx::resolve_types(inputs, outputs, operands, given);
}
std::string resolve_error(const char* in, const char* out, std::vector<operand> operands,
                          std::vector<std::optional<dtype>> given = {}) {
  return message_of<usmx::interop_error>([&] { resolve(in, out, operands, given); });
}
template <class T>
T number(const operand& o, std::string_view typestr) {
  const auto bytes = o.number_as(type(typestr));
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST(Parameters, AreReadAsCuPyWritesThem) {
  const auto list = usmx::parse_parameters(" T x,raw float32  y,\n int32 n ", "in_params");
  CHECK_EQUAL(list.size(), 3U);
  CHECK_EQUAL(list[0].type + list[0].name, "Tx");
  CHECK_EQUAL(list[0].fixed.has_value(), false);
  CHECK_EQUAL(list[1].raw, true);
  CHECK_EQUAL(list[1].fixed->name(), "float32");
  CHECK_EQUAL(list[1].text, "raw float32  y");
  CHECK_EQUAL(list[2].name, "n");
  CHECK_EQUAL(usmx::parse_parameters("  ", "in_params").size(), 0U);
}

TEST(Parameters, ErrorsNameTheParameter) {
  CHECK(contains(parse_error("T x, y"), "in_params: parameter 1 'y': expected a type and a name"));
  CHECK(contains(parse_error("float33 y"), "'float33' is not a type; expected one of bool, int8"));
  CHECK(contains(parse_error("float y"), "'float' is not a type with a size"));
  CHECK(contains(parse_error("T x, T x"), "parameter 1 'T x': the name is used twice"));
  CHECK(contains(parse_error("T i"), "i is the index of the element"));
  CHECK(contains(parse_error("T while"), "is a word of C++"));
  CHECK(contains(parse_error("T x-y"), "'x-y' is not a valid name"));
  CHECK(contains(parse_error("T __x"), "'__x' is not a valid name"));
  CHECK(contains(parse_error("T x,"), "parameter 1 '': expected a type and a name"));
  CHECK(contains(parse_error("raw T"), "expected a type and a name"));
}

TEST(Types, APlaceholderIsWhatItsOperandsMeetIn) {
  const array a = row("<i2"), b = row("<f4"), c = row("|b1");
  const auto types = resolve("T x, T y, U c", "T z, U w", {a, b, c});
  CHECK_EQUAL(types.outputs[0].name(), "float32");
  CHECK_EQUAL(types.outputs[1].name(), "bool");
  CHECK_EQUAL(types.placeholders.size(), 2U);
  CHECK_EQUAL(resolve("T x, T y", "T z", {b, 2.0}).outputs[0].name(), "float32");
  CHECK_EQUAL(resolve("T x, T y", "T z", {a, 2.0}).outputs[0].name(), "float64");
  CHECK_EQUAL(resolve("T x", "float64 z", {b}).outputs[0].name(), "float64");
}

TEST(Types, AGivenOutputNamesATypeThatNoInputDoes) {
  const array a = row("<i2");
  CHECK_EQUAL(resolve("T x", "U z", {a}, {type("<c8")}).outputs[0].name(), "complex64");
  CHECK(contains(resolve_error("T x", "U z", {a}), "output 'z' (U z): no input says what type U"));
}

TEST(Types, NoCastLosesTheClassOfANumber) {
  const array a = row("<f8"), u = row("<u4"), r = row("|V4");
  CHECK(contains(resolve_error("int32 x", "T z", {a}), "input 'x' (int32 x): float64 is not cast"));
  CHECK(contains(resolve_error("T x", "T z", {a}, {type("<i4")}),
                 "output 'z' (T z): float64 is not cast to elements of int32"));
  CHECK(contains(resolve_error("T x", "raw T z", {a}, {type("<f4")}), "a raw output is not cast"));
  CHECK(contains(resolve_error("T x", "T z", {r}), "has elements of record32, expected numbers"));
  CHECK_EQUAL(resolve("T x", "T z", {a}, {type("<f4")}).outputs[0].name(), "float64");
  CHECK_EQUAL(resolve("uint32 x", "T z", {3}, {type("<f4")}).inputs[0].name(), "uint32");
  CHECK(contains(resolve_error("int32 x", "T z", {2.5}, {type("<f4")}), "float64 is not cast"));
  CHECK_EQUAL(resolve("T x, T y", "T z", {u, -1}).inputs[1].name(), "uint32");
}

TEST(Numbers, AreCastByValue) {
  CHECK_EQUAL(number<float>(operand(3), "<f4"), 3.0F);
  CHECK_EQUAL(number<std::uint16_t>(operand(1.5), "<f2"), 0x3e00);
  CHECK_EQUAL(number<std::uint64_t>(operand(~std::uint64_t{0}), "<u8"), ~std::uint64_t{0});
  CHECK_EQUAL(number<double>(operand(~std::uint64_t{0}), "<f8"), 18446744073709551616.0);
  CHECK(number<std::complex<float>>(operand(std::complex<double>(1, 2)), "<c8") ==
        std::complex<float>(1, 2));
  CHECK(number<std::complex<double>>(operand(2), "<c16") == std::complex<double>(2, 0));
  CHECK_EQUAL(number<std::int8_t>(operand(true), "|i1"), 1);
}

TEST(Numbers, WeakIntegersMustFit) {
  for (const auto& [value, typestr] :
       {std::pair{128, "|i1"}, {-129, "|i1"}, {256, "|u1"}, {-1, "|u1"}, {-1, "<u8"}}) {
    CHECK(contains(
        message_of<std::overflow_error>([&] { (void)number<char>(operand(value), typestr); }),
        std::to_string(value) + " does not fit into " + type(typestr).name()));
  }
  CHECK(contains(message_of<std::overflow_error>(
                     [] { (void)number<char>(operand(~std::uint64_t{0}), "<i8"); }),
                 "18446744073709551615 does not fit into int64"));
  CHECK_EQUAL(number<std::int8_t>(operand(-128), "|i1"), -128);
  CHECK_EQUAL(number<std::uint8_t>(operand(255), "|u1"), 255);
}

TEST(Broadcast, NamesAllShapesThatDoNotMeet) {
  const extents a{2, 1}, b{3}, c{4}, none;
  const extents* fit[] = {&a, &b, &none};
  CHECK(usmx::broadcast_shape(fit) == extents({2, 3}));
  const extents* unfit[] = {&a, &b, &c};
  CHECK(contains(message_of<std::invalid_argument>([&] { usmx::broadcast_shape(unfit); }),
                 "shapes (2, 1) and (3,) and (4,) do not broadcast"));
  CHECK(usmx::broadcast_shape({}) == extents());
  const extents zero{0, 1};
  const extents* empty[] = {&zero, &b};
  CHECK(usmx::broadcast_shape(empty) == extents({0, 3}));
}

TEST(Loops, GaplessOperandsAreOneRun) {
  layout where;
  CHECK_EQUAL(layout::c_order({3, 4, 5}, 4, where), usmx::fault::none);
  const layout* both[] = {&where, &where};
  const auto l = usmx::make_loops(where.shape(), both);
  CHECK_EQUAL(l.rank(), 1U);
  CHECK_EQUAL(l.size, 60);
  CHECK(l.is_run(0) && l.is_run(1) && l.fits_31_bits());
  CHECK_EQUAL(usmx::make_loops({}, std::span<const layout* const>()).size, 1);
}

TEST(Loops, ReversedAndTransposedOperandsAreOneRunIfBothAre) {
  layout f;
  CHECK_EQUAL(layout::f_order({3, 4}, 4, f), usmx::fault::none);
  layout reversed;
  CHECK_EQUAL(layout::strided({3, 4}, {-1, -3}, 4, reversed), usmx::fault::none);
  const layout* both[] = {&f, &f};
  CHECK(usmx::make_loops(f.shape(), both).is_run(0));
  CHECK_EQUAL(usmx::make_loops(f.shape(), both, usmx::loop_order::c).rank(), 2U);
  const layout* backwards[] = {&reversed, &reversed};
  const auto l = usmx::make_loops(f.shape(), backwards);
  CHECK(l.is_run(1));
  CHECK_EQUAL(l.starts[0], -11);
}

// Any layouts: the turns of the loops give the pairs of positions that plain loops give.
TEST(Loops, VisitWhatPlainLoopsVisit) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    const auto rank = static_cast<std::size_t>(pick(0, 5));
    extents shape(rank);
    for (std::size_t k = 0; k < rank; ++k) shape[k] = pick(round % 20 == 0 ? 0 : 1, 4);
    std::vector<layout> layouts;
    for (int n = 0; n < 3; ++n) {
      layout where;
      // A broadcast operand may have fewer axes, and lengths of one.
      const auto missing = static_cast<std::size_t>(pick(0, static_cast<int>(rank)));
      extents own(rank - missing), strides(rank - missing);
      for (std::size_t k = 0; k < own.size(); ++k) {
        own[k] = pick(0, 3) == 0 ? 1 : shape[missing + k];
        strides[k] = pick(-30, 30);
      }
      const auto made = pick(0, 1) == 0 ? layout::c_order(own, 4, where)
                                        : layout::strided(own, strides, 4, where);
      CHECK_EQUAL(made, usmx::fault::none);
      layouts.push_back(where);
    }
    const layout* operands[] = {&layouts[0], &layouts[1], &layouts[2]};
    std::multiset<std::vector<std::int64_t>> plain, found;
    std::vector<std::vector<std::int64_t>> in_order;
    const std::int64_t size =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t flat = 0; flat < size; ++flat) {
      std::vector<std::int64_t> at;
      for (const auto& l : layouts) {
        std::int64_t rest = flat, position = 0;
        for (std::size_t k = rank; k-- > 0;) {
          const auto index = rest % shape[k];
          rest /= shape[k];
          const auto missing = rank - l.shape().size();
          if (k >= missing && l.shape()[k - missing] != 1) {
            position += index * l.strides()[k - missing];
          }
        }
        at.push_back(position);
      }
      plain.insert(at);
      in_order.push_back(at);
    }
    for (const auto order : {usmx::loop_order::any, usmx::loop_order::c}) {
      const auto l = usmx::make_loops(shape, operands, order);
      CHECK_EQUAL(l.size, size);
      found.clear();
      for (std::int64_t turn = 0; turn < size; ++turn) {
        std::vector<std::int64_t> at;
        for (std::size_t operand = 0; operand < 3; ++operand) {
          std::int64_t rest = turn, position = l.starts[operand];
          for (std::size_t k = l.rank(); k-- > 0;) {
            position += rest % l.lengths[k] * l.steps_of(operand)[k];
            rest /= l.lengths[k];
          }
          if (l.is_run(operand)) CHECK_EQUAL(position, l.starts[operand] + turn);
          at.push_back(position);
        }
        if (order == usmx::loop_order::c) CHECK(at == in_order[static_cast<std::size_t>(turn)]);
        found.insert(at);
      }
      CHECK(found == plain);
    }
  }
}

TEST(Text, ALoadedElementIsCastOnTheDevice) {
  auto queue = usmx::default_queue();
  const array x = row("<i2"), z = row("<f4");
  for (int k = 0; k < 4; ++k)
    static_cast<std::int16_t*>(x.data())[k] = static_cast<std::int16_t>(k - 2);
  const std::string source =
      std::string(usmx::expression_include) + "USMX_KERNEL(1) f(float* z_, const int16_t* x_" +
      usmx::number_declaration(dtype::of<std::complex<float>>(), "c_") + ") {\n" +
      "const int64_t at = int64_t(global_id());\nconst float x = " +
      usmx::load_text(type("<f4"), type("<i2"), "x_", "at") +
      ";\nconst auto c = " + usmx::number_value(dtype::of<std::complex<float>>(), "c_") + ";\n" +
      usmx::store_text(type("<f4"), "z_", "at", "x * c.re + c.im") + "}\n";
  const auto k = usmx::program::build(queue, source).get("f");
  std::vector<usmx::kernel_argument> arguments{z, x};
  const std::complex<float> c(0.5F, 1);
  usmx::add_number(arguments, dtype::of<std::complex<float>>(),
                   reinterpret_cast<const std::byte*>(&c));
  k.launch(queue, 4, arguments).wait();
  for (int n = 0; n < 4; ++n) {
    CHECK_EQUAL(static_cast<float*>(z.data())[n], static_cast<float>(n - 2) * 0.5F + 1);
  }
}

namespace {

using usmx::expression_output;

/// A call of each kind of kernel that reads one element of `x` and writes one.
struct simple_call {
  std::function<void(sycl::queue&, const array& x, expression_output&)> enqueue;
  std::vector<std::int64_t> shape;  // of the output
};
std::vector<simple_call> calls_of_each_kind() {
  static const usmx::elementwise_kernel same("T x", "T y", "y = x", "same");
  static const usmx::reduction_kernel total(
      "T x", "T y", {.map = "x", .reduce = "a + b", .post_map = "y = a"}, "total");
  static const usmx::scan_kernel running("T x", "T y", {.map = "x", .scan = "a + b"}, "running");
  const auto call = [](const auto& k) {
    return [&k](sycl::queue& q, const array& x, expression_output& out) {
      const operand in[] = {x};
      k.enqueue(q, in, std::span(&out, 1));
    };
  };
  return {{call(same), {1}}, {call(total), {}}, {call(running), {1}}};
}

sycl::queue other_queue(bool in_order) {
  const auto of = usmx::default_queue();
  if (!in_order) return {of.get_context(), of.get_device()};
  return {of.get_context(), of.get_device(), sycl::property::queue::in_order()};
}

std::int32_t& value_of(const array& a) { return *static_cast<std::int32_t*>(a.data()); }
array one(const sycl::queue& q, const std::vector<std::int64_t>& shape, std::int32_t value) {
  const array a = array::empty(q, shape, dtype::of<std::int32_t>(), usmx::usm_kind::shared);
  value_of(a) = value;
  return a;
}

/// Copies the value as a command on `q`.
void move_value(const sycl::queue& q, const array& to, const array& from) {
  usmx::submission command(q);
  command.uses(to);
  command.uses(from);
  command.submit([&](sycl::queue& on, const std::vector<sycl::event>& before) {
    return on.memcpy(to.data(), from.data(), sizeof(std::int32_t), before);
  });
}

/// Gives a command that comes too early the time to run; one that waits loses nothing.
void let_others_run() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

TEST(Calls, ComeAfterWhatOtherQueuesDoWithTheirArrays) {
  for (const bool in_order : {true, false}) {
    for (const auto& call : calls_of_each_kind()) {
      sycl::queue first = other_queue(true), second = other_queue(in_order);
      const array x = one(first, {1}, 1), two = one(first, {1}, 2);
      expression_output compiled, out;
      call.enqueue(second, x, compiled);
      compiled.made.wait();
      {
        check::gate gate(first);
        move_value(first, x, two);
        call.enqueue(second, x, out);
        let_others_run();
      }
      out.made.wait();
      CHECK_EQUAL(value_of(out.made), 2);
    }
  }
}

TEST(Calls, GivenOutputsAreWrittenAfterOtherQueuesHaveReadThem) {
  for (const auto& call : calls_of_each_kind()) {
    sycl::queue first = other_queue(true), second = other_queue(true);
    const array x = one(second, {1}, 1), y = one(second, call.shape, 5), seen = one(first, {1}, 0);
    expression_output compiled, out;
    call.enqueue(second, x, compiled);
    compiled.made.wait();
    out.given = &y;
    {
      check::gate gate(first);
      move_value(first, seen, y);
      call.enqueue(second, x, out);
      let_others_run();
    }
    y.wait();
    CHECK_EQUAL(value_of(seen), 5);
    CHECK_EQUAL(value_of(y), 1);
  }
}
