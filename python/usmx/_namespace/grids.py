"""Indices and grids: ``mgrid[0:3, 0:4]``, ``r_[1:4, 0]``, triangles and diagonals as indices."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array, as_arrays, kind_of, to_integer, to_shape

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike, ShapeLike

__all__ = [
    "c_",
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "indices",
    "ix_",
    "mask_indices",
    "mgrid",
    "ogrid",
    "r_",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]


def _line(key: slice) -> ndarray:
    """Numbers of a slice, where a step of ``5j`` is a count of numbers with both ends."""
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if key.stop is None:
        raise ValueError(f"key: {key} has no end")
    if isinstance(step, complex):
        from .creation import linspace

        counted: ndarray = linspace(start, key.stop, int(abs(step)))
        return counted
    return _usmx.arange(start, key.stop, step)


class _Grid:
    """A grid of numbers by slices; `dense` or as lines that broadcast."""

    def __init__(self, name: str, dense: bool) -> None:
        self._name, self._dense = name, dense

    def __repr__(self) -> str:
        return f"<usmx.{self._name}[start:stop:step, ...]>"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _line(key)
        from .data_types import result_type
        from .manipulation import broadcast_arrays, stack

        lines = [_line(one) for one in key]
        dtype = result_type(*lines)
        rank = len(lines)
        lines = [
            line.astype(dtype, copy=False).reshape(
                tuple(line.size if k == at else 1 for k in range(rank))
            )
            for at, line in enumerate(lines)
        ]
        return stack(broadcast_arrays(*lines)) if self._dense else tuple(lines)


mgrid: _Grid = _Grid("mgrid", dense=True)
"""``mgrid[0:3, 0:2:5j]``: for each axis an array of the whole grid, in one array."""
ogrid: _Grid = _Grid("ogrid", dense=False)
"""The same as lines that broadcast to the grid."""


class _Joined:
    """Arrays, numbers and slices joined along the first or the last axis."""

    def __init__(self, name: str, columns: bool) -> None:
        self._name, self._columns = name, columns

    def __repr__(self) -> str:
        return f"<usmx.{self._name}[array, number, start:stop:step, ...]>"

    def __getitem__(self, key: Any) -> ndarray:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(one, str) for one in parts):
            raise TypeError(
                f"usmx.{self._name}: texts such as 'r' or '0,2' are not supported; write "
                "usmx.concatenate, usmx.stack or reshape"
            )
        from .manipulation import concat

        given = as_arrays([_line(one) if isinstance(one, slice) else one for one in parts])
        if not self._columns:
            return concat([x.reshape(-1) if x.ndim == 0 else x for x in given], axis=0)
        rank = max(2, *(x.ndim for x in given)) if given else 2
        filled = [
            x.reshape((*x.shape, *((1,) * (rank - x.ndim))) if x.ndim else (1,) * rank)
            for x in given
        ]
        return concat(filled, axis=-1)


r_: _Joined = _Joined("r_", columns=False)
"""``r_[x, 0, 1:4]``: joined along the first axis."""
c_: _Joined = _Joined("c_", columns=True)
"""``c_[x, y]``: lines as columns, joined along the last axis."""


class _Key:
    """The key itself, as it is written between brackets."""

    def __init__(self, name: str, always_tuple: bool) -> None:
        self._name, self._tuple = name, always_tuple

    def __repr__(self) -> str:
        return f"<usmx.{self._name}[key]>"

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._tuple and not isinstance(key, tuple) else key


s_: _Key = _Key("s_", always_tuple=False)
"""``s_[2:4]`` is ``slice(2, 4)``."""
index_exp: _Key = _Key("index_exp", always_tuple=True)
"""The same, always a tuple."""


def indices(
    dimensions: ShapeLike, dtype: DTypeLike = int, sparse: bool = False, **place: Any
) -> Any:
    """The indices of all elements of a shape, for each axis an array.

    Parameters
    ----------
    dimensions : int or tuple of int
        The shape.
    dtype : dtype, optional
        The element type.
    sparse : bool
        Whether to give lines that broadcast, in a tuple.
    **place : optional
        ``usm_type=``, ``device=`` and ``queue=``, as for `arange`.

    Returns
    -------
    ndarray or tuple of ndarray
        Of shape ``(len(dimensions), *dimensions)``, or the lines.

    Raises
    ------
    ValueError
        A negative length.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.indices((2, 2))[0])
    [[0, 0],
     [1, 1]]
    """
    from .manipulation import broadcast_arrays, stack

    shape = to_shape(dimensions)
    if any(n < 0 for n in shape):
        raise ValueError(f"dimensions: {shape}: negative lengths are not allowed")
    rank = len(shape)
    lines = [
        _usmx.arange(n, dtype=dtype, **place).reshape(
            tuple(n if k == at else 1 for k in range(rank))
        )
        for at, n in enumerate(shape)
    ]
    if sparse:
        return tuple(lines)
    if not lines:
        return _usmx.empty((0,), dtype, **place)
    return stack(broadcast_arrays(*lines))


def ix_(*args: ArrayLike) -> tuple[ndarray, ...]:
    """Indices of one dimension as an open grid: ``x[ix_(rows, columns)]``.

    Parameters
    ----------
    *args : array of integers or bools
        One dimension each; bools stand for the indices where they are true.

    Returns
    -------
    tuple of ndarray
        Views that broadcast, one for each axis of `x`.

    Raises
    ------
    ValueError
        One has more dimensions.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(9).reshape(3, 3)
    >>> print(x[usmx.ix_(usmx.asarray([0, 2]), usmx.asarray([1]))])
    [[1],
     [7]]
    """
    from .selection import nonzero

    made = []
    for at, x in enumerate(as_arrays(args)):
        if x.ndim != 1:
            raise ValueError(f"args: number {at} has shape {x.shape}; expected one dimension")
        line = nonzero(x)[0] if x.dtype.kind == "b" else x
        if not line.size:
            line = line.astype("int64", copy=False)
        made.append(line.reshape(tuple(line.size if k == at else 1 for k in range(len(args)))))
    return tuple(made)


def diag_indices(n: int, ndim: int = 2, **place: Any) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of a square, or of a cube with more dimensions.

    Parameters
    ----------
    n : int
        The length of each axis.
    ndim : int
        How many axes.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    tuple of ndarray
        Of int64, one for each axis.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.zeros((2, 2))
    >>> x[usmx.diag_indices(2)] = 5
    >>> print(x)
    [[5., 0.],
     [0., 5.]]
    """
    line = _usmx.arange(to_integer(n, "n"), **place)
    return (line,) * ndim


