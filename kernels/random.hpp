// Random numbers that depend on a key and a place alone: number k of a stream is the same in every
// order of computation and on every device. Only +, -, *, /, sqrt, fma and operations of integers
// make them, which all devices round alike; logarithms and sines of devices differ in their last
// bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude/complex.hpp"
#include "prelude/item.hpp"
#include "prelude/math.hpp"
#include "prelude/types.hpp"

namespace usmx::random {

struct block {
  uint32_t words[4];

  uint64_t wide(int half) const { return (uint64_t(words[2 * half]) << 32) | words[2 * half + 1]; }
};

/// Philox4x32-10 of J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).
[[gnu::always_inline]] inline block philox(block counter, uint32_t key_0, uint32_t key_1) {
  uint32_t (&c)[4] = counter.words;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
    c[0] = uint32_t(b >> 32) ^ c[1] ^ key_0;
    c[1] = uint32_t(b);
    c[2] = uint32_t(a >> 32) ^ c[3] ^ key_1;
    c[3] = uint32_t(a);
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return counter;
}

/// What one number of a stream is made of: as many blocks as it asks for.
struct source {
  uint64_t key, place;
  uint32_t stream, first;

  /// The upper half of `stream_of` is the first block.
  source(uint64_t key_of, uint64_t stream_of, uint64_t place_of)
      : key(key_of),
        place(place_of),
        stream(uint32_t(stream_of)),
        first(uint32_t(stream_of >> 32)) {}

  [[gnu::always_inline]] block operator()(uint32_t attempt) const {
    return philox({{uint32_t(place), uint32_t(place >> 32), first + attempt, stream}},
                  uint32_t(key), uint32_t(key >> 32));
  }
  /// Blocks that this one does not use, for another number that the same one is made of.
  source other() const {
    source made = *this;
    made.first += 1024;
    return made;
  }
};

/// The part of a block that one of several neighbours is made of: a block has four numbers of
/// float, and two of double. Blocks of both are none that a `source` gives.
template <class T>
struct share {
  static constexpr int in_block = 16 / int(sizeof(T));

  block of;
  int number;

