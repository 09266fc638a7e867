"""NVIDIA's cuBLAS, cuSOLVER and cuFFT, where they are installed, for devices of CUDA.

``pip install usmx[cuda]`` brings them, as PyTorch and CuPy do; toolkits of the system have them
too. Nothing is linked: the first product, decomposition or transform loads what it needs.
`USMX_NVIDIA=0` in the environment ends their use.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .. import _usmx
from .._usmx import ndarray
from . import _by_kernels, _libraries, _matrices, _transforms
from ._common import empty_at
from .creation import tril, triu
from .elementwise import isnan, real, where
from .linear_algebra import matrix_transpose
from .manipulation import broadcast_shapes, moveaxis
from .statistics import any as any_of

# --- where they are ------------------------------------------------------------------------------

#: Of each library its number for `_usmx._Nvidia.load`, its name, and its version in a release of
#: CUDA.
_LIBRARIES = {
    "blas": (0, "cublas", {13: 13, 12: 12}),
    "solver": (1, "cusolver", {13: 12, 12: 11}),
    "transforms": (2, "cufft", {13: 12, 12: 11}),
}


def _folders() -> list[Path]:
    """Where NVIDIA's wheels have libraries: ``nvidia/cu13/lib``, ``nvidia/cublas/lib``."""
    found = find_spec("nvidia")
    roots = [] if found is None else list(found.submodule_search_locations or ())
    return [folder for root in roots for folder in sorted(Path(root).glob("*/lib"))]


def _release() -> int:
    """The release of CUDA that the driver is for; libraries of a later one do not work with it."""
    import ctypes

    number = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return max(_LIBRARIES["blas"][2])
    return number.value // 1000


def _files(library: str, release: int, folders: list[Path]) -> Iterator[str]:
    """Files and names to try, best first: wheels, then what the system's loader finds."""
    _, name, versions = _LIBRARIES[library]
    files = [f"lib{name}.so.{version}" for cuda, version in versions.items() if cuda <= release]
    for file in files:
        yield from (str(folder / file) for folder in folders if (folder / file).exists())
    for file in files:
        yield file
        yield f"/usr/local/cuda/lib64/{file}"


@cache
def _missing(library: str) -> str:
    """Why one of the libraries is not used; empty if it is."""
    if os.environ.get("USMX_NVIDIA") == "0":
        return "USMX_NVIDIA=0 is set"
    number, name, _ = _LIBRARIES[library]
    why = _usmx._Nvidia.load(number, list(_files(library, _release(), _folders())))
    return why and f"{name}: {why}"


def missing() -> str:
    """Why not all of the libraries are used; empty if they are."""
    return next(filter(None, map(_missing, _LIBRARIES)), "")


@cache
def _is_for(device: Any) -> bool:
    """Whether the libraries have code for the device."""
    return bool(device.backend == "cuda")


#: What a function needs; of those that are not named, decompositions.
_NEEDS = {"product": ("blas",), "transform": ("transforms",)}


def takes(x: ndarray, function: str) -> bool:
    """Whether a library computes the function with arrays of that type and place."""
    if x.dtype.char not in ("fdFDeE" if function == "product" else "fdFD"):
        return False
    needed = _NEEDS.get(function, ("blas", "solver"))
    return _is_for(x.device) and not any(map(_missing, needed))


# --- products ------------------------------------------------------------------------------------


def _stacked(x: ndarray, shape: tuple[int, ...], dtype: Any) -> ndarray:
    """Matrices of the type that are read where they are; others are copied once."""
    if prod(x.shape[:-2]) != 1 and x.shape[:-2] != shape:
        x = _usmx.broadcast_to(x, (*shape, *x.shape[-2:]))
    if x.dtype != dtype or not _usmx._Nvidia.is_read(x):
        x = _matrices.contiguous(x, dtype)
    return x


def product(a: ndarray, b: ndarray, made: ndarray) -> bool:
    """``made = a @ b`` of matrices that broadcast; transposes are read where they are.

    False if kernels do it: a library gains nothing where each element is one product, and cuBLAS
    13.1 reads address 0 for some of complex128 (a column of 9 by a row of 18, on an H200).
    """
    if a.shape[-1] == 1:
        return False
    shape, dtype = made.shape[:-2], made.dtype
    _usmx._Nvidia.multiply(
        _stacked(a, shape, dtype), _stacked(b, shape, dtype), made, _libraries.tf32()
    )
    return True


