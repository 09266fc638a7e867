// Discrete Fourier transforms, as Stockham ordered them: each pass of a radix r takes r elements
// that are n / r apart, and writes them where the next pass takes neighbours, so that the result is
// in order without being sorted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/complex.hpp"
#include "prelude/item.hpp"
#include "prelude/math.hpp"
#include "prelude/types.hpp"

namespace usmx::fourier {

/// exp(-2 pi i k / n), from an angle of at most pi / 4.
template <class T>
inline complex<T> root_of_one(int64_t k, int64_t n) {
  const int64_t quarters = (8 * k + n) / (2 * n);
  const int64_t rest = 4 * k - quarters * n;
  const T angle = T(1.5707963267948966192) * (T(rest) / T(n));
  const T c = cos(angle), s = sin(angle);
  complex<T> made;
  switch (quarters % 4) {
    case 0:
      made.re = c, made.im = negate(s);
      break;
    case 1:
      made.re = negate(s), made.im = negate(c);
      break;
    case 2:
      made.re = negate(c), made.im = s;
      break;
    default:
      made.re = s, made.im = c;
      break;
  }
  return made;
}

template <class T>
inline complex<T> exchanged(complex<T> z) {
  return {z.im, z.re};
}
/// -i z.
template <class T>
inline complex<T> turned(complex<T> z) {
  return {z.im, negate(z.re)};
}

/// The transform of R elements; `roots` is the table of n.
template <int R, class T>
[[gnu::always_inline]] inline void small(complex<T> (&x)[R], const complex<T>* roots, int64_t n) {
  if constexpr (R == 2) {
    const complex<T> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  } else if constexpr (R == 4) {
    const complex<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else {
    // Sums and differences of elements that stand opposite share the factors.
    constexpr int half_of = R / 2;
    complex<T> plus[half_of + 1], minus[half_of + 1], made[R];
    made[0] = x[0];
#pragma unroll
    for (int k = 1; k <= half_of; ++k) {
      plus[k] = x[k] + x[R - k];
      minus[k] = turned(x[k] - x[R - k]);
      made[0] = made[0] + plus[k];
    }
#pragma unroll
    for (int j = 1; j <= half_of; ++j) {
      complex<T> even = x[0], odd(T(0));
#pragma unroll
      for (int k = 1; k <= half_of; ++k) {
        const complex<T> root = roots[(j * k % R) * (n / R)];
        const T s = negate(root.im);
        even.re = even.re + root.re * plus[k].re;
        even.im = even.im + root.re * plus[k].im;
        odd.re = odd.re + s * minus[k].re;
        odd.im = odd.im + s * minus[k].im;
      }
      made[j] = even + odd;
      made[R - j] = even - odd;
    }
#pragma unroll
    for (int k = 0; k < R; ++k) x[k] = made[k];
  }
}

/// One pass over lines of n elements, of which passes before took a factor of `stride`. Inverse
/// transforms exchange real and imaginary parts before the first pass and after the last one.
template <int R, class T>
inline void pass(const complex<T>* from, complex<T>* to, const complex<T>* roots, int64_t n,
                 int64_t stride, int64_t count, bool exchange_first, bool exchange_last, T scale) {
  const int64_t id = int64_t(global_id());
  if (id >= count) return;
  const int64_t each = n / R, parts = each / stride;
  int64_t line, p, q;
  if (count <= 0xFFFFFFFFll) {
    line = uint32_t(id) / uint32_t(each);
    const auto inside = uint32_t(id - line * each);
    p = inside / uint32_t(stride);
    q = inside - p * stride;
  } else {
    line = id / each;
    p = (id - line * each) / stride;
    q = id - line * each - p * stride;
  }
  from += line * n + q + stride * p;
  to += line * n + q + stride * R * p;
  complex<T> x[R];
#pragma unroll
  for (int k = 0; k < R; ++k) {
    const complex<T> value = from[stride * parts * k];
    x[k] = exchange_first ? exchanged(value) : value;
  }
  small<R>(x, roots, n);
#pragma unroll
  for (int k = 0; k < R; ++k) {
    complex<T> value = k == 0 ? x[0] : x[k] * roots[p * k * stride];
    value.re = value.re * scale;
    value.im = value.im * scale;
    to[stride * k] = exchange_last ? exchanged(value) : value;
  }
}

}  // namespace usmx::fourier
