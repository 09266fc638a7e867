"""oneMKL, where it is installed: products, eigenvectors, singular values and transforms.

``pip install usmx[mkl]`` brings it. Kernels of usmx do the same without it, for all types and all
devices; here is what oneMKL does faster. `USMX_ONEMKL=0` in the environment ends its use.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from .. import _usmx
from .._usmx import ndarray
from . import _matrices
from ._common import empty_at

#: Rows of a matrix and numbers of a transform from which on oneMKL is faster on the CPU device. Its
#: call costs 30 us, and decompositions of a stack come one after the other.
LEAST_ROWS = 16
LEAST_LENGTH = 64
#: Multiplications of a product.
_LEAST_PRODUCT = 100**3


@cache
def missing() -> str:
    """Why oneMKL is not used; empty if it is."""
    if os.environ.get("USMX_ONEMKL") == "0":
        return "USMX_ONEMKL=0 is set"
    path = Path(__file__).parents[1] / "lib" / "libusmx_onemkl.so"
    if not path.exists():
        return "usmx was built without oneMKL's headers"
    return _usmx._onemkl_load(str(path))


@cache
def _is_for(device: Any) -> bool:
    """Whether oneMKL has code for the device: it is Intel's."""
    return "Intel" in device.vendor and not missing()


def takes(x: ndarray) -> bool:
    """Whether oneMKL computes with arrays of that type and place."""
    return x.dtype.char in "fdFD" and _is_for(x.device)


def multiplies(x: ndarray, multiplications: int) -> bool:
    """Whether oneMKL is the better way to a product in `x`.

    On the CPU device that is so of complex numbers, 1024 x 1024 complex64 in 56 ms instead of 110;
    of real ones the tiles of usmx take the same time, 15 ms in float32.
    """
    if multiplications < _LEAST_PRODUCT or not takes(x):
        return False
    return x.dtype.kind == "c" or not x.device.is_cpu


def multiply(
    a: ndarray, step_a: int, b: ndarray, step_b: int, made: ndarray, turned: tuple[bool, bool]
) -> None:
    """``made = a @ b`` of contiguous matrices, or of transposes (`turned`) of such."""
    _usmx._onemkl_multiply(a, turned[0], step_a, b, turned[1], step_b, made)


def eigh(a: ndarray, vectors: bool) -> tuple[ndarray, ndarray]:
    """Eigenvalues of contiguous Hermitian matrices, which are lost, and vectors as columns."""
    values = empty_at(a, a.shape[:-1], _matrices.real_type(a.dtype))
    _usmx._onemkl_eigh(a, values, vectors)
    return values, _matrices.adjoint(a)


def svd(a: ndarray, vectors: bool, full: bool) -> tuple[ndarray | None, ndarray, ndarray | None]:
    """Singular values and vectors of contiguous matrices, which are lost."""
    (m, n), stack = a.shape[-2:], a.shape[:-2]
    least = min(m, n)
    values = empty_at(a, (*stack, least), _matrices.real_type(a.dtype))
    u = empty_at(a, (*stack, m, m if full else least)) if vectors else None
    vh = empty_at(a, (*stack, n if full else least, n)) if vectors else None
    _usmx._onemkl_svd(a, values, u, vh, full)
    return u, values, vh


def transform(x: ndarray, inverse: bool, scale: float) -> ndarray:
    """The transform of each line of a contiguous complex array, times a factor."""
    made = empty_at(x, x.shape)
    _usmx._onemkl_transform(x, made, inverse, scale)
    return made
