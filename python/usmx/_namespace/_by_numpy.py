"""Matrices and transforms by NumPy (LAPACK, BLAS, pocketfft), for devices that are the CPU itself.

Memory that the host may read is computed with where it is; of other memory there is a copy. Results
are complete when a function returns.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import _usmx
from .._usmx import ndarray
from ._common import kind_of
from ._matrices import LinAlgError, check_finite_elements, of_stack

_READ = ("shared", "host")


def takes(x: ndarray, _function: str) -> bool:
    """Whether NumPy computes with arrays of that type and place."""
    return x.device._is_host and x.dtype.char in "fdFD"


def _elements(x: ndarray) -> np.ndarray:
    return np.asarray(x) if x.usm_type in _READ else x.to_numpy()


def _at(x: ndarray, host: np.ndarray) -> ndarray:
    """An array with these elements, where `x` is."""
    made: ndarray = _usmx.asarray(host, usm_type=kind_of(x), queue=x.queue)
    return made


def _each(function: Callable[..., Any], a: np.ndarray, says: str, *others: Any) -> Any:
    """What a function gives of a stack of matrices, or an error that names the first wrong one."""
    try:
        return function(a, *others)
    except np.linalg.LinAlgError:
        for index in np.ndindex(a.shape[:-2]):
            try:
                function(a[index], *(None if x is None else x[index] for x in others))
            except np.linalg.LinAlgError:
                raise LinAlgError(f"{of_stack('a', index)}: {says}") from None
        raise


def solve(a: ndarray, b: ndarray) -> ndarray:
    """``x`` of ``a @ x = b``, of matrices that broadcast."""
    left, right = _elements(a), _elements(b)
    shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, (*shape, *left.shape[-2:]))
    right = np.broadcast_to(right, (*shape, *right.shape[-2:]))
    return _at(b, _each(np.linalg.solve, left, "is singular", right))


def inverse(a: ndarray) -> ndarray:
    return _at(a, _each(np.linalg.inv, _elements(a), "is singular"))


def determinants(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Determinants, their signs, and the logarithms of their absolute values."""
    host = _elements(a)
    sign, logarithm = np.linalg.slogdet(host)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(host)
    return _at(a, np.asarray(determinant)), _at(a, np.asarray(sign)), _at(a, np.asarray(logarithm))


def cholesky(a: ndarray) -> ndarray:
    return _at(a, _each(np.linalg.cholesky, _elements(a), "is not positive definite"))


def qr(a: ndarray, columns: int, vectors: bool) -> tuple[ndarray | None, ndarray]:
    """Q with so many columns, and R."""
    host = _elements(a)
    if not vectors:
        return None, _at(a, np.asarray(np.linalg.qr(host, "r")))
    q, r = np.linalg.qr(host, "reduced" if columns == min(a.shape[-2:]) else "complete")
    return _at(a, q), _at(a, r)


def svd(a: ndarray, vectors: bool, full: bool) -> tuple[ndarray | None, ndarray, ndarray | None]:
    """Singular vectors and values."""
    host = _elements(a)
    check_finite_elements(host)
    if not vectors:
        return None, _at(a, np.linalg.svd(host, compute_uv=False)), None
    u, s, vh = np.linalg.svd(host, full_matrices=full)
    return _at(a, u), _at(a, s), _at(a, vh)


def eigh(a: ndarray, lower: bool, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues of what one of the triangles stands for, and vectors as columns."""
    host = _elements(a)
    side: Literal["L", "U"] = "L" if lower else "U"
    check_finite_elements(np.tril(host) if lower else np.triu(host))
    if not vectors:
        return _at(a, np.linalg.eigvalsh(host, side)), None
    values, columns = np.linalg.eigh(host, side)
    return _at(a, values), _at(a, columns)


def eig(a: ndarray, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues and vectors as columns, both complex."""
    host = _elements(a)
    check_finite_elements(host)
    # Of real matrices NumPy gives real numbers where all of them are, which the shape of a result
    # of ours may not depend on.
    own = np.dtype(a.dtype.char.upper())
    if not vectors:
        return _at(a, np.linalg.eigvals(host).astype(own)), None
    values, columns = np.linalg.eig(host)
    return _at(a, values.astype(own)), _at(a, columns.astype(own))


def lstsq(a: ndarray, b: ndarray, rcond: Any) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """As NumPy's function: the solution, residuals, the rank, and singular values."""
    left, right = _elements(a), _elements(b)
    check_finite_elements(left)
    x, residuals, rank, s = np.linalg.lstsq(left, right, rcond=rcond)
    return _at(b, x), _at(b, residuals), _at(a, np.asarray(rank, "int32")), _at(a, s)


def product(a: ndarray, b: ndarray, made: ndarray) -> None:
    """``made = a @ b`` of matrices that broadcast."""
    left, right = (_elements(x).astype(made.dtype, copy=False) for x in (a, b))
    if made.usm_type in _READ:
        np.matmul(left, right, out=np.asarray(made))
    else:
        made[...] = np.matmul(left, right)


def transform(kind: str, x: ndarray, length: int, axis: int, norm: str) -> ndarray:
    """``fft``, ``ifft``, ``rfft`` or ``irfft`` of so many numbers along an axis."""
    return _at(x, getattr(np.fft, kind)(_elements(x), length, axis, norm))