  [[gnu::always_inline]] static share in(uint64_t key, uint64_t stream, uint64_t block_number,
                                         int number) {
    source from(key, stream, block_number);
    from.first += sizeof(T) == 8 ? 0xC0000000u : 0x80000000u;
    return {from(0), number};
  }
  /// That of the number at a place.
  static share at(uint64_t key, uint64_t stream, uint64_t place) {
    return in(key, stream, place / in_block, int(place % in_block));
  }
};

template <int... Number>
struct numbers {};
template <class Int, Int... Number>
using make_numbers = numbers<Number...>;
/// The parts of a block, each with a number that is known where it is made: what two of them have
/// in common is computed once. A loop is unrolled too late for that.
template <class T, class Make, int... Number>
[[gnu::always_inline]] inline void make_parts(const block& of, const Make& make, T* made,
                                              numbers<Number...>) {
  ((made[Number] = make(share<T>{of, Number})), ...);
}
/// Writes the numbers from a place on to elements that are neighbours: `make(share)` for each. An
/// item has a block.
template <class T, class Make>
[[gnu::always_inline]] inline void fill(uint64_t key, uint64_t stream, uint64_t place, T* to,
                                        int64_t size, const Make& make) {
  constexpr int n = share<T>::in_block;
  const int64_t item = int64_t(global_id()), first = item * n - int64_t(place % n);
  // Places begin again behind the last one, which is the last of a block.
  const share<T> mine = share<T>::in(key, stream, (place + uint64_t(item) * n) / n, 0);
  T made[n];
  make_parts(mine.of, make, made, __make_integer_seq<make_numbers, int, n>());
  if (place % n == 0 && first + n <= size && (uint64_t(to) & 15) == 0) {
    using several = T __attribute__((ext_vector_type(n)));
    several stored;
#pragma clang loop unroll(full)
    for (int k = 0; k < n; ++k) stored[k] = made[k];
    *(several*)(to + first) = stored;
  } else {
#pragma clang loop unroll(full)
    for (int k = 0; k < n; ++k) {
      if (first + k >= 0 && first + k < size) to[first + k] = made[k];
    }
  }
}

/// A number that is refused this often is refused by none that could come next: the chance is below
/// 2^-64 for each of the distributions here.
inline constexpr uint32_t attempts = 128;

// --- Functions that round alike everywhere. Their series are those of Taylor: terms of double and
// --- of float, where the numbers are as small as the reductions make them.

template <class T>
inline constexpr bool is_wide = sizeof(T) == 8;

/// a * b + c: of floats in one step, of which GPUs do one where they would do two.
template <class T>
[[gnu::always_inline]] inline T multiply_add(T a, T b, T c) {
  if constexpr (is_wide<T>)
    return a * b + c;
  else
    return fma(a, b, c);
}

/// The logarithm of a positive normal number.
template <class T>
[[gnu::always_inline]] inline T logarithm(T x) {
  int exponent;
  if constexpr (is_wide<T>) {
    const auto bits = __builtin_bit_cast(uint64_t, x);
    exponent = int(bits >> 52) - 1023;
    x = __builtin_bit_cast(double, (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  } else {
    const auto bits = __builtin_bit_cast(uint32_t, x);
    exponent = int(bits >> 23) - 127;
    x = __builtin_bit_cast(float, (bits & 0x7FFFFFu) | 0x3F800000u);
  }
  if (x > T(1.4142135623730951)) {
    x = x * T(0.5);
    ++exponent;
  }
  // 2 atanh((x - 1) / (x + 1))
  const T s = (x - T(1)) / (x + T(1)), ss = s * s;
  constexpr int terms = is_wide<T> ? 10 : 5;
  T sum = T(1) / T(2 * terms + 1);
#pragma clang loop unroll(full)
  for (int k = terms - 1; k >= 1; --k) sum = multiply_add(sum, ss, T(1) / T(2 * k + 1));
  sum = sum * ss;
  // The first part of log(2) has few enough bits for its products with exponents to be exact.
  const T high = is_wide<T> ? T(0x1.62E42FEEp-1) : T(0x1.62Ep-1);
  const T low = is_wide<T> ? T(0x1.A39EF35793C76p-33) : T(0x1.0bfbe8e7bcd5ep-15);
  const T rest = multiply_add(T(2) * s, sum, T(exponent) * low);
  return multiply_add(T(exponent), high, T(2) * s + rest);
}

/// log(1 + x) of x > -1.
template <class T>
inline T logarithm_of_1_plus(T x) {
  const T u = T(1) + x;
  return u == T(1) ? x : logarithm(u) * (x / (u - T(1)));
}

template <class T>
inline T power_of_two(int n) {
  if constexpr (is_wide<T>)
    return __builtin_bit_cast(double, uint64_t(n + 1023) << 52);
  else
    return __builtin_bit_cast(float, uint32_t(n + 127) << 23);
}

template <class T>
inline T exponential_of(T x) {
  if (x != x) return x;
  if (x < (is_wide<T> ? T(-740) : T(-100))) return T(0);
  if (x > (is_wide<T> ? T(709) : T(88))) return T(__builtin_inff());
  const T turns = x * T(1.4426950408889634);
  const int n = int(turns + (turns < T(0) ? T(-0.5) : T(0.5)));
  const T high = is_wide<T> ? T(0x1.62E42FEEp-1) : T(0x1.62Ep-1);
  const T low = is_wide<T> ? T(0x1.A39EF35793C76p-33) : T(0x1.0bfbe8e7bcd5ep-15);
  const T r = (x - T(n) * high) - T(n) * low;
  T sum = T(1);
  for (int k = is_wide<T> ? 14 : 8; k >= 1; --k) sum = T(1) + sum * (r * (T(1) / T(k)));
  return sum * power_of_two<T>(n / 2) * power_of_two<T>(n - n / 2);
}

template <class T>
struct point {
  T x, y;
};

/// The cosine and the sine of 2 pi x, of x in [0, 1).
template <class T>
[[gnu::always_inline]] inline point<T> direction_of_turns(T x) {
  const int quarter = int(x * T(4) + T(0.5));
  const T angle = (x * T(4) - T(quarter)) * T(1.5707963267948966), aa = angle * angle;
  // 1 - a^2 / 2! + a^4 / 4! - ..., and 1 - a^2 / 3! + ... for the sine
  T cosine = T(1), sine = T(1);
  if constexpr (is_wide<T>) {
#pragma clang loop unroll(full)
    for (int k = 9; k >= 1; --k) {
      cosine = T(1) - cosine * (aa * (T(1) / T(2 * k * (2 * k - 1))));
      sine = T(1) - sine * (aa * (T(1) / T((2 * k + 1) * 2 * k)));
    }
  } else {
    cosine = fma(aa, T(-1. / 3628800), T(1. / 40320));
    cosine = fma(fma(fma(fma(cosine, aa, T(-1. / 720)), aa, T(1. / 24)), aa, T(-0.5)), aa, T(1));
    sine = fma(fma(aa, T(1. / 362880), T(-1. / 5040)), aa, T(1. / 120));
    sine = fma(fma(sine, aa, T(-1. / 6)), aa, T(1));
  }
  sine = sine * angle;
  const T along = quarter & 1 ? sine : cosine, across = quarter & 1 ? cosine : sine;
  return {(quarter + 1) & 2 ? -along : along, quarter & 2 ? -across : across};
}
template <class T>
inline T cosine_of_turns(T x) {
  return direction_of_turns(x).x;
}

/// log(k!) - the first terms of Stirling's series, of k >= 0.
inline double rest_of_stirling(double k) {
  if (k < 10) {
    constexpr double rests[] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834,
                                0.02079067210376509, 0.01664469118982119, 0.01387612882307075,
                                0.01189670994589177, 0.01041126526197209, 0.009255462182712733,
                                0.008330563433362871};
    return rests[int(k)];
  }
  const double a = 1 / (k + 1), aa = a * a;
  return a * (1. / 12 - aa * (1. / 360 - aa * (1. / 1260 - aa * (1. / 1680))));
}

// --- Uniform numbers

/// In [0, 1).
template <class T>
[[gnu::always_inline]] inline T fraction(const block& b, int half = 0) {
  if constexpr (is_wide<T>)
    return double(b.wide(half) >> 11) * 0x1p-53;
  else
    return float(b.words[2 * half] >> 8) * 0x1p-24f;
}
/// In (0, 1].
template <class T>
[[gnu::always_inline]] inline T positive_fraction(const block& b, int half = 0) {
  if constexpr (is_wide<T>)
    return double((b.wide(half) >> 11) + 1) * 0x1p-53;
  else
    return float((b.words[2 * half] >> 8) + 1) * 0x1p-24f;
}

template <class T>
[[gnu::always_inline]] inline T uniform(const share<T>& s, T low, T high) {
  T part;
  if constexpr (is_wide<T>)
    part = fraction<T>(s.of, s.number);
  else
    part = float(s.of.words[s.number] >> 8) * 0x1p-24f;
  const T width = high - low;
  // The distance of two large numbers may be beyond all floats, though both are finite.
  return isfinite(width) ? low + width * part : low * (T(1) - part) + high * part;
}

inline uint64_t high_product(uint64_t a, uint64_t b) {
  const uint64_t a_0 = uint32_t(a), a_1 = a >> 32, b_0 = uint32_t(b), b_1 = b >> 32;
  const uint64_t middle = a_1 * b_0 + ((a_0 * b_0) >> 32), other = a_0 * b_1 + uint32_t(middle);
  return a_1 * b_1 + (middle >> 32) + (other >> 32);
}
/// From 0 to `last`, each with exactly the same chance: D. Lemire, "Fast random integer generation
/// in an interval" (2019).
inline uint64_t integer(const source& s, uint64_t last) {
  const uint64_t count = last + 1;
  uint64_t bits = 0;
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    const block b = s(attempt);
    for (int half = 0; half < 2; ++half) {
      bits = b.wide(half);
      if (count == 0) return bits;
      const uint64_t low = bits * count;
      if (low >= count || low >= (uint64_t(0) - count) % count) return high_product(bits, count);
    }
  }
  return high_product(bits, count);
}

/// All of them, whose order is a random one.
inline uint64_t bits(const source& s) { return s(0).wide(0); }

// --- Other distributions

/// A point in the plane whose parts are normal numbers; its length is made of `u` in (0, 1], its
/// direction of `turns` in [0, 1): G. Box and M. Muller, "A note on the generation of random normal
/// deviates" (1958).
template <class T>
inline T normal_part(T u, T turns) {
  return T(sqrt(T(-2) * logarithm(u))) * cosine_of_turns(turns);
}
/// In (0, 1], of all bits of a word.
[[gnu::always_inline]] inline float positive_fraction_of(uint32_t word) {
  return (float(word) + 1.0f) * 0x1p-32f;
}

template <class T>
inline T normal_of(const block& b) {
  if constexpr (is_wide<T>)
    return normal_part(positive_fraction<T>(b), fraction<T>(b, 1));
  else
    return normal_part(positive_fraction_of(b.words[0]), fraction<T>(b, 1));
}
/// Two neighbours are the parts of one point.
template <class T>
[[gnu::always_inline]] inline T normal(const share<T>& s, T mean, T deviation) {
  T u, turns;
  if constexpr (is_wide<T>) {
    u = positive_fraction<T>(s.of);
    turns = fraction<T>(s.of, 1);
  } else {
    const int pair = s.number & 2;
    u = positive_fraction_of(s.of.words[pair]);
    turns = float(s.of.words[pair + 1] >> 8) * 0x1p-24f;
  }
  // Of two neighbours in one item the compiler computes this once.
  const T length = T(sqrt(T(-2) * logarithm(u)));
  const point<T> direction = direction_of_turns(turns);
  return mean + deviation * (length * (s.number & 1 ? direction.y : direction.x));
}

template <class T>
inline T exponential(const source& s, T scale) {
  const block b = s(0);
  if constexpr (is_wide<T>)
    return scale * (T(0) - logarithm(positive_fraction<T>(b)));
  else
    return scale * (T(0) - logarithm(positive_fraction_of(b.words[0])));
}

/// A gamma variate is `d * v * exp(power)`. For small shapes the power is far below 0.
template <class T>
struct gamma_parts {
  T d, v = T(1), power = T(0);
};

/// G. Marsaglia and W. Tsang, "A simple method for generating gamma variables" (2000).
template <class T>
inline gamma_parts<T> parts_of_gamma(const source& s, T shape) {
  const T larger = shape < T(1) ? shape + T(1) : shape;
  const T d = larger - T(1) / T(3), c = T(1) / (T(3) * T(sqrt(d)));
  gamma_parts<T> made{d};
  T& v = made.v;
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    const T x = normal_of<T>(s(2 * attempt));
    const T root = T(1) + c * x;
    if (root <= T(0)) continue;
    v = root * root * root;
    const block b = s(2 * attempt + 1);
    const T u = positive_fraction<T>(b);
    if (logarithm(u) < x * x * T(0.5) + d * (T(1) - v + logarithm(v))) {
      if (shape < T(1)) made.power = logarithm(positive_fraction<T>(b, 1)) / shape;
      break;
    }
  }
  return made;
}
template <class T>
inline T gamma(const source& s, T shape, T scale) {
  if (shape == T(0)) return T(0);
  const gamma_parts<T> made = parts_of_gamma(s, shape);
  return scale * made.d * (shape < T(1) ? made.v * exponential_of(made.power) : made.v);
}

