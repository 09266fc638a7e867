// What the rows of python/usmx/_operations.py name and the prelude does not have. The host compiles
// this file too, with prelude/backend/host.hpp: a row has one text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cast.hpp"
#include "complex_functions.hpp"
#include "prelude/special.hpp"

namespace usmx::fusion {
// Integers wrap around as NumPy's do; signed ones of C++ must not overflow.
template <int Bytes>
struct unsigned_of {
  using type = uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = uint64_t;
};
template <class T>
auto wrap(T x) {
  return typename unsigned_of<sizeof(T)>::type(x);
}
template <class T>
T larger(T a, T b) {
  return maximum(a, b);
}
template <class T>
T smaller(T a, T b) {
  return minimum(a, b);
}
// Complex numbers stand in the order of their real parts, equal ones of these in that of their
// imaginary parts; one is NaN if a part is.
template <class T>
bool has_nan(complex<T> z) {
  return z.re != z.re || z.im != z.im;
}
template <class T>
bool stands_before(complex<T> a, complex<T> b) {
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}
template <class T>
complex<T> larger(complex<T> a, complex<T> b) {
  return has_nan(a) || (!has_nan(b) && !stands_before(a, b)) ? a : b;
}
template <class T>
complex<T> smaller(complex<T> a, complex<T> b) {
  return has_nan(a) || (!has_nan(b) && !stands_before(b, a)) ? a : b;
}
// The same, but NaN only if both are.
template <class T>
complex<T> larger_number(complex<T> a, complex<T> b) {
  return has_nan(b) || (!has_nan(a) && !stands_before(a, b)) ? a : b;
}
template <class T>
complex<T> smaller_number(complex<T> a, complex<T> b) {
  return has_nan(b) || (!has_nan(a) && !stands_before(b, a)) ? a : b;
}
template <class T>
T truncated_remainder(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return T(0);
  }
  return T(a % b);
}
template <class T>
T inverse(T x) {
  return x == 0 ? expression::convert<T>(__builtin_inff()) : T(T(1) / x);
}
/// log(exp(a) + exp(b)), which overflows only where the result does.
template <class T>
T log_of_sum(T a, T b) {
  if (a == b) return a + T(0.69314718055994530942);  // infinities too
  const T away = a - b;
  if (away > T(0)) return a + log1p(exp(-away));
  return away <= T(0) ? b + log1p(exp(away)) : away;
}
/// log2(2**a + 2**b), in the same way.
template <class T>
T binary_log_of_sum(T a, T b) {
  if (a == b) return a + T(1);
  const T away = a - b, unit = T(1.44269504088896340736);
  if (away > T(0)) return a + log1p(exp2(-away)) * unit;
  return away <= T(0) ? b + log1p(exp2(away)) * unit : away;
}
inline half binary_log_of_sum(half a, half b) {
  return half(binary_log_of_sum(float(a), float(b)));
}
inline half log_of_sum(half a, half b) { return half(log_of_sum(float(a), float(b))); }
inline bfloat16 binary_log_of_sum(bfloat16 a, bfloat16 b) {
  return binary_log_of_sum(float(a), float(b));
}
inline bfloat16 log_of_sum(bfloat16 a, bfloat16 b) { return log_of_sum(float(a), float(b)); }
template <class T>
bool truth(T x) {
  return x != T(0);
}

}  // namespace usmx::fusion
