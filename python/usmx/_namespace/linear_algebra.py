"""Products of matrices, vectors and arrays, all made of those of `src/algorithm/matmul.cpp`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from .. import _usmx
from ._common import as_array, as_arrays, empty_at, kind_of, to_axes, to_axis
from ._joint import in_kind
from ._outputs import to_out, written

__all__ = [
    "cross", "diagonal", "dot", "inner", "kron", "matmul", "matrix_transpose", "matvec", "outer",
    "tensordot", "vdot", "vecdot", "vecmat",
]  # fmt: skip


def _checked(x: Any, name: str) -> _usmx.ndarray:
    if isinstance(x, _usmx.ndarray):
        return x
    raise TypeError(f"{name}: is of type {type(x).__name__}, expected an array of usmx")


def _both(x1: Any, x2: Any, least: tuple[int, int] = (0, 0)) -> list[_usmx.ndarray]:
    """Two operands, of which one may be of NumPy or a list: it goes to where the other one is.

    Each has at least so many dimensions.
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if isinstance(x, (int, float, complex)):
            raise TypeError(f"{name}: is of type {type(x).__name__}, expected an array")
    made = as_arrays((x1, x2))
    for name, x, count in zip(("x1", "x2"), made, least, strict=True):
        if x.ndim < count:
            raise ValueError(f"{name}: has {x.ndim} dimensions; expected at least {count}")
    return made


def matmul(
    x1: _usmx.ndarray, x2: _usmx.ndarray, /, out: _usmx.ndarray | None = None, **keywords: Any
) -> _usmx.ndarray:
    """Multiply matrices.

    Parameters
    ----------
    x1, x2 : array
        Of shapes (..., n, k) and (..., k, m); the axes before broadcast. One of shape (k,) is a row
        or a column.
    out : ndarray, optional
        The result is written into this array.
    **keywords : optional
        ``dtype``, ``casting``, ``order``, ``axes``, ``axis``, ``keepdims``, ``signature`` and
        ``subok`` of NumPy's function.

    Returns
    -------
    ndarray
        Of shape (..., n, m), without the axes of a row or a column.

    Raises
    ------
    ValueError
        If `k` differs, or one has no dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.matmul(usmx.asarray([[1, 2], [3, 4]]), usmx.asarray([[0, 1], [1, 0]])))
    [[2, 1],
     [4, 3]]
    """
    if out is not None or keywords:
        from .ufunc_arguments import product

        return product("matmul", matmul, x1, x2, out, keywords)
    a, b = _both(x1, x2)
    return _usmx._matmul(a, b)


def matmul_operator(x1: Any, x2: Any) -> Any:
    """What ``x1 @ x2`` gives: NotImplemented if one has no elements, or operators of its own.

    As for other operators, memory in USM is taken whichever operators its library has.
    """
    both: list[Any] = [x1, x2]
    if not (isinstance(x1, _usmx.ndarray) and isinstance(x2, _usmx.ndarray)):
        for k, x in enumerate(both):
            if isinstance(x, (_usmx.ndarray, list, tuple, range)) or hasattr(
                x, "__array_interface__"
            ):
                continue
            imported = _usmx._imported(x)
            if imported is not None:
                both[k] = imported
            elif hasattr(type(x), "__matmul__") or not _usmx._offers_elements(x):
                return NotImplemented
        both = as_arrays(both)
    return in_kind(matmul(*both), *both)


def matmul_in_place(x1: Any, x2: Any) -> Any:
    """What ``x1 @= x2`` does: the product is written into `x1`, all of which is read before.

    Raises
    ------
    TypeError
        The product has numbers of another kind than `x1`.
    ValueError
        The product has another shape, or `x1` is read-only.
    """
    from .data_types import can_cast

    made = matmul_operator(x1, x2)
    if made is NotImplemented:
        return made
    if x1.flags.writable is False:
        raise ValueError("x1: output array is read-only")
    if made.shape != x1.shape:
        raise ValueError(
            f"x1: has shape {x1.shape}, and the product has {made.shape}; write x1 = x1 @ x2"
        )
    if not can_cast(made.dtype, x1.dtype, "same_kind"):
        raise TypeError(
            f"x1: {made.dtype}, the type of the product, is not cast to {x1.dtype}; write "
            "x1 = x1 @ x2"
        )
    x1[...] = made
    return x1