/// Below 10 by inversion, else W. Hoermann, "The transformed rejection method for generating
/// Poisson random variables" (1993).
inline int64_t poisson(const source& s, double mean) {
  if (mean <= 0) return 0;
  if (mean < 10) {
    const double u = fraction<double>(s(0));
    double chance = exponential_of(-mean), sum = chance;
    int64_t k = 0;
    for (; u >= sum && k < 100; sum += chance) chance = chance * mean / double(++k);
    return k;
  }
  const double log_mean = logarithm(mean);
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double scale = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
  double k = 0;
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    const block bits = s(attempt);
    const double u = fraction<double>(bits) - 0.5, v = positive_fraction<double>(bits, 1);
    const double us = 0.5 - fabs(u);
    k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= quick) break;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    // k log(mean) - mean - log(k!), without the difference of large numbers.
    const double near = k + 1 - mean;
    const double chance = (k + 0.5) * -logarithm_of_1_plus(near / mean) + near - 0.5 * log_mean -
                          0.91893853320467274178 - rest_of_stirling(k);
    if (logarithm(v * scale / (a / (us * us) + b)) <= chance) break;
  }
  return to_integer<int64_t>(k < 0 ? 0 : k);
}

/// Small means by inversion, others by W. Hoermann, "The generation of binomial random variates"
/// (1993).
inline int64_t binomial(const source& s, int64_t n, double p) {
  const bool is_flipped = p > 0.5;
  if (is_flipped) p = 1 - p;
  if (n <= 0 || p <= 0) return is_flipped ? n : 0;
  const double count = double(n), q = 1 - p, mean = count * p;
  double k = 0;
  if (mean < 10) {
    const double u = fraction<double>(s(0));
    double chance = exponential_of(count * logarithm_of_1_plus(-p)), sum = chance;
    for (; u >= sum && k < count && k < 150; sum += chance) {
      k += 1;
      chance = chance * ((count - k + 1) * p) / (k * q);
    }
  } else {
    const double deviation = sqrt(mean * q);
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = mean + 0.5, quick = 0.92 - 4.2 / b;
    const double alpha = (2.83 + 5.1 / b) * deviation;
    const double mode = floor((count + 1) * p), other = count - mode;
    // How far the odds are from those of the mode, which is near 0.
    const double odds = logarithm((p * (other + 1)) / (q * (mode + 1)));
    const double rests = rest_of_stirling(mode) + rest_of_stirling(other);
    for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
      const block bits = s(attempt);
      const double u = fraction<double>(bits) - 0.5, v = positive_fraction<double>(bits, 1);
      const double us = 0.5 - fabs(u);
      k = floor((2 * a / us + b) * u + centre);
      if (us >= 0.07 && v <= quick) break;
      if (k < 0 || k > count) continue;
      // log(mode! (n - mode)! / (k! (n - k)!)) by Stirling's series, without the difference of
      // large numbers.
      const double away = k - mode;
      const double chance = away * odds + rests - rest_of_stirling(k) -
                            rest_of_stirling(count - k) -
                            (k + 0.5) * logarithm_of_1_plus(away / (mode + 1)) -
                            (count - k + 0.5) * logarithm_of_1_plus(-away / (other + 1));
      if (logarithm(v * alpha / (a / (us * us) + b)) <= chance) break;
    }
  }
  const int64_t made = k < 0 ? 0 : k > count ? n : to_integer<int64_t>(k);
  return is_flipped ? n - made : made;
}

