"""Matrices as arguments of linear algebra: what is one, in which type, and what is refused."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._help import with_link
from .._usmx import ndarray
from ._common import as_array, empty_at


class LinAlgError(np.linalg.LinAlgError):
    """A matrix for which there is no result; also a ValueError and NumPy's error of that name.

    Examples
    --------
    >>> import usmx
    >>> try:
    ...     usmx.linalg.inv(usmx.zeros((2, 2)))
    ... except usmx.linalg.LinAlgError as error:
    ...     print("singular" in str(error).lower())
    True
    """

    def __init__(self, *text: object) -> None:
        super().__init__(*text)
        with_link(self)


LinAlgError.__module__ = "usmx.linalg"  # where users find it, and tracebacks and pickles name it


# --- arguments -----------------------------------------------------------------------------------


def matrices(x: Any, name: str = "a", *, square: bool = False) -> ndarray:
    """An argument as an array of at least two dimensions, of a type that is computed with.

    Raises
    ------
    LinAlgError
        It has fewer dimensions, or its matrices are not square.
    TypeError
        Its numbers are float16 or bfloat16, or it is not an array.
    """
    if isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"{name}: {x!r} ({type(x).__name__}); expected an array")
    a = as_array(x)
    if a.ndim < 2:
        raise LinAlgError(f"{name}: has shape {a.shape}; expected at least two dimensions")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"{name}: has shape {a.shape}; expected square matrices")
    return floating(a, name)


def check_finite(a: ndarray, name: str = "a") -> None:
    """Refuses what has no decomposition: iterations end anywhere with such numbers.

    Raises
    ------
    LinAlgError
        A matrix has elements that are NaN or infinite; the host reads which.
    """
    from .elementwise import isfinite, logical_not
    from .statistics import any as any_of

    where_is = failure(any_of(logical_not(isfinite(a)), axis=(-2, -1)))
    if where_is is not None:
        raise LinAlgError(f"{of_stack(name, where_is)}: has NaN or infinite elements")


def check_finite_elements(a: np.ndarray, name: str = "a") -> None:
    """`check_finite` of elements that the host has."""
    wrong = np.logical_not(np.isfinite(a).all(axis=(-2, -1)))
    if wrong.any():
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise LinAlgError(f"{of_stack(name, index)}: has NaN or infinite elements")


def floating(a: ndarray, name: str = "x") -> ndarray:
    """The array with a type of `float32`, `float64`, `complex64` or `complex128`."""
    if a.dtype.char in ("e", "E"):
        raise TypeError(
            f"{name}: {a.dtype.name} is not supported in linear algebra; use x.astype('float32')"
        )
    return a.astype("float64") if a.dtype.kind in "biu" else a


def contiguous(a: ndarray, dtype: Any = None) -> ndarray:
    """New contiguous memory with the elements."""
    made = empty_at(a, a.shape, dtype)
    made[...] = a
    return made


def in_order(a: ndarray) -> ndarray:
    """The array itself if it is contiguous, else a copy."""
    return a if a.flags.c_contiguous else contiguous(a)


def real_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(dtype.char.lower())


def complex_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(dtype.char.upper())


def epsilon(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps)


def adjoint(a: ndarray) -> ndarray:
    """The conjugate transpose; of real numbers a view."""
    turned = a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))
    return turned.conj() if a.dtype.kind == "c" else turned


Singular = tuple[ndarray | None, ndarray, ndarray | None]


def svd_by_tall(tall: Callable[[ndarray, bool, bool], Singular]) -> Callable[..., Singular]:
    """A function of the table of libraries, made of one for matrices that are not wide."""

    def svd(a: ndarray, vectors: bool, full: bool) -> Singular:
        """Singular vectors and values."""
        if a.shape[-2] >= a.shape[-1]:
            return tall(a, vectors, full)
        u, s, v = tall(adjoint(a), vectors, full)
        if u is None or v is None:
            return None, s, None
        return adjoint(v), s, adjoint(u)

    return svd


def failure(failed: ndarray) -> tuple[int, ...] | None:
    """Which matrix is the first one that failed; read by the host."""
    where = np.flatnonzero(failed.to_numpy().reshape(-1))
    if not where.size:
        return None
    return tuple(int(k) for k in np.unravel_index(where[0], failed.shape)) if failed.ndim else ()


def of_stack(name: str, index: tuple[int, ...]) -> str:
    """How a matrix of a stack is written."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name