def matrix_transpose(x: _usmx.ndarray, /) -> _usmx.ndarray:
    """Exchange the last two axes.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).

    Returns
    -------
    ndarray
        A view of shape (..., n, m).

    Raises
    ------
    ValueError
        Fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.matrix_transpose(usmx.asarray([[1, 2], [3, 4]])))
    [[1, 3],
     [2, 4]]
    """
    a = _checked(x, "x")
    if a.ndim < 2:
        raise ValueError(f"x: has shape {a.shape}, expected at least two dimensions")
    return a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> _usmx.ndarray:
    """Give the cross products of vectors of three elements.

    Parameters
    ----------
    a, b : array
        Their other axes broadcast.
    axisa, axisb, axisc : int
        Along which the vectors of `a`, of `b` and of the result lie.
    axis : int, optional
        In place of the three.

    Returns
    -------
    ndarray
        Of the type that `a` and `b` meet in.

    Raises
    ------
    ValueError
        Vectors have not three elements.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cross(usmx.asarray([1, 0, 0]), usmx.asarray([0, 1, 0])))
    [0, 0, 1]
    """
    from .manipulation import moveaxis

    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = as_arrays((a, b))
    made = cross_products(moveaxis(x1, axisa, -1), moveaxis(x2, axisb, -1), -1)
    return moveaxis(made, -1, axisc)


def cross_products(x1: Any, x2: Any, axis: int) -> _usmx.ndarray:
    """Cross products of vectors of three elements along an axis. ValueError of other vectors."""
    from .manipulation import moveaxis, stack

    turned = []
    for name, x in zip(("x1", "x2"), as_arrays((x1, x2)), strict=True):
        place = to_axis(axis, x.ndim)
        if x.shape[place] != 3:
            raise ValueError(f"{name}: has length {x.shape[place]} along axis {axis}; expected 3")
        turned.append(moveaxis(x, place, -1))
    a, b = turned
    parts = [
        a[..., (k + 1) % 3] * b[..., (k + 2) % 3] - a[..., (k + 2) % 3] * b[..., (k + 1) % 3]
        for k in range(3)
    ]
    return moveaxis(stack(parts, axis=-1), -1, axis)


def vecdot(
    x1: _usmx.ndarray,
    x2: _usmx.ndarray,
    /,
    out: _usmx.ndarray | None = None,
    *,
    axis: int = -1,
    **keywords: Any,
) -> _usmx.ndarray:
    """Add the products of the elements of vectors along an axis; of `x1` the conjugates.

    Parameters
    ----------
    x1, x2 : array
        They broadcast, and have the same length along `axis`.
    axis : int, optional
        Of each of both arrays, before they are broadcast.
    out, **keywords : optional
        As those of `matmul`.

    Returns
    -------
    ndarray
        Of the shape to which the arrays broadcast, without `axis`.

    Raises
    ------
    ValueError
        If the lengths differ, or an array has no such axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.vecdot(usmx.asarray([[1, 2], [3, 4]]), usmx.asarray([1, 10])))
    [21, 43]
    """
    if out is not None or keywords:
        from .ufunc_arguments import product

        return product("vecdot", vecdot, x1, x2, out, {"axis": axis, **keywords})
    a, b = _both(x1, x2)
    for x in (a, b):
        to_axis(axis, x.ndim)
    return _usmx._vecdot(a, b, index(axis))


def outer(a: _usmx.ndarray, b: _usmx.ndarray, out: _usmx.ndarray | None = None) -> _usmx.ndarray:
    """Multiply each element of a vector with each of another one.

    Parameters
    ----------
    a, b : array
        Of m and of n elements; other shapes are taken for vectors.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of shape (m, n).

    Examples
    --------
    >>> import usmx
    >>> print(usmx.outer(usmx.asarray([1, 2]), usmx.asarray([3, 4, 5])))
    [[ 3,  4,  5],
     [ 6,  8, 10]]
    """
    a, b = _both(a, b)
    return written(a.reshape(-1)[:, None] * b.reshape(-1)[None, :], out)


