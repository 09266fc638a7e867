"""Arrays made of numbers: ranges, grids, diagonals and triangles; and the way back to NumPy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import (
    as_array,
    as_arrays,
    default_float,
    empty_at,
    imported,
    kind_of,
    to_axis,
    to_integer,
)

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

    Returns
    -------
    numpy.ndarray
        Of the shape and type of `x`.

    Raises
    ------
    ImportError
        NumPy is not installed.

    Examples
    --------
    >>> import usmx
    >>> usmx.asnumpy(usmx.arange(3))
    array([0, 1, 2])
    """
    found = imported(x)
    if found is not None and found.usm_type not in ("shared", "host"):
        return found.to_numpy()
    import numpy as np

    return np.asarray(x if found is None else found)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = None,
    order: Any = "C",
    *,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
) -> ndarray:
    """A matrix of zeros with ones on one diagonal.

    Parameters
    ----------
    N, M : int
        Lengths; None is a square.
    k : int
        The diagonal: 0 is the main one, positive ones lie above.
    dtype : dtype, optional
        The element type; None is float64 (float32 on devices without float64).
    order : {'C', 'F'}
        The order of the elements in memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray
        Of shape (N, M).

    Examples
    --------
    >>> import usmx
    >>> print(usmx.eye(2, 3, k=1))
    [[0., 1., 0.],
     [0., 0., 1.]]
    """
    rows = to_integer(N, "N")
    columns = rows if M is None else to_integer(M, "M")
    shift = to_integer(k, "k")
    if order == "F":
        where_is = {"usm_type": usm_type, "device": device, "queue": queue}
        return eye(columns, rows, -shift, dtype, **where_is).T  # type: ignore[arg-type]
    result = _usmx.zeros(
        (rows, columns), dtype, order=order, usm_type=usm_type, device=device, queue=queue
    )
    length = min(rows + min(shift, 0), columns - max(shift, 0))
    if length > 0:
        first = max(shift, 0) - min(shift, 0) * columns
        step = columns + 1
        result.reshape(-1)[first : first + (length - 1) * step + 1 : step] = 1
    return result


def identity(n: int, dtype: DTypeLike = None, **keywords: Any) -> ndarray:
    """A square matrix with ones on the main diagonal.

    Parameters
    ----------
    n : int
        How many rows, and columns.
    dtype : dtype, optional
        The element type; None is float64 (float32 on devices without float64).
    **keywords : optional
        ``order``, ``usm_type``, ``device`` and ``queue``, as for `eye`.

    Returns
    -------
    ndarray
        Of shape (n, n).

    Examples
    --------
    >>> import usmx
    >>> print(usmx.identity(2))
    [[1., 0.],
     [0., 1.]]
    """
    return eye(n, dtype=dtype, **keywords)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
) -> Any:
    """Numbers at equal distances.

    Parameters
    ----------
    start, stop : number or array
        The first and the last number; arrays are broadcast, and each pair has such numbers.
    num : int
        How many.
    endpoint : bool
        Whether the last one is `stop` itself.
    retstep : bool
        Whether the distance is given too, as NaN if there is none.
    dtype : dtype, optional
        The element type; None is float64 or complex128 (on devices without float64 those of half
        the size).
    axis : int
        The axis of the result along which numbers of one pair of arrays lie.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray
        Of shape (num,); of arrays of their shape with an axis more. With `retstep` a tuple of it
        and the distance.

    Raises
    ------
    ValueError
        `num` is negative.
    TypeError
        `start` or `stop` is neither a number nor an array.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.linspace(0, 1, 5))
    [  0., 0.25,  0.5, 0.75,   1.]
    """
    count = to_integer(num, "num")
    if count < 0:
        raise ValueError(f"num: {count}; expected 0 or more")
    for name, value in (("start", start), ("stop", stop)):
        if getattr(value, "ndim", 0) or isinstance(value, (list, tuple)):
            places = {"usm_type": usm_type, "device": device, "queue": queue}
            return _between_arrays(start, stop, count, endpoint, retstep, dtype, axis, places)
        if not isinstance(value, (int, float, complex)) and not hasattr(value, "__float__"):
            raise TypeError(f"{name}: is of type {type(value).__name__}; expected a number")
    to_axis(axis, 1)
    is_complex = any(
        isinstance(v, complex) or getattr(getattr(v, "dtype", None), "kind", "") == "c"
        for v in (start, stop)
    )
    first: Any = complex(start) if is_complex else float(start)
    last: Any = complex(stop) if is_complex else float(stop)
    values = _numbers_between(first, last, count, endpoint, dtype, usm_type, device, queue)
    parts = count - 1 if endpoint else count
    return (values, (last - first) / parts if parts > 0 else float("nan")) if retstep else values


