"""Matrices and transforms by kernels of usmx, for all devices.

What the kernels do is in `kernels/linear_algebra.hpp`; matrices stand one after the other in
contiguous memory. The functions of the table of `_libraries` come last.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, prod
from typing import Any

from .. import _usmx
from .._usmx import RawKernel, ndarray
from . import statistics
from ._common import empty_at, kind_of
from ._matrices import (
    LinAlgError,
    Singular,
    adjoint,
    check_finite,
    complex_type,
    contiguous,
    epsilon,
    failure,
    in_order,
    of_stack,
    real_type,
    svd_by_tall,
)
from .elementwise import imag, real, sqrt, where
from .linear_algebra import diagonals, matmul, matrix_transpose
from .manipulation import broadcast_shapes, stack

_CPP = {
    "f": ("float", "float"),
    "d": ("double", "double"),
    "F": ("usmx::complex<float>", "float"),
    "D": ("usmx::complex<double>", "double"),
}
_WIDTH = 64


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
    return determinants_of(*lu(a))


def determinants_of(
    made: ndarray, rows: ndarray, failed: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """`determinants` of what `lu` made; also of L and U of the transposes."""
    shape = made.shape[:-2]
    product, sign = empty_at(made, shape), empty_at(made, shape)
    logarithm = empty_at(made, shape, real_type(made.dtype))
    if _stack(made):
        _launch_each(
            "determinant(a, rows, failed, product, sign, logarithm, n, matrices)",
            "const T* a, const int32_t* rows, const int32_t* failed, T* product, T* sign, "
            "R* logarithm, int64_t n, int64_t matrices",
            made, _stack(made), made, rows, failed, product, sign, logarithm, made.shape[-1],
            _stack(made),
        )  # fmt: skip
    return product, sign, logarithm


def _factor(a: ndarray) -> tuple[ndarray, ndarray]:
    n = a.shape[-1]
    made = contiguous(a)
    failed = empty_at(a, a.shape[:-2], "int32")
    if _stack(a):
        _launch(
            "cholesky(a, failed, n)", "T* a, int32_t* failed, int64_t n",
            made, _stack(a), _items(n, a), made, failed, n,
        )  # fmt: skip
    return made, failed


def _reflected(a: ndarray) -> tuple[ndarray, ndarray]:
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
    v = _usmx.zeros((*a.shape[:-2], n, n), a.dtype, usm_type=kind_of(x), queue=x.queue)
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


# --- the functions of the table ------------------------------------------------------------------


def takes(_: ndarray, _function: str) -> bool:
    return True


def _regular(failed: ndarray, says: str) -> None:
    where_is = failure(failed)
    if where_is is not None:
        raise LinAlgError(f"{of_stack('a', where_is)}: {says}")


def solve(a: ndarray, b: ndarray) -> ndarray:
    """``x`` of ``a @ x = b``, of matrices that broadcast, by LU decomposition."""
    n = a.shape[-1]
    shape = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    made, rows, failed = lu(a)
    _regular(failed, "is singular")
    x = empty_at(a, (*shape, *b.shape[-2:]), a.dtype, b)
    x[...] = b
    if a.shape[:-2] != shape:
        made = contiguous(_usmx.broadcast_to(made, (*shape, n, n)))
        rows = contiguous(_usmx.broadcast_to(rows, (*shape, n)))
    solve_with(made, rows, x)
    return x


def identity(like: ndarray, n: int, shape: tuple[int, ...], dtype: Any) -> ndarray:
    made = _usmx.zeros((*shape, n * n), dtype, usm_type=kind_of(like), queue=like.queue)
    if n:
        made[..., :: n + 1] = 1
    return made.reshape((*shape, n, n))


def inverse(a: ndarray) -> ndarray:
    made, rows, failed = lu(a)
    _regular(failed, "is singular")
    b = identity(a, a.shape[-1], a.shape[:-2], a.dtype)
    solve_with(made, rows, b)
    return b


def cholesky(a: ndarray) -> ndarray:
    """The lower triangle, of which `a` is the product with its adjoint."""
    made, failed = _factor(a)
    _regular(failed, "is not positive definite")
    return made


def _upper(a: ndarray) -> ndarray:
    from .creation import triu

    return triu(a)


def qr(a: ndarray, columns: int, vectors: bool) -> tuple[ndarray | None, ndarray]:
    """Q with so many columns, and R. The signs are those of reflections, as in LAPACK."""
    made, factors = _reflected(a)
    upper = _upper(made[..., :columns, :])
    return (reflections(made, factors, columns) if vectors else None), upper


def _scaled(a: ndarray) -> tuple[ndarray, ndarray]:
    """The matrices divided by their largest elements, and those (1 for 0 and for infinities)."""
    largest = _largest(a)
    usable = (largest > 0) & (largest < inf)
    factor = where(usable, largest, _usmx.ones_like(largest))
    return a / factor, factor[..., 0]


def _largest(a: ndarray) -> ndarray:
    size = abs(a)
    if a.dtype.kind == "c":
        size = statistics.max(_stacked_parts(a), axis=-1)
    return statistics.max(size, axis=(-2, -1), keepdims=True)


def _stacked_parts(a: ndarray) -> ndarray:
    return stack((abs(real(a)), abs(imag(a))), axis=-1)


def _svd_of_tall(a: ndarray, vectors: bool, full: bool) -> Singular:
    """By turning columns until they are orthogonal."""
    m, n = a.shape[-2:]
    if not a.size:
        s = empty_at(a, (*a.shape[:-2], n), real_type(a.dtype))
        if not vectors:
            return None, s, None
        left = identity(a, m, a.shape[:-2], a.dtype)[..., : m if full else n]
        return left, s, identity(a, n, a.shape[:-2], a.dtype)
    check_finite(a)
    scaled, factor = _scaled(a)
    x, v = orthogonal_columns(scaled)
    s = _lengths(x)
    place = places(s)
    s = arranged(s, place) * factor
    if not vectors:
        return None, s, None
    x, v = arranged(x, place), arranged(v, place)
    # Columns for singular values of 0 have no direction; reflections find one.
    made, factors = _reflected(matrix_transpose(x))
    u = reflections(made, factors, m if full else n)
    on_diagonal = diagonals(made)
    sign = on_diagonal / abs(on_diagonal)
    sign = where(on_diagonal == 0, _usmx.ones_like(sign), sign)
    u[..., :n] = u[..., :n] * sign[..., None, :]
    vh = v.conj() if v.dtype.kind == "c" else v
    return u, s, vh


svd = svd_by_tall(_svd_of_tall)


def _lengths(x: ndarray) -> ndarray:
    """The lengths of rows, of elements that are not too large."""
    return sqrt(statistics.sum(_squares(x), axis=-1))


def _squares(x: ndarray) -> ndarray:
    """The squares of absolute values."""
    if x.dtype.kind != "c":
        return x * x
    re, im = real(x), imag(x)
    return re * re + im * im


def _triangle(a: ndarray, lower: bool, without: int = 0) -> ndarray:
    """One of the triangles, without so many diagonals from the main one on; the rest is 0."""
    from .creation import tril, triu

    return tril(a, k=-without) if lower else triu(a, k=without)


def _hermitian(a: ndarray, lower: bool) -> ndarray:
    """The matrices that one of the triangles stands for."""
    half = _triangle(a, lower, 1)
    made = contiguous(half + adjoint(half))
    own = diagonals(a)
    diagonals(made)[...] = real(own) if a.dtype.kind == "c" else own
    return made


def eigh(a: ndarray, lower: bool, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues of what one of the triangles stands for, and vectors as columns."""
    if not a.size:
        return empty_at(a, a.shape[:-1], real_type(a.dtype)), empty_at(a, a.shape)
    check_finite(_triangle(a, lower))
    scaled, factor = _scaled(_hermitian(a, lower))
    # Moved so that no eigenvalue is negative, right singular vectors are eigenvectors.
    shift = statistics.max(statistics.sum(abs(scaled), axis=-1), axis=-1)
    moved = contiguous(scaled)
    diagonals(moved)[...] = diagonals(scaled) + shift[..., None]
    _, v = orthogonal_columns(moved)
    columns = matrix_transpose(v)
    product = (v.conj() if v.dtype.kind == "c" else v) * matrix_transpose(matmul(scaled, columns))
    values = statistics.sum(real(product) if product.dtype.kind == "c" else product, axis=-1)
    place = places(-values)
    values = arranged(in_order(values), place) * factor
    return values, matrix_transpose(arranged(v, place))


