"""Linear algebra: the extension of that name of the Array API standard.

Matrices are the last two axes, so stacks of them are computed together. Who computes them on which
device is the table in `_namespace/_libraries.py`; `use_library` chooses.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _explained, _usmx
from ._namespace import _libraries, _matrices, find, statistics
from ._namespace._common import as_arrays, kind_of, to_axes
from ._namespace._joint import joint
from ._namespace._libraries import use_library
from ._namespace._matrices import LinAlgError
from ._namespace.data_types import result_type
from ._namespace.elementwise import imag, isnan, real, sqrt, where
from ._namespace.linear_algebra import (
    cross_products,
    diagonals,
    matmul,
    matrix_transpose,
    outer,
    tensordot,
    vecdot,
    written_alike,
)
from ._namespace.manipulation import broadcast_shapes, moveaxis

if TYPE_CHECKING:
    from ._usmx import ndarray

__all__ = [
    "EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult", "cholesky",
    "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm",
    "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv",
    "tensorsolve", "trace",
    "use_library", "vecdot", "vector_norm",
]  # fmt: skip


class EighResult(NamedTuple):
    """Eigenvalues of Hermitian matrices, ascending, and their vectors as columns.

    Attributes
    ----------
    eigenvalues : ndarray
        Shape (..., n), real and ascending.
    eigenvectors : ndarray
        Shape (..., n, n): column k belongs to eigenvalue k.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.linalg.eigh(usmx.eye(2))
    >>> print(found.eigenvalues)
    [1., 1.]
    """

    eigenvalues: ndarray
    eigenvectors: ndarray


class EigResult(NamedTuple):
    """Eigenvalues and their vectors as columns, complex.

    Attributes
    ----------
    eigenvalues : ndarray
        Shape (..., n), in any order.
    eigenvectors : ndarray
        Shape (..., n, n): column k belongs to eigenvalue k.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.linalg.eig(usmx.eye(2))
    >>> print(found.eigenvalues.real)
    [1., 1.]
    """

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """A matrix with orthonormal columns and an upper triangular one.

    Attributes
    ----------
    Q : ndarray
        The columns are orthonormal.
    R : ndarray
        Zero below the main diagonal; ``Q @ R`` is the matrix.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.linalg.qr(usmx.eye(2))
    >>> found.Q.shape, found.R.shape
    ((2, 2), (2, 2))
    """

    Q: ndarray
    R: ndarray


class SlogdetResult(NamedTuple):
    """The sign of determinants and the logarithm of their absolute values.

    Attributes
    ----------
    sign : ndarray
        Of absolute value 1; 0 of singular matrices.
    logabsdet : ndarray
        Real; minus infinity of singular matrices.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.linalg.slogdet(usmx.eye(2))
    >>> found.sign.item(), found.logabsdet.item()
    (1.0, 0.0)
    """

    sign: ndarray
    logabsdet: ndarray


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows.

    Attributes
    ----------
    U : ndarray
        Shape (..., m, k); the columns are orthonormal.
    S : ndarray
        Shape (..., k), descending, none negative.
    Vh : ndarray
        Shape (..., k, n); the rows are orthonormal. ``(U * S[..., None, :]) @ Vh`` is the matrix.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.linalg.svd(usmx.eye(2))
    >>> print(found.S)
    [1., 1.]
    """

    U: ndarray
    S: ndarray
    Vh: ndarray


# --- systems of equations ------------------------------------------------------------------------


