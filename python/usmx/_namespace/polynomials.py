"""Polynomials as coefficients from the highest power down, as in NumPy's oldest functions."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import as_array, as_arrays, default_float, kind_of

if TYPE_CHECKING:
    from .._usmx import ndarray
    from ..typing import ArrayLike

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub",
           "roots", "vander"]  # fmt: skip


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> ndarray:
    """The powers of numbers as columns.

    Parameters
    ----------
    x : array
        In one dimension.
    N : int, optional
        How many powers; as many as there are numbers by default.
    increasing : bool
        Whether the lowest power stands first.

    Returns
    -------
    ndarray
        Of shape (x.size, N).

    Raises
    ------
    ValueError
        `x` has not one dimension, or `N` is negative.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.vander(usmx.asarray([1, 2, 3]), 3))
    [[1, 1, 1],
     [4, 2, 1],
     [9, 3, 1]]
    """
    numbers = as_array(x)
    if numbers.ndim != 1:
        raise ValueError(f"x: has shape {numbers.shape}; expected one dimension")
    if numbers.dtype.kind == "b":
        numbers = numbers.astype("int64")
    count = numbers.size if N is None else operator.index(N)
    if count < 0:
        raise ValueError(f"N: {count}; expected 0 or more")
    powers = _usmx.arange(count, dtype="int64", usm_type="device", queue=numbers.queue)
    made: ndarray = numbers[:, None] ** powers[None, :] if increasing else (
        numbers[:, None] ** powers[::-1][None, :]
    )  # fmt: skip
    return made


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Any:
    """The polynomial that fits points best, by least squares.

    Parameters
    ----------
    x : array, shape (m,)
        Where the points are.
    y : array, shape (m,) or (m, k)
        Their values; columns are fitted each by itself.
    deg : int
        The highest power.
    rcond : float, optional
        Singular values below this part of the largest one count as 0.
    full : bool
        Whether to give residuals, rank, singular values and `rcond` too.
    w : array, shape (m,), optional
        Weights of the differences, not of their squares.
    cov : bool or 'unscaled'
        Whether to give the covariance matrix of the coefficients too.

    Returns
    -------
    ndarray, shape (deg + 1,) or (deg + 1, k)
        Coefficients, of the highest power first.

    Raises
    ------
    ValueError
        `deg` is negative, or `cov` needs more points than there are.
    TypeError
        Points of another shape.

    Examples
    --------
    >>> import usmx
    >>> x, y = usmx.asarray([0.0, 1.0, 2.0]), usmx.asarray([1.0, 3.0, 5.0])
    >>> print(usmx.polyfit(x, y, 1).round(6))
    [2., 1.]
    """
    linalg = import_module("..linalg", __package__)

    at, values = as_arrays([x, y])
    order = operator.index(deg) + 1
    if order < 1:
        raise ValueError(f"deg: {deg}; expected 0 or more")
    if at.ndim != 1 or not at.size:
        raise TypeError(f"x: has shape {at.shape}; expected one dimension with elements")
    if values.ndim not in (1, 2) or values.shape[0] != at.size:
        raise TypeError(f"y: has shape {values.shape}; expected ({at.size},) or ({at.size}, k)")
    dtype = default_float(at.queue, is_complex="c" in (at.dtype.kind, values.dtype.kind))
    at, values = at.astype(dtype, copy=False), values.astype(dtype, copy=False)
    if rcond is None:
        rcond = at.size * _epsilon(dtype)
    powers = vander(at, order)
    if w is not None:
        weights = as_array(w, at).astype(dtype, copy=False)
        powers = powers * weights[:, None]
        values = values * (weights[:, None] if values.ndim == 2 else weights)
    squares = (powers * powers.conj()).real if dtype.startswith("c") else powers * powers
    scale = _usmx.Operation("sqrt")(squares.sum(axis=0))
    scale = _usmx.Operation("where")(scale == 0, 1, scale)
    found, residuals, rank, singular = linalg.lstsq(powers / scale, values, rcond)
    found = found / (scale[:, None] if found.ndim == 2 else scale)
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    scaled = powers / scale
    base = linalg.inv(scaled.conj().T @ scaled) / (scale[:, None] * scale[None, :])
    if cov != "unscaled":
        if at.size <= order:
            raise ValueError("cov: needs more points than coefficients")
        left = residuals if residuals.size else _usmx.zeros_like(base[:1, 0])
        factor = left / (at.size - order)
        return found, base * factor if values.ndim == 1 else base[:, :, None] * factor
    return found, base


def _epsilon(dtype: str) -> float:
    return 2.0**-52 if dtype in ("float64", "complex128") else 2.0**-23


def _line(a: ArrayLike, like: Any = None) -> ndarray:
    x = as_array(a, like)
    return x.reshape(1) if x.ndim == 0 else x


def _sum(a1: ArrayLike, a2: ArrayLike, name: str) -> ndarray:
    from .manipulation import concat

    a, b = (_line(x) for x in as_arrays([a1, a2]))
    length = max(a.size, b.size)
    a, b = (
        concat([_usmx.zeros(length - x.size, x.dtype, queue=x.queue, usm_type=kind_of(x)), x])
        for x in (a, b)
    )
    made: ndarray = _usmx.Operation(name)(a, b)
    return made


def polyadd(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The coefficients of the sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array
        Coefficients, of the highest power first.

    Returns
    -------
    ndarray
        As long as the longer one.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polyadd(usmx.asarray([1, 2]), usmx.asarray([1, 0, 0])))
    [1, 1, 2]
    """
    return _sum(a1, a2, "add")