def tensordot(
    a: _usmx.ndarray,
    b: _usmx.ndarray,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> _usmx.ndarray:
    """Add the products of elements along several axes of two arrays.

    Parameters
    ----------
    a, b : array
        Any shapes.
    axes : int or tuple of two sequences of int, optional
        How many last axes of `a` and first axes of `b` meet, or which ones of each.

    Returns
    -------
    ndarray
        Its axes are those of `a` that are left, then those of `b`.

    Raises
    ------
    ValueError
        The lengths of axes that meet differ, or there are not as many axes.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.tensordot(usmx.ones((2, 3)), usmx.ones((3, 2)), axes=1))
    [[3., 3.],
     [3., 3.]]
    """
    a, b = as_arrays((a, b))
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(f"axes: {axes}; a has {a.ndim} dimensions and b has {b.ndim}")
        first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        first, second = to_axes(axes[0], a.ndim, "axes"), to_axes(axes[1], b.ndim, "axes")
    lengths, others = [a.shape[k] for k in first], [b.shape[k] for k in second]
    if lengths != others:
        raise ValueError(f"axes: of x1 they have the lengths {lengths}, of x2 {others}")
    left = [k for k in range(a.ndim) if k not in first]
    right = [k for k in range(b.ndim) if k not in second]
    shape = (*(a.shape[k] for k in left), *(b.shape[k] for k in right))
    rows, columns = prod(a.shape[k] for k in left), prod(b.shape[k] for k in right)
    made = matmul(
        a.transpose((*left, *first)).reshape(rows, prod(lengths)),
        b.transpose((*second, *right)).reshape(prod(lengths), columns),
    )
    return made.reshape(shape)


def dot(a: Any, b: Any, out: _usmx.ndarray | None = None) -> _usmx.ndarray:
    """Multiply as NumPy's function of that name: the last axis of `a`, the last but one of `b`.

    Parameters
    ----------
    a, b : array
        With one axis, it is that one; with none, elements are multiplied.
    out : ndarray, optional
        The result is written into this array, which has its type.

    Returns
    -------
    ndarray
        Of the type that `a` and `b` meet in; of two vectors without dimensions.

    Raises
    ------
    ValueError
        The lengths of the axes differ.

    Examples
    --------
    >>> import usmx
    >>> usmx.dot(usmx.asarray([1, 2]), usmx.asarray([3, 4])).item()
    11
    """
    a, b = as_arrays((a, b))
    if out is not None:
        return written_alike(dot(a, b), out)
    if a.ndim == 0 or b.ndim == 0:
        made: _usmx.ndarray = a * b
        return made
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=((-1,), (-2 if b.ndim > 1 else -1,)))


def written_alike(made: _usmx.ndarray, out: Any) -> _usmx.ndarray:
    """A product in an array of its own type in C order, which NumPy's `dot` and others expect."""
    into = to_out(out)
    if into is not None and (into.dtype != made.dtype or not into.flags.c_contiguous):
        raise ValueError(f"out: is of {into.dtype}; expected {made.dtype}, in C order")
    return written(made, into)


def vdot(a: Any, b: Any) -> _usmx.ndarray:
    """Add the products of all elements, of `a` the conjugates.

    Parameters
    ----------
    a, b : array
        Of as many elements, which are taken in C order.

    Returns
    -------
    ndarray
        Without dimensions.

    Raises
    ------
    ValueError
        They have not as many elements.

    Examples
    --------
    >>> import usmx
    >>> usmx.vdot(usmx.asarray([1j, 2]), usmx.asarray([1j, 3])).item()
    (7+0j)
    """
    a, b = as_arrays((a, b))
    return vecdot(a.reshape(-1), b.reshape(-1))


def inner(a: Any, b: Any) -> _usmx.ndarray:
    """Add the products along the last axes, of each vector of `a` with each of `b`.

    Parameters
    ----------
    a, b : array
        Of one length along the last axis. With a number, elements are multiplied.

    Returns
    -------
    ndarray
        The other axes of `a`, then those of `b`.

    Raises
    ------
    ValueError
        The lengths of the last axes differ.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.inner(usmx.asarray([[1, 2], [3, 4]]), usmx.asarray([1, 10])))
    [21, 43]
    """
    a, b = as_arrays((a, b))
    if a.ndim == 0 or b.ndim == 0:
        made: _usmx.ndarray = a * b
        return made
    return tensordot(a, b, axes=((-1,), (-1,)))


def kron(a: Any, b: Any) -> _usmx.ndarray:
    """Multiply each element of `a` with `b`, side by side.

    Parameters
    ----------
    a, b : array
        Any shape; missing axes have length one.

    Returns
    -------
    ndarray
        Each length is the product of the two.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.kron(usmx.asarray([1, 10]), usmx.asarray([1, 2])))
    [ 1,  2, 10, 20]
    """
    a, b = as_arrays((a, b))
    rank = max(a.ndim, b.ndim)
    left, right = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    spread_left = tuple(n for length in left for n in (length, 1))
    spread_right = tuple(n for length in right for n in (1, length))
    made: _usmx.ndarray = a.reshape(spread_left) * b.reshape(spread_right)
    return made.reshape(tuple(x * y for x, y in zip(left, right, strict=True)))


