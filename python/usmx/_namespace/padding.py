"""Elements around arrays: `pad`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import along, as_array, empty_at, kind_of

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = ["pad"]

STATISTICS = ("maximum", "mean", "median", "minimum")
#: Modes -> the keywords that they take.
KEYWORDS = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
    **dict.fromkeys(STATISTICS, ("stat_length",)),
}


def _one_by_one(value: Any, rank: int, name: str) -> list[tuple[Any, Any]]:
    """A number, a pair, or a pair for each axis, as pairs."""
    import numpy as np

    try:
        return [(a, b) for a, b in np.broadcast_to(np.asarray(value), (rank, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"{name}: {value!r}; expected one number, a pair, or {rank} pairs"
        ) from None


def _lengths(stat_length: Any, shape: Sequence[int]) -> list[tuple[int, int]]:
    if stat_length is None:
        return [(n, n) for n in shape]
    made = []
    for (a, b), n in zip(_one_by_one(stat_length, len(shape), "stat_length"), shape, strict=True):
        for one in (a, b):
            if int(one) != one or one < 0:
                raise ValueError(f"stat_length: {stat_length!r}; expected integers of 0 or more")
        made.append((min(int(a), n), min(int(b), n)))
    return made


def _statistic(mode: str, part: ndarray, axis: int) -> ndarray:
    from . import quantiles, statistics
    from .elementwise import rint

    if not part.shape[axis]:
        if mode in ("maximum", "minimum"):
            raise ValueError(f"stat_length: of 0 elements there is no {mode}")
        shape = [1 if k == axis else n for k, n in enumerate(part.shape)]
        made: ndarray = _usmx.full(
            shape, float("nan"), dtype="float64", usm_type=kind_of(part), queue=part.queue
        )
        return made.astype(part.dtype)
    functions: dict[str, Callable[..., Any]] = {
        "maximum": statistics.max,
        "mean": statistics.mean,
        "median": quantiles.median,
        "minimum": statistics.min,
    }
    made = functions[mode](part, axis=axis, keepdims=True)
    if part.dtype.kind in "iu" and made.dtype.kind == "f":
        made = rint(made)
    result: ndarray = made.astype(part.dtype, copy=False)
    return result


def _ramp(end: Any, edge: ndarray, count: int, axis: int) -> ndarray:
    """From the end to the edge, without the edge."""
    import numpy as np

    from .elementwise import floor

    steps = _usmx.asarray(
        np.arange(count) / max(count, 1), usm_type=kind_of(edge), queue=edge.queue
    )
    steps = steps.reshape([-1 if k == axis else 1 for k in range(edge.ndim)])
    kind = "complex128" if edge.dtype.kind == "c" else "float64"
    made: ndarray = (edge.astype(kind) - end) * steps + end
    if edge.dtype.kind in "iu":
        made = floor(made)
    return made.astype(edge.dtype)


def _odd(array: ndarray, axis: int, pair: tuple[int, int], skipped: int) -> ndarray:
    """Reflected in the outermost elements, as often as it takes."""
    from .manipulation import concat, flip

    def at(start: int, stop: int) -> ndarray:
        return array[along(axis, slice(start, stop))]

    before, after = pair
    if array.shape[axis] == 1 and skipped:
        from .manipulation import repeat

        parts = [repeat(array, n, axis) for n in (before, 1, after)]
        return concat(parts, axis=axis)
    while before or after:
        n = array.shape[axis]
        period = n - skipped
        left, right = min(before, period), min(after, period)
        parts = [array]
        if left:
            parts.insert(0, 2 * at(0, 1) - flip(at(skipped, skipped + left), axis=axis))
        if right:
            parts.append(2 * at(n - 1, n) - flip(at(n - skipped - right, n - skipped), axis=axis))
        array = concat(parts, axis=axis).astype(array.dtype, copy=False)
        before, after = before - left, after - right
    return array


def _computed(
    array: ndarray, widths: list[tuple[int, int]], mode: str, keywords: dict[str, Any]
) -> ndarray:
    """Pad one axis after the other; later ones see what was added along the earlier ones."""
    from .manipulation import concat

    lengths = _lengths(keywords.get("stat_length"), array.shape)
    ends = _one_by_one(keywords.get("end_values", 0), array.ndim, "end_values")
    for axis, (before, after) in enumerate(widths):
        n = array.shape[axis]
        if not before and not after:
            continue
        if not n:
            raise ValueError(f"mode: {mode!r} needs elements along axis {axis}")
        if mode in ("reflect", "symmetric"):
            array = _odd(array, axis, (before, after), 1 if mode == "reflect" else 0)
            continue
        parts = [array]
        for count, side in ((before, 0), (after, 1)):
            if not count:
                continue
            if mode == "linear_ramp":
                edge = array[along(axis, slice(0, 1) if side == 0 else slice(n - 1, n))]
                new = _ramp(ends[axis][side], edge, count, axis)
                new = new[along(axis, slice(None, None, -1))] if side else new
            else:
                length = lengths[axis][side]
                part = slice(0, length) if side == 0 else slice(n - length, n)
                one = _statistic(mode, array[along(axis, part)], axis)
                from .manipulation import repeat

                new = repeat(one, count, axis)
            parts.insert(0 if side == 0 else len(parts), new)
        array = concat(parts, axis=axis)
    return array


_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


def _check_numbers(numbers: Any, type_: Any, given: Any) -> None:
    """Refuse integers that do not fit, as NumPy does."""
    import numpy as np

    if type_.kind in "iu" and numbers.dtype.kind in "iu":
        limits = np.iinfo(str(type_))
        if numbers.min(initial=0) < limits.min or numbers.max(initial=0) > limits.max:
            raise OverflowError(f"constant_values: {given!r} does not fit into {type_}")


def _check_keywords(mode: str, given: dict[str, Any]) -> None:
    for name in given:
        if name not in KEYWORDS[mode]:
            from difflib import get_close_matches

            near = get_close_matches(name, ("mode", *KEYWORDS[mode]), 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ValueError(f"{name}: mode {mode!r} has no such keyword{hint}")


def _padded(array: ndarray, pad_width: Any, mode: Any, keywords: dict[str, Any]) -> ndarray:
    """The array with elements around it, in C order."""
    import numpy as np

    from .selection import take

    if callable(mode):
        made = np.pad(array.to_numpy(), pad_width, mode, **keywords)
        return _usmx.asarray(made, usm_type=kind_of(array), queue=array.queue)
    if mode not in KEYWORDS:
        modes = ", ".join(map(repr, KEYWORDS))
        raise ValueError(f"mode: {mode!r}; expected a function or one of {modes}")
    _check_keywords(mode, keywords)
    constant_values = keywords.get("constant_values", 0)
    if isinstance(pad_width, dict):  # of some axes
        pairs = np.zeros((array.ndim, 2), np.int64)
        for axis, pair in pad_width.items():
            pairs[axis] = pair
        pad_width = pairs
    reflection = keywords.get("reflect_type", "even")
    if reflection not in ("even", "odd"):
        raise ValueError(f"reflect_type: {reflection!r}; expected 'even' or 'odd'")
    width = np.asarray(pad_width)
    if width.dtype.kind not in "iu":
        raise TypeError(f"pad_width: of {width.dtype}; expected integers")
    try:
        widths = [(int(a), int(b)) for a, b in np.broadcast_to(width, (array.ndim, 2))]
        fills = np.broadcast_to(np.asarray(constant_values), (array.ndim, 2))
    except ValueError:
        raise ValueError(
            f"pad_width: {pad_width!r} and constant_values: {constant_values!r} must be one "
            f"number, a pair, or {array.ndim} pairs"
        ) from None
    if mode == "constant":
        _check_numbers(fills, array.dtype, constant_values)
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad_width: {widths}; expected 0 or more")
    if mode in STATISTICS or mode == "linear_ramp" or reflection == "odd":
        return _computed(array, widths, mode, keywords)
    if mode in _BY_INDEX:
        for axis, (pair, length) in enumerate(zip(widths, array.shape, strict=True)):
            if any(pair):
                if length == 0:
                    raise ValueError(f"mode: {mode!r} needs elements along axis {axis}")
                array = take(array, np.pad(np.arange(length), pair, mode=mode), axis=axis)
        return array
    shape = [a + n + b for (a, b), n in zip(widths, array.shape, strict=True)]
    result = empty_at(array, shape)
    inner = [slice(a, a + n) for (a, _), n in zip(widths, array.shape, strict=True)]
    if array.size:
        result[tuple(inner)] = array
    if mode == "constant":
        # The last axis is written over the corners, as NumPy does.
        for axis, (before, after) in enumerate(widths):
            outer = tuple(inner[axis + 1 :])
            done = (slice(None),) * axis
            value = fills[axis].astype(array.dtype)
            for part, k in ((slice(0, before), 0), (slice(shape[axis] - after, None), 1)):
                if (before, after)[k]:
                    target = result[(*done, part, *outer)]
                    if target.size:
                        target[...] = value[k].item()
    return result


def pad(array: ArrayLike, pad_width: Any, mode: Any = "constant", **keywords: Any) -> ndarray:
    """The array with elements added around it.

    Parameters
    ----------
    array : array
        Any shape.
    pad_width : int, (before, after) or one pair for each axis
        How many elements.
    mode : str or callable
        What they are: 'constant', 'edge' (the outermost element), 'reflect' and 'symmetric' (a
        mirror image without or with the outermost element), 'wrap' (the elements of the other
        end), 'maximum', 'mean', 'median' and 'minimum' (of the elements along the axis),
        'linear_ramp' (from the outermost element to a number), 'empty' (undefined), or a function
        that NumPy calls for each row on the host.
    **keywords : optional
        `constant_values` for 'constant' and `end_values` for 'linear_ramp': a number, (before,
        after) or one pair for each axis, 0 by default. `stat_length` for the four statistics: of
        how many elements, all by default. `reflect_type` for 'reflect' and 'symmetric': 'even', or
        'odd', which mirrors the values in the outermost one too. Those of a function are passed on.

    Returns
    -------
    ndarray
        Of the type of `array`.

    Raises
    ------
    ValueError
        Another mode, a keyword that it does not take, or widths that are negative or do
        not fit the axes.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.pad(usmx.asarray([1, 2]), 2, mode="edge"))
    [1, 1, 1, 2, 2, 2]
    """
    array = as_array(array)
    made = _padded(array, pad_width, mode, keywords)
    in_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    return _usmx.asarray(made, order="F" if in_columns else "C")
