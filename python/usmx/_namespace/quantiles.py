"""Elements by their rank: medians, quantiles and percentiles, with NaN or without."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, SupportsIndex

import numpy as np

from .. import _usmx
from .._usmx import ndarray
from . import elementwise, indexing
from ._common import as_array, default_float, empty_at, kind_of, to_axes
from ._outputs import written
from ._types import is_bfloat16, sum_type
from .data_types import result_type
from .elementwise import isnan, logical_not, where
from .sorting import sort, sortable

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

Axis = SupportsIndex | Sequence[SupportsIndex] | None


# --- methods: the place of a quantile among n sorted elements, from 0 up. `xp` is `elementwise`
# --- if the number of elements is an array of ours, else NumPy.


def _between(alpha: float, beta: float) -> Callable[..., Any]:
    def place(n: Any, q: Any, xp: Any) -> Any:
        return n * q + (alpha + q * (1 - alpha - beta)) - 1

    return place


def _to_boundaries(place: Any, takes_lower: Callable[[Any, Any], Any], xp: Any) -> Any:
    lower = xp.floor(place)
    chosen = xp.where(takes_lower(place - lower, lower), lower, lower + 1)
    return xp.where(chosen < 0, 0.0, chosen)


def _half_way(place: Any, at_zero: float, xp: Any) -> Any:
    """Between two elements the same share of both."""
    lower = xp.floor(place)
    return lower + xp.where(place == lower, at_zero, 1.0 if at_zero else 0.5)


_PLACES: dict[str, Callable[..., Any]] = {
    "linear": lambda n, q, xp: (n - 1) * q,
    "lower": lambda n, q, xp: xp.floor((n - 1) * q),
    "higher": lambda n, q, xp: xp.ceil((n - 1) * q),
    "nearest": lambda n, q, xp: xp.rint((n - 1) * q),
    "midpoint": lambda n, q, xp: _half_way((n - 1) * q, 0.0, xp),
    "inverted_cdf": lambda n, q, xp: _to_boundaries(n * q - 1, lambda rest, _: rest == 0, xp),
    "averaged_inverted_cdf": lambda n, q, xp: _half_way(n * q - 1, 0.5, xp),
    "closest_observation": lambda n, q, xp: _to_boundaries(
        n * q - 1.5, lambda rest, lower: (rest == 0) & (lower % 2 == 1), xp
    ),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
}
#: Methods that give one of the elements, of their type.
_CHOOSING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _lines(x: Any, axis: Axis) -> tuple[ndarray, tuple[int, ...], tuple[int, ...]]:
    """The elements that belong together in the last axis; both shapes of a result."""
    a = sortable(x)
    axes = to_axes(axis, a.ndim)
    others = tuple(k for k in range(a.ndim) if k not in axes)
    shape = tuple(a.shape[k] for k in others)
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    length = prod(a.shape[k] for k in axes)
    return a.transpose((*others, *axes)).reshape((*shape, length)), shape, kept


def _ranked(rows: ndarray, *places: Any) -> list[ndarray]:
    """The elements that sorted lines have at each place, or at several along the last axis."""
    every = [np.atleast_1d(one) for one in places]
    found = _usmx._select(rows, np.concatenate(every).tolist(), -1, "kth")
    ends = np.cumsum([len(one) for one in every]).tolist()
    return [
        found[..., end - 1] if isinstance(one, int) else found[..., end - len(some) : end]
        for one, some, end in zip(places, every, ends, strict=True)
    ]


def _weighted_lines(
    x: Any, axis: Axis, weights: Any, method: str, ignores_nan: bool
) -> tuple[ndarray, tuple[int, ...], tuple[int, ...], ndarray]:
    """As `_lines`, and up to each element the share of the weights; of one without weight -1."""
    from .selection import take_along_axis
    from .statistics import cumulative_sum

    if method != "inverted_cdf":
        raise ValueError(f"weights: are given, for method {method!r}; expected 'inverted_cdf'")
    a = sortable(x)
    axes = to_axes(axis, a.ndim)
    w = as_array(weights, a)
    if w.shape != a.shape:
        wanted = tuple(a.shape[k] for k in axes)
        if axis is None or w.shape != wanted:
            raise ValueError(f"weights: have shape {w.shape}; expected {a.shape} or {wanted}")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order).reshape([n if k in axes else 1 for k, n in enumerate(a.shape)])
        w = _usmx.broadcast_to(w, a.shape)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"weights: are of {w.dtype}; expected real numbers")
    others = tuple(k for k in range(a.ndim) if k not in axes)
    shape = tuple(a.shape[k] for k in others)
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    wide = (*shape, prod(a.shape[k] for k in axes))
    rows, w = (one.transpose((*others, *axes)).reshape(wide) for one in (a, w))
    if bool(elementwise.less(w, 0).any().item()):
        raise ValueError("weights: hold negative numbers; expected 0 or more")
    values, places = _usmx._sort(rows, -1, False, True, True)
    w = take_along_axis(w, places, -1).astype(default_float(a.queue))
    if ignores_nan and values.dtype.kind == "f":
        w = where(isnan(values), 0.0, w)
    running = cumulative_sum(w, axis=-1)
    if running.size:
        running = running / running[..., -1:]
    return values, shape, kept, where(running == 0, -1.0, running)


def _places_of_shares(shares: ndarray, q: Any) -> ndarray:
    """Of each line the first elements up to which the shares are not below the given ones."""
    from .statistics import sum as sum_of

    wanted = _usmx.asarray(q, usm_type=kind_of(shares), queue=shares.queue)
    before = sum_of(shares[..., None, :] < wanted[:, None], axis=-1)
    return elementwise.minimum(before, shares.shape[-1] - 1)


def _mean_type(dtype: Any) -> Any:
    return np.dtype("d") if dtype.kind in "biu" else dtype


def _middle(low: ndarray, high: ndarray) -> ndarray:
    """The mean of both."""
    own = _mean_type(low.dtype)
    wide = sum_type(own)
    total = low.astype(wide) + high.astype(wide)
    half: ndarray = (total / wide.type(2)).astype(own, copy=False)
    return half


def _finished(result: ndarray, shape: tuple[int, ...], out: ndarray | None) -> ndarray:
    return written(result.reshape(shape), out)


def median(
    a: ndarray,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> ndarray:
    """Give the middle element, or the mean of both in the middle.

    Parameters
    ----------
    a : array
        Of any type of numbers. Of integers and bools the result is float64.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        NaN of an empty array, and where there is one among them.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> usmx.median(usmx.asarray([3.0, 1.0, 2.0, 10.0])).item()
    2.5
    """
    rows, shape, kept = _lines(a, axis)
    n = rows.shape[-1]
    dtype = _mean_type(rows.dtype)
    to = kept if keepdims else shape
    if n == 0:
        return _finished(_nans(rows, shape, dtype), to, out)
    low, high, last = _ranked(rows, (n - 1) // 2, n // 2, n - 1)
    result = _middle(low, high) if n % 2 == 0 else low.astype(dtype, copy=False)
    if rows.dtype.kind in "fc":
        result = where(isnan(last), last, result)
    return _finished(result, to, out)


def _nans(like: ndarray, shape: tuple[int, ...], dtype: Any) -> ndarray:
    made = empty_at(like, shape, dtype)
    made[...] = float("nan")
    return made


def nanmedian(
    a: ndarray,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> ndarray:
    """Give the median of the elements that are not NaN; NaN if there is none.

    Parameters
    ----------
    a : array
        Of any type of numbers. Of integers and bools the result is float64.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        The middle element, or the mean of both in the middle.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanmedian(usmx.asarray([3.0, usmx.nan, 1.0])).item()
    2.0
    """
    rows, shape, kept = _lines(a, axis)
    if rows.dtype.kind not in "fc" or rows.shape[-1] == 0:
        return median(a, axis=axis, out=out, keepdims=keepdims)
    from .elementwise import maximum

    count = _counts(rows)
    if (every := _same_count(rows, count)) is not None:
        low, high = _ranked(rows, max(every - 1, 0) // 2, every // 2)
    else:
        rows = sort(rows)
        low = _pick(rows, maximum(count - 1, 0) // 2)[..., 0]
        high = _pick(rows, maximum(count, 1) // 2 - (count == 0))[..., 0]
    result = where(count[..., 0] % 2 == 0, _middle(low, high), low)
    return _finished(result, kept if keepdims else shape, out)


def _counts(rows: ndarray) -> ndarray:
    """How many elements of each line are not NaN."""
    from .statistics import sum as sum_of

    return sum_of(logical_not(isnan(rows)), axis=-1, keepdims=True)


def _same_count(rows: ndarray, count: ndarray) -> int | None:
    """How many numbers each line has, if that is the same for all and helps; the host reads it."""
    if not count.size or not rows.device._is_host:
        return None
    host = count.to_numpy()
    low, high = int(host.min()), int(host.max())
    return low if low == high else None


def _pick(rows: ndarray, places: ndarray) -> ndarray:
    """Elements of each line at places that are inside of it."""
    length = rows.shape[-1]
    lines = prod(rows.shape[:-1])
    at = places.astype("int64").reshape((lines, places.shape[-1]))
    begin = _usmx.arange(lines, dtype="int64", usm_type=kind_of(rows), queue=rows.queue) * length
    out = empty_at(rows, at.shape)
    indexing.gather(rows.reshape(-1), [at + begin[:, None]], out)
    return out.reshape(places.shape)


def _mixed(low: ndarray, high: ndarray, part: ndarray) -> ndarray:
    """What is such a part of the way from one element to the other."""
    step = high - low
    result = where(part >= 0.5, high - step * (1 - part), low + step * part)
    return where(part == 0, low, result)


def _shares(q: Any, per: int, own: Any) -> tuple[Any, Any]:
    """What `q` says on the host, from 0 to 1, and the type of it that the result meets."""
    host = q.to_numpy() if isinstance(q, ndarray) else np.asarray(q)
    if host.dtype.kind not in "biuf":
        raise TypeError(f"q: is of {host.dtype}; expected real numbers")
    # As NumPy: a number does not widen the result, an array does.
    share = own if isinstance(q, (int, float)) and own.kind == "f" else np.result_type(host, 0.0)
    host = host.astype("d") / per
    if host.size and not (host.min() >= 0 and host.max() <= 1):
        raise ValueError(f"q: holds numbers outside of the range from 0 to {per}")
    return host, share


def _weighted_quantile(
    x: Any,
    q: Any,
    per: int,
    axis: Axis,
    out: ndarray | None,
    method: str,
    keepdims: bool,
    ignores_nan: bool,
    weights: Any,
) -> ndarray:
    """The elements up to which the shares of the weights are the ones that are asked for."""
    rows, shape, kept, shares = _weighted_lines(x, axis, weights, method, ignores_nan)
    own = rows.dtype
    if own.kind == "c":
        raise TypeError(f"a: is of {own}; quantiles are of real numbers")
    host = _shares(q, per, own)[0]
    to = host.shape + (kept if keepdims else shape)
    if rows.shape[-1] == 0:
        return _finished(_nans(rows, host.shape + shape, _mean_type(own)), to, out)
    result = _pick(rows, _places_of_shares(shares, host.reshape(-1)))
    if own.kind == "f" and not ignores_nan:
        last = rows[..., -1:]
        result = where(isnan(last), last, result)
    rank = result.ndim - 1
    return _finished(result.transpose((rank, *range(rank))), to, out)


def _quantile(
    x: Any,
    q: Any,
    per: int,
    axis: Axis,
    out: ndarray | None,
    method: str,
    keepdims: bool,
    ignores_nan: bool,
    weights: Any = None,
) -> ndarray:
    if method not in _PLACES:
        raise ValueError(f"method: {method!r}; expected one of {', '.join(_PLACES)}")
    if weights is not None:
        return _weighted_quantile(x, q, per, axis, out, method, keepdims, ignores_nan, weights)
    rows, shape, kept = _lines(x, axis)
    own = rows.dtype
    if own.kind == "c":
        raise TypeError(f"a: is of {own}; quantiles are of real numbers")
    host, share = _shares(q, per, own)
    n = rows.shape[-1]
    to = host.shape + (kept if keepdims else shape)
    result_dtype = (
        own
        if method in _CHOOSING
        else result_type(np.dtype("d") if own.kind == "b" else own, share)
    )
    if n == 0:
        dtype = _mean_type(own)
        return _finished(_nans(rows, host.shape + shape, dtype), to, out)
    flat: Any = host.reshape(-1)
    count: Any = n
    xp: Any = np
    if ignores_nan and own.kind == "f":
        count = _counts(rows)
        if (every := _same_count(rows, count)) is not None and every > 0:
            count = every
        else:
            count, xp = count.astype("float64"), elementwise
            flat = _usmx.asarray(flat, usm_type=kind_of(rows), queue=rows.queue)
    place = _PLACES[method](count, flat, xp)
    top = count - 1
    # In this order: of lines of NaN alone `top` is below 0.
    place = xp.where(place > top, top * 1.0, place)
    place = xp.where(place < 0, 0.0, place)
    lower = xp.floor(place)
    higher = xp.where(lower < top, lower + 1, lower)
    if xp is np:
        low, high, last = _ranked(rows, lower.astype("q"), higher.astype("q"), np.array([n - 1]))
    else:
        rows = sort(rows)
        low, high, last = _pick(rows, lower), _pick(rows, higher), rows[..., -1:]
    if method in _CHOOSING:
        # A view would keep the elements of all places.
        result = low if low.flags.c_contiguous else low.copy()
    else:
        part = (place - lower).astype(sum_type(share) if is_bfloat16(share) else share)
        if xp is np:
            part = _usmx.asarray(part, usm_type=kind_of(rows), queue=rows.queue)
        result = _mixed(low.astype(result_dtype), high.astype(result_dtype), part)
    if own.kind == "f" and not ignores_nan:
        result = where(isnan(last), last.astype(result.dtype), result)
    result = result.astype(result_dtype, copy=False)
    rank = result.ndim - 1
    return _finished(result.transpose((rank, *range(rank))), to, out)


def quantile(
    a: ndarray,
    q: Any,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Give the numbers below which shares of the elements are.

    Parameters
    ----------
    a : array
        Real numbers.
    q : number or array
        The shares, from 0 to 1; the host reads them.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    method : str, optional
        How numbers between two elements are found: any of NumPy's thirteen.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    weights : array, optional
        How much each element counts, of the shape of `a` or of its axis; for the method
        'inverted_cdf' alone.

    Returns
    -------
    ndarray
        The shape of `q` comes first, then that of the other axes. NaN where there is one among
        the elements, and of an empty array. An element itself where its rank is whole, also if
        it is infinite.

    Raises
    ------
    ValueError
        A share outside of 0 to 1, another method, an axis that `a` does not have.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.quantile(usmx.arange(5.0), [0.25, 0.5]))
    [1., 2.]
    """
    return _quantile(a, q, 1, axis, out, method, keepdims, False, weights)


