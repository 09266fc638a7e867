"""Functions of each element that are made of several operations: rounding, limits, comparisons."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from cmath import isfinite, isnan
from functools import cache
from math import inf
from operator import index
from typing import Any

from .. import _usmx
from ..typing import ArrayOrNumber
from . import elementwise
from ._common import as_array, as_type, empty_at, is_in_c_order, is_traced
from ._outputs import written

__all__ = [
    "allclose", "around", "clip", "divmod", "frexp", "isclose", "ldexp", "modf", "nan_to_num",
    "real_if_close", "round", "spacing",
]  # fmt: skip

_LARGEST = {
    "float16": 65504.0,
    "float32": 2.0**128 - 2.0**104,
    "float64": (2 - 2.0**-52) * 2.0**1023,
}


def _given(name: str, x: Any, other: Any = None) -> _usmx.ndarray:
    """The argument as an array, where the other one is if that is one of ours."""
    if is_traced(x):
        traced: _usmx.ndarray = x
        return traced
    try:
        return as_array(x, other if isinstance(other, _usmx.ndarray) else None)
    except TypeError as error:
        raise TypeError(f"{name}: expected an array, got {type(x).__name__}") from error


def _as_floats(name: str, x: Any) -> _usmx.ndarray:
    """Integers as the smallest floats that have all of them, which is what NumPy chooses."""
    array = _given(name, x)
    if array.dtype.kind in "biu":
        return as_type(array, {1: "float16", 2: "float32"}.get(array.dtype.itemsize, "float64"))
    if array.dtype.kind != "f":
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    return array


def divmod(
    x1: ArrayOrNumber, x2: ArrayOrNumber, /, out: Any = None, **keywords: Any
) -> tuple[_usmx.ndarray, _usmx.ndarray]:
    """What `floor_divide` and `remainder` give.

    Parameters
    ----------
    x1, x2 : array or number
        Real numbers, of which one may be a Python number; zero is divided by as NumPy does.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    tuple of ndarray
        ``x1 // x2`` and ``x1 % x2``.

    Examples
    --------
    >>> import usmx
    >>> whole, rest = usmx.divmod(usmx.arange(6), 4)
    >>> print(whole, rest)
    [0, 0, 0, 0, 1, 1] [0, 1, 2, 3, 0, 1]
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        results: tuple[_usmx.ndarray, _usmx.ndarray] = call(
            "divmod", divmod, (x1, x2), out, keywords
        )
        return results
    return elementwise.floor_divide(x1, x2), elementwise.remainder(x1, x2)


def modf(
    x: ArrayOrNumber, /, out: Any = None, **keywords: Any
) -> tuple[_usmx.ndarray, _usmx.ndarray]:
    """The fractions of numbers, and the numbers without them.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    tuple of ndarray
        Floats of the sign of `x`. Infinities have the fraction 0.

    Examples
    --------
    >>> import usmx
    >>> part, whole = usmx.modf(usmx.asarray([1.5, -2.25]))
    >>> print(part, whole)
    [  0.5, -0.25] [ 1., -2.]
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        results: tuple[_usmx.ndarray, _usmx.ndarray] = call("modf", modf, (x,), out, keywords)
        return results
    array = _as_floats("x", x)
    whole = elementwise.trunc(array)
    rest = elementwise.where(elementwise.isinf(array), 0.0, elementwise.fmod(array, 1.0))
    return elementwise.copysign(rest, array), whole


@cache
def _split() -> _usmx.ElementwiseKernel:
    return _usmx.ElementwiseKernel(
        "T x",
        "T mantissa, int32 exponent",
        "const auto parts = frexp(x); mantissa = parts.mantissa, exponent = parts.exponent",
        "frexp",
    )


def frexp(
    x: ArrayOrNumber, /, out: Any = None, **keywords: Any
) -> tuple[_usmx.ndarray, _usmx.ndarray]:
    """Numbers as ``mantissa * 2**exponent``.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    tuple of ndarray
        Floats from 1/2 to 1, with the signs of `x`, and int32. Zeros, infinities and NaN have
        the exponent 0.

    Examples
    --------
    >>> import usmx
    >>> part, power = usmx.frexp(usmx.asarray([1.0, 8.0]))
    >>> print(part, power)
    [0.5, 0.5] [1, 4]
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        results: tuple[_usmx.ndarray, _usmx.ndarray] = call("frexp", frexp, (x,), out, keywords)
        return results
    mantissa, exponent = _split()(_as_floats("x", x))
    return mantissa, exponent


