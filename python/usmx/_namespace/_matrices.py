"""Kernels over matrices that stand one after the other; what they compute is in `linalg`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from .. import _usmx
from .._usmx import RawKernel, ndarray
from ._common import as_array, empty_at

_CPP = {
    "f": ("float", "float"),
    "d": ("double", "double"),
    "F": ("usmx::complex<float>", "float"),
    "D": ("usmx::complex<double>", "double"),
}
_WIDTH = 64


class LinAlgError(np.linalg.LinAlgError):
    """A matrix for which there is no result; also a ValueError and NumPy's error of that name."""


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


# --- launches ------------------------------------------------------------------------------------


@cache
def _kernel(call: str, parameters: str, char: str, local: bool) -> RawKernel:
    number, real = _CPP[char]
    name = call.partition("(")[0]
    space = "usmx::local<usmx::linear::workspace<T>> space; " if local else ""
    return RawKernel(
        '#include "usmx/linear_algebra.hpp"\n'
        f"using T = {number};\nusing R = {real};\n"
        f"USMX_KERNEL(1) {name}({parameters.replace('T*', number + '*').replace('R ', real + ' ')})"
        f" {{ {space}usmx::linear::{call}; }}\n",
        name,
        contract=True,
    )


def _launch(
    call: str, parameters: str, first: ndarray, groups: int, items: int, *arguments: Any
) -> None:
    kernel = _kernel(call, parameters, first.dtype.char, "space" in call)
    kernel[groups * items, (items,)](*arguments)