def percentile(
    a: ndarray,
    q: Any,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Give the numbers below which percentages of the elements are.

    Parameters
    ----------
    a : array
        Real numbers.
    q : number or array
        The percentages, from 0 to 100; the host reads them.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    method : str, optional
        How numbers between two elements are found: any of NumPy's thirteen.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    weights : array, optional
        How much each element counts, of the shape of `a` or of its axis; for the method
        'inverted_cdf' alone.

    Returns
    -------
    ndarray
        As of `quantile`: the shape of `q` comes first, then that of the other axes.

    Raises
    ------
    ValueError
        A percentage outside of 0 to 100, another method, an axis that `a` does not have.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.percentile(usmx.arange(5.0), [25, 50]))
    [1., 2.]
    """
    return _quantile(a, q, 100, axis, out, method, keepdims, False, weights)


def nanquantile(
    a: ndarray,
    q: Any,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Give the numbers below which shares of the elements are that are not NaN.

    Parameters
    ----------
    a : array
        Real numbers.
    q : number or array
        The shares, from 0 to 1; the host reads them.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    method : str, optional
        How numbers between two elements are found: any of NumPy's thirteen.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    weights : array, optional
        How much each element counts, of the shape of `a` or of its axis; for the method
        'inverted_cdf' alone.

    Returns
    -------
    ndarray
        As of `quantile`; NaN where no element is left.

    Raises
    ------
    ValueError
        A share outside of 0 to 1, another method, an axis that `a` does not have.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanquantile(usmx.asarray([1.0, usmx.nan, 3.0]), 0.5).item()
    2.0
    """
    return _quantile(a, q, 1, axis, out, method, keepdims, True, weights)


def nanpercentile(
    a: ndarray,
    q: Any,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """Give the numbers below which percentages of the elements are that are not NaN.

    Parameters
    ----------
    a : array
        Real numbers.
    q : number or array
        The percentages, from 0 to 100; the host reads them.
    axis : int or tuple of int, optional
        Along which; all by default.
    out : ndarray, optional
        The result is written into this array.
    overwrite_input : bool, optional
        As NumPy's; it changes nothing.
    method : str, optional
        How numbers between two elements are found: any of NumPy's thirteen.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    weights : array, optional
        How much each element counts, of the shape of `a` or of its axis; for the method
        'inverted_cdf' alone.

    Returns
    -------
    ndarray
        As of `quantile`; NaN where no element is left.

    Raises
    ------
    ValueError
        A percentage outside of 0 to 100, another method, an axis that `a` does not have.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> usmx.nanpercentile(usmx.asarray([1.0, usmx.nan, 3.0]), 50).item()
    2.0
    """
    return _quantile(a, q, 100, axis, out, method, keepdims, True, weights)
