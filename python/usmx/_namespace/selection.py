"""Elements chosen by index or by value: `take`, `put`, `nonzero` and related functions."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

from .. import _usmx
from .._usmx import ReductionKernel, ndarray
from . import _whole, indexing
from ._common import as_array, empty_at, imported, to_axes, to_axis
from ._outputs import written

__all__ = [
    "argwhere",
    "count_nonzero",
    "extract",
    "flatnonzero",
    "nonzero",
    "put",
    "put_along_axis",
    "take",
    "take_along_axis",
]


def _indices_for(x: ndarray, indices: Any, length: int, axis: int, mode: str) -> ndarray:
    import numpy as np

    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode: {mode!r}; expected 'raise', 'wrap' or 'clip'")
    values = imported(indices)
    if values is None:
        host = np.asarray(indices)
        if host.size == 0 and not isinstance(indices, np.ndarray):
            host = host.astype(np.int64)
        if mode == "raise" and host.dtype.kind in "iu":
            indexing.check_indices(host, length, axis)
        values, mode = as_array(host, x), "checked" if mode == "raise" else mode
    if values.dtype.kind not in "iu":
        raise TypeError(f"indices: of {values.dtype}; expected an array of integers")
    if mode in ("raise", "checked"):
        values = indexing.as_indices(values)
        if mode == "raise":
            indexing.check_indices(values, length, axis)
        return values
    values = values.astype("int64", copy=False)
    if length == 0 and values.size:
        raise IndexError(f"indices: axis {axis} has no elements")
    elif mode == "wrap":
        values = values % length if values.size else values
    elif mode == "clip":
        from .elementwise import maximum, minimum

        values = maximum(minimum(values, length - 1), 0)
    return values


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: ndarray | None = None,
    mode: str = "raise",
) -> ndarray:
    """Elements at indices along one axis.

    Parameters
    ----------
    a : array
        Any shape.
    indices : array of integers
        Any shape; it takes the place of the axis in the result. Negative ones count from the end.
    axis : int, optional
        None takes from the elements in C order.
    out : ndarray, optional
        Where the result is written.
    mode : {'raise', 'wrap', 'clip'}
        What is done with indices outside of the axis. 'raise' makes the host wait for indices in
        memory of the device, the others do not.

    Returns
    -------
    ndarray
        Of the type of `a`; the shape of `indices` stands in the place of the axis.

    Raises
    ------
    IndexError
        An index is outside of the axis, in mode 'raise'.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.take(usmx.asarray([10, 20, 30]), usmx.asarray([2, 0])))
    [30, 10]
    """
    if mode == "raise" and out is None:
        few = _usmx._small_take(a, indices, axis)
        if few is not None:
            return few
    a = as_array(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    at = to_axis(axis, a.ndim)
    if a.dtype.names is not None:
        taken = take(indexing.bytes_of(a), indices, at, mode=mode)
        return written(indexing.records_of(taken, a.dtype), out)
    checks = mode == "raise" and isinstance(indices, ndarray) and indices.dtype.kind in "iu"
    if checks:
        values = indexing.as_indices(indices)
    else:
        values = _indices_for(a, indices, a.shape[at], at, mode)
    return written(gathered(a, values, at, checks), out)


def gathered(x: ndarray, values: ndarray, at: int, checks: bool = False) -> ndarray:
    """The elements at indices along an axis, which are inside of it unless the kernel `checks`."""
    order = [at, *(a for a in range(x.ndim) if a != at)]
    shape = (*x.shape[:at], *values.shape, *x.shape[at + 1 :])
    made = empty_at(x, shape, None, values)
    # The axes of the indices come first where elements are gathered.
    rank = values.ndim
    result = made.transpose(
        [*range(at, at + rank), *range(at), *range(at + rank, made.ndim)]
    )  # fmt: skip
    if checks:
        indexing.checked_gather(x.transpose(order), values, result, at)
    else:
        indexing.gather(x.transpose(order), [values], result)
    return made


def _along(x: ndarray, indices: Any, axis: int) -> tuple[ndarray, list[ndarray], tuple[int, ...]]:
    import numpy as np

    at = to_axis(axis, x.ndim)
    values = _indices_for(x, indices, x.shape[at], at, "raise")
    if values.ndim != x.ndim:
        raise ValueError(
            f"indices: have {values.ndim} dimensions; expected {x.ndim}, as the array has"
        )
    around = [1 if a == at else n for a, n in enumerate(x.shape)]
    shape = np.broadcast_shapes(tuple(around), values.shape)
    x = _usmx.broadcast_to(x, [x.shape[at] if a == at else n for a, n in enumerate(shape)]) if (
        tuple(around) != tuple(1 if a == at else n for a, n in enumerate(shape))
    ) else x  # fmt: skip
    indices = []
    for a, length in enumerate(shape):
        if a == at:
            indices.append(values)
        else:
            steps = _usmx.arange(length, dtype="int64", usm_type="device", queue=x.queue)
            indices.append(steps.reshape([length if b == a else 1 for b in range(x.ndim)]))
    return x, indices, shape


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> ndarray:
    """Elements at an index for each line along an axis, as `argsort` gives them.

    Parameters
    ----------
    arr : array
        Any shape.
    indices : array of integers
        As many dimensions as `arr`; other axes than `axis` broadcast with those of `arr`.
    axis : int, optional
        None takes from the elements in C order.

    Returns
    -------
    ndarray
        Of the type of `arr`, and of the shape that it and the indices have together.

    Raises
    ------
    IndexError
        An index is outside of the axis.
    ValueError
        `indices` has another number of dimensions, or does not broadcast.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([[3, 1], [2, 5]])
    >>> print(usmx.take_along_axis(x, usmx.argsort(x, axis=1), axis=1))
    [[1, 3],
     [2, 5]]
    """
    arr = as_array(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    arr, at, shape = _along(arr, indices, axis)
    out = empty_at(arr, shape)
    indexing.gather(arr, at, out)
    return out


def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Assigns at an index for each line along an axis.

    Parameters
    ----------
    arr : ndarray
        Any shape; it is changed.
    indices : array of integers
        As many dimensions as `arr`; other axes than `axis` broadcast with those of `arr`.
    values : array or number
        Broadcast to the indices.
    axis : int, optional
        None counts the elements in C order.

    Raises
    ------
    IndexError
        An index is outside of the axis.
    ValueError
        Shapes do not fit.
    TypeError
        `arr` is not a `usmx.ndarray`, which alone can be changed.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.zeros((2, 2))
    >>> usmx.put_along_axis(x, usmx.asarray([[1], [0]]), 5, axis=1)
    >>> print(x)
    [[0., 5.],
     [5., 0.]]
    """
    if not isinstance(arr, ndarray):
        raise TypeError(f"arr: is of type {type(arr).__name__}; expected a usmx.ndarray to change")
    if axis is None:
        arr, axis = arr.reshape(-1, copy=False), 0
    into, at, shape = _along(arr, indices, axis)
    if into is not arr:
        raise ValueError(f"indices: of shape {shape} do not fit an array of shape {arr.shape}")
    given = indexing._value_for(arr, values)
    indexing.scatter(arr, at, _usmx.broadcast_to(given, shape))


