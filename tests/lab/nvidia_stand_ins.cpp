// cuBLAS, cuSOLVER and cuFFT for machines without a GPU: the functions that usmx calls, computed on
// the host with plain loops when they are called. They record each call, and refuse one if the test
// says so. Matrices are in Fortran's order, as in the true libraries.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <numbers>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "call_log.hpp"

namespace {

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
template <class T>
using real = typename real_of<T>::type;

template <class T>
T conjugate(T x) {
  if constexpr (std::is_same_v<T, real<T>>) {
    return x;
  } else {
    return std::conj(x);
  }
}

/// A matrix in Fortran's order.
template <class T>
struct matrix {
  T* first;
  std::ptrdiff_t lead;
  T& operator()(std::ptrdiff_t row, std::ptrdiff_t column) const {
    return first[row + column * lead];
  }
};

// --- products ------------------------------------------------------------------------------------

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                     : exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
std::uint16_t to_half(float x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const float size = std::fabs(x);
  if (std::isnan(x)) return 0x7e00;
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (size < std::ldexp(1.0F, -14))
    return static_cast<std::uint16_t>(sign |
                                      static_cast<int>(std::nearbyint(std::ldexp(size, 24))));
  int exponent = 0;
  const float fraction = std::frexp(size, &exponent);
  const int digits = static_cast<int>(std::nearbyint(std::ldexp(fraction, 11)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + (digits - 1024)));
}
struct half {
  std::uint16_t bits;
};
struct brain {
  std::uint16_t bits;
};
template <class T>
auto read(const T& x) {
  if constexpr (std::is_same_v<T, half>) {
    return from_half(x.bits);
  } else if constexpr (std::is_same_v<T, brain>) {
    const std::uint32_t wide = static_cast<std::uint32_t>(x.bits) << 16;
    float made = 0;
    std::memcpy(&made, &wide, 4);
    return made;
  } else {
    return x;
  }
}
template <class T, class Sum>
T written(Sum x) {
  if constexpr (std::is_same_v<T, half>) {
    return {to_half(x)};
  } else if constexpr (std::is_same_v<T, brain>) {
    std::uint32_t wide = 0;
    std::memcpy(&wide, &x, 4);
    wide += 0x7fff + (wide >> 16 & 1);
    return {static_cast<std::uint16_t>(wide >> 16)};
  } else {
    return x;
  }
}

template <class T>
void multiply(int turn_a, int turn_b, int m, int n, int k, const void* alpha, const void* a,
              int lda, long long step_a, const void* b, int ldb, long long step_b, const void* beta,
              void* c, int ldc, long long step_c, int count) {
  using Sum = decltype(read(T{}));
  const Sum one = *static_cast<const Sum*>(alpha), rest = *static_cast<const Sum*>(beta);
  for (int batch = 0; batch < count; ++batch) {
    const matrix<const T> x{static_cast<const T*>(a) + batch * step_a, lda};
    const matrix<const T> y{static_cast<const T*>(b) + batch * step_b, ldb};
    const matrix<T> z{static_cast<T*>(c) + batch * step_c, ldc};
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        Sum sum{};
        for (int i = 0; i < k; ++i) {
          sum += read(turn_a != 0 ? x(i, row) : x(row, i)) *
                 read(turn_b != 0 ? y(column, i) : y(i, column));
        }
        sum *= one;
        if (rest != Sum{}) sum += rest * read(z(row, column));
        z(row, column) = written<T>(sum);
      }
    }
  }
}

// --- decompositions ------------------------------------------------------------------------------

