// Decompositions of matrices: a group has a matrix, or some of its columns, and its items share
// what can be done side by side. Matrices are contiguous and stand one after the other, row by row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/complex.hpp"
#include "prelude/item.hpp"
#include "prelude/math.hpp"
#include "prelude/types.hpp"

namespace usmx::linear {

// --- numbers, real or complex --------------------------------------------------------------------

template <class T>
struct real_type {
  using type = T;
};
template <class T>
struct real_type<complex<T>> {
  using type = T;
};
template <class T>
using real = typename real_type<T>::type;

template <class T>
inline T conjugate(T x) {
  return x;
}
template <class T>
inline complex<T> conjugate(complex<T> z) {
  return conj(z);
}
template <class T>
inline T real_part(T x) {
  return x;
}
template <class T>
inline T real_part(complex<T> z) {
  return z.re;
}
template <class T>
inline T imaginary_part(T) {
  return T(0);
}
template <class T>
inline T imaginary_part(complex<T> z) {
  return z.im;
}
template <class T>
inline T length(T x) {
  return fabs(x);
}
template <class T>
inline T length(complex<T> z) {
  return hypot(z.re, z.im);
}
template <class T>
inline T square(T x) {
  return x * x;
}
template <class T>
inline T square(complex<T> z) {
  return z.re * z.re + z.im * z.im;
}
template <class T>
inline T times(T x, T factor) {
  return x * factor;
}
template <class T>
inline complex<T> times(complex<T> z, T factor) {
  return {z.re * factor, z.im * factor};
}
/// A number of the length of 1 and the direction of x; 1 of 0.
template <class T>
inline T direction(T x) {
  return copysign(T(1), x);
}
template <class T>
inline complex<T> direction(complex<T> z) {
  const T size = length(z);
  if (size == 0) return {T(1), T(0)};
  return {z.re / size, z.im / size};
}

// --- groups --------------------------------------------------------------------------------------

/// The most items of a group; their number is a power of two.
inline constexpr int most_items = 256;

/// Local memory of a group.
template <class T>
struct workspace {
  T values[most_items];
  real<T> sizes[most_items];
  int64_t places[most_items];
};

inline int item() { return int(local_id()); }
inline int items() { return int(local_range()); }

/// The sum of what the items have, for all of them; always in the same order.
template <class V>
inline V sum(V* space, V own) {
  const int me = item();
  space[me] = own;
  group_barrier();
  for (int step = items() / 2; step > 0; step /= 2) {
    if (me < step) space[me] = space[me] + space[me + step];
    group_barrier();
  }
  const V all = space[0];
  group_barrier();
  return all;
}

/// The largest of what the items have; NaN is passed over.
template <class V>
inline V largest(V* space, V own) {
  const int me = item();
  space[me] = own;
  group_barrier();
  for (int step = items() / 2; step > 0; step /= 2) {
    if (me < step && space[me + step] > space[me]) space[me] = space[me + step];
    group_barrier();
  }
  const V all = space[0];
  group_barrier();
  return all;
}

// --- triangles -----------------------------------------------------------------------------------

/// Writes a matrix as L and U, with the rows exchanged so that divisors are large. `rows[k]` is the
/// row that was exchanged with row k. `failed` becomes k + 1 for the first column k without one.
template <class T>
inline void lu(workspace<T>& space, T* a, int32_t* rows, int32_t* failed, int64_t n) {
  const int64_t matrix = int64_t(group_id());
  const int me = item(), all = items();
  a += matrix * n * n;
  rows += matrix * n;
  if (me == 0) failed[matrix] = 0;
  bool none_failed = true;
  for (int64_t k = 0; k < n; ++k) {
    real<T> best = real<T>(-1);
    int64_t where = k;
    for (int64_t i = k + me; i < n; i += all) {
      const T x = a[i * n + k];
      const real<T> found = fabs(real_part(x)) + fabs(imaginary_part(x));
      // NaN counts as infinite: passed over, a column of it and of zeros would seem singular.
      const real<T> size = found == found ? found : real<T>(__builtin_inff());
      if (size > best) best = size, where = i;
    }
    space.sizes[me] = best;
    space.places[me] = where;
    group_barrier();
    for (int step = all / 2; step > 0; step /= 2) {
      if (me < step) {
        const real<T> other = space.sizes[me + step], own = space.sizes[me];
        if (other > own || (other == own && space.places[me + step] < space.places[me])) {
          space.sizes[me] = other;
          space.places[me] = space.places[me + step];
        }
      }
      group_barrier();
    }
    best = space.sizes[0];
    where = space.places[0];
    group_barrier();
    if (me == 0) {
      rows[k] = int32_t(where);
      if (best == 0 && none_failed) failed[matrix] = int32_t(k + 1);
    }
    if (best == 0) none_failed = false;
    if (where != k) {
      for (int64_t j = me; j < n; j += all) {
        const T x = a[k * n + j];
        a[k * n + j] = a[where * n + j];
        a[where * n + j] = x;
      }
    }
    group_barrier();
    const T divisor = best == 0 ? T(1) : a[k * n + k];
    for (int64_t i = k + 1 + me; i < n; i += all) a[i * n + k] = a[i * n + k] / divisor;
    group_barrier();
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k];
      for (int64_t j = k + 1 + me; j < n; j += all) {
        a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
      }
    }
    group_barrier();
  }
}

