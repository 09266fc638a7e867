// Elementary functions whose results have the same bits in kernels of the CPU and in the code of
// the host: of sums, products, quotients, roots, fma, integers and choices alone, which are exact
// or rounded once everywhere. No header is included, so that both can include this one.
//
// Products are added by an fma that is written as one; who includes this is compiled with
// -ffp-contract=off, so that compilers make no other ones. There are no branches but for huge
// angles, so that items of a kernel become lanes of vectors. Functions of float are computed in
// float where that is within an ulp, else in double.
//
// The coefficients are those of the polynomials with the least error on what is left of the
// argument, found for this file by exchange (Remez) with 50 digits. Their errors stand next to
// them, relative to the result or to 1.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::elementary {

#define USMX_ELEMENTARY [[gnu::always_inline]] inline

namespace parts {

using bits32 = __UINT32_TYPE__;
using bits64 = __UINT64_TYPE__;

USMX_ELEMENTARY float fused(float a, float b, float c) { return __spirv_ocl_fma(a, b, c); }
USMX_ELEMENTARY double fused(double a, double b, double c) { return __spirv_ocl_fma(a, b, c); }
USMX_ELEMENTARY float root(float x) { return __spirv_ocl_sqrt(x); }
USMX_ELEMENTARY double root(double x) { return __spirv_ocl_sqrt(x); }

USMX_ELEMENTARY bits32 bits_of(float x) { return __builtin_bit_cast(bits32, x); }
USMX_ELEMENTARY bits64 bits_of(double x) { return __builtin_bit_cast(bits64, x); }
USMX_ELEMENTARY float of_bits(bits32 x) { return __builtin_bit_cast(float, x); }
USMX_ELEMENTARY double of_bits(bits64 x) { return __builtin_bit_cast(double, x); }

inline constexpr bits32 sign32 = bits32(1) << 31;
inline constexpr bits64 sign64 = bits64(1) << 63;
USMX_ELEMENTARY float size_of(float x) { return of_bits(bits_of(x) & ~sign32); }
USMX_ELEMENTARY double size_of(double x) { return of_bits(bits_of(x) & ~sign64); }
/// `size`, which has no sign, with that of x.
USMX_ELEMENTARY float with_sign(float size, float x) {
  return of_bits(bits_of(size) | (bits_of(x) & sign32));
}
USMX_ELEMENTARY double with_sign(double size, double x) {
  return of_bits(bits_of(size) | (bits_of(x) & sign64));
}

inline constexpr float infinity32 = __builtin_inff(), nan32 = __builtin_nanf("");
inline constexpr double infinity64 = __builtin_inf(), nan64 = __builtin_nan("");
/// Added to a number it leaves the nearest integer in the last bits: no conversion is needed.
inline constexpr float whole32 = 0x1.8p23f;
inline constexpr double whole64 = 0x1.8p52;

inline constexpr double per_ln2 = 0x1.71547652b82fep+0;
/// log(2) in two parts, of which the first has no more bits than its products with exponents need.
inline constexpr double ln2_high = 0x1.62e42fefa3p-1, ln2_low = 0x1.3de6af278ece6p-42;

/// Tells compilers to keep what is seldom computed out of the way.
USMX_ELEMENTARY bool is_rare(bool condition) { return __builtin_expect(condition, 0); }

/// A number as a sum.
struct two {
  double high, low;
};
/// The sum and what its rounding lost, of |a| >= |b| or a = 0.
USMX_ELEMENTARY two sum_of(double a, double b) {
  const double sum = a + b;
  return {sum, (a - sum) + b};
}
/// The same in any order.
USMX_ELEMENTARY two sum_in_any_order(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// value 2^n of an n from -1200 to 1200, which `bits` has with 2046 more in its last ones: by two
/// factors, since 2^n may be a power that no number is.
inline constexpr double whole_power64 = whole64 + 2046.0;
USMX_ELEMENTARY double scaled(double value, double bits) {
  const bits64 both = bits_of(bits), half = both >> 1;
  return value * of_bits(half << 52) * of_bits((both - half) << 52);
}

/// x = m 2^k with m from sqrt(1/2) to sqrt(2), of normal numbers x > 0; `offset` is added to k.
struct float_parts {
  double m, k;
};
USMX_ELEMENTARY float_parts parts_of(double x, double offset) {
  constexpr bits64 one = 0x3ff0000000000000, root_of_half = 0x3fe6a09e667f3bcd;
  const bits64 stored = bits_of(x) + (one - root_of_half), exponent = stored >> 52;
  // Behind the digits of 2^52 the exponent is a number.
  const double k = of_bits(exponent | 0x4330000000000000) - (0x1p52 + 1023.0 - offset);
  return {of_bits((stored & 0x000fffffffffffff) + root_of_half), k};
}

/// The upper half of a product.
USMX_ELEMENTARY bits64 high_product(bits64 a, bits64 b) {
  constexpr bits64 half = 0xffffffff;
  const bits64 a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
  const bits64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/// An angle as quarter turns and a rest; the last two bits of `quarters` count.
struct angle {
  two rest;
  bits64 quarters;
};

USMX_ELEMENTARY angle angle_of(double x) {
  const double bits = fused(x, 0x1.45f306dc9c883p-1, whole64), n = bits - whole64;
  // The first difference is exact up to 2^20, and of what is added to it nothing is lost.
  const double first = fused(n, -0x1.921fb54442d18p+0, x);
  const double second = n * -0x1.1a62633145c07p-54;
  const double third = fused(n, 0x1.f1976b7ed8fbcp-110, fused(n, -0x1.1a62633145c07p-54, -second));
  const two sum = sum_in_any_order(first, second);
  return {{sum.high, sum.low + third}, bits_of(bits)};
}
USMX_ELEMENTARY double sine_of(const angle& a) {
  const double r = a.rest.high, low = a.rest.low, z = r * r;
  // Off by 2^-58.0.
  double s = 0x1.5d931656e5bfdp-33;
  s = fused(s, z, -0x1.ae5e669bb0d1fp-26);
  s = fused(s, z, 0x1.71de3578567bbp-19);
  s = fused(s, z, -0x1.a01a019c1280dp-13);
  s = fused(s, z, 0x1.111111110f883p-7);
  s = fused(s, z, -0x1.5555555555549p-3);
  // Off by 2^-64.2.
  double c = -0x1.8fae9ffbe35d5p-37;
  c = fused(c, z, 0x1.1ee9ebf30d856p-29);
  c = fused(c, z, -0x1.27e4f80a05593p-22);
  c = fused(c, z, 0x1.a01a019cb1e65p-16);
  c = fused(c, z, -0x1.6c16c16c1518p-10);
  c = fused(c, z, 0x1.555555555554cp-5);
  const double sine = r + fused(r * z, s, fused(low, z * -0.5, low));
  const double half = z * 0.5, most = 1.0 - half;
  const double cosine = most + (((1.0 - most) - half) + fused(z * z, c, r * -low));
  const double size = (a.quarters & 1) != 0 ? cosine : sine;
  return of_bits(bits_of(size) ^ (a.quarters & 2) << 62);
}

/// The sine of x and 0 or 1 quarter turns, of a size from 1 on, by those bits of 2 / pi that make
/// its product with x the last quarters and 128 bits more (M. Payne and R. Hanek, "Radian reduction
/// for trigonometric functions" (1983)). It stays a call: inside of the others the table would keep
/// their items from becoming lanes.
[[gnu::noinline]] inline double huge_sine(double x, bits64 quarters) {
  // 64 zeros, and then 2 / pi.
  constexpr bits64 digits[] = {
      0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
      0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  constexpr bits64 fraction = 0x000fffffffffffff;
  const bits64 stored = bits_of(size_of(x)), mantissa = (stored & fraction) | (fraction + 1);
  const bits64 first = (stored >> 52) - 1013, word = first >> 6, shift = first & 63;
  const auto part = [&](bits64 k) {
    return digits[word + k] << shift | digits[word + k + 1] >> 1 >> (63 - shift);
  };
  const bits64 middle = part(1), last = high_product(mantissa, part(2));
  const bits64 below = mantissa * middle + last;
  const bits64 above =
      mantissa * part(0) + high_product(mantissa, middle) + bits64(below < last ? 1 : 0);
  // Nearer to the next quarter the rest is negative.
  const bits64 is_next = above >> 61 & 1, turned = bits64(0) - is_next;
  const bits64 upper = (above << 2 | below >> 62) ^ turned, lower = (below << 2) ^ turned;
  const auto number = [](bits64 k) { return of_bits(k | 0x4330000000000000) - 0x1p52; };
  const two sum = sum_of(number(upper >> 12) * 0x1p-52,
                         number((upper << 40 & fraction) | lower >> 24) * 0x1p-104);
  const double low = sum.low + number(lower & 0xffffff) * 0x1p-128;
  const double quarter = is_next ? -0x1.921fb54442d18p+0 : 0x1.921fb54442d18p+0;
  const double quarter_low = is_next ? -0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-54;
  const double r = sum.high * quarter;
  const double r_low =
      fused(low, quarter, fused(sum.high, quarter_low, fused(sum.high, quarter, -r)));
  const double value = sine_of({{r, r_low}, (above >> 62) + is_next + quarters});
  const bits64 sign = quarters == 0 ? bits_of(x) & sign64 : 0;
  return size_of(x) < infinity64 ? of_bits(bits_of(value) ^ sign) : nan64;
}
/// The same of a float, whose lanes are as many as those of the others.
[[gnu::noinline]] inline float huge_sine(float x, bits32 quarters) {
  return float(huge_sine(double(x), bits64(quarters)));
}

/// The sine of pi n + r, with n in the last bits and |r| up to pi / 2; about 30 bits.
USMX_ELEMENTARY float sine_of_float(double r, bits64 halves) {
  const double z = r * r;
  // (sin(r) - r) / r^3
  // Off by 2^-35.6.
  double q = -0x1.9ac3a0f37e368p-26;
  q = fused(q, z, 0x1.7174d2c7edb83p-19);
  q = fused(q, z, -0x1.a017fdedb3919p-13);
  q = fused(q, z, 0x1.11110cc2a1a8ep-7);
  q = fused(q, z, -0x1.555555495ed93p-3);
  return float(of_bits(bits_of(fused(r * z, q, r)) ^ halves << 63));
}

}  // namespace parts

USMX_ELEMENTARY float exp(float x) {
  using namespace parts;
  x = x > 89.0f ? 89.0f : x;
  x = x < -105.0f ? -105.0f : x;
  constexpr float whole = whole32 + 254.0f;
  const float bits = fused(x, 0x1.715476p+0f, whole), n = bits - whole;
  const float r = fused(n, -0x1.7f7d1cp-20f, fused(n, -0x1.62e4p-1f, x));
  // Off by 2^-28.2.
  float q = 0x1.6db4e8p-10f;
  q = fused(q, r, 0x1.123bdep-7f);
  q = fused(q, r, 0x1.55545ep-5f);
  q = fused(q, r, 0x1.55548ep-3f);
  q = fused(q, r, 0x1p-1f);
  const float sum = 1.0f + r;
  const float value = sum + fused(r * r, q, (1.0f - sum) + r);
  const bits32 both = bits_of(bits), half = both >> 1;
  return value * of_bits(half << 23) * of_bits((both - half) << 23);
}
USMX_ELEMENTARY double exp(double x) {
  using namespace parts;
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  const double bits = fused(x, per_ln2, whole_power64), n = bits - whole_power64;
  const double r = fused(n, -ln2_low, fused(n, -ln2_high, x));
  // Off by 2^-57.1.
  double q = 0x1.af63a09785f8cp-26;
  q = fused(q, r, 0x1.28b4706a1ca87p-22);
  q = fused(q, r, 0x1.71ddf67569e0ap-19);
  q = fused(q, r, 0x1.a019934df710fp-16);
  q = fused(q, r, 0x1.a01a01b0224cfp-13);
  q = fused(q, r, 0x1.6c16c18625d65p-10);
  q = fused(q, r, 0x1.111111110f7d5p-7);
  q = fused(q, r, 0x1.555555555034dp-5);
  q = fused(q, r, 0x1.5555555555558p-3);
  q = fused(q, r, 0x1.0000000000009p-1);
  const double sum = 1.0 + r;
  return scaled(sum + fused(r * r, q, (1.0 - sum) + r), bits);
}

USMX_ELEMENTARY float log(float x) {
  using namespace parts;
  constexpr bits32 one = 0x3f800000, root_of_half = 0x3f3504f3;
  const bool is_small = x < 0x1p-126f;
  const bits32 stored = bits_of(is_small ? x * 0x1p23f : x) + (one - root_of_half);
  const float k =
      of_bits(stored >> 23 | 0x4b000000) - (is_small ? 0x1p23f + 150.0f : 0x1p23f + 127.0f);
  const float f = of_bits((stored & 0x007fffff) + root_of_half) - 1.0f;
  // (log(1 + f) - f + f^2 / 2) / f^3
  // Off by 2^-27.3.
  float q = -0x1.41f05cp-4f;
  q = fused(q, f, 0x1.07d18ap-3f);
  q = fused(q, f, -0x1.0ce048p-3f);
  q = fused(q, f, 0x1.226e2ep-3f);
  q = fused(q, f, -0x1.54788ep-3f);
  q = fused(q, f, 0x1.99a598p-3f);
  q = fused(q, f, -0x1.00022p-2f);
  q = fused(q, f, 0x1.55554ap-2f);
  const float value = fused(k, 0x1.62e43p-1f, fused(f * f, fused(f, q, -0.5f), f));
  const float other = x < 0.0f ? nan32 : x == 0.0f ? -infinity32 : x;
  // Of numbers from the smallest to the largest; there is one comparison for both.
  return bits_of(x) - 1 < 0x7f7fffff ? value : other;
}
USMX_ELEMENTARY double log(double x) {
  using namespace parts;
  const bool is_small = x < 0x1p-1022;
  const float_parts p = parts_of(is_small ? x * 0x1p54 : x, is_small ? -54.0 : 0.0);
  const double f = p.m - 1.0, s = f / (p.m + 1.0), z = s * s, half = f * f * 0.5;
  // (2 atanh(s) - 2 s) / s^3
  // Off by 2^-58.5.
  double q = 0x1.2f06063e56718p-3;
  q = fused(q, z, 0x1.39a1b10ed9d7dp-3);
  q = fused(q, z, 0x1.74663f039de98p-3);
  q = fused(q, z, 0x1.c71c520a3078ap-3);
  q = fused(q, z, 0x1.24924941ee8bfp-2);
  q = fused(q, z, 0x1.999999997fdfep-2);
  q = fused(q, z, 0x1.5555555555592p-1);
  // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + s^2 q)
  const double rest = fused(s, fused(z, q, half), fused(p.k, ln2_low, -half));
  const two sum = sum_of(p.k * ln2_high, f);
  const double value = sum.high + (sum.low + rest);
  return x > 0.0 && x < infinity64 ? value : x == 0.0 ? -infinity64 : x < 0.0 ? nan64 : x;
}

USMX_ELEMENTARY float sin(float x) {
  using namespace parts;
  const double bits = fused(double(x), 0x1.45f306dc9c883p-2, whole64), n = bits - whole64;
  const double r = fused(n, -0x1.1a62633145c07p-53, fused(n, -0x1.921fb54442d18p+1, double(x)));
  float value = sine_of_float(r, bits_of(bits));
  if (is_rare(size_of(x) > 0x1p28f)) value = huge_sine(x, 0);
  return x == 0.0f ? x : value;
}
USMX_ELEMENTARY double sin(double x) {
  double value = parts::sine_of(parts::angle_of(x));
  if (parts::is_rare(parts::size_of(x) > 0x1p20)) value = parts::huge_sine(x, 0);
  return parts::size_of(x) < 0x1p-27 ? x : value;
}
USMX_ELEMENTARY float cos(float x) {
  using namespace parts;
  const double bits = fused(double(x), 0x1.45f306dc9c883p-2, -0.5) + whole64;
  const double n = (bits - whole64) + 0.5;
  const double r = fused(n, -0x1.1a62633145c07p-53, fused(n, -0x1.921fb54442d18p+1, double(x)));
  float value = sine_of_float(r, bits_of(bits) + 1);
  if (is_rare(size_of(x) > 0x1p28f)) value = huge_sine(x, 1);
  return value;
}
USMX_ELEMENTARY double cos(double x) {
  parts::angle a = parts::angle_of(x);
  ++a.quarters;
  double value = parts::sine_of(a);
  if (parts::is_rare(parts::size_of(x) > 0x1p20)) value = parts::huge_sine(x, 1);
  return value;
}

USMX_ELEMENTARY float tanh(float x) {
  using namespace parts;
  const float size = size_of(x);
  const double half = double(size > 10.0f ? 10.0f : size);
  const double bits = fused(half, 2.0 * per_ln2, whole64), n = bits - whole64;
  const double r = fused(n, -0x1.62e42fefa39efp-2, half);
  // (exp(2 r) - 1 - 2 r) / r^2
  // Off by 2^-29.2.
  double q = 0x1.6db4e80ef605cp-4;
  q = fused(q, r, 0x1.123bdec9931a3p-2);
  q = fused(q, r, 0x1.55545d0469773p-1);
  q = fused(q, r, 0x1.55548e350e66ep+0);
  q = fused(q, r, 0x1.00000052349abp+1);
  const double scale = of_bits((bits_of(bits) << 52) + 0x3ff0000000000000);
  // exp(2 |x|) - 1
  const double beyond = fused(scale, fused(r * r, q, r + r), scale - 1.0);
  return with_sign(float(beyond / (beyond + 2.0)), x);
}
USMX_ELEMENTARY double tanh(double x) {
  using namespace parts;
  const double size = size_of(x), twice = size > 22.0 ? 44.0 : size + size;
  const double bits = fused(twice, per_ln2, whole64), n = bits - whole64;
  const two rest = sum_of(fused(n, -ln2_high, twice), n * -ln2_low);
  const double r = rest.high;
  // Off by 2^-64.0.
  double q = 0x1.1f9e46f9b8f8fp-29;
  q = fused(q, r, 0x1.af6d46a64e5d2p-26);
  q = fused(q, r, 0x1.27e4bef203929p-22);
  q = fused(q, r, 0x1.71ddef4f1b7c5p-19);
  q = fused(q, r, 0x1.a01a01b476e4dp-16);
  q = fused(q, r, 0x1.a01a01b3d616ap-13);
  q = fused(q, r, 0x1.6c16c16c13508p-10);
  q = fused(q, r, 0x1.111111110eb6fp-7);
  q = fused(q, r, 0x1.555555555555ep-5);
  q = fused(q, r, 0x1.555555555555cp-3);
  q = fused(q, r, 0x1p-1);
  const double scale = of_bits((bits_of(bits) << 52) + 0x3ff0000000000000);
  // exp(2 |x|) - 1, which is divided by exp(2 |x|) + 1
  const two sum = sum_of(scale - 1.0, scale * r);
  const two beyond = sum_of(sum.high, fused(scale, fused(r * r, q, rest.low), sum.low));
  const two below = sum_in_any_order(beyond.high, 2.0);
  const double inverse = 1.0 / below.high, first = beyond.high * inverse;
  const double left =
      fused(-first, below.low + beyond.low, fused(-first, below.high, beyond.high) + beyond.low);
  return with_sign(fused(left, inverse, first), x);
}

USMX_ELEMENTARY float atan2(float y, float x) {
  using namespace parts;
  const float ax = size_of(x), ay = size_of(y);
  const bool is_above = ay > ax;
  const float a = is_above ? ay : ax, b = is_above ? ax : ay;
  // Nothing is added but to 0, whose quotient then is 0.
  const double quotient = double(b) / (double(a) + 0x1p-300);
  const double t = a == infinity32 && b == a ? 1.0 : quotient, z = t * t;
  // (atan(t) - t) / t^3
  // Off by 2^-31.4.
  double q = 0x1.2981cb18f85c7p-10;
  q = fused(q, z, -0x1.e674f3457d01fp-8);
  q = fused(q, z, 0x1.74e8b91bf9ee1p-6);
  q = fused(q, z, -0x1.7034140d93f4ep-5);
  q = fused(q, z, 0x1.14df722a69cc8p-4);
  q = fused(q, z, -0x1.69386981d093p-4);
  q = fused(q, z, 0x1.c50717aae3be5p-4);
  q = fused(q, z, -0x1.2475037899db4p-3);
  q = fused(q, z, 0x1.9997fd0fc253cp-3);
  q = fused(q, z, -0x1.5555515fd4c7bp-2);
  const bool is_left = (bits_of(x) & sign32) != 0;
  const double angle = fused(t * z, q, t);
  const double half = is_above ? 0x1.921fb54442d18p+0 - angle : angle;
  return with_sign(float(is_left ? 0x1.921fb54442d18p+1 - half : half), y);
}
USMX_ELEMENTARY double atan2(double y, double x) {
  using namespace parts;
  const double ax = size_of(x), ay = size_of(y);
  const bool is_above = ay > ax;
  double a = is_above ? ay : ax, b = is_above ? ax : ay;
  // Infinite sizes are like 1, of which others are nothing.
  const bool is_infinite = a == infinity64;
  b = is_infinite ? (b == infinity64 ? 1.0 : b * 0.0) : b;  // NaN stays
  a = is_infinite || a == 0.0 ? 1.0 : a;
  // The inverse of the larger one is a normal number, and so is what the quotient leaves.
  const double scale = a > 0x1p1000 ? 0x1p-100 : a < 0x1p100 ? 0x1p900 : 1.0;
  a *= scale;
  b *= scale;
  const double inverse = 1.0 / a, t = b * inverse, t_low = fused(-t, a, b) * inverse, z = t * t;
  // (atan(t) - t) / t^3, whose first term is added so that nothing is lost
  // Off by 2^-59.2.
  double rest = -0x1.21a03b48cb24fp-17;
  rest = fused(rest, z, 0x1.b2db0872948b5p-14);
  rest = fused(rest, z, -0x1.367883d951edfp-11);
  rest = fused(rest, z, 0x1.19d414d87672ap-9);
  rest = fused(rest, z, -0x1.6fbba96b716f3p-8);
  rest = fused(rest, z, 0x1.72e36327d8b9fp-7);
  rest = fused(rest, z, -0x1.310d3f161260bp-6);
  rest = fused(rest, z, 0x1.ac98467a66f6bp-6);
  rest = fused(rest, z, -0x1.0ca4f429b1143p-5);
  rest = fused(rest, z, 0x1.3911117484cf1p-5);
  rest = fused(rest, z, -0x1.5f2b50f75081cp-5);
  rest = fused(rest, z, 0x1.84b761d703476p-5);
  rest = fused(rest, z, -0x1.aedb51784d8e1p-5);
  rest = fused(rest, z, 0x1.e1d4c5d5d8853p-5);
  rest = fused(rest, z, -0x1.1110382410f5p-4);
  rest = fused(rest, z, 0x1.3b139c914a9ep-4);
  rest = fused(rest, z, -0x1.745d15e2416bap-4);
  rest = fused(rest, z, 0x1.c71c71b74464p-4);
  rest = fused(rest, z, -0x1.249249245be46p-3);
  rest = fused(rest, z, 0x1.9999999998db7p-3);
  const two q = sum_of(-0x1.555555555554ep-2, z * rest);
  const double cube = t * z;
  const double cube_low = fused(t, fused(t, t, -z), fused(t, z, -cube));
  // What t lost times the derivative 1 / (1 + z), which is exact at 1, where most is lost.
  const double left = fused(cube_low, q.high, t_low * fused(z, -0.5, 1.0));
  const double low = fused(cube, q.high, fused(cube, q.low, left));
  // pi, its half or 0, from which the angle is taken or to which it is added
  const bool is_left = (bits_of(x) & sign64) != 0;
  const double high = is_above ? 0x1.921fb54442d18p+0 : is_left ? 0x1.921fb54442d18p+1 : 0.0;
  const double high_low = is_above ? 0x1.1a62633145c07p-54 : is_left ? 0x1.1a62633145c07p-53 : 0.0;
  const bits64 sign = is_left != is_above ? sign64 : 0;
  const two sum = sum_of(high, of_bits(bits_of(t) ^ sign));
  const double value = sum.high + (sum.low + (high_low + of_bits(bits_of(low) ^ sign)));
  return with_sign(value, y);
}

USMX_ELEMENTARY float hypot(float x, float y) {
  using namespace parts;
  const float ax = size_of(x), ay = size_of(y);
  const bool is_above = ay > ax;
  float a = is_above ? ay : ax, b = is_above ? ax : ay;
  // The power of 2 below the larger one, whose inverse is twice a number: a becomes 2 to 4.
  const bits32 stored = bits_of(a) & 0x7f800000;
  const bits32 power = stored > 0x00800000 ? stored : 0x00800000;
  const float scale = of_bits(0x7f800000 - power);
  a *= scale;
  b *= scale;
  const float square = a * a, other = b * b, sum = square + other;
  const float low = ((square - sum) + other) + (fused(a, a, -square) + fused(b, b, -other));
  const float value = root((sum + low) * 0.25f) * of_bits(power);
  return ax == infinity32 || ay == infinity32 ? infinity32 : value;
}
USMX_ELEMENTARY double hypot(double x, double y) {
  using namespace parts;
  const double ax = size_of(x), ay = size_of(y);
  const bool is_above = ay > ax;
  double a = is_above ? ay : ax, b = is_above ? ax : ay;
  const bits64 stored = bits_of(a) & 0x7ff0000000000000;
  const bits64 power = stored > 0x0010000000000000 ? stored : 0x0010000000000000;
  const double scale = of_bits(0x7ff0000000000000 - power);
  a *= scale;
  b *= scale;
  const double square = a * a, other = b * b;
  const two sum = sum_of(square, other);
  const double low = sum.low + (fused(a, a, -square) + fused(b, b, -other));
  const double value = root((sum.high + low) * 0.25) * of_bits(power);
  return ax == infinity64 || ay == infinity64 ? infinity64 : value;
}

#undef USMX_ELEMENTARY

}  // namespace usmx::elementary
