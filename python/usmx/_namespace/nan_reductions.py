"""Reductions of the elements that are not NaN."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from .._usmx import ndarray
from . import statistics
from ._types import part_type, sum_type, to_type, typed
from .elementwise import isnan, logical_not, where
from .sorting import _sortable

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod",
    "nanstd", "nansum", "nanvar",
]  # fmt: skip

Axis = SupportsIndex | Sequence[SupportsIndex] | None


def _instead(x: Any, number: Any) -> ndarray:
    """The array with a number in the place of NaN."""
    a = _sortable(x)
    return where(isnan(a), typed(number, a.dtype), a) if a.dtype.kind in "fc" else a


def nansum(
    x: ndarray,
    /,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Add the elements that are not NaN; see `sum`."""
    return statistics.sum(_instead(x, 0), axis=axis, dtype=dtype, keepdims=keepdims, out=out)


def nanprod(
    x: ndarray,
    /,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Multiply the elements that are not NaN; see `prod`."""
    return statistics.prod(_instead(x, 1), axis=axis, dtype=dtype, keepdims=keepdims, out=out)


def nancumsum(x: ndarray, /, axis: SupportsIndex | None = None, dtype: Any = None) -> ndarray:
    """Give sums up to each element, NaN as 0; see `cumsum`."""
    return statistics.cumsum(_instead(x, 0), axis, dtype)


def nancumprod(x: ndarray, /, axis: SupportsIndex | None = None, dtype: Any = None) -> ndarray:
    """Give products up to each element, NaN as 1; see `cumprod`."""
    return statistics.cumprod(_instead(x, 1), axis, dtype)


def _counts(a: ndarray, axis: Axis, keepdims: bool) -> ndarray:
    """How many elements are not NaN, as float64."""
    number = statistics.sum(logical_not(isnan(a)), axis=axis, keepdims=keepdims)
    return number.astype("float64")


def _wide(dtype: Any) -> Any:
    """The type that sums of a type are in."""
    return sum_type(to_type(dtype))


def _over(total: ndarray, number: ndarray, dtype: Any) -> ndarray:
    """Sums divided by numbers of elements; NaN where these are not positive."""
    part = part_type(dtype)
    by = where(number > 0, number, float("nan")).astype(part)
    return total / by


def nanmean(
    x: ndarray,
    /,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Give the mean of the elements that are not NaN; NaN if there is none. See `mean`."""
    a = _sortable(x)
    if a.dtype.kind not in "fc":
        return statistics.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, out=out)
    result = to_type(a.dtype if dtype is None else dtype)
    wide = _wide(result)
    total = statistics.sum(_instead(a, 0), axis=axis, dtype=wide, keepdims=keepdims)
    mean = _over(total, _counts(a, axis, keepdims), wide).astype(result, copy=False)
    if out is None:
        return mean
    out[...] = mean
    return out


def nanvar(
    x: ndarray,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
) -> ndarray:
    """Give the variance of the elements that are not NaN; see `var`.

    NaN where there are not more of them than `correction`.
    """
    a = _sortable(x)
    if a.dtype.kind not in "fc":
        return statistics.var(a, axis=axis, correction=correction, keepdims=keepdims, ddof=ddof)
    by = float(correction if ddof is None else ddof)
    wide = _wide(a.dtype)
    values = a.astype(wide, copy=False)
    away = values - nanmean(values, axis=axis, keepdims=True)
    away = where(isnan(values), typed(0, wide), away)
    if wide.kind == "c":
        from .elementwise import imag, real

        squares = real(away) * real(away) + imag(away) * imag(away)
    else:
        squares = away * away
    total = statistics.sum(squares, axis=axis, keepdims=keepdims)
    part = part_type(a.dtype)
    return _over(total, _counts(a, axis, keepdims) - by, _wide(part)).astype(part, copy=False)


def nanstd(
    x: ndarray,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
) -> ndarray:
    """Give the standard deviation of the elements that are not NaN, the root of `nanvar`."""
    from .elementwise import sqrt

    return sqrt(nanvar(x, axis, correction=correction, keepdims=keepdims, ddof=ddof))


def _extreme(
    name: str, order: str, x: Any, axis: Axis, out: ndarray | None, keepdims: bool
) -> ndarray:
    a = _sortable(x)
    if a.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order; x has type {a.dtype}")
    if statistics._counted(a.shape, statistics._axes(axis, a.ndim)) == 0:
        raise ValueError(f"{name}: x has shape {a.shape}: of no elements there is none")
    if a.dtype.kind != "f":
        function = statistics.min if order == "<" else statistics.max
        return function(a, axis=axis, keepdims=keepdims, out=out)
    text = f"b != b || a {order} b ? a : (a != a || b {order} a ? b : a)"
    return statistics._reduce(a, a.dtype, a.dtype, axis, keepdims, out, reduce=text)


def nanmin(
    x: ndarray, /, axis: Axis = None, out: ndarray | None = None, *, keepdims: bool = False
) -> ndarray:
    """Give the smallest element that is not NaN; NaN if there is none. See `min`."""
    return _extreme("nanmin", "<", x, axis, out, keepdims)


def nanmax(
    x: ndarray, /, axis: Axis = None, out: ndarray | None = None, *, keepdims: bool = False
) -> ndarray:
    """Give the largest element that is not NaN; NaN if there is none. See `max`."""
    return _extreme("nanmax", ">", x, axis, out, keepdims)


def _place(
    name: str, x: Any, axis: SupportsIndex | None, out: ndarray | None, keepdims: bool
) -> ndarray:
    a = _sortable(x)
    least = name == "nanargmin"
    find = statistics.argmin if least else statistics.argmax
    if a.dtype.kind != "f":
        found = find(a, axis=axis, keepdims=keepdims)
    else:
        limit = float("inf") if least else -float("inf")
        found = find(_instead(a, limit), axis=axis, keepdims=keepdims)
        if bool(statistics.any(statistics.all(isnan(a), axis=axis)).item()):
            raise ValueError(f"{name}: there is a line of x that holds nothing but NaN")
        # An infinity of that sign may stand behind NaN.
        known = where(isnan(a), False, a == typed(limit, a.dtype))
        behind = statistics.argmax(known, axis=axis, keepdims=keepdims)
        extreme = _extreme("x", "<" if least else ">", a, axis, None, keepdims)
        found = where(extreme == typed(limit, a.dtype), behind, found)
    if out is None:
        return found
    out[...] = found
    return out


def nanargmin(
    x: ndarray,
    /,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Give the index of the smallest element that is not NaN; see `argmin`.

    Raises
    ------
    ValueError
        A line holds nothing but NaN; the host waits to know.
    """
    return _place("nanargmin", x, axis, out, keepdims)


def nanargmax(
    x: ndarray,
    /,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Give the index of the largest element that is not NaN; see `nanargmin`."""
    return _place("nanargmax", x, axis, out, keepdims)
