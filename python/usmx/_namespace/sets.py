"""The different elements of arrays: `unique`, `isin`, and what sets have in common."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from math import prod
from typing import Any, NamedTuple, SupportsIndex

from .. import _usmx
from .._usmx import ElementwiseKernel, ndarray
from . import indexing
from ._common import are_records, as_array, as_arrays, empty_at, to_axis
from .sorting import INCLUDE, argsort, sort, sortable

__all__ = [
    "intersect1d", "isin", "lexsort", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: ndarray
    counts: ndarray


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: ndarray
    inverse_indices: ndarray


@cache
def _begins_kernel() -> ElementwiseKernel:
    return ElementwiseKernel(
        "raw T x, bool equal_nan", "bool first",
        "first = i == 0 || (T(x[i]) != T(x[i - 1]) && "
        "!(equal_nan && T(x[i]) != T(x[i]) && T(x[i - 1]) != T(x[i - 1])))",
        "set_begins",
    )  # fmt: skip


def _begins(in_order: ndarray, equal_nan: bool) -> ndarray:
    """Whether an element of a sorted row is the first of its value."""
    first = empty_at(in_order, in_order.shape, "bool")
    if first.size:
        kind = in_order.dtype.kind
        if kind == "b":  # by value: the byte of a foreign true need not be 1
            in_order = in_order.astype("uint8")
        _begins_kernel()(in_order, equal_nan and kind in "fc", first)
    return first


def _at(x: ndarray, places: ndarray) -> ndarray:
    out = empty_at(x, (*places.shape, *x.shape[1:]))
    indexing.gather(x, [places], out)
    return out


class _Found:
    """The different elements of an array; what is not asked for is not computed."""

    def __init__(self, x: Any, equal_nan: bool, places: bool, axis: SupportsIndex | None) -> None:
        x = sortable(x)
        self.shape = x.shape if axis is None else (x.shape[to_axis(axis, x.ndim)],)
        self.order: Any = None
        self.values: ndarray
        self.found: ndarray | None = None
        if axis is None:
            if places:
                in_order, self.order = _usmx._sort(x.reshape(-1), 0, False, True, True)
            else:
                in_order, self.found = _usmx._different_or_sorted(x.reshape(-1))
            self.size = x.size
            if self.found is not None:
                self.values = in_order
                return
            self.first = _begins(in_order, equal_nan)
            self.values = indexing.compact(in_order, self.first)
        else:
            from .manipulation import moveaxis
            from .statistics import any as any_of

            rows = moveaxis(x, axis.__index__(), 0)
            flat = rows.reshape(rows.shape[0], prod(rows.shape[1:]))
            self.order = lexsort([flat[:, k] for k in reversed(range(flat.shape[1]))]) if (
                flat.shape[1]
            ) else _usmx.arange(flat.shape[0], queue=x.queue)  # fmt: skip
            in_order = _at(rows, self.order)
            flat = in_order.reshape(flat.shape)
            self.size = in_order.shape[0]
            self.first = empty_at(x, self.size, "bool")
            self.first[:1] = True
            self.first[1:] = any_of(flat[1:] != flat[:-1], axis=1)
            self.values = moveaxis(_at(in_order, self.starts), 0, axis.__index__())

    @property
    def starts(self) -> ndarray:
        """Where the elements that equal each of `values` begin, in order."""
        if self.found is None:
            self.found = indexing.places(self.first)
        return self.found

    @property
    def indices(self) -> ndarray:
        return _at(self.order, self.starts)

    @property
    def inverse(self) -> ndarray:
        from .statistics import cumulative_sum

        out = empty_at(self.order, self.order.shape, "int64")
        if out.size:
            number = cumulative_sum(self.first, dtype="int64") - 1
            indexing.scatter(out, [self.order], number, are_distinct=True)
        return out.reshape(self.shape)

    @property
    def counts(self) -> ndarray:
        ends = empty_at(self.starts, self.starts.shape, "int64")
        ends[:-1] = self.starts[1:]
        ends[-1:] = self.size
        return ends - self.starts


class _SmallFound:
    """The same of a few elements, which the host has computed."""

    def __init__(self, shape: tuple[int, ...], results: tuple[Any, ...]) -> None:
        self.values, self.indices, self._inverse, self.counts = results
        self._shape = shape

    @property
    def inverse(self) -> ndarray:
        inverse: ndarray = self._inverse.reshape(self._shape)
        return inverse


def _find(x: Any, equal_nan: bool, places: bool, axis: SupportsIndex | None) -> Any:
    """The different elements, found by the host if they are few."""
    if axis is None:
        few = _usmx._small_unique(x, equal_nan, places, places, True)
        if few is not None:
            return _SmallFound(x.shape, few)
    return _Found(x, equal_nan, places, axis)


def unique_all(x: ndarray) -> UniqueAll:
    """Give the different elements, where each is first, which each element is, how often each is.

    Parameters
    ----------
    x : array
        Of any type of numbers, and any shape. Each NaN differs from all others; -0.0 equals 0.0.

    Returns
    -------
    UniqueAll
        The `values`, in ascending order, the `indices` of their first elements among those of `x`
        in C order, the `inverse_indices`, of the shape of `x`, for which
        ``values[inverse_indices]`` is `x`, and the `counts`. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.unique_all(usmx.asarray([2, 1, 2]))
    >>> print(found.values, found.indices, found.counts)
    [1, 2] [1, 0] [1, 2]
    """
    found = _find(x, False, True, None)
    return UniqueAll(found.values, found.indices, found.inverse, found.counts)


def unique_counts(x: ndarray) -> UniqueCounts:
    """Give the different elements, in order, and how often each is.

    Parameters
    ----------
    x : array
        Of any type of numbers, and any shape. Each NaN differs from all others; -0.0 equals 0.0.

    Returns
    -------
    UniqueCounts
        The `values`, in ascending order, and the `counts`. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.unique_counts(usmx.asarray([2, 1, 2]))
    >>> print(found.values, found.counts)
    [1, 2] [1, 2]
    """
    found = _find(x, False, False, None)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: ndarray) -> UniqueInverse:
    """Give the different elements, in order, and which of them each one is.

    Parameters
    ----------
    x : array
        Of any type of numbers, and any shape. Each NaN differs from all others; -0.0 equals 0.0.

    Returns
    -------
    UniqueInverse
        The `values`, in ascending order, and the `inverse_indices`, of the shape of `x`, for which
        ``values[inverse_indices]`` is `x`. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.unique_inverse(usmx.asarray([2, 1, 2]))
    >>> print(found.values[found.inverse_indices])
    [2, 1, 2]
    """
    found = _find(x, False, True, None)
    return UniqueInverse(found.values, found.inverse)


def unique_values(x: ndarray) -> ndarray:
    """Give the different elements, in order.

    Parameters
    ----------
    x : array
        Of any type of numbers, and any shape. Each NaN differs from all others; -0.0 equals 0.0.

    Returns
    -------
    ndarray
        In one dimension, ascending. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.unique_values(usmx.asarray([2, 1, 2])))
    [1, 2]
    """
    values: ndarray = _find(x, False, False, None).values
    return values


def unique(
    ar: ndarray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Give the different elements in order, as NumPy's function of that name.

    Parameters
    ----------
    ar : array
        Of any type of numbers, or records.
    return_index, return_inverse, return_counts : bool, optional
        Whether the arrays that `unique_all` describes follow, in this order.
    axis : int, optional
        Give the different parts along an axis instead; such parts are equal if all of their
        elements are.
    equal_nan : bool, optional
        Whether all NaN are one element.
    sorted : bool, optional
        The result is in order in any case.

    Returns
    -------
    ndarray or tuple of ndarray

    Examples
    --------
    >>> import usmx
    >>> values, counts = usmx.unique(usmx.asarray([2, 1, 2]), return_counts=True)
    >>> print(values, counts)
    [1, 2] [1, 2]
    """
    if axis is not None and as_array(ar).ndim == 1:
        to_axis(axis, 1)
        axis = None  # of one dimension, NaN can be equal
    if axis is None and are_records(ar):
        found = _find(import_module(".records", __package__).ranks(ar), equal_nan, True, None)
        results = [ar.reshape(-1)[found.indices]]
    else:
        found = _find(ar, equal_nan, return_index or return_inverse, axis)
        results = [found.values]
    if return_index:
        results.append(found.indices)
    if return_inverse:
        results.append(found.inverse)
    if return_counts:
        results.append(found.counts)
    return results[0] if len(results) == 1 else tuple(results)


