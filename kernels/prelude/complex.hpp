// Complex numbers, laid out as NumPy's and std::complex. Their functions give what Annex G of C
// says for infinities, NaN and signed zeros, and overflow only where the result does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "math.hpp"
#include "powers.hpp"
#include "types.hpp"

namespace usmx {

/// A product that is rounded by itself. The compiler for CUDA makes vectors of the two parts of
/// complex numbers, of which it then contracts products and sums, regardless of its options.
template <class T>
constexpr T rounded_product(T a, T b) {
#ifdef __NVPTX__
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (__is_same(T, float)) return __nvvm_mul_rn_f(a, b);
    if constexpr (__is_same(T, double)) return __nvvm_mul_rn_d(a, b);
  }
#endif
  return a * b;
}

template <class T>
struct complex {
  T re, im;

  constexpr complex() = default;
  constexpr complex(T real, T imaginary = T(0)) : re(real), im(imaginary) {}
  template <class U>
  constexpr explicit complex(const complex<U>& other) : re(T(other.re)), im(T(other.im)) {}

  constexpr T real() const { return re; }
  constexpr T imag() const { return im; }
  constexpr void real(T value) { re = value; }
  constexpr void imag(T value) { im = value; }

  friend constexpr complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
  friend complex operator-(complex a) { return {negate(a.re), negate(a.im)}; }
  /// Part by part into a variable: where both parts go into a constructor, Intel's compiler for
  /// CPUs makes vectors of them, and takes +0 times a vector for +0, also if the vector has others.
  friend constexpr complex operator*(complex a, complex b) {
    complex made = a;
    made.re = rounded_product(a.re, b.re) - rounded_product(a.im, b.im);
    made.im = rounded_product(a.re, b.im) + rounded_product(a.im, b.re);
    return made;
  }
  /// Smith's way, which does not overflow where the result does not.
  friend constexpr complex operator/(complex a, complex b) {
    if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
      if (b.re == 0 && b.im == 0) return {a.re / (b.re * b.re), a.im / (b.re * b.re)};
      const T ratio = b.im / b.re, scale = T(1) / (b.re + rounded_product(b.im, ratio));
      return {(a.re + rounded_product(a.im, ratio)) * scale,
              (a.im - rounded_product(a.re, ratio)) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + rounded_product(b.re, ratio));
    return {(rounded_product(a.re, ratio) + a.im) * scale,
            (rounded_product(a.im, ratio) - a.re) * scale};
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

namespace complex_parts {

/// Beyond this exp() may overflow, and so may cosh() and sinh().
template <class T>
inline constexpr T largest_exponent = sizeof(T) == 8 ? T(709) : T(88);
/// Larger numbers are made smaller before they are squared or added, smaller ones larger.
template <class T>
inline constexpr T large = sizeof(T) == 8 ? T(0x1p1020) : T(0x1p124);
template <class T>
inline constexpr T small = sizeof(T) == 8 ? T(0x1p-960) : T(0x1p-96);

/// (x cos b, y sin b) times e^a of a large a, which alone may overflow.
template <class T>
inline complex<T> at_exponent(T a, T x, T y, T b) {
  const T root = exp(a / 2);
  return {x * root * cos(b) * root, y * root * sin(b) * root};
}

/// log(sqrt(a^2 + b^2)).
template <class T>
inline T log_of_length(T a, T b) {
  a = fabs(a), b = fabs(b);
  if (isinf(a) || isinf(b)) return T(__builtin_inff());
  if (a < b) {
    const T c = a;
    a = b, b = c;
  }
  if (a > large<T>) return log(hypot(a / 16, b / 16)) + T(2.772588722239781237669);
  if (a < small<T> && a > 0) {
    // 2^128 and its logarithm; half the exponents of float are fewer.
    constexpr T up = sizeof(T) == 8 ? T(0x1p128) : T(0x1p64);
    constexpr T by = T(sizeof(T) == 8 ? 88.72283911167299960540 : 44.36141955583649980270);
    return log(hypot(a * up, b * up)) - by;
  }
  if (a > T(0.5) && a < T(2)) {
    // Near a length of one only a^2 + b^2 - 1 says how near.
    const T aa = a * a, bb = b * b;
    const T rest = fma(a, a, -aa) + fma(b, b, -bb);
    const T beyond = ((aa - 1) + bb) + rest;
    if (fabs(beyond) < T(0.5)) return log1p(beyond) / 2;
  }
  return log(hypot(a, b));
}

/// The product of C, whose infinities survive. That of NumPy, which `*` is, makes some of them NaN.
template <class T>
inline complex<T> product(complex<T> a, complex<T> b) {
  const complex<T> made = a * b;
  if (!isnan(made.re) || !isnan(made.im)) return made;
  const auto is_infinite = [](complex<T> z) { return isinf(z.re) || isinf(z.im); };
  const auto boxed = [](T x) { return copysign(isinf(x) ? T(1) : T(0), x); };
  const auto without_nan = [](T x) { return isnan(x) ? copysign(T(0), x) : x; };
  const bool a_is = is_infinite(a), b_is = is_infinite(b);
  const bool overflows =
      isinf(a.re * b.re) || isinf(a.im * b.im) || isinf(a.re * b.im) || isinf(a.im * b.re);
  if (!a_is && !b_is && !overflows) return made;
  if (a_is) a = {boxed(a.re), boxed(a.im)};
  if (b_is) b = {boxed(b.re), boxed(b.im)};
  a = {without_nan(a.re), without_nan(a.im)};
  b = {without_nan(b.re), without_nan(b.im)};
  const complex<T> direction = a * b;
  const T infinity = T(__builtin_inff());
  return {infinity * direction.re, infinity * direction.im};
}

/// complex(1) * z with the zeros and NaN that come of its 0, which no compiler sees; see operator*.
template <class T>
inline complex<T> one_times(complex<T> z) {
  const auto zero_times = [](T x) {
    return isfinite(x) ? copysign(T(0), x) : T(__builtin_nanf(""));
  };
  complex<T> made = z;
  made.re = z.re - zero_times(z.im);
  made.im = z.im + zero_times(z.re);
  return made;
}

}  // namespace complex_parts

template <class T>
inline complex<T> exp(complex<T> z) {
  if (z.im == 0) return {exp(z.re), z.im};
  if (!isfinite(z.im)) {
    const T nan = z.im - z.im;
    if (!isinf(z.re)) return {nan, nan};
    return z.re > 0 ? complex<T>(z.re, nan) : complex<T>(T(0), copysign(T(0), z.im));
  }
  if (z.re > complex_parts::largest_exponent<T>)
    return complex_parts::at_exponent(z.re, T(1), T(1), z.im);
  const T scale = exp(z.re);
  return {scale * cos(z.im), scale * sin(z.im)};
}
template <class T>
inline complex<T> log(complex<T> z) {
  return {complex_parts::log_of_length(z.re, z.im), arg(z)};
}
template <class T>
inline complex<T> sqrt(complex<T> z) {
  using namespace complex_parts;
  T x = z.re, y = z.im;
  if (x == 0 && y == 0) return {T(0), y};
  if (isinf(y)) return {fabs(y), y};
  if (isnan(x)) return {x, x};
  if (isinf(x)) {
    const T nothing = isnan(y) ? y : T(0);
    return x > 0 ? complex<T>(x, copysign(nothing, y)) : complex<T>(nothing, copysign(fabs(x), y));
  }
  if (isnan(y)) return {y, y};
  T back = 1;
  if (fabs(x) > large<T> || fabs(y) > large<T>) {
    x /= 16, y /= 16, back = 4;
  } else if (fabs(x) < small<T> && fabs(y) < small<T>) {
    x *= T(0x1p60), y *= T(0x1p60), back = T(0x1p-30);
  }
  const T root = sqrt((fabs(x) + hypot(x, y)) / 2);
  const T other = fabs(y) / (2 * root);
  return x >= 0 ? complex<T>(root * back, copysign(other * back, y))
                : complex<T>(other * back, copysign(root * back, y));
}
template <class T>
inline complex<T> sinh(complex<T> z) {
  const T a = z.re, b = z.im;
  if (b == 0) return {sinh(a), b};
  if (!isfinite(b)) {
    const T nan = b - b;
    // C leaves the sign of this infinity open; here it is that of NumPy.
    return {a == 0 ? a : isinf(a) ? fabs(a) : nan, nan};
  }
  if (fabs(a) > complex_parts::largest_exponent<T>)
    return complex_parts::at_exponent(fabs(a), copysign(T(0.5), a), T(0.5), b);
  return {sinh(a) * cos(b), cosh(a) * sin(b)};
}
template <class T>
inline complex<T> cosh(complex<T> z) {
  const T a = z.re, b = z.im;
  if (b == 0) return {cosh(a), isnan(a) ? T(0) : copysign(T(1), a) * b};
  if (!isfinite(b)) {
    const T nan = b - b;
    if (a == 0) return {nan, T(0)};
    return {isinf(a) ? fabs(a) : nan, nan};
  }
  if (fabs(a) > complex_parts::largest_exponent<T>)
    return complex_parts::at_exponent(fabs(a), T(0.5), copysign(T(0.5), a), b);
  return {cosh(a) * cos(b), sinh(a) * sin(b)};
}
template <class T>
inline complex<T> sin(complex<T> z) {
  const complex<T> turned = sinh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
template <class T>
inline complex<T> cos(complex<T> z) {
  return cosh(complex<T>(negate(z.im), z.re));
}
/// 1 / z as NumPy has it: not as a quotient, zero becomes NaN.
template <class T>
inline complex<T> reciprocal(complex<T> z) {
  complex<T> made = z;
  if (fabs(z.im) <= fabs(z.re)) {
    const T ratio = z.im / z.re, length = z.re + z.im * ratio;
    made.re = T(1) / length;
    made.im = negate(ratio) / length;
  } else {
    const T ratio = z.re / z.im, length = z.re * ratio + z.im;
    made.re = ratio / length;
    made.im = T(-1) / length;
  }
  return made;
}
/// As NumPy has it: small whole exponents are products, zero to a negative power is NaN. That of
/// 1/2 is the root, so that kernels have the bits that `x ** 0.5` has of arrays.
template <class T>
inline complex<T> pow(complex<T> a, complex<T> b) {
  if (b.re == 0 && b.im == 0) return complex<T>(1);
  if (a.re == 0 && a.im == 0) {
    const T value = b.re > 0 ? T(0) : T(__builtin_nanf(""));
    return {value, value};
  }
  if (b.im == 0 && b.re > -100 && b.re < 100 && T(int(b.re)) == b.re) {
    int n = int(b.re);
    if (n == 1) return a;
    if (n == 2) return a * a;
    if (n == 3) return a * (a * a);
    const bool inverse = n < 0;
    if (inverse) n = 0 - n;
    complex<T> power = a, result(1);
    for (bool is_first = true;; power = power * power) {
      if (n & 1) result = is_first ? complex_parts::one_times(power) : result * power;
      is_first = is_first && !(n & 1);
      n >>= 1;
      if (n == 0) break;
    }
    return inverse ? complex<T>(1) / result : result;
  }
  if (b.im == 0 && b.re == T(0.5)) return sqrt(a);
  return exp(complex_parts::product(b, log(a)));
}

}  // namespace usmx
