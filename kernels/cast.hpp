// Numbers in another type, as NumPy casts them: what expressions load and store and what copies
// between types do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/numbers.hpp"

// Apart from what expressions see, so that their own functions may have the same names.
namespace usmx::expression {

/// 16 bytes that are moved, not computed with.
struct pair {
  uint64_t low, high;
};

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<complex<T>> = true;

/// A float without its fraction; the lowest number for what does not fit, as on the host.
template <class Integer, class Floating>
inline Integer truncate(Floating x) {
  constexpr Floating two_63 = Floating(9223372036854775808.0f);
  if constexpr (is_same<Integer, uint64_t>) {
    if (x >= two_63) {
      return x < 2 * two_63 ? to_integer<uint64_t>(x) : uint64_t(0);
    }
    return uint64_t(truncate<int64_t>(x));
  } else if constexpr (is_same<Integer, int64_t>) {
    return x >= -two_63 && x < two_63 ? to_integer<int64_t>(x) : int64_t(uint64_t(1) << 63);
  } else if constexpr (is_same<Integer, uint32_t>) {
    return uint32_t(truncate<int64_t>(x));
  } else {
    constexpr Floating two_31 = Floating(2147483648.0f);
    return Integer(x >= -two_31 && x < two_31 ? int32_t(x) : int32_t(uint32_t(1) << 31));
  }
}

/// The number in another type. Fractions are cut off; complex numbers lose their imaginary part.
template <class To, class From>
inline To convert(From x) {
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (is_complex<From> && is_same<To, bool>) {
    return x.re != 0 || x.im != 0;
  } else if constexpr (is_complex<From> && !is_complex<To>) {
    return convert<To>(x.re);
  } else if constexpr (is_same<To, bool>) {
    return x != From(0);
  } else if constexpr (is_complex<From>) {
    return To(x);
  } else if constexpr (is_complex<To>) {
    return To(convert<decltype(To::re)>(x));
  } else if constexpr (is_same<From, bfloat16> && !is_floating<To>) {
    return truncate<To>(float(x));
  } else if constexpr (is_same<To, bfloat16> && is_same<From, double>) {
    return bfloat16::nearest(x);
  } else if constexpr (is_same<To, bfloat16> && !is_floating<From>) {
    if constexpr (From(-1) < From(0)) return bfloat16::nearest(int64_t(x));
    return bfloat16::nearest(uint64_t(x));
  } else if constexpr (is_same<From, half> && !is_floating<To>) {
    const float wide = x;
    if constexpr (sizeof(To) < 8) return truncate<To>(wide);
    // All that are finite fit into int32, from which 64 bits are made in fewer steps.
    if (isfinite(wide)) return To(int32_t(wide));
    return To(is_same<To, uint64_t> && wide > 0 ? uint64_t(0) : uint64_t(1) << 63);
  } else if constexpr (is_floating<From> && !is_floating<To>) {
    return truncate<To>(x);
  } else if constexpr (is_floating<To> && !is_floating<From> && !is_same<From, bool>) {
    return to_floating<To>(x);
  } else if constexpr (is_same<From, bfloat16>) {
    return To(float(x));
  } else {
    return To(x);
  }
}

template <class T>
inline T read(const T* p, int64_t i) {
  if constexpr (is_same<T, bool>)
    return reinterpret_cast<const uint8_t*>(p)[i] != 0;  // a foreign true need not be 1
  else
    return p[i];
}
template <class As, class Own>
inline As load(const Own* p, int64_t i) {
  return convert<As>(read(p, i));
}
template <class Own, class T>
inline void store(Own* p, int64_t i, T value) {
  p[i] = convert<Own>(value);
}

}  // namespace usmx::expression