def _between_arrays(
    start: Any, stop: Any, count: int, endpoint: bool, retstep: bool, dtype: Any, axis: int,
    places: dict[str, Any],
) -> Any:  # fmt: skip
    """The numbers of `linspace` for each pair of elements."""
    from .data_types import result_type
    from .elementwise import floor, where
    from .manipulation import broadcast_arrays, moveaxis

    named = {key: value for key, value in places.items() if value is not None}
    if named:
        start, stop = (_usmx.asarray(x, **named) for x in (start, stop))
    first, last = broadcast_arrays(*as_arrays((start, stop)))
    computed = result_type(
        first, last, default_float(first.queue) if "f" not in first.dtype.kind + last.dtype.kind
        and "c" not in first.dtype.kind + last.dtype.kind else 1.0,
    )  # fmt: skip
    first, last = first.astype(computed, copy=False), last.astype(computed, copy=False)
    parts = count - 1 if endpoint else count
    delta = last - first
    ramp = _steps(first, count).reshape((count,) + (1,) * first.ndim)
    numbers = ramp.astype(computed)
    step = delta / parts if parts > 0 else _usmx.full_like(delta, float("nan"))
    if parts > 0:
        values = where(step == 0, numbers / parts * delta, numbers * step) + first
    else:
        values = numbers * delta + first
    if endpoint and count > 1:
        values = where(ramp == count - 1, last, values)
    if dtype is not None:
        if _usmx.empty(0, dtype, queue=first.queue).dtype.kind in "iu" and computed.kind == "f":
            values = floor(values)
        values = values.astype(dtype, copy=False)
    values = moveaxis(values, 0, axis)
    return (values, step) if retstep else values


def _numbers_between(
    first: Any, last: Any, count: int, endpoint: bool, dtype: Any, usm_type: Any, device: Any,
    queue: Any,
) -> ndarray:  # fmt: skip
    from .elementwise import floor, where

    is_complex = isinstance(first, complex)
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
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: DTypeLike = None, axis: int = 0, **keywords: Any,
) -> ndarray:  # fmt: skip
    """``base`` to the power of numbers at equal distances.

    Parameters
    ----------
    start, stop : number or array
        The first and the last exponent; arrays are broadcast.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is among the exponents.
    base : number or array
        An array is broadcast with `start` and `stop`.
    dtype : dtype, optional
        The element type; None is that of the powers.
    axis : int
        The axis of the result along which numbers of one pair of arrays lie.
    **keywords : optional
        ``usm_type``, ``device`` and ``queue``, as for `linspace`.

    Returns
    -------
    ndarray
        Of shape (num,); of arrays of their shape with an axis more.

    Raises
    ------
    ValueError
        `num` is negative.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.logspace(0, 2, 3))
    [  1.,  10., 100.]
    """
    from .elementwise import power
    from .manipulation import broadcast_arrays, moveaxis

    if getattr(base, "ndim", 0) or isinstance(base, (list, tuple)):
        start, stop, base = broadcast_arrays(*as_arrays((start, stop, base)))
    exponents = linspace(start, stop, num, endpoint, **keywords)
    result = moveaxis(power(base, exponents), 0, axis)
    return result if dtype is None else result.astype(dtype, copy=False)


