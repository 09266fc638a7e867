"""Arrays in other shapes and orders, joined and cut. Views wherever the layout allows it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ElementwiseKernel, ReductionKernel, ScanKernel, ndarray
from ._common import (
    apart_from,
    as_array,
    as_arrays,
    empty_as,
    empty_at,
    empty_in_order,
    imported,
    is_in_c_order,
    is_integer,
    to_axes,
    to_axis,
    to_shape,
)
from ._outputs import check_cast, to_out
from .indexing import join_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import ArrayLike, DTypeLike, OrderLike, ShapeLike

__all__ = [
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "moveaxis",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rot90",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "unstack",
    "vsplit",
    "vstack",
]


# --- broadcasting --------------------------------------------------------------------------------


def broadcast_shapes(*args: ShapeLike) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together.

    Parameters
    ----------
    *args : int or tuple of int
        Shapes. They are aligned at the last axis; axes of length one, and missing ones, take the
        length of the others.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        The shapes do not fit together.

    Examples
    --------
    >>> import usmx
    >>> usmx.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    given = [to_shape(shape) for shape in args]
    rank = max(map(len, given), default=0)
    result = [1] * rank
    for shape in given:
        if any(length < 0 for length in shape):
            raise ValueError(f"shapes: {shape} has a negative length")
        for axis, length in enumerate(shape, rank - len(shape)):
            if result[axis] not in (1, length) and length != 1:
                raise ValueError(f"shapes: {', '.join(map(str, given))} cannot be broadcast")
            if length != 1:
                result[axis] = length
    return tuple(result)


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[ndarray, ...]:
    """Read-only views of arrays in the shape that they have together.

    Parameters
    ----------
    *args : array or number
        They fit together as for `broadcast_shapes`.
    subok : bool
        Without effect; programs for NumPy pass it.

    Returns
    -------
    tuple of ndarray
        One for each argument; that itself if it has the shape already.

    Raises
    ------
    ValueError
        The shapes do not fit together.

    Examples
    --------
    >>> import usmx
    >>> [x.shape for x in usmx.broadcast_arrays(usmx.ones((2, 1)), usmx.ones(3))]
    [(2, 3), (2, 3)]
    """
    given = as_arrays(args)
    shape = broadcast_shapes(*(x.shape for x in given))
    return tuple(x if x.shape == shape else _usmx.broadcast_to(x, shape) for x in given)


# --- views ---------------------------------------------------------------------------------------


def reshape(
    a: ArrayLike, shape: ShapeLike, order: OrderLike = "C", *, copy: bool | None = None
) -> ndarray:
    """The elements in another shape; a view wherever the layout allows it.

    Parameters
    ----------
    a : array
        Any shape.
    shape : int or tuple of int
        One length may be -1: it takes what the others leave.
    order : {'C', 'F', 'A'}
        The order in which elements are read and placed.
    copy : bool, optional
        True copies always, False never, None if needed.

    Returns
    -------
    ndarray
        Of that shape, and of the type of `a`.

    Raises
    ------
    ValueError
        The sizes differ, or a copy is needed and forbidden.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.reshape(usmx.arange(6), (2, -1)))
    [[0, 1, 2],
     [3, 4, 5]]
    """
    return as_array(a).reshape(to_shape(shape), order=order, copy=copy)


def ravel(a: ArrayLike, order: OrderLike = "C") -> ndarray:
    """The elements contiguous in one dimension; a view if they are contiguous already.

    Parameters
    ----------
    a : array
        Any shape.
    order : {'C', 'F', 'A', 'K'}
        The order in which elements are read: rows first, columns first, 'F' if `a` is in Fortran
        order, or as they are in memory.

    Returns
    -------
    ndarray
        Of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.ravel(usmx.asarray([[1, 2], [3, 4]])))
    [1, 2, 3, 4]
    """
    return as_array(a).ravel(order)


def permute_dims(a: ArrayLike, axes: int | Sequence[int] | None = None) -> ndarray:
    """A view whose axis i is axis ``axes[i]`` of `a`.

    Parameters
    ----------
    a : array
        Any shape.
    axes : sequence of int, optional
        Each axis of `a` once; None reverses them.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        `axes` does not name each axis once.

    Examples
    --------
    >>> import usmx
    >>> usmx.permute_dims(usmx.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return transpose(a, axes)


def transpose(a: ArrayLike, axes: int | Sequence[int] | None = None) -> ndarray:
    """A view with the axes in another order; without `axes` in reverse.

    Parameters
    ----------
    a : array
        Any shape.
    axes : sequence of int, optional
        Each axis of `a` once: axis i of the result is axis ``axes[i]`` of `a`. None reverses them.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        `axes` does not name each axis once.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.transpose(usmx.asarray([[1, 2], [3, 4]])))
    [[1, 3],
     [2, 4]]
    """
    a = as_array(a)
    if axes is None:
        return a.T
    return a.permute((operator.index(axes),) if isinstance(axes, int) else tuple(axes))


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> ndarray:
    """A view with two axes exchanged.

    Parameters
    ----------
    a : array
        Any shape.
    axis1, axis2 : int
        Negative ones count from the last axis.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        `a` has not such an axis.

    Examples
    --------
    >>> import usmx
    >>> usmx.swapaxes(usmx.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = as_array(a)
    return a.swapaxes(to_axis(axis1, a.ndim, "axis1"), to_axis(axis2, a.ndim, "axis2"))


def moveaxis(
    a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> ndarray:
    """A view with some axes at other places; the others keep their order.

    Parameters
    ----------
    a : array
        Any shape.
    source : int or sequence of int
        The axes that move.
    destination : int or sequence of int
        Where each of them is in the result.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        There is no such axis.
    ValueError
        An axis is named twice, or `source` and `destination` differ in length.

    Examples
    --------
    >>> import usmx
    >>> usmx.moveaxis(usmx.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = as_array(a)
    begin = to_axes(source, a.ndim, "source")
    end = to_axes(destination, a.ndim, "destination")
    if len(begin) != len(end):
        raise ValueError(f"source: has {len(begin)} axes, but destination has {len(end)}")
    order = [axis for axis in range(a.ndim) if axis not in begin]
    for place, axis in sorted(zip(end, begin, strict=True)):
        order.insert(place, axis)
    return a.permute(order) if a.ndim else a


def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> ndarray:
    """A view with new axes of length one, at `axis` of the result.

    Parameters
    ----------
    a : array
        Any shape.
    axis : int or sequence of int
        Where the new axes are in the result.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        The result has no such axis.

    Examples
    --------
    >>> import usmx
    >>> usmx.expand_dims(usmx.ones((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    a = as_array(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = to_axes(axis, a.ndim + count)
    key = tuple(None if a in new else slice(None) for a in range(a.ndim + count))
    return a[key]


def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> ndarray:
    """A view without axes of length one: those given, or all.

    Parameters
    ----------
    a : array
        Any shape.
    axis : int or sequence of int, optional
        The axes of length one to leave out; None is all of them.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        An axis has another length.

    Examples
    --------
    >>> import usmx
    >>> usmx.squeeze(usmx.ones((1, 3, 1))).shape
    (3,)
    """
    a = as_array(a)
    if axis is None:
        return a.squeeze()
    if a.ndim == 0 and is_integer(axis) and axis in (0, -1):
        return a[()]  # as NumPy does, though there is no such axis
    axes = to_axes(axis, a.ndim)
    for one in axes:
        if a.shape[one] != 1:
            raise ValueError(f"axis: {one} has length {a.shape[one]}; expected 1")
    return a[tuple(0 if a in axes else slice(None) for a in range(a.ndim))]


def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> ndarray:
    """A view with the elements along some axes, or all, in reverse.

    Parameters
    ----------
    m : array
        Any shape.
    axis : int or sequence of int, optional
        None is all axes.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.flip(usmx.arange(3)))
    [2, 1, 0]
    """
    m = as_array(m)
    axes = to_axes(axis, m.ndim)
    return m[tuple(slice(None, None, -1 if a in axes else None) for a in range(m.ndim))]


def flipud(m: ArrayLike) -> ndarray:
    """A view with axis 0 in reverse.

    Parameters
    ----------
    m : array
        At least one dimension.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        `m` has no dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.flipud(usmx.asarray([[1, 2], [3, 4]])))
    [[3, 4],
     [1, 2]]
    """
    return flip(m, axis=0)


def fliplr(m: ArrayLike) -> ndarray:
    """A view with axis 1 in reverse.

    Parameters
    ----------
    m : array
        At least two dimensions.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    IndexError
        `m` has fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fliplr(usmx.asarray([[1, 2], [3, 4]])))
    [[2, 1],
     [4, 3]]
    """
    return flip(m, axis=1)


def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray:
    """A view turned by k times 90 degrees, from the first axis towards the second.

    Parameters
    ----------
    m : array
        At least two dimensions.
    k : int
        How often; negative ones turn the other way.
    axes : (int, int)
        The plane of rotation.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        `axes` are not two different ones.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.rot90(usmx.asarray([[1, 2], [3, 4]])))
    [[2, 4],
     [1, 3]]
    """
    m = as_array(m)
    if len(axes) != 2:
        raise ValueError(f"axes: {tuple(axes)}; expected two")
    first, second = to_axes(tuple(axes), m.ndim, "axes")
    turns = operator.index(k) % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return flip(m, (first, second))
    if turns == 1:
        return flip(m, second).swapaxes(first, second)
    return flip(m.swapaxes(first, second), second)


def atleast_1d(*arys: ArrayLike) -> Any:
    """Views of arrays with at least one dimension.

    Parameters
    ----------
    *arys : array or number
        Each by itself.

    Returns
    -------
    ndarray or tuple of ndarray
        An array for one argument, a tuple for several.

    Examples
    --------
    >>> import usmx
    >>> usmx.atleast_1d(usmx.asarray(3)).shape
    (1,)
    """
    return _at_least(arys, lambda x: x.reshape(1) if x.ndim == 0 else x)


def atleast_2d(*arys: ArrayLike) -> Any:
    """Arrays with at least two dimensions; new ones stand in front.

    Parameters
    ----------
    *arys : array or number
        Each by itself.

    Returns
    -------
    ndarray or tuple of ndarray
        An array for one argument, a tuple for several.

    Examples
    --------
    >>> import usmx
    >>> usmx.atleast_2d(usmx.arange(3)).shape
    (1, 3)
    """
    return _at_least(arys, lambda x: x[(None,) * (2 - x.ndim)] if x.ndim < 2 else x)


def atleast_3d(*arys: ArrayLike) -> Any:
    """Arrays with at least three dimensions; a vector becomes (1, n, 1), a matrix (m, n, 1).

    Parameters
    ----------
    *arys : array or number
        Each by itself.

    Returns
    -------
    ndarray or tuple of ndarray
        An array for one argument, a tuple for several.

    Examples
    --------
    >>> import usmx
    >>> usmx.atleast_3d(usmx.arange(3)).shape
    (1, 3, 1)
    """
    keys: dict[int, Any] = {
        0: (None, None, None),
        1: (None, slice(None), None),
        2: (slice(None), slice(None), None),
    }
    return _at_least(arys, lambda x: x[keys[x.ndim]] if x.ndim < 3 else x)


def _at_least(arrays: tuple[Any, ...], change: Any) -> Any:
    results = tuple(change(x) for x in as_arrays(arrays))
    return results[0] if len(results) == 1 else results


# --- joining -------------------------------------------------------------------------------------


def _are_few(arrays: Any) -> bool:
    """Whether the host may join arrays in C order: not if results have another one."""
    if not isinstance(arrays, (list, tuple)):
        return False
    return is_in_c_order(*(x for x in arrays if isinstance(x, ndarray)))


def concat(
    arrays: Sequence[ArrayLike],
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays behind each other along one of their axes.

    Parameters
    ----------
    arrays : sequence of arrays
        Equal in shape but for `axis`.
    axis : int, optional
        None joins their elements in C order.
    out : ndarray, optional
        Where the result is written.
    dtype : dtype, optional
        The element type; None is that in which the types meet.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What may be cast to that type, or to that of `out`.

    Returns
    -------
    ndarray
        The elements of the first array come first.

    Raises
    ------
    ValueError
        No arrays, or shapes that do not fit.
    TypeError
        An array that is not cast by the rule; both `out` and `dtype`.
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.concat([usmx.arange(2), usmx.arange(3)]))
    [0, 1, 0, 1, 2]
    """
    if (
        out is None
        and dtype is None
        and casting == "same_kind"
        and _are_few(arrays)
        and (few := _usmx._small_join(arrays, axis, False)) is not None
    ):
        return few
    into = to_out(out)
    if into is not None and dtype is not None:
        raise TypeError("dtype: is given, and so is out; expected one of them")
    from .data_types import result_type, to_dtype

    given = as_arrays(arrays)
    if not given:
        raise ValueError("arrays: is empty; expected at least one array")
    if axis is None:
        given, axis = [x.reshape(-1) for x in given], 0
    first = given[0]
    at = to_axis(axis, first.ndim)
    for number, x in enumerate(given):
        if x.ndim != first.ndim or any(
            a != at and n != m for a, (n, m) in enumerate(zip(x.shape, first.shape, strict=False))
        ):
            raise ValueError(
                f"arrays: number {number} has shape {x.shape}, which does not fit "
                f"{first.shape} of the first along axis {at}"
            )
    length = sum(x.shape[at] for x in given)
    shape = (*first.shape[:at], length, *first.shape[at + 1 :])
    if into is None:
        wanted = result_type(*given) if dtype is None else to_dtype(dtype)
    else:
        wanted = into.dtype
        if into.shape != shape:
            raise ValueError(f"out: has shape {into.shape}; expected {shape}")
    for x in given:
        check_cast(x.dtype, wanted, casting, "dtype" if into is None else "out")
    if into is None:
        if is_in_c_order(*given):
            into = empty_at(first, shape, wanted, *given)
        else:
            into = empty_in_order(first, shape, _order_of_joined(given), wanted, *given)
    else:
        given = [apart_from(into, x) for x in given]
    if prod(shape[:at]) == 1 and join_runs(given, into):
        return into
    before = (slice(None),) * at
    begin = 0
    for x in given:
        end = begin + x.shape[at]
        if x.size:
            into[(*before, slice(begin, end))] = x
        begin = end
    return into