@cache
def _scale() -> _usmx.ElementwiseKernel:
    return _usmx.ElementwiseKernel("T x, int64 n", "T y", "y = ldexp(x, n)", "ldexp")


def ldexp(
    x1: ArrayOrNumber, x2: ArrayOrNumber, /, out: Any = None, **keywords: Any
) -> _usmx.ndarray:
    """``x1 * 2**x2``, rounded once.

    Parameters
    ----------
    x1 : array or number
        Real numbers.
    x2 : array or int
        Integers; the two are broadcast.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    ndarray
        Floats of the type of `x1`; of integers those that NumPy chooses.

    Raises
    ------
    TypeError
        `x2` is not of integers that fit into int64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.ldexp(usmx.asarray([1.0, 3.0]), usmx.asarray([2, 4])))
    [ 4., 48.]
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        done: _usmx.ndarray = call("ldexp", ldexp, (x1, x2), out, keywords)
        return done
    powers = x2 if type(x2) is int else _given("x2", x2)
    if isinstance(powers, _usmx.ndarray):
        if powers.dtype.kind not in "biu" or powers.dtype.name == "uint64":
            raise TypeError(f"x2: expected integers that fit into int64, got {powers.dtype}")
        powers = powers.astype("int64")
    else:
        # Every float is 0 or infinite long before.
        powers = min(max(powers, -(1 << 20)), 1 << 20)
    scaled: _usmx.ndarray = _scale()(_as_floats("x1", x1), powers)
    return scaled


def round(a: ArrayOrNumber, decimals: int = 0, out: _usmx.ndarray | None = None) -> _usmx.ndarray:
    """The nearest numbers of that many decimal places, of two the even one.

    Parameters
    ----------
    a : array
        Integers are returned as they are, if `decimals` is not negative.
    decimals : int
        Negative ones round to tens, hundreds and so on.
    out : ndarray, optional
        Where the result is written.

    Returns
    -------
    ndarray
        Of the shape and type of `a`.

    Raises
    ------
    TypeError
        Bools, with `decimals` other than 0.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.around(usmx.asarray([0.126, 2.5, -1.5]), 1))
    [ 0.1,  2.5, -1.5]
    """
    array = _given("a", a)
    decimals = index(decimals)
    if array.dtype.kind == "b":
        if decimals:
            raise TypeError("a: bools have no decimals; expected decimals=0")
        array = array.astype("float16")  # as NumPy, which has no loop for bools
    if array.dtype.kind in "iu":
        if decimals >= 0:
            return written(array.copy("K") if out is None else array, out)
        limits = _integer_limits(array.dtype)
        # 10 to a large power would never be computed; no integer has that many digits.
        if decimals < -20 or 10**-decimals > limits[1]:
            return written(array * 0, out)
        out = _rounded(array, out)
        unit = 10**-decimals  # in integers, because float64 has too few digits for some
        down = array // unit
        rest = array - down * unit
        odd = down % 2 == 1
        up = (rest > unit // 2) | ((rest == unit // 2) & odd)
        return written((down + up.astype(array.dtype)) * unit, out)
    if decimals == 0:
        return written(elementwise.rint(array), out)
    if abs(decimals) > sys.float_info.max_10_exp:
        # Such a unit is beyond all floats.
        return written(array.copy() if decimals > 0 else array * 0.0, out)
    unit = 10.0 ** abs(decimals)
    if array.dtype.kind == "f":
        out = _rounded(array, out)
    if decimals > 0:
        return written(elementwise.rint(array * unit) / unit, out)
    return written(elementwise.rint(array / unit) * unit, out)


def _rounded(x: _usmx.ndarray, out: _usmx.ndarray | None) -> _usmx.ndarray | None:
    """Where digits are rounded to: NumPy's results are in C order, or in that of Fortran."""
    if out is not None or is_traced(x) or is_in_c_order(x) or x.flags.f_contiguous:
        return out
    return empty_at(x, x.shape)


