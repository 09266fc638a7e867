"""oneMKL, where it is installed: products, eigenvectors, singular values and transforms.

``pip install usmx[mkl]`` brings it; its row in the table of `_libraries` says where it is used.
`USMX_ONEMKL=0` in the environment ends its use.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from .. import _usmx
from .._usmx import ndarray
from . import _matrices
from ._common import empty_at
from .creation import tril, triu
from .linear_algebra import matrix_transpose


@cache
def missing() -> str:
    """Why oneMKL is not used; empty if it is."""
    if os.environ.get("USMX_ONEMKL") == "0":
        return "USMX_ONEMKL=0 is set"
    path = Path(__file__).parents[1] / "lib" / "libusmx_onemkl.so"
    if not path.exists():
        return "usmx was built without oneMKL's headers"
    return _usmx._OneMKL.load(str(path))


@cache
def _is_for(device: Any) -> bool:
    """Whether oneMKL has code for the device: it is Intel's."""
    return "Intel" in device.vendor and not missing()


def takes(x: ndarray, _function: str) -> bool:
    """Whether oneMKL computes with arrays of that type and place."""
    return x.dtype.char in "fdFD" and _is_for(x.device)


def product(a: ndarray, b: ndarray, made: ndarray) -> None:
    """``made = a @ b`` of matrices that broadcast; transposes are read where they are."""
    shape, dtype = made.shape[:-2], made.dtype
    turned = [x.dtype == dtype and _is_turned(x) for x in (a, b)]
    (left, step_a), (right, step_b) = (
        _stacked(matrix_transpose(x) if is_turned else x, shape, dtype)
        for x, is_turned in zip((a, b), turned, strict=True)
    )
    _usmx._OneMKL.multiply(left, turned[0], step_a, right, turned[1], step_b, made)


def _stacked(x: ndarray, shape: tuple[int, ...], dtype: Any) -> tuple[ndarray, int]:
    """Contiguous matrices of a type, and the distance between them: 0 if there is one for all."""
    is_one = prod(x.shape[:-2]) == 1
    if not is_one and x.shape[:-2] != shape:
        x = _usmx.broadcast_to(x, (*shape, *x.shape[-2:]))
    if x.dtype != dtype or not x.flags.c_contiguous:
        x = _matrices.contiguous(x, dtype)
    return x, 0 if is_one else x.shape[-2] * x.shape[-1]


def _is_turned(x: ndarray) -> bool:
    return not x.flags.c_contiguous and bool(matrix_transpose(x).flags.c_contiguous)


def eigh(a: ndarray, lower: bool, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues of what one of the triangles stands for, and vectors as columns."""
    side = tril(a) if lower else triu(a)
    _matrices.check_finite(side)
    given = _matrices.contiguous(a if lower else _matrices.adjoint(a))
    values = empty_at(a, a.shape[:-1], _matrices.real_type(a.dtype))
    _usmx._OneMKL.eigh(given, values, vectors)
    return values, _matrices.adjoint(given) if vectors else None


def _svd_of_tall(a: ndarray, vectors: bool, full: bool) -> _matrices.Singular:
    _matrices.check_finite(a)
    (m, n), stack = a.shape[-2:], a.shape[:-2]
    given = _matrices.contiguous(a)
    values = empty_at(a, (*stack, n), _matrices.real_type(a.dtype))
    u = empty_at(a, (*stack, m, m if full else n)) if vectors else None
    vh = empty_at(a, (*stack, n, n)) if vectors else None
    _usmx._OneMKL.svd(given, values, u, vh, full)
    return u, values, vh


svd = _matrices.svd_by_tall(_svd_of_tall)


transform = _usmx._OneMKL.transform