def fill_in_place(x: ndarray, value: Any) -> None:
    """Give all elements one value.

    Parameters
    ----------
    x : ndarray
        The array.
    value : number, or tuple for a record
        It is cast to the type of the elements.

    Raises
    ------
    ValueError
        Several values.
    """
    is_record = x.dtype.fields is not None and isinstance(value, tuple)
    if getattr(value, "ndim", 0) != 0 or (isinstance(value, (list, tuple)) and not is_record):
        raise ValueError(f"value: {value!r}; expected one number")
    x[...] = value


def put(a: ndarray, ind: Any, v: Any, mode: str = "raise", *, axis: int | None = None) -> None:
    """Assigns to elements at indices.

    Parameters
    ----------
    a : ndarray
        Any shape; it is changed.
    ind : array of integers
        Any shape without `axis`, one dimension with it.
    v : array or number
        Without `axis` repeated if they are too few, with it broadcast to ``a``'s shape with as
        many elements along the axis as there are indices.
    mode : {'raise', 'wrap', 'clip'}
        As for `take`.
    axis : int, optional
        None counts the elements in C order.

    Raises
    ------
    IndexError
        An index is outside of the axis, in mode 'raise'.
    TypeError
        `a` is not a `usmx.ndarray`, which alone can be changed.
    ValueError
        With `axis`: indices of more than one dimension, or values that do not broadcast.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4)
    >>> usmx.put(x, [0, 2], [10, 20])
    >>> print(x)
    [10,  1, 20,  3]
    """
    if not isinstance(a, ndarray):
        raise TypeError(f"a: is of type {type(a).__name__}; expected a usmx.ndarray to change")
    if axis is not None:
        at = to_axis(axis, a.ndim)
        chosen = _indices_for(a, ind, a.shape[at], at, mode)
        if chosen.ndim != 1:
            raise ValueError(f"ind: have {chosen.ndim} dimensions; expected 1 with an axis")
        given = indexing._value_for(a, v)
        wanted = [chosen.size if a == at else n for a, n in enumerate(a.shape)]
        order = [at, *(a for a in range(a.ndim) if a != at)]
        given = _usmx.broadcast_to(given, wanted).transpose(order)
        indexing.scatter(a.transpose(order), [chosen], given)
        return
    chosen = _indices_for(a, ind, a.size, 0, mode).reshape(-1)
    given = indexing._value_for(a, v).reshape(-1)
    if chosen.size == 0 or given.size == 0:
        return
    if given.size == 1:
        given = _usmx.broadcast_to(given, chosen.shape)
    elif given.size < chosen.size:
        places = _usmx.arange(chosen.size, dtype="int64", usm_type="device", queue=a.queue)
        given = take(given, places, mode="wrap")
    given = given[: chosen.size]
    try:
        indexing.scatter(a.reshape(-1, copy=False), [chosen], given)
    except ValueError:
        counted = (chosen + a.size) % a.size
        indexing.scatter(a, indexing.unravel(counted, a.shape), given)


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """Indices of the elements that are not 0, an array of int64 for each axis, in C order.

    Parameters
    ----------
    a : array
        At least one dimension.

    Returns
    -------
    tuple of ndarray
        As many as `a` has dimensions, and each as long as there are such elements. The host waits
        for how many.

    Raises
    ------
    ValueError
        `a` has no dimensions.

    Examples
    --------
    >>> import usmx
    >>> rows, columns = usmx.nonzero(usmx.asarray([[0, 1], [1, 0]]))
    >>> print(rows, columns)
    [0, 1] [1, 0]
    """
    if (few := _usmx._small_nonzero(a)) is not None:
        return few
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("a: has no dimensions; expected at least one, such as x.reshape(1)")
    return tuple(indexing.unravel(indexing.places(a), a.shape))