/// Solves with what `lu` made, in the place of b, n rows of m columns. Each item has columns of its
/// own; a group has `width` of them.
template <class T>
inline void solve_columns(const T* a, const int32_t* rows, T* b, int64_t n, int64_t m,
                          int64_t width) {
  const int64_t parts = (m + width - 1) / width;
  const int64_t matrix = int64_t(group_id()) / parts, part = int64_t(group_id()) % parts;
  a += matrix * n * n;
  rows += matrix * n;
  b += matrix * n * m;
  const int64_t end = (part + 1) * width < m ? (part + 1) * width : m;
  for (int64_t j = part * width + item(); j < end; j += items()) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t other = rows[k];
      const T x = b[k * m + j];
      b[k * m + j] = b[other * m + j];
      b[other * m + j] = x;
    }
    for (int64_t i = 1; i < n; ++i) {
      T x = b[i * m + j];
      for (int64_t k = 0; k < i; ++k) x = x - a[i * n + k] * b[k * m + j];
      b[i * m + j] = x;
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      T x = b[i * m + j];
      for (int64_t k = i + 1; k < n; ++k) x = x - a[i * n + k] * b[k * m + j];
      b[i * m + j] = x / a[i * n + i];
    }
  }
}

/// The same for few columns: the items share their rows.
template <class T>
inline void solve_rows(const T* a, const int32_t* rows, T* b, int64_t n, int64_t m) {
  const int64_t matrix = int64_t(group_id());
  const int me = item(), all = items();
  a += matrix * n * n;
  rows += matrix * n;
  b += matrix * n * m;
  for (int64_t j = me; j < m; j += all) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t other = rows[k];
      const T x = b[k * m + j];
      b[k * m + j] = b[other * m + j];
      b[other * m + j] = x;
    }
  }
  group_barrier();
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = k + 1 + me; i < n; i += all) {
      for (int64_t j = 0; j < m; ++j) b[i * m + j] = b[i * m + j] - a[i * n + k] * b[k * m + j];
    }
    group_barrier();
  }
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t j = me; j < m; j += all) b[k * m + j] = b[k * m + j] / a[k * n + k];
    group_barrier();
    for (int64_t i = me; i < k; i += all) {
      for (int64_t j = 0; j < m; ++j) b[i * m + j] = b[i * m + j] - a[i * n + k] * b[k * m + j];
    }
    group_barrier();
  }
}

