// See usmx/random.hpp. A row of the table is a distribution: its function in kernels/random.hpp and
// what its parameters may be.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <stdexcept>

#include "algorithm/axes.hpp"
#include "algorithm/own_kernels.hpp"
#include "algorithm/rows.hpp"
#include "core/format.hpp"
#include "usmx/arithmetic.hpp"
#include "usmx/copy.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/loops.hpp"
#include "usmx/placement.hpp"
#include "usmx/promotion.hpp"
#include "usmx/sort.hpp"
#include "usmx/typed_array.hpp"

namespace usmx {
namespace {

using detail::format;

// --- what distributions are ---------------------------------------------------------------------

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// What a parameter may be; a finite number in any case.
struct parameter_range {
  double least = -no_limit, above = -no_limit, most = no_limit, below = no_limit;
  bool is_count = false;

  std::string text() const {
    if (is_count)
      return format("an integer from 0 to {}", std::numeric_limits<std::int64_t>::max());
    if (above != -no_limit && most != no_limit)
      return format("a number above {}, at most {}", above, most);
    if (above != -no_limit) return format("a number above {}", above);
    if (below != no_limit) return format("a number from {} to below {}", least, below);
    if (most != no_limit) return format("a number from {} to {}", least, most);
    if (least != -no_limit) return format("a number that is not smaller than {}", least);
    return "a finite number";
  }
};
constexpr parameter_range any_number{}, from_0{.least = 0}, above_0{.above = 0},
    above_1{.above = 1}, chance{.least = 0, .most = 1}, chance_above_0{.above = 0, .most = 1},
    chance_below_1{.least = 0, .below = 1}, of_events{.least = 0, .most = 9.2e18},
    count_of_trials{.least = 0, .is_count = true};

enum class numbers : char { real, events, words };

struct parameter_row {
  const char* name = nullptr;
  parameter_range range = {};
};
struct distribution {
  std::string_view name, function;
  numbers result;
  std::array<parameter_row, 3> parameters = {};
  /// Neighbours are parts of one block.
  bool shares = false;

  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        parameters, [](const parameter_row& p) { return p.name != nullptr; }));
  }
  /// The type of parameter `k` where numbers are of the type `real`.
  std::string_view type_of(std::size_t k, std::string_view real) const {
    return parameters[k].range.is_count ? "int64" : result == numbers::real ? real : "float64";
  }
};

constexpr distribution distributions[] = {
    {"uniform", "uniform", numbers::real, {{{"low", any_number}, {"high", any_number}}}, true},
    {"normal", "normal", numbers::real, {{{"loc", any_number}, {"scale", from_0}}}, true},
    {"exponential", "exponential", numbers::real, {{{"scale", from_0}}}},
    {"gamma", "gamma", numbers::real, {{{"shape", from_0}, {"scale", from_0}}}},
    {"lognormal", "lognormal", numbers::real, {{{"mean", any_number}, {"sigma", from_0}}}},
    {"laplace", "laplace", numbers::real, {{{"loc", any_number}, {"scale", from_0}}}},
    {"logistic", "logistic", numbers::real, {{{"loc", any_number}, {"scale", from_0}}}},
    {"gumbel", "gumbel", numbers::real, {{{"loc", any_number}, {"scale", from_0}}}},
    {"rayleigh", "rayleigh", numbers::real, {{{"scale", from_0}}}},
    {"weibull", "weibull", numbers::real, {{{"a", from_0}}}},
    {"pareto", "pareto", numbers::real, {{{"a", above_0}}}},
    {"power", "power", numbers::real, {{{"a", above_0}}}},
    {"chisquare", "chi_squared", numbers::real, {{{"df", above_0}}}},
    {"noncentral_chisquare",
     "noncentral_chi_squared",
     numbers::real,
     {{{"df", above_0}, {"nonc", from_0}}}},
    {"f", "f", numbers::real, {{{"dfnum", above_0}, {"dfden", above_0}}}},
    {"standard_t", "student", numbers::real, {{{"df", above_0}}}},
    {"beta", "beta", numbers::real, {{{"a", above_0}, {"b", above_0}}}},
    {"wald", "wald", numbers::real, {{{"mean", above_0}, {"scale", above_0}}}},
    {"cauchy", "cauchy", numbers::real, {{{"scale", any_number}}}},
    {"triangular",
     "triangular",
     numbers::real,
     {{{"left", any_number}, {"mode", any_number}, {"right", any_number}}}},
    {"poisson", "poisson", numbers::events, {{{"lam", of_events}}}},
    {"binomial", "binomial", numbers::events, {{{"n", count_of_trials}, {"p", chance}}}},
    {"geometric", "geometric", numbers::events, {{{"p", chance_above_0}}}},
    {"negative_binomial",
     "negative_binomial",
     numbers::events,
     {{{"n", above_0}, {"p", chance_above_0}}}},
    {"logseries", "logarithmic", numbers::events, {{{"p", chance_below_1}}}},
    {"zipf", "zipf", numbers::events, {{{"a", above_1}}}},
    {"bits", "bits", numbers::words},
    {"race", "race", numbers::words, {{{"p", chance}}}},
};

