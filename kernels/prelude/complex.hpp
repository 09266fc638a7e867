// Complex numbers, laid out as NumPy's and std::complex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "math.hpp"
#include "types.hpp"

namespace usmx {

template <class T>
struct complex {
  T re, im;

  constexpr complex() = default;
  constexpr complex(T real, T imaginary = T(0)) : re(real), im(imaginary) {}
  template <class U>
  constexpr explicit complex(const complex<U>& other) : re(T(other.re)), im(T(other.im)) {}

  constexpr T real() const { return re; }
  constexpr T imag() const { return im; }

  friend constexpr complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend complex operator-(complex a) { return {negate(a.re), negate(a.im)}; }
  friend constexpr complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's way, which does not overflow where the result does not.
  friend constexpr complex operator/(complex a, complex b) {
    if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
      if (b.re == 0 && b.im == 0) return {a.re / b.re, a.im / b.re};
      const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  constexpr complex& operator+=(complex b) { return *this = *this + b; }
  constexpr complex& operator-=(complex b) { return *this = *this - b; }
  constexpr complex& operator*=(complex b) { return *this = *this * b; }
  constexpr complex& operator/=(complex b) { return *this = *this / b; }
  friend constexpr bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend constexpr bool operator!=(complex a, complex b) { return !(a == b); }
};

template <class T>
inline T abs(complex<T> z) {
  return hypot(z.re, z.im);
}
template <class T>
inline T arg(complex<T> z) {
  return atan2(z.im, z.re);
}
template <class T>
inline complex<T> conj(complex<T> z) {
  return {z.re, negate(z.im)};
}
template <class T>
inline complex<T> exp(complex<T> z) {
  const T scale = exp(z.re);
  return {scale * cos(z.im), scale * sin(z.im)};
}
template <class T>
inline complex<T> log(complex<T> z) {
  return {log(abs(z)), arg(z)};
}
template <class T>
inline complex<T> sqrt(complex<T> z) {
  const T length = abs(z);
  const T re = sqrt((length + fabs(z.re)) / 2);
  if (length == 0) return {T(0), z.im};
  const T im = fabs(z.im) / (2 * re);
  return z.re >= 0 ? complex<T>{re, copysign(im, z.im)} : complex<T>{im, copysign(re, z.im)};
}
template <class T>
inline complex<T> sin(complex<T> z) {
  return {sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im)};
}
template <class T>
inline complex<T> cos(complex<T> z) {
  return {cos(z.re) * cosh(z.im), negate(sin(z.re) * sinh(z.im))};
}
template <class T>
inline complex<T> pow(complex<T> a, complex<T> b) {
  if (a == complex<T>()) return b == complex<T>() ? complex<T>(1) : complex<T>();
  return exp(b * log(a));
}

}  // namespace usmx