/// Of the matrix of this item, of what `lu` made: the determinant, its direction (0 of 0) and the
/// logarithm of its length.
template <class T>
inline void determinant(const T* a, const int32_t* rows, const int32_t* failed, T* product, T* sign,
                        real<T>* logarithm, int64_t n, int64_t matrices) {
  const int64_t matrix = int64_t(global_id());
  if (matrix >= matrices) return;
  a += matrix * n * n;
  rows += matrix * n;
  T made = T(1), towards = T(1);
  real<T> sum = real<T>(0);
  for (int64_t k = 0; k < n; ++k) {
    const T x = a[k * n + k];
    made = made * x;
    const T d = direction(x);
    towards = towards * d;
    if (rows[k] != k) {
      made = T(0) - made;
      towards = T(0) - towards;
    }
    sum = sum + log(length(x));
  }
  if (failed[matrix] != 0) {
    made = towards = T(0);
    sum = negate(real<T>(__builtin_inff()));
  } else if (!(length(made) > real<T>(0)) || !isfinite(length(made))) {
    // On the way it may be too large or too small.
    made = times(towards, exp(sum));
  }
  product[matrix] = made;
  sign[matrix] = towards;
  logarithm[matrix] = sum;
}

/// Writes a Hermitian matrix, whose lower triangle is read, as L times its conjugate transpose.
/// `failed` becomes k + 1 where a root of what is not positive would be taken.
template <class T>
inline void cholesky(T* a, int32_t* failed, int64_t n) {
  const int64_t matrix = int64_t(group_id());
  const int me = item(), all = items();
  a += matrix * n * n;
  int32_t failure = 0;
  for (int64_t k = 0; k < n; ++k) {
    const real<T> square_of = real_part(a[k * n + k]);
    if (!(square_of > 0) && failure == 0) failure = int32_t(k + 1);
    const real<T> root = failure == 0 ? sqrt(square_of) : real<T>(1);
    group_barrier();
    // Row k, right of the diagonal, keeps the column as its conjugates, side by side.
    for (int64_t i = k + 1 + me; i < n; i += all) {
      const T x = a[i * n + k] / T(root);
      a[i * n + k] = x;
      a[k * n + i] = conjugate(x);
    }
    if (me == 0) a[k * n + k] = T(root);
    group_barrier();
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k];
      for (int64_t j = k + 1 + me; j <= i; j += all) {
        a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
      }
    }
    group_barrier();
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1 + me; j < n; j += all) a[i * n + j] = T(0);
  }
  if (me == 0) failed[matrix] = failure;
}

// --- reflections ---------------------------------------------------------------------------------

/// Writes a matrix of m rows and n columns as R, with the vectors of reflections below its
/// diagonal: each is I - factor v v^H, and v begins with a 1 that is not stored.
template <class T>
inline void qr(workspace<T>& space, T* a, T* factors, int64_t m, int64_t n) {
  using R = real<T>;
  const int64_t matrix = int64_t(group_id());
  const int me = item(), all = items();
  const int64_t steps = m < n ? m : n;
  a += matrix * m * n;
  factors += matrix * steps;
  for (int64_t k = 0; k < steps; ++k) {
    R most = R(0);
    for (int64_t i = k + 1 + me; i < m; i += all) {
      const R size = length(a[i * n + k]);
      if (!(size <= most)) most = size;
    }
    most = largest(space.sizes, most);
    const R scale = most > 0 && isfinite(most) ? most : R(1);
    R squares = R(0);
    for (int64_t i = k + 1 + me; i < m; i += all) {
      squares = squares + square(times(a[i * n + k], R(1) / scale));
    }
    const R below = scale * sqrt(sum(space.sizes, squares));
    const T alpha = a[k * n + k];
    T factor = T(0);
    group_barrier();
    if (!(below == 0 && imaginary_part(alpha) == 0)) {
      const R size = hypot(length(alpha), below);
      const R beta = real_part(alpha) < 0 ? size : R(0) - size;
      const T difference = alpha - T(beta);
      factor = (T(beta) - alpha) / T(beta);
      for (int64_t i = k + 1 + me; i < m; i += all) a[i * n + k] = a[i * n + k] / difference;
      if (me == 0) a[k * n + k] = T(beta);
    }
    if (me == 0) factors[k] = factor;
    group_barrier();
    const T turned = conjugate(factor);
    for (int64_t j = k + 1 + me; j < n; j += all) {
      T w = a[k * n + j];
      for (int64_t i = k + 1; i < m; ++i) w = w + conjugate(a[i * n + k]) * a[i * n + j];
      w = turned * w;
      a[k * n + j] = a[k * n + j] - w;
      for (int64_t i = k + 1; i < m; ++i) a[i * n + j] = a[i * n + j] - a[i * n + k] * w;
    }
    group_barrier();
  }
}