def _launch_each(call: str, parameters: str, first: ndarray, count: int, *arguments: Any) -> None:
    """An item for each of `count`; the kernel leaves out what is beyond."""
    kernel = _kernel(call, parameters, first.dtype.char, False)
    items = 64 if count > 64 else 16
    kernel[-(-count // items) * items, (items,)](*arguments)


def _items(n: int, x: ndarray) -> int:
    """How many items share a matrix with lines of n elements."""
    most = 256 if x.device.is_gpu else _WIDTH
    made = 8
    while made < most and made < n:
        made *= 2
    return made


def _stack(a: ndarray) -> int:
    return prod(a.shape[:-2])


def failure(failed: ndarray) -> tuple[int, ...] | None:
    """Which matrix is the first one that failed; read by the host."""
    where = np.flatnonzero(failed.to_numpy().reshape(-1))
    if not where.size:
        return None
    return tuple(int(k) for k in np.unravel_index(where[0], failed.shape)) if failed.ndim else ()


def of_stack(name: str, index: tuple[int, ...]) -> str:
    """How a matrix of a stack is written."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def lu(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """L and U in one, which rows were exchanged, and where that failed."""
    n = a.shape[-1]
    made = contiguous(a)
    rows = empty_at(a, a.shape[:-1], "int32")
    failed = empty_at(a, a.shape[:-2], "int32")
    if _stack(a):
        _launch(
            "lu(space.get(), a, rows, failed, n)",
            "T* a, int32_t* rows, int32_t* failed, int64_t n",
            made, _stack(a), _items(n, a), made, rows, failed, n,
        )  # fmt: skip
    return made, rows, failed


def solve_with(made: ndarray, rows: ndarray, b: ndarray) -> None:
    """Solves in the place of b, which is contiguous."""
    n, m = b.shape[-2:]
    if not b.size:
        return
    if m < 8:
        _launch(
            "solve_rows(a, rows, b, n, m)",
            "const T* a, const int32_t* rows, T* b, int64_t n, int64_t m",
            made, _stack(made), _items(n, made), made, rows, b, n, m,
        )  # fmt: skip
        return
    width = _items(m, made)
    _launch(
        "solve_columns(a, rows, b, n, m, width)",
        "const T* a, const int32_t* rows, T* b, int64_t n, int64_t m, int64_t width",
        made, _stack(made) * -(-m // width), width, made, rows, b, n, m, width,
    )  # fmt: skip


def determinants(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Determinants, their signs, and the logarithms of their absolute values."""
    made, rows, failed = lu(a)
    shape = a.shape[:-2]
    product, sign = empty_at(a, shape), empty_at(a, shape)
    logarithm = empty_at(a, shape, real_type(a.dtype))
    if _stack(a):
        _launch_each(
            "determinant(a, rows, failed, product, sign, logarithm, n, matrices)",
            "const T* a, const int32_t* rows, const int32_t* failed, T* product, T* sign, "
            "R* logarithm, int64_t n, int64_t matrices",
            made, _stack(a), made, rows, failed, product, sign, logarithm, a.shape[-1], _stack(a),
        )  # fmt: skip
    return product, sign, logarithm


def cholesky(a: ndarray) -> tuple[ndarray, ndarray]:
    n = a.shape[-1]
    made = contiguous(a)
    failed = empty_at(a, a.shape[:-2], "int32")
    if _stack(a):
        _launch(
            "cholesky(a, failed, n)", "T* a, int32_t* failed, int64_t n",
            made, _stack(a), _items(n, a), made, failed, n,
        )  # fmt: skip
    return made, failed


def qr(a: ndarray) -> tuple[ndarray, ndarray]:
    """R with the vectors of reflections below it, and their factors."""
    m, n = a.shape[-2:]
    made = contiguous(a)
    factors = empty_at(a, (*a.shape[:-2], min(m, n)))
    if factors.size:
        _launch(
            "qr(space.get(), a, factors, m, n)", "T* a, T* factors, int64_t m, int64_t n",
            made, _stack(a), _items(max(m, n), a), made, factors, m, n,
        )  # fmt: skip
    return made, factors


def reflections(made: ndarray, factors: ndarray, columns: int) -> ndarray:
    """The first columns of Q."""
    m, n = made.shape[-2:]
    q = empty_at(made, (*made.shape[:-2], m, columns))
    if q.size:
        width = _items(columns, made)
        _launch(
            "reflections(a, factors, q, m, n, columns, width)",
            "const T* a, const T* factors, T* q, int64_t m, int64_t n, int64_t columns, "
            "int64_t width",
            made, _stack(made) * -(-columns // width), width,
            made, factors, q, m, n, columns, width,
        )  # fmt: skip
    return q


#: More sweeps than any matrix was seen to need; the error is that of the last one.
_SWEEPS = 40


def orthogonal_columns(a: ndarray) -> tuple[ndarray, ndarray]:
    """``a @ v`` and unitary `v` such that its columns are orthogonal, both transposed.

    Raises
    ------
    LinAlgError
        That was not reached.
    """
    m, n = a.shape[-2:]
    stack = _stack(a)
    x = contiguous(a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)))
    v = _usmx.zeros((*a.shape[:-2], n, n), a.dtype, usm_type=x.usm_type, queue=x.queue)
    diagonal = v.reshape(stack, n * n)[:, :: n + 1] if stack and n else v
    diagonal[...] = 1
    if not a.size or n == 1:
        return x, v
    pairs = -(-n // 2)
    turned = empty_at(a, stack * pairs, "int32")
    tolerance = epsilon(a.dtype) * max(8.0, m**0.5)
    for _ in range(_SWEEPS):
        turned[...] = 0
        for step in range(n - 1 + n % 2):
            _launch(
                "jacobi(space.get(), x, v, turned, m, n, step, tolerance)",
                "T* x, T* v, int32_t* turned, int64_t m, int64_t n, int64_t step, R tolerance",
                x, stack * pairs, _items(m, a), x, v, turned, m, n, step, tolerance,
            )  # fmt: skip
        if not int(turned.max().item()):
            return x, v
    raise LinAlgError(f"a: the singular values of shape {a.shape} did not converge")


def places(values: ndarray) -> ndarray:
    """Where each number stands in its row, the largest first, as an index into all of them."""
    values = in_order(values)
    made = empty_at(values, values.shape, "int64")
    if values.size:
        _launch_each(
            "places(values, place, n, count)",
            "const R* values, int64_t* place, int64_t n, int64_t count",
            values, values.size, values, made, values.shape[-1], values.size,
        )  # fmt: skip
    return made


def arranged(rows: ndarray, place: ndarray) -> ndarray:
    """The rows (the last axis but one; or the elements of rows) at their places."""
    made = empty_at(rows, rows.shape)
    if rows.size:
        flat = place.reshape(-1)
        made.reshape(flat.size, -1)[flat] = rows.reshape(flat.size, -1)
    return made


def schur(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Complex triangular matrices, the unitary ones, and where it failed."""
    n = a.shape[-1]
    dtype = complex_type(a.dtype)
    made = contiguous(a, dtype)
    z = empty_at(a, a.shape, dtype)
    failed = empty_at(a, a.shape[:-2], "int32")
    if _stack(a):
        _launch(
            "schur(a, z, failed, n, epsilon)",
            "T* a, T* z, int32_t* failed, int64_t n, R epsilon",
            made, _stack(a), _items(n, a), made, z, failed, n, epsilon(dtype),
        )  # fmt: skip
    return made, z, failed


def triangular_vectors(made: ndarray) -> ndarray:
    n = made.shape[-1]
    x = empty_at(made, made.shape)
    if x.size:
        _launch_each(
            "triangular_vectors(a, x, n, count, epsilon)",
            "const T* a, T* x, int64_t n, int64_t count, R epsilon",
            made, _stack(made) * n, made, x, n, _stack(made) * n, epsilon(made.dtype),
        )  # fmt: skip
    return x
