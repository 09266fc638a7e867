// Numbers of one type as those of another, on the host: what NumPy's casts give. They go through
// the widest type of their class, so that the number of loops grows with the number of types and
// not with its square.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/half.hpp"
#include "core/numbers.hpp"
#include "core/small_floats.hpp"

namespace usmx::detail {

/// What numbers of a class are on the way. Integers have 64 bits, so that they are exact; every
/// floating-point value is exact as a double.
template <class T>
using wide = std::conditional_t<
    is_complex<T>::value, std::complex<double>,
    std::conditional_t<number_with_fraction<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

/// The number at `p`, aligned or not.
template <class From>
wide<From> widen(const std::byte* p) noexcept {
  // A foreign true need not be 1.
  std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From> value;
  std::memcpy(&value, p, sizeof value);
  if constexpr (std::is_same_v<From, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<From, half_bits>) {
    return from_half(value);
  } else if constexpr (small_float<From>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (is_complex<From>::value) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else {
    return static_cast<wide<From>>(value);
  }
}

/// Converts a double to an integer as x86 does, and so NumPy: towards zero, and to the lowest
/// number if it does not fit. In C++ that is undefined.
template <class Integer>
Integer truncate(double x) noexcept {
  constexpr double two_63 = 9223372036854775808.0;
  if constexpr (std::is_same_v<Integer, std::uint64_t>) {
    if (x >= two_63) {
      return x < 2 * two_63 ? static_cast<std::uint64_t>(x - two_63) ^ (std::uint64_t{1} << 63)
                            : std::uint64_t{0};
    }
    return static_cast<std::uint64_t>(truncate<std::int64_t>(x));
  } else if constexpr (std::is_same_v<Integer, std::int64_t>) {
    return x >= -two_63 && x < two_63 ? static_cast<std::int64_t>(x)
                                      : std::numeric_limits<std::int64_t>::min();
  } else if constexpr (std::is_same_v<Integer, std::uint32_t>) {
    return static_cast<std::uint32_t>(truncate<std::int64_t>(x));
  } else {
    // Smaller ones are converted through 32 bits.
    const std::int32_t whole = x >= -2147483648.0 && x < 2147483648.0
                                   ? static_cast<std::int32_t>(x)
                                   : std::numeric_limits<std::int32_t>::min();
    return static_cast<Integer>(whole);
  }
}

/// A number of one of the four wide types as another one.
template <class To, class From>
To convert(From x) noexcept {
  if constexpr (std::is_same_v<From, std::complex<double>>) {
    if constexpr (std::is_same_v<To, bool>) {
      return x.real() != 0 || x.imag() != 0;
    } else if constexpr (is_complex<To>::value) {
      using Part = typename To::value_type;
      return {static_cast<Part>(x.real()), static_cast<Part>(x.imag())};
    } else {
      return convert<To>(x.real());
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_same_v<To, half_bits>) {
    return to_half(static_cast<double>(x));
  } else if constexpr (small_float<To>) {
    return To(rounded_to_odd(x));
  } else if constexpr (is_complex<To>::value) {
    return {static_cast<typename To::value_type>(x), 0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// A cast between two types of numbers; neither is a record.
class row_cast {
 public:
  row_cast(const dtype& to, const dtype& from) noexcept;

  /// Casts `count` numbers that lie so many bytes apart, aligned or not.
  void operator()(std::byte* to, std::int64_t to_step, const std::byte* from,
                  std::int64_t from_step, std::int64_t count) const noexcept;
  /// One number.
  void operator()(void* to, const void* from) const noexcept;

 private:
  void (*load_)(void*, const std::byte*, std::int64_t, std::int64_t) = nullptr;
  void (*store_)(std::byte*, std::int64_t, const void*, std::int64_t) = nullptr;
};

}  // namespace usmx::detail