def diagonals(a: _usmx.ndarray, offset: int = 0) -> _usmx.ndarray:
    """The diagonals of the last two axes: a view if these are contiguous."""
    if a.ndim < 2:
        raise ValueError(f"a: has shape {a.shape}; expected at least two dimensions")
    m, n = a.shape[-2:]
    length = max(0, min(m + min(offset, 0), n - max(offset, 0)))
    if not length:
        return empty_at(a, (*a.shape[:-2], 0))
    first = max(offset, 0) - min(offset, 0) * n
    try:
        flat = a.reshape((*a.shape[:-2], m * n), copy=False)
    except ValueError:
        steps = _usmx.arange(length, usm_type=kind_of(a), queue=a.queue)
        return a[..., steps - min(offset, 0), steps + max(offset, 0)]
    return flat[..., first : first + (length - 1) * (n + 1) + 1 : n + 1]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> _usmx.ndarray:
    """Give diagonals of two axes, along a new last axis: a view where the layout allows it.

    Parameters
    ----------
    a : array
        Of at least two dimensions.
    offset : int, optional
        How far right of the main diagonal; negative is below.
    axis1, axis2 : int, optional
        The axes of rows and of columns. `usmx.linalg.diagonal` takes the last ones.

    Returns
    -------
    ndarray
        The other axes, then that of the diagonals.

    Raises
    ------
    ValueError
        Fewer than two dimensions, or the same axis twice.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.diagonal(usmx.arange(9).reshape(3, 3), offset=1))
    [1, 5]
    """
    a = as_array(a)
    if a.ndim < 2:
        raise ValueError(f"a: has shape {a.shape}; expected at least two dimensions")
    row, column = to_axis(axis1, a.ndim, "axis1"), to_axis(axis2, a.ndim, "axis2")
    if row == column:
        raise ValueError(f"axis2: {axis2} is the same axis as axis1")
    rest = [k for k in range(a.ndim) if k not in (row, column)]
    return diagonals(a.transpose((*rest, row, column)), index(offset))


def trace(
    a: _usmx.ndarray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
) -> _usmx.ndarray:
    """Add the elements of diagonals of two axes, the first ones by default, as NumPy does.

    `usmx.linalg.trace` takes the last ones.

    Parameters
    ----------
    a : array
        Of at least two dimensions.
    offset : int, optional
        How far right of the main diagonal; negative is below.
    axis1, axis2 : int, optional
        The axes of rows and of columns.
    dtype : dtype, optional
        The type of the result, which is also added in.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        The other axes.

    Raises
    ------
    ValueError
        Fewer than two dimensions, or the same axis twice.
    """
    from .statistics import sum as total

    return total(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def matvec(
    x1: _usmx.ndarray, x2: _usmx.ndarray, /, out: _usmx.ndarray | None = None, **keywords: Any
) -> _usmx.ndarray:
    """Products of matrices and vectors.

    Parameters
    ----------
    x1 : array, shape (..., m, n)
        Matrices.
    x2 : array, shape (..., n)
        Vectors; the leading axes broadcast.
    out, **keywords : optional
        As those of `matmul`.

    Returns
    -------
    ndarray, shape (..., m)

    Examples
    --------
    >>> import usmx
    >>> print(usmx.matvec(usmx.asarray([[1, 2], [3, 4]]), usmx.asarray([1, 10])))
    [21, 43]
    """
    if out is not None or keywords:
        from .ufunc_arguments import product

        return product("matvec", matvec, x1, x2, out, keywords)
    a, b = _both(x1, x2, least=(2, 1))
    return matmul(a, b[..., None])[..., 0]


def vecmat(
    x1: _usmx.ndarray, x2: _usmx.ndarray, /, out: _usmx.ndarray | None = None, **keywords: Any
) -> _usmx.ndarray:
    """Products of vectors and matrices; of complex vectors the conjugates.

    Parameters
    ----------
    x1 : array, shape (..., n)
        Vectors; the leading axes broadcast.
    x2 : array, shape (..., n, m)
        Matrices.
    out, **keywords : optional
        As those of `matmul`.

    Returns
    -------
    ndarray, shape (..., m)

    Examples
    --------
    >>> import usmx
    >>> print(usmx.vecmat(usmx.asarray([1, 10]), usmx.asarray([[1, 2], [3, 4]])))
    [31, 42]
    """
    if out is not None or keywords:
        from .ufunc_arguments import product

        return product("vecmat", vecmat, x1, x2, out, keywords)
    a, b = _both(x1, x2, least=(1, 2))
    if a.dtype.kind == "c":
        a = a.conj()
    return matmul(a[..., None, :], b)[..., 0, :]
