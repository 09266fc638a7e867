"""Arrays in other shapes and orders, joined and cut. Views wherever the layout allows it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ElementwiseKernel, ScanKernel, ndarray
from ._common import as_array, as_arrays, empty_at, to_axes, to_axis, to_shape

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
    "pad",
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


def broadcast_shapes(*shapes: ShapeLike) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together.

    Raises
    ------
    ValueError
        The shapes do not fit together.
    """
    given = [to_shape(shape) for shape in shapes]
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


def broadcast_arrays(*arrays: ArrayLike) -> tuple[ndarray, ...]:
    """Read-only views of arrays in the shape that they have together.

    Raises
    ------
    ValueError
        The shapes do not fit together.
    """
    given = as_arrays(arrays)
    shape = broadcast_shapes(*(x.shape for x in given))
    return tuple(x if x.shape == shape else _usmx.broadcast_to(x, shape) for x in given)


# --- views ---------------------------------------------------------------------------------------


def reshape(
    x: ArrayLike, /, shape: ShapeLike, order: OrderLike = "C", *, copy: bool | None = None
) -> ndarray:
    """The elements in another shape; a view wherever the layout allows it.

    Parameters
    ----------
    x : array
        Any shape.
    shape : int or tuple of int
        One length may be -1: it takes what the others leave.
    order : {'C', 'F', 'A'}
        The order in which elements are read and placed.
    copy : bool, optional
        True copies always, False never, None if needed.

    Raises
    ------
    ValueError
        The sizes differ, or a copy is needed and forbidden.
    """
    return as_array(x).reshape(to_shape(shape), order=order, copy=copy)


def ravel(x: ArrayLike, /, order: OrderLike = "C") -> ndarray:
    """The elements contiguous in one dimension; a view if they are contiguous already."""
    return as_array(x).ravel(order)


def permute_dims(x: ArrayLike, /, axes: Sequence[int]) -> ndarray:
    """A view whose axis i is axis ``axes[i]`` of `x`.

    Raises
    ------
    ValueError
        `axes` does not name each axis once.
    """
    return as_array(x).permute(tuple(axes))


def transpose(x: ArrayLike, /, axes: Sequence[int] | None = None) -> ndarray:
    """A view with the axes in another order; without `axes` in reverse."""
    x = as_array(x)
    return x.T if axes is None else x.permute(tuple(axes))


def swapaxes(x: ArrayLike, axis1: int, axis2: int, /) -> ndarray:
    """A view with two axes exchanged."""
    x = as_array(x)
    return x.swapaxes(to_axis(axis1, x.ndim, "axis1"), to_axis(axis2, x.ndim, "axis2"))


def moveaxis(
    x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int], /
) -> ndarray:
    """A view with some axes at other places; the others keep their order.

    Raises
    ------
    IndexError
        There is no such axis.
    ValueError
        An axis is named twice, or `source` and `destination` differ in length.
    """
    x = as_array(x)
    begin = to_axes(source, x.ndim, "source")
    end = to_axes(destination, x.ndim, "destination")
    if len(begin) != len(end):
        raise ValueError(f"source: has {len(begin)} axes, but destination has {len(end)}")
    order = [axis for axis in range(x.ndim) if axis not in begin]
    for place, axis in sorted(zip(end, begin, strict=True)):
        order.insert(place, axis)
    return x.permute(order) if x.ndim else x


def expand_dims(x: ArrayLike, /, axis: int | Sequence[int]) -> ndarray:
    """A view with new axes of length one, at `axis` of the result.

    Raises
    ------
    IndexError
        The result has no such axis.
    """
    x = as_array(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = to_axes(axis, x.ndim + count)
    key = tuple(None if a in new else slice(None) for a in range(x.ndim + count))
    return x[key]


def squeeze(x: ArrayLike, /, axis: int | Sequence[int] | None = None) -> ndarray:
    """A view without axes of length one: those given, or all.

    Raises
    ------
    ValueError
        An axis has another length.
    """
    x = as_array(x)
    if axis is None:
        return x.squeeze()
    axes = to_axes(axis, x.ndim)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"axis: {one} has length {x.shape[one]}; expected 1")
    return x[tuple(0 if a in axes else slice(None) for a in range(x.ndim))]