template <class T>
void lu(int n, T* first, int lead, int* exchanged, int* info) {
  const matrix<T> a{first, lead};
  *info = 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    exchanged[k] = best + 1;
    if (!(std::abs(a(best, k)) > 0)) {  // NaN too
      if (*info == 0) *info = k + 1;
      continue;
    }
    for (int j = 0; j < n; ++j) std::swap(a(k, j), a(best, j));
    for (int i = k + 1; i < n; ++i) {
      a(i, k) /= a(k, k);
      for (int j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
}

template <class T>
void solve(int turned, int n, int sides, const T* first, int lead, const int* exchanged, T* right,
           int lead_b) {
  const matrix<const T> a{first, lead};
  for (int side = 0; side < sides; ++side) {
    T* const x = right + static_cast<std::ptrdiff_t>(side) * lead_b;
    if (turned == 0) {
      for (int k = 0; k < n; ++k) std::swap(x[k], x[exchanged[k] - 1]);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) x[i] -= a(i, j) * x[j];
      for (int i = n; i-- > 0;) {
        for (int j = i + 1; j < n; ++j) x[i] -= a(i, j) * x[j];
        x[i] /= a(i, i);
      }
    } else {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) x[i] -= a(j, i) * x[j];
        x[i] /= a(i, i);
      }
      for (int i = n; i-- > 0;)
        for (int j = i + 1; j < n; ++j) x[i] -= a(j, i) * x[j];
      for (int k = n; k-- > 0;) std::swap(x[k], x[exchanged[k] - 1]);
    }
  }
}

/// The lower triangle L of L L^H.
template <class T>
void cholesky(int n, T* first, int lead, int* info) {
  const matrix<T> a{first, lead};
  *info = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      T sum = a(i, j);
      for (int k = 0; k < j; ++k) sum -= a(i, k) * conjugate(a(j, k));
      if (j < i) {
        a(i, j) = sum / a(j, j);
      } else if (!(std::real(sum) > 0)) {
        *info = i + 1;
        return;
      } else {
        a(i, i) = std::sqrt(std::real(sum));
      }
    }
  }
}

template <class T>
void apply(const T* v, int m, int from, T factor, T* column) {
  T sum{};
  for (int i = from; i < m; ++i) sum += conjugate(i == from ? T(1) : v[i]) * column[i];
  for (int i = from; i < m; ++i) column[i] -= factor * (i == from ? T(1) : v[i]) * sum;
}

template <class T>
void qr(int m, int n, T* first, int lead, T* factors) {
  const matrix<T> a{first, lead};
  for (int k = 0; k < std::min(m, n); ++k) {
    real<T> rest = 0;
    for (int i = k + 1; i < m; ++i) rest += std::norm(a(i, k));
    const T alpha = a(k, k);
    factors[k] = T{};
    if (rest == 0 && std::imag(alpha) == 0) continue;
    const real<T> size = std::sqrt(std::norm(alpha) + rest);
    const real<T> beta = std::real(alpha) > 0 ? -size : size;
    factors[k] = (T(beta) - alpha) / T(beta);
    for (int i = k + 1; i < m; ++i) a(i, k) /= alpha - T(beta);
    a(k, k) = T(beta);
    for (int j = k + 1; j < n; ++j) apply(&a(0, k), m, k, conjugate(factors[k]), &a(0, j));
  }
}

template <class T>
void columns(int m, int n, int k, T* first, int lead, const T* factors) {
  const matrix<T> a{first, lead};
  std::vector<T> q(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const matrix<T> made{q.data(), m};
  for (int j = 0; j < n; ++j) made(j, j) = T(1);
  for (int i = k; i-- > 0;)
    for (int j = 0; j < n; ++j) apply(&a(0, i), m, i, factors[i], &made(0, j));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) a(i, j) = made(i, j);
}

/// Turns columns p and q of x, and those of v, so that they are orthogonal. Whether they were.
template <class T>
bool turn(const matrix<T>& x, int m, const matrix<T>& v, int n, int p, int q) {
  real<T> alpha = 0, beta = 0;
  T gamma{};
  for (int i = 0; i < m; ++i) {
    alpha += std::norm(x(i, p));
    beta += std::norm(x(i, q));
    gamma += conjugate(x(i, p)) * x(i, q);
  }
  const real<T> size = std::abs(gamma);
  if (size == 0 || size <= std::numeric_limits<real<T>>::epsilon() * std::sqrt(alpha * beta))
    return true;
  const T direction = gamma / size;
  const real<T> zeta = (beta - alpha) / (2 * size);
  const real<T> t =
      (zeta >= 0 ? real<T>(1) : real<T>(-1)) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const real<T> c = 1 / std::sqrt(1 + t * t), s = c * t;
  const auto mix = [&](T& a, T& b) {
    const T old = a, other = b * conjugate(direction);
    a = c * old - s * other;
    b = s * old + c * other;
  };
  for (int i = 0; i < m; ++i) mix(x(i, p), x(i, q));
  for (int i = 0; i < n; ++i) mix(v(i, p), v(i, q));
  return false;
}

