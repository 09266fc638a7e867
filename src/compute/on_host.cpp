// The operations that are exact, so that every processor gives the same values, and those that are
// computed alike everywhere: see on_host.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/on_host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../kernels/expression/product.hpp"
#include "compute/elementary_on_host.hpp"
#include "compute/value.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

/// Elements of a type. A foreign true need not be 1.
template <class T>
struct row_of {
  const std::byte* first;

  T operator[](std::int64_t k) const {
    if constexpr (std::is_same_v<T, bool>) {
      return first[k] != std::byte{};
    } else {
      return reinterpret_cast<const T*>(first)[k];
    }
  }
};

// The memory of results is new, so no loop writes what it reads.
template <class T, class Function>
void unary(std::byte* out, const std::byte* const* in, std::int64_t count) {
  using result = std::invoke_result_t<Function, T>;
  auto* const __restrict to = reinterpret_cast<result*>(out);
  const row_of<T> a{in[0]};
  for (std::int64_t k = 0; k < count; ++k) to[k] = Function()(a[k]);
}
template <class T, class Function>
void binary(std::byte* out, const std::byte* const* in, std::int64_t count) {
  using result = std::invoke_result_t<Function, T, T>;
  auto* const __restrict to = reinterpret_cast<result*>(out);
  const row_of<T> a{in[0]}, b{in[1]};
  for (std::int64_t k = 0; k < count; ++k) to[k] = Function()(a[k], b[k]);
}

// Integers wrap around.
template <class T>
using wide = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

template <class T>
concept whole = std::integral<T> && !std::same_as<T, bool>;

