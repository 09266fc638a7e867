"""Sampled functions: differences, integrals, interpolation, convolutions, polynomials."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import pi
from typing import TYPE_CHECKING, Any

from .._usmx import ElementwiseKernel, ndarray
from ._common import along, as_array, as_arrays, default_float, empty_as, empty_at, to_axes, to_axis
from .data_types import result_type

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = [
    "convolve",
    "correlate",
    "ediff1d",
    "gradient",
    "interp",
    "polyval",
    "sinc",
    "trapezoid",
    "unwrap",
]


def _part(axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    """The key of a part along an axis."""
    return along(axis, slice(start, stop))


def _floating(x: ndarray) -> ndarray:
    """Integers as floats."""
    return x if x.dtype.kind in "fc" else x.astype(default_float(x.queue))


# --- differences and integrals -------------------------------------------------------------------


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> ndarray:
    """Give the differences of neighbours in C order.

    Parameters
    ----------
    ary : array
        Of any shape.
    to_end, to_begin : array, optional
        What is put behind and before the differences.

    Returns
    -------
    ndarray
        In one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.ediff1d(usmx.asarray([1, 2, 4]), to_begin=0))
    [0, 1, 2]
    """
    from .manipulation import concat

    flat = as_array(ary).reshape(-1)
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, as_array(to_begin, flat).reshape(-1).astype(flat.dtype))
    if to_end is not None:
        parts.append(as_array(to_end, flat).reshape(-1).astype(flat.dtype))
    return parts[0] if len(parts) == 1 else concat(parts)


def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: float = 1.0, axis: int = -1) -> ndarray:
    """Integrate along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array
        Values of a function.
    x : array, optional
        The points that belong to them: of the shape of `y`, or of one dimension.
    dx : float
        The distance of points if there is no `x`.
    axis : int
        Along which the values are integrated.

    Returns
    -------
    ndarray
        Without the axis.

    Examples
    --------
    >>> import usmx
    >>> usmx.trapezoid(usmx.asarray([1.0, 2.0, 3.0])).item()
    4.0
    """
    from .statistics import sum as sum_of

    values, points = (as_array(y), None) if x is None else as_arrays((y, x))
    at = to_axis(axis, values.ndim)
    pairs = _floating(values[_part(at, 1, None)] + values[_part(at, None, -1)])
    width: Any = dx
    if points is not None:
        if points.ndim == 1:
            width = points[1:] - points[:-1]
            width = width.reshape([-1 if a == at else 1 for a in range(values.ndim)])
        else:
            width = points[_part(at, 1, None)] - points[_part(at, None, -1)]
    return sum_of(pairs * width / 2, axis=at)


def _spacings(f: ndarray, axes: Sequence[int], given: tuple[Any, ...]) -> list[Any]:
    """For each axis a number, or the distances of its points."""
    if len(given) not in (0, 1, len(axes)):
        raise TypeError(f"gradient: got {len(given)} spacings for {len(axes)} axes")
    if len(given) == 1 and not getattr(given[0], "ndim", 0):
        given *= len(axes)
    if len(given) == 1 and len(axes) > 1:
        raise TypeError(f"gradient: got points of one axis for {len(axes)} axes")
    made: list[Any] = []
    for axis, one in zip(axes, given or (1.0,) * len(axes), strict=True):
        if not getattr(one, "ndim", 0) and not isinstance(one, (list, tuple)):
            made.append(one)
            continue
        points = as_array(one, f)
        if points.ndim != 1 or points.size != f.shape[axis]:
            raise ValueError(
                f"varargs: has shape {points.shape}; expected ({f.shape[axis]},), the points of "
                f"axis {axis}"
            )
        if points.dtype.kind in "iu":  # differences of integers may not fit
            points = points.astype("float64")
        made.append(points[1:] - points[:-1])
    return made


def _derivative(f: ndarray, axis: int, spacing: Any, edge_order: int) -> ndarray:
    out = empty_as(f)

    def at(start: int | None, stop: int | None) -> ndarray:
        return f[_part(axis, start, stop)]

    def put(start: int | None, stop: int | None, value: ndarray) -> None:
        out[_part(axis, start, stop)] = value

    if not getattr(spacing, "ndim", 0):
        put(1, -1, (at(2, None) - at(None, -2)) / (2.0 * spacing))
        if edge_order == 1:
            put(0, 1, (at(1, 2) - at(0, 1)) / spacing)
            put(-1, None, (at(-1, None) - at(-2, -1)) / spacing)
        else:
            put(0, 1, (-1.5 * at(0, 1) + 2.0 * at(1, 2) - 0.5 * at(2, 3)) / spacing)
            last = 1.5 * at(-1, None) - 2.0 * at(-2, -1) + 0.5 * at(-3, -2)
            put(-1, None, last / spacing)
        return out
    # Of the parabola through three points at distances of p and q.
    wide = spacing.reshape([-1 if a == axis else 1 for a in range(f.ndim)])
    p, q = wide[_part(axis, None, -1)], wide[_part(axis, 1, None)]
    inner = -q / (p * (p + q)) * at(None, -2) + (q - p) / (p * q) * at(1, -1)
    put(1, -1, inner + p / (q * (p + q)) * at(2, None))
    first, last = wide[_part(axis, 0, 1)], wide[_part(axis, -1, None)]
    if edge_order == 1:
        put(0, 1, (at(1, 2) - at(0, 1)) / first)
        put(-1, None, (at(-1, None) - at(-2, -1)) / last)
        return out
    p, q = first, wide[_part(axis, 1, 2)]
    start = -(2.0 * p + q) / (p * (p + q)) * at(0, 1) + (p + q) / (p * q) * at(1, 2)
    put(0, 1, start - p / (q * (p + q)) * at(2, 3))
    p, q = wide[_part(axis, -2, -1)], last
    end = q / (p * (p + q)) * at(-3, -2) - (q + p) / (p * q) * at(-2, -1)
    put(-1, None, end + (2.0 * q + p) / (q * (p + q)) * at(-1, None))
    return out


def gradient(
    f: ArrayLike, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1
) -> Any:
    """Give the derivatives along axes, by central differences.

    Parameters
    ----------
    f : array
        Values of a function on a grid.
    *varargs : float or array
        The distance of points, or the points of each axis: one for all axes, or one for each.
    axis : int or sequence of int, optional
        None is all axes.
    edge_order : {1, 2}
        How many neighbours the first and the last point of an axis use.

    Returns
    -------
    ndarray or tuple of ndarray
        Of the shape of `f`; a tuple if there are several axes.

    Raises
    ------
    ValueError
        An axis has at most `edge_order` points, or points do not fit it.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.gradient(usmx.asarray([1.0, 2.0, 4.0, 7.0])))
    [ 1., 1.5, 2.5,  3.]
    """
    values = _floating(as_array(f))
    axes = to_axes(axis, values.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order: {edge_order!r}; expected 1 or 2")
    for at in axes:
        if values.shape[at] <= edge_order:
            raise ValueError(
                f"f: has {values.shape[at]} elements along axis {at}; expected at least "
                f"{edge_order + 1} for edge_order={edge_order}"
            )
    spacings = _spacings(values, axes, varargs)
    made = tuple(
        _derivative(values, at, one, edge_order) for at, one in zip(axes, spacings, strict=True)
    )
    return made[0] if len(made) == 1 else made


def unwrap(
    p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi
) -> ndarray:
    """Remove jumps of more than half a period by adding multiples of it.

    Parameters
    ----------
    p : array
        Angles.
    discont : float, optional
        Jumps that are smaller stay; None is half a period.
    axis : int
        Along which the angles follow each other.
    period : float
        After which angles repeat.

    Returns
    -------
    ndarray
        Of the shape of `p`.

    Examples
    --------
    >>> import usmx
    >>> usmx.unwrap(usmx.asarray([0.0, 6.0]))[1].item() < 0
    True
    """
    from .elementwise import where
    from .statistics import cumulative_sum

    angles = as_array(p)
    if angles.dtype.kind in "biu" and period != int(period):
        angles = _floating(angles)
    at = to_axis(axis, angles.ndim)
    whole = angles.dtype.kind in "iu" and isinstance(period, int)
    half = period // 2 if whole else period / 2
    steps = angles[_part(at, 1, None)] - angles[_part(at, None, -1)]
    near = (steps + half) % period - half
    if not whole or period % 2 == 0:  # a step of half a period keeps its direction
        near = where((near == -half) & (steps > 0), half, near)
    limit = half if discont is None else max(discont, half)
    correction = where(abs(steps) < limit, steps * 0, near - steps)
    out = angles.copy("K")
    out[_part(at, 1, None)] = angles[_part(at, 1, None)] + cumulative_sum(correction, axis=at)
    return out


# --- values at points ----------------------------------------------------------------------------


def sinc(x: ArrayLike) -> ndarray:
    """Give sin(pi x) / (pi x), which is 1 at 0.

    Parameters
    ----------
    x : array or number
        Any shape.

    Returns
    -------
    ndarray
        Of floats or complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sinc(usmx.asarray([0.0])))
    [1.]
    """
    from .elementwise import sin, where

    scaled = _floating(as_array(x)) * pi
    return where(scaled == 0, 1, sin(scaled) / where(scaled == 0, 1, scaled))


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> ndarray:
    """Interpolate linearly between points.

    Parameters
    ----------
    x : array
        Where values are wanted.
    xp : array
        The points, ascending; one dimension.
    fp : array
        The values there, as many.
    left, right : number, optional
        Values before the first and after the last point; None is the value at that point.
    period : float, optional
        After which points repeat; they may be in any order then, and `left` and `right` are not
        used.

    Returns
    -------
    ndarray
        float64 (float32 on devices without it), complex if `fp` is; of the shape of `x`.

    Raises
    ------
    ValueError
        `xp` and `fp` have not one dimension and one length, or no elements, or `period` is 0.

    Examples
    --------
    >>> import usmx
    >>> x, y = usmx.asarray([0.0, 1.0, 2.0]), usmx.asarray([0.0, 10.0, 30.0])
    >>> print(usmx.interp(usmx.asarray([0.5, 1.5]), x, y))
    [ 5., 20.]
    """
    from .elementwise import imag, isnan, where
    from .elementwise import real as real_part
    from .manipulation import concat
    from .numbers import complex_of_parts
    from .selection import take
    from .sorting import argsort, searchsorted

    at, points, values = as_arrays((x, xp, fp))
    if points.ndim != 1 or values.shape != points.shape or not points.size:
        raise ValueError(
            f"xp: has shape {points.shape} and fp {values.shape}; expected one dimension and at "
            "least one element"
        )
    real = default_float(at.queue)
    at, points = at.astype(real), points.astype(real)
    values = values.astype(default_float(at.queue, is_complex=values.dtype.kind == "c"))
    if period is not None:
        if period == 0:
            raise ValueError("period: is 0; expected another number")
        period = abs(period)
        at, points = at % period, points % period
        order = argsort(points)
        points, values = take(points, order), take(values, order)
        points = concat((points[-1:] - period, points, points[:1] + period))
        values = concat((values[-1:], values, values[:1]))
        left = right = None
    before: Any = values[0] if left is None else left
    after: Any = values[-1] if right is None else right
    last = points.size - 1
    if last == 0:
        inside = where(at > points[0], after, values[0])  # NaN too, as in NumPy
        return where(at < points[0], before, inside)
    place = searchsorted(points, at, side="right") - 1
    place = where(place < 0, 0, where(place > last - 1, last - 1, place))
    x0, y0 = take(points, place, mode="clip"), take(values, place, mode="clip")
    x1, y1 = take(points, place + 1, mode="clip"), take(values, place + 1, mode="clip")

    def between(y0: ndarray, y1: ndarray) -> ndarray:
        slope = (y1 - y0) / (x1 - x0)
        made = slope * (at - x0) + y0
        # Next to infinities that is NaN: then from the other point, and between equal ones theirs.
        made = where(isnan(made), slope * (at - x1) + y1, made)
        made = where(isnan(made) & (y0 == y1), y0, made)
        # Of equal points the last one counts.
        return where(at == x1, y1, where(at == x0, y0, made))

    if values.dtype.kind == "c":  # a part that is infinite does not spoil the other one
        parts = (between(part(y0), part(y1)) for part in (real_part, imag))
        made = complex_of_parts(*parts)
    else:
        made = between(y0, y1)
    made = where(at < points[0], before, where(at > points[-1], after, made))
    return where(isnan(at), float("nan"), made)


def polyval(p: ArrayLike, x: ArrayLike) -> ndarray:
    """Compute a polynomial, in one kernel.

    Parameters
    ----------
    p : array
        Its coefficients, from the highest power down; one dimension. The host reads them.
    x : array
        Where it is computed.

    Returns
    -------
    ndarray
        Of the shape of `x`.

    Raises
    ------
    ValueError
        `p` has not one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polyval(usmx.asarray([1, 0, 2]), usmx.asarray([0, 3])))
    [ 2, 11]
    """
    import numpy as np

    at = as_array(x)
    coefficients = p.to_numpy() if isinstance(p, ndarray) else np.asarray(p)
    if coefficients.ndim != 1:
        raise ValueError(f"p: has shape {coefficients.shape}; expected one dimension")
    value: ndarray = at * coefficients.dtype.type(0)
    for one in coefficients:
        value = value * at + one
    return value


# --- convolutions --------------------------------------------------------------------------------


@cache
def _convolve_kernel(is_bool: bool) -> ElementwiseKernel:
    product = "Sum(a[k]) * Sum(v[at - k])"
    add = "sum = sum || (a[k] && v[at - k])" if is_bool else f"sum = Sum(sum + {product})"
    return ElementwiseKernel(
        "raw T a, raw T v, int64 length, int64 other, int64 first",
        "T z",
        "const int64_t at = i + first;"
        "const int64_t begin = at < other ? 0 : at - other + 1;"
        "const int64_t end = at < length ? at + 1 : length;"
        f"Sum sum{{}}; for (int64_t k = begin; k < end; ++k) {add}; z = T(sum);",
        "convolve",
        preamble="template <class A> struct wide { using type = A; };"
        "template <> struct wide<half> { using type = float; };",
        loop_prep="using Sum = typename wide<T>::type;",
    )


def _lines(a: Any, v: Any) -> tuple[ndarray, ndarray]:
    first, second = (x.reshape(-1) if x.ndim == 0 else x for x in as_arrays((a, v)))
    for name, x in (("a", first), ("v", second)):
        if x.ndim != 1 or not x.size:
            raise ValueError(
                f"{name}: has shape {x.shape}; expected one dimension with at least one element"
            )
    dtype = result_type(first, second)
    return first.astype(dtype, copy=False), second.astype(dtype, copy=False)


def _convolved(a: ndarray, v: ndarray, mode: str, middle: int) -> ndarray:
    n, m = a.size, v.size
    least, most = min(n, m), max(n, m)
    places = {
        "full": (0, n + m - 1),
        "same": (middle, most),
        "valid": (least - 1, most - least + 1),
    }
    if mode not in places:
        raise ValueError(f"mode: {mode!r}; expected 'full', 'same' or 'valid'")
    first, count = places[mode]
    out = empty_at(a, (count,))
    _convolve_kernel(a.dtype.kind == "b")(a, v, n, m, first, out)
    return out


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> ndarray:
    """Convolve two lines: each result is a sum of products, of integers exact.

    Parameters
    ----------
    a, v : array
        Of one dimension.
    mode : {'full', 'same', 'valid'}
        All results; as many as the longer one has, from the middle; those where both overlap
        wholly.

    Returns
    -------
    ndarray
        In one dimension.

    Raises
    ------
    ValueError
        A line has not one dimension or is empty; another mode.

    Notes
    -----
    The time grows with the product of the lengths. For two long lines of floats transforms are
    faster: ``irfft(rfft(a, n) * rfft(v, n), n)``.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.convolve(usmx.asarray([1, 2, 3]), usmx.asarray([1, 1])))
    [1, 3, 5, 3]
    """
    first, second = _lines(a, v)
    return _convolved(first, second, mode, (min(first.size, second.size) - 1) // 2)


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> ndarray:
    """Correlate two lines: sums of elements of `a` times conjugate elements of `v`.

    Parameters
    ----------
    a, v : array
        Of one dimension.
    mode : {'valid', 'same', 'full'}
        As for `convolve`.

    Returns
    -------
    ndarray
        In one dimension.

    Raises
    ------
    ValueError
        A line has not one dimension or is empty; another mode.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.correlate(usmx.asarray([1, 2, 3]), usmx.asarray([1, 1]), "full"))
    [1, 3, 5, 3]
    """
    first, second = _lines(a, v)
    least = min(first.size, second.size)
    middle = (least - 1) // 2 if first.size >= second.size else least // 2
    turned = second[::-1]
    return _convolved(first, turned.conj() if turned.dtype.kind == "c" else turned, mode, middle)
