"""Records, field by field: comparisons, assignments to some of the fields, and their order.

Kernels compute with numbers, and each field of records is an array of these. Where records are
moved as a whole, they are rows of their bytes (`indexing.bytes_of`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .. import _usmx
from .._usmx import ndarray
from ._common import are_records, as_array, as_arrays, to_axis

#: The fields that order a sort: a name, names, or none for all fields in their order.
Order = str | Sequence[str] | None


def _fields(x: ndarray) -> Any:
    """The types and places of the fields by their names, which there are."""
    return x.dtype.fields


def field(x: ndarray, name: str) -> ndarray:
    """The numbers of a field: a view where its steps are whole numbers, else a copy."""
    whole, at = _fields(x)[name][:2]
    single, lengths = whole.subdtype or (whole, ())
    if x.dtype.itemsize % single.itemsize == 0:
        return x[name]
    from .indexing import bytes_of

    if not x.size:
        return _usmx.empty((*x.shape, *lengths), single, queue=x.queue)
    numbers = bytes_of(x)[..., at : at + whole.itemsize].copy().view(single)
    return numbers.reshape((*x.shape, *lengths))


def compared(x: Any, y: Any, equal: bool) -> ndarray:
    """``x == y`` or ``x != y``: records are equal if all of their fields are.

    Raises
    ------
    TypeError
        One of them has no records, or their fields have other names.
    """
    if not isinstance(y, ndarray) and not hasattr(y, "dtype"):
        raise TypeError(f"an array of records cannot be compared with {y!r}; expected records")
    a, b = as_arrays((x, y))
    same = _same(a, b)
    return same if equal else _usmx.Operation("logical_not")(same)


def _same(a: ndarray, b: ndarray) -> ndarray:
    from .statistics import all as all_of

    if a.dtype.names is None or a.dtype.names != b.dtype.names:
        raise TypeError(
            f"records of {a.dtype} cannot be compared with {b.dtype}; expected fields of the same "
            "names"
        )
    rank = len(np.broadcast_shapes(a.shape, b.shape))
    made: Any = None
    for name in a.dtype.names:
        one, other = field(a, name), field(b, name)
        own, theirs = one.shape[a.ndim :], other.shape[b.ndim :]
        if own != theirs:
            raise TypeError(
                f"the field {name!r} has {own} numbers in one array, {theirs} in the other"
            )
        one, other = (
            v.reshape((1,) * (rank - x.ndim) + v.shape) for v, x in ((one, a), (other, b))
        )
        same = _same(one, other) if one.dtype.names is not None else one == other
        if own:
            same = all_of(same, axis=tuple(range(rank, same.ndim)))
        made = same if made is None else made & same
    if made is None:
        raise TypeError(f"records of {a.dtype} have no fields to compare")
    result: ndarray = made
    return result


def put_fields(x: ndarray, names: list[str], value: Any) -> None:
    """``x[["a", "b"]] = value``: the fields of records by their places, or a number for each.

    Raises
    ------
    KeyError
        A name that is not one of a field.
    ValueError
        `x` is read-only, or the value has another number of fields.
    """
    for name in names:
        if name not in _fields(x):
            raise KeyError(f"{name!r} is not a field of {x.dtype}")
    if len(set(names)) != len(names):
        raise ValueError(f"index: {names} names a field twice")
    if not isinstance(value, (ndarray, np.ndarray, np.generic, bool, int, float, complex)):
        value = np.asarray(value, [(name, x.dtype[name]) for name in names])
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names is not None:
        # One by one: no buffer has fields in another order than that of their places.
        parts = [as_array(np.array(value[name]), x) for name in value.dtype.names or ()]
        values = _as_many(parts, names)
    elif are_records(given := as_array(value, x)):
        # Copies: a field may be written before another one that is read from the same memory.
        values = _as_many([field(given, name).copy() for name in given.dtype.names or ()], names)
    else:
        values = [given] * len(names)
    for name, one in zip(names, values, strict=True):
        put_field(x, name, one)


def _as_many(values: list[ndarray], names: list[str]) -> list[ndarray]:
    if len(values) != len(names):
        raise ValueError(f"value: has {len(values)} fields, the index names {len(names)}")
    return values


def put_field(x: ndarray, name: str, value: ndarray) -> None:
    """``x[name] = value``, also of a field that is not a view."""
    whole, at = _fields(x)[name][:2]
    single, lengths = whole.subdtype or (whole, ())
    if x.dtype.itemsize % single.itemsize == 0:
        x[name] = value
        return
    from .indexing import bytes_of

    numbers = _usmx.empty((*x.shape, *lengths), single, usm_type=x.usm_type, queue=x.queue)
    numbers[...] = value
    if x.size:
        bytes_of(x)[..., at : at + whole.itemsize] = numbers.reshape((*x.shape, -1)).view("uint8")


def _keys(x: ndarray, order: Order) -> list[ndarray]:
    """The numbers that records are ordered by, the first of which counts most."""
    names = list(x.dtype.names or ())
    first = [] if order is None else [order] if isinstance(order, str) else list(order)
    for name in first:
        if name not in names:
            raise ValueError(f"order: {name!r} is not a field of {x.dtype}")
    if len(set(first)) != len(first):
        raise ValueError(f"order: {first} names a field twice")
    keys = []
    for name in first + [name for name in names if name not in first]:
        numbers = field(x, name)
        if numbers.dtype.names is not None:
            keys += _keys(numbers, None)
        elif numbers.dtype.kind not in "biufc":
            raise TypeError(f"order: the field {name!r} is of {numbers.dtype}, which has no order")
        elif numbers.ndim == x.ndim:
            keys.append(numbers)
        else:
            rows = numbers.reshape((*x.shape, prod(numbers.shape[x.ndim :])))
            keys += [rows[..., k] for k in range(rows.shape[-1])]
    return keys


def argsort(x: ndarray, axis: Any, order: Order, descending: bool = False) -> ndarray:
    """The indices that put records in order along an axis: by their first field, and so on."""
    from .sets import lexsort

    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = to_axis(axis, x.ndim)
    keys = _keys(x, order)
    if not keys:
        raise TypeError(f"a: records of {x.dtype} have no fields, and no order")
    places: ndarray
    if not descending:
        places = lexsort(keys[::-1], axis)
        return places
    # Stable from behind, read from behind: equal records stay in their order.
    back = tuple(slice(None, None, -1) if k == axis else slice(None) for k in range(x.ndim))
    places = (x.shape[axis] - 1) - lexsort([key[back] for key in keys[::-1]], axis)[back]
    return places


def sort(x: ndarray, axis: Any, order: Order, descending: bool = False) -> ndarray:
    """Records in order along an axis."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = to_axis(axis, x.ndim)
    places = argsort(x, axis, order, descending)
    grid: list[Any] = [
        np.arange(n).reshape((-1,) + (1,) * (x.ndim - 1 - k)) for k, n in enumerate(x.shape)
    ]
    grid[axis] = places
    made: ndarray = x[tuple(grid)]
    return made


def ranks(x: ndarray) -> ndarray:
    """A number for each record, in their order, the same for equal ones; of one dimension."""
    from .statistics import cumulative_sum

    flat = x.reshape(-1)
    order = argsort(flat, 0, None)
    made = _usmx.empty(flat.shape, "int64", queue=x.queue)
    if flat.size:
        row = flat[order]
        new = compared(row[1:], row[:-1], False)
        made[order[:1]] = 0
        made[order[1:]] = cumulative_sum(new.astype("int64"))
    result: ndarray = made.reshape(x.shape)
    return result