def _order_of_joined(arrays: Sequence[ndarray]) -> list[int]:
    """The axes of joined arrays, the slowest in memory first, as NumPy orders them.

    An axis goes before those that all arrays step along in smaller steps; where they disagree the
    order is C's. Axes of length one do not count.
    """
    steps = [
        [0 if n == 1 else abs(step) for n, step in zip(x.shape, x.strides, strict=True)]
        for x in arrays
    ]
    order: list[int] = []
    for axis in range(arrays[0].ndim):
        place = len(order)
        for before in reversed(range(len(order))):
            pairs = [(own[order[before]], own[axis]) for own in steps]
            known = [slow >= fast for slow, fast in pairs if slow and fast]
            if any(known):
                break
            if known:
                place = before
        order.insert(place, axis)
    return order


concatenate = concat


def stack(
    arrays: Sequence[ArrayLike],
    axis: int = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of arrays
        All of one shape.
    axis : int
        The new axis of the result.
    out : ndarray, optional
        Where the result is written.
    dtype : dtype, optional
        The element type; None is that in which the types meet.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        As in `concat`.

    Returns
    -------
    ndarray
        With one dimension more than the arrays.

    Raises
    ------
    ValueError
        No arrays, or shapes that differ.
    TypeError
        As in `concat`.
    IndexError
        The result has no such axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.stack([usmx.arange(2), usmx.arange(2)], axis=1))
    [[0, 0],
     [1, 1]]
    """
    if (
        out is None
        and dtype is None
        and casting == "same_kind"
        and _are_few(arrays)
        and (few := _usmx._small_join(arrays, axis, True)) is not None
    ):
        return few
    given = as_arrays(arrays)
    if not given:
        raise ValueError("arrays: is empty; expected at least one array")
    for number, x in enumerate(given):
        if x.shape != given[0].shape:
            raise ValueError(
                f"arrays: number {number} has shape {x.shape}; expected {given[0].shape} as the "
                "first"
            )
    at = to_axis(axis, given[0].ndim + 1)
    return concat([expand_dims(x, at) for x in given], at, out, dtype=dtype, casting=casting)


def vstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> ndarray:
    """Arrays below each other, along axis 0; vectors are rows.

    Parameters
    ----------
    tup : sequence of arrays
        Equal in shape but for axis 0.
    dtype : dtype, optional
        The element type; None is that in which the types meet.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What may be cast to that type.

    Returns
    -------
    ndarray
        Of at least two dimensions.

    Raises
    ------
    ValueError
        There are no arrays, or shapes do not fit.
    TypeError
        An array that is not cast by the rule.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.vstack([usmx.arange(2), usmx.arange(2)]))
    [[0, 1],
     [0, 1]]
    """
    return concat([atleast_2d(x) for x in as_arrays(tup)], 0, dtype=dtype, casting=casting)


def hstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> ndarray:
    """Arrays next to each other, along axis 1; vectors along axis 0.

    Parameters
    ----------
    tup : sequence of arrays
        Equal in shape but for that axis.
    dtype : dtype, optional
        The element type; None is that in which the types meet.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What may be cast to that type.

    Returns
    -------
    ndarray
        Of at least one dimension.

    Raises
    ------
    ValueError
        There are no arrays, or shapes do not fit.
    TypeError
        An array that is not cast by the rule.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.hstack([usmx.arange(2), usmx.arange(3)]))
    [0, 1, 0, 1, 2]
    """
    given = [atleast_1d(x) for x in as_arrays(tup)]
    axis = 0 if given and given[0].ndim == 1 else 1
    return concat(given, axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike]) -> ndarray:
    """Arrays behind each other along axis 2.

    Parameters
    ----------
    tup : sequence of arrays
        Equal in shape but for axis 2; vectors become (1, n, 1), matrices (m, n, 1).

    Returns
    -------
    ndarray
        Of at least three dimensions.

    Raises
    ------
    ValueError
        There are no arrays, or shapes do not fit.

    Examples
    --------
    >>> import usmx
    >>> usmx.dstack([usmx.ones(3), usmx.zeros(3)]).shape
    (1, 3, 2)
    """
    return concat([atleast_3d(x) for x in as_arrays(tup)], 2)


def column_stack(tup: Sequence[ArrayLike]) -> ndarray:
    """Arrays next to each other, along axis 1; vectors are columns.

    Parameters
    ----------
    tup : sequence of arrays
        Of one length along axis 0.

    Returns
    -------
    ndarray
        Of at least two dimensions.

    Raises
    ------
    ValueError
        There are no arrays, or shapes do not fit.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.column_stack([usmx.asarray([1, 2]), usmx.asarray([3, 4])]))
    [[1, 3],
     [2, 4]]
    """
    return concat([atleast_2d(x).T if x.ndim < 2 else x for x in as_arrays(tup)], 1)


# --- cutting -------------------------------------------------------------------------------------


def unstack(x: ArrayLike, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views, one for each index along an axis.

    Parameters
    ----------
    x : array
        At least one dimension.
    axis : int
        The axis that the parts do not have.

    Returns
    -------
    tuple of ndarray
        As many as the axis is long.

    Raises
    ------
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.unstack(usmx.ones((2, 3)))]
    [(3,), (3,)]
    """
    x = as_array(x)
    before = (slice(None),) * to_axis(axis, x.ndim)
    return tuple(x[(*before, k)] for k in range(x.shape[len(before)]))