/// Singular values, descending, and vectors of a matrix of m >= n rows: u of `u_columns` columns.
template <class T>
void svd(int m, int n, T* first, int lead, real<T>* values, T* u, int lead_u, int u_columns, T* v,
         int lead_v, bool adjoint) {
  std::vector<T> turned(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  std::vector<T> right(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const matrix<T> a{first, lead}, x{turned.data(), m}, w{right.data(), n};
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) x(i, j) = a(i, j);
    w(j, j) = T(1);
  }
  for (int sweep = 0, done = 0; sweep < 60 && done == 0; ++sweep) {
    done = 1;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q)
        if (!turn(x, m, w, n, p, q)) done = 0;
  }
  std::vector<real<T>> lengths(static_cast<std::size_t>(n));
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](int j) -> real<T>& { return lengths[static_cast<std::size_t>(j)]; };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) length(j) += std::norm(x(i, j));
    length(j) = std::sqrt(length(j));
  }
  std::ranges::stable_sort(order, [&](int p, int q) { return length(p) > length(q); });
  for (int j = 0; j < n; ++j) values[j] = length(order[static_cast<std::size_t>(j)]);
  if (u == nullptr) return;
  const matrix<T> left{u, lead_u}, its{v, lead_v};
  for (int j = 0; j < u_columns; ++j) {
    const int from = j < n ? order[static_cast<std::size_t>(j)] : -1;
    const bool is_made = from >= 0 && length(from) > 0;
    for (int i = 0; i < m; ++i) left(i, j) = is_made ? x(i, from) / length(from) : T{};
    // Others are what is orthogonal to those before.
    for (int unit = 0; !is_made && unit < m; ++unit) {
      for (int i = 0; i < m; ++i) left(i, j) = T(i == unit ? 1 : 0);
      for (int again = 0; again < 2; ++again) {
        for (int k = 0; k < j; ++k) {
          T sum{};
          for (int i = 0; i < m; ++i) sum += conjugate(left(i, k)) * left(i, j);
          for (int i = 0; i < m; ++i) left(i, j) -= sum * left(i, k);
        }
      }
      real<T> size = 0;
      for (int i = 0; i < m; ++i) size += std::norm(left(i, j));
      if (size < real<T>(0.01) / static_cast<real<T>>(m)) continue;
      for (int i = 0; i < m; ++i) left(i, j) /= std::sqrt(size);
      break;
    }
  }
  for (int j = 0; j < n; ++j) {
    const int from = order[static_cast<std::size_t>(j)];
    for (int i = 0; i < n; ++i) {
      if (adjoint) {
        its(j, i) = conjugate(w(i, from));
      } else {
        its(i, j) = w(i, from);
      }
    }
  }
}

/// Of the Hermitian matrix whose lower triangle is read, by moving it until no eigenvalue is
/// negative: then singular values are eigenvalues.
template <class T>
void eigh(int n, T* first, int lead, real<T>* values, bool vectors) {
  const matrix<T> a{first, lead};
  std::vector<T> whole(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)), left = whole,
                                                                                   right = whole;
  const matrix<T> x{whole.data(), n}, v{right.data(), n};
  real<T> shift = 0;
  for (int j = 0; j < n; ++j) {
    x(j, j) = T(std::real(a(j, j)));
    for (int i = j + 1; i < n; ++i) {
      x(i, j) = a(i, j);
      x(j, i) = conjugate(a(i, j));
    }
  }
  for (int i = 0; i < n; ++i) {
    real<T> sum = 0;
    for (int j = 0; j < n; ++j) sum += std::abs(x(i, j));
    shift = std::max(shift, sum);
  }
  for (int j = 0; j < n; ++j) x(j, j) += shift;
  std::vector<real<T>> found(static_cast<std::size_t>(n));
  svd(n, n, whole.data(), n, found.data(), left.data(), n, n, right.data(), n, false);
  for (int j = 0; j < n; ++j) values[n - 1 - j] = found[static_cast<std::size_t>(j)] - shift;
  for (int j = 0; vectors && j < n; ++j)
    for (int i = 0; i < n; ++i) a(i, n - 1 - j) = v(i, j);
}

