"""Arrays with elements added or taken out: `append`, `insert`, `delete`, `fill_diagonal`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .._usmx import broadcast_to, ndarray
from ._common import along, as_array, as_arrays, empty_at, to_axis

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = ["append", "delete", "fill_diagonal", "insert", "unravel_index"]


def _host_index(obj: Any) -> Any:
    """Indices, as NumPy reads them on the host."""
    return obj.to_numpy() if isinstance(obj, ndarray) else obj


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> ndarray:
    """Put values behind an array.

    Parameters
    ----------
    arr, values : array
        Of the same shape but for the axis.
    axis : int, optional
        None joins the elements of both in C order.

    Returns
    -------
    ndarray
        A copy, of the type in which both meet.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.append(usmx.asarray([1, 2]), usmx.asarray([3])))
    [1, 2, 3]
    """
    from .manipulation import concat

    a, b = as_arrays((arr, values))
    if axis is None:
        a, b, axis = a.reshape(-1), b.reshape(-1), 0
    return concat((a, b), axis=axis)


def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> ndarray:
    """Leave out elements.

    Parameters
    ----------
    arr : array
        Of any shape.
    obj : int, slice, sequence of int, or mask
        Which ones along the axis; the host reads indices in USM.
    axis : int, optional
        None leaves them out of the elements in C order.

    Returns
    -------
    ndarray
        A copy of the rest.

    Raises
    ------
    IndexError
        An index is outside of the axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.delete(usmx.arange(5), [1, 3]))
    [0, 2, 4]
    """
    from .selection import take

    a = as_array(arr)
    if axis is None:
        a, axis = a.reshape(-1), 0
    at = to_axis(axis, a.ndim)
    kept = np.delete(np.arange(a.shape[at]), _host_index(obj))
    left = take(a, kept, axis=at)
    if left.ndim < 2 or a.flags.c_contiguous or not a.flags.f_contiguous:
        return left
    return left.copy("F")


def _empty_like(a: ndarray, shape: list[int]) -> ndarray:
    """Results in C order, or in Fortran order where `a` is in that alone, as NumPy's."""
    if a.ndim > 1 and a.flags.f_contiguous and not a.flags.c_contiguous:
        return empty_at(a, shape[::-1]).T
    return empty_at(a, shape)


def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> ndarray:
    """Put values before some elements.

    Parameters
    ----------
    arr : array
        Of any shape.
    obj : int, slice or sequence of int
        Before which elements of the axis; the host reads indices in USM.
    values : array
        They broadcast to what is put in, and are converted to the type of `arr`.
    axis : int, optional
        None counts the elements in C order.

    Returns
    -------
    ndarray
        A copy, of the type of `arr`.

    Raises
    ------
    IndexError
        An index is outside of the axis, or several are not integers.
    TypeError
        An index is not an integer.
    OverflowError
        An integer of Python does not fit into the type of `arr`.
    ValueError
        Values do not broadcast.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.insert(usmx.asarray([1, 2]), 1, 9))
    [1, 9, 2]
    """
    from .manipulation import moveaxis

    a = as_array(arr)
    if axis is None:
        a, axis = a.reshape(-1), 0
    at = to_axis(axis, a.ndim)
    whole = values if isinstance(values, (list, tuple)) else [values]
    if a.dtype.kind in "iu" and all(isinstance(one, int) for one in whole):
        values = np.array(values, dtype=str(a.dtype))  # refuses those that do not fit
    given = as_array(values, a)
    index = _host_index(obj)
    alone = not isinstance(index, slice) and np.ndim(index) == 0
    if given.ndim < a.ndim:
        given = given.reshape((1,) * (a.ndim - given.ndim) + given.shape)
    if alone:
        # The values of one index stand along the first axis, as in NumPy.
        given = moveaxis(given, 0, at) if a.ndim > 1 else given
        count = given.shape[at]
        if np.asarray(index).dtype.kind not in "iub":
            raise TypeError(f"obj: {index!r}; expected integers, bools or a slice")
        index = [int(index)] * count
    chosen = np.arange(a.shape[at])[index] if isinstance(index, slice) else np.asarray(index)
    if chosen.dtype.kind not in "iub" and chosen.size:
        # As NumPy: what is one index has the error of a slice.
        error = TypeError if chosen.size == 1 else IndexError
        raise error(f"obj: of {chosen.dtype}; expected integers, bools or a slice")
    chosen = np.flatnonzero(chosen) if chosen.dtype.kind == "b" else chosen.astype(np.int64)
    if not alone and chosen.size == 1:  # all values stand before one element
        chosen = np.repeat(chosen, given.shape[at])
    # Where the old elements and each of the new ones stand, as NumPy orders equal indices.
    marked = np.insert(np.arange(a.shape[at]), chosen, -1 - np.arange(chosen.size))
    new, old = np.flatnonzero(marked < 0), np.flatnonzero(marked >= 0)
    new = new[np.argsort(-1 - marked[new])]
    out = _empty_like(a, [marked.size if k == at else n for k, n in enumerate(a.shape)])
    out[along(at, old)] = a
    shape = [new.size if k == at else n for k, n in enumerate(a.shape)]
    out[along(at, new)] = broadcast_to(given, shape)
    return out