# --- systems of equations ------------------------------------------------------------------------


def _integers(a: ndarray, shape: tuple[int, ...]) -> ndarray:
    return empty_at(a, shape, "int32")


def _check(failed: ndarray, says: str) -> None:
    where_is = _matrices.failure(failed)
    if where_is is not None:
        raise _matrices.LinAlgError(f"{_matrices.of_stack('a', where_is)}: {says}")


def _refuse_singular(a: ndarray, made: ndarray, failed: ndarray) -> None:
    """Matrices with NaN have a result, which is NaN, also if the library says that a pivot is 0."""
    if failed.to_numpy().any():
        without = _has_nan(a)
        _check(where(without, 0, failed), "is singular")
        made[...] = _nan_where(without, made)


def _nan_where(without: ndarray, made: ndarray) -> ndarray:
    """L and U, NaN of matrices with NaN, of which cuSOLVER can make a pivot of 0."""
    return where(without[..., None, None], made.dtype.type(np.nan), made)


def _has_nan(a: ndarray) -> ndarray:
    return any_of(isnan(a), axis=(-2, -1))


def _lu(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """L and U of the transposes, which lines were exchanged (from 1), and where that failed.

    Of ``matrix_transpose(x)`` they are those of ``x``.
    """
    made = _matrices.contiguous(a)
    exchanged, failed = _integers(a, a.shape[:-1]), _integers(a, a.shape[:-2])
    _usmx._Nvidia.lu(made, exchanged, failed)
    return made, exchanged, failed


def solve(a: ndarray, b: ndarray) -> ndarray:
    """``x`` of ``a @ x = b``, of matrices that broadcast, by LU decomposition."""
    n, m = b.shape[-2:]
    shape = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    # Few right sides take the library longer with the transposes of L and U.
    made, exchanged, failed = _lu(matrix_transpose(a))
    _refuse_singular(a, made, failed)
    # The library wants right sides as columns in Fortran's order, which are rows in ours.
    x = empty_at(a, (*shape, m, n), a.dtype, b)
    if not x.size:
        return matrix_transpose(x)
    x[...] = matrix_transpose(b)
    if prod(a.shape[:-2]) != 1 and a.shape[:-2] != shape:
        made = _matrices.contiguous(_usmx.broadcast_to(made, (*shape, n, n)))
        exchanged = _matrices.contiguous(_usmx.broadcast_to(exchanged, (*shape, n)))
    _usmx._Nvidia.solve(made, exchanged, x, False)
    return x.reshape(*shape, n, 1) if m == 1 else _matrices.contiguous(matrix_transpose(x))


def inverse(a: ndarray) -> ndarray:
    made, exchanged, failed = _lu(a)
    _refuse_singular(a, made, failed)
    # Of the transposes, into Fortran's order: two transpositions are none.
    x = _by_kernels.identity(a, a.shape[-1], a.shape[:-2], a.dtype)
    _usmx._Nvidia.solve(made, exchanged, x, False)
    return x


def determinants(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Determinants, their signs, and the logarithms of their absolute values."""
    made, exchanged, failed = _lu(a)
    without = _has_nan(a)
    return _by_kernels.determinants_of(
        _nan_where(without, made), exchanged - 1, _matrices.in_order(where(without, 0, failed))
    )


# --- decompositions ------------------------------------------------------------------------------


def cholesky(a: ndarray) -> ndarray:
    """The lower triangle, of which `a` is the product with its adjoint."""
    turned, failed = _matrices.contiguous(matrix_transpose(a)), _integers(a, a.shape[:-2])
    _usmx._Nvidia.cholesky(turned, failed)
    _check(failed, "is not positive definite")
    return _matrices.contiguous(tril(matrix_transpose(turned)))


def qr(a: ndarray, columns: int, vectors: bool) -> tuple[ndarray | None, ndarray]:
    """Q with so many columns, and R. The signs are those of reflections, as in LAPACK."""
    (m, n), stack = a.shape[-2:], a.shape[:-2]
    least = min(m, n)
    turned = _matrices.contiguous(matrix_transpose(a))
    factors = empty_at(a, (*stack, least))
    _usmx._Nvidia.qr(turned, factors)
    upper = triu(matrix_transpose(turned)[..., :columns, :])
    if not vectors:
        return None, upper
    q = empty_at(a, (*stack, columns, m))
    q[..., :least, :] = turned[..., :least, :]
    _usmx._Nvidia.qr_columns(q, factors)
    return _matrices.contiguous(matrix_transpose(q)), upper


def eigh(a: ndarray, lower: bool, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues of what one of the triangles stands for, and vectors as columns."""
    _matrices.check_finite(tril(a) if lower else triu(a))
    turned = _matrices.contiguous(matrix_transpose(a if lower else _matrices.adjoint(a)))
    values = empty_at(a, a.shape[:-1], _matrices.real_type(a.dtype))
    failed = _integers(a, a.shape[:-2])
    _usmx._Nvidia.eigh(turned, values, failed, vectors)
    _check(failed, "eigenvalues did not converge")
    return values, _matrices.contiguous(matrix_transpose(turned)) if vectors else None


#: Up to so many rows or columns, Jacobi's rotations are faster than QR iterations.
_BY_ROTATIONS = 2048


def _svd_of_wide(a: ndarray, vectors: bool, full: bool) -> _matrices.Singular:
    _matrices.check_finite(a)
    (m, n), stack = a.shape[-2:], a.shape[:-2]
    given = _matrices.contiguous(a)
    values = empty_at(a, (*stack, m), _matrices.real_type(a.dtype))
    u = empty_at(a, (*stack, m, m)) if vectors else None
    vh = empty_at(a, (*stack, n if full else m, n)) if vectors else None
    failed = _integers(a, stack)
    by_rotations = m <= _BY_ROTATIONS
    _usmx._Nvidia.svd(given, values, u, vh, failed, by_rotations)
    if by_rotations and _matrices.failure(failed) is not None:
        by_rotations = False
        given[...] = a
        _usmx._Nvidia.svd(given, values, u, vh, failed, by_rotations)
    _check(failed, "singular values did not converge")
    return (_matrices.adjoint(u) if u is not None and by_rotations else u), values, vh


def svd(a: ndarray, vectors: bool, full: bool) -> _matrices.Singular:
    """Singular vectors and values."""
    if a.shape[-2] <= a.shape[-1]:
        u, s, vh = _svd_of_wide(a, vectors, full)
    else:
        v, s, uh = _svd_of_wide(_matrices.adjoint(a), vectors, full)
        u, vh = (None if x is None else _matrices.adjoint(x) for x in (uh, v))
    return tuple(x if x is None else _matrices.in_order(x) for x in (u, s, vh))  # type: ignore[return-value]


lstsq = _by_kernels.lstsq_by(svd)


# --- transforms ----------------------------------------------------------------------------------


def _half(x: ndarray, axis: int, length: int) -> ndarray:
    """New lines of ``length // 2 + 1`` numbers along the last axis, of a transform that is real."""
    made = _transforms.cut(x, axis, length // 2 + 1, x.dtype)
    made[..., 0] = real(made[..., 0])
    if length % 2 == 0:
        made[..., -1] = real(made[..., -1])
    return made


def transform(kind: str, x: ndarray, length: int, axis: int, norm: str) -> ndarray:
    """``fft``, ``ifft``, ``rfft`` or ``irfft`` of so many numbers along an axis."""
    inverse = kind.startswith("i")
    scale = _transforms.scale(length, norm, inverse)
    own, number = x.dtype, np.dtype(x.dtype.char.upper())
    if kind == "irfft":
        given = _half(x.astype(number, copy=False), axis, length)
        made = empty_at(x, (*given.shape[:-1], length), number.char.lower())
        place, inner = given.ndim - 1, 1
    else:
        dtype = own if kind == "rfft" else number
        inner, outer = prod(x.shape[axis + 1 :]), prod(x.shape[:axis])
        place = axis
        if x.shape[axis] == length and 1 in (inner, outer) and x.flags.c_contiguous:
            given = x.astype(dtype, copy=False)
        else:
            given, place, inner = _transforms.cut(x, axis, length, dtype), x.ndim - 1, 1
        shape = [*given.shape]
        if kind == "rfft":
            shape[place] = length // 2 + 1
        made = empty_at(x, tuple(shape), number)
    if made.size:
        _usmx._Nvidia.transform(given, made, length, inner, inverse)
        if scale != 1:
            made = made * made.dtype.type(scale)  # deferred: what comes next divides on the way
    return made if place == axis else moveaxis(made, place, axis)