def eig(a: ndarray, vectors: bool) -> tuple[ndarray, ndarray | None]:
    """Eigenvalues and vectors as columns, both complex, by Schur's decomposition."""
    check_finite(a)
    made, z, failed = schur(a)
    _regular(failed, "eigenvalues did not converge")
    values = contiguous(diagonals(made))
    if not vectors:
        return values, None
    columns = matmul(z, triangular_vectors(made))
    if columns.size:
        largest = _largest_of_columns(columns)
        columns = columns / largest
        columns = columns / _lengths(matrix_transpose(columns))[..., None, :]
    return values, columns


def _largest_of_columns(a: ndarray) -> ndarray:
    return statistics.max(abs(a), axis=-2, keepdims=True)


def lstsq_by(svd: Callable[..., Singular]) -> Callable[..., Any]:
    """A function of the table of libraries, made of the one for singular vectors."""

    def lstsq(a: ndarray, b: ndarray, rcond: Any) -> tuple[ndarray, ndarray, ndarray, ndarray]:
        """The solution, residuals, the rank, and singular values."""
        u, s, vh = svd(a, True, False)
        assert u is not None
        assert vh is not None
        least = max(a.shape) * epsilon(a.dtype) if rcond is None else rcond
        kept = s > (statistics.max(s, initial=0) * least)
        one = _usmx.ones_like(s)
        inverse = where(kept, one / where(kept, s, one), _usmx.zeros_like(s))
        solution = matmul(adjoint(vh) * inverse[None, :], matmul(adjoint(u), b))
        rank = statistics.sum(kept.astype("int32"), dtype="int32")
        m, n = a.shape
        if m > n and int(rank.item()) == n:
            residuals = statistics.sum(abs(b - matmul(a, solution)) ** 2, axis=0).reshape(-1)
        else:
            residuals = empty_at(a, 0, real_type(a.dtype))
        return solution, residuals, rank, s

    return lstsq


lstsq = lstsq_by(svd)
transform = _usmx._transform


def product(_a: ndarray, _b: ndarray, _made: ndarray) -> bool:
    """False: what asks for the row launches the kernel itself (`src/algorithm/matmul.cpp`)."""
    return False