def lexsort(keys: Sequence[ndarray] | ndarray, axis: SupportsIndex = -1) -> ndarray:
    """Give the indices that sort by several keys, of which the last one counts most.

    Parameters
    ----------
    keys : sequence of arrays
        Of one shape.
    axis : int, optional
        Along which it is sorted.

    Returns
    -------
    ndarray
        Of int64, of the shape of a key.

    Raises
    ------
    ValueError
        There is no key, or shapes differ.

    Examples
    --------
    >>> import usmx
    >>> last, first = usmx.asarray([1, 1, 0]), usmx.asarray([5, 3, 9])
    >>> print(usmx.lexsort((first, last)))
    [2, 1, 0]
    """
    given = as_arrays(keys)
    if not given:
        raise ValueError("keys: is empty; expected at least one array")
    if any(key.shape != given[0].shape for key in given):
        shapes = ", ".join(str(key.shape) for key in given)
        raise ValueError(f"keys: have the shapes {shapes}; expected one shape")
    from .selection import take_along_axis

    order = argsort(given[0], axis)
    for key in given[1:]:
        more = argsort(take_along_axis(key, order, axis=to_axis(axis, key.ndim)), axis)
        order = take_along_axis(order, more, axis=to_axis(axis, key.ndim))
    return order


@cache
def _isin_kernel() -> ElementwiseKernel:
    return ElementwiseKernel(
        "T value, raw T sorted, int64 count, bool invert",
        "bool z",
        "const int64_t k = usmx::sorting::place_of<false>(value, count, "
        "[&](int64_t at) { return T(sorted[at]); }); "
        "z = (k < count && T(sorted[k]) == value) != invert",
        "isin",
        preamble=INCLUDE,
    )


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> ndarray:
    """Say of each element whether it is one of others.

    Parameters
    ----------
    element, test_elements : array or number
        Of any shapes. NaN equals none.
    assume_unique, kind : optional
        As NumPy's; they change nothing.
    invert : bool, optional
        Say whether it is none of them.

    Returns
    -------
    ndarray
        Bools, of the shape of `element`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.isin(usmx.asarray([1, 2, 3]), usmx.asarray([3, 1])))
    [ True, False,  True]
    """
    from .data_types import result_type

    first = next((x for x in (element, test_elements) if isinstance(x, ndarray)), None)
    numbers = (bool, int, float, complex)
    dtype = result_type(
        *(
            x if isinstance(x, (*numbers, ndarray)) else as_array(x, first)
            for x in (element, test_elements)
        )
    )
    a, b = (as_array(x, first) for x in (element, test_elements))
    if dtype.kind == "b":
        dtype = _usmx.dtype("uint8")
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    out = empty_at(a, a.shape, "bool")
    if b.size == 0:
        out[...] = invert
    elif a.size:
        in_order = sort(b.reshape(-1))
        _isin_kernel()(a, in_order, in_order.size, invert, out)
    return out


