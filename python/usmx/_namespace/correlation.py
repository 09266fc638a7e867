"""Weighted means, covariances and correlations."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from .. import _usmx
from .._usmx import ndarray
from . import statistics
from ._common import as_array, to_axes
from .sorting import sortable

__all__ = ["average", "corrcoef", "cov"]


def average(
    a: ndarray,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Give the mean, in which elements count as much as their weights.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        Along which; all by default.
    weights : array, optional
        Of the shape of `a`, or of the shape of the axes.
    returned : bool, optional
        Give the sums of the weights too.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray or tuple of ndarray

    Raises
    ------
    ValueError
        Weights of another shape.
    ZeroDivisionError
        Weights with the sum 0; the host waits to know.

    Examples
    --------
    >>> import usmx
    >>> usmx.average(usmx.asarray([1.0, 3.0]), weights=usmx.asarray([3.0, 1.0])).item()
    1.5
    """
    a = sortable(a)
    if weights is None:
        result = statistics.mean(a, axis=axis, keepdims=keepdims)
        if not returned:
            return result
        count = a.size // max(result.size, 1)
        return result, _usmx.full_like(result, count)
    w = as_array(weights, a)
    axes = to_axes(axis, a.ndim)
    if w.shape != a.shape:
        if axis is None:
            raise ValueError(f"weights: have shape {w.shape}; expected {a.shape}, as a has")
        wanted = tuple(a.shape[k] for k in axes)
        if w.shape != wanted:
            raise ValueError(f"weights: have shape {w.shape}; expected {a.shape} or {wanted}")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order).reshape([n if k in axes else 1 for k, n in enumerate(a.shape)])
    dtype = np.result_type(a.dtype, w.dtype)
    if a.dtype.kind in "biu":
        dtype = np.result_type(dtype, "d")
    values, w = a.astype(dtype, copy=False), w.astype(dtype, copy=False)
    every = _usmx.broadcast_to(w, a.shape)
    scale = statistics.sum(every, axis=axis, keepdims=keepdims)
    if bool(statistics.any(scale == 0).item()):
        raise ZeroDivisionError("weights: have the sum 0, and are what is divided by")
    result = statistics.sum(values * w, axis=axis, keepdims=keepdims) / scale
    return (result, scale) if returned else result


def _variables(x: Any, rowvar: bool, like: ndarray | None = None) -> ndarray:
    a = as_array(x, like)
    if a.ndim > 2:
        raise ValueError(f"m: has {a.ndim} dimensions; expected at most 2")
    if a.ndim < 2:
        return a.reshape(1, a.size)
    return a if rowvar else a.T


def _numbers(name: str, given: Any, like: ndarray, count: int) -> ndarray:
    w = as_array(given, like)
    if w.shape != (count,):
        raise ValueError(f"{name}: has shape {w.shape}; expected {(count,)}, one for each column")
    if bool(statistics.any(w < 0).item()):
        raise ValueError(f"{name}: holds negative numbers")
    return w


def cov(
    m: ndarray,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> ndarray:
    """Give the covariances of variables.

    Parameters
    ----------
    m : array
        At most two dimensions: a row for each variable, a column for each observation.
    y : array, optional
        More variables.
    rowvar : bool, optional
        False if variables are in columns.
    bias : bool, optional
        Divide by the number of observations instead of one less.
    ddof : int, optional
        What is subtracted from that number instead.
    fweights : array of integers, optional
        How often each observation counts.
    aweights : array, optional
        How much each observation counts.
    dtype : dtype, optional
        The type to compute in; at least float64 by default.

    Returns
    -------
    ndarray
        A matrix; of one variable the variance, without dimensions.

    Raises
    ------
    ValueError
        More than two dimensions, weights of another shape or negative ones.
    TypeError
        `fweights` that are not integers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cov(usmx.asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])))
    [[ 1., -2.],
     [-2.,  4.]]
    """
    from .elementwise import conj
    from .linear_algebra import matmul
    from .manipulation import concat, squeeze

    like = m if isinstance(m, ndarray) else y if isinstance(y, ndarray) else None
    first = as_array(m, like)
    own = np.result_type(first.dtype, *([] if y is None else [as_array(y, first).dtype]), "d")
    own = own if dtype is None else np.dtype(dtype)
    values = _variables(first, rowvar).astype(own, copy=False)
    if y is not None:
        # As NumPy: one row is one variable, regardless of `rowvar`.
        more = as_array(y, first)
        rows = rowvar or more.shape[0] == 1 if more.ndim == 2 else True
        values = concat([values, _variables(more, rows).astype(own, copy=False)], axis=0)
    count = values.shape[1]
    less = ddof if ddof is not None else 0 if bias else 1
    w = None
    if fweights is not None:
        w = _numbers("fweights", fweights, first, count)
        if w.dtype.kind not in "biu":
            raise TypeError(f"fweights: are of {w.dtype}; expected integers")
        w = w.astype("float64")
    if aweights is not None:
        shares = _numbers("aweights", aweights, first, count).astype("float64")
        w = shares if w is None else w * shares
    if w is None:
        mean = statistics.mean(values, axis=1, keepdims=True)
        factor: float = count - less
    else:
        total = statistics.sum(w).item()
        mean = statistics.sum(values * w, axis=1, keepdims=True) / total
        if less == 0:
            factor = total
        elif aweights is None:
            factor = total - less
        else:
            factor = total - less * statistics.sum(w * shares).item() / total
    away = values - mean
    other = away if w is None else away * w
    products = matmul(away, conj(other).T)
    # As NumPy: never less than nothing to divide by.
    result = products / own.type(max(factor, 0))
    axes = tuple(k for k, n in enumerate(result.shape) if n == 1)
    return squeeze(result, axes) if axes else result


def corrcoef(x: ndarray, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> ndarray:
    """Give the correlations of variables: covariances, divided by both standard deviations.

    Parameters
    ----------
    x : array
        At most two dimensions: a row for each variable, a column for each observation.
    y : array, optional
        More variables.
    rowvar : bool, optional
        False if variables are in columns.
    dtype : dtype, optional
        The type to compute in; at least float64 by default.

    Returns
    -------
    ndarray
        A matrix of numbers from -1 to 1; of one variable 1, without dimensions.

    Raises
    ------
    ValueError
        More than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.corrcoef(usmx.asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).round(6))
    [[ 1., -1.],
     [-1.,  1.]]
    """
    from .elementwise import imag, maximum, minimum, real, sqrt

    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = sqrt(real(_diagonal(c)))
    c = c / deviation[:, None] / deviation[None, :]

    def inside(part: ndarray) -> ndarray:
        return minimum(maximum(part, -1), 1)

    if c.dtype.kind == "c":
        return inside(real(c)) + inside(imag(c)) * 1j
    return inside(c)


def _diagonal(c: ndarray) -> ndarray:
    from .creation import diag

    return diag(c)