def polysub(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The coefficients of the difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array
        Coefficients, of the highest power first.

    Returns
    -------
    ndarray
        As long as the longer one.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polysub(usmx.asarray([1, 1]), usmx.asarray([1, 0])))
    [0, 1]
    """
    return _sum(a1, a2, "subtract")


def polymul(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The coefficients of the product of two polynomials.

    Parameters
    ----------
    a1, a2 : array
        Coefficients, of the highest power first.

    Returns
    -------
    ndarray
        Of the highest power first.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polymul(usmx.asarray([1, 1]), usmx.asarray([1, -1])))
    [ 1,  0, -1]
    """
    from .arrangement import trim_zeros
    from .calculus import convolve

    lines = [_line(x) for x in as_arrays([a1, a2])]
    # As NumPy: powers whose factor is 0 do not count, but for the last one.
    a, b = (line[-trim_zeros(line[:-1], "f").size - 1 :] for line in lines)
    return convolve(a, b)


def polyder(p: ArrayLike, m: int = 1) -> ndarray:
    """The coefficients of a derivative of a polynomial.

    Parameters
    ----------
    p : array
        Coefficients, of the highest power first.
    m : int
        How often it is derived.

    Returns
    -------
    ndarray
        Shorter by `m`.

    Raises
    ------
    ValueError
        `m` is negative.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polyder(usmx.asarray([3, 2, 1])))
    [6, 2]
    """
    made = _line(p)
    if operator.index(m) < 0:
        raise ValueError(f"m: {m}; expected 0 or more")
    for _ in range(m):
        powers = _usmx.arange(made.size - 1, 0, -1, "int64", usm_type="device", queue=made.queue)
        made = made[:-1] * powers if made.size > 1 else made[:0]
    return made


def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> ndarray:
    """The coefficients of an integral of a polynomial.

    Parameters
    ----------
    p : array
        Coefficients.
    m : int
        How often.
    k : number or sequence of number, optional
        The constants, of the first integral first; 0 by default.

    Returns
    -------
    ndarray
        Longer by `m`.

    Raises
    ------
    ValueError
        `m` is negative, or there are not as many constants.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.polyint(usmx.asarray([2.0, 1.0])))
    [1., 1., 0.]
    """
    from .manipulation import concat

    made = _line(p)
    times = operator.index(m)
    if times < 0:
        raise ValueError(f"m: {m}; expected 0 or more")
    given = [0.0] if k is None else list(k) if isinstance(k, (list, tuple)) else [k]
    constants = given * times if len(given) == 1 else given
    if len(constants) < times:
        raise ValueError(f"k: has {len(constants)} constants; expected {times}")
    for constant in constants[:times]:
        powers = _usmx.arange(made.size, 0, -1, "int64", usm_type="device", queue=made.queue)
        made = made / powers
        made = concat([made, _usmx.full(1, constant, made.dtype, queue=made.queue)])
    return made


