// Special functions that OpenCL lacks: inverses of the error function, the normal distribution,
// Bessel functions.
//
// Those of Bessel are Chebyshev series in x^2 up to x = 8, and in 8 / x beyond, where J and Y are
// a wave with slowly changing amplitudes (Abramowitz and Stegun 9.2.5-9.2.6, 9.7.1); the
// coefficients were computed for this file with 40 digits from the functions at the nodes. The
// first guess of erfinv is that of M. Giles, "Approximating the erfinv function" (2010).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "by_float.hpp"
#include "math.hpp"
#include "powers.hpp"
#include "types.hpp"

namespace usmx {

namespace special {

/// The sum of c[k] T_k(x), by Clenshaw's recurrence.
template <class T, int N>
inline T series(const T (&c)[N], T x) {
  T b0 = 0, b1 = 0;
  for (int k = N - 1; k > 0; --k) {
    const T b2 = b1;
    b1 = b0;
    b0 = 2 * x * b1 - b2 + c[k];
  }
  return x * b0 - b1 + c[0];
}

/// J0 of sqrt(t), t = 32 (x + 1).
template <class T>
inline T j0_series(T x) {
  constexpr T c[] = {
      T(1.5772797147489011956e-1),   T(-8.7234423528522212908e-3),  T(2.6517861320333680987e-1),
      T(-3.7009499387264977903e-1),  T(1.5806710233209726128e-1),   T(-3.4893769411408885163e-2),
      T(4.8191800694676044968e-3),   T(-4.6062616620627504750e-4),  T(3.2460328821005080806e-5),
      T(-1.7619469077621507495e-6),  T(7.6081635924187818670e-8),   T(-2.6792535305576728983e-9),
      T(7.8486963144794644165e-11),  T(-1.9438346867370165706e-12), T(4.1253205956343739326e-14),
      T(-7.5885081254475463376e-16), T(1.2218515873961411034e-17)};
  return series(c, x);
}

/// J1 of sqrt(t) over sqrt(t).
template <class T>
inline T j1_series(T x) {
  constexpr T c[] = {
      T(8.1044846325658115105e-2),   T(-1.4897514506765210906e-1),  T(1.6099926235720970255e-1),
      T(-8.2680491766817906597e-2),  T(2.2213639654966035410e-2),   T(-3.6469406007692759578e-3),
      T(4.0503377283548218331e-4),   T(-3.2555548668572585168e-5),  T(1.9858774049915167414e-6),
      T(-9.5219847567504361821e-8),  T(3.6871337590971482385e-9),   T(-1.1780266226958848398e-10),
      T(3.1601545803480033215e-12),  T(-7.2217552396517734285e-14), T(1.4232144003513942316e-15),
      T(-2.4441972916190463893e-17), T(3.6912682997929332622e-19)};
  return series(c, x);
}

/// Y0 without its logarithm.
template <class T>
inline T y0_series(T x) {
  constexpr T c[] = {
      T(-3.3146113203284941656e-2),  T(-2.7447430552974526529e-1),  T(1.7903431407718266299e-1),
      T(2.6156734625504663680e-1),   T(-1.7730201278114358212e-1),  T(4.7196689595763386875e-2),
      T(-7.2879624795520791794e-3),  T(7.5311359325777422807e-4),   T(-5.6320791410569869751e-5),
      T(3.2065325376548009793e-6),   T(-1.4407233274018699479e-7),  T(5.2487947873305161232e-9),
      T(-1.5837552541812015122e-10), T(4.0263308183061207531e-12),  T(-8.7473412033107695544e-14),
      T(1.6434898714919469038e-15),  T(-2.6977881152566835632e-17), T(3.9032584173475982707e-19)};
  return series(c, x);
}

/// Y1 without its logarithm and pole, over sqrt(t).
template <class T>
inline T y1_series(T x) {
  constexpr T c[] = {
      T(2.5380132357417817303e-3),   T(-1.6087173047668750173e-2), T(-9.5912045360830742472e-2),
      T(8.4451972596523458368e-2),   T(-2.8328123944594365554e-2), T(5.2898975441671130141e-3),
      T(-6.4145514513263559874e-4),  T(5.5059828733387438376e-5),  T(-3.5380800186893499017e-6),
      T(1.7707804556154403410e-7),   T(-7.1105500498992797819e-9), T(2.3443379059115163947e-10),
      T(-6.4651518414115942418e-12), T(1.5142915120500199545e-13), T(-3.0511859694473252740e-15),
      T(5.3466803857286701231e-17),  T(-8.2249113720215846294e-19)};
  return series(c, x);
}

/// The amplitudes of J0 and Y0, of (8 / x)^2 = (x + 1) / 2.
template <class T>
inline T p0_series(T x) {
  constexpr T c[] = {
      T(9.9946034934751866537e-1),   T(-5.3652204681321174247e-4),  T(3.0751847875194746219e-6),
      T(-5.1705945376060977010e-8),  T(1.6306464635151383095e-9),   T(-7.8640913772370699990e-11),
      T(5.1682623873491924622e-12),  T(-4.3045788699253912224e-13), T(4.3265957431549405642e-14),
      T(-5.0690340959352360775e-15), T(6.7480722157338737041e-16),  T(-1.0011513723467785834e-16),
      T(1.6305919233744184736e-17),  T(-2.8808661694828712020e-18)};
  return series(c, x);
}

/// The other one, over 8 / x.
template <class T>
inline T q0_series(T x) {
  constexpr T c[] = {
      T(-1.5555854605337009100e-2),  T(6.8385199426116495994e-5),   T(-7.4144984110606472645e-7),
      T(1.7972457247968991784e-8),   T(-7.2719159368663199794e-10), T(4.2201219046687384438e-11),
      T(-3.2067474209966347446e-12), T(3.0061451253517063112e-13),  T(-3.3363281853224269970e-14),
      T(4.2552250402454611232e-15),  T(-6.0999301316400500098e-16), T(9.6621289703032567377e-17),
      T(-1.6686065214378146300e-17), T(3.1082440486738144338e-18),  T(-6.1911157873581449275e-19),
      T(1.3091448717220121549e-19),  T(-2.9211627152642773631e-20)};
  return series(c, x);
}

/// The same of J1 and Y1.
template <class T>
inline T p1_series(T x) {
  constexpr T c[] = {
      T(1.0009030408600136999),      T(8.9898983308594085557e-4),   T(-3.9872843004889085228e-6),
      T(6.1776339606442985349e-8),   T(-1.8718907491063066087e-9),  T(8.8168986595823388985e-11),
      T(-5.7048636403956447019e-12), T(4.6991955152305423752e-13),  T(-4.6842237839904892216e-14),
      T(5.4526748960447171683e-15),  T(-7.2211808422740179189e-16), T(1.0667689114335412457e-16),
      T(-1.7312313216116334973e-17), T(3.0492991197665872261e-18)};
  return series(c, x);
}

/// The other one.
template <class T>
inline T q1_series(T x) {
  constexpr T c[] = {
      T(4.6777787069535325241e-2),   T(-9.6277235491570793242e-5),  T(9.1386152579554541244e-7),
      T(-2.0959781384083422461e-8),  T(8.2291933276505541290e-10),  T(-4.6863636881769452305e-11),
      T(3.5152187949686080851e-12),  T(-3.2643156743278999260e-13), T(3.5967765829165291930e-14),
      T(-4.5612523950772971943e-15), T(6.5082829577833839539e-16),  T(-1.0269147531823242863e-16),
      T(1.7676355487764791603e-17),  T(-3.2834519872981614605e-18), T(6.5240811495892603032e-19),
      T(-1.3765771484849488032e-19)};
  return series(c, x);
}

/// I0 of 4 (x + 1), times exp(-x).
template <class T>
inline T i0_series(T x) {
  constexpr T c[] = {
      T(3.3839763720473804250e-1),   T(-3.0468267234319839868e-1),  T(1.7162090152220877535e-1),
      T(-9.4901097048047644421e-2),  T(4.9305284239670708488e-2),   T(-2.3737414805899468816e-2),
      T(1.0546460394594998318e-2),   T(-4.3243099950505759443e-3),  T(1.6394756169413357984e-3),
      T(-5.7637557453858236588e-4),  T(1.8850288509584165573e-4),   T(-5.7541950100821037040e-5),
      T(1.6448448070728897089e-5),   T(-4.4167383584587505636e-6),  T(1.1173875391201037182e-6),
      T(-2.6707938539406117339e-7),  T(6.0469950225419189493e-8),   T(-1.3000250099862480421e-8),
      T(2.6598237246823866503e-9),   T(-5.1897956016352629067e-10), T(9.6758090353732369122e-11),
      T(-1.7268262914415557072e-11), T(2.9550526631296398346e-12),  T(-4.8564467831119294609e-13),
      T(7.6761854986049356169e-14),  T(-1.1685332877993451681e-14), T(1.7153912855551330306e-15),
      T(-2.4312798465479546936e-16), T(3.3307945188222380978e-17),  T(-4.4153416464793393795e-18),
      T(5.6691780069214961571e-19)};
  return series(c, x);
}

/// I1 of the same over x, times exp(-x).
template <class T>
inline T i1_series(T x) {
  constexpr T c[] = {
      T(1.2629359322181682741e-1),   T(-1.7641651835783405515e-1),  T(1.0264365868984709538e-1),
      T(-5.2945981208094991427e-2),  T(2.4726449030626516828e-2),   T(-1.0564084894626198156e-2),
      T(4.1564229443128881567e-3),   T(-1.5135724506312531490e-3),  T(5.1228595616857577290e-4),
      T(-1.6176081582589674559e-4),  T(4.7815651075500542264e-5),   T(-1.3273163656039435828e-5),
      T(3.4702513081376784767e-6),   T(-8.5687202646954547407e-7),  T(2.0032947535521352623e-7),
      T(-4.4450591287963280807e-8),  T(9.3815373864957717839e-9),   T(-1.8872497517228292879e-9),
      T(3.6255902815521170370e-10),  T(-6.6634897235020277422e-11), T(1.1736186298890901631e-11),
      T(-1.9839743977649437152e-12), T(3.2237933659455747098e-13),  T(-5.0421855047279116871e-14),
      T(7.6006842947354069341e-15),  T(-1.1055969477353863080e-15), T(1.5536319577362004689e-16),
      T(-2.1114212143581660782e-17), T(2.7779141127610463705e-18),  T(-3.5415817725421362052e-19)};
  return series(c, x);
}

/// I0 times exp(-x) sqrt(x) of 8 / x = (x + 1) / 2.
template <class T>
inline T i0l_series(T x) {
  constexpr T c[] = {
      T(4.0224520550705441580e-1),   T(3.3691164782556940899e-3),   T(6.8897583469168239843e-5),
      T(2.8913705208347564830e-6),   T(2.0489185894690637418e-7),   T(2.2666689904981780646e-8),
      T(3.3962320257083863452e-9),   T(4.9406023882249695891e-10),  T(1.1889147107846438342e-11),
      T(-3.1499165279632413645e-11), T(-1.3215811840447713119e-11), T(-1.7941785315068061178e-12),
      T(7.1801244513836662337e-13),  T(3.8527783827421427011e-13),  T(1.5400862175214098269e-14),
      T(-4.1505693472872220866e-14), T(-9.5548466988283076487e-15), T(3.8116806693526224207e-15),
      T(1.7725601330565263836e-15),  T(-3.4254856196772191346e-16), T(-2.8276239805165834849e-16),
      T(3.4612228676974610931e-17),  T(4.4656214202967599990e-17),  T(-4.8305044859441820713e-18),
      T(-7.2331804878747539546e-18), T(9.9214754121736985989e-19),  T(1.1936508908459820855e-18)};
  return series(c, x);
}

/// The same of I1.
template <class T>
inline T i1l_series(T x) {
  constexpr T c[] = {
      T(3.8928811750914006024e-1),   T(-9.7610974913614684078e-3),  T(-1.1058893876262371629e-4),
      T(-3.8825648088776903935e-6),  T(-2.5122362378702089253e-7),  T(-2.6314688468895195068e-8),
      T(-3.8353803859642370220e-9),  T(-5.5897434621965838069e-10), T(-1.8974958123505412345e-11),
      T(3.2526035830154882386e-11),  T(1.4125807436613781332e-11),  T(2.0356285441470895072e-12),
      T(-7.1985517762459085121e-13), T(-4.0835511110921973182e-13), T(-2.1015418427726643130e-14),
      T(4.2724400167119513543e-14),  T(1.0420276984128802764e-14),  T(-3.8144030724370078048e-15),
      T(-1.8803547755107824485e-15), T(3.3082023109209282827e-16),  T(2.9626289976459501391e-16),
      T(-3.2095259219934239588e-17), T(-4.6503053684893583256e-17), T(4.4143483230717079499e-18),
      T(7.5172963108421048054e-18),  T(-9.3141788673268833757e-19), T(-1.2421932751948909561e-18)};
  return series(c, x);
}

/// J and Y of order 0 or 1 beyond 8: the amplitudes times the wave's cosine and sine.
template <int Order, class T>
inline void wave(T x, T& j, T& y) {
  const T u = 8 / x, at = 2 * u * u - 1;
  const T p = Order == 0 ? p0_series(at) : p1_series(at);
  const T q = u * (Order == 0 ? q0_series(at) : q1_series(at));
  // cos and sin of x - (2 Order + 1) pi / 4, without subtracting from x.
  constexpr T root_half = T(0.70710678118654752440);
  const T s = sin(x), c = cos(x);
  const T cosine = root_half * (Order == 0 ? c + s : s - c);
  const T sine = root_half * (Order == 0 ? s - c : T(0) - s - c);
  const T scale = sqrt(T(0.63661977236758134308) / x);
  j = scale * (p * cosine - q * sine);
  y = scale * (p * sine + q * cosine);
}

/// x with erf(x) = 1 - small, of 0 < small <= 1.
template <class T>
inline T inverse_of_erfc(T small) {
  T x, w = T(0) - log(small) - log(T(2) - small);
  if (w < 5) {
    w -= T(2.5);
    constexpr T c[] = {T(2.81022636e-08),  T(3.43273939e-07), T(-3.5233877e-06),
                       T(-4.39150654e-06), T(0.00021858087),  T(-0.00125372503),
                       T(-0.00417768164),  T(0.246640727),    T(1.50140941)};
    x = 0;
    for (T k : c) x = x * w + k;
    x *= 1 - small;
  } else {
    // erfc(x) is exp(-x^2) / (x sqrt(pi)) about.
    const T l = T(0) - log(small) - T(0.57236494292470008707);
    x = sqrt(l - log(l - log(l) / 2) / 2);
  }
  // Halley's steps; the second derivative is -2 x times the first one.
  for (int step = 0; step < (sizeof(T) == 8 ? 3 : 2); ++step) {
    const T beyond = small > T(0.5) ? (T(1) - small) - erf(x) : erfc(x) - small;
    const T u = beyond / (T(1.12837916709551257390) * exp(T(0) - x * x));
    x += u / (1 - x * u);
  }
  return x;
}

}  // namespace special

template <class T>
inline T erfinv(T y) {
  if (y == T(1) || y == T(-1)) return copysign(T(__builtin_inff()), y);
  if (!(fabs(y) < T(1))) return T(__builtin_nanf(""));
  if (fabs(y) < T(1e-10f)) return y * T(0.88622692545275801365);
  if (fabs(y) < T(0.5)) {
    // The guess, and Halley's steps with erf: 1 - |y| would lose what is small.
    const T w = T(0) - log1p(T(0) - y * y) - T(2.5);
    constexpr T c[] = {T(2.81022636e-08),  T(3.43273939e-07), T(-3.5233877e-06),
                       T(-4.39150654e-06), T(0.00021858087),  T(-0.00125372503),
                       T(-0.00417768164),  T(0.246640727),    T(1.50140941)};
    T x = 0;
    for (T k : c) x = x * w + k;
    x *= y;
    for (int step = 0; step < 2; ++step) {
      const T u = (y - erf(x)) / (T(1.12837916709551257390) * exp(T(0) - x * x));
      x += u / (1 - x * u);
    }
    return x;
  }
  return copysign(special::inverse_of_erfc(T(1) - fabs(y)), y);
}

template <class T>
inline T erfcinv(T y) {
  if (y == T(0)) return T(__builtin_inff());
  if (y == T(2)) return T(-__builtin_inff());
  if (!(y > T(0) && y < T(2))) return T(__builtin_nanf(""));
  if (y > T(0.5) && y < T(1.5)) return erfinv(T(1) - y);
  return y < T(1) ? special::inverse_of_erfc(y) : T(0) - special::inverse_of_erfc(T(2) - y);
}

/// exp(x^2) erfc(x), which neither overflows nor vanishes where the product does not.
template <class T>
inline T erfcx(T x) {
  if (x > T(sizeof(T) == 8 ? 25 : 8)) {
    // Abramowitz and Stegun 7.1.23.
    const T u = (T(0.5) / x) / x;
    T sum = 1;
    for (int k = 7; k > 0; --k) sum = 1 - T(2 * k - 1) * u * sum;
    return T(0.56418958354775628695) / x * sum;
  }
  const T square = x * x, rest = fma(x, x, T(0) - square);
  const T factor = exp(square);
  return isinf(factor) ? factor : (factor + factor * rest) * erfc(x);
}

/// The probability that a normal number is at most x.
template <class T>
inline T normcdf(T x) {
  constexpr T root_half = T(0.70710678118654752440);
  constexpr T beyond = T(sizeof(T) == 8 ? -4.8336466567264565e-17 : 1.2101617104478969e-8);
  const T at = T(0) - x * root_half;
  // What the product lost counts where erfc is steep.
  const T lost = T(0) - fma(x, root_half, at) - x * beyond;
  const T value = erfc(at);
  if (!isfinite(lost)) return value / 2;
  return (value - T(1.12837916709551257390) * exp(T(0) - at * at) * lost) / 2;
}
template <class T>
inline T normcdfinv(T p) {
  return T(-1.41421356237309504880) * erfcinv(T(2) * p);
}

// --- Bessel functions -------------------------------------------------------------------------

template <class T>
inline T j0(T x) {
  x = fabs(x);
  if (isinf(x)) return T(0);
  if (x <= T(8)) return special::j0_series(x * x / 32 - 1);
  T j, y;
  special::wave<0>(x, j, y);
  return j;
}
template <class T>
inline T j1(T x) {
  const T a = fabs(x);
  if (isinf(a)) return T(0);
  if (a <= T(8)) return x * special::j1_series(x * x / 32 - 1);
  T j, y;
  special::wave<1>(a, j, y);
  return x < T(0) ? T(0) - j : j;
}
template <class T>
inline T y0(T x) {
  if (x == T(0)) return T(-__builtin_inff());
  if (!(x > T(0))) return T(__builtin_nanf(""));
  if (isinf(x)) return T(0);
  if (x <= T(8)) {
    return special::y0_series(x * x / 32 - 1) + T(0.63661977236758134308) * log(x) * j0(x);
  }
  T j, y;
  special::wave<0>(x, j, y);
  return y;
}
template <class T>
inline T y1(T x) {
  if (x == T(0)) return T(-__builtin_inff());
  if (!(x > T(0))) return T(__builtin_nanf(""));
  if (isinf(x)) return T(0);
  if (x <= T(8)) {
    return x * special::y1_series(x * x / 32 - 1) +
           T(0.63661977236758134308) * (log(x) * j1(x) - 1 / x);
  }
  T j, y;
  special::wave<1>(x, j, y);
  return y;
}
namespace special {
/// Each order is a step, so larger ones are NaN: a kernel must end.
inline constexpr int largest_bessel_order = 100000;
inline bool is_bessel_order(int n) {
  return n <= largest_bessel_order && n >= 0 - largest_bessel_order;
}
}  // namespace special

/// Upwards from orders 0 and 1, which is stable for Y.
template <class T>
inline T yn(int n, T x) {
  if (!special::is_bessel_order(n)) return T(__builtin_nanf(""));
  const bool is_odd = n % 2 != 0;
  const T sign = n < 0 && is_odd ? T(-1) : T(1);
  n = n < 0 ? 0 - n : n;
  if (n == 0) return y0(x);
  T before = y0(x), now = y1(x);
  for (int k = 1; k < n && isfinite(now); ++k) {
    const T next = T(2 * k) / x * now - before;
    before = now;
    now = next;
  }
  return sign * now;
}
/// Upwards where that is stable, and downwards from an order far above elsewhere: what is found is
/// J but for a factor, which the sum J0 + 2 (J2 + J4 + ...) = 1 gives.
template <class T>
inline T jn(int n, T x) {
  if (!special::is_bessel_order(n)) return T(__builtin_nanf(""));
  const bool is_odd = n % 2 != 0;
  const T sign = is_odd && (n < 0) != (x < T(0)) ? T(-1) : T(1);
  n = n < 0 ? 0 - n : n;
  x = fabs(x);
  if (n == 0 || isnan(x)) return j0(x);
  if (n == 1) return sign * j1(x);
  if (isinf(x)) return T(0);
  constexpr bool is_wide = sizeof(T) == 8;
  if (x < T(is_wide ? 1e-8 : 1e-4)) {
    T term = sign;
    for (int k = 1; k <= n && term != T(0); ++k) term = term * (x / 2) / T(k);
    return term;
  }
  if (x > T(n)) {
    T before = j0(x), now = j1(x);
    for (int k = 1; k < n; ++k) {
      const T next = T(2 * k) / x * now - before;
      before = now;
      now = next;
    }
    return sign * now;
  }
  T above = 0, now = 1, wanted = 0, sum = 0;
  const int start = 2 * ((n + int(sqrt(T(is_wide ? 160 : 60) * T(n))) + 2) / 2);
  for (int k = start; k > 0; --k) {
    const T below = T(2 * k) / x * now - above;
    above = now;
    now = below;
    if (fabs(now) > T(1e10f)) {
      now *= T(1e-10f);
      above *= T(1e-10f);
      wanted *= T(1e-10f);
      sum *= T(1e-10f);
    }
    if (k % 2 == 1 && k > 1) sum += now;
    if (k == n) wanted = above;
  }
  return sign * wanted / (2 * sum + now);
}
/// Of orders that are written as floats; NaN if they are not whole or too large.
template <class T>
inline T bessel_j(T order, T x) {
  if (!(fabs(order) < T(1e9f)) || order != rint(order)) return T(__builtin_nanf(""));
  return jn(int(order), x);
}
template <class T>
inline T bessel_y(T order, T x) {
  if (!(fabs(order) < T(1e9f)) || order != rint(order)) return T(__builtin_nanf(""));
  return yn(int(order), x);
}
template <class T>
inline T cyl_bessel_i0(T x) {
  x = fabs(x);
  // Two roots of exp(x), which alone overflows earlier.
  const T root = exp(x / 2);
  if (x <= T(8)) return root * special::i0_series(x / 4 - 1) * root;
  return isinf(x) ? x : root * (special::i0l_series(16 / x - 1) / sqrt(x)) * root;
}
template <class T>
inline T cyl_bessel_i1(T x) {
  const T a = fabs(x), root = exp(a / 2);
  if (a <= T(8)) return root * (x * special::i1_series(a / 4 - 1)) * root;
  return isinf(x) ? x : copysign(root * (special::i1l_series(16 / a - 1) / sqrt(a)) * root, x);
}

// --- angles in units of pi, and others of CUDA -------------------------------------------------

template <class T>
inline T sinpi(T x) {
  // All steps to the rest are exact: whole turns, the nearest half, what is left.
  x -= 2 * trunc(x / 2);
  const T halves = rint(2 * x), rest = T(3.14159265358979323846) * (x - halves / 2);
  const T quarter = halves - 4 * floor(halves / 4);
  if (!isfinite(x)) return T(__builtin_nanf(""));
  return quarter == T(0)   ? sin(rest)
         : quarter == T(1) ? cos(rest)
         : quarter == T(2) ? T(0) - sin(rest)
                           : T(0) - cos(rest);
}
template <class T>
inline T cospi(T x) {
  x -= 2 * trunc(x / 2);
  const T halves = rint(2 * x), rest = T(3.14159265358979323846) * (x - halves / 2);
  const T quarter = halves - 4 * floor(halves / 4);
  if (!isfinite(x)) return T(__builtin_nanf(""));
  return quarter == T(0)   ? cos(rest)
         : quarter == T(1) ? T(0) - sin(rest)
         : quarter == T(2) ? T(0) - cos(rest)
                           : sin(rest);
}
template <class T>
inline T exp10(T x) {
  return pow(T(10), x);
}
/// 1 / (1 + exp(-x)), which keeps its digits where it is small.
template <class T>
inline T expit(T x) {
  const T e = exp(T(0) - fabs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
/// log(p / (1 - p)); about 1/2, where that vanishes, by a difference that is exact.
template <class T>
inline T logit(T p) {
  if (p >= T(0.25) && p <= T(0.75)) return 2 * atanh(2 * p - 1);
  return log(p / (1 - p));
}
template <class T>
inline void sincos(T x, T* sine, T* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
template <class T>
inline void sincospi(T x, T* sine, T* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

USMX_BY_FLOAT_1(erfinv)
USMX_BY_FLOAT_1(erfcinv)
USMX_BY_FLOAT_1(erfcx)
USMX_BY_FLOAT_1(normcdf)
USMX_BY_FLOAT_1(normcdfinv)
USMX_BY_FLOAT_1(j0)
USMX_BY_FLOAT_1(j1)
USMX_BY_FLOAT_1(y0)
USMX_BY_FLOAT_1(y1)
USMX_BY_FLOAT_1(cyl_bessel_i0)
USMX_BY_FLOAT_1(cyl_bessel_i1)
USMX_BY_FLOAT_1(sinpi)
USMX_BY_FLOAT_1(cospi)
USMX_BY_FLOAT_1(exp10)
USMX_BY_FLOAT_1(expit)
USMX_BY_FLOAT_1(logit)
USMX_BY_FLOAT_2(bessel_j)
USMX_BY_FLOAT_2(bessel_y)

}  // namespace usmx