// --- Distributions that are made of those above, most by inversion

/// In (0, 1).
template <class T>
inline T inner_fraction(const block& b, int half = 0) {
  if constexpr (is_wide<T>)
    return (double(b.wide(half) >> 12) + 0.5) * 0x1p-52;
  else
    return (float(b.words[2 * half] >> 9) + 0.5f) * 0x1p-23f;
}
/// Of mean 1, and never 0.
template <class T>
inline T positive_exponential(const source& s) {
  return T(0) - logarithm(inner_fraction<T>(s(0)));
}

template <class T>
inline T lognormal(const source& s, T mean, T deviation) {
  return exponential_of(mean + deviation * normal_of<T>(s(0)));
}
template <class T>
inline T laplace(const source& s, T centre, T scale) {
  const T away = exponential(s, scale);
  return s(0).words[3] & 1 ? centre - away : centre + away;
}
template <class T>
inline T logistic(const source& s, T centre, T scale) {
  const T u = inner_fraction<T>(s(0));
  return centre + scale * (logarithm(u) - logarithm(T(1) - u));
}
template <class T>
inline T gumbel(const source& s, T centre, T scale) {
  return centre - scale * logarithm(positive_exponential<T>(s));
}
template <class T>
inline T cauchy(const source& s, T scale) {
  return scale * normal_of<T>(s(0)) / normal_of<T>(s(1));
}
template <class T>
inline T rayleigh(const source& s, T scale) {
  return scale * T(sqrt(T(2) * exponential(s, T(1))));
}
template <class T>
inline T weibull(const source& s, T shape) {
  if (shape == T(0)) return T(0);
  return exponential_of(logarithm(positive_exponential<T>(s)) / shape);
}
template <class T>
inline T pareto(const source& s, T shape) {
  return exponential_of(exponential(s, T(1)) / shape) - T(1);
}
template <class T>
inline T power(const source& s, T exponent) {
  return exponential_of(logarithm(positive_fraction<T>(s(0))) / exponent);
}
template <class T>
inline T triangular(const source& s, T left, T mode, T right) {
  const T u = fraction<T>(s(0)), width = right - left;
  return u * width <= mode - left ? left + T(sqrt(u * width * (mode - left)))
                                  : right - T(sqrt((T(1) - u) * width * (right - mode)));
}
template <class T>
inline T chi_squared(const source& s, T freedom) {
  return gamma(s, freedom * T(0.5), T(2));
}
template <class T>
inline T noncentral_chi_squared(const source& s, T freedom, T away) {
  if (away == T(0)) return chi_squared(s, freedom);
  if (freedom > T(1)) {
    const T root = normal_of<T>(s.other()(0)) + T(sqrt(away));
    return chi_squared(s, freedom - T(1)) + root * root;
  }
  return chi_squared(s, freedom + T(2) * T(poisson(s.other(), double(away) * 0.5)));
}
template <class T>
inline T f(const source& s, T above, T below) {
  return (chi_squared(s, above) * below) / (chi_squared(s.other(), below) * above);
}
template <class T>
inline T student(const source& s, T freedom) {
  const T squares = gamma(s, freedom * T(0.5), T(1));
  return normal_of<T>(s.other()(0)) * T(sqrt(freedom * T(0.5))) / T(sqrt(squares));
}
/// x / (x + y) of two gamma variates, which may both be too small for their type.
template <class T>
inline T beta(const source& s, T a, T b) {
  const auto log_of = [](const gamma_parts<T>& p) { return logarithm(p.d * p.v) + p.power; };
  const T x = log_of(parts_of_gamma(s, a)), y = log_of(parts_of_gamma(s.other(), b));
  return T(1) / (T(1) + exponential_of(y - x));
}
/// The inverse Gaussian distribution: J. Michael, W. Schucany and R. Haas, "Generating random
/// variates using transformations with multiple roots" (1976).
template <class T>
inline T wald(const source& s, T mean, T scale) {
  const T n = normal_of<T>(s(0)), w = n * n * mean / (T(2) * scale);
  const T x = mean / (T(1) + w + T(sqrt(w * (w + T(2)))));
  return fraction<T>(s(1)) * (mean + x) <= mean ? x : mean * (mean / x);
}