const distribution& distribution_of(std::string_view name) {
  const auto found = std::ranges::find(distributions, name, &distribution::name);
  if (found != std::end(distributions)) return *found;
  throw std::invalid_argument(format("distribution: '{}'; expected one of {}", name,
                                     detail::joined(distributions, &distribution::name)));
}

// --- what calls are given -----------------------------------------------------------------------

bool is_integer(const dtype& type) {
  return type.kind() == type_class::boolean || type.kind() == type_class::integer ||
         type.kind() == type_class::unsigned_integer;
}

template <class T>
T number_of(const operand& value) {
  return std::bit_cast<T>([](const std::array<std::byte, 16>& bytes) {
    std::array<std::byte, sizeof(T)> first;
    std::copy_n(bytes.begin(), sizeof(T), first.begin());
    return first;
  }(value.number_as(dtype::of<T>())));
}

std::string text_of(const operand& value) {
  if (value.array() != nullptr) return "an array";
  switch (value.type().kind()) {
    case type_class::unsigned_integer:
      return format("{}", number_of<std::uint64_t>(value));
    case type_class::floating:
      return format("{}", number_of<double>(value));
    default:
      return format("{}", number_of<std::int64_t>(value));
  }
}

[[noreturn]] void refuse_type(const char* name, const char* expected, const dtype& type) {
  throw interop_error(fault::dtype_mismatch,
                      format("{}: expected {}, got {}", name, expected, type.name()));
}

/// Whether one element at least says so. Waits.
bool is_one(const deferred_array& where) { return item<bool>(any(where)); }

/// Compared with an integer if the limit is one, so that integers stay integers.
deferred_array compared(const char* how, const array& a, double limit) {
  if (std::abs(limit) < 100 && std::floor(limit) == limit) {
    return compute(how, a, static_cast<std::int64_t>(limit));
  }
  return compute(how, a, limit);
}

/// What a parameter may be where kernels compute in a type.
std::string expected_in(const dtype& computes, const parameter_range& range) {
  if (computes != dtype::of<float>()) return range.text();
  return format("{}, of at most {:.9g} in size, which float32 can hold", range.text(),
                std::numeric_limits<float>::max());
}
double largest_of(const dtype& computes) {
  return computes == dtype::of<float>() ? std::numeric_limits<float>::max()
                                        : std::numeric_limits<double>::max();
}

