"""Special functions of Python's floats that `math` lacks, for the simulator.

Bessel functions are their power series in decimal numbers with as many digits as cancel, and, of
large arguments, waves with slowly changing amplitudes (Abramowitz and Stegun 9.1.10-13, 9.2.5-10):
ways that the device does not take, so that comparing both means something.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

_TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
_PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078")
_EULER = Decimal("0.5772156649015328606065120900824024310421593359399235988057672348849")
_ROOT_HALF = Fraction(70710678118654752440084436210484903928483593768847, 10**50)
#: From here on the waves are exact to the last digit.
_FAR = 40.0
# As in kernels, which end in a bounded time.
_LARGEST_ORDER = 100_000


def _inverse_of_erfc(small: float) -> float:
    """x with erfc(x) = small, of 0 < small <= 1: Halley's steps."""
    x = 0.0
    if small < 0.5:
        log = -math.log(small) - math.log(math.pi) / 2
        x = math.sqrt(max(log - math.log(max(log, 1.0)) / 2, 0.2))
    for _ in range(60):
        # 1 - erf is exact where erfc has few digits after the point.
        beyond = (1 - small) - math.erf(x) if small > 0.5 else math.erfc(x) - small
        u = beyond / (_TWO_BY_ROOT_PI * math.exp(-x * x))
        step = u / (1 - x * u)
        x += step
        if abs(step) <= abs(x) * 1e-17:
            break
    return x


def erfinv(y: float) -> float:
    """The inverse of erf."""
    if abs(y) >= 1 or math.isnan(y):
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if abs(y) >= 0.5:
        return math.copysign(_inverse_of_erfc(1 - abs(y)), y)
    x = y / _TWO_BY_ROOT_PI
    for _ in range(60):
        u = (y - math.erf(x)) / (_TWO_BY_ROOT_PI * math.exp(-x * x))
        x += u / (1 + x * u)
        if abs(u) <= abs(x) * 1e-17:
            break
    return x


def erfcinv(y: float) -> float:
    """The inverse of erfc."""
    if y in (0, 2):
        return math.inf if y == 0 else -math.inf
    if not 0 < y < 2:
        return math.nan
    if 0.5 < y < 1.5:
        return erfinv(1 - y)
    return _inverse_of_erfc(y) if y < 1 else -_inverse_of_erfc(2 - y)


def erfcx(x: float) -> float:
    """exp(x * x) * erfc(x)."""
    if x > 25:
        u = 0.5 / x / x
        total = 1.0
        for k in range(12, 0, -1):
            total = 1 - (2 * k - 1) * u * total
        return total * (_TWO_BY_ROOT_PI / 2) / x
    if x < -27:
        return math.inf
    if math.isnan(x):
        return x
    square = x * x
    if square > 709.78:
        return math.inf
    lost = float(Fraction(x) ** 2 - Fraction(square))
    return math.exp(square) * (1 + lost) * math.erfc(x)


def ndtr(x: float) -> float:
    """The probability that a normal number is at most x."""
    if not abs(x) < 50:
        return math.nan if math.isnan(x) else float(x > 0)
    exact = -Fraction(x) * _ROOT_HALF
    at = float(exact)
    lost = float(exact - Fraction(at))
    return (math.erfc(at) - _TWO_BY_ROOT_PI * math.exp(-at * at) * lost) / 2


def ndtri(p: float) -> float:
    """The inverse of ndtr."""
    return -math.sqrt(2) * erfcinv(2 * p)


def _series(n: int, x: float, sign: int) -> Decimal:
    """J (sign -1) or I (sign 1) of order n."""
    half = Decimal(x) / 2
    term = half**n / math.factorial(n) if n else Decimal(1)
    total, square, k = term, sign * half * half, 0
    while term and (k < abs(x) or abs(term) > abs(total) * Decimal("1e-25")):
        k += 1
        term = term * square / (k * (k + n))
        total += term
    return total


def _digits(x: float) -> Context:
    """Digits of which those of an alternating series' largest term may cancel."""
    return Context(prec=45 + int(abs(x)), Emin=-(10**9), Emax=10**9)


def _wave(x: float) -> list[tuple[float, float]]:
    """J and Y of the orders 0 and 1, of large arguments."""
    found = []
    sine, cosine = math.sin(x), math.cos(x)
    for n in (0, 1):
        p, q, term = 0.0, 0.0, 1.0
        for k in range(30):
            if k % 2 == 0:
                p += term if k % 4 == 0 else -term
            else:
                q += term if k % 4 == 1 else -term
            following = term * (4 * n * n - (2 * k + 1) ** 2) / ((k + 1) * 8) / x
            if abs(following) >= abs(term):
                break
            term = following
        both = math.sqrt(0.5)
        c = both * (cosine + sine) if n == 0 else both * (sine - cosine)
        s = both * (sine - cosine) if n == 0 else -both * (sine + cosine)
        scale = math.sqrt(2 / math.pi / x)
        found.append((scale * (p * c - q * s), scale * (p * s + q * c)))
    return found


