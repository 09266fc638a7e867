"""Rows of numbers in order: `sort`, `argsort`, `partition`, and places in sorted arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal, SupportsIndex

from .. import _usmx
from .._usmx import ndarray
from ._common import are_records, as_array, kind_of, to_axis, to_shape

__all__ = ["argpartition", "argsort", "partition", "searchsorted", "sort"]

#: For kernels that look for places.
INCLUDE = '#include "usmx/sort.hpp"\n'
#: The kinds of types that have an order.
_KINDS = "buifc"


# --- functions -----------------------------------------------------------------------------------


def sortable(x: Any, name: str = "x") -> ndarray:
    if isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"{name}: {x!r} ({type(x).__name__}); expected an array")
    a = as_array(x)
    if a.dtype.kind not in _KINDS:
        raise TypeError(f"{name}: is of {a.dtype}; expected numbers, which have an order")
    return a


def _records() -> Any:
    """The module that orders records by what is here."""
    return import_module(".records", __package__)


def _check_kind(kind: str | None, order: Any, of_records: bool = False) -> None:
    if order is not None and not of_records:
        raise ValueError(
            f"order: {order!r}; expected None, because arrays of numbers have no fields"
        )
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable", "radixsort"):
        raise ValueError(f"kind: {kind!r}; expected None or 'stable', all sorts are stable")


def sort(
    a: ndarray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> ndarray:
    """Give the elements in order along an axis.

    Parameters
    ----------
    a : array
        Of any type of numbers. Complex ones are ordered by their real parts, equal ones of these
        by their imaginary parts. Records are ordered by their fields.
    axis : int, optional
        None sorts all elements in one dimension.
    kind : str, optional
        As NumPy's; it changes nothing.
    order : str or sequence of str, optional
        The fields of records that count first; the others follow in their order.
    descending : bool, optional
        Whether the largest element comes first. NaN is at the end in both directions.
    stable : bool, optional
        Every sort is stable: equal elements, such as -0.0 and 0.0, stay in their order.

    Returns
    -------
    ndarray
        Of the shape and type of `a`, in one dimension without an axis.

    Raises
    ------
    IndexError
        An axis that `a` does not have.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sort(usmx.asarray([[3, 1], [2, 5]])))
    [[1, 3],
     [2, 5]]
    """
    if kind is not None or order is not None:
        _check_kind(kind, order, are_records(a))
    made: ndarray | None = _usmx._sort(a, axis, descending, True, False)
    if made is None:
        made = _records().sort(a, axis, order, descending)
    return made


def argsort(
    a: ndarray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> ndarray:
    """Give the indices that put the elements in order along an axis, as int64.

    ``take_along_axis(x, argsort(x, axis=k), axis=k)`` is ``sort(x, axis=k)``. Indices of equal
    elements ascend, in both directions.

    Parameters
    ----------
    a : array
        Of any type that `sort` takes.
    axis : int, optional
        Along which; None takes all elements in one dimension.
    kind : str, optional
        As NumPy's; it changes nothing.
    order : str or sequence of str, optional
        The fields of records that count first; the others follow in their order.
    descending : bool, optional
        Whether the largest element comes first. NaN is at the end in both directions.
    stable : bool, optional
        Every sort is stable: equal elements, such as -0.0 and 0.0, stay in their order.

    Returns
    -------
    ndarray
        Of int64, of the shape of `a`, in one dimension without an axis.

    Raises
    ------
    IndexError
        An axis that `a` does not have.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.argsort(usmx.asarray([30, 10, 20])))
    [1, 2, 0]
    """
    if kind is not None or order is not None:
        _check_kind(kind, order, are_records(a))
    made: ndarray | None = _usmx._sort(a, axis, descending, False, True)
    if made is None:
        made = _records().argsort(a, axis, order, descending)
    return made


def sort_in_place(
    x: ndarray,
    axis: SupportsIndex = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> None:
    """Put the elements of the array in order along an axis, in its own memory.

    Parameters
    ----------
    x : ndarray
        The array.
    axis : int, optional
        Along which; the last one by default.
    kind : str, optional
        As NumPy's; it changes nothing.
    order : str or sequence of str, optional
        The fields of records that count first; the others follow in their order.
    descending : bool, optional
        Whether the largest element comes first. NaN is at the end in both directions.
    stable : bool, optional
        Every sort is stable: equal elements, such as -0.0 and 0.0, stay in their order.

    Raises
    ------
    ValueError
        The array is read-only.
    IndexError
        There is no such axis.
    """
    if x.flags.writable is False:
        raise ValueError("x: sort destination is read-only")
    to_axis(axis, x.ndim)
    x[...] = sort(x, axis, kind, order, descending=descending, stable=stable)


def _places(x: ndarray, kth: Any, axis: SupportsIndex | None) -> list[int]:
    """The places that are asked for, from 0 up, in order and none twice."""
    length = x.size if axis is None else x.shape[to_axis(axis, x.ndim)]
    places = set()
    if x.size == 0:
        return []  # nothing has a place, and NumPy refuses none
    for place in to_shape(kth):
        if not -length <= place < length:
            raise ValueError(f"kth: {place} is out of bounds for an axis of length {length}")
        places.add(place % length)
    return sorted(places)


def _selected(x: Any, kth: Any, axis: SupportsIndex | None, what: str) -> ndarray:
    a = sortable(x)
    places = _places(a, kth, axis)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return _usmx._select(a, places, axis, what)


def partition(
    a: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
) -> ndarray:
    """Give the elements with those of `kth` where `sort` has them.

    Smaller ones, and equal ones, stand before each of them, larger ones, and equal ones, behind
    it, in any order. NaN is at the end.

    Parameters
    ----------
    a : array
        As for `sort`.
    kth : int or sequence of int
        Places along the axis; negative ones count from its end.
    axis : int, optional
        None takes all elements in one dimension.
    kind, order : str, optional
        As NumPy's; they change nothing.

    Returns
    -------
    ndarray
        Of the shape and type of `a`, in one dimension without an axis.

    Raises
    ------
    ValueError
        A `kth` outside of the axis.

    Examples
    --------
    >>> import usmx
    >>> usmx.partition(usmx.asarray([7, 1, 5, 3]), 1)[1].item()
    3
    """
    return _selected(a, kth, axis, "values")


def argpartition(
    a: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
) -> ndarray:
    """Give the indices that make what `partition` gives, as int64.

    Parameters
    ----------
    a : array
        Of any type that `sort` takes.
    kth : int or sequence of int
        Places along the axis; negative ones count from its end.
    axis : int, optional
        Along which; None takes all elements in one dimension.
    kind, order : str, optional
        As NumPy's; they change nothing.

    Returns
    -------
    ndarray
        Of int64, of the shape of `a`, in one dimension without an axis.

    Raises
    ------
    ValueError
        A `kth` outside of the axis.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([7, 1, 5, 3])
    >>> usmx.argpartition(x, 0)[0].item()
    1
    """
    return _selected(a, kth, axis, "places")


def partition_in_place(
    x: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex = -1,
    kind: str | None = None,
    order: None = None,
) -> None:
    """Move the elements so that those of `kth` are where `sort` has them.

    Smaller ones stand before each of them, larger ones behind it, in any order; see `partition`.

    Parameters
    ----------
    x : ndarray
        The array.
    kth : int or sequence of int
        Places along the axis; negative ones count from its end.
    axis : int, optional
        Along which; the last one by default.
    kind, order : str, optional
        As NumPy's; they change nothing.

    Raises
    ------
    ValueError
        The array is read-only, or a `kth` is outside of the axis.
    """
    if x.flags.writable is False:
        raise ValueError("x: partition destination is read-only")
    x[...] = partition(x, kth, axis)


def _lies_outside(number: Any, dtype: Any) -> bool:
    from .data_types import iinfo

    if type(number) is not int or dtype.kind not in "iu":
        return False
    limits = iinfo(dtype)
    return not limits.min <= number <= limits.max


def searchsorted(
    a: ndarray,
    v: Any,
    side: Literal["left", "right"] = "left",
    sorter: ndarray | None = None,
) -> ndarray:
    """Give where values would stand in a sorted array.

    Parameters
    ----------
    a : array
        One dimension; in order, as `sort` gives it, or by way of `sorter`.
    v : array or number
        The values, of any shape.
    side : {'left', 'right'}, optional
        Whether a value stands before or after elements that equal it.
    sorter : array of integers, optional
        The indices that put `a` in order, as `argsort` gives them.

    Returns
    -------
    ndarray
        Of the shape of `v`, as int64.

    Raises
    ------
    ValueError
        `a` has not one dimension, `side` is none of both, or `sorter` has another length.
    IndexError
        An index of `sorter` is outside of `a`.
    TypeError
        `sorter` is not of integers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.searchsorted(usmx.asarray([10, 20, 30]), usmx.asarray([5, 20, 99])))
    [0, 1, 3]
    """
    from .data_types import result_type
    from .indexing import check_indices

    if not isinstance(a, ndarray) and isinstance(v, ndarray):
        a = as_array(a, v)
    a = sortable(a, "a")
    if a.ndim != 1:
        raise ValueError(f"a: has shape {a.shape}; expected one dimension")
    if side not in ("left", "right"):
        raise ValueError(f"side: {side!r}; expected 'left' or 'right'")
    # An int that the type of `a` cannot hold has a type of its own; other numbers adapt.
    if isinstance(v, (bool, int, float, complex)) and not _lies_outside(v, a.dtype):
        dtype = result_type(a, v)
        values = _usmx.full((), v, dtype, usm_type=kind_of(a), queue=a.queue)
    else:
        values = sortable(as_array(v, a), "v")
        dtype = result_type(a, values)
    order = None
    if sorter is not None:
        order = as_array(sorter, a)
        if order.dtype.kind not in "iu":
            raise TypeError(f"sorter: of {order.dtype}; expected an array of integers")
        if order.shape != a.shape:
            raise ValueError(f"sorter: has shape {order.shape}; expected {a.shape}, as a has")
        order = order.astype("int64", copy=False)
        check_indices(order, a.size, 0)
        order = (order + a.size) % a.size if a.size else order
    return _usmx._search(
        a.astype(dtype, copy=False), values.astype(dtype, copy=False), side == "right", order
    )