// --- transforms ----------------------------------------------------------------------------------

struct transform {
  bool is_made = false;
  long long n = 0, step = 0, from = 0, to = 0, count = 0;
  int type = 0;
};
std::vector<transform> transforms;

/// cuFFT reads and writes two parts at once, also of real numbers.
template <class Part>
bool are_misaligned(const void* from, const void* to) {
  constexpr std::uintptr_t pair = 2 * sizeof(Part);
  return reinterpret_cast<std::uintptr_t>(from) % pair != 0 ||
         reinterpret_cast<std::uintptr_t>(to) % pair != 0;
}

/// `get(k)` and `put(k, value)` of each line.
template <class T, class In, class Out>
void transform_lines(int number, const In* given, Out* made, int way) {
  const transform t = transforms[static_cast<std::size_t>(number)];
  constexpr bool from_complex = !std::is_same_v<In, T>, to_complex = !std::is_same_v<Out, T>;
  const auto n = static_cast<std::size_t>(t.n);
  std::vector<std::complex<double>> line(n), roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double angle =
        way * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  for (long long batch = 0; batch < t.count; ++batch) {
    const In* const in = given + batch * t.from;
    Out* const out = made + batch * t.to;
    for (std::size_t k = 0; k < n; ++k) {
      const auto at = [&](std::size_t i) { return in[static_cast<long long>(i) * t.step]; };
      if constexpr (from_complex && !to_complex) {
        line[k] =
            k <= n / 2 ? std::complex<double>(at(k)) : std::conj(std::complex<double>(at(n - k)));
        // Nothing says what becomes of these parts: they have to be 0.
        if (k == 0 || 2 * k == n) line[k] += 1000 * line[k].imag();
      } else {
        line[k] = at(k);
      }
    }
    for (std::size_t k = 0; k < (to_complex && !from_complex ? n / 2 + 1 : n); ++k) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += line[i] * roots[i * k % n];
      Out& to = out[static_cast<long long>(k) * t.step];
      if constexpr (to_complex) {
        to = Out(static_cast<T>(sum.real()), static_cast<T>(sum.imag()));
      } else {
        to = static_cast<T>(sum.real());
      }
    }
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// --- cuBLAS --------------------------------------------------------------------------------------

int cublasCreate_v2(void** out) {
  *out = new int(0);
  return called("cublasCreate");
}
int cublasDestroy_v2(void* handle) {
  delete static_cast<int*>(handle);
  return called("cublasDestroy");
}
int cublasSetStream_v2(void*, void* stream) { return stream == nullptr ? 7 : 0; }

int cublasGemmStridedBatchedEx(void*, int turn_a, int turn_b, int m, int n, int k,
                               const void* alpha, const void* a, int type_a, int lda,
                               long long step_a, const void* b, int type_b, int ldb,
                               long long step_b, const void* beta, void* c, int type_c, int ldc,
                               long long step_c, int count, int compute, int algorithm) {
  if (const int status = called("cublasGemmStridedBatchedEx", turn_a, turn_b, m, n, k, lda, step_a,
                                ldb, step_b, ldc, step_c, count, type_c, compute);
      status != 0) {
    return status;
  }
  if (algorithm != -1 || type_a != type_b || type_b != type_c || ldc < m ||
      lda < (turn_a != 0 ? k : m) || ldb < (turn_b != 0 ? n : k)) {
    return 7;
  }
  const auto as = [&]<class T>(T, int wanted) {
    if (compute != wanted && !(compute == 77 && wanted == 68)) return 7;
    multiply<T>(turn_a, turn_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc,
                step_c, count);
    return 0;
  };
  switch (type_c) {
    case 0:
      return as(float(), 68);
    case 1:
      return as(double(), 70);
    case 2:
      return as(half(), 68);
    case 4:
      return as(std::complex<float>(), 68);
    case 5:
      return as(std::complex<double>(), 70);
    case 14:
      return as(brain(), 68);
    default:
      return 15;
  }
}

#define STAND_INS_OF_TYPE(L, T)                                                                    \
  int cublas##L##getrfBatched(void*, int n, T* const* a, int lead, int* exchanged, int* info,      \
                              int count) {                                                         \
    if (const int s = called("getrfBatched", n, count); s != 0) return s;                          \
    for (int k = 0; k < count; ++k) lu(n, a[k], lead, exchanged + k * n, info + k);                \
    return 0;                                                                                      \
  }                                                                                                \
  int cublas##L##getrsBatched(void*, int turned, int n, int sides, const T* const* a, int lead,    \
                              const int* exchanged, T* const* b, int lead_b, int* info,            \
                              int count) {                                                         \
    if (const int s = called("getrsBatched", turned, n, sides, count); s != 0) return s;           \
    *info = 0;                                                                                     \
    for (int k = 0; k < count; ++k)                                                                \
      solve(turned, n, sides, a[k], lead, exchanged + k * n, b[k], lead_b);                        \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##getrf_bufferSize(void*, int m, int, T*, int, int* size) {                     \
    *size = m;                                                                                     \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##getrf(void*, int m, int, T* a, int lead, T* work, int* exchanged,             \
                           int* info) {                                                            \
    if (const int s = called("getrf", m); s != 0) return s;                                        \
    std::fill_n(work, m, T(-7));                                                                   \
    lu(m, a, lead, exchanged, info);                                                               \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##getrs(void*, int turned, int n, int sides, const T* a, int lead,              \
                           const int* exchanged, T* b, int lead_b, int* info) {                    \
    if (const int s = called("getrs", turned, n, sides); s != 0) return s;                         \
    *info = 0;                                                                                     \
    solve(turned, n, sides, a, lead, exchanged, b, lead_b);                                        \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##potrf_bufferSize(void*, int, int n, T*, int, int* size) {                     \
    *size = n;                                                                                     \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##potrf(void*, int upper, int n, T* a, int lead, T* work, int size,             \
                           int* info) {                                                            \
    if (const int s = called("potrf", n); s != 0) return s;                                        \
    if (upper != 0 || size < n) return 3;                                                          \
    std::fill_n(work, size, T(-7));                                                                \
    cholesky(n, a, lead, info);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##potrfBatched(void*, int upper, int n, T** a, int lead, int* info,             \
                                  int count) {                                                     \
    if (const int s = called("potrfBatched", n, count); s != 0) return s;                          \
    if (upper != 0) return 3;                                                                      \
    for (int k = 0; k < count; ++k) cholesky(n, a[k], lead, info + k);                             \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##geqrf_bufferSize(void*, int, int n, T*, int, int* size) {                     \
    *size = n;                                                                                     \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##geqrf(void*, int m, int n, T* a, int lead, T* factors, T* work, int size,     \
                           int* info) {                                                            \
    if (const int s = called("geqrf", m, n); s != 0) return s;                                     \
    if (lead < m || size < n) return 3;                                                            \
    std::fill_n(work, size, T(-7));                                                                \
    *info = 0;                                                                                     \
    qr(m, n, a, lead, factors);                                                                    \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##syevd_bufferSize(void*, int, int, int n, const T*, int, const real<T>*,       \
                                      int* size) {                                                 \
    *size = n;                                                                                     \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##syevd(void*, int vectors, int upper, int n, T* a, int lead, real<T>* values,  \
                           T* work, int size, int* info) {                                         \
    if (const int s = called("syevd", n, vectors); s != 0) return s;                               \
    if (upper != 0 || size < n) return 3;                                                          \
    std::fill_n(work, size, T(-7));                                                                \
    *info = 0;                                                                                     \
    eigh(n, a, lead, values, vectors != 0);                                                        \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##gesvd_bufferSize(void*, int m, int, int* size) {                              \
    *size = m;                                                                                     \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##gesvd(void*, signed char left, signed char right, int m, int n, T* a,         \
                           int lead, real<T>* values, T* u, int lead_u, T* vh, int lead_vh,        \
                           T* work, int size, real<T>* others, int* info) {                        \
    if (const int s = called("gesvd", char(left), char(right), m, n); s != 0) return s;            \
    if (m < n || size < m) return 3;                                                               \
    std::fill_n(work, size, T(-7));                                                                \
    std::fill_n(others, n, real<T>(-7));                                                           \
    *info = 0;                                                                                     \
    svd(m, n, a, lead, values, u, lead_u, left == 'A' ? m : n, vh, lead_vh, true);                 \
    return 0;                                                                                      \
  }                                                                                                \
  int cusolverDn##L##gesvdj_bufferSize(void*, int, int, int m, int, const T*, int, const real<T>*, \
                                       const T*, int, const T*, int, int* size,                    \
                                       void* parameters) {                                         \
    *size = m;                                                                                     \
    return parameters == nullptr ? 3 : 0;                                                          \
  }                                                                                                \
  int cusolverDn##L##gesvdj(void*, int vectors, int thin, int m, int n, T* a, int lead,            \
                            real<T>* values, T* u, int lead_u, T* v, int lead_v, T* work,          \
                            int size, int* info, void* parameters) {                               \
    if (const int s = called("gesvdj", vectors, thin, m, n); s != 0) return s;                     \
    /* The true one writes vectors in either case. */                                              \
    if (m < n || size < m || parameters == nullptr || u == nullptr || v == nullptr) return 3;      \
    std::fill_n(work, size, T(-7));                                                                \
    *info = called("gesvdj's convergence") != 0 ? n + 1 : 0;                                       \
    svd(m, n, a, lead, values, u, lead_u, thin != 0 ? n : m, v, lead_v, false);                    \
    return 0;                                                                                      \
  }

