// The operations that are exact, so that every processor gives the same values: see on_host.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/on_host.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>

#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

template <class T>
T element(const host_operand& o, std::int64_t k) {
  const auto* const row = reinterpret_cast<const T*>(o.first);
  if constexpr (std::is_same_v<T, bool>) {
    // A foreign true need not be 1.
    return reinterpret_cast<const unsigned char*>(o.first)[o.is_row ? k : 0] != 0;
  } else {
    return row[o.is_row ? k : 0];
  }
}

template <class T, class Function>
void unary(std::byte* out, const host_operand* in, std::int64_t count) {
  using result = std::invoke_result_t<Function, T>;
  for (std::int64_t k = 0; k < count; ++k) {
    reinterpret_cast<result*>(out)[k] = Function()(element<T>(in[0], k));
  }
}
template <class T, class Function>
void binary(std::byte* out, const host_operand* in, std::int64_t count) {
  using result = std::invoke_result_t<Function, T, T>;
  for (std::int64_t k = 0; k < count; ++k) {
    reinterpret_cast<result*>(out)[k] = Function()(element<T>(in[0], k), element<T>(in[1], k));
  }
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

struct row {
  std::string_view name;
  loops_of_types loops;
};

constexpr row rows[] = {
    {"absolute", every<absolute>()},
    {"add", every<add>()},
    {"bitwise_and", every<bits_and>()},
    {"bitwise_or", every<bits_or>()},
    {"bitwise_xor", every<bits_xor>()},
    {"divide", every<divide>()},
    {"equal", every<std::equal_to<>>()},
    {"greater", every<std::greater<>>()},
    {"greater_equal", every<std::greater_equal<>>()},
    {"invert", every<invert>()},
    {"less", every<std::less<>>()},
    {"less_equal", every<std::less_equal<>>()},
    {"logical_and", every<std::logical_and<>>()},
    {"logical_not", every<std::logical_not<>>()},
    {"logical_or", every<std::logical_or<>>()},
    {"maximum", every<maximum>()},
    {"minimum", every<minimum>()},
    {"multiply", every<multiply>()},
    {"negative", every<negative>()},
    {"not_equal", every<std::not_equal_to<>>()},
    {"sqrt", every<root>()},
    {"square", every<square>()},
    {"subtract", every<subtract>()},
};

}  // namespace

host_loop loop_on_host(const operation& op, const dtype& type) noexcept {
  // By the place of the operation in the table: names are compared once.
  static const auto* const known = [] {
    auto* const all = new std::array<const row*, most_rows>{};
    for (const row& r : rows) (*all)[row_number(*find_operation(r.name))] = &r;
    return all;
  }();
  const row* const found = (*known)[row_number(op)];
  return found == nullptr ? nullptr : found->loops[static_cast<std::size_t>(number_index(type))];
}

}  // namespace usmx::detail