def array_split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> list[ndarray]:
    """Views of an array in parts along an axis.

    Parameters
    ----------
    ary : array
        At least one dimension.
    indices_or_sections : int or sequence of int
        How many parts, of which the first ones are longer by one if they cannot be equal; or
        where parts begin.
    axis : int
        Along which it is cut.

    Returns
    -------
    list of ndarray
        The parts in order; one that begins behind the end is empty.

    Raises
    ------
    ValueError
        Less than one part, or more than 65536 parts that are more than there are elements.
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.array_split(usmx.arange(5), 2)]
    [(3,), (2,)]
    """
    ary = as_array(ary)
    at = to_axis(axis, ary.ndim)
    length = ary.shape[at]
    if not is_integer(indices_or_sections):
        edges = [0, *to_shape(indices_or_sections), length]
    else:
        count = operator.index(indices_or_sections)  # type: ignore[arg-type]
        if count < 1:
            raise ValueError(f"indices_or_sections: {count}; expected at least 1")
        if count > max(length, 1 << 16):
            raise ValueError(f"indices_or_sections: {count} parts of an axis of length {length}")
        each, more = divmod(length, count)
        edges = [k * each + min(k, more) for k in range(count + 1)]
    before = (slice(None),) * at
    return [ary[(*before, slice(edges[k], edges[k + 1]))] for k in range(len(edges) - 1)]