#define STAND_INS_OF_COLUMNS(L, T, NAME)                                                         \
  int cusolverDn##L##NAME##_bufferSize(void*, int, int n, int, const T*, int, const T*,          \
                                       int* size) {                                              \
    *size = n;                                                                                   \
    return 0;                                                                                    \
  }                                                                                              \
  int cusolverDn##L##NAME(void*, int m, int n, int k, T* a, int lead, const T* factors, T* work, \
                          int size, int* info) {                                                 \
    if (const int s = called("orgqr", m, n, k); s != 0) return s;                                \
    if (m < n || n < k || lead < m || size < n) return 3;                                        \
    std::fill_n(work, size, T(-7));                                                              \
    *info = 0;                                                                                   \
    columns(m, n, k, a, lead, factors);                                                          \
    return 0;                                                                                    \
  }

// --- cuSOLVER ------------------------------------------------------------------------------------

int cusolverDnCreate(void** out) {
  *out = new int(1);
  return called("cusolverDnCreate");
}
int cusolverDnDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return called("cusolverDnDestroy");
}
int cusolverDnSetStream(void*, void* stream) { return stream == nullptr ? 3 : 0; }
int cusolverDnXgesvdjSetTolerance(void*, double tolerance) {
  return tolerance > 0 && tolerance < 1e-6 ? 0 : 3;
}
int cusolverDnCreateGesvdjInfo(void** out) {
  *out = new int(2);
  return 0;
}
int cusolverDnDestroyGesvdjInfo(void* info) {
  delete static_cast<int*>(info);
  return called("cusolverDnDestroyGesvdjInfo");
}

