"""Products of matrices and vectors: sums of products, computed in one kernel without a temporary.

They read each element as often as it is needed, so large matrices are slower than with a library
made for them (dpnp computes on the same memory).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .. import _usmx
from ._common import as_arrays, to_axes

__all__ = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


def _checked(x: Any, name: str) -> _usmx.ndarray:
    if isinstance(x, _usmx.ndarray):
        return x
    raise TypeError(f"{name}: is of type {type(x).__name__}, expected an array of usmx")


def _sum_of_products(a: _usmx.ndarray, b: _usmx.ndarray, axis: int) -> _usmx.ndarray:
    product = a * b
    own = product.dtype
    if own.kind == "b":
        return _usmx._reduce(
            product, own, own, reduce="a || b", identity="false", axes=(axis % product.ndim,)
        )
    value = "float32" if own.char == "e" else own
    return _usmx._reduce(
        product, value, own, reduce="a + b", identity="0", axes=(axis % product.ndim,)
    )


def matmul(x1: _usmx.ndarray, x2: _usmx.ndarray, /) -> _usmx.ndarray:
    """Multiply matrices.

    Parameters
    ----------
    x1, x2 : array
        Of shapes (..., n, k) and (..., k, m); the axes before broadcast. One of shape (k,) is a row
        or a column.

    Returns
    -------
    ndarray
        Of shape (..., n, m), without the axes of a row or a column.

    Raises
    ------
    ValueError
        If `k` differs, or one has no dimensions.
    """
    a, b = _checked(x1, "x1"), _checked(x2, "x2")
    for name, x in (("x1", a), ("x2", b)):
        if x.ndim == 0:
            raise ValueError(f"{name}: has no dimensions; expected at least one")
    row, column = a.ndim == 1, b.ndim == 1
    length = b.shape[-1 if column else -2]
    if a.shape[-1] != length:
        raise ValueError(
            f"x2: has shape {b.shape}, expected {a.shape[-1]} where it has {length}, because x1 "
            f"has shape {a.shape}"
        )
    left = a[None, :] if row else a
    right = b[:, None] if column else b
    # (..., n, 1, k) times (..., 1, m, k)
    turned = matrix_transpose(right)
    made = _sum_of_products(left[..., :, None, :], turned[..., None, :, :], -1)
    if row:
        made = made[..., 0, :]
    return made[..., 0] if column else made


def matmul_operator(x1: Any, x2: Any) -> Any:
    """What ``x1 @ x2`` gives: NotImplemented if one is not an array of ours."""
    if not (isinstance(x1, _usmx.ndarray) and isinstance(x2, _usmx.ndarray)):
        for x in (x1, x2):
            if not isinstance(x, _usmx.ndarray) and not hasattr(x, "__array_interface__"):
                return NotImplemented
        x1, x2 = (x if isinstance(x, _usmx.ndarray) else _usmx.asarray(x) for x in (x1, x2))
    return matmul(x1, x2)


def matrix_transpose(x: _usmx.ndarray, /) -> _usmx.ndarray:
    """Exchange the last two axes: a view. ValueError of fewer dimensions."""
    a = _checked(x, "x")
    if a.ndim < 2:
        raise ValueError(f"x: has shape {a.shape}, expected at least two dimensions")
    return a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def vecdot(x1: _usmx.ndarray, x2: _usmx.ndarray, /, *, axis: int = -1) -> _usmx.ndarray:
    """Add the products of the elements of vectors along an axis; of `x1` the conjugates.

    Parameters
    ----------
    x1, x2 : array
        They broadcast, and have the same length along `axis`.
    axis : int, optional
        Counted from the end, as the standard has it.

    Raises
    ------
    ValueError
        If the lengths differ, or an array has no such axis.
    """
    a, b = _checked(x1, "x1"), _checked(x2, "x2")
    for name, x in (("x1", a), ("x2", b)):
        if not -x.ndim <= axis < 0:
            raise ValueError(f"axis: {axis} is not between {-x.ndim} and -1, the axes of {name}")
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(
            f"x2: has length {b.shape[axis]} along axis {axis}, x1 has {a.shape[axis]}"
        )
    if a.dtype.kind == "c":
        from .elementwise import conj

        a = conj(a)
    return _sum_of_products(a, b, axis)


def outer(x1: _usmx.ndarray, x2: _usmx.ndarray, /) -> _usmx.ndarray:
    """Multiply each element of a vector with each of another one."""
    a, b = _checked(x1, "x1"), _checked(x2, "x2")
    return a.reshape(-1)[:, None] * b.reshape(-1)[None, :]


def tensordot(
    x1: _usmx.ndarray,
    x2: _usmx.ndarray,
    /,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> _usmx.ndarray:
    """Add the products of elements along several axes of two arrays.

    Parameters
    ----------
    x1, x2 : array
        Any shapes.
    axes : int or tuple of two sequences of int, optional
        How many last axes of `x1` and first axes of `x2` meet, or which ones of each.

    Returns
    -------
    ndarray
        Its axes are those of `x1` that are left, then those of `x2`.

    Raises
    ------
    ValueError
        The lengths of axes that meet differ, or there are not as many axes.
    """
    a, b = as_arrays((x1, x2))
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(f"axes: {axes}; x1 has {a.ndim} dimensions and x2 has {b.ndim}")
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
