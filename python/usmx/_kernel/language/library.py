"""Functions of the standard library that need statements: compiled like any other, for the types of
a call, and run by the simulator."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def total(values: Any, start: Any = 0) -> Any:
    """``sum`` of an array."""
    result = start
    for value in values:
        result = result + value
    return result


def frexp(x: Any) -> Any:
    """``math.frexp``: all steps are powers of two, which change no digit."""
    mantissa = x * 1.0
    exponent = 0
    if mantissa == 0 or not math.isfinite(mantissa):
        return mantissa, exponent
    while abs(mantissa) >= 4096:
        mantissa *= 1 / 4096
        exponent += 12
    while abs(mantissa) >= 1:
        mantissa *= 0.5
        exponent += 1
    while abs(mantissa) < 1 / 4096:
        mantissa *= 4096
        exponent -= 12
    while abs(mantissa) < 0.5:
        mantissa *= 2
        exponent -= 1
    return mantissa, exponent


def ldexp(x: Any, by: Any) -> Any:
    """``math.ldexp``, rounded once: the last of its factors is the only one that may round."""
    result = x * 1.0
    if result == 0 or not math.isfinite(result):
        return result
    # Of float16 and float32 too in 64 bits, so that only their storing rounds.
    mantissa, exponent = frexp(x * 1.0)
    wide = 0.0
    wide = mantissa * 1.0
    left = min(max(exponent + by, -1100), 1100)
    last = 1.0
    if left < -900:
        left += 200
        last = 2.0**-200
    while left > 0:
        wide *= 2
        left -= 1
    while left < 0:
        wide *= 0.5
        left += 1
    result = wide * last
    return result


def remainder(x: Any, y: Any) -> Any:
    """``math.remainder``: what is left of x after the nearest multiple of y, exactly."""
    a, b = abs(x * 1.0), abs(y * 1.0)
    rest = math.fmod(a, b)
    other = b - rest
    result = rest
    if math.isnan(x) or math.isnan(y):
        result = x + y
    elif rest > other:
        result = -other
    elif rest == other:
        result = rest - 2 * math.fmod(0.5 * (a - rest), b)
    return math.copysign(1.0, x) * result


def isclose(a: Any, b: Any, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    """``math.isclose`` and ``cmath.isclose``."""
    if a == b:
        return True
    size_a, size_b = abs(a), abs(b)
    if math.isinf(size_a) or math.isinf(size_b):
        return False
    difference = abs(a - b)
    return (
        difference <= abs(rel_tol * size_b)
        or difference <= abs(rel_tol * size_a)
        or difference <= abs_tol
    )


# A function of NumPy with an array for its results: of each operand the element, or the number; of
# arrays of more dimensions one row after the other.


def into_a(f: Any, a: Any, out: Any) -> None:
    """``np.sin(a, out)`` of an array."""
    for i in range(out.shape[0]):
        out[i] = f(a[i])


def into_n(f: Any, a: Any, out: Any) -> None:
    """The same of a number."""
    value = f(
        a
    )  # outside of the loop, where a driver's compiler crashes on some of complex numbers
    for i in range(out.shape[0]):
        out[i] = value


def into_aa(f: Any, a: Any, b: Any, out: Any) -> None:
    """``np.add(a, b, out)`` of arrays."""
    for i in range(out.shape[0]):
        out[i] = f(a[i], b[i])


def into_an(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of an array and a number."""
    for i in range(out.shape[0]):
        out[i] = f(a[i], b)


def into_na(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of a number and an array."""
    for i in range(out.shape[0]):
        out[i] = f(a, b[i])


def into_nn(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of numbers."""
    value = f(a, b)
    for i in range(out.shape[0]):
        out[i] = value


def into_rows_a(f: Any, a: Any, out: Any) -> None:
    """``np.sin(a, out)`` of an array of more dimensions."""
    for i in range(out.shape[0]):
        f(a[i], out[i])


def into_rows_n(f: Any, a: Any, out: Any) -> None:
    """The same of a number."""
    for i in range(out.shape[0]):
        f(a, out[i])


def into_rows_aa(f: Any, a: Any, b: Any, out: Any) -> None:
    """``np.add(a, b, out)`` of arrays of more dimensions."""
    for i in range(out.shape[0]):
        f(a[i], b[i], out[i])


def into_rows_an(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of an array and a number."""
    for i in range(out.shape[0]):
        f(a[i], b, out[i])


def into_rows_na(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of a number and an array."""
    for i in range(out.shape[0]):
        f(a, b[i], out[i])


def into_rows_nn(f: Any, a: Any, b: Any, out: Any) -> None:
    """The same of numbers."""
    for i in range(out.shape[0]):
        f(a, b, out[i])


#: By whether there are rows, and by which operands are arrays.
INTO: dict[tuple[bool, str], Callable[..., None]] = {
    (False, "a"): into_a, (False, "n"): into_n, (False, "aa"): into_aa, (False, "an"): into_an,
    (False, "na"): into_na, (False, "nn"): into_nn, (True, "a"): into_rows_a,
    (True, "n"): into_rows_n, (True, "aa"): into_rows_aa, (True, "an"): into_rows_an,
    (True, "na"): into_rows_na, (True, "nn"): into_rows_nn,
}  # fmt: skip

#: Functions by the path of what they stand for.
LIBRARY: dict[str, Callable[..., Any]] = {
    "math.frexp": frexp,
    "math.ldexp": ldexp,
    "math.isclose": isclose,
    "cmath.isclose": isclose,
    "math.remainder": remainder,
}
