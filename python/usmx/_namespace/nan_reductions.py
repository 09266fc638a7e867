"""Reductions of the elements that are not NaN."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex

from .._usmx import ndarray
from . import statistics
from ._common import as_array, default_float
from ._outputs import written, written_indices
from ._types import part_type, sum_type, to_type, typed
from .elementwise import isnan, logical_not
from .elementwise import where as _where
from .sorting import sortable

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod",
    "nanstd", "nansum", "nanvar",
]  # fmt: skip

Axis = SupportsIndex | Sequence[SupportsIndex] | None


def _instead(x: Any, number: Any) -> ndarray:
    """The array with a number in the place of NaN."""
    a = sortable(x)
    return _where(isnan(a), typed(number, a.dtype), a) if a.dtype.kind in "fc" else a


def nansum(
    a: ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Add the elements that are not NaN; of none 0.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result, which is also computed in.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        Added to the result.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        As of `sum`.

    Examples
    --------
    >>> import usmx
    >>> usmx.nansum(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    4.0
    """
    return statistics.sum(_instead(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Multiply the elements that are not NaN; of none 1.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result, which is also computed in.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        Multiplied with the result.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        As of `prod`.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanprod(usmx.asarray([2.0, usmx.nan, 3.0])).item()
    6.0
    """
    return statistics.prod(_instead(a, 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(
    a: ndarray,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: ndarray | None = None,
) -> ndarray:
    """Give the sums of the elements up to each, where NaN counts as 0.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements in C order, in one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of the shape of `a`, or of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.nancumsum(usmx.asarray([1.0, usmx.nan, 3.0])))
    [1., 1., 4.]
    """
    return statistics.cumsum(_instead(a, 0), axis, dtype, out)


def nancumprod(
    a: ndarray,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: ndarray | None = None,
) -> ndarray:
    """Give the products of the elements up to each, where NaN counts as 1.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements in C order, in one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of the shape of `a`, or of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.nancumprod(usmx.asarray([2.0, usmx.nan, 3.0])))
    [2., 2., 6.]
    """
    return statistics.cumprod(_instead(a, 1), axis, dtype, out)


def _known(a: ndarray, where: Any) -> Any:
    """Which elements count: those that are not NaN, of those that are selected."""
    known = logical_not(isnan(a))
    return known if where is True else known & as_array(where, a)


def _counts(a: ndarray, axis: Axis, keepdims: bool, where: Any = True) -> ndarray:
    """How many elements are not NaN, as float64 (float32 without that type)."""
    number = statistics.sum(logical_not(isnan(a)), axis=axis, keepdims=keepdims, where=where)
    return number.astype(default_float(a.queue))


def _wide(dtype: Any) -> Any:
    """The type that sums of a type are in."""
    return sum_type(to_type(dtype))


def _over(total: ndarray, number: ndarray, dtype: Any) -> ndarray:
    """Sums divided by numbers of elements; NaN where these are not positive."""
    part = part_type(dtype)
    by = _where(number > 0, number, float("nan")).astype(part)
    return total / by


def nanmean(
    a: ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> ndarray:
    """Give the mean of the elements that are not NaN; NaN if there is none.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        As of `mean`.

    Raises
    ------
    TypeError
        `dtype` is of integers, and `a` of floating-point numbers.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanmean(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    2.0
    """
    a = sortable(a)
    if a.dtype.kind not in "fc":
        return statistics.mean(a, axis, dtype, out, keepdims, where=where)
    result = to_type(a.dtype if dtype is None else dtype)
    if result.kind not in "fc":
        raise TypeError(f"dtype: {result}; the mean of {a.dtype} without NaN is not of integers")
    wide = _wide(result)
    total = statistics.sum(_instead(a, 0), axis, wide, None, keepdims, None, where)
    mean = _over(total, _counts(a, axis, keepdims, where), wide).astype(result, copy=False)
    return written(mean, out)


def nanvar(
    a: ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float = 0.0,
) -> ndarray:
    """Give the variance of the elements that are not NaN.

    NaN where there are not more of them than `correction`.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.
    ddof, correction : float, optional
        Subtracted from the number of elements that the sum is divided by, as in `var`.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.
    mean : array, optional
        The mean, with ``keepdims=True``, where it is known already.

    Returns
    -------
    ndarray
        As of `var`.

    Raises
    ------
    TypeError
        `dtype` is of integers, and `a` of floating-point numbers.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanvar(usmx.asarray([1.0, usmx.nan, 5.0])).item()
    4.0
    """
    a = sortable(a)
    if a.dtype.kind not in "fc":
        return statistics.var(
            a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    by = statistics._correction(ddof, correction)
    result = to_type(a.dtype if dtype is None else dtype)
    if result.kind not in "fc":
        raise TypeError(f"dtype: {result}; the variance of {a.dtype} is not of integers")
    wide = _wide(result)
    values = a.astype(wide, copy=False)
    known = nanmean(values, axis=axis, keepdims=True, where=where) if mean is None else mean
    away = values - as_array(known, a)
    away = _where(_known(values, where), away, typed(0, away.dtype))
    if away.dtype.kind == "c":
        from .elementwise import imag, real

        squares = real(away) * real(away) + imag(away) * imag(away)
    else:
        squares = away * away
    part = part_type(result)
    total = statistics.sum(squares, axis=axis, dtype=_wide(part), keepdims=keepdims)
    number = _counts(a, axis, keepdims, where) - by
    found = _over(total, number, _wide(part))
    return written(found.astype(part if dtype is None else result, copy=False), out)


def nanstd(
    a: ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float = 0.0,
) -> ndarray:
    """Give the standard deviation of the elements that are not NaN: the root of `nanvar`.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.
    ddof, correction : float, optional
        Subtracted from the number of elements that the sum is divided by, as in `var`.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.
    mean : array, optional
        The mean, with ``keepdims=True``, where it is known already.

    Returns
    -------
    ndarray
        As of `std`.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanstd(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    1.0
    """
    from .elementwise import sqrt

    squared = nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return written(sqrt(squared), out)


def _extreme(
    name: str,
    order: str,
    x: Any,
    axis: Axis,
    out: ndarray | None,
    keepdims: bool,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    a = sortable(x)
    function = statistics.min if order == "<" else statistics.max
    if a.dtype.kind not in "fc":
        return function(a, axis, out, keepdims, initial, where)
    if initial is not None or where is not True:
        from .elementwise import fmax, fmin

        join = fmin if order == "<" else fmax
        if initial is None:
            raise ValueError(f"{name}: where= needs initial=, for where no element counts")
        first = typed(initial, a.dtype)
        if bool(isnan(first)) and a.dtype.kind == "f":
            # It hides no number, and is the result where there is none.
            end = -float("inf") if order == ">" else float("inf")
            known = _known(a, where)
            made = function(_where(known, a, end), axis, None, keepdims, end)
            some = statistics.any(known, axis=axis, keepdims=keepdims)
            return written(_where(some, made, first), out)
        # NaN is what no other number hides: the number that it begins with stands for it.
        known = _where(_known(a, where), a, first)
        return written(join(function(known, axis, None, keepdims, initial), first), out)
    statistics._require_elements(name, a.shape, statistics._axes(axis, a.ndim))
    text = "smaller_number(a, b)" if order == "<" else "larger_number(a, b)"
    if a.dtype.kind == "f":
        text = f"b != b || a {order} b ? a : (a != a || b {order} a ? b : a)"
    return statistics._reduce(a, a.dtype, a.dtype, axis, keepdims, out, reduce=text)


def nanmin(
    a: ndarray,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Give the smallest element that is not NaN; NaN if there is none.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        The largest result. Needed for an empty array, and with `where`.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`.

    Raises
    ------
    ValueError
        There are no elements and no `initial`; `where` without `initial`.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanmin(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    1.0
    """
    return _extreme("nanmin", "<", a, axis, out, keepdims, initial, where)


def nanmax(
    a: ndarray,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Give the largest element that is not NaN; NaN if there is none.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        The least result. Needed for an empty array, and with `where`.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`.

    Raises
    ------
    ValueError
        There are no elements and no `initial`; `where` without `initial`.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanmax(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    3.0
    """
    return _extreme("nanmax", ">", a, axis, out, keepdims, initial, where)


def _place(
    name: str, x: Any, axis: SupportsIndex | None, out: ndarray | None, keepdims: bool
) -> ndarray:
    a = sortable(x)
    least = name == "nanargmin"
    if axis is not None:
        axis = index(axis)
    find = statistics.argmin if least else statistics.argmax
    if a.dtype.kind not in "fc":
        found = find(a, axis=axis, keepdims=keepdims)
    else:
        limit = float("inf") if least else -float("inf")
        found = find(_instead(a, limit), axis=axis, keepdims=keepdims)
        if bool(statistics.any(statistics.all(isnan(a), axis=axis)).item()):
            raise ValueError(f"{name}: there is a line of a that holds nothing but NaN")
        # An infinity of that sign may stand behind NaN.
        known = _where(isnan(a), False, a == typed(limit, a.dtype))
        behind = statistics.argmax(known, axis=axis, keepdims=keepdims)
        extreme = _extreme("x", "<" if least else ">", a, axis, None, keepdims)
        found = _where(extreme == typed(limit, a.dtype), behind, found)
    return written_indices(found, out)


def nanargmin(
    a: ndarray,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Give the index of the smallest element that is not NaN, of equal ones the first.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements are counted in C order.
    out : ndarray, optional
        Of integers; the result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Of int64.

    Raises
    ------
    ValueError
        There are no elements, or a line has nothing but NaN; the host waits to know.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanargmin(usmx.asarray([usmx.nan, 2.0, 3.0])).item()
    1
    """
    return _place("nanargmin", a, axis, out, keepdims)


def nanargmax(
    a: ndarray,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """Give the index of the largest element that is not NaN, of equal ones the first.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements are counted in C order.
    out : ndarray, optional
        Of integers; the result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Of int64.

    Raises
    ------
    ValueError
        There are no elements, or a line has nothing but NaN; the host waits to know.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanargmax(usmx.asarray([1.0, usmx.nan, 3.0])).item()
    2
    """
    return _place("nanargmax", a, axis, out, keepdims)