def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[ndarray, ...]:
    """Coordinates of a grid: for each vector an array of the shape of all.

    Parameters
    ----------
    *xi : array
        Vectors, or numbers.
    indexing : {'xy', 'ij'}
        Whether the first vector lies along axis 1 ('xy') or along axis 0.
    sparse : bool
        Whether the results keep length one along other axes.
    copy : bool
        Whether the results have memory of their own; otherwise they are views.

    Returns
    -------
    tuple of ndarray
        As many as there are vectors.

    Raises
    ------
    ValueError
        Another `indexing`, or an array of more dimensions.

    Examples
    --------
    >>> import usmx
    >>> columns, rows = usmx.meshgrid(usmx.arange(2), usmx.arange(3))
    >>> print(rows.shape, columns[0])
    (3, 2) [0, 1]
    """
    from .manipulation import broadcast_arrays

    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing: {indexing!r}; expected 'xy' or 'ij'")
    given = as_arrays(xi)
    for x in given:
        if x.ndim > 1:
            raise ValueError(f"xi: one has {x.ndim} dimensions; expected vectors")
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
    if x.ndim == 0:
        raise TypeError("m: has no dimensions; expected a matrix, or a vector for each row")
    if x.ndim == 1:  # as in NumPy each row of a square matrix
        x = _usmx.broadcast_to(x, (x.size, x.size))
    rows, columns = _steps(x, x.shape[-2])[:, None], _steps(x, x.shape[-1])
    inside = columns - rows >= k if upper else columns - rows <= k
    zero = _usmx.zeros((), x.dtype, usm_type=kind_of(x), queue=x.queue)
    return where(inside, x, zero)


def tril(m: ArrayLike, k: int = 0) -> ndarray:
    """Matrices with zeros above a diagonal.

    Parameters
    ----------
    m : array
        Shape (..., m, n).
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray
        A copy, of the shape and type of `m`.

    Raises
    ------
    ValueError
        `m` has fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.tril(usmx.ones((2, 3))))
    [[1., 0., 0.],
     [1., 1., 0.]]
    """
    return _triangle(m, to_integer(k, "k"), upper=False)


def triu(m: ArrayLike, k: int = 0) -> ndarray:
    """Matrices with zeros below a diagonal.

    Parameters
    ----------
    m : array
        Shape (..., m, n).
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray
        A copy, of the shape and type of `m`.

    Raises
    ------
    ValueError
        `m` has fewer than two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.triu(usmx.ones((2, 3))))
    [[1., 1., 1.],
     [0., 1., 1.]]
    """
    return _triangle(m, to_integer(k, "k"), upper=True)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, **keywords: Any
) -> ndarray:
    """A matrix of ones on and below a diagonal, and zeros.

    Parameters
    ----------
    N, M : int
        Rows and columns; without `M` a square.
    k : int
        The highest diagonal with ones: 0 is the main one, positive ones lie above.
    dtype : dtype, optional
        The element type; None is float64 (float32 on devices without float64).
    **keywords : optional
        ``order``, ``usm_type``, ``device`` and ``queue``, as for `zeros`.

    Returns
    -------
    ndarray
        Of shape (N, M).

    Examples
    --------
    >>> import usmx
    >>> print(usmx.tri(2, 3))
    [[1., 0., 0.],
     [1., 1., 0.]]
    """
    return tril(_usmx.ones((N, N if M is None else M), dtype, **keywords), k)


def diag(v: ArrayLike, k: int = 0) -> ndarray:
    """A diagonal of a matrix, or the matrix with a vector on a diagonal.

    Parameters
    ----------
    v : array
        A matrix, or a vector.
    k : int
        The diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray
        Of a matrix a copy of its diagonal; of a vector a square matrix of zeros but for that
        diagonal.

    Raises
    ------
    ValueError
        `v` has neither one nor two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.diag(usmx.asarray([1, 2])))
    [[1, 0],
     [0, 2]]
    """
    v = as_array(v)
    shift = to_integer(k, "k")
    if v.ndim == 2:
        from .indexing import gather

        rows, columns = v.shape
        length = max(0, min(rows + min(shift, 0), columns - max(shift, 0)))
        steps = _steps(v, length)
        out = empty_at(v, length)
        gather(v, [steps - min(shift, 0), steps + max(shift, 0)], out)
        return out
    if v.ndim != 1:
        raise ValueError(f"v: has {v.ndim} dimensions; expected 1 or 2")
    length = v.size + abs(shift)
    result = _usmx.zeros((length, length), v.dtype, usm_type=kind_of(v), queue=v.queue)
    if v.size:
        first = max(shift, 0) - min(shift, 0) * length
        result.reshape(-1)[first :: length + 1][: v.size] = v
    return result