void check_array(const char* name, const array& a, const parameter_range& range,
                 const dtype& computes = dtype::of<double>()) {
  const dtype& type = a.elements().dtype();
  if (range.is_count && !is_integer(type)) refuse_type(name, "integers", type);
  if (type.is_record() || type.kind() == type_class::complex) {
    refuse_type(name, "real numbers", type);
  }
  if (a.size() == 0) return;
  deferred_array bad = compute("logical_not", compute("isfinite", a));
  const auto also = [&](const char* how, double limit) {
    if (std::isfinite(limit)) bad = compute("logical_or", bad, compared(how, a, limit));
  };
  also("less", range.least);
  also("less_equal", range.above);
  also("greater", range.most);
  also("greater_equal", range.below);
  if (type.kind() == type_class::floating && type.itemsize() > computes.itemsize()) {
    bad = compute("logical_or", bad,
                  compute("greater", compute("absolute", a), largest_of(computes)));
  }
  if (range.is_count && type == dtype::of<std::uint64_t>()) {
    bad = compute("logical_or", bad,
                  compute("greater", a, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
  }
  if (is_one(bad)) {
    throw std::invalid_argument(format("{}: expected {}, got an array in which another one is",
                                       name, expected_in(computes, range)));
  }
}

void check_number(const char* name, const operand& value, const parameter_range& range,
                  const dtype& computes) {
  if (range.is_count && !is_integer(value.type())) refuse_type(name, "integers", value.type());
  if (value.type().kind() == type_class::complex) refuse_type(name, "real numbers", value.type());
  const auto x = number_of<double>(value);
  const bool fits = std::abs(x) <= largest_of(computes) && x >= range.least && x > range.above &&
                    x <= range.most && x < range.below;
  const bool is_counted = !range.is_count || value.type() != dtype::of<std::uint64_t>();
  if (fits && is_counted) return;
  throw std::invalid_argument(
      format("{}: expected {}, got {}", name, expected_in(computes, range), text_of(value)));
}

/// Whether one of the numbers, or of the elements, is before one of the others.
bool is_any(const char* how, const operand& a, const operand& b, const sycl::queue& queue) {
  if (a.array() == nullptr && b.array() == nullptr) {
    const auto x = number_of<double>(a), y = number_of<double>(b);
    return how == std::string_view("greater") ? x > y : x == y;
  }
  const deferred_operand both[] = {a, b};
  return is_one(deferred_array(apply(queue, detail::operation_of(how), both)));
}

void check_parameter(const parameter_row& row, const operand& value,
                     const dtype& computes = dtype::of<double>()) {
  if (value.array() != nullptr) {
    check_array(row.name, *value.array(), row.range, computes);
  } else {
    check_number(row.name, value, row.range, computes);
  }
}

void check_parameters(const distribution& which, std::span<const operand> values,
                      const dtype& result, const sycl::queue& queue) {
  if (values.size() != which.count()) {
    throw std::invalid_argument(
        format("parameters: {} of {}; expected {}", values.size(), which.name, which.count()));
  }
  const dtype& computes = which.result == numbers::real ? result : dtype::of<double>();
  for (std::size_t k = 0; k < values.size(); ++k) {
    check_parameter(which.parameters[k], values[k], computes);
  }
  if (which.name != "triangular") return;
  if (is_any("greater", values[0], values[1], queue) ||
      is_any("greater", values[1], values[2], queue) ||
      is_any("equal", values[0], values[2], queue)) {
    throw std::invalid_argument(
        format("left, mode, right: expected left <= mode <= right and left < right, got {}, {}, {}",
               text_of(values[0]), text_of(values[1]), text_of(values[2])));
  }
}

// --- where numbers are written ------------------------------------------------------------------

/// The shape of a result of these parameters.
extents size_of(std::span<const operand> values, const std::optional<extents>& asked) {
  std::vector<const extents*> shapes;
  for (const operand& value : values) {
    if (value.array() != nullptr) shapes.push_back(&value.array()->elements().layout().shape());
  }
  if (!asked) return shapes.empty() ? extents() : broadcast_shape(shapes);
  if (std::ranges::any_of(*asked, [](std::int64_t n) { return n < 0; })) {
    throw std::invalid_argument(
        format("size: {} has a negative length", detail::shape_text(*asked)));
  }
  if (shapes.empty()) return *asked;
  const extents own = broadcast_shape(shapes);
  bool fits = own.size() <= asked->size();
  for (std::size_t k = 0; fits && k < own.size(); ++k) {
    const std::int64_t length = own[own.size() - 1 - k];
    fits = length == 1 || length == (*asked)[asked->size() - 1 - k];
  }
  if (!fits) {
    throw std::invalid_argument(
        format("size: the shape {} of the arguments cannot be broadcast to {}",
               detail::shape_text(own), detail::shape_text(*asked)));
  }
  return *asked;
}

array empty_for(const sycl::queue& queue, std::span<const operand> values, const extents& size,
                const dtype& type, const std::optional<usm_kind>& kind) {
  joint_kind kinds;
  for (const operand& value : values) {
    if (value.array() != nullptr) kinds.add(*value.array());
  }
  return array::empty(queue, size.span(), type, kind ? *kind : kinds.result(queue));
}

dtype type_of(const distribution& which, const std::optional<dtype>& asked) {
  if (which.result == numbers::events) return dtype::of<std::int64_t>();
  if (which.result == numbers::words) return dtype::of<std::uint64_t>();
  const dtype type = asked.value_or(dtype::of<double>());
  if (type != dtype::of<float>() && type != dtype::of<double>()) {
    refuse_type("dtype", "float32 or float64", type);
  }
  return type;
}

// --- kernels ------------------------------------------------------------------------------------

constexpr std::string_view place_parameters = "uint64 rng_key, uint64 rng_stream, uint64 rng_place";

elementwise_text with_functions() {
  elementwise_text text;
  text.preamble = "#include \"usmx/random.hpp\"\n";
  return text;
}

/// Kernels by the name of what they draw, leaked as those of sorts.
template <class Make>
const elementwise_kernel& random_kernel(std::string_view name, const dtype& type, Make make) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<std::string_view, std::string>, elementwise_kernel>;
  std::pair key(name, std::string(device_name(type)));
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(std::move(key), make()).first->second;
}

elementwise_kernel kernel_of(const distribution& which, const dtype& type) {
  const std::string t = type.name();
  std::string parameters(place_parameters), passed;
  for (std::size_t k = 0; k < which.count(); ++k) {
    parameters += format(", {} p{}", which.type_of(k, t), k);
    passed += format(", p{}", k);
  }
  const bool is_real = which.result == numbers::real;
  const std::string_view real = is_real ? device_name(type) : "";
  return {
      parameters, t + " z",
      format("z = usmx::random::{}{}({}rng_key, rng_stream, rng_place + uint64_t(i)){})",
             which.function, is_real ? format("<{}>", real) : "",
             which.shares ? format("usmx::random::share<{}>::at(", real) : "usmx::random::source(",
             passed),
      "random", with_functions()};
}

elementwise_kernel kernel_of_integers(const dtype& type) {
  return {format("{}, L low, H high, uint64 less", place_parameters), type.name() + " z",
          "z = uint64_t(low) + usmx::random::integer(usmx::random::source(rng_key, rng_stream, "
          "rng_place + uint64_t(i)), uint64_t(high) - less - uint64_t(low))",
          "random", with_functions()};
}

/// Whether bounds of integers lie outside of a type, as elements of any type of integers.
const reduction_kernel& lies_outside() {
  static const auto& kernel = *new reduction_kernel(
      "T x, int64 least, uint64 most", "bool y",
      {.map = "x < 0 ? int64_t(x) < least"
              "      : uint64_t(x) > most || (least > 0 && uint64_t(x) < uint64_t(least))",
       .reduce = "a || b",
       .post_map = "y = a",
       .identity = "false"},
      "random_outside");
  return kernel;
}
/// Whether no integer is between two bounds, of which `high - less` is the largest.
const reduction_kernel& has_none_between() {
  static const auto& kernel = *new reduction_kernel(
      "L low, H high, uint64 less", "bool y",
      {.map = "is_above(low, high, less)",
       .reduce = "a || b",
       .post_map = "y = a",
       .identity = "false",
       .preamble = "template <class L, class H> bool is_above(L low, H high, uint64_t less) {\n"
                   "  const bool is_negative = high < 0 || uint64_t(high) < less;\n"
                   "  const uint64_t last = uint64_t(high) - less;\n"
                   "  if (low < 0) return is_negative && int64_t(low) > int64_t(last);\n"
                   "  return is_negative || uint64_t(low) > last;\n}\n"},
      "random_between");
  return kernel;
}

bool any_element(const reduction_kernel& kernel, const sycl::queue& queue,
                 std::initializer_list<operand> values) {
  return item<bool>(kernel(queue, values));
}

// --- where a stream begins ----------------------------------------------------------------------

/// SHA-256 of the Secure Hash Standard (FIPS 180-4): its first four words.
std::array<std::uint32_t, 4> sha256(std::string text) {
  // The first bits of the fractions of roots of the first primes.
  std::array<std::uint32_t, 64> constants{};
  std::array<std::uint32_t, 8> state{};
  const auto fraction = [](long double root) {
    return static_cast<std::uint32_t>((root - std::floor(root)) * 0x1p32L);
  };
  for (std::uint32_t found = 0, n = 2; found < 64; ++n) {
    bool is_prime = true;
    for (std::uint32_t d = 2; d * d <= n; ++d) is_prime = is_prime && n % d != 0;
    if (!is_prime) continue;
    if (found < 8) state[found] = fraction(std::sqrt(static_cast<long double>(n)));
    constants[found++] = fraction(std::cbrt(static_cast<long double>(n)));
  }
  const std::uint64_t bits = 8 * text.size();
  text += '\x80';
  text.append((120 - text.size() % 64) % 64, '\0');
  for (int k = 56; k >= 0; k -= 8) text += static_cast<char>(bits >> k);

  for (std::size_t at = 0; at < text.size(); at += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t k = 0; k < 64; ++k) {
      w[k / 4] = w[k / 4] << 8 | static_cast<unsigned char>(text[at + k]);
    }
    for (std::size_t k = 16; k < 64; ++k) {
      const std::uint32_t a = w[k - 15], b = w[k - 2];
      w[k] = w[k - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[k - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t k = 0; k < 64; ++k) {
      const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + constants[k] + w[k];
      const std::uint32_t second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::uint32_t made[] = {a, b, c, d, e, f, g, h};
    for (std::size_t k = 0; k < 8; ++k) state[k] += made[k];
  }
  return {state[0], state[1], state[2], state[3]};
}

/// As Python writes the seed and the numbers of children.
std::string text_of(const random_state& state) {
  return format("([{}], [{}])", detail::joined(state.seed),
                detail::joined(state.spawned, [](std::uint64_t n) { return std::to_string(n); }));
}

// --- numbers ------------------------------------------------------------------------------------

/// Blocks of the same places that other parts do not use; no distribution has 2048.
detail::random_place part_of(const detail::random_place& at, std::int64_t part) {
  return {at.key, at.stream | (2048 * static_cast<std::uint64_t>(part) & 0xFFFFFFFF) << 32,
          at.place};
}

/// Writes to elements, to which the values broadcast.
void make(const distribution& which, std::span<const operand> values,
          const detail::random_place& at, const sycl::queue& queue, const array& out) {
  if (out.size() == 0) return;
  const dtype& type = out.elements().dtype();
  const bool are_numbers =
      std::ranges::all_of(values, [](const operand& v) { return v.array() == nullptr; });
  if (which.shares && are_numbers && out.elements().layout().is_c_contiguous()) {
    static auto& kernels = *new detail::own_kernels("random.cpp");
    const auto in_block = static_cast<std::int64_t>(16 / type.itemsize());
    const auto first = static_cast<std::int64_t>(at.place % static_cast<std::uint64_t>(in_block));
    const auto items = static_cast<std::size_t>(detail::quotient_up(out.size() + first, in_block));
    const kernel& fill = kernels.get(
        queue, "random_fill",
        {format("-DFUNCTION={}", which.function), format("-DTYPE={}", device_name(type))});
    const auto low = values[0].number_as(type), high = values[1].number_as(type);
    fill.enqueue(
        queue, launch_range(std::span(&items, 1)),
        {at.key, at.stream, at.place, out, out.size(), {type, low.data()}, {type, high.data()}});
    return;
  }
  std::vector<operand> in{at.key, at.stream, at.place};
  in.insert(in.end(), values.begin(), values.end());
  expression_output outputs[1];
  outputs[0].given = &out;
  random_kernel(which.name, type, [&] {
    return kernel_of(which, type);
  }).submit(queue, in, outputs);
}

// --- bounds of integers -------------------------------------------------------------------------

struct integer_limits {
  std::int64_t least;
  std::uint64_t most;
};

/// What bounds of integers of a type may be, or those behind the last integer.
integer_limits limits_of(const dtype& type, bool behind) {
  const bool is_signed = type.kind() == type_class::integer;
  const auto bits = type.kind() == type_class::boolean ? 1 : 8 * type.itemsize() - is_signed;
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
  const std::int64_t least = is_signed ? -1 - static_cast<std::int64_t>(most) : 0;
  return {least + behind, most + (behind && bits < 64)};
}

/// In the order of the numbers: of negative ones the bits are in that order, too.
struct integer {
  bool is_from_0;
  std::uint64_t bits;

  explicit integer(std::int64_t x) : is_from_0(x >= 0), bits(static_cast<std::uint64_t>(x)) {}
  explicit integer(std::uint64_t x) : is_from_0(true), bits(x) {}
  explicit integer(const operand& x)
      : integer(x.type() == dtype::of<std::uint64_t>() ? integer(number_of<std::uint64_t>(x))
                                                       : integer(number_of<std::int64_t>(x))) {}
  auto operator<=>(const integer&) const = default;
};

void check_bound(const char* name, const operand& bound, const integer_limits& limits,
                 const sycl::queue& queue) {
  const auto& [least, most] = limits;
  if (!is_integer(bound.type())) refuse_type(name, "integers", bound.type());
  if (bound.array() == nullptr) {
    if (integer(bound) >= integer(least) && integer(bound) <= integer(most)) return;
    throw std::invalid_argument(
        format("{}: expected an integer from {} to {}, got {}", name, least, most, text_of(bound)));
  }
  if (bound.array()->size() != 0 && any_element(lies_outside(), queue, {bound, least, most})) {
    throw std::invalid_argument(
        format("{}: expected integers from {} to {}, got an array with others", name, least, most));
  }
}

/// Column `k` of the last axis.
array column_of(const array& a, std::int64_t k) {
  std::int64_t shift = 0;
  const layout& all = a.elements().layout();
  layout column = all.indexed(all.rank() - 1, k, shift);
  return a.with_view(a.elements().with_layout(std::move(column), shift));
}

/// An empty result with one axis more.
array with_columns(const sycl::queue& queue, std::span<const operand> values, const extents& size,
                   std::int64_t count, const dtype& type, const std::optional<usm_kind>& kind) {
  extents shape(size.size() + 1, count);
  std::ranges::copy(size, shape.data());
  return empty_for(queue, values, shape, type, kind);
}

array as_type(const array& a, const dtype& wanted) {
  if (a.elements().dtype() == wanted) return a;
  array made = array::empty(a.queue(), a.shape(), wanted, usm_kind::device);
  copy_async(a.queue(), made, a);
  return made;
}

/// With the rounding errors added at the end: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren
/// zur Summation endlicher Summen" (1974).
double sum_of(std::span<const double> numbers) {
  double sum = 0, error = 0;
  for (const double x : numbers) {
    const double next = sum + x;
    error += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return sum + error;
}

}  // namespace

// --- generators ---------------------------------------------------------------------------------

random_generator::random_generator(std::uint64_t seed)
    : random_generator(random_state{.seed = {std::to_string(seed)}}) {}

random_generator::random_generator(random_state state) : state_(std::move(state)) {
  for (const std::string& number : state_.seed) {
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
      throw std::invalid_argument(
          format("seed: expected numbers that are not negative, got {}", number));
    }
  }
  const auto hash = sha256(text_of(state_));
  const auto word = [&](std::size_t k) { return std::uint64_t{__builtin_bswap32(hash[k])}; };
  key_ = word(0) | word(1) << 32;
  stream_ = word(2);
}

random_generator& random_generator::operator=(const random_generator& other) {
  random_generator same(other);
  const std::scoped_lock lock(mutex_);
  state_ = std::move(same.state_);
  key_ = same.key_;
  stream_ = same.stream_;
  return *this;
}

random_state random_generator::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::vector<random_generator> random_generator::spawn(std::size_t count) {
  std::vector<random_generator> made;
  made.reserve(count);  // where it fails, no numbers of children are taken
  random_state child;
  {
    const std::scoped_lock lock(mutex_);
    child = {state_.seed, state_.spawned};
    child.spawned.push_back(std::exchange(state_.children, state_.children + count));
  }
  for (std::size_t k = 0; k < count; ++k, ++child.spawned.back()) made.emplace_back(child);
  return made;
}

void random_generator::advance(std::int64_t count) { static_cast<void>(reserve(count)); }

detail::random_place random_generator::reserve(std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t place = state_.place;
  state_.place += static_cast<std::uint64_t>(count);
  return {key_, stream_, place};
}

array random_generator::draw(const sycl::queue& queue, std::string_view name,
                             std::span<const operand> parameters, const random_options& how) {
  const distribution& which = distribution_of(name);
  const dtype type = type_of(which, how.type);
  check_parameters(which, parameters, type, queue);
  const extents size = size_of(parameters, how.size);
  array out = empty_for(queue, parameters, size, type, how.kind);
  make(which, parameters, reserve(out.size()), queue, out);
  return out;
}

void random_generator::draw_into(const array& out, std::string_view name,
                                 std::span<const operand> parameters) {
  const distribution& which = distribution_of(name);
  const dtype& type = out.elements().dtype();
  if (type != type_of(which, type)) {
    refuse_type("out", format("elements of {}", type_of(which, {}).name()).c_str(), type);
  }
  check_parameters(which, parameters, type, out.queue());
  static_cast<void>(size_of(parameters, extents(out.shape())));
  make(which, parameters, reserve(out.size()), out.queue(), out);
}

array random_generator::integers(const sycl::queue& queue, const operand& low, const operand& high,
                                 const random_options& how) {
  const dtype type = how.type.value_or(dtype::of<std::int64_t>());
  if (!is_integer(type)) refuse_type("dtype", "integers or bool", type);
  check_bound("low", low, limits_of(type, false), queue);
  check_bound("high", high, limits_of(type, !how.endpoint), queue);
  const std::uint64_t less = how.endpoint ? 0 : 1;
  const operand bounds[] = {low, high};
  const bool are_numbers = low.array() == nullptr && high.array() == nullptr;
  const bool is_none =
      are_numbers ? (how.endpoint ? integer(low) > integer(high) : integer(low) >= integer(high))
                  : any_element(has_none_between(), queue, {low, high, less});
  if (is_none) {
    throw std::invalid_argument(format("low, high: there is no integer from {} to {}{}",
                                       text_of(low), how.endpoint ? "" : "below ", text_of(high)));
  }
  array out = empty_for(queue, bounds, size_of(bounds, how.size), type, how.kind);
  const auto [key, stream, place] = reserve(out.size());
  if (out.size() == 0) return out;
  const operand in[] = {key, stream, place, low, high, less};
  expression_output outputs[1];
  outputs[0].given = &out;
  random_kernel("integers", type, [&] {
    return kernel_of_integers(type);
  }).submit(queue, in, outputs);
  return out;
}

array random_generator::permutation(const sycl::queue& queue, std::int64_t count,
                                    std::optional<usm_kind> kind) {
  return argsort(draw(queue, "bits", {}, {.size = extents{count}, .kind = kind}));
}

array random_generator::multinomial(const sycl::queue& queue, const operand& n,
                                    const array& chances, const random_options& how) {
  check_array("pvals", chances, chance);
  if (chances.rank() == 0 || chances.extent(chances.rank() - 1) == 0) {
    throw std::invalid_argument(format("pvals: expected one chance or more, got the shape {}",
                                       detail::shape_text(chances.shape())));
  }
  const distribution& binomial = distribution_of("binomial");
  check_parameter(binomial.parameters[0], n);
  const array table = as_type(chances, dtype::of<double>()), first = column_of(table, 0);
  const operand trials[] = {n, first};
  const extents size = size_of(trials, how.size);
  const std::int64_t columns = chances.extent(chances.rank() - 1);
  array out = with_columns(queue, trials, size, columns, dtype::of<std::int64_t>(), how.kind);
  if (out.size() == 0) return out;

  // What is left of the trials, and of the chance.
  array left = array::empty(queue, size.span(), dtype::of<std::int64_t>(), usm_kind::device);
  if (n.array() != nullptr) {
    layout all;
    n.array()->elements().layout().broadcast(size, all);
    copy_async(queue, left, n.array()->with_view(n.array()->elements().with_layout(all, 0)));
  } else {
    const auto number = number_of<std::int64_t>(n);
    fill_async(queue, left, &number);
  }
  deferred_array rest = compute("add", compute("multiply", first, 0.0), 1.0);
  const detail::random_place at = reserve(left.size());
  for (std::int64_t k = 0; k + 1 < columns; ++k) {
    const array column = column_of(table, k), counts = column_of(out, k);
    // Sums of chances are rounded.
    if (is_one(compute("greater", column, compute("add", rest, 1e-12)))) {
      throw std::invalid_argument("pvals: expected chances with a sum of at most 1");
    }
    const array part =
        compute("minimum", compute("divide", column, compute("maximum", rest, 1e-300)), 1.0);
    const operand of_these[] = {left, part};
    make(binomial, of_these, part_of(at, k), queue, counts);
    left = compute("subtract", left, counts);
    rest = compute("subtract", rest, column);
  }
  copy_async(queue, column_of(out, columns - 1), left);
  return out;
}

array random_generator::dirichlet(const sycl::queue& queue, const array& alpha,
                                  const random_options& how) {
  if (alpha.rank() != 1 || alpha.size() == 0) {
    throw std::invalid_argument(format("alpha: expected one dimension, got the shape {}",
                                       detail::shape_text(alpha.shape())));
  }
  check_array("alpha", alpha, above_0);
  const std::vector<double> shapes = to_vector<double>(alpha);
  const extents size = size_of({}, how.size);
  const operand given[] = {alpha};
  const auto columns = static_cast<std::int64_t>(shapes.size());
  array out = with_columns(queue, given, size, columns, dtype::of<double>(), how.kind);
  if (out.size() == 0) return out;

  // A stick is broken: sums of gamma variates of small shapes could be 0.
  array left = array::empty(queue, size.span(), dtype::of<double>(), usm_kind::device);
  const double whole = 1;
  fill_async(queue, left, &whole);
  const detail::random_place at = reserve(left.size());
  for (std::int64_t k = 0; k + 1 < columns; ++k) {
    const auto shape = static_cast<std::size_t>(k);
    array taken = array::empty(queue, size.span(), dtype::of<double>(), usm_kind::device);
    const operand of_these[] = {shapes[shape], sum_of(std::span(shapes).subspan(shape + 1))};
    make(distribution_of("beta"), of_these, part_of(at, k), queue, taken);
    copy_async(queue, column_of(out, k), compute("multiply", left, taken));
    left = compute("multiply", left, compute("subtract", 1, taken));
  }
  copy_async(queue, column_of(out, columns - 1), left);
  return out;
}

}  // namespace usmx