struct add {
  bool operator()(bool a, bool b) const { return a || b; }
  template <whole T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wide<T>>(a) + static_cast<wide<T>>(b));
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct subtract {
  template <whole T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wide<T>>(a) - static_cast<wide<T>>(b));
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct multiply {
  bool operator()(bool a, bool b) const { return a && b; }
  template <whole T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wide<T>>(a) * static_cast<wide<T>>(b));
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct divide {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};
struct maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};
struct negative {
  template <whole T>
  T operator()(T a) const {
    return static_cast<T>(wide<T>{0} - static_cast<wide<T>>(a));
  }
  template <std::floating_point T>
  T operator()(T a) const {
    return -a;
  }
};
struct absolute {
  template <std::floating_point T>
  T operator()(T a) const {
    return std::fabs(a);
  }
  template <whole T>
  T operator()(T a) const {
    return a < T(0) ? negative()(a) : a;
  }
};
struct square {
  template <class T>
    requires(!std::same_as<T, bool>)
  T operator()(T a) const {
    return multiply()(a, a);
  }
};
/// Nothing is done to it: a sum of one, the conjugate of what is not complex, a real part.
struct same {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
/// The imaginary part of what is not complex.
struct zero {
  template <class T>
  T operator()(T) const {
    return T(0);
  }
};
struct inverse {
  template <std::floating_point T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
constexpr double pi = 3.14159265358979323846;
struct in_radians {
  template <std::floating_point T>
  T operator()(T a) const {
    return a * (T(pi) / T(180));
  }
};
struct in_degrees {
  template <std::floating_point T>
  T operator()(T a) const {
    return a * (T(180) / T(pi));
  }
};
struct root {
  template <std::floating_point T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct invert {
  bool operator()(bool a) const { return !a; }
  template <whole T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct bits_and {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct bits_or {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct bits_xor {
  template <std::integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// The nearest whole number, of two the even one: from `whole_from` on a type has no fractions, so
/// the sum rounds. The baseline of x86-64 has no instruction for it, and a loop that calls the
/// library's function takes at least twice as long.
template <std::floating_point T>
T nearest(T a) {
  constexpr T whole_from = T(1) / std::numeric_limits<T>::epsilon();
  const T size = std::fabs(a);
  const T moved = (size + whole_from) - whole_from;
  return std::copysign(size < whole_from ? moved : size, a);
}
struct rounded_down {
  template <std::floating_point T>
  T operator()(T a) const {
    const T near = nearest(a);
    return std::copysign(near - T(near > a), a);  // zeros keep their sign
  }
  template <std::integral T>
  T operator()(T a) const {
    return a;
  }
};
struct rounded_up {
  template <std::floating_point T>
  T operator()(T a) const {
    const T near = nearest(a);
    return std::copysign(near + T(near < a), a);
  }
  template <std::integral T>
  T operator()(T a) const {
    return a;
  }
};
struct truncated {
  template <std::floating_point T>
  T operator()(T a) const {
    const T size = std::fabs(a), near = nearest(size);
    return std::copysign(near - T(near > size), a);
  }
  template <std::integral T>
  T operator()(T a) const {
    return a;
  }
};
struct rounded {
  template <std::floating_point T>
  T operator()(T a) const {
    return nearest(a);
  }
  template <whole T>
  T operator()(T a) const {
    return a;
  }
};
struct sign {
  template <class T>
    requires(!std::same_as<T, bool>)
  T operator()(T a) const {
    if (a != a) return a;
    return static_cast<T>(static_cast<T>(a > T(0)) - static_cast<T>(a < T(0)));
  }
};
struct is_nan {
  template <std::floating_point T>
  bool operator()(T a) const {
    return a != a;
  }
  template <std::integral T>
  bool operator()(T) const {
    return false;
  }
};
struct is_infinite {
  template <std::floating_point T>
  bool operator()(T a) const {
    return std::isinf(a);
  }
  template <std::integral T>
  bool operator()(T) const {
    return false;
  }
};
struct is_finite {
  template <std::floating_point T>
  bool operator()(T a) const {
    return std::isfinite(a);
  }
  template <std::integral T>
  bool operator()(T) const {
    return true;
  }
};
struct has_sign {
  template <std::floating_point T>
  bool operator()(T a) const {
    return std::signbit(a);
  }
};
struct with_sign {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};
// As the functions of kernels/prelude/operators.hpp, whose remainder is exact. Integers divided by
// zero give 0, and the smallest one has no opposite.
struct quotient {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    if (std::isinf(a) || std::isinf(b) || b == T(0)) return a / b;
    const T remainder = std::fmod(a, b);
    T q = (a - remainder) / b;
    if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) q -= T(1);
    if (q == T(0)) return std::copysign(T(0), a / b);
    const T below = std::floor(q);
    return q - below > T(0.5) ? below + T(1) : below;
  }
  template <whole T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if constexpr (std::signed_integral<T>) {
      if (b == -1) return negative()(a);
      const T q = static_cast<T>(a / b);
      return static_cast<T>(q - T(static_cast<T>(q * b) != a && (a < 0) != (b < 0)));
    } else {
      return static_cast<T>(a / b);
    }
  }
};
struct truncated_remainder {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
  template <whole T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if constexpr (std::signed_integral<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct modulo {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    const T remainder = std::fmod(a, b);
    if (b == T(0)) return remainder;
    if (remainder == T(0)) return std::copysign(T(0), b);
    return (b < T(0)) != (remainder < T(0)) ? remainder + b : remainder;
  }
  template <whole T>
  T operator()(T a, T b) const {
    const T r = truncated_remainder()(a, b);
    return r != 0 && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
  }
};
struct neighbour {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return std::nextafter(a, b);
  }
};
struct step_at_zero {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return a != a ? a : a == T(0) ? b : a < T(0) ? T(0) : T(1);
  }
};
// Bits that are shifted out are gone, however far.
struct shifted_left {
  template <whole T>
  T operator()(T a, T count) const {
    constexpr T bits = sizeof(T) * 8;
    return count < T(0) || count >= bits ? T(0) : static_cast<T>(static_cast<wide<T>>(a) << count);
  }
};
struct shifted_right {
  template <whole T>
  T operator()(T a, T count) const {
    constexpr T bits = sizeof(T) * 8;
    if (count < T(0) || count >= bits) return a < T(0) ? static_cast<T>(-1) : T(0);
    return static_cast<T>(a >> count);
  }
};
struct common_divisor {
  /// Without a sign, so that the smallest number has one too.
  template <whole T>
  static wide<T> size_of(T a) {
    return a < T(0) ? wide<T>{0} - static_cast<wide<T>>(a) : static_cast<wide<T>>(a);
  }
  template <whole T>
  T operator()(T a, T b) const {
    return static_cast<T>(std::gcd(size_of(a), size_of(b)));
  }
};
struct common_multiple {
  template <whole T>
  T operator()(T a, T b) const {
    const auto p = common_divisor::size_of(a), q = common_divisor::size_of(b);
    const auto divisor = std::gcd(p, q);
    return divisor == 0 ? T(0) : static_cast<T>(p / divisor * q);
  }
};
struct whole_power {
  template <whole T>
  T operator()(T base, T exponent) const {
    if (exponent < T(0)) return 0;
    auto result = wide<T>{1}, now = static_cast<wide<T>>(base);
    for (auto left = static_cast<wide<T>>(exponent); left != 0; left >>= 1) {
      if ((left & 1) != 0) result *= now;
      now *= now;
    }
    return static_cast<T>(result);
  }
};
struct either {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};

/// Of bytes of bools too: what is chosen is copied.
template <class T>
void choose(std::byte* out, const std::byte* const* in, std::int64_t count) {
  auto* const __restrict to = reinterpret_cast<T*>(out);
  const row_of<bool> is_first{in[0]};
  const row_of<T> a{in[1]}, b{in[2]};
  for (std::int64_t k = 0; k < count; ++k) {
    const T first = a[k], second = b[k];  // both are read, so that there is no branch
    to[k] = is_first[k] ? first : second;
  }
}

using loops_of_types = std::array<host_loop, number_types>;

template <class Function, class... T>
constexpr loops_of_types for_types() {
  loops_of_types all{};
  int k = 0;
  const auto one = [&]<class U>() -> host_loop {
    if constexpr (std::is_invocable_v<Function, U, U>) {
      return binary<U, Function>;
    } else if constexpr (std::is_invocable_v<Function, U>) {
      return unary<U, Function>;
    } else {
      return nullptr;
    }
  };
  // In the order of number_index; half and complex numbers are left to kernels.
  ((all[static_cast<std::size_t>(k++)] = one.template operator()<T>()), ...);
  return all;
}

template <class Function>
constexpr loops_of_types every() {
  loops_of_types all =
      for_types<Function, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                std::uint16_t, std::uint32_t, std::uint64_t, float, double>();
  // float16 has its place between.
  all[11] = all[10];
  all[10] = all[9];
  all[9] = nullptr;
  return all;
}

template <elementary_function Function>
constexpr loops_of_types elementary() {
  loops_of_types all{};
  all[10] = elementary_loop<Function, float>;
  all[11] = elementary_loop<Function, double>;
  return all;
}

constexpr loops_of_types choices() {
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  return {choose<u8>,  choose<u8>,  choose<u16>, choose<u32>, choose<u64>, choose<u8>,
          choose<u16>, choose<u32>, choose<u64>, choose<u16>, choose<u32>, choose<u64>};
}

struct row {
  std::string_view name;
  loops_of_types loops;
  std::int64_t most = most_on_host;
};

constexpr row rows[] = {
    {"absolute", every<absolute>()},
    {"add", every<add>()},
    {"arctan2", elementary<elementary_function::atan2>(), most_slow_on_host},
    {"bitwise_and", every<bits_and>()},
    {"bitwise_or", every<bits_or>()},
    {"bitwise_xor", every<bits_xor>()},
    {"ceil", every<rounded_up>()},
    {"conjugate", every<same>()},
    {"copysign", every<with_sign>()},
    {"cos", elementary<elementary_function::cos>(), most_of_calls_on_host},
    {"deg2rad", every<in_radians>()},
    {"degrees", every<in_degrees>()},
    {"divide", every<divide>()},
    {"equal", every<std::equal_to<>>()},
    {"exp", elementary<elementary_function::exp>()},
    {"fabs", every<absolute>()},
    {"floor", every<rounded_down>()},
    {"floor_divide", every<quotient>(), most_of_calls_on_host},
    {"fmod", every<truncated_remainder>(), most_of_calls_on_host},
    {"gcd", every<common_divisor>(), most_slow_on_host},
    {"greater", every<std::greater<>>()},
    {"greater_equal", every<std::greater_equal<>>()},
    {"heaviside", every<step_at_zero>()},
    {"hypot", elementary<elementary_function::hypot>(), most_of_calls_on_host},
    {"imag", every<zero>()},
    {"invert", every<invert>()},
    {"isfinite", every<is_finite>()},
    {"isinf", every<is_infinite>()},
    {"isnan", every<is_nan>()},
    {"lcm", every<common_multiple>(), most_slow_on_host},
    {"left_shift", every<shifted_left>()},
    {"less", every<std::less<>>()},
    {"less_equal", every<std::less_equal<>>()},
    {"log", elementary<elementary_function::log>(), most_of_calls_on_host},
    {"logical_and", every<std::logical_and<>>()},
    {"logical_not", every<std::logical_not<>>()},
    {"logical_or", every<std::logical_or<>>()},
    {"logical_xor", every<either>()},
    {"maximum", every<maximum>()},
    {"minimum", every<minimum>()},
    {"multiply", every<multiply>()},
    {"negative", every<negative>()},
    {"nextafter", every<neighbour>(), most_slow_on_host},
    {"not_equal", every<std::not_equal_to<>>()},
    {"positive", every<same>()},
    {"power", every<whole_power>(), most_slow_on_host},
    {"rad2deg", every<in_degrees>()},
    {"radians", every<in_radians>()},
    {"real", every<same>()},
    {"reciprocal", every<inverse>()},
    {"remainder", every<modulo>(), most_of_calls_on_host},
    {"right_shift", every<shifted_right>()},
    {"rint", every<rounded>()},
    {"sign", every<sign>()},
    {"signbit", every<has_sign>()},
    {"sin", elementary<elementary_function::sin>(), most_of_calls_on_host},
    {"sqrt", every<root>()},
    {"square", every<square>()},
    {"subtract", every<subtract>()},
    {"tanh", elementary<elementary_function::tanh>(), most_of_calls_on_host},
    {"trunc", every<truncated>()},
    {"where", choices()},
};

}  // namespace

host_function function_on_host(const operation& op, const dtype& type) noexcept {
  // By the place of the operation in the table: names are compared once.
  static const auto* const known = [] {
    auto* const all = new std::array<const row*, most_rows>{};
    for (const row& r : rows) (*all)[row_number(*find_operation(r.name))] = &r;
    return all;
  }();
  const row* const found = (*known)[row_number(op)];
  if (&op == &cast_row) {  // of elements that were cast when they were read
    static constexpr loops_of_types moves = every<same>();
    return {moves[static_cast<std::size_t>(number_index(type))], most_on_host};
  }
  if (found == nullptr) return {};
  return {found->loops[static_cast<std::size_t>(number_index(type))], found->most};
}

// --- casts, and elements that do not lie in a row

namespace {

template <class From, class To>
void cast_row_of(std::byte* out, const std::byte* in, std::int64_t count) {
  auto* const __restrict to = reinterpret_cast<To*>(out);
  const row_of<From> from{in};
  for (std::int64_t k = 0; k < count; ++k) {
    if constexpr (std::is_same_v<To, bool>) {
      to[k] = from[k] != From(0);
    } else {
      to[k] = static_cast<To>(from[k]);
    }
  }
}

template <class... T>
struct types_of_the_host {
  template <class From, class To>
  static constexpr host_cast one() {
    if constexpr (std::is_void_v<From> || std::is_void_v<To>) {
      return nullptr;
    } else if constexpr (std::floating_point<From> && whole<To>) {
      return nullptr;
    } else {
      return cast_row_of<From, To>;
    }
  }
  template <class From>
  static constexpr auto from() {
    return std::array{one<From, T>()...};
  }
  static constexpr std::array all = {from<T>()...};
};

/// In the order of number_index, up to float64; float16 is left to kernels.
using known_types =
    types_of_the_host<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                      std::uint16_t, std::uint32_t, std::uint64_t, void, float, double>;

std::size_t place_of(const dtype& type) noexcept {
  return static_cast<std::size_t>(number_index(type));
}

}  // namespace

host_cast cast_on_host(const dtype& from, const dtype& to) noexcept {
  const std::size_t f = place_of(from), t = place_of(to);
  if (f >= known_types::all.size() || t >= known_types::all.size()) return nullptr;
  return known_types::all[f][t];
}

host_gather::host_gather(const any_view& v, const extents& shape)
    : next_(static_cast<const std::byte*>(v.data())), bytes_(v.dtype().itemsize()) {
  const auto& own = v.layout();
  const std::size_t rank = shape.size(), missing = rank - own.shape().size();
  axes_.reserve(rank + 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_one = d < missing || own.shape()[d - missing] == 1;
    const std::int64_t step = is_one ? 0 : own.strides()[d - missing];
    axes_.push_back({shape[d], step * static_cast<std::int64_t>(bytes_), 0});
  }
  if (rank == 0) axes_.push_back({1, 0, 0});
}

namespace {

template <std::size_t Bytes>
void copy_line(std::byte* out, const std::byte* from, std::int64_t step, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    std::memcpy(out + k * static_cast<std::int64_t>(Bytes), from + k * step, Bytes);
  }
}

}  // namespace

void host_gather::copy(std::byte* out, std::int64_t count) {
  axis& last = axes_.back();
  while (count > 0) {
    const std::int64_t here = std::min(count, last.length - last.at);
    const auto bytes = here * static_cast<std::int64_t>(bytes_);
    switch (bytes_) {
      case 1:
        copy_line<1>(out, next_, last.step, here);
        break;
      case 2:
        copy_line<2>(out, next_, last.step, here);
        break;
      case 4:
        copy_line<4>(out, next_, last.step, here);
        break;
      case 8:
        copy_line<8>(out, next_, last.step, here);
        break;
      default:
        copy_line<16>(out, next_, last.step, here);
    }
    out += bytes;
    count -= here;
    last.at += here;
    next_ += here * last.step;
    for (std::size_t d = axes_.size(); d-- > 0 && axes_[d].at == axes_[d].length;) {
      next_ -= axes_[d].length * axes_[d].step;
      axes_[d].at = 0;
      if (d == 0) break;
      ++axes_[d - 1].at;
      next_ += axes_[d - 1].step;
    }
  }
}

// --- reductions to one number

namespace {

/// How a group of the CPU joins the elements of one result, which are all in one part: see
/// kernels/expression/reduce.hpp and `on_cpu` in expression/reduction.cpp.
constexpr int items = 16, blocks = 8;

template <class T, class Join, class Row>
T joined_by_item(Row x, std::int64_t count, int item) {
  const Join join;
  std::int64_t at = item;
  T now;
  if (count >= items * blocks) {
    T hand[blocks];
    for (int b = 0; b < blocks; ++b) hand[b] = x[at + b * items];
    at += items * blocks;
    for (; count + item - at >= items * blocks; at += items * blocks) {
      for (int b = 0; b < blocks; ++b) hand[b] = join(hand[b], x[at + b * items]);
    }
    for (int w = blocks / 2; w > 0; w /= 2) {
      for (int b = 0; b < w; ++b) hand[b] = join(hand[b], hand[b + w]);
    }
    now = hand[0];
  } else {
    now = x[at];
    at += items;
  }
  for (; at < count; at += items) now = join(now, x[at]);
  return now;
}

template <class T, class Join, class Row>
T folded(Row x, std::int64_t count) {
  T all = joined_by_item<T, Join>(x, count, 0);
  for (int item = 1; item < items && item < count; ++item) {
    all = Join()(all, joined_by_item<T, Join>(x, count, item));
  }
  return all;
}

template <class T>
struct row_of_products {
  row_of<T> x;
  expression::product<T> operator[](std::int64_t k) const { return expression::start(T(x[k])); }
};
struct join_products {
  template <class T>
  expression::product<T> operator()(const expression::product<T>& a,
                                    const expression::product<T>& b) const {
    return expression::joined(a, b);
  }
};

template <class T, class Join>
void fold(std::byte* out, const std::byte* in, std::int64_t count) {
  const row_of<T> x{in};
  T all = folded<T, Join>(x, count);
  if constexpr (std::is_same_v<Join, multiply> && std::floating_point<T>) {
    if (all != all) {  // see product.hpp
      all = expression::ended(
          folded<expression::product<T>, join_products>(row_of_products<T>{x}, count));
    }
  }
  *reinterpret_cast<T*>(out) = all;
}

template <class T, class Join>
void fold_in_turn(std::byte* out, const std::byte* in, std::int64_t count) {
  const row_of<T> x{in};
  T all = x[0];
  for (std::int64_t k = 1; k < count; ++k) all = Join()(all, x[k]);
  *reinterpret_cast<T*>(out) = all;
}

template <class T, class Join>
constexpr host_fold both_folds(bool any_order) {
  return {fold<T, Join>, fold_in_turn<T, Join>, any_order || !std::floating_point<T>};
}

template <class Join>
host_fold fold_of(const dtype& type, bool any_order) noexcept {
  const auto one = [any_order]<class T>() -> host_fold {
    if constexpr (std::is_void_v<T>) {
      return {};
    } else if constexpr (std::is_invocable_r_v<T, Join, T, T>) {
      return both_folds<T, Join>(any_order);
    } else {
      return {};
    }
  };
  const auto all = [&]<class... T>(types_of_the_host<T...>) {
    return std::array{one.template operator()<T>()...};
  }(known_types());
  const std::size_t at = place_of(type);
  return at < all.size() ? all[at] : host_fold{};
}

struct both {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct one_of {
  bool operator()(bool a, bool b) const { return a || b; }
};

}  // namespace

host_fold fold_on_host(std::string_view reduce, const dtype& type) noexcept {
  if (reduce == "a + b") return fold_of<add>(type, false);
  if (reduce == "a * b") return fold_of<multiply>(type, false);
  if (reduce == "smaller(a, b)") return fold_of<minimum>(type, true);
  if (reduce == "larger(a, b)") return fold_of<maximum>(type, true);
  const bool is_bool = type.kind() == type_class::boolean;
  if (is_bool && reduce == "a || b") return both_folds<bool, one_of>(true);
  if (is_bool && reduce == "a && b") return both_folds<bool, both>(true);
  return {};
}

void divide_on_host(std::byte* value, const dtype& type, double by) noexcept {
  if (type.itemsize() == sizeof(float)) {
    *reinterpret_cast<float*>(value) /= static_cast<float>(by);
  } else {
    *reinterpret_cast<double*>(value) /= by;
  }
}

}  // namespace usmx::detail