def jn(n: float, x: float) -> float:
    """The Bessel function of the first kind of whole order n."""
    if not abs(n) <= _LARGEST_ORDER or n != int(n) or math.isnan(x):
        return math.nan
    order = abs(int(n))
    odd = order % 2 == 1
    sign = -1.0 if odd and (n < 0) != (x < 0) else 1.0
    x = abs(x)
    if math.isinf(x):
        return 0.0
    if order > 10_000 and x < order / 2:
        return 0.0
    if x < _FAR or order >= x:
        with localcontext(_digits(x)):
            return sign * float(_series(order, x, -1))
    (before, _), (now, _) = _wave(x)
    if order == 0:
        return before
    for k in range(1, order):
        before, now = now, 2 * k / x * now - before
    return sign * now


def _y_near(x: float) -> tuple[Decimal, Decimal]:
    """Y of the orders 0 and 1, by power series."""
    half = Decimal(x) / 2
    log = half.ln() + _EULER
    square = half * half
    # Sums of (-1)^k H(k) (x / 2)^2k / k!^2, and with H(k) + H(k + 1) of order 1.
    first, second = Decimal(0), half
    of_0, of_1 = Decimal(1), half
    harmonic, k = Decimal(0), 0
    while k < x or abs(of_0) > Decimal("1e-40"):
        k += 1
        harmonic += Decimal(1) / k
        of_0 = -of_0 * square / (k * k)
        of_1 = -of_1 * square / (k * (k + 1))
        first -= harmonic * of_0
        second += (2 * harmonic + Decimal(1) / (k + 1)) * of_1
    y0 = (2 / _PI) * (log * _series(0, x, -1) + first)
    y1 = (2 / _PI) * (log * _series(1, x, -1) - 1 / Decimal(x)) - second / _PI
    return y0, y1


def yn(n: float, x: float) -> float:
    """The Bessel function of the second kind of whole order n."""
    if not abs(n) <= _LARGEST_ORDER or n != int(n) or math.isnan(x) or x < 0:
        return math.nan
    order = abs(int(n))
    sign = -1.0 if n < 0 and order % 2 == 1 else 1.0
    if x == 0:
        return sign * -math.inf
    if math.isinf(x):
        return 0.0
    if x >= _FAR:
        (_, before), (_, now) = _wave(x)
        for k in range(1, order):
            before, now = now, 2 * k / x * now - before
        return before if order == 0 else sign * now
    with localcontext(_digits(x)):
        low, high = _y_near(x)
        for k in range(1, order):
            low, high = high, 2 * k / Decimal(x) * high - low
        return float(low) if order == 0 else sign * float(high)


def j0(x: float) -> float:
    """The Bessel function of the first kind of order 0."""
    return jn(0, x)


def j1(x: float) -> float:
    """The Bessel function of the first kind of order 1."""
    return jn(1, x)


def y0(x: float) -> float:
    """The Bessel function of the second kind of order 0."""
    return yn(0, x)


def y1(x: float) -> float:
    """The Bessel function of the second kind of order 1."""
    return yn(1, x)


def _modified(n: int, x: float) -> float:
    if math.isnan(x):
        return x
    if abs(x) > 720:
        return math.inf
    with localcontext(Context(prec=40, Emin=-(10**9), Emax=10**9)):
        return float(_series(n, abs(x), 1))


def i0(x: float) -> float:
    """The modified Bessel function of order 0."""
    return _modified(0, x)


def i1(x: float) -> float:
    """The modified Bessel function of order 1."""
    return math.copysign(_modified(1, x), x)


def sinpi(x: float) -> float:
    """sin(pi * x)."""
    if not math.isfinite(x):
        return math.nan
    rest = math.fmod(x, 2.0)
    quarter = round(2 * rest)
    angle = math.pi * (rest - quarter / 2)
    return (math.sin, math.cos, lambda a: -math.sin(a), lambda a: -math.cos(a))[quarter % 4](angle)


def cospi(x: float) -> float:
    """cos(pi * x)."""
    if not math.isfinite(x):
        return math.nan
    rest = math.fmod(x, 2.0)
    quarter = round(2 * rest)
    angle = math.pi * (rest - quarter / 2)
    return (math.cos, lambda a: -math.sin(a), lambda a: -math.cos(a), math.sin)[quarter % 4](angle)


def exp10(x: float) -> float:
    """10 to the power x."""
    return float(10.0**x)


def expit(x: float) -> float:
    """The logistic function."""
    e = math.exp(-abs(x))
    return (e if x < 0 else 1.0) / (1 + e)


def logit(p: float) -> float:
    """The inverse of expit."""
    if p in (0, 1):
        return math.inf if p == 1 else -math.inf
    if not 0 < p < 1:
        return math.nan
    return 2 * math.atanh(2 * p - 1) if 0.25 <= p <= 0.75 else math.log(p / (1 - p))
