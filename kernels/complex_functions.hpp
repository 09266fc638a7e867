// The functions of complex numbers that kernels seldom need: tangents, the inverse functions, and
// those that are exact near 0. Special values are those of Annex G of C, as in complex.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/complex.hpp"
#include "prelude/math.hpp"

namespace usmx {

template <class T>
inline complex<T> tanh(complex<T> z) {
  const T x = z.re, y = z.im;
  if (isnan(x)) return {x, y == 0 ? y : x};
  // As C99 had it, and as the standard of arrays; C17 and NumPy give the zero the sign of sin(2 y).
  if (isinf(x)) return {copysign(T(1), x), copysign(T(0), y)};
  if (!isfinite(y)) return {x == 0 ? x : y - y, y - y};
  // Beyond, 1 - |tanh(x)| is less than a half unit in the last place.
  if (fabs(x) >= T(22)) {
    const T small = exp(-fabs(x));
    return {copysign(T(1), x), T(4) * sin(y) * cos(y) * small * small};
  }
  // W. Kahan, "Branch cuts for complex elementary functions" (1987).
  const T t = tan(y), beta = T(1) + t * t, s = sinh(x), rho = sqrt(T(1) + s * s);
  if (isinf(t)) return {rho / s, T(1) / t};
  const T below = T(1) + beta * s * s;
  return {beta * rho * s / below, t / below};
}
template <class T>
inline complex<T> tan(complex<T> z) {
  const complex<T> turned = tanh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}

namespace complex_parts {

template <class T>
inline constexpr T epsilon = sizeof(T) == 8 ? T(0x1p-52) : T(0x1p-23);
/// From here on 1 is nothing next to a square, and squares do not overflow before.
template <class T>
inline constexpr T huge = sizeof(T) == 8 ? T(0x1p54) : T(0x1p25);
template <class T>
inline constexpr T half_pi = T(1.57079632679489661923);
template <class T>
inline constexpr T ln2 = T(0.69314718055994530942);

/// Also of zeros.
template <class T>
inline bool is_negative(T x) {
  return copysign(T(1), x) < 0;
}

/// (hypot(a, b) - b) / 2 without a difference of near numbers.
template <class T>
inline T half_excess(T a, T b, T length) {
  if (b < 0) return (length - b) / 2;
  if (b == 0) return a / 2;
  return a * a / (length + b) / 2;
}

/// What the inverse sine and cosine of x + iy are made of, of x and y >= 0 and below `huge`: the
/// size of the imaginary part, and two legs of a triangle with the angle of the sine. T. Hull,
/// T. Fairgrieve and P. Tang, "Implementing the complex arcsine and arccosine functions using
/// exception handling" (1997).
template <class T>
struct inverse_sine_parts {
  T height, sine, cosine;

  inverse_sine_parts(T x, T y) {
    const T r = hypot(x + 1, y), s = hypot(x - 1, y);
    T a = (r + s) / 2;
    if (a < 1) a = 1;
    const T gap = fabs(x - 1);
    const bool is_near = y < epsilon<T> * gap;  // y does not count next to the distance from 1
    if (x == 1 && y < epsilon<T> * epsilon<T> / 128) {
      height = sqrt(y);
    } else if (a < 10) {
      if (!is_near) {
        const T beyond = half_excess(y, 1 + x, r) + half_excess(y, 1 - x, s);
        height = log1p(beyond + sqrt(beyond * (a + 1)));
      } else if (x < 1) {
        height = y / sqrt((1 - x) * (1 + x));
      } else {
        height = log1p((x - 1) + sqrt((x - 1) * (x + 1)));
      }
    } else {
      height = log(a + sqrt(a * a - 1));
    }
    sine = x;
    if (x == 1 && y < epsilon<T> / 128) {
      cosine = sqrt(y) * sqrt((a + x) / 2);
    } else if (!is_near) {
      const T beyond = half_excess(y, x + 1, r) + half_excess(y, x - 1, s);
      cosine = sqrt(beyond * (a + x));
    } else if (x > 1) {
      // Both larger by what the smallest numbers would lose.
      constexpr T up = T(4) / epsilon<T> / epsilon<T>;
      cosine = y * up * x / sqrt((x + 1) * (x - 1));
      sine = x * up;
    } else {
      cosine = sqrt((1 - x) * (1 + x));
    }
  }
};

}  // namespace complex_parts

template <class T>
inline complex<T> acos(complex<T> z) {
  using namespace complex_parts;
  const T x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {y + y, T(-__builtin_inff())};
    if (isinf(y)) return {x + x, negate(y)};
    if (x == 0) return {half_pi<T>, y + y};
    return {x + y, x + y};
  }
  if (ax > huge<T> || ay > huge<T>) {
    const T height = log_of_length(ax, ay) + ln2<T>;
    // Of two infinities the angle is that of the diagonal.
    return {atan2(ay, x), is_negative(y) ? height : -height};
  }
  if (x == 1 && y == 0) return {T(0), negate(y)};
  const inverse_sine_parts<T> parts(ax, ay);
  return {atan2(parts.cosine, copysign(parts.sine, x)),
          is_negative(y) ? parts.height : negate(parts.height)};
}
template <class T>
inline complex<T> asin(complex<T> z) {
  using namespace complex_parts;
  const T x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
  if (isnan(x) || isnan(y)) {
    // C leaves the sign of this infinity open; here it is that of NumPy.
    if (isinf(x)) return {y + y, ax};
    if (isinf(y)) return {x + x, y};
    if (x == 0) return {x, y + y};
    return {x + y, x + y};
  }
  if (ax > huge<T> || ay > huge<T>)
    return {copysign(atan2(ax, ay), x), copysign(log_of_length(ax, ay) + ln2<T>, y)};
  if (x == 0 && y == 0) return z;
  const inverse_sine_parts<T> parts(ax, ay);
  return {copysign(atan2(parts.sine, parts.cosine), x), copysign(parts.height, y)};
}
template <class T>
inline complex<T> asinh(complex<T> z) {
  const complex<T> turned = asin(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}
template <class T>
inline complex<T> acosh(complex<T> z) {
  const complex<T> w = acos(z);
  if (isnan(w.re) && isnan(w.im)) return {w.im, w.re};
  if (isnan(w.re)) return {fabs(w.im), w.re};
  // Of i NaN the real part is NaN, and the angle is known.
  if (isnan(w.im)) return {w.im, z.re == 0 ? w.re : w.im};
  return {fabs(w.im), copysign(w.re, z.im)};
}

template <class T>
inline complex<T> atanh(complex<T> z) {
  using namespace complex_parts;
  const T x = z.re, y = z.im, ax = fabs(x), ay = fabs(y);
  if (y == 0 && ax <= 1) return {atanh(x), y};
  if (x == 0) return {x, atan(y)};
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {copysign(T(0), x), y + y};
    if (isinf(y)) return {copysign(T(0), x), copysign(half_pi<T>, y)};
    return {x + y, x + y};
  }
  if (ax > huge<T> || ay > huge<T>) {
    T small = T(0);
    if (isfinite(ax) && isfinite(ay))
      small = ax > ay ? T(1) / (ax + ay * (ay / ax)) : (ax / ay) / (ay + ax * (ax / ay));
    return {copysign(small, x), copysign(half_pi<T>, y)};
  }
  T height;
  if (ax == 1 && ay < epsilon<T>) {
    height = (ln2<T> - log(ay)) / 2;
  } else {
    const T gap = ax - 1;
    height = log1p(4 * ax / (gap * gap + ay * ay)) / 4;
  }
  T angle;
  if (ax == 1)
    angle = atan2(T(2), -ay) / 2;
  else if (ay < epsilon<T>)
    angle = atan2(2 * ay, (1 - ax) * (1 + ax)) / 2;
  else
    angle = atan2(2 * ay, (1 - ax) * (1 + ax) - ay * ay) / 2;
  return {copysign(height, x), copysign(angle, y)};
}
template <class T>
inline complex<T> atan(complex<T> z) {
  const complex<T> turned = atanh(complex<T>(z.im, z.re));
  return {turned.im, turned.re};
}