def solve(a: ndarray, b: ndarray) -> ndarray:
    """Solve ``x1 @ x = x2`` by LU decomposition with exchanged rows.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).
    b : array
        Of shape (n,), which is a vector for each matrix, or (..., n, m). The axes before broadcast.

    Returns
    -------
    ndarray
        Of shape (..., n) for a vector, otherwise (..., n, m).

    Raises
    ------
    LinAlgError
        A matrix is singular, or the shapes do not match.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.solve(usmx.asarray([[2.0, 0.0], [0.0, 4.0]]), usmx.asarray([2.0, 8.0])))
    [1., 2.]
    """
    a, b = as_arrays((a, b))
    a = _matrices.matrices(a, "a", square=True)
    b = _matrices.floating(b, "b")
    if b.ndim == 0:
        raise LinAlgError("b: has no dimensions; expected at least one")
    is_vector = b.ndim == 1
    right = b[:, None] if is_vector else b
    n = a.shape[-1]
    if right.shape[-2] != n:
        raise LinAlgError(f"b: has shape {b.shape}; expected {n} rows, because a has {a.shape}")
    dtype = result_type(a, b)
    broadcast_shapes(a.shape[:-2], right.shape[:-2])
    a, right = a.astype(dtype, copy=False), right.astype(dtype, copy=False)
    x: ndarray = _libraries.of("solve", a, n).solve(a, right)
    return x[..., 0] if is_vector else x


def inv(a: ndarray) -> ndarray:
    """Invert square matrices.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).

    Returns
    -------
    ndarray
        Of the shape of `a`.

    Raises
    ------
    LinAlgError
        A matrix is not square, or singular.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.inv(usmx.asarray([[2.0, 0.0], [0.0, 4.0]])))
    [[ 0.5,   0.],
     [  0., 0.25]]
    """
    a = _matrices.matrices(a, square=True)
    made: ndarray = _libraries.of("inverse", a, a.shape[-1]).inverse(a)
    return made


def tensorsolve(a: ndarray, b: ndarray, axes: Any = None) -> ndarray:
    """Solve ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    a : array
        Of shape ``b.shape + shape of x``, with as many elements in the one as in the other.
    b : array
        The right side.
    axes : sequence of int, optional
        Axes of `a` that are moved to its end before.

    Returns
    -------
    ndarray
        ``x``.

    Raises
    ------
    LinAlgError
        The shapes do not match, or there is no single solution.

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.tensorsolve(usmx.eye(6).reshape(6, 2, 3), usmx.ones(6)).shape
    (2, 3)
    """
    a, b = as_arrays((a, b))
    if axes is not None:
        named = [axis % max(a.ndim, 1) for axis in axes]
        a = a.permute([*(k for k in range(a.ndim) if k not in named), *named])
    shape = a.shape[b.ndim :]
    if prod(shape) ** 2 != a.size or prod(shape) != b.size:
        raise LinAlgError(
            f"a: has shape {a.shape}; expected that of b, {b.shape}, and as many elements again"
        )
    return solve(a.reshape(b.size, b.size), b.reshape(-1)).reshape(shape)


def tensorinv(a: ndarray, ind: int = 2) -> ndarray:
    """The inverse of the map that ``tensordot(a, x)`` is.

    Parameters
    ----------
    a : array
        Its first `ind` axes have as many elements as the others.
    ind : int
        How many axes come from the result.

    Returns
    -------
    ndarray
        Of shape ``a.shape[ind:] + a.shape[:ind]``.

    Raises
    ------
    LinAlgError
        The shape does not match, or there is no inverse.
    ValueError
        `ind` is less than 1.

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.tensorinv(usmx.eye(6).reshape(2, 3, 6), ind=2).shape
    (6, 2, 3)
    """
    (a,) = as_arrays((a,))
    if ind <= 0:
        raise ValueError(f"ind: {ind}; expected at least 1")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if prod(rows) != prod(columns):
        raise LinAlgError(f"a: has shape {a.shape}; expected as many elements on both sides of ind")
    return inv(a.reshape(prod(rows), prod(columns))).reshape(*columns, *rows)