def split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[ndarray]:
    """Views of an array in equal parts, or from given indices on, along an axis.

    Parameters
    ----------
    ary : array
        At least one dimension.
    indices_or_sections : int or sequence of int
        How many parts, which must be equal; or the indices where parts begin.
    axis : int
        Along which it is cut.

    Returns
    -------
    list of ndarray
        Views of the parts, in order.

    Raises
    ------
    ValueError
        The parts cannot be equal.
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.split(usmx.arange(6), 3)]
    [(2,), (2,), (2,)]
    """
    ary = as_array(ary)
    if is_integer(indices_or_sections):
        count = operator.index(indices_or_sections)  # type: ignore[arg-type]
        length = ary.shape[to_axis(axis, ary.ndim)]
        if count >= 1 and length % count:
            raise ValueError(
                f"indices_or_sections: {count} equal parts of length {length} are not possible; "
                "array_split makes unequal ones"
            )
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[ndarray]:
    """Views of an array in parts along axis 0.

    Parameters
    ----------
    ary : array
        At least two dimensions.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of ndarray
        Views of the parts, in order.

    Raises
    ------
    ValueError
        Fewer dimensions, or parts that cannot be equal.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.vsplit(usmx.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return split(_of_rank(ary, 2), indices_or_sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[ndarray]:
    """Views of an array in parts along axis 1, of a vector along axis 0.

    Parameters
    ----------
    ary : array
        At least one dimension.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of ndarray
        Views of the parts, in order.

    Raises
    ------
    ValueError
        No dimensions, or parts that cannot be equal.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.hsplit(usmx.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    ary = _of_rank(ary, 1)
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[ndarray]:
    """Views of an array in parts along axis 2.

    Parameters
    ----------
    ary : array
        At least three dimensions.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of ndarray
        Views of the parts, in order.

    Raises
    ------
    ValueError
        Fewer dimensions, or parts that cannot be equal.

    Examples
    --------
    >>> import usmx
    >>> [part.shape for part in usmx.dsplit(usmx.ones((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    return split(_of_rank(ary, 3), indices_or_sections, 2)


def _of_rank(x: Any, least: int) -> ndarray:
    given = as_array(x)
    if given.ndim < least:
        raise ValueError(f"ary: has {given.ndim} dimensions; expected at least {least}")
    return given


# --- repeating and moving ------------------------------------------------------------------------

_kernels: dict[str, Any] = {}
_TOO_LONG = "repeats: their sum is beyond int64, and no array is so long"


def _places_of_repeats(repeats: ndarray) -> ndarray:
    """For each element of the result the number of the one that it repeats."""
    if not _kernels:
        _kernels["ends"] = ScanKernel("int64 r", "int64 z", "r", "a + b", name="repeat_ends")
        _kernels["places"] = ElementwiseKernel(
            "int64 r, int64 end",
            "raw int64 z",
            "for (int64_t k = end - r; k < end; ++k) z[k] = i;",
            "repeat_places",
        )
        # The first sum beyond int64 is negative, because what is added is not.
        _kernels["wrong"] = ReductionKernel(
            "int64 r, int64 end",
            "int32 z",
            "r < 0 ? 1 : end < 0 ? 2 : 0",
            "a | b",
            "z = a",
            "0",
            "repeat_wrong",
        )
    if repeats.size == 0:
        return empty_at(repeats, 0, "int64")
    signed = repeats.astype("int64", copy=False)
    ends = _kernels["ends"](signed)
    wrong = int(_kernels["wrong"](signed, ends).item())
    if wrong & 1 and repeats.dtype.kind == "i":
        raise ValueError("repeats: contain negative numbers; expected 0 or more")
    if wrong:
        raise ValueError(_TOO_LONG)
    repeats = signed
    places = empty_at(repeats, int(ends[-1].item()), "int64")
    if places.size:
        _kernels["places"](repeats, ends, places)
    return places


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> ndarray:
    """Each element several times.

    Parameters
    ----------
    a : array
        Any shape.
    repeats : int or array of integers
        How often; of one dimension, with a number for each element along the axis or one for all.
    axis : int, optional
        Along which; None repeats the elements in C order.

    Returns
    -------
    ndarray
        Of one dimension without an axis.

    Raises
    ------
    ValueError
        `repeats` does not fit the axis, or has negative numbers.
    TypeError
        `repeats` are not integers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.repeat(usmx.asarray([1, 2]), 2))
    [1, 1, 2, 2]
    """
    if (few := _usmx._small_repeat(a, repeats, axis)) is not None:
        return few
    import numpy as np

    from .selection import gathered, take

    a = as_array(a)
    if axis is None or a.ndim == 0:
        a, axis = a.reshape(-1), 0 if axis is None else axis
    at = to_axis(axis, a.ndim)
    length = a.shape[at]
    given = imported(repeats)
    on_device = given is not None
    counts: Any = given if on_device else np.asarray(repeats)
    if isinstance(repeats, (list, tuple)) and not repeats:
        counts = counts.astype(np.int64)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeats: of {counts.dtype}; expected integers")
    if counts.ndim > 1 or (counts.ndim == 1 and counts.shape[0] not in (1, length)):
        raise ValueError(f"repeats: have shape {counts.shape}; expected () or ({length},)")
    if counts.size == 1:
        each = int(counts.reshape(()).item())
        if each < 0:
            raise ValueError(f"repeats: {each}; expected 0 or more")
        wide = expand_dims(a, at + 1)
        shape = (*a.shape[: at + 1], each, *a.shape[at + 1 :])
        joined = (*a.shape[:at], length * each, *a.shape[at + 1 :])
        result = empty_at(a, joined)
        if result.size:
            result.reshape(shape, copy=False)[...] = _usmx.broadcast_to(wide, shape)
        return result
    if on_device:
        return gathered(a, _places_of_repeats(counts), at)
    if counts.size and counts.min() < 0:
        raise ValueError(f"repeats: {int(counts.min())}; expected 0 or more")
    if counts.size and int(counts.max()) * counts.size >= 2**63 and sum(counts.tolist()) >= 2**63:
        raise ValueError(_TOO_LONG)
    return take(a, np.repeat(np.arange(length), counts), axis=at)


def tile(A: ArrayLike, reps: int | Sequence[int]) -> ndarray:
    """The array several times along each axis.

    Parameters
    ----------
    A : array
        Any shape.
    reps : int or tuple of int
        For the last axes; missing ones, of the array or of this, are 1.

    Returns
    -------
    ndarray
        A copy.

    Raises
    ------
    ValueError
        A negative number.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.tile(usmx.asarray([1, 2]), 2))
    [1, 2, 1, 2]
    """
    A = as_array(A)
    times = to_shape(reps)
    if any(n < 0 for n in times):
        raise ValueError(f"reps: {times}; expected 0 or more")
    rank = max(A.ndim, len(times))
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - A.ndim) + A.shape
    result = empty_at(A, [n * t for n, t in zip(shape, times, strict=True)])
    if result.size:
        wide = [k for n, t in zip(shape, times, strict=True) for k in (t, n)]
        from_ = A.reshape([k for n in shape for k in (1, n)])
        result.reshape(wide, copy=False)[...] = _usmx.broadcast_to(from_, wide)
    return result


def roll(
    a: ArrayLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> ndarray:
    """A copy with the elements moved along axes; those beyond the end come first.

    Parameters
    ----------
    a : array
        Any shape.
    shift : int or tuple of int
        By how much, for each axis.
    axis : int or tuple of int, optional
        Along which; None moves the elements in C order.

    Returns
    -------
    ndarray
        Of the shape and type of `a`.

    Raises
    ------
    ValueError
        As many shifts as axes are needed, if there are several.
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.roll(usmx.arange(4), 1))
    [3, 0, 1, 2]
    """
    a = as_array(a)
    if axis is None:
        total = sum(to_shape(shift))
        return roll(a.reshape(-1), total, 0).reshape(a.shape)
    shifts = to_shape(shift)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(to_axis(one, a.ndim) for one in given)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"shift: has {len(shifts)} numbers, but axis has {len(axes)}")
    moves = [0] * a.ndim
    for k in range(max(len(shifts), len(axes)) if shifts and axes else 0):
        moves[axes[k % len(axes)]] += shifts[k % len(shifts)]
    parts: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = [((), ())]
    for move, length in zip(moves, a.shape, strict=True):
        by = move % length if length else 0
        cuts = [(slice(by, None), slice(None, length - by))]
        if by:
            cuts.append((slice(None, by), slice(length - by, None)))
        parts = [((*to, a), (*of, b)) for to, of in parts for a, b in cuts]
    result = empty_as(a)
    if result.size:
        for to, of in parts:
            result[to] = a[of]
    return result