STAND_INS_OF_TYPE(S, float)
STAND_INS_OF_TYPE(D, double)
STAND_INS_OF_TYPE(C, std::complex<float>)
STAND_INS_OF_TYPE(Z, std::complex<double>)
STAND_INS_OF_COLUMNS(S, float, orgqr)
STAND_INS_OF_COLUMNS(D, double, orgqr)
STAND_INS_OF_COLUMNS(C, std::complex<float>, ungqr)
STAND_INS_OF_COLUMNS(Z, std::complex<double>, ungqr)

// Complex Hermitian matrices have a name of their own.
#define STAND_IN_HEEVD(L, T)                                                                  \
  int cusolverDn##L##heevd_bufferSize(void* h, int v, int u, int n, const T* a, int lead,     \
                                      const real<T>* w, int* size) {                          \
    return cusolverDn##L##syevd_bufferSize(h, v, u, n, a, lead, w, size);                     \
  }                                                                                           \
  int cusolverDn##L##heevd(void* h, int v, int u, int n, T* a, int lead, real<T>* w, T* work, \
                           int size, int* info) {                                             \
    return cusolverDn##L##syevd(h, v, u, n, a, lead, w, work, size, info);                    \
  }
STAND_IN_HEEVD(C, std::complex<float>)
STAND_IN_HEEVD(Z, std::complex<double>)