def diag_indices_from(arr: ndarray) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array with equal lengths, where it is.

    Parameters
    ----------
    arr : array
        Two or more equal lengths.

    Returns
    -------
    tuple of ndarray
        Of int64, one for each axis.

    Raises
    ------
    ValueError
        Lengths differ, or there are fewer than two.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([[1, 2], [3, 4]])
    >>> print(x[usmx.diag_indices_from(x)])
    [1, 4]
    """
    x = as_array(arr)
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ValueError(f"arr: has shape {x.shape}; expected two or more equal lengths")
    return diag_indices(x.shape[0], x.ndim, usm_type=kind_of(x), queue=x.queue)


def _triangle(upper: bool, n: int, k: int, m: int | None, place: dict[str, Any]) -> Any:
    from .selection import nonzero

    rows = to_integer(n, "n")
    columns = rows if m is None else to_integer(m, "m")
    row = _usmx.arange(rows, **place)[:, None]
    column = _usmx.arange(columns, **place)[None, :]
    return nonzero(column - row >= k if upper else column - row <= k)


def tril_indices(n: int, k: int = 0, m: int | None = None, **place: Any) -> Any:
    """The indices of the lower triangle of a matrix of n rows and m columns.

    Parameters
    ----------
    n, m : int
        Lengths; without `m` a square.
    k : int
        The highest diagonal; 0 is the main one.
    **place : optional
        ``usm_type=``, ``device=`` and ``queue=``, as for `arange`.

    Returns
    -------
    tuple of ndarray
        The rows and the columns, in C order.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4).reshape(2, 2)
    >>> print(x[usmx.tril_indices(2)])
    [0, 2, 3]
    """
    return _triangle(False, n, k, m, place)


def triu_indices(n: int, k: int = 0, m: int | None = None, **place: Any) -> Any:
    """The indices of the upper triangle of a matrix of n rows and m columns.

    Parameters
    ----------
    n, m : int
        Lengths; without `m` a square.
    k : int
        The lowest diagonal; 0 is the main one.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    tuple of ndarray
        The rows and the columns, in C order.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4).reshape(2, 2)
    >>> print(x[usmx.triu_indices(2)])
    [0, 1, 3]
    """
    return _triangle(True, n, k, m, place)


def _from(upper: bool, arr: ArrayLike, k: int) -> Any:
    x = as_array(arr)
    if x.ndim != 2:
        raise ValueError(f"arr: has shape {x.shape}; expected two dimensions")
    place = {"usm_type": kind_of(x), "queue": x.queue}
    return _triangle(upper, x.shape[0], k, x.shape[1], place)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> Any:
    """The indices of the lower triangle of a matrix, where it is.

    Parameters
    ----------
    arr : array
        Two dimensions.
    k : int
        The highest diagonal; 0 is the main one.

    Returns
    -------
    tuple of ndarray
        The rows and the columns, in C order.

    Raises
    ------
    ValueError
        `arr` has not two dimensions.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4).reshape(2, 2)
    >>> print(x[usmx.tril_indices_from(x)])
    [0, 2, 3]
    """
    return _from(False, arr, k)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> Any:
    """The indices of the upper triangle of a matrix, where it is.

    Parameters
    ----------
    arr : array
        Two dimensions.
    k : int
        The lowest diagonal; 0 is the main one.

    Returns
    -------
    tuple of ndarray
        The rows and the columns, in C order.

    Raises
    ------
    ValueError
        `arr` has not two dimensions.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4).reshape(2, 2)
    >>> print(x[usmx.triu_indices_from(x)])
    [0, 1, 3]
    """
    return _from(True, arr, k)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> Any:
    """The indices of the elements of a square matrix of ones that a function leaves.

    Parameters
    ----------
    n : int
        The length of the square.
    mask_func : callable
        Such as `triu`: called with a matrix and `k`.
    k : object, optional
        Its second argument.

    Returns
    -------
    tuple of ndarray
        The rows and the columns of the elements that are not 0.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4).reshape(2, 2)
    >>> print(x[usmx.mask_indices(2, usmx.triu)])
    [0, 1, 3]
    """
    from .selection import nonzero

    rows = to_integer(n, "n")
    return nonzero(mask_func(_usmx.ones((rows, rows), "int8"), k) != 0)