/// The first columns of the product of the reflections that `qr` made. A group has `width` of them.
template <class T>
inline void reflections(const T* a, const T* factors, T* q, int64_t m, int64_t n, int64_t columns,
                        int64_t width) {
  const int64_t parts = (columns + width - 1) / width;
  const int64_t matrix = int64_t(group_id()) / parts, part = int64_t(group_id()) % parts;
  const int64_t steps = m < n ? m : n;
  a += matrix * m * n;
  factors += matrix * steps;
  q += matrix * m * columns;
  const int64_t end = (part + 1) * width < columns ? (part + 1) * width : columns;
  for (int64_t j = part * width + item(); j < end; j += items()) {
    for (int64_t i = 0; i < m; ++i) q[i * columns + j] = i == j ? T(1) : T(0);
    for (int64_t k = steps - 1; k >= 0; --k) {
      T w = q[k * columns + j];
      for (int64_t i = k + 1; i < m; ++i) w = w + conjugate(a[i * n + k]) * q[i * columns + j];
      w = factors[k] * w;
      q[k * columns + j] = q[k * columns + j] - w;
      for (int64_t i = k + 1; i < m; ++i) {
        q[i * columns + j] = q[i * columns + j] - a[i * n + k] * w;
      }
    }
  }
}

// --- rotations -----------------------------------------------------------------------------------

/// Makes two of n vectors of m elements orthogonal, as Jacobi did, and turns the vectors of v
/// alike. In each of the `n - 1` or `n` steps of a sweep every vector is in one pair; a group has
/// one. `n` may be odd. `turned` counts for each matrix the pairs that were not orthogonal.
template <class T>
inline void jacobi(workspace<T>& space, T* x, T* v, int32_t* turned, int64_t m, int64_t n,
                   int64_t step, real<T> tolerance) {
  using R = real<T>;
  const int64_t even = n + n % 2, pairs = even / 2;
  const int64_t matrix = int64_t(group_id()) / pairs, pair = int64_t(group_id()) % pairs;
  const int me = item(), all = items();
  // One stays, the others go around.
  int64_t p = pair == 0 ? even - 1 : (step + pair) % (even - 1);
  int64_t q = (step + even - 1 - pair) % (even - 1);
  if (p > q) {
    const int64_t other = p;
    p = q;
    q = other;
  }
  const bool is_pair = q < n;
  if (!is_pair) q = p;
  x += matrix * n * m;
  v += matrix * n * n;
  R own_p = R(0), own_q = R(0);
  T own_product = T(0);
  for (int64_t i = me; i < m; i += all) {
    const T a = x[p * m + i], b = x[q * m + i];
    own_p = own_p + square(a);
    own_q = own_q + square(b);
    own_product = own_product + conjugate(a) * b;
  }
  const R length_p = sum(space.sizes, own_p), length_q = sum(space.sizes, own_q);
  const T product = sum(space.values, own_product);
  const R size = length(product);
  // The largest element was made 1. Squares of what is much smaller have no digits left.
  constexpr R least = sizeof(R) == 8 ? R(1e-280) : R(1e-30);
  const bool turns = is_pair && length_p > least && length_q > least &&
                     size > tolerance * sqrt(length_p) * sqrt(length_q);
  if (turns) {
    const R zeta = (length_q - length_p) / (R(2) * size);
    const R root = fabs(zeta) + hypot(R(1), zeta);
    const R tangent = zeta < 0 ? R(-1) / root : R(1) / root;
    const R c = R(1) / sqrt(R(1) + tangent * tangent), s = c * tangent;
    const T back = conjugate(direction(product));
    for (int64_t i = me; i < m; i += all) {
      const T a = x[p * m + i], b = back * x[q * m + i];
      x[p * m + i] = times(a, c) - times(b, s);
      x[q * m + i] = times(a, s) + times(b, c);
    }
    for (int64_t i = me; i < n; i += all) {
      const T a = v[p * n + i], b = back * v[q * n + i];
      v[p * n + i] = times(a, c) - times(b, s);
      v[q * n + i] = times(a, s) + times(b, c);
    }
    if (me == 0) turned[matrix * pairs + pair] = 1;
  }
}

