"""Arrays put together from blocks, chosen from, looked at through windows, and changed by axes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array, as_arrays, empty_at, to_axes, to_axis, to_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..typing import ArrayLike, ShapeLike

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "block",
    "choose",
    "compress",
    "diagflat",
    "place",
    "putmask",
    "ravel_multi_index",
    "resize",
    "rollaxis",
    "sliding_window_view",
    "trim_zeros",
]


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> ndarray:
    """A function of lines, applied to each line along an axis.

    Python calls the function once for each line, with an array on the device.

    Parameters
    ----------
    func1d : callable
        Takes an array of one dimension, then `args` and `kwargs`.
    axis : int
        The axis along which lines lie.
    arr : array
        The elements.
    *args, **kwargs : optional
        What the function gets after the line.

    Returns
    -------
    ndarray
        What the function gave, in place of the axis.

    Raises
    ------
    ValueError
        There is no line, because another axis has the length 0.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.apply_along_axis(usmx.sum, 1, usmx.asarray([[1, 2], [3, 4]])))
    [3, 7]
    """
    x = as_array(arr)
    at = to_axis(axis, x.ndim)
    others = [k for k in range(x.ndim) if k != at]
    lines = x.transpose([*others, at])
    around = lines.shape[:-1]
    if not prod(around):
        raise ValueError(f"arr: of shape {x.shape} has no lines along axis {axis}")
    lines = lines.reshape((prod(around), x.shape[at]))
    made = [as_array(func1d(line, *args, **kwargs), x) for line in lines]
    from .manipulation import stack

    inner = made[0].shape
    whole = stack(made).reshape((*around, *inner))
    back = [*range(at), *range(len(around), whole.ndim), *range(at, len(around))]
    return whole.transpose(back)


def apply_over_axes(
    func: Callable[[ndarray, int], Any], a: ArrayLike, axes: int | Sequence[int]
) -> ndarray:
    """A function applied over one axis after the other.

    Parameters
    ----------
    func : callable
        Takes an array and an axis; gives an array of as many dimensions, or one fewer.
    a : array
        The elements.
    axes : int or sequence of int
        Over which, in this order.

    Returns
    -------
    ndarray
        With as many dimensions as `a`.

    Raises
    ------
    ValueError
        The function gives another number of dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.apply_over_axes(usmx.sum, usmx.ones((2, 3)), [0, 1]))
    [[6.]]
    """
    x = as_array(a)
    given = axes if isinstance(axes, (tuple, list)) else (axes,)
    for axis in given:
        at = to_axis(axis, x.ndim)
        made = as_array(func(x, at), x)
        if made.ndim == x.ndim - 1:
            made = made.reshape((*made.shape[:at], 1, *made.shape[at:]))
        if made.ndim != x.ndim:
            raise ValueError(f"func: gives {made.ndim} dimensions; expected {x.ndim}")
        x = made
    return x


def block(arrays: Any) -> ndarray:
    """Arrays put together from nested lists of blocks: the innermost along the last axis.

    Parameters
    ----------
    arrays : nested list of array
        All lists of one depth; no tuples, as in NumPy.

    Returns
    -------
    ndarray
        Of at least as many dimensions as the lists are deep.

    Raises
    ------
    ValueError
        Lists that are empty or not equally deep, or blocks that do not fit.
    TypeError
        A tuple among the lists.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.block([[usmx.ones((1, 2)), usmx.zeros((1, 1))]]))
    [[1., 1., 0.]]
    """
    depth = _depth(arrays)
    blocks = list(_leaves(arrays))
    leaves = as_arrays(blocks)
    rank = max(depth, *(x.ndim for x in leaves))
    at_least = iter([x.reshape((1,) * (rank - x.ndim) + x.shape) for x in leaves])
    made = _joined(arrays, depth, at_least)
    return made.copy() if depth == 0 else made


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("arrays: a tuple; expected lists of blocks")
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(one) for one in arrays}
    if not depths:
        raise ValueError("arrays: a list is empty; expected at least one block")
    if len(depths) > 1:
        raise ValueError("arrays: lists differ in depth; expected all blocks at one depth")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> Any:
    if isinstance(arrays, list):
        for one in arrays:
            yield from _leaves(one)
    else:
        yield arrays


def _joined(arrays: Any, depth: int, leaves: Any) -> ndarray:
    if depth == 0:
        made: ndarray = next(leaves)
        return made
    from .manipulation import concat

    return concat([_joined(one, depth - 1, leaves) for one in arrays], axis=-depth)


def choose(a: ArrayLike, choices: Any, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """For each element of an array of numbers, the element of the array of that number.

    Parameters
    ----------
    a : array of int
        Which of the choices.
    choices : sequence of array
        Broadcast with `a`.
    out : ndarray, optional
        Where the result is written.
    mode : {'raise', 'wrap', 'clip'}
        What happens to numbers outside.

    Returns
    -------
    ndarray
        Of the shape that `a` and the choices have together.

    Raises
    ------
    ValueError
        A number outside of the choices with ``mode='raise'``, no choices, or another mode.
    TypeError
        `a` is not of integers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.choose(usmx.asarray([0, 1]), [usmx.asarray([1, 2]), usmx.asarray([10, 20])]))
    [ 1, 20]
    """
    from .manipulation import broadcast_arrays, stack

    given = list(choices)
    which, *arrays = as_arrays([a, *given])
    if which.dtype.kind not in "biu":
        raise TypeError(f"a: of {which.dtype}; expected integers")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode: {mode!r}; expected 'raise', 'wrap' or 'clip'")
    if not arrays:
        raise ValueError("choices: is empty; expected at least one array")
    count = len(arrays)
    which = which.astype("int64", copy=False)
    if mode == "wrap":
        which = which % count
    elif mode == "clip":
        which = _usmx.Operation("minimum")(_usmx.Operation("maximum")(which, 0), count - 1)
    elif which.size and bool(((which < 0) | (which >= count)).any()):
        raise ValueError(f"a: has numbers outside of the {count} choices")
    which, *arrays = broadcast_arrays(which, *arrays)
    from .selection import take_along_axis

    made = take_along_axis(stack(arrays), which[None], axis=0)[0]
    if out is None:
        return made
    out[...] = made
    return out


def compress(
    condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: ndarray | None = None
) -> ndarray:
    """The parts along an axis where a condition is true.

    Parameters
    ----------
    condition : array of bool
        In one dimension; parts behind its end are left out.
    a : array
        The elements.
    axis : int, optional
        None takes the elements in one dimension.
    out : ndarray, optional
        Where the result is written.

    Returns
    -------
    ndarray
        As long along the axis as there are true conditions.

    Raises
    ------
    ValueError
        `condition` has not one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.compress(usmx.asarray([True, False, True]), usmx.asarray([5, 6, 7])))
    [5, 7]
    """
    from .selection import flatnonzero, take

    x = as_array(a)
    mask = as_array(condition, x)
    if mask.ndim != 1:
        raise ValueError(f"condition: has shape {mask.shape}; expected one dimension")
    if axis is None:
        x, axis = x.reshape(-1), 0
    made = take(x, flatnonzero(mask), axis=to_axis(axis, x.ndim))
    if out is None:
        return made
    out[...] = made
    return out


def diagflat(v: ArrayLike, k: int = 0) -> ndarray:
    """A matrix with the elements, in one dimension, on a diagonal.

    Parameters
    ----------
    v : array
        Any shape; its elements are taken in C order.
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray
        A square matrix of zeros but for that diagonal.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.diagflat(usmx.asarray([[1, 2]])))
    [[1, 0],
     [0, 2]]
    """
    from .creation import diag

    return diag(as_array(v).reshape(-1), k)


def place(arr: ndarray, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write values, again from the first one after the last, where a mask is true.

    Parameters
    ----------
    arr : ndarray
        What is written to.
    mask : array of bools
        Of as many elements as `arr`.
    vals : array or number
        Taken in order, one for each true element of the mask.

    Raises
    ------
    ValueError
        There are no values, but elements to write.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4)
    >>> usmx.place(x, x > 1, usmx.asarray([9]))
    >>> print(x)
    [0, 1, 9, 9]
    """
    where = as_array(mask, arr).astype("bool", copy=False).reshape(arr.shape)
    count = int(where.sum())
    values = as_array(vals, arr).reshape(-1)
    if not count:
        return
    if not values.size:
        raise ValueError("vals: is empty; expected at least one value")
    arr[where] = resize(values.astype(arr.dtype, copy=False), count)