around = round


def _integer_limits(dtype: Any) -> tuple[int, int]:
    if dtype.kind == "b":
        return 0, 1
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def clip(
    a: ArrayOrNumber,
    a_min: ArrayOrNumber | None = None,
    a_max: ArrayOrNumber | None = None,
    out: _usmx.ndarray | None = None,
    *,
    min: ArrayOrNumber | None = None,
    max: ArrayOrNumber | None = None,
    **keywords: Any,
) -> _usmx.ndarray:
    """Elements that are below a limit become that, and so do those above another one.

    Parameters
    ----------
    a : array
        Real numbers.
    a_min, a_max : number or array, optional
        The limits, which are broadcast; None sets none. Where `a_min` is above `a_max` the result
        is `a_max`, and NaN where one of the three is.
    out : ndarray, optional
        Where the result is written.
    min, max : number or array, optional
        Other names of the limits.
    **keywords : optional
        ``where``, ``casting``, ``order``, ``dtype``, ``subok`` and ``signature``, as of the other
        functions of elements.

    Returns
    -------
    ndarray
        Of the type that arrays meet in; Python's numbers take that of `a`.

    Raises
    ------
    ValueError
        A limit is given by both of its names.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.clip(usmx.arange(6), 1, 4))
    [1, 1, 2, 3, 4, 4]
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("min, max: are other names of a_min and a_max; expected one of both")
    low: Any = min if a_min is None else a_min
    high: Any = max if a_max is None else a_max
    if keywords:
        from .ufunc_arguments import call

        done: _usmx.ndarray = call("clip", clip, (a, low, high), out, keywords)
        return done
    array = _given("a", a)
    made = array
    limits = _integer_limits(array.dtype) if array.dtype.kind in "iu" else None

    def counts(limit: Any) -> bool:
        # A number beyond all integers of the type limits nothing.
        if limit is None:
            return False
        return limits is None or type(limit) is not int or limits[0] <= limit <= limits[1]

    if counts(low) or (limits and type(low) is int and low > limits[1]):
        made = elementwise.maximum(made, low)
    if counts(high) or (limits and type(high) is int and high < limits[0]):
        made = elementwise.minimum(made, high)
    if made is array:
        return written(array.copy("K") if out is None else array, out)
    return written(made, out)


def isclose(
    a: ArrayOrNumber,
    b: ArrayOrNumber,
    rtol: ArrayOrNumber = 1e-5,
    atol: ArrayOrNumber = 1e-8,
    equal_nan: bool = False,
) -> _usmx.ndarray:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``, for each element.

    Parameters
    ----------
    a, b : array
        They are broadcast. Infinities are close to equal ones only.
    rtol, atol : number or array
        The tolerances.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    ndarray
        Of bools.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.isclose(usmx.asarray([1.0, 2.0]), usmx.asarray([1.0 + 1e-9, 2.1])))
    [ True, False]
    """
    if type(b) in (int, float, complex) and isinstance(a, _usmx.ndarray):
        return _is_close_to(a, b, rtol, atol, equal_nan)
    first, second = _given("a", a, b), _given("b", b, a)
    equal = elementwise.equal(first, second)
    if equal_nan:
        equal = equal | (elementwise.isnan(first) & elementwise.isnan(second))
    if second.dtype.kind in "biu":
        second = second.astype("float64")
    away = elementwise.abs(first - second)
    near = away <= elementwise.abs(second) * rtol + atol
    return (near & elementwise.isfinite(second)) | equal


def _is_close_to(
    x: _usmx.ndarray, number: Any, rtol: Any, atol: Any, equal_nan: bool
) -> _usmx.ndarray:
    """Of a number of Python, which takes the type of `x`."""
    number = float(number) if type(number) is int else number
    equal: _usmx.ndarray = x == number
    if isnan(number):
        return elementwise.isnan(x) if equal_nan else equal
    if not isfinite(number):
        return equal
    near: _usmx.ndarray = elementwise.abs(x - number) <= abs(number) * rtol + atol
    return near | equal


@cache
def _all() -> _usmx.ReductionKernel:
    return _usmx.ReductionKernel("bool x", "bool y", "x", "a && b", "y = a", "true")