// --- cuFFT ---------------------------------------------------------------------------------------

int cufftCreate(int* plan) {
  const std::lock_guard lock(guard);
  transforms.emplace_back();
  *plan = static_cast<int>(transforms.size()) - 1;
  return 0;
}
int cufftDestroy(int) { return called("cufftDestroy"); }
int cufftSetStream(int, void* stream) { return stream == nullptr ? 4 : 0; }
int cufftSetAutoAllocation(int, int is_own) { return is_own == 0 ? 0 : 4; }
int cufftSetWorkArea(int, void* memory) {
  *static_cast<char*>(memory) = 7;
  return 0;
}
int cufftMakePlanMany64(int plan, int rank, long long* n, long long* given, long long step,
                        long long from, long long* made, long long step_made, long long to,
                        int type, long long count, std::size_t* bytes) {
  if (const int status = called("cufftMakePlanMany64", *n, step, from, to, type, count);
      status != 0)
    return status;
  if (rank != 1 || given == nullptr || made == nullptr || step != step_made) return 4;
  transforms[static_cast<std::size_t>(plan)] = {true, *n, step, from, to, count, type};
  *bytes = 64;
  return 0;
}
int cufftExecC2C(int plan, std::complex<float>* from, std::complex<float>* to, int way) {
  if (const int status = called("cufftExecC2C", way); status != 0) return status;
  if (are_misaligned<float>(from, to)) return 4;
  transform_lines<float>(plan, from, to, way);
  return 0;
}
int cufftExecZ2Z(int plan, std::complex<double>* from, std::complex<double>* to, int way) {
  if (const int status = called("cufftExecZ2Z", way); status != 0) return status;
  if (are_misaligned<double>(from, to)) return 4;
  transform_lines<double>(plan, from, to, way);
  return 0;
}
int cufftExecR2C(int plan, float* from, std::complex<float>* to) {
  if (const int status = called("cufftExecR2C"); status != 0) return status;
  if (are_misaligned<float>(from, to)) return 4;
  transform_lines<float>(plan, from, to, -1);
  return 0;
}
int cufftExecD2Z(int plan, double* from, std::complex<double>* to) {
  if (const int status = called("cufftExecD2Z"); status != 0) return status;
  if (are_misaligned<double>(from, to)) return 4;
  transform_lines<double>(plan, from, to, -1);
  return 0;
}
int cufftExecC2R(int plan, std::complex<float>* from, float* to) {
  if (const int status = called("cufftExecC2R"); status != 0) return status;
  if (are_misaligned<float>(from, to)) return 4;
  transform_lines<float>(plan, from, to, 1);
  return 0;
}
int cufftExecZ2D(int plan, std::complex<double>* from, double* to) {
  if (const int status = called("cufftExecZ2D"); status != 0) return status;
  if (are_misaligned<double>(from, to)) return 4;
  transform_lines<double>(plan, from, to, 1);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