def flatnonzero(a: Any) -> ndarray:
    """Numbers, in C order, of the elements that are not 0.

    Parameters
    ----------
    a : array
        Any shape.

    Returns
    -------
    ndarray
        Of int64, ascending. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.flatnonzero(usmx.asarray([0, 5, 0, 7])))
    [1, 3]
    """
    flat = as_array(a).reshape(-1)
    few = _usmx._small_nonzero(flat)
    return indexing.places(flat) if few is None else few[0]


def argwhere(a: Any) -> ndarray:
    """Indices of the elements that are not 0, a row for each: shape (count, ndim).

    Parameters
    ----------
    a : array
        Any shape.

    Returns
    -------
    ndarray
        Of int64. The host waits for how many rows there are.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.argwhere(usmx.asarray([[0, 1], [1, 0]])))
    [[0, 1],
     [1, 0]]
    """
    a = as_array(a)
    if a.ndim == 0:
        return empty_at(a, (int(bool(a)), 0), "int64")
    found = nonzero(a)
    out = empty_at(a, (found[0].size, a.ndim), "int64")
    for axis, indices in enumerate(found):
        out[:, axis] = indices
    return out


def extract(condition: Any, arr: Any) -> ndarray:
    """The elements of `arr` where a condition of its size is not 0, in one dimension.

    Parameters
    ----------
    condition : array
        Of as many elements as `arr`.
    arr : array
        Any shape.

    Returns
    -------
    ndarray
        In C order. The host waits for how many there are.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4)
    >>> print(usmx.extract(x > 1, x))
    [2, 3]
    """
    arr = as_array(arr)
    mask = as_array(condition, arr).reshape(-1)
    return indexing.get(arr.reshape(-1), mask if mask.dtype.kind == "b" else mask != 0)


@cache
def _count_kernel() -> ReductionKernel:
    return ReductionKernel(
        "T x", "int64 z", "x != T(0) ? 1 : 0", "a + b", "z = a", 0, "count_nonzero"
    )


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> ndarray:
    """How many elements are not 0, as int64.

    Parameters
    ----------
    a : array
        Any shape.
    axis : int or tuple of int, optional
        Along which it is counted; None is all axes.
    keepdims : bool
        Whether those axes stay, with length one.

    Returns
    -------
    ndarray
        Of int64, without the axes that it is counted along.

    Examples
    --------
    >>> import usmx
    >>> usmx.count_nonzero(usmx.asarray([0, 1, 2])).item()
    2
    """
    if axis is None and not keepdims and (few := _usmx._small_count(a)) is not None:
        return few
    a = as_array(a)
    if axis is None and _whole.suits(a, None, "biuf"):
        return _whole.count_nonzero(a, keepdims)
    axes = None if axis is None else to_axes(axis, a.ndim)
    return _count_kernel()(
        indexing.as_bits(a) if a.dtype.kind in "biu" else a, axis=axes, keepdims=keepdims
    )