def putmask(a: ndarray, mask: ArrayLike, values: ArrayLike) -> None:
    """Write to where a mask is true the value of the same number, counted around.

    Parameters
    ----------
    a : ndarray
        What is written to.
    mask : array of bools
        Of as many elements as `a`.
    values : array or number
        Element i of `a` gets value i, counted around where there are fewer values than elements.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4)
    >>> usmx.putmask(x, x > 1, 9)
    >>> print(x)
    [0, 1, 9, 9]
    """
    where = as_array(mask, a).astype("bool", copy=False).reshape(a.shape)
    given = as_array(values, a)
    if not given.size:
        return
    whole = resize(given.astype(a.dtype, copy=False), a.shape)
    a[...] = _usmx.Operation("where")(where, whole, a)


def ravel_multi_index(
    multi_index: Any, dims: ShapeLike, mode: Any = "raise", order: str = "C"
) -> Any:
    """Numbers in C or Fortran order from indices along each axis.

    Parameters
    ----------
    multi_index : tuple of array of int
        One for each axis.
    dims : tuple of int
        The shape.
    mode : {'raise', 'wrap', 'clip'} or a tuple of them
        What happens to indices outside.
    order : {'C', 'F'}
        How elements are counted.

    Returns
    -------
    ndarray
        Of int64, of the shape that the indices have together.

    Raises
    ------
    TypeError
        Indices are not integers.
    ValueError
        An index outside, with ``mode='raise'``, or a shape of more elements than int64 counts.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.ravel_multi_index((usmx.asarray([1]), usmx.asarray([2])), (2, 3)))
    [5]
    """
    shape = to_shape(dims)
    arrays = as_arrays(multi_index)
    modes = mode if isinstance(mode, tuple) else (mode,) * len(shape)
    if len(arrays) != len(shape):
        raise ValueError(f"multi_index: has {len(arrays)} arrays; expected {len(shape)}, as dims")
    if prod(shape) >= 1 << 63:
        raise ValueError(f"dims: {shape}: more elements than int64 counts")
    for k, index in enumerate(arrays):
        if index.dtype.kind not in "biu":
            raise TypeError(f"multi_index[{k}]: of {index.dtype}; expected integers")
    steps = [prod(shape[k + 1 :]) if order == "C" else prod(shape[:k]) for k in range(len(shape))]
    total: Any = 0
    for index, length, step, how in zip(arrays, shape, steps, modes, strict=True):
        i = index.astype("int64", copy=False)
        if how == "wrap":
            i = i % length
        elif how == "clip":
            i = _usmx.Operation("minimum")(_usmx.Operation("maximum")(i, 0), length - 1)
        elif i.size and bool(((i < 0) | (i >= length)).any()):
            raise ValueError(f"multi_index: an index is outside of a length of {length}")
        total = total + i * step
    return total