def _determinants(x: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    a = _matrices.matrices(x, square=True)
    made: tuple[ndarray, ndarray, ndarray] = _libraries.of(
        "determinants", a, a.shape[-1]
    ).determinants(a)
    return made


def det(a: ndarray) -> ndarray:
    """Compute determinants of square matrices.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).

    Returns
    -------
    ndarray
        Of shape (...).

    Raises
    ------
    LinAlgError
        The matrices are not square.

    Examples
    --------
    >>> import usmx
    >>> round(usmx.linalg.det(usmx.asarray([[1.0, 2.0], [3.0, 4.0]])).item(), 6)
    -2.0
    """
    return _determinants(a)[0]


def slogdet(a: ndarray) -> SlogdetResult:
    """Compute signs and logarithms of determinants, which may be too large or small themselves.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).

    Returns
    -------
    SlogdetResult
        ``sign``, a number of length one or 0, and ``logabsdet``; 0 and ``-inf`` if singular.

    Raises
    ------
    LinAlgError
        The matrices are not square.

    Examples
    --------
    >>> import usmx
    >>> sign, log = usmx.linalg.slogdet(usmx.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.item(), log.item()
    (-1.0, 0.0)
    """
    _, sign, logarithm = _determinants(a)
    return SlogdetResult(sign, logarithm)


def cholesky(a: ndarray, *, upper: bool = False) -> ndarray:
    """Write Hermitian positive definite matrices as ``L @ L^H``, or as ``U^H @ U``.

    Parameters
    ----------
    a : array
        Square matrices; only the lower triangles are read, with `upper` only the upper ones.
    upper : bool, optional
        Whether to give U.

    Returns
    -------
    ndarray
        L, with `upper` U; of the shape of `a`.

    Raises
    ------
    LinAlgError
        A matrix is not square, or not positive definite.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.cholesky(usmx.asarray([[4.0, 2.0], [2.0, 5.0]])))
    [[2., 0.],
     [1., 2.]]
    """
    a = _matrices.matrices(a, square=True)
    given = _matrices.adjoint(a) if upper else a
    made: ndarray = _libraries.of("cholesky", a, a.shape[-1]).cholesky(given)
    return _matrices.in_order(_matrices.adjoint(made)) if upper else made


def qr(a: ndarray, mode: Literal["reduced", "complete"] | str = "reduced") -> QRResult | Any:
    """Write matrices as products of orthonormal columns and upper triangular matrices.

    Parameters
    ----------
    a : array
        Of shape (..., m, n).
    mode : {"reduced", "complete", "r"}, optional
        Whether Q has min(m, n) or m columns. ``"r"`` gives only R of the reduced form.

    Returns
    -------
    QRResult
        ``Q`` and ``R``. The signs are those of reflections, as in LAPACK.

    Raises
    ------
    ValueError
        Another mode, or fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> a = usmx.asarray([[3.0, 1.0], [4.0, 2.0]])
    >>> q, r = usmx.linalg.qr(a)
    >>> usmx.allclose(q @ r, a)
    True
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode: {mode!r}; expected 'reduced', 'complete' or 'r'")
    a = _matrices.matrices(a)
    m, n = a.shape[-2:]
    columns = m if mode == "complete" else min(m, n)
    q, r = _libraries.of("qr", a, n).qr(a, columns, mode != "r")
    return r if q is None else QRResult(q, r)


# --- singular values -----------------------------------------------------------------------------


def _svd(a: ndarray, vectors: bool, full: bool) -> tuple[ndarray | None, ndarray, ndarray | None]:
    made: tuple[ndarray | None, ndarray, ndarray | None] = _libraries.of(
        "svd", a, min(a.shape[-2:])
    ).svd(a, vectors, full)
    return made


def _squares(x: ndarray) -> ndarray:
    """The squares of absolute values."""
    if x.dtype.kind != "c":
        return x * x
    re, im = real(x), imag(x)
    return re * re + im * im


def svd(
    a: ndarray,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> SVDResult | Any:
    """Write matrices as ``(U * S) @ Vh``.

    Parameters
    ----------
    a : array
        Of shape (..., m, n).
    full_matrices : bool, optional
        Whether U is (m, m) and Vh (n, n), or only what belongs to the min(m, n) singular values.
    compute_uv : bool, optional
        If False, only the singular values are computed and returned, as by `svdvals`.
    hermitian : bool, optional
        For callers of NumPy's function; the result does not depend on it.

    Returns
    -------
    SVDResult
        ``U``, ``S`` and ``Vh``; singular values descend.

    Raises
    ------
    LinAlgError
        Fewer than two dimensions, NaN or infinite elements, or no convergence.

    Examples
    --------
    >>> import usmx
    >>> a = usmx.asarray([[3.0, 0.0], [0.0, 4.0]])
    >>> u, s, vh = usmx.linalg.svd(a)
    >>> print(s.round(6))
    [4., 3.]
    >>> usmx.allclose(u * s @ vh, a)
    True
    """
    a = _matrices.matrices(a, square=hermitian)
    u, s, vh = _svd(a, compute_uv, full_matrices)
    return SVDResult(u, s, vh) if u is not None and vh is not None else s


def svdvals(x: ndarray) -> ndarray:
    """Compute singular values, in descending order.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).

    Returns
    -------
    ndarray
        Real, of shape (..., min(m, n)).

    Raises
    ------
    LinAlgError
        As in `svd`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.svdvals(usmx.asarray([[3.0, 0.0], [0.0, 4.0]])).round(6))
    [4., 3.]
    """
    return _svd(_matrices.matrices(x, "x"), False, False)[1]


def _tolerance(a: ndarray, rtol: Any) -> Any:
    if rtol is None:
        return max(a.shape[-2:]) * _matrices.epsilon(a.dtype)
    if isinstance(rtol, (int, float)):
        return rtol
    (array,) = as_arrays((rtol,))
    return array[..., None] if array.ndim else array


def matrix_rank(
    A: ndarray, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> ndarray:
    """Count the singular values that are not nearly 0.

    Parameters
    ----------
    A : array
        Of shape (..., m, n); of less than two dimensions the rank is 1 unless all elements are 0.
    rtol : float or array, optional
        Of what part of the largest singular value they are larger: by default ``max(m, n)`` times
        the machine epsilon.
    tol : float or array, optional
        In place of `rtol`, how large they are themselves.
    hermitian : bool, optional
        As NumPy's; the result is the same.

    Returns
    -------
    ndarray
        Of int64 and of shape (...).

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.matrix_rank(usmx.asarray([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    (a,) = as_arrays((A,))
    if a.ndim < 2:
        return statistics.any(a).astype("int64")
    a = _matrices.matrices(a, square=hermitian)
    s = svdvals(a)
    if tol is not None:
        bound = tol if isinstance(tol, (int, float)) else as_arrays((tol,))[0][..., None]
    elif s.shape[-1] == 0:
        bound = 0.0
    else:
        bound = statistics.max(s, axis=-1, keepdims=True) * _tolerance(a, rtol)
    return statistics.sum((s > bound).astype("int64"), axis=-1)


def pinv(a: ndarray, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """Compute pseudo-inverses (Moore-Penrose) of shape (..., n, m).

    Parameters
    ----------
    a : array
        Of shape (..., m, n).
    rtol, rcond : float or array, optional
        Singular values that are not larger than this part of the largest one count as 0: by
        default ``max(m, n)`` times the machine epsilon.
    hermitian : bool, optional
        As NumPy's; the result is the same.

    Returns
    -------
    ndarray
        Of shape (..., n, m).

    Raises
    ------
    ValueError
        Both `rtol` and `rcond`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.pinv(usmx.asarray([[2.0, 0.0], [0.0, 4.0]])).round(6))
    [[ 0.5,   0.],
     [  0., 0.25]]
    """
    if rcond is not None and rtol is not None:
        raise ValueError("rtol, rcond: both are given; expected one of them")
    a = _matrices.matrices(a, square=hermitian)
    u, s, vh = svd(a, full_matrices=False)
    if not a.size:
        return _usmx.zeros(
            (*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype, usm_type=kind_of(a), queue=a.queue
        )
    bound = statistics.max(s, axis=-1, keepdims=True) * _tolerance(
        a, rcond if rtol is None else rtol
    )
    one = _usmx.ones_like(s)
    inverse = where(s > bound, one / where(s > bound, s, one), _usmx.zeros_like(s))
    return matmul(_matrices.adjoint(vh) * inverse[..., None, :], _matrices.adjoint(u))


def lstsq(a: ndarray, b: ndarray, rcond: Any = None) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Solve equations as well as possible: ``x`` of the least ``norm(b - a @ x)``.

    Parameters
    ----------
    a : array
        A matrix of shape (m, n).
    b : array
        Of shape (m,) or (m, k).
    rcond : float, optional
        As in `pinv`.

    Returns
    -------
    tuple
        The solution, the sums of squared residuals (empty if the rank is less than n or m <= n),
        the rank, and the singular values.

    Raises
    ------
    LinAlgError
        The shapes do not match, or there is no convergence.

    Examples
    --------
    >>> import usmx
    >>> a = usmx.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x = usmx.linalg.lstsq(a, usmx.asarray([1.0, 3.0, 5.0]))[0]
    >>> print(x.round(6))
    [1., 2.]
    """
    left, right = as_arrays((a, b))
    left, right = _matrices.matrices(left, "a"), _matrices.floating(right, "b")
    if left.ndim != 2 or right.ndim not in (1, 2) or right.shape[0] != left.shape[0]:
        raise LinAlgError(
            f"a: has shape {left.shape}, b has {right.shape}; expected (m, n) and (m,) or (m, k)"
        )
    dtype = result_type(left, right)
    left, right = left.astype(dtype, copy=False), right.astype(dtype, copy=False)
    made: tuple[ndarray, ndarray, ndarray, ndarray] = _libraries.of(
        "lstsq", left, min(left.shape)
    ).lstsq(left, right, rcond)
    return made


# --- eigenvalues ---------------------------------------------------------------------------------


def _eigh(x: ndarray, side: str, vectors: bool = True) -> tuple[ndarray, ndarray]:
    a = _matrices.matrices(x, square=True)
    if side.upper() not in ("L", "U"):
        raise ValueError(f"UPLO: {side!r}; expected 'L' or 'U'")
    made: tuple[ndarray, ndarray] = _libraries.of("eigh", a, a.shape[-1]).eigh(
        a, side.upper() == "L", vectors
    )
    return made


def eigh(a: ndarray, UPLO: str = "L") -> EighResult:
    """Compute eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array
        Square matrices, of which one triangle is read.
    UPLO : {"L", "U"}, optional
        The lower or the upper one.

    Returns
    -------
    EighResult
        ``eigenvalues``, real and ascending, and ``eigenvectors``, orthonormal columns.

    Raises
    ------
    LinAlgError
        A matrix is not square, NaN or infinite elements in that triangle, or no convergence.

    Examples
    --------
    >>> import usmx
    >>> values, vectors = usmx.linalg.eigh(usmx.asarray([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(values.round(6))
    [1., 3.]
    """
    return EighResult(*_eigh(a, UPLO))


def eigvalsh(a: ndarray, UPLO: str = "L") -> ndarray:
    """Compute the eigenvalues of Hermitian matrices, ascending; see `eigh`.

    Parameters
    ----------
    a : array
        Square matrices, of which one triangle is read.
    UPLO : {"L", "U"}, optional
        The lower or the upper one.

    Returns
    -------
    ndarray
        Real, of shape (..., n).

    Raises
    ------
    LinAlgError
        As in `eigh`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.eigvalsh(usmx.asarray([[2.0, 1.0], [1.0, 2.0]])).round(6))
    [1., 3.]
    """
    return _eigh(a, UPLO, vectors=False)[0]


def _eig(x: ndarray, vectors: bool) -> tuple[ndarray, ndarray]:
    a = _matrices.matrices(x, square=True)
    made: tuple[ndarray, ndarray] = _libraries.of("eig", a, a.shape[-1]).eig(a, vectors)
    return made


def eig(a: ndarray) -> EigResult:
    """Compute eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).

    Returns
    -------
    EigResult
        ``eigenvalues`` and ``eigenvectors``, both complex; vectors are columns of length 1. The
        eigenvalues are in no particular order.

    Raises
    ------
    LinAlgError
        A matrix is not square, has NaN or infinite elements, or no convergence.

    Examples
    --------
    >>> import usmx
    >>> values, vectors = usmx.linalg.eig(usmx.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> print(usmx.sort(values.real))
    [2., 3.]
    """
    return EigResult(*_eig(a, vectors=True))


def eigvals(a: ndarray) -> ndarray:
    """Compute the eigenvalues of square matrices, as complex numbers; see `eig`.

    Parameters
    ----------
    a : array
        Square matrices, of shape (..., n, n).

    Returns
    -------
    ndarray
        Complex, of shape (..., n), in no particular order.

    Raises
    ------
    LinAlgError
        As in `eig`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sort(usmx.linalg.eigvals(usmx.asarray([[2.0, 0.0], [0.0, 3.0]])).real))
    [2., 3.]
    """
    return _eig(a, vectors=False)[0]


# --- norms ---------------------------------------------------------------------------------------


def _largest_or_zero(sizes: ndarray, **keywords: Any) -> ndarray:
    """The largest of numbers that are not negative; of none 0, as NumPy's norms have it."""
    return statistics.max(sizes, initial=None if sizes.size else 0, **keywords)


def vector_norm(
    x: ndarray,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> ndarray:
    """Compute norms of vectors.

    Parameters
    ----------
    x : array
        Any shape.
    axis : int or tuple of int, optional
        The axes of a vector; by default the array is one.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    ord : float, optional
        ``sum(abs(x) ** ord) ** (1 / ord)``; `inf` is the largest and `-inf` the smallest absolute
        value, 0 the number of elements that are not 0.

    Returns
    -------
    ndarray
        Real numbers of the precision of `x`.

    Raises
    ------
    ValueError
        The order is one of matrices.

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.vector_norm(usmx.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1).tolist()
    [5.0, 10.0]
    """
    if isinstance(ord, str):
        raise ValueError(f"ord: {ord!r} is a norm of matrices; expected a number")
    (a,) = as_arrays((x,))
    if a.dtype.kind in "biu":
        a = a.astype("float64")
    axes = to_axes(axis, a.ndim)
    if not axes:
        size = abs(a)
        return (size != 0).astype(size.dtype) if ord == 0 else size
    keywords: dict[str, Any] = {"axis": axes, "keepdims": keepdims}
    size = abs(a)
    if ord == inf:
        return _largest_or_zero(size, **keywords)
    if ord == -inf:
        return statistics.min(size, **keywords)
    if ord == 0:
        return statistics.sum((size != 0).astype(size.dtype), **keywords)
    if ord == 1:
        return statistics.sum(size, **keywords)
    if ord == 2:
        return sqrt(statistics.sum(_squares(a), **keywords))
    return statistics.sum(size**ord, **keywords) ** (1.0 / ord)


def matrix_norm(
    x: ndarray,
    *,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
) -> ndarray:
    """Compute norms of matrices.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    keepdims : bool, optional
        Whether the last two axes stay, with length one.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, optional
        Frobenius' norm, the sum of the singular values, the largest or smallest sum of a column,
        singular value, or sum of a row.

    Returns
    -------
    ndarray
        Real, of shape (...).

    Raises
    ------
    ValueError
        Another order.

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.matrix_norm(usmx.asarray([[3.0, 0.0], [0.0, 4.0]])).item()
    5.0
    """
    a = _matrices.matrices(x, "x")
    if ord in ("fro", None):
        return vector_norm(a, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        s = svdvals(a)
        made: ndarray
        if ord == "nuc":
            made = statistics.sum(s, axis=-1)
        else:
            made = (_largest_or_zero if ord == 2 else statistics.min)(s, axis=-1)
    elif ord in (1, -1, inf, -inf):
        sums = statistics.sum(abs(a), axis=-2 if abs(ord) == 1 else -1)
        made = (_largest_or_zero if ord > 0 else statistics.min)(sums, axis=-1)
    else:
        raise ValueError(f"ord: {ord!r}; expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    return made[..., None, None] if keepdims else made


def norm(
    x: ndarray,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> ndarray:
    """Compute a norm of vectors or of matrices, as NumPy's function of that name does.

    Parameters
    ----------
    x : array
        Any shape; without `axis` and with `ord`, a vector or a matrix.
    ord : number or str, optional
        See `vector_norm` and `matrix_norm`; by default the root of the sum of squares.
    axis : int or tuple of two int, optional
        The axis of vectors, or those of matrices.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Real; without `axis` of shape ().

    Raises
    ------
    ValueError
        Neither a vector nor a matrix.

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.norm(usmx.asarray([3.0, 4.0])).item()
    5.0
    """
    (a,) = as_arrays((x,))
    if axis is None:
        if ord is None:
            return vector_norm(a, keepdims=keepdims)
        axes = tuple(range(a.ndim))
    else:
        axes = to_axes(axis, a.ndim)
    if len(axes) == 1:
        return vector_norm(a, axis=axes, ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"axis: {len(axes)} axes; expected one of vectors or two of matrices")
    made = matrix_norm(
        moveaxis(a, axes, (-2, -1)), ord="fro" if ord is None else ord, keepdims=keepdims
    )
    return moveaxis(made, (-2, -1), axes) if keepdims else made


def cond(x: ndarray, p: Any = None) -> ndarray:
    """Compute condition numbers: the norm of matrices times that of their inverses.

    Parameters
    ----------
    x : array
        Of shape (..., m, n), square unless `p` is None, 2 or -2.
    p : number or str, optional
        See `matrix_norm`; by default 2.

    Returns
    -------
    ndarray
        Real, of shape (...).

    Examples
    --------
    >>> import usmx
    >>> round(usmx.linalg.cond(usmx.asarray([[2.0, 0.0], [0.0, 1.0]])).item(), 6)
    2.0
    """
    if p in (None, 2, -2):
        s = svdvals(x)
        made = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        return where(isnan(made), inf, made)  # of 0 / 0: svd refuses NaN
    return matrix_norm(x, ord=p) * _norms_of_inverses(_matrices.matrices(x, square=True), p)


def _norms_of_inverses(x: ndarray, p: Any) -> ndarray:
    """Infinite for matrices that are singular."""
    try:
        return matrix_norm(inv(x), ord=p)
    except LinAlgError:
        size = x.real.dtype
        norms = _usmx.full(x.shape[:-2], inf, size, usm_type=kind_of(x), queue=x.queue)
        for place in product(*map(range, x.shape[:-2])) if x.ndim > 2 else ():
            norms[place] = _norms_of_inverses(x[place], p)
        return norms


# --- products and parts --------------------------------------------------------------------------


def matrix_power(a: ndarray, n: int) -> ndarray:
    """Multiply square matrices with themselves.

    Parameters
    ----------
    a : array
        Square matrices.
    n : int
        How often; negative numbers are powers of the inverses, and 0 gives identities.

    Returns
    -------
    ndarray
        Of the shape of `a`.

    Raises
    ------
    LinAlgError
        A matrix is not square, or singular and `n` negative.
    TypeError
        `n` is not an integer.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.matrix_power(usmx.asarray([[1, 1], [1, 0]]), 5))
    [[8, 5],
     [5, 3]]
    """
    (a,) = as_arrays((a,))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"a: has shape {a.shape}; expected square matrices")
    try:
        exponent = index(n)
    except TypeError:
        raise TypeError(f"n: is of type {type(n).__name__}; expected an integer") from None
    if exponent == 0:
        one = _usmx.zeros(a.shape, a.dtype, usm_type=kind_of(a), queue=a.queue)
        diagonal(one)[...] = 1
        return one
    if exponent < 0:
        a, exponent = inv(a), -exponent
    made = None
    while True:
        if exponent % 2:
            made = a if made is None else matmul(made, a)
        exponent //= 2
        if not exponent:
            return made if made is not a and made is not None else a.copy()
        a = matmul(a, a)


def multi_dot(arrays: Sequence[ndarray], *, out: ndarray | None = None) -> ndarray:
    """Multiply matrices one after the other, in the order with the fewest operations.

    Parameters
    ----------
    arrays : sequence of array
        Matrices; the first and the last one may be vectors.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        The product; `out` if it was given.

    Raises
    ------
    ValueError
        Fewer than two arrays.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.multi_dot([usmx.ones((2, 3)), usmx.ones((3, 2)), usmx.ones(2)]))
    [6., 6.]
    """
    given = as_arrays(arrays)
    if len(given) < 2:
        raise ValueError(f"arrays: {len(given)} given; expected at least two")
    lengths = [1 if given[0].ndim == 1 else given[0].shape[0]]
    lengths += [x.shape[0] for x in given[1:]]
    lengths += [1 if given[-1].ndim == 1 else given[-1].shape[-1]]
    count = len(given)
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + lengths[i] * lengths[k + 1] * lengths[j + 1], k)
                for k in range(i, j)
            )
    return written_alike(_product(given, cut, 0, count - 1), out)


def _product(given: Sequence[ndarray], cut: list[list[int]], i: int, j: int) -> ndarray:
    """The product of the matrices from i to j, of which each part is cut where it says."""
    if i == j:
        return given[i]
    k = cut[i][j]
    return matmul(_product(given, cut, i, k), _product(given, cut, k + 1, j))


def diagonal(x: ndarray, *, offset: int = 0) -> ndarray:
    """Give the diagonals of matrices, of shape (..., length): a view of contiguous matrices.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    offset : int, optional
        How far right of the main diagonal; negative is below.

    Returns
    -------
    ndarray
        Of shape (..., length).

    Raises
    ------
    ValueError
        Fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.diagonal(usmx.asarray([[1, 2], [3, 4]])))
    [1, 4]
    """
    return diagonals(as_arrays((x,))[0], index(offset))


def trace(x: ndarray, offset: int = 0, *, dtype: Any = None) -> ndarray:
    """Add the elements of diagonals.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    offset : int, optional
        See `diagonal`.
    dtype : dtype, optional
        The type of the result, as in `usmx.sum`.

    Returns
    -------
    ndarray
        Of shape (...).

    Examples
    --------
    >>> import usmx
    >>> usmx.linalg.trace(usmx.asarray([[1, 2], [3, 4]])).item()
    5
    """
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def cross(x1: ndarray, x2: ndarray, *, axis: int = -1) -> ndarray:
    """Compute cross products of vectors of three elements.

    Parameters
    ----------
    x1, x2 : array
        They broadcast, and have the length 3 along `axis`.
    axis : int, optional
        Of both arrays.

    Returns
    -------
    ndarray
        Of the shape to which the arrays broadcast.

    Raises
    ------
    ValueError
        A length is not 3.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linalg.cross(usmx.asarray([1, 0, 0]), usmx.asarray([0, 1, 0])))
    [0, 0, 1]
    """
    return cross_products(x1, x2, axis)


# What takes several arrays follows the rule of kinds of memory, as the functions of `usmx` do.
for _name in ("matmul", "outer", "tensordot", "vecdot"):
    globals()[_name] = find("linear_algebra", _name)
for _name in ("cross", "lstsq", "multi_dot", "solve"):
    globals()[_name] = joint(globals()[_name])

_explained.explain(globals())