def poly(seq_of_zeros: ArrayLike) -> ndarray:
    """The coefficients of the polynomial that has these zeros, or of that of a square matrix.

    Parameters
    ----------
    seq_of_zeros : array
        The zeros, in one dimension, or a square matrix.

    Returns
    -------
    ndarray
        Of the highest power first, which has the coefficient 1.

    Raises
    ------
    ValueError
        Another shape.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.poly(usmx.asarray([1.0, 2.0])))
    [ 1., -3.,  2.]
    """
    zeros = _line(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        linalg = import_module("..linalg", __package__)

        zeros = linalg.eigvals(zeros)
    if zeros.ndim != 1:
        raise ValueError(f"seq_of_zeros: has shape {zeros.shape}; expected one dimension")
    values = zeros.tolist()
    made: list[Any] = [1.0]
    for value in values:
        made = [a - value * b for a, b in zip([*made, 0], [0, *made], strict=True)]
    if all(isinstance(one, complex) for one in made[1:]) and sorted(
        (v.conjugate() for v in values), key=lambda z: (z.real, z.imag)
    ) == sorted(values, key=lambda z: (z.real, z.imag)):
        made = [one.real for one in made]
    return _usmx.asarray(made, usm_type=kind_of(zeros), queue=zeros.queue)


def real_if_all_are(values: ndarray, matrix: ndarray) -> ndarray:
    """Eigenvalues as NumPy gives them: of a real matrix real numbers, if all of them are."""
    if matrix.dtype.kind == "c" or (values.imag != 0).any():
        return values
    return values.real.copy()


def roots(p: ArrayLike) -> ndarray:
    """The zeros of a polynomial: eigenvalues of its companion matrix.

    They are real numbers if all zeros of real coefficients are: the host waits for that.

    Parameters
    ----------
    p : array
        Coefficients, of the highest power first.

    Returns
    -------
    ndarray
        In any order; complex where a zero is. The trailing zeros of `p` stand for zeros at 0.

    Raises
    ------
    ValueError
        `p` has not one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sort(usmx.roots(usmx.asarray([1.0, -3.0, 2.0]))).round(6))
    [1., 2.]
    """
    linalg = import_module("..linalg", __package__)
    from .arrangement import trim_zeros
    from .manipulation import concat

    coefficients = _line(p)
    if coefficients.ndim != 1:
        raise ValueError(f"p: has shape {coefficients.shape}; expected one dimension")
    kept = trim_zeros(coefficients, "f")
    core = trim_zeros(kept, "b")
    at_zero = kept.size - core.size
    dtype = default_float(core.queue, is_complex=core.dtype.kind == "c")
    none = _usmx.zeros(at_zero, dtype, queue=core.queue)
    if core.size < 2:
        return none
    core = core.astype(dtype, copy=False)
    n = core.size - 1
    matrix = _usmx.zeros((n, n), dtype, queue=core.queue)
    if n > 1:
        matrix.reshape(-1)[n :: n + 1] = 1
    matrix[0] = -core[1:] / core[0]
    found = real_if_all_are(linalg.eigvals(matrix), matrix)
    return concat([found, none.astype(found.dtype)])


def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]:
    """The coefficients of quotient and remainder of two polynomials.

    Parameters
    ----------
    u, v : array
        Coefficients of the highest power first; of `v` that is not 0.

    Returns
    -------
    tuple of ndarray
        ``q`` and ``r`` of ``u = q * v + r``.

    Examples
    --------
    >>> import usmx
    >>> quotient, rest = usmx.polydiv(usmx.asarray([1.0, 0.0, -1.0]), usmx.asarray([1.0, 1.0]))
    >>> print(quotient, rest)
    [ 1., -1.] [0.]
    """
    import numpy as np

    a, b = (_line(x) for x in as_arrays([u, v]))
    # A step for each coefficient, which needs the one before: a device has nothing to compute at
    # the same time.
    quotient, remainder = np.polydiv(a.to_numpy(), b.to_numpy())
    place: Any = {"queue": a.queue, "usm_type": kind_of(a, b)}
    return _usmx.asarray(quotient, **place), _usmx.asarray(remainder, **place)