def resize(a: ArrayLike, new_shape: ShapeLike) -> ndarray:
    """The elements in another shape: again from the first one where there are too few.

    Parameters
    ----------
    a : array
        The elements, counted in C order.
    new_shape : int or tuple of int
        Lengths.

    Returns
    -------
    ndarray
        A copy; zeros if `a` is empty.

    Raises
    ------
    ValueError
        A negative length.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.resize(usmx.asarray([1, 2, 3]), (2, 2)))
    [[1, 2],
     [3, 1]]
    """
    shape = to_shape(new_shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"new_shape: {shape}: negative lengths are not allowed")
    x = as_array(a).reshape(-1)
    count = prod(shape)
    if not x.size or not count:
        made = _usmx.zeros_like(empty_at(x, shape)) if count else empty_at(x, shape)
        return made
    if count <= x.size:
        return x[:count].copy().reshape(shape)
    from .manipulation import tile

    return tile(x, -(-count // x.size))[:count].copy().reshape(shape)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> ndarray:
    """A view with an axis moved before another one; `moveaxis` says it plainly.

    Parameters
    ----------
    a : array
        Any shape.
    axis : int
        The axis that moves.
    start : int
        Before which axis it is then.

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
    >>> usmx.rollaxis(usmx.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    from .manipulation import moveaxis

    x = as_array(a)
    at = to_axis(axis, x.ndim)
    to = operator.index(start)
    to = to + x.ndim if to < 0 else to
    if not 0 <= to <= x.ndim:
        to_axis(start, x.ndim, "start")
    return moveaxis(x, at, to - 1 if at < to else to)


def sliding_window_view(
    x: ArrayLike,
    window_shape: ShapeLike,
    axis: int | tuple[int, ...] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> ndarray:
    """A view of all windows of a shape: only lengths and steps change, in any kind of memory.

    Parameters
    ----------
    x : array
        What is looked at.
    window_shape : int or tuple of int
        Lengths of the windows along the axes.
    axis : int or tuple of int, optional
        The axes; None is all of them. An axis may be named twice.
    subok : bool
        Without a meaning here.
    writeable : bool
        Whether the view can be written; windows share elements.

    Returns
    -------
    ndarray
        Of the shape of `x` with shorter axes, then `window_shape`.

    Raises
    ------
    ValueError
        Windows that do not fit, or another number of lengths than of axes.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sliding_window_view(usmx.arange(4), 2))
    [[0, 1],
     [1, 2],
     [2, 3]]
    """
    of = as_array(x)
    lengths = to_shape(window_shape)
    if any(n < 0 for n in lengths):
        raise ValueError(f"window_shape: {lengths}: negative lengths are not allowed")
    named = range(of.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [to_axis(one, of.ndim) for one in named]
    if len(axes) != len(lengths):
        raise ValueError(
            f"window_shape: has {len(lengths)} lengths; expected {len(axes)}, one for each axis"
        )
    backwards = [k for k, step in enumerate(of.strides) if step < 0]
    turned = of[tuple(slice(None, None, -1) if k in backwards else slice(None)
                      for k in range(of.ndim))]  # fmt: skip
    shape = list(turned.shape)
    for at, length in zip(axes, lengths, strict=True):
        shape[at] -= length - 1
        if shape[at] < 0:
            raise ValueError(f"window_shape: {lengths} does not fit into {of.shape}")
    steps = turned.strides
    made = ndarray((*shape, *lengths), turned.dtype, turned, (*steps, *(steps[at] for at in axes)))
    back = [slice(None, None, -1) if k in backwards else slice(None) for k in range(of.ndim)]
    back += [slice(None, None, -1) if at in backwards else slice(None) for at in axes]
    made = made[tuple(back)]
    if not writeable:
        made.flags.writeable = False
    return made


def trim_zeros(
    filt: ArrayLike, trim: str = "fb", axis: int | tuple[int, ...] | None = None
) -> ndarray:
    """The part without the zeros before and behind it.

    Parameters
    ----------
    filt : array
        Of any shape.
    trim : str
        ``'f'`` takes those before away, ``'b'`` those behind.
    axis : int or tuple of ints, optional
        Along which whole slices of zeros are taken away; all axes otherwise.

    Returns
    -------
    ndarray
        A view; empty if all elements are 0.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.trim_zeros(usmx.asarray([0, 1, 2, 0])))
    [1, 2]
    """
    from .selection import flatnonzero

    x = as_array(filt)
    key = [slice(None)] * x.ndim
    for at in range(x.ndim) if axis is None else to_axes(axis, x.ndim):
        others = tuple(other for other in range(x.ndim) if other != at)
        found = flatnonzero((x != 0).any(axis=others) if others else x)
        if not found.size:
            key[at] = slice(0, 0)
            continue
        key[at] = slice(
            int(found[0]) if "f" in trim.lower() else 0,
            int(found[-1]) + 1 if "b" in trim.lower() else x.shape[at],
        )
    return x[tuple(key)]