/// For each number its place among the n of its row, the largest first; NaN counts as infinite.
template <class R>
inline void places(const R* values, int64_t* place, int64_t n, int64_t count) {
  const int64_t id = int64_t(global_id());
  if (id >= count) return;
  const int64_t row = id / n * n;
  const auto of = [&](int64_t k) {
    return values[k] == values[k] ? values[k] : R(__builtin_inff());
  };
  const R own = of(id);
  int64_t before = 0;
  for (int64_t k = row; k < row + n; ++k) {
    const R other = of(k);
    before += other > own || (other == own && k < id) ? 1 : 0;
  }
  place[id] = row + before;
}

// --- eigenvalues of any matrix -------------------------------------------------------------------

/// Multiplies rows p and q of a matrix from the left by [[c, s], [-conj(s), c]].
template <class T>
inline void turn_rows(T* a, int64_t n, int64_t p, int64_t q, int64_t begin, int64_t end, real<T> c,
                      T s) {
  for (int64_t j = begin + item(); j < end; j += items()) {
    const T x = a[p * n + j], y = a[q * n + j];
    a[p * n + j] = times(x, c) + s * y;
    a[q * n + j] = times(y, c) - conjugate(s) * x;
  }
}
/// Multiplies columns p and q from the right by the conjugate transpose of that.
template <class T>
inline void turn_columns(T* a, int64_t n, int64_t p, int64_t q, int64_t begin, int64_t end,
                         real<T> c, T s) {
  for (int64_t i = begin + item(); i < end; i += items()) {
    const T x = a[i * n + p], y = a[i * n + q];
    a[i * n + p] = times(x, c) + conjugate(s) * y;
    a[i * n + q] = times(y, c) - s * x;
  }
}

/// The square root, of which both parts may have any size that occurs in matrices of size 1.
template <class T>
inline complex<T> root_of(complex<T> z) {
  const T size = length(z);
  if (size == 0) return {T(0), T(0)};
  const T half_root = sqrt((size + fabs(z.re)) / T(2));
  if (z.re >= 0) return {half_root, z.im / (T(2) * half_root)};
  return {fabs(z.im) / (T(2) * half_root), copysign(half_root, z.im)};
}