def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Assign to the main diagonal.

    Parameters
    ----------
    a : ndarray
        Of two dimensions, or of several of one length; it is changed.
    val : number or array
        Assigned in turn, repeated where there are too few.
    wrap : bool
        Whether the diagonal of a tall matrix begins again after a row.

    Raises
    ------
    ValueError
        `a` has fewer dimensions, or several of different lengths.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.zeros((2, 2))
    >>> usmx.fill_diagonal(x, 7)
    >>> print(x)
    [[7., 0.],
     [0., 7.]]
    """
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise ValueError(
            f"a: has shape {a.shape}; expected two dimensions, or several of one length"
        )
    step = a.shape[1] + 1 if a.ndim == 2 else 1 + sum(a.shape[0] ** k for k in range(1, a.ndim))
    end = a.shape[1] ** 2 if a.ndim == 2 and not wrap else a.size
    flat = np.arange(0, min(end, a.size), step)
    if not flat.size:
        return
    value = as_array(val, a).reshape(-1)
    if value.size not in (1, flat.size):
        from .selection import take

        value = take(value, np.arange(flat.size) % value.size)
    a[tuple(np.unravel_index(flat, a.shape))] = value if value.size > 1 else value[0]


def unravel_index(indices: ArrayLike, shape: Any, order: str = "C") -> tuple[ndarray, ...]:
    """Give the indices along each axis of flat indices, such as those of `argmax`.

    Parameters
    ----------
    indices : array of integers
        Of any shape, from 0 up.
    shape : int or tuple of int
        Of the array that they belong to.
    order : {'C', 'F'}
        Which axis varies fastest: the last or the first.

    Returns
    -------
    tuple of ndarray
        Of int64, one for each axis, of the shape of `indices`.

    Raises
    ------
    TypeError
        They are not integers.
    ValueError
        An index that such an array does not have, or another order.

    Examples
    --------
    >>> import usmx
    >>> row, column = usmx.unravel_index(usmx.asarray([4]), (2, 3))
    >>> print(row, column)
    [1] [1]
    """
    if order not in ("C", "F"):
        raise ValueError(f"order: {order!r}; expected 'C' or 'F'")
    rest = as_array(indices)
    if rest.dtype.kind not in "iu":
        raise TypeError(f"indices: of {rest.dtype}; expected an array of integers")
    lengths = [int(shape)] if np.ndim(shape) == 0 else [int(n) for n in shape]
    rest = rest.astype("int64", copy=False)
    size = prod(lengths)
    if size >= 1 << 63:
        raise ValueError(f"shape: {tuple(lengths)}: more elements than int64 counts")
    if rest.size:
        low, high = map(int, (rest.min(), rest.max()))  # one kernel for both
        if low < 0 or high >= size:
            raise ValueError(
                f"indices: from {low} to {high}; expected 0 to {size - 1}, which arrays of the "
                f"shape {tuple(lengths)} have"
            )
    made = []
    for length in reversed(lengths) if order == "C" else lengths:
        made.append(rest % length)
        rest = rest // length
    return tuple(reversed(made) if order == "C" else made)