def allclose(
    a: ArrayOrNumber,
    b: ArrayOrNumber,
    rtol: ArrayOrNumber = 1e-5,
    atol: ArrayOrNumber = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close; see `isclose`. The host waits for the answer.

    Parameters
    ----------
    a, b : array or number
        They are broadcast.
    rtol, atol : number or array
        The tolerances: ``abs(a - b) <= atol + rtol * abs(b)``.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx
    >>> usmx.allclose(usmx.asarray([1.0, 2.0]), usmx.asarray([1.0, 2.0 + 1e-9]))
    True
    """
    close = isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return bool(_all()(close).item())


def nan_to_num(
    x: ArrayOrNumber,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> _usmx.ndarray:
    """Numbers in the place of NaN and of infinities.

    Parameters
    ----------
    x : array
        Numbers.
    copy : bool
        Whether the result is a new array; else it is written into `x`.
    nan, posinf, neginf : float, optional
        What stands for them; for infinities by default the largest number of the type.

    Returns
    -------
    ndarray
        Of the shape and type of `x`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.nan_to_num(usmx.asarray([1.0, usmx.nan]), nan=-1.0))
    [ 1., -1.]
    """
    array = _given("x", x)
    made: _usmx.ndarray
    if array.dtype.kind == "c":
        parts = [
            nan_to_num(part, True, nan, posinf, neginf)
            for part in (elementwise.real(array), elementwise.imag(array))
        ]
        made = complex_of_parts(*parts)
    elif array.dtype.kind == "f":
        largest = _LARGEST[array.dtype.name]
        infinity = float("inf")
        above = largest if posinf is None else posinf
        below = -largest if neginf is None else neginf
        made = elementwise.where(
            elementwise.isnan(array),
            nan,
            elementwise.where(
                array == infinity, above, elementwise.where(array == -infinity, below, array)
            ),
        )
    else:
        made = array.copy("K") if copy else array
    if copy:
        return made
    array[...] = made
    return array


@cache
def _of_parts(part: str) -> Any:
    whole = "complex128" if part == "float64" else "complex64"
    return _usmx.ElementwiseKernel(
        f"{part} re, {part} im", f"{whole} z", "z.re = re, z.im = im", "complex_of_parts"
    )


def complex_of_parts(re: _usmx.ndarray, im: _usmx.ndarray) -> _usmx.ndarray:
    """Complex numbers of real and imaginary parts of one type, float32 or float64."""
    made: _usmx.ndarray = _of_parts(re.dtype.name)(re, im)
    return made


def real_if_close(a: Any, tol: float = 100) -> _usmx.ndarray:
    """The real parts of complex numbers whose imaginary parts are all nearly 0.

    Parameters
    ----------
    a : array
        Numbers.
    tol : float
        The largest imaginary part that counts as 0: up to 1 as it is, otherwise in units of the
        distance from 1 to the next number.

    Returns
    -------
    ndarray
        The real parts, or `a` itself if one of the imaginary parts is larger.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.real_if_close(usmx.asarray([1 + 0j, 2 + 0j])))
    [1., 2.]
    """
    array = _given("a", a)
    if array.dtype.kind != "c":
        return array
    limit = tol * (2.0**-52 if array.dtype.itemsize == 16 else 2.0**-23) if tol > 1 else tol
    imaginary: Any = elementwise.absolute(elementwise.imag(array))
    if not (imaginary < limit).all():
        return array
    made: _usmx.ndarray = elementwise.real(array)
    return made


def spacing(x: ArrayOrNumber, /, out: Any = None, **keywords: Any) -> _usmx.ndarray:
    """The distance from numbers to the next ones that are further from 0.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    ndarray
        Floats of the sign of `x`; NaN for infinities and NaN.

    Examples
    --------
    >>> import usmx
    >>> usmx.spacing(usmx.asarray([1.0])).item() == 2.0**-52
    True
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        done: _usmx.ndarray = call("spacing", spacing, (x,), out, keywords)
        return done
    array = _as_floats("x", x)
    size = elementwise.absolute(array)
    step = elementwise.nextafter(size, inf) - size
    made: _usmx.ndarray = elementwise.where(array < 0, -step, step)
    return made