template <class T>
inline complex<T> expm1(complex<T> z) {
  if (z.im == 0) return {z.re == 0 ? T(0) : expm1(z.re), z.im};  // +0 of both zeros: the standard
  if (!isfinite(z.im) || z.re > complex_parts::largest_exponent<T>) {
    const complex<T> power = exp(z);
    return {power.re - 1, power.im};
  }
  const T s = sin(z.im / 2);
  return {expm1(z.re) * cos(z.im) - 2 * s * s, exp(z.re) * sin(z.im)};
}
template <class T>
inline complex<T> exp2(complex<T> z) {
  const complex<T> natural(z.re * complex_parts::ln2<T>, z.im * complex_parts::ln2<T>);
  if (z.im == 0) return {exp2(z.re), z.im};
  if (!isfinite(z.im) || natural.re > complex_parts::largest_exponent<T>) return exp(natural);
  const T scale = exp2(z.re);
  return {scale * cos(natural.im), scale * sin(natural.im)};
}
template <class T>
inline complex<T> log1p(complex<T> z) {
  const T x = z.re, y = z.im;
  const T angle = atan2(y, x + 1);
  if (fabs(x) < T(0.5) && fabs(y) < T(0.5)) {
    // |1 + z|^2 - 1; where 2 x and y^2 cancel, their sum is exact.
    const T xx = x * x, yy = y * y;
    const T rest = fma(x, x, -xx) + fma(y, y, -yy);
    return {log1p(((2 * x + yy) + xx) + rest) / 2, angle};
  }
  return {complex_parts::log_of_length(x + 1, y), angle};
}
template <class T>
inline complex<T> log2(complex<T> z) {
  const complex<T> natural = log(z);
  return {natural.re * T(1.44269504088896340736), natural.im * T(1.44269504088896340736)};
}
template <class T>
inline complex<T> log10(complex<T> z) {
  const complex<T> natural = log(z);
  return {natural.re * T(0.43429448190325182765), natural.im * T(0.43429448190325182765)};
}

/// z / |z|. Beyond the largest length NumPy has 1j, of all numbers.
template <class T>
inline complex<T> sign(complex<T> z) {
  const T nan = T(__builtin_nanf(""));
  if (isinf(z.re) && isinf(z.im)) return {nan, nan};
  if (isinf(z.re)) return {copysign(T(1), z.re), T(0)};
  if (isinf(z.im)) return {T(0), copysign(T(1), z.im)};
  // A length beyond the largest number is that of a smaller one.
  if (fabs(z.re) > complex_parts::large<T> || fabs(z.im) > complex_parts::large<T>) {
    z = {z.re * T(0.25), z.im * T(0.25)};
  }
  const T length = abs(z);
  if (isnan(length)) return {nan, nan};
  if (length == 0) return {T(0), T(0)};
  return {z.re / length, z.im / length};
}

}  // namespace usmx
