// Python's operators where C++ means something else by them or leaves the result undefined: floor
// division, remainders with the sign of the divisor, powers, shifts, exact comparison.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "complex.hpp"
#include "math.hpp"
#include "powers.hpp"
#include "types.hpp"

namespace usmx {

template <class T>
inline constexpr bool is_floating = false;
template <>
inline constexpr bool is_floating<half> = true;
template <>
inline constexpr bool is_floating<bfloat16> = true;
template <>
inline constexpr bool is_floating<float> = true;
template <>
inline constexpr bool is_floating<double> = true;

/// a // b: rounds down; of infinities the quotient itself, as the array API standard prefers.
/// Integers divided by zero give 0, as in NumPy; the CPU would trap.
template <class T>
inline T floor_divide(T a, T b) {
  if constexpr (is_floating<T> && sizeof(T) < sizeof(float)) {
    return T(floor_divide(float(a), float(b)));  // as NumPy: rounded once
  } else if constexpr (is_floating<T>) {
    if (b == T(0) || isinf(a) || isinf(b)) return a / b;
    T remainder = T(fmod(a, b));
    T quotient = (a - remainder) / b;
    if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
    if (quotient == T(0)) return T(copysign(T(0), T(a / b)));
    T whole = T(floor(quotient));
    return quotient - whole > T(0.5f) ? whole + T(1) : whole;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (T(-1) < T(0)) {
      if (b == T(-1)) return T(T(0) - a);  // also of the smallest number, which has no opposite
      const T quotient = a / b;
      return T(quotient - T(quotient * b != a && (a < T(0)) != (b < T(0))));
    } else {
      return T(a / b);
    }
  }
}

/// a % b: has the sign of b. Integers modulo zero give 0, as in NumPy.
template <class T>
inline T modulo(T a, T b) {
  if constexpr (is_floating<T>) {
    T remainder = T(fmod(a, b));
    if (b == T(0)) return remainder;
    if (remainder == T(0)) return T(copysign(T(0), b));
    return (b < T(0)) != (remainder < T(0)) ? T(remainder + b) : remainder;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (T(-1) < T(0)) {
      if (b == T(-1)) return T(0);
      const T remainder = a % b;
      return remainder != T(0) && (remainder < T(0)) != (b < T(0)) ? T(remainder + b) : remainder;
    } else {
      return T(a % b);
    }
  }
}

/// Integers by repeated squaring, wrapping around; negative exponents give 0.
template <class T>
inline T integer_power(T base, T exponent) {
  if (exponent < T(0)) return T(0);
  T result = T(1);
  while (exponent > T(0)) {
    if (exponent & T(1)) result = T(result * base);
    base = T(base * base);
    exponent = T(exponent >> 1);
  }
  return result;
}

/// x to a power that a kernel's text has as a constant, with the bits of `power`.
template <class T, int N>
USMX_BACKEND_INLINE T power_of(T x) {
  if constexpr (is_floating<T> && sizeof(T) < sizeof(float)) {
    return T(powers::product(float(x), N));
  } else if constexpr (is_floating<T>) {
    return powers::product(x, N);
  } else if constexpr (N == 0) {
    return T(1);
  } else if constexpr (N == 1) {
    return x;
  } else {
    const T root = power_of<T, N / 2>(x);
    if constexpr (N % 2 == 0) return root * root;
    return root * root * x;
  }
}

template <class T>
inline T power(T a, T b) {
  return T(pow(a, b));
}

/// Shifts by the width or more give what shifting bit by bit gives.
template <class T>
inline T shift_left(T a, T count) {
  return count < T(0) || count >= T(sizeof(T) * 8) ? T(0) : T(a << count);
}
template <class T>
inline T shift_right(T a, T count) {
  if (count < T(0) || count >= T(sizeof(T) * 8)) return a < T(0) ? T(-1) : T(0);
  return T(a >> count);
}

/// How many ints range(start, stop, step) has; none for a step of 0, which Python refuses.
inline uint64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 && start < stop) return (uint64_t(stop) - uint64_t(start) - 1) / uint64_t(step) + 1;
  if (step < 0 && start > stop)
    return (uint64_t(start) - uint64_t(stop) - 1) / (uint64_t(0) - uint64_t(step)) + 1;
  return 0;
}

// A signed and an unsigned integer of 64 bits, compared by value.
inline bool less(int64_t a, uint64_t b) { return a < 0 || uint64_t(a) < b; }
inline bool less(uint64_t a, int64_t b) { return b >= 0 && a < uint64_t(b); }
inline bool less_equal(int64_t a, uint64_t b) { return a < 0 || uint64_t(a) <= b; }
inline bool less_equal(uint64_t a, int64_t b) { return b >= 0 && a <= uint64_t(b); }
inline bool equal(int64_t a, uint64_t b) { return a >= 0 && uint64_t(a) == b; }
inline bool equal(uint64_t a, int64_t b) { return equal(b, a); }
template <class A, class B>
inline bool not_equal(A a, B b) {
  return !equal(a, b);
}

}  // namespace usmx
