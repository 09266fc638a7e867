"""Arrays made of numbers: ranges, grids, diagonals and triangles; and the way back to NumPy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array, as_arrays, default_float, empty_at, imported, kind_of

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike, DTypeLike, NumpyArray, QueueLike, UsmKind

__all__ = [
    "asnumpy",
    "diag",
    "eye",
    "identity",
    "linspace",
    "logspace",
    "meshgrid",
    "tri",
    "tril",
    "triu",
]


def _steps(like: ndarray, count: int) -> ndarray:
    return _usmx.arange(count, dtype="int64", usm_type=kind_of(like), queue=like.queue)


def asnumpy(x: Any, /) -> NumpyArray:
    """The elements as a NumPy array: in place where the host can access them, otherwise a copy.

    For code that is written for several libraries: CuPy and dpnp have a function of this name, and
    scikit-learn-intelex calls it. `ndarray.to_numpy` always copies.

    Parameters
    ----------
    x : array
        In any kind of memory and of any library, or anything that NumPy makes an array of.

    Raises
    ------
    ImportError
        NumPy is not installed.
    """
    found = imported(x)
    if found is not None and found.usm_type not in ("shared", "host"):
        return found.to_numpy()
    import numpy as np

    return np.asarray(x if found is None else found)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    k: int = 0,
    *,
    dtype: DTypeLike = None,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
) -> ndarray:
    """A matrix of zeros with ones on one diagonal.

    Parameters
    ----------
    n_rows, n_cols : int
        Lengths; None is a square.
    k : int
        The diagonal: 0 is the main one, positive ones lie above.
    dtype : optional
        The element type; None is float64 (float32 on devices without float64).
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray
        Of shape (n_rows, n_cols).
    """
    rows = operator.index(n_rows)
    columns = rows if n_cols is None else operator.index(n_cols)
    shift = operator.index(k)
    result = _usmx.zeros((rows, columns), dtype, usm_type=usm_type, device=device, queue=queue)
    length = min(rows + min(shift, 0), columns - max(shift, 0))
    if length > 0:
        first = max(shift, 0) - min(shift, 0) * columns
        step = columns + 1
        result.reshape(-1)[first : first + (length - 1) * step + 1 : step] = 1
    return result


def identity(n: int, /, dtype: DTypeLike = None, **keywords: Any) -> ndarray:
    """A square matrix with ones on the main diagonal; keywords as for `eye`."""
    return eye(n, dtype=dtype, **keywords)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int = 50,
    endpoint: bool = True,
    *,
    dtype: DTypeLike = None,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
) -> ndarray:
    """Numbers at equal distances.

    Parameters
    ----------
    start, stop : number
        The first and the last number.
    num : int
        How many.
    endpoint : bool
        Whether the last one is `stop` itself.
    dtype : optional
        The element type; None is float64 or complex128 (on devices without float64 those of half
        the size).
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray
        Of shape (num,).

    Raises
    ------
    ValueError
        `num` is negative.
    """
    from .elementwise import floor, where

    count = operator.index(num)
    if count < 0:
        raise ValueError(f"num: {count}; expected 0 or more")
    for name, value in (("start", start), ("stop", stop)):
        if not isinstance(value, (int, float, complex)) and not hasattr(value, "__float__"):
            raise TypeError(f"{name}: is of type {type(value).__name__}; expected a number")
    is_complex = any(hasattr(v, "imag") and isinstance(v, complex) for v in (start, stop))
    first: Any = complex(start) if is_complex else float(start)  # type: ignore[arg-type]
    last: Any = complex(stop) if is_complex else float(stop)  # type: ignore[arg-type]
    ramp = _usmx.arange(count, dtype="int64", usm_type=usm_type, device=device, queue=queue)
    computed = default_float(ramp.queue, is_complex=is_complex)
    wanted = computed if dtype is None else dtype
    if count == 0:
        return ramp.astype(wanted)
    parts = count - 1 if endpoint else count
    delta = last - first
    values: ndarray = ramp.astype(computed)
    if parts > 0:
        step = delta / parts
        values = values / parts * delta if step == 0 else values * step
    else:
        values = values * delta
    values = values + first
    if endpoint and count > 1:
        values = where(ramp == count - 1, last, values)
    result_kind = _usmx.empty(0, wanted, queue=ramp.queue).dtype.kind
    if result_kind in "iu" and not is_complex:
        values = floor(values)
    return values.astype(wanted, copy=False)


def logspace(
    start: complex, stop: complex, /, num: int = 50, endpoint: bool = True, base: float = 10.0,
    *, dtype: DTypeLike = None, **keywords: Any,
) -> ndarray:  # fmt: skip
    """``base`` to the power of numbers at equal distances; keywords as for `linspace`."""
    from .elementwise import power

    result = power(base, linspace(start, stop, num, endpoint, **keywords))
    return result if dtype is None else result.astype(dtype, copy=False)


def meshgrid(
    *arrays: ArrayLike, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[ndarray, ...]:
    """Coordinates of a grid: for each vector an array of the shape of all.

    Parameters
    ----------
    *arrays : array
        Vectors, or numbers.
    indexing : {'xy', 'ij'}
        Whether the first vector lies along axis 1 ('xy') or along axis 0.
    sparse : bool
        Whether the results keep length one along other axes.
    copy : bool
        Whether the results have memory of their own; otherwise they are views.

    Raises
    ------
    ValueError
        Another `indexing`, or an array of more dimensions.
    """
    from .manipulation import broadcast_arrays

    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing: {indexing!r}; expected 'xy' or 'ij'")
    given = as_arrays(arrays)
    for x in given:
        if x.ndim > 1:
            raise ValueError(f"arrays: one has {x.ndim} dimensions; expected vectors")
    count = len(given)
    axes = list(range(count))
    if indexing == "xy" and count > 1:
        axes[:2] = [1, 0]
    results = [
        x.reshape([x.size if a == axis else 1 for a in range(count)])
        for x, axis in zip(given, axes, strict=True)
    ]
    if not sparse:
        results = list(broadcast_arrays(*results))
    return tuple(x.copy() if copy else x for x in results)


def _triangle(x: Any, k: int, upper: bool) -> ndarray:
    from .elementwise import where

    x = as_array(x)
    if x.ndim < 2:
        raise ValueError(f"x: has {x.ndim} dimensions; expected at least 2")
    rows, columns = _steps(x, x.shape[-2])[:, None], _steps(x, x.shape[-1])
    inside = columns - rows >= k if upper else columns - rows <= k
    zero = _usmx.zeros((), x.dtype, usm_type=kind_of(x), queue=x.queue)
    return where(inside, x, zero)


def tril(x: ArrayLike, /, k: int = 0) -> ndarray:
    """Matrices with zeros above a diagonal.

    Parameters
    ----------
    x : array
        Shape (..., m, n).
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Raises
    ------
    ValueError
        `x` has fewer than two dimensions.
    """
    return _triangle(x, operator.index(k), upper=False)


def triu(x: ArrayLike, /, k: int = 0) -> ndarray:
    """Matrices with zeros below a diagonal.

    Parameters
    ----------
    x : array
        Shape (..., m, n).
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Raises
    ------
    ValueError
        `x` has fewer than two dimensions.
    """
    return _triangle(x, operator.index(k), upper=True)


def tri(
    n: int, m: int | None = None, k: int = 0, dtype: DTypeLike = None, **keywords: Any
) -> ndarray:
    """A matrix of ones on and below a diagonal, and zeros; keywords as for `zeros`."""
    return tril(_usmx.ones((n, n if m is None else m), dtype, **keywords), k)


def diag(x: ArrayLike, /, k: int = 0) -> ndarray:
    """A diagonal of a matrix, or the matrix with a vector on a diagonal."""
    x = as_array(x)
    shift = operator.index(k)
    if x.ndim == 2:
        from .indexing import gather

        rows, columns = x.shape
        length = max(0, min(rows + min(shift, 0), columns - max(shift, 0)))
        steps = _steps(x, length)
        out = empty_at(x, length)
        gather(x, [steps - min(shift, 0), steps + max(shift, 0)], out)
        return out
    if x.ndim != 1:
        raise ValueError(f"x: has {x.ndim} dimensions; expected 1 or 2")
    length = x.size + abs(shift)
    result = _usmx.zeros((length, length), x.dtype, usm_type=kind_of(x), queue=x.queue)
    if x.size:
        first = max(shift, 0) - min(shift, 0) * length
        result.reshape(-1)[first :: length + 1][: x.size] = x
    return result
