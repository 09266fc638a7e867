"""What the functions of arrays need of each other: arguments as arrays, results where they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def kind_of(x: ndarray, *others: ndarray) -> Any:
    """The kind of memory for results that are made of an array, or of several."""
    return _usmx._joint_kind(x, *others)


def imported(x: Any) -> ndarray | None:
    """The array in an object with USM, of any protocol; None for others."""
    return x if isinstance(x, ndarray) else _usmx._imported(x)


def as_array(x: Any, like: ndarray | None = None) -> ndarray:
    """An argument as an array of ours; what is not USM is copied to where `like` is."""
    if like is None:
        return x if isinstance(x, ndarray) else _usmx.asarray(x)
    found = imported(x)
    if found is not None:
        return found
    return _usmx.asarray(x, usm_type=kind_of(like), queue=like.queue)


def is_traced(x: Any) -> bool:
    """Whether an argument stands for an array while a function is fused."""
    return hasattr(type(x), "__usmx_operation__")


def are_records(x: Any) -> bool:
    """Whether an argument is an array of ours with records."""
    return isinstance(x, ndarray) and x.dtype.names is not None


def place_of(values: Iterable[Any]) -> dict[str, Any]:
    """Where results of arguments go: the queue of the first array of ours, in the kind of all.

    Without an array among them, nothing: what is made is where new arrays are.
    """
    arrays = [x for x in values if isinstance(x, ndarray)]
    if not arrays:
        return {}
    return {"usm_type": kind_of(*arrays), "queue": arrays[0].queue}


def as_arrays(values: Iterable[Any]) -> list[ndarray]:
    """Arguments as arrays; what is not USM is copied to where the arrays of ours are."""
    given = list(values)
    if all(isinstance(x, ndarray) for x in given):
        return given
    place = place_of(given)

    def taken(x: Any) -> ndarray:
        found = imported(x)
        return _usmx.asarray(x, **place) if found is None else found

    return [taken(x) for x in given]


def apart_from(target: ndarray, x: ndarray) -> ndarray:
    """`x`, or a copy of it where it shares memory with a target that is written out of order.

    Each operand of a kernel or of several copies that write elsewhere than at the element that
    they read goes through here: otherwise what comes later reads what was written before.
    """
    return x if _usmx._shared_elements(target, x) == "none" else x.copy()


def as_type(x: ndarray, dtype: Any) -> ndarray:
    """An operand in the type that is computed in, as an operation lays its results out.

    Copies of repeated elements put these side by side, as NumPy's do; results of operations do not.
    """
    if not is_traced(x) and x.size and 0 in x.strides:
        return x.astype(dtype, order="C", copy=False)
    return x.astype(dtype, copy=False)


def empty_at(x: ndarray, shape: Any, dtype: Any = None, *others: ndarray) -> ndarray:
    """New memory on the queue of `x`, of the kind that it and the other operands give."""
    kind = kind_of(x, *others)
    return _usmx.empty(shape, x.dtype if dtype is None else dtype, usm_type=kind, queue=x.queue)


def is_in_c_order(*arrays: ndarray) -> bool:
    """Whether results of the arrays' shape have C order, without a closer look at the strides.

    What was not computed yet counts as if it had: to look at its strides would compute it.
    """
    return all(x.ndim < 2 or x._is_deferred or x.flags.c_contiguous for x in arrays)


def order_of_copy(x: ndarray) -> list[int]:
    """The axes of an array, the slowest in memory first: as NumPy's copies in order "K" have them.

    What NumPy computes in such a copy (`sort`, `roll`) has this order.
    """
    steps = [-abs(step) for step in x.strides]
    return sorted(range(x.ndim), key=steps.__getitem__)


def in_c_order(x: ndarray) -> ndarray:
    """The array itself, or a copy of its elements in C order."""
    return x if is_in_c_order(x) else x.copy()


def turned_back(x: ndarray, order: Sequence[int]) -> ndarray:
    """The view whose axis ``order[k]`` is axis k of `x`."""
    back = [list(order).index(axis) for axis in range(x.ndim)]
    return x.permute(back)


def empty_in_order(
    x: ndarray, shape: Sequence[int], order: Sequence[int], dtype: Any = None, *others: ndarray
) -> ndarray:
    """As `empty_at`, with the axes in another order in memory, the slowest first."""
    return turned_back(empty_at(x, [shape[axis] for axis in order], dtype, *others), order)


def empty_as(x: ndarray, dtype: Any = None) -> ndarray:
    """As `empty_at`, in the shape and the order of axes of `x`."""
    if is_in_c_order(x):
        return empty_at(x, x.shape, dtype)
    return empty_in_order(x, x.shape, order_of_copy(x), dtype)


def default_float(queue: Any, *, is_complex: bool = False) -> str:
    """The type of floats, or of complex numbers, that is computed with where none is named."""
    double = queue.device.has_aspect_fp64
    return ("complex128" if double else "complex64") if is_complex else (
        "float64" if double else "float32"
    )  # fmt: skip


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """The key that has an item for one axis, counted from 0, and all of the others."""
    return (*(slice(None) for _ in range(axis)), item)


def to_integer(value: Any, name: str) -> int:
    """An argument that is a length or a number of things.

    Raises
    ------
    TypeError
        It is something else.
    """
    try:
        return operator.index(value)
    except TypeError:
        what = f"{name}: {value!r} ({type(value).__name__})"
        raise TypeError(f"{what}; expected an integer") from None


def to_axis(axis: Any, rank: int, name: str = "axis") -> int:
    """A number of an axis, from 0 up.

    Raises
    ------
    IndexError
        There is no such axis (also a ValueError, as NumPy's).
    """
    try:
        given = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: is of type {type(axis).__name__}; expected an integer") from None
    if not -rank <= given < rank:
        raise axis_error()(f"{name}: {given} is out of bounds for an array of dimension {rank}")
    return given % rank


def axis_error() -> type[Exception]:
    """NumPy's type of error for axes, which is a ValueError and an IndexError."""
    from numpy.exceptions import AxisError

    return AxisError


def to_axes(axis: Any, rank: int, name: str = "axis") -> tuple[int, ...]:
    """Numbers of axes, from 0 up and none twice; all of them for None."""
    if axis is None:
        return tuple(range(rank))
    is_several = isinstance(axis, (tuple, list, range)) or getattr(axis, "ndim", 0) == 1
    given = tuple(axis) if is_several else (axis,)
    axes = tuple(to_axis(one, rank, name) for one in given)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: {given} names an axis twice")
    return axes


def is_integer(value: Any) -> bool:
    """Whether an argument is one integer, which an array without dimensions may be too."""
    if isinstance(value, int):
        return True
    try:
        operator.index(value)
    except TypeError:
        return False
    return getattr(value, "ndim", 0) == 0


def to_shape(shape: Any) -> tuple[int, ...]:
    """Lengths, given as an integer or a sequence."""
    if is_integer(shape):
        return (operator.index(shape),)
    if isinstance(shape, (float, complex)):
        raise TypeError(f"{shape!r} is not an integer; expected integers")
    return tuple(operator.index(length) for length in shape)