def _pair(x1: Any, x2: Any) -> tuple[ndarray, ndarray]:
    """Both arrays in one dimension and of one type."""
    from .data_types import result_type

    a, b = (x.reshape(-1) for x in as_arrays([x1, x2]))
    dtype = result_type(a, b)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """Give the different elements of both arrays, in order.

    Parameters
    ----------
    ar1, ar2 : array
        Of any shape.

    Returns
    -------
    ndarray
        In one dimension, ascending.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.union1d(usmx.asarray([3, 1]), usmx.asarray([2, 1])))
    [1, 2, 3]
    """
    from .manipulation import concat

    values: ndarray = _find(concat(_pair(ar1, ar2)), True, False, None).values
    return values


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Give the different elements that are in both arrays, in order.

    Parameters
    ----------
    ar1, ar2 : array
        Of any shape.
    assume_unique : bool
        As NumPy's; it changes nothing.
    return_indices : bool
        Whether to give where each is first in the one and in the other array, too.

    Returns
    -------
    ndarray or tuple of ndarray
        The elements; with `return_indices` the two arrays of indices follow.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.intersect1d(usmx.asarray([1, 2, 3]), usmx.asarray([3, 1, 7])))
    [1, 3]
    """
    a, b = _pair(ar1, ar2)
    one = _find(a, True, return_indices, None)
    both = isin(one.values, b)
    values = indexing.get(one.values, both)
    if not return_indices:
        return values
    other = _find(b, True, True, None)
    indices = _at(other.indices, _usmx._search(other.values, values))
    return values, indexing.get(one.indices, both), indices


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Give the different elements of `ar1` that are not in `ar2`, in order.

    Parameters
    ----------
    ar1, ar2 : array
        Of any shape.
    assume_unique : bool
        Whether elements stay as they are given: neither sorted nor left out where they are equal.

    Returns
    -------
    ndarray
        In one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.setdiff1d(usmx.asarray([1, 2, 3]), usmx.asarray([2])))
    [1, 3]
    """
    first = next((x for x in (ar1, ar2) if isinstance(x, ndarray)), None)
    values = as_array(ar1, first)
    values = values.reshape(-1) if assume_unique else _find(values, True, False, None).values
    return indexing.get(values, isin(values, ar2, invert=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Give the different elements that are in one of both arrays alone, in order.

    Parameters
    ----------
    ar1, ar2 : array
        Of any shape.
    assume_unique : bool
        As NumPy's; it changes nothing.

    Returns
    -------
    ndarray
        In one dimension, ascending.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.setxor1d(usmx.asarray([1, 2, 3]), usmx.asarray([2, 4])))
    [1, 3, 4]
    """
    from .manipulation import concat

    a, b = _pair(ar1, ar2)
    return sort(concat([setdiff1d(a, b), setdiff1d(b, a)]))