inline constexpr int64_t most_events = 9223372036854775807;

inline int64_t geometric(const source& s, double chance) {
  if (chance >= 1) return 1;
  const double failures = floor(exponential(s, 1.0) / -logarithm_of_1_plus(-chance));
  return failures < 9.2e18 ? to_integer<int64_t>(failures) + 1 : most_events;
}
inline int64_t negative_binomial(const source& s, double successes, double chance) {
  const double mean = gamma(s.other(), successes, (1 - chance) / chance);
  return poisson(s, mean < 9.2e18 ? mean : 9.2e18);
}
/// A. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981).
inline int64_t logarithmic(const source& s, double chance) {
  const block b = s(0);
  const double v = inner_fraction<double>(b), u = inner_fraction<double>(b, 1);
  if (v >= chance) return 1;
  const double q = 1 - exponential_of(logarithm_of_1_plus(-chance) * u);
  if (q <= 0 || v >= q) return 1;
  return v <= q * q ? to_integer<int64_t>(floor(1 + logarithm(v) / logarithm(q))) : 2;
}
/// L. Devroye, "Non-uniform random variate generation" (1986), chapter 10.6.
inline int64_t zipf(const source& s, double exponent) {
  const double a = exponent - 1, b = exponential_of(a * 0.6931471805599453);
  double x = 1;
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    const block bits = s(attempt);
    const double u = inner_fraction<double>(bits), v = inner_fraction<double>(bits, 1);
    x = floor(exponential_of(-logarithm(u) / a));
    if (!(x < 9.2e18)) continue;
    const double t = exponential_of(a * logarithm_of_1_plus(1 / x));
    if (v * x * (t - 1) * b <= t * (b - 1)) break;
  }
  return x < 9.2e18 ? to_integer<int64_t>(x) : most_events;
}

/// Bits in whose order elements of such weights are a sample without replacement: those of positive
/// floats are in the order of the numbers.
inline uint64_t race(const source& s, double weight) {
  const double arrival = weight > 0 ? exponential<double>(s, 1 / weight) : __builtin_inf();
  return __builtin_bit_cast(uint64_t, arrival);
}

}  // namespace usmx::random