/// Writes a complex matrix as z t z^H, with t upper triangular in its place: Hessenberg's form by
/// rotations, then shifted QR steps. `failed` becomes the number of eigenvalues that are missing.
template <class T>
inline void schur(T* a, T* z, int32_t* failed, int64_t n, real<T> epsilon) {
  using R = real<T>;
  const int64_t matrix = int64_t(group_id());
  const int me = item(), all = items();
  a += matrix * n * n;
  z += matrix * n * n;
  for (int64_t i = me; i < n * n; i += all) z[i] = i % (n + 1) == 0 ? T(1) : T(0);
  group_barrier();

  // The rotation that makes y of (x, y) zero.
  const auto rotation = [](T x, T y, R* c, T* s) {
    const R size_x = length(x), size_y = length(y);
    if (size_y == 0) {
      *c = R(1), *s = T(0);
    } else if (size_x == 0) {
      *c = R(0), *s = conjugate(direction(y));
    } else {
      const R size = hypot(size_x, size_y);
      *c = size_x / size;
      *s = times(direction(x) * conjugate(y), R(1) / size);
    }
  };
  const auto turn = [&](int64_t p, int64_t q, int64_t first, int64_t last, R c, T s) {
    turn_rows(a, n, p, q, first, n, c, s);
    group_barrier();
    turn_columns(a, n, p, q, 0, last, c, s);
    turn_columns(z, n, p, q, 0, n, c, s);
    group_barrier();
  };

  R c;
  T s;
  for (int64_t k = 0; k + 2 < n; ++k) {
    for (int64_t i = n - 1; i > k + 1; --i) {
      rotation(a[(i - 1) * n + k], a[i * n + k], &c, &s);
      group_barrier();
      turn(i - 1, i, k, n, c, s);
      if (me == 0) a[i * n + k] = T(0);
      group_barrier();
    }
  }

  const auto one_norm = [](T x) { return fabs(x.re) + fabs(x.im); };
  int64_t high = n - 1, tries = 0;
  // NaN and infinities would never end; so each eigenvalue has a number of tries.
  while (high > 0 && tries < 60) {
    int64_t low = high;
    while (low > 0) {
      R around = one_norm(a[low * n + low]) + one_norm(a[(low - 1) * n + low - 1]);
      if (around == 0) around = R(1);
      if (one_norm(a[low * n + low - 1]) <= epsilon * around) break;
      --low;
    }
    group_barrier();
    if (low > 0 && me == 0) a[low * n + low - 1] = T(0);
    group_barrier();
    if (low == high) {
      --high;
      tries = 0;
    } else {
      ++tries;
      // The eigenvalue of the last two rows and columns that is closer to the last element.
      const T last = a[high * n + high];
      T shift = last;
      if (tries % 10 == 0) {
        shift = last + T(R(0.75) * one_norm(a[high * n + high - 1]));
      } else {
        const T upper = a[(high - 1) * n + high - 1];
        const T product = a[(high - 1) * n + high] * a[high * n + high - 1];
        const T half_of = times(upper - last, R(0.5));
        const T root = root_of(half_of * half_of + product);
        const T plus = half_of + root, minus = half_of - root;
        const T larger = one_norm(plus) >= one_norm(minus) ? plus : minus;
        if (one_norm(larger) > 0) shift = last - product / larger;
      }
      T x = a[low * n + low] - shift, y = a[(low + 1) * n + low];
      for (int64_t k = low; k < high; ++k) {
        if (k > low) x = a[k * n + k - 1], y = a[(k + 1) * n + k - 1];
        rotation(x, y, &c, &s);
        group_barrier();
        const int64_t last_row = k + 3 < high + 1 ? k + 3 : high + 1;
        turn(k, k + 1, k > low ? k - 1 : k, last_row, c, s);
        if (k > low && me == 0) a[(k + 1) * n + k - 1] = T(0);
        group_barrier();
      }
    }
  }
  if (me == 0) failed[matrix] = int32_t(high > 0 ? high : 0);
}

/// The eigenvectors of upper triangular matrices, as columns of length 1 at most. Each item has
/// one.
template <class T>
inline void triangular_vectors(const T* a, T* x, int64_t n, int64_t count, real<T> epsilon) {
  using R = real<T>;
  const int64_t id = int64_t(global_id());
  if (id >= count) return;
  const int64_t matrix = id / n, k = id % n;
  a += matrix * n * n;
  x += matrix * n * n;
  R most = R(0);
  for (int64_t i = 0; i <= k; ++i) {
    const R size = length(a[i * n + i]);
    if (size > most) most = size;
  }
  const R least = most > 0 ? epsilon * most : epsilon;
  for (int64_t i = n - 1; i > k; --i) x[i * n + k] = T(0);
  x[k * n + k] = T(1);
  for (int64_t i = k - 1; i >= 0; --i) {
    T sum = T(0);
    for (int64_t j = i + 1; j <= k; ++j) sum = sum + a[i * n + j] * x[j * n + k];
    T divisor = a[k * n + k] - a[i * n + i];
    if (length(divisor) < least) divisor = T(least);
    const T value = sum / divisor;
    x[i * n + k] = value;
    // Vectors of matrices that are nearly defective grow: what is found so far is made smaller.
    const R size = length(value);
    if (size > R(1e10)) {
      for (int64_t j = i; j <= k; ++j) x[j * n + k] = times(x[j * n + k], R(1) / size);
    }
  }
}

}  // namespace usmx::linear