def flip(x: ArrayLike, /, axis: int | Sequence[int] | None = None) -> ndarray:
    """A view with the elements along some axes, or all, in reverse.

    Raises
    ------
    IndexError
        There is no such axis.
    """
    x = as_array(x)
    axes = to_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if a in axes else None) for a in range(x.ndim))]


def flipud(x: ArrayLike, /) -> ndarray:
    """A view with axis 0 in reverse."""
    return flip(x, axis=0)


def fliplr(x: ArrayLike, /) -> ndarray:
    """A view with axis 1 in reverse."""
    return flip(x, axis=1)


def rot90(x: ArrayLike, /, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray:
    """A view turned by k times 90 degrees, from the first axis towards the second.

    Raises
    ------
    ValueError
        `axes` are not two different ones.
    """
    x = as_array(x)
    if len(axes) != 2:
        raise ValueError(f"axes: {tuple(axes)}; expected two")
    first, second = to_axes(tuple(axes), x.ndim, "axes")
    turns = operator.index(k) % 4
    if turns == 0:
        return x[...]
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return flip(x, second).swapaxes(first, second)
    return flip(x.swapaxes(first, second), second)


def atleast_1d(*arrays: ArrayLike) -> Any:
    """Arrays with at least one dimension: an array for one, a tuple for several."""
    return _at_least(arrays, lambda x: x.reshape(1) if x.ndim == 0 else x)


def atleast_2d(*arrays: ArrayLike) -> Any:
    """Arrays with at least two dimensions; new ones stand in front."""
    return _at_least(arrays, lambda x: x[(None,) * (2 - x.ndim)] if x.ndim < 2 else x)


def atleast_3d(*arrays: ArrayLike) -> Any:
    """Arrays with at least three dimensions; a vector becomes (1, n, 1), a matrix (m, n, 1)."""
    keys: dict[int, Any] = {
        0: (None, None, None),
        1: (None, slice(None), None),
        2: (slice(None), slice(None), None),
    }
    return _at_least(arrays, lambda x: x[keys[x.ndim]] if x.ndim < 3 else x)


def _at_least(arrays: tuple[Any, ...], change: Any) -> Any:
    results = tuple(change(x) for x in as_arrays(arrays))
    return results[0] if len(results) == 1 else results


# --- joining -------------------------------------------------------------------------------------


def concat(
    arrays: Sequence[ArrayLike],
    /,
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
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
    dtype : optional
        The element type; None is that in which the types meet.

    Raises
    ------
    ValueError
        No arrays, or shapes that do not fit.
    IndexError
        There is no such axis.
    """
    if out is None and dtype is None and (few := _usmx._few_join(arrays, axis, False)) is not None:
        return few
    from .data_types import result_type

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
    if out is None:
        out = empty_at(first, shape, result_type(*given) if dtype is None else dtype)
    elif out.shape != shape:
        raise ValueError(f"out: has shape {out.shape}; expected {shape}")
    before = (slice(None),) * at
    begin = 0
    for x in given:
        end = begin + x.shape[at]
        if x.size:
            out[(*before, slice(begin, end))] = x
        begin = end
    return out


concatenate = concat


def stack(
    arrays: Sequence[ArrayLike],
    /,
    axis: int = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
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
    dtype : optional
        The element type; None is that in which the types meet.

    Raises
    ------
    ValueError
        No arrays, or shapes that differ.
    IndexError
        The result has no such axis.
    """
    if out is None and dtype is None and (few := _usmx._few_join(arrays, axis, True)) is not None:
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
    return concat([expand_dims(x, at) for x in given], at, out, dtype=dtype)


def vstack(arrays: Sequence[ArrayLike], /, *, dtype: DTypeLike = None) -> ndarray:
    """Arrays below each other, along axis 0; vectors are rows."""
    return concat([atleast_2d(x) for x in as_arrays(arrays)], 0, dtype=dtype)


def hstack(arrays: Sequence[ArrayLike], /, *, dtype: DTypeLike = None) -> ndarray:
    """Arrays next to each other, along axis 1; vectors along axis 0."""
    given = [atleast_1d(x) for x in as_arrays(arrays)]
    return concat(given, 0 if given and given[0].ndim == 1 else 1, dtype=dtype)


def dstack(arrays: Sequence[ArrayLike], /) -> ndarray:
    """Arrays behind each other along axis 2."""
    return concat([atleast_3d(x) for x in as_arrays(arrays)], 2)


def column_stack(arrays: Sequence[ArrayLike], /) -> ndarray:
    """Arrays next to each other, along axis 1; vectors are columns."""
    return concat([atleast_2d(x).T if x.ndim < 2 else x for x in as_arrays(arrays)], 1)


# --- cutting -------------------------------------------------------------------------------------


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views, one for each index along an axis.

    Raises
    ------
    IndexError
        There is no such axis.
    """
    x = as_array(x)
    before = (slice(None),) * to_axis(axis, x.ndim)
    return tuple(x[(*before, k)] for k in range(x.shape[len(before)]))


def array_split(x: ArrayLike, sections: int | Sequence[int], /, axis: int = 0) -> list[ndarray]:
    """Views of an array in parts along an axis.

    Parameters
    ----------
    x : array
        At least one dimension.
    sections : int or sequence of int
        How many parts, of which the first ones are longer by one if they cannot be equal; or
        where parts begin.
    axis : int
        Along which it is cut.

    Raises
    ------
    ValueError
        Less than one part, or more than 65536 parts that are more than there are elements.
    IndexError
        There is no such axis.
    """
    x = as_array(x)
    at = to_axis(axis, x.ndim)
    length = x.shape[at]
    try:
        count = operator.index(sections)  # type: ignore[arg-type]
    except TypeError:
        inner = [operator.index(one) for one in sections]  # type: ignore[union-attr]
        edges = [0, *inner, length]
    else:
        if count < 1:
            raise ValueError(f"sections: {count}; expected at least 1") from None
        if count > max(length, 1 << 16):
            raise ValueError(f"sections: {count} parts of an axis of length {length}") from None
        each, more = divmod(length, count)
        edges = [k * each + min(k, more) for k in range(count + 1)]
    before = (slice(None),) * at
    return [x[(*before, slice(edges[k], edges[k + 1]))] for k in range(len(edges) - 1)]


def split(x: ArrayLike, sections: int | Sequence[int], /, axis: int = 0) -> list[ndarray]:
    """Views of an array in equal parts, or from given indices on, along an axis.

    Raises
    ------
    ValueError
        The parts cannot be equal.
    """
    x = as_array(x)
    if hasattr(sections, "__index__") and not isinstance(sections, (list, tuple)):
        length, count = x.shape[to_axis(axis, x.ndim)], operator.index(sections)
        if count >= 1 and length % count:
            raise ValueError(
                f"sections: {count} equal parts of length {length} are not possible; "
                "array_split makes unequal ones"
            )
    return array_split(x, sections, axis)


def vsplit(x: ArrayLike, sections: int | Sequence[int], /) -> list[ndarray]:
    """Views of an array in parts along axis 0."""
    return split(_of_rank(x, 2), sections, 0)


def hsplit(x: ArrayLike, sections: int | Sequence[int], /) -> list[ndarray]:
    """Views of an array in parts along axis 1, of a vector along axis 0."""
    x = _of_rank(x, 1)
    return split(x, sections, 1 if x.ndim > 1 else 0)


def dsplit(x: ArrayLike, sections: int | Sequence[int], /) -> list[ndarray]:
    """Views of an array in parts along axis 2."""
    return split(_of_rank(x, 3), sections, 2)


def _of_rank(x: Any, least: int) -> ndarray:
    given = as_array(x)
    if given.ndim < least:
        raise ValueError(f"x: has {given.ndim} dimensions; expected at least {least}")
    return given


# --- repeating and moving ------------------------------------------------------------------------

_kernels: dict[str, Any] = {}


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
    if repeats.size == 0:
        return empty_at(repeats, 0, "int64")
    ends = _kernels["ends"](repeats)
    places = empty_at(repeats, int(ends[-1].item()), "int64")
    if places.size:
        _kernels["places"](repeats, ends, places)
    return places


def repeat(x: ArrayLike, repeats: Any, /, axis: int | None = None) -> ndarray:
    """Each element several times.

    Parameters
    ----------
    x : array
        Any shape.
    repeats : int or array of integers
        How often; of one dimension, with a number for each element along the axis or one for all.
    axis : int, optional
        Along which; None repeats the elements in C order.

    Raises
    ------
    ValueError
        `repeats` does not fit the axis, or has negative numbers.
    TypeError
        `repeats` are not integers.
    """
    if (few := _usmx._few_repeat(x, repeats, axis)) is not None:
        return few
    import numpy as np

    from .selection import count_nonzero, gathered, take

    x = as_array(x)
    if axis is None or x.ndim == 0:
        x, axis = x.reshape(-1), 0 if axis is None else axis
    at = to_axis(axis, x.ndim)
    length = x.shape[at]
    on_device = isinstance(repeats, ndarray)
    counts: Any = repeats if on_device else np.asarray(repeats)
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
        wide = expand_dims(x, at + 1)
        shape = (*x.shape[: at + 1], each, *x.shape[at + 1 :])
        joined = (*x.shape[:at], length * each, *x.shape[at + 1 :])
        result = empty_at(x, joined)
        if result.size:
            result.reshape(shape, copy=False)[...] = _usmx.broadcast_to(wide, shape)
        return result
    if on_device:
        signed = counts.astype("int64", copy=False)
        if counts.dtype.kind == "i" and count_nonzero(signed < 0).item():
            raise ValueError("repeats: contain negative numbers; expected 0 or more")
        places = _places_of_repeats(signed)
        return gathered(x, places, at)
    if counts.size and counts.min() < 0:
        raise ValueError(f"repeats: {int(counts.min())}; expected 0 or more")
    return take(x, np.repeat(np.arange(length), counts), axis=at)


def tile(x: ArrayLike, repetitions: int | Sequence[int], /) -> ndarray:
    """The array several times along each axis.

    Parameters
    ----------
    x : array
        Any shape.
    repetitions : int or tuple of int
        For the last axes; missing ones, of the array or of this, are 1.

    Raises
    ------
    ValueError
        A negative number.
    """
    x = as_array(x)
    times = to_shape(repetitions)
    if any(n < 0 for n in times):
        raise ValueError(f"repetitions: {times}; expected 0 or more")
    rank = max(x.ndim, len(times))
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - x.ndim) + x.shape
    result = empty_at(x, [n * t for n, t in zip(shape, times, strict=True)])
    if result.size:
        wide = [k for n, t in zip(shape, times, strict=True) for k in (t, n)]
        from_ = x.reshape([k for n in shape for k in (1, n)])
        result.reshape(wide, copy=False)[...] = _usmx.broadcast_to(from_, wide)
    return result


def roll(
    x: ArrayLike, /, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> ndarray:
    """A copy with the elements moved along axes; those beyond the end come first.

    Parameters
    ----------
    x : array
        Any shape.
    shift : int or tuple of int
        By how much, for each axis.
    axis : int or tuple of int, optional
        Along which; None moves the elements in C order.

    Raises
    ------
    ValueError
        As many shifts as axes are needed, if there are several.
    IndexError
        There is no such axis.
    """
    x = as_array(x)
    if axis is None:
        total = sum(to_shape(shift))
        return roll(x.reshape(-1), total, 0).reshape(x.shape)
    shifts = to_shape(shift)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(to_axis(one, x.ndim) for one in given)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"shift: has {len(shifts)} numbers, but axis has {len(axes)}")
    moves = [0] * x.ndim
    for k in range(max(len(shifts), len(axes)) if shifts and axes else 0):
        moves[axes[k % len(axes)]] += shifts[k % len(shifts)]
    parts: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = [((), ())]
    for move, length in zip(moves, x.shape, strict=True):
        by = move % length if length else 0
        cuts = [(slice(by, None), slice(None, length - by))]
        if by:
            cuts.append((slice(None, by), slice(length - by, None)))
        parts = [((*to, a), (*of, b)) for to, of in parts for a, b in cuts]
    result = empty_at(x, x.shape)
    if result.size:
        for to, of in parts:
            result[to] = x[of]
    return result


_PAD_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


def pad(
    x: ArrayLike, /, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0
) -> ndarray:
    """The array with elements added around it.

    Parameters
    ----------
    x : array
        Any shape.
    pad_width : int, (before, after) or one pair for each axis
        How many elements.
    mode : {'constant', 'edge', 'reflect', 'symmetric', 'wrap', 'empty'}
        What they are: `constant_values`, the outermost element, a mirror image without or with
        the outermost element, the elements of the other end, or undefined.
    constant_values : number, (before, after) or one pair for each axis
        For mode 'constant'.

    Raises
    ------
    ValueError
        Another mode, or widths that are negative or do not fit the axes.
    """
    import numpy as np

    from .selection import take

    x = as_array(x)
    width = np.asarray(pad_width)
    if width.dtype.kind not in "iu":
        raise TypeError(f"pad_width: of {width.dtype}; expected integers")
    try:
        widths = [(int(a), int(b)) for a, b in np.broadcast_to(width, (x.ndim, 2))]
        fills = np.broadcast_to(np.asarray(constant_values), (x.ndim, 2))
    except ValueError:
        raise ValueError(
            f"pad_width: {pad_width!r} and constant_values: {constant_values!r} must be one "
            f"number, a pair, or {x.ndim} pairs"
        ) from None
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad_width: {widths}; expected 0 or more")
    if mode in _PAD_BY_INDEX:
        for axis, (pair, length) in enumerate(zip(widths, x.shape, strict=True)):
            if any(pair):
                if length == 0:
                    raise ValueError(f"mode: {mode!r} needs elements along axis {axis}")
                x = take(x, np.pad(np.arange(length), pair, mode=mode), axis=axis)  # type: ignore[call-overload]
        return x
    if mode not in ("constant", "empty"):
        raise ValueError(
            f"mode: {mode!r}; expected 'constant', 'empty', {', '.join(map(repr, _PAD_BY_INDEX))}"
        )
    shape = [a + n + b for (a, b), n in zip(widths, x.shape, strict=True)]
    result = empty_at(x, shape)
    inner = [slice(a, a + n) for (a, _), n in zip(widths, x.shape, strict=True)]
    if x.size:
        result[tuple(inner)] = x
    if mode == "constant":
        # The last axis is written over the corners, as NumPy does.
        for axis, (before, after) in enumerate(widths):
            outer = tuple(inner[axis + 1 :])
            done = (slice(None),) * axis
            value = fills[axis].astype(x.dtype)
            for part, k in ((slice(0, before), 0), (slice(shape[axis] - after, None), 1)):
                if (before, after)[k]:
                    target = result[(*done, part, *outer)]
                    if target.size:
                        target[...] = value[k].item()
    return result
