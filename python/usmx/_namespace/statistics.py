"""Sums, means, extremes and their places; deferred values are computed in the same kernel."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import _usmx
from . import _whole
from ._common import (
    along,
    as_array,
    as_arrays,
    default_float,
    empty_in_order,
    in_c_order,
    kind_of,
    order_of_copy,
    to_axes,
    to_axis,
    to_integer,
)
from ._outputs import check_out, to_out, written, written_indices
from ._types import part_type, to_type, typed
from .data_types import result_type

if TYPE_CHECKING:
    import numpy as np

    from ..typing import ArrayOrNumber

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "ptp", "std", "sum",
    "var",
]  # fmt: skip

Axis = SupportsIndex | Sequence[SupportsIndex] | None


def _array(x: Any, name: str) -> _usmx.ndarray:
    """The argument, or an array made of it. TypeError names what it was."""
    if isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"{name}: {x!r} ({type(x).__name__}); expected an array")
    return as_array(x)


def _axes(axis: Axis, ndim: int) -> tuple[int, ...] | None:
    """Axes counted from the front, in order; None for all."""
    return None if axis is None else tuple(sorted(to_axes(axis, ndim)))


def _counted(shape: tuple[int, ...], axes: tuple[int, ...] | None) -> int:
    """How many elements are reduced together."""
    count = 1
    for number, length in enumerate(shape):
        if axes is None or number in axes:
            count *= length
    return count


def _require_elements(name: str, shape: tuple[int, ...], axes: tuple[int, ...] | None) -> None:
    """Raise ValueError where a reduction that has no identity has nothing to reduce."""
    if _counted(shape, axes) == 0:
        raise ValueError(
            f"{name}: a has shape {shape}; expected at least one element along the reduced axes"
        )


def _reduce(
    x: _usmx.ndarray,
    value: np.dtype[Any] | str,
    result: np.dtype[Any] | str,
    axis: Axis,
    keepdims: bool,
    out: _usmx.ndarray | None = None,
    **texts: Any,
) -> _usmx.ndarray:
    """Reduce the axes; into `out` results are cast by any rule, as NumPy's."""
    if (into := to_out(out)) is not None and into.dtype != result:
        made = _reduce(x, value, result, axis, keepdims, None, **texts)
        return written(made, into, "unsafe")
    axes = _axes(axis, x.ndim)
    if into is not None:
        check_out(into, _reduced(x.shape, axes, keepdims), result, "unsafe")
    if axes == ():  # each element by itself
        x, axes, keepdims = x[..., None], (x.ndim,), False
    return _usmx._reduce(x, value, result, axes=axes, keepdims=keepdims, out=into, **texts)


def _reduced(
    shape: tuple[int, ...], axes: tuple[int, ...] | None, keepdims: bool
) -> tuple[int, ...]:
    """The shape of a reduction."""
    gone = range(len(shape)) if axes is None else axes
    if keepdims:
        return tuple(1 if k in gone else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in gone)


def _selected(a: _usmx.ndarray, where: Any, other: Any) -> _usmx.ndarray:
    """The elements that count, and another number in the places of the rest."""
    if where is True:
        return a
    import numpy as np

    from . import elementwise

    chosen = where if isinstance(where, _usmx.ndarray) else as_array(np.asarray(where))
    if chosen.dtype.kind != "b":
        raise TypeError(f"where: expected an array of bools, got {chosen.dtype}")
    selected: _usmx.ndarray = elementwise.where(chosen, a, typed(other, a.dtype))
    if selected.shape != a.shape:
        raise ValueError(f"where: shape {chosen.shape} cannot be broadcast to {a.shape}, that of x")
    return selected


def _begun(
    made: _usmx.ndarray, initial: Any, operation: str, out: _usmx.ndarray | None
) -> _usmx.ndarray:
    """A reduction together with the number that it begins with."""
    if initial is None:
        return made
    import numpy as np

    from . import elementwise

    if shape := np.shape(initial):
        raise ValueError(f"initial: expected a number, got an array of shape {shape}")
    begun: _usmx.ndarray = getattr(elementwise, operation)(made, typed(initial, made.dtype))
    return written(begun, out, "unsafe")


def _type_of_out(x: _usmx.ndarray, dtype: Any, out: Any) -> Any:
    """As NumPy's reductions: without a type, they compute in one that also holds the output's."""
    into = to_out(out)
    return result_type(x.dtype, into.dtype) if dtype is None and into is not None else dtype


def sum(
    a: _usmx.ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Add elements.

    Parameters
    ----------
    a : array
        Of any type of numbers. Bools and integers are added as 64-bit integers.
    axis : int or tuple of int, optional
        The axes along which to add; all by default.
    dtype : dtype, optional
        The type of the result, which is also added in.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    out : ndarray, optional
        The result is written into this array.
    initial : number, optional
        Added to the result.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of an empty array 0. Floating-point numbers are added in pairs, the same from run to run.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([[1, 2], [3, 4]])
    >>> usmx.sum(x).item()
    10
    >>> print(usmx.sum(x, axis=0))
    [4, 6]
    """
    if out is None and initial is None and where is True and dtype is None:
        made = _usmx._reduced("sum", a, axis, keepdims)
        if made is not None:
            return made
    a = _array(a, "a")
    how = _usmx._Reduction("sum", a.dtype, _type_of_out(a, dtype, out))
    a = _selected(a, where, 0)
    into = out if initial is None else None
    made = _reduce(a, axis=axis, keepdims=keepdims, out=into, **how.keywords)
    return _begun(made, initial, "add", out)


def prod(
    a: _usmx.ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Multiply elements; of none 1.

    Parameters
    ----------
    a : array
        Of any type of numbers. Bools and integers are multiplied as 64-bit integers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type of the result, which is also computed in.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        Multiplied with the result.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`, of bools and integers int64 or uint64; of an empty array 1. Integers
        that do not fit wrap around, as in NumPy.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> usmx.prod(usmx.asarray([2, 3, 4])).item()
    24
    """
    if out is None and initial is None and where is True and dtype is None:
        made = _usmx._reduced("prod", a, axis, keepdims)
        if made is not None:
            return made
    a = _array(a, "a")
    how = _usmx._Reduction("prod", a.dtype, _type_of_out(a, dtype, out))
    a = _selected(a, where, 1)
    into = out if initial is None else None
    made = _reduce(a, axis=axis, keepdims=keepdims, out=into, **how.keywords)
    return _begun(made, initial, "multiply", out)


def _extreme(
    name: str,
    x: Any,
    axis: Axis,
    keepdims: bool,
    out: _usmx.ndarray | None,
    initial: Any,
    where: Any,
) -> _usmx.ndarray:
    a = _array(x, "a")
    if out is not None:
        a = a.astype(_type_of_out(a, None, out), copy=False)
    axes = _axes(axis, a.ndim)
    if initial is None:
        if where is not True:
            raise ValueError(f"{name}: where= needs initial=, for where no element counts")
        _require_elements(name, a.shape, axes)
    elif _counted(a.shape, axes) == 0:
        # One element for each result, which is the number that it begins with.
        ones = [1 if axes is None or k in axes else n for k, n in enumerate(a.shape)]
        a = _usmx.full(tuple(ones), initial, dtype=a.dtype, usm_type=kind_of(a), queue=a.sycl_queue)
    else:
        a = _selected(a, where, initial)
    into = out if initial is None else None
    how = _usmx._Reduction(name, a.dtype)
    made = _reduce(a, axis=axis, keepdims=keepdims, out=into, **how.keywords)
    return _begun(made, initial, {"max": "maximum", "min": "minimum"}[name], out)


def max(
    a: _usmx.ndarray,
    axis: Axis = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the largest element; NaN if there is one.

    Parameters
    ----------
    a : array
        Of any type of numbers; complex ones are compared by their real parts, equal ones of these
        by their imaginary parts.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        The least result. Needed for an empty array, and with `where`.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`.

    Raises
    ------
    ValueError
        There are no elements and no `initial`; `where` without `initial`; an axis that `a` does not
        have, or twice.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.amax(usmx.asarray([[3, 1], [2, 5]]), axis=0))
    [3, 5]
    """
    if out is None and initial is None and where is True:
        made = _usmx._reduced("max", a, axis, keepdims)
        if made is not None:
            return made
    return _extreme("max", a, axis, keepdims, out, initial, where)


def min(
    a: _usmx.ndarray,
    axis: Axis = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the smallest element; NaN if there is one.

    Parameters
    ----------
    a : array
        Of any type of numbers; complex ones are compared as by `max`.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    initial : number, optional
        The largest result. Needed for an empty array, and with `where`.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`.

    Raises
    ------
    ValueError
        There are no elements and no `initial`; `where` without `initial`; an axis that `a` does not
        have, or twice.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.amin(usmx.asarray([[3, 1], [2, 5]]), axis=0))
    [2, 1]
    """
    if out is None and initial is None and where is True:
        made = _usmx._reduced("min", a, axis, keepdims)
        if made is not None:
            return made
    return _extreme("min", a, axis, keepdims, out, initial, where)


amax = max
amin = min


def ptp(
    a: _usmx.ndarray,
    axis: Axis = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
) -> _usmx.ndarray:
    """Give the largest minus the smallest element.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Of the type of `a`; NaN where an element is NaN.

    Raises
    ------
    ValueError
        There are no elements; an axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.ptp(usmx.asarray([[1, 5], [2, 2]]), axis=1))
    [4, 0]
    """
    made = max(a, axis=axis, keepdims=keepdims) - min(a, axis=axis, keepdims=keepdims)
    return written(made, out)


def any(
    a: _usmx.ndarray,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Say whether an element is not 0; of none False. NaN counts as not 0.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of bools.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([[True, False], [False, False]])
    >>> print(usmx.any(x, axis=1))
    [ True, False]
    """
    if out is None and where is True and getattr(a, "size", 0) < _whole.LEAST:
        made = _usmx._reduced("any", a, axis, keepdims)
        if made is not None:
            return made
    a = _selected(_array(a, "a"), where, False)
    if out is None and not a._is_deferred and _whole.suits(a, axis, "biuf"):
        return _whole.has(a, False, keepdims)
    how = _usmx._Reduction("any", a.dtype)
    return _reduce(a, axis=axis, keepdims=keepdims, out=out, **how.keywords)


def all(
    a: _usmx.ndarray,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Say whether no element is 0; of none True. NaN counts as not 0.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    out : ndarray, optional
        The result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of bools.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([[True, False], [True, True]])
    >>> print(usmx.all(x, axis=1))
    [False,  True]
    """
    if out is None and where is True and getattr(a, "size", 0) < _whole.LEAST:
        made = _usmx._reduced("all", a, axis, keepdims)
        if made is not None:
            return made
    a = _selected(_array(a, "a"), where, True)
    if out is None and not a._is_deferred and _whole.suits(a, axis, "biuf"):
        return _whole.has(a, True, keepdims)
    how = _usmx._Reduction("all", a.dtype)
    return _reduce(a, axis=axis, keepdims=keepdims, out=out, **how.keywords)


def _mean_types(dtype: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The types that a mean is computed in, and has."""
    how = _usmx._Reduction("mean", dtype)
    return how.value, how.result


@cache
def _divided(value: np.dtype[Any], by: str) -> str:
    """C++ for the sum `a` divided by a number; of complex numbers both parts."""
    from .._kernel.types.scalars import cpp

    part = cpp(part_type(value))
    if value.kind == "c":
        return f"a.re / {part}({by}), a.im / {part}({by})"
    return f"a / {part}({by})"


def mean(
    a: _usmx.ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the mean; of integers as float64, of an empty array NaN.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to take it; all by default.
    dtype : dtype, optional
        The type to compute in.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    out : ndarray, optional
        The result is written into this array.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.

    Returns
    -------
    ndarray
        Of the type of `a`; of bools and integers float64, or float32 on devices without float64.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.mean(usmx.asarray([[1.0, 2.0], [3.0, 6.0]]), axis=0))
    [2., 4.]
    """
    if out is None and where is True and dtype is None:
        made = _usmx._reduced("mean", a, axis, keepdims)
        if made is not None:
            return made
    a = _array(a, "a")
    into = to_out(out)
    named = dtype
    if dtype is None and into is not None and a.dtype.kind not in "biu":
        named = into.dtype
    if named is not None and to_type(named).kind in "biu":
        # As NumPy: the sum is of that type, and so is what the division leaves.
        total = sum(a, axis=axis, dtype=named, keepdims=keepdims, where=where)
        return written((total / _counted_where(a, axis, keepdims, where)).astype(named), out)
    how = _usmx._Reduction("mean", a.dtype, dtype)
    value, result = how.value, how.result
    if where is not True:
        total = sum(a, axis=axis, dtype=value, keepdims=keepdims, where=where)
        count = _counted_where(a, axis, keepdims, where).astype(part_type(value))
        return written((total / count).astype(result), out)
    return _reduce(a, axis=axis, keepdims=keepdims, out=out, **how.keywords)


_mean = mean


def var(
    a: _usmx.ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float = 0.0,
) -> _usmx.ndarray:
    """Give the variance: the mean of the squares of the distances from the mean.

    Parameters
    ----------
    a : array
        Of any type of numbers; of complex ones the absolute distances count.
    axis : int or tuple of int, optional
        The axes along which to take it; all by default.
    dtype : dtype, optional
        The type to compute in.
    out : ndarray, optional
        The result is written into this array.
    ddof, correction : float, optional
        Subtracted from the number of elements that the sum is divided by: NumPy's name, and that
        of the standard.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.
    mean : array, optional
        The mean, as ``usmx.mean`` gives it with ``keepdims=True``, where it is known already.

    Returns
    -------
    ndarray
        Of real numbers of the size of those in `a`; of bools and integers float64. NaN where
        nothing is left to divide by.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice; both `ddof` and `correction`.

    Examples
    --------
    >>> import usmx
    >>> usmx.var(usmx.asarray([1.0, 5.0])).item()
    4.0
    """
    by = _correction(ddof, correction)
    if dtype is not None or where is not True or mean is not None or out is not None:
        into = to_out(out)
        given = _array(a, "a")
        return written(_variance(given, axis, dtype, by, keepdims, where, mean, into), into)
    if axis is None and not keepdims and (few := _usmx._small_variance(a, float(by))) is not None:
        return few
    from .._kernel.types.scalars import cpp

    a = _array(a, "a")
    value, result = _mean_types(a.dtype)
    if a.dtype != value:
        a = a.astype(value)
    real, part = part_type(value), part_type(result)
    # As NumPy: never less than nothing to divide by.
    divisor = f"(n - {float(by)!r} > 0 ? n - {float(by)!r} : 0)"
    if value.kind == "f" and axis is None and not a.device._groups_are_loops:
        # Once through memory, where that is what takes the time. Rows are in the caches the second
        # time; down columns an item joins more elements one after the other, and loses digits.
        moments = f"expression::moments<{cpp(value)}>"
        return _reduce(
            a,
            value,
            result,
            axis,
            keepdims,
            map="expression::moments_of(x)",
            reduce="expression::joined(a, b)",
            identity=f"{moments}{{}}",
            post_map=f"expression::spread(a) / {cpp(value)}({divisor})",
            reduce_type=moments,
        )
    distance = a - _mean(a, axis=axis, keepdims=True)
    square = "x.re * x.re + x.im * x.im" if value.kind == "c" else "x * x"
    return _reduce(
        distance,
        value,
        part,
        axis,
        keepdims,
        map=square,
        reduce="a + b",
        identity="0",
        post_map=_divided(real, divisor),
        reduce_type=cpp(real),
    )


def std(
    a: _usmx.ndarray,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float = 0.0,
) -> _usmx.ndarray:
    """Give the standard deviation: the square root of `var`.

    Parameters
    ----------
    a : array
        Of any type of numbers; of complex ones the absolute distances count.
    axis : int or tuple of int, optional
        The axes along which to reduce; all by default.
    dtype : dtype, optional
        The type to compute in.
    out : ndarray, optional
        The result is written into this array.
    ddof, correction : float, optional
        Subtracted from the number of elements that the sum is divided by: NumPy's name, and that of
        the standard.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `a`.
    mean : array, optional
        The mean, as ``usmx.mean`` gives it with ``keepdims=True``, where it is known already.

    Returns
    -------
    ndarray
        Of real numbers of the size of those in `a`; of bools and integers float64.

    Raises
    ------
    ValueError
        An axis that `a` does not have, or twice; both `ddof` and `correction`.

    Examples
    --------
    >>> import usmx
    >>> usmx.std(usmx.asarray([1.0, 3.0])).item()
    1.0
    """
    from .elementwise import sqrt

    by = _correction(ddof, correction)
    if dtype is None and where is True and mean is None and out is None:
        return sqrt(var(a, axis, None, None, by, keepdims))
    into = to_out(out)
    squared = _variance(_array(a, "a"), axis, dtype, by, keepdims, where, mean, into)
    root = sqrt(squared)
    # A root of integers is of floats, which an array of integers does not take.
    return written(root if into is not None else root.astype(squared.dtype, copy=False), into)


def _correction(ddof: float, correction: float) -> float:
    """What is subtracted from the number of elements, by one of its two names."""
    if not correction:
        return ddof
    if ddof:
        raise ValueError(f"ddof: {ddof}, and correction: {correction}; expected one of them")
    return correction


def _counted_where(a: _usmx.ndarray, axis: Axis, keepdims: bool, where: Any) -> _usmx.ndarray:
    """How many elements count, for each result, as float64 (float32 without that type)."""
    dtype = default_float(a.queue)
    if where is True:
        axes = _axes(axis, a.ndim)
        shape = _reduced(a.shape, axes, keepdims)
        count = _counted(a.shape, axes)
        return _usmx.full(shape, count, dtype, usm_type=kind_of(a), queue=a.queue)
    return sum(_selected(_usmx.ones_like(a, dtype=dtype), where, 0), axis=axis, keepdims=keepdims)


def _variance(
    a: _usmx.ndarray, axis: Axis, dtype: Any, by: float, keepdims: bool, where: Any, known: Any,
    out: _usmx.ndarray | None,
) -> _usmx.ndarray:  # fmt: skip
    """The variance of elements that are selected, in a type, or with a mean that is known."""
    from .elementwise import imag, maximum, real

    value, result = _mean_types(a.dtype) if dtype is None else (to_type(dtype),) * 2
    if known is None:
        known = _mean(a, axis=axis, dtype=value, keepdims=True, where=where)
    distance = a - as_array(known, a)
    if distance.dtype.kind == "c":
        distance, other = real(distance), imag(distance)
        square = distance * distance + other * other
        if dtype is None:
            value, result = part_type(value), part_type(result)
    else:
        square = distance * distance
    if dtype is None and a.dtype.kind not in "biu" and out is not None:
        value = result = out.dtype
    total = sum(square, axis=axis, dtype=value, keepdims=keepdims, where=where)
    count = maximum(_counted_where(a, axis, keepdims, where) - by, 0.0)
    if total.dtype.kind in "fc":
        count = count.astype(part_type(total.dtype))
    return (total / count).astype(result, copy=False)


@cache
def _place_kernel(name: str, is_complex: bool) -> _usmx.ReductionKernel:
    """The place of an extreme: the first NaN if there is one, else the first of equal elements."""
    order = ">" if name == "argmax" else "<"
    before = f"p.x {order} q.x"
    if is_complex:
        before = f"(p.x.re {order} q.x.re) | ((p.x.re == q.x.re) & (p.x.im {order} q.x.im))"
    return _usmx.ReductionKernel(
        "T x",
        "int64 place",
        "placed{x, int64_t(i)}",
        "first(a, b)",
        "place = a.at",
        None,
        name,
        reduce_type="placed",
        preamble="struct placed { T x; int64_t at; };\n"
        "inline placed first(placed p, placed q) {\n"
        # Without branches, so that items become vectors; of integers nothing is NaN.
        "  const bool p_nan = p.x != p.x, q_nan = q.x != q.x;\n"
        "  const bool same = (p.x == q.x) | (p_nan & q_nan);\n"
        f"  const bool before = (p_nan & !q_nan) | (!q_nan & ({before}));\n"
        "  const bool chosen = before | (same & (p.at < q.at));\n"
        "  return {chosen ? p.x : q.x, chosen ? p.at : q.at};\n"
        "}\n",
    )


def _place(
    name: str, x: Any, axis: SupportsIndex | None, out: _usmx.ndarray | None, keepdims: bool
) -> _usmx.ndarray:
    if out is not None:
        return written_indices(_place(name, x, axis, None, keepdims), out)
    if axis is not None and not isinstance(axis, int):
        axis = to_integer(axis, "axis")
    if axis is None and not keepdims:
        few = _usmx._small_place(x, name == "argmax")
        if few is not None:
            return few
    a = _array(x, "a")
    axes = _axes(axis, a.ndim)
    _require_elements(name, a.shape, axes)
    if _whole.suits(a, axes, "biuf"):
        return _whole.place(a, name == "argmax", keepdims)
    # In C order, as NumPy's, although reductions keep the order of axes.
    return in_c_order(_place_kernel(name, a.dtype.kind == "c")(a, axis=axes, keepdims=keepdims))


def argmax(
    a: _usmx.ndarray,
    axis: SupportsIndex | None = None,
    out: _usmx.ndarray | None = None,
    *,
    keepdims: bool = False,
) -> _usmx.ndarray:
    """Give the index of the largest element, of equal ones the first; of the first NaN.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements are counted in C order.
    out : ndarray, optional
        Of integers; the result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Of int64. `unravel_index` makes indices along each axis of those without an axis.

    Raises
    ------
    ValueError
        There are no elements along the axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.argmax(usmx.asarray([[3, 1], [2, 5]]), axis=1))
    [0, 1]
    """
    return _place("argmax", a, axis, out, keepdims)


def argmin(
    a: _usmx.ndarray,
    axis: SupportsIndex | None = None,
    out: _usmx.ndarray | None = None,
    *,
    keepdims: bool = False,
) -> _usmx.ndarray:
    """Give the index of the smallest element, of equal ones the first; of the first NaN.

    Parameters
    ----------
    a : array
        Of any type of numbers.
    axis : int, optional
        Along which; without it all elements are counted in C order.
    out : ndarray, optional
        Of integers; the result is written into this array.
    keepdims : bool, optional
        Whether the axes stay, with length one.

    Returns
    -------
    ndarray
        Of int64. `unravel_index` makes indices along each axis of those without an axis.

    Raises
    ------
    ValueError
        There are no elements along the axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.argmin(usmx.asarray([[3, 1], [2, 5]]), axis=1))
    [1, 0]
    """
    return _place("argmin", a, axis, out, keepdims)


def _cumulative(
    product: bool, x: Any, axis: SupportsIndex | None, dtype: Any, first: int | None
) -> _usmx.ndarray:
    a = x if isinstance(x, _usmx.ndarray) else _array(x, "x")
    if a.ndim == 0:
        a = a.reshape(1)  # as in NumPy
    done = _usmx._cumulative(a, axis, product, None if dtype is None else to_type(dtype))
    if first is None:
        return done
    at = 0 if axis is None else to_axis(axis, a.ndim)
    shape = [length + (k == at) for k, length in enumerate(done.shape)]
    whole = empty_in_order(done, shape, order_of_copy(done))
    whole[along(at, slice(0, 1))] = first
    whole[along(at, slice(1, None))] = done
    return whole


def cumulative_sum(
    x: _usmx.ndarray,
    *,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    include_initial: bool = False,
) -> _usmx.ndarray:
    """Give the sums of the elements up to each, along an axis.

    Parameters
    ----------
    x : array
        Of any type of numbers; types as those of `sum`.
    axis : int, optional
        Needed for more than one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.
    include_initial : bool, optional
        Whether 0, the sum of an empty array, comes first, which makes the axis one longer.

    Returns
    -------
    ndarray
        Of the shape of `x`, with `include_initial` one longer along the axis.

    Raises
    ------
    ValueError
        More than one dimension and no axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cumulative_sum(usmx.asarray([1, 2, 3]), include_initial=True))
    [0, 1, 3, 6]
    """
    first = 0 if include_initial else None
    if out is not None:
        dtype = _type_of_out(_array(x, "x"), dtype, out)
    return written(_cumulative(False, x, axis, dtype, first), out, "unsafe")


def cumulative_prod(
    x: _usmx.ndarray,
    *,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    include_initial: bool = False,
) -> _usmx.ndarray:
    """Give the products of the elements up to each, along an axis.

    Parameters
    ----------
    x : array
        Of any type of numbers; types as those of `prod`.
    axis : int, optional
        Needed for more than one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.
    include_initial : bool, optional
        Whether 1, the product of an empty array, comes first, which makes the axis one longer.

    Returns
    -------
    ndarray
        Of the shape of `x`, with `include_initial` one longer along the axis.

    Raises
    ------
    ValueError
        More than one dimension and no axis.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cumulative_prod(usmx.asarray([1, 2, 3]), include_initial=True))
    [1, 1, 2, 6]
    """
    first = 1 if include_initial else None
    if out is not None:
        dtype = _type_of_out(_array(x, "x"), dtype, out)
    return written(_cumulative(True, x, axis, dtype, first), out, "unsafe")


def cumsum(
    a: _usmx.ndarray,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
) -> _usmx.ndarray:
    """Give the sums of the elements up to each, as NumPy's function of that name does.

    Parameters
    ----------
    a : array
        Of any type of numbers; types as those of `sum`.
    axis : int, optional
        Along which; without it all elements in C order, in one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of the shape of `a`, or of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cumsum(usmx.asarray([1, 2, 3, 4])))
    [ 1,  3,  6, 10]
    """
    a = _array(a, "a")
    if axis is None or a.ndim == 0:
        a, axis = a.reshape(-1), 0 if axis is None else axis
    return cumulative_sum(a, axis=axis, dtype=dtype, out=out)


def cumprod(
    a: _usmx.ndarray,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
) -> _usmx.ndarray:
    """Give the products of the elements up to each, as NumPy's function of that name does.

    Parameters
    ----------
    a : array
        Of any type of numbers; types as those of `prod`.
    axis : int, optional
        Along which; without it all elements in C order, in one dimension.
    dtype : dtype, optional
        The type of the result.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of the shape of `a`, or of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.cumprod(usmx.asarray([1, 2, 3, 4])))
    [ 1,  2,  6, 24]
    """
    a = _array(a, "a")
    if axis is None or a.ndim == 0:
        a, axis = a.reshape(-1), 0 if axis is None else axis
    return cumulative_prod(a, axis=axis, dtype=dtype, out=out)


def diff(
    a: _usmx.ndarray,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayOrNumber | None = None,
    append: ArrayOrNumber | None = None,
) -> _usmx.ndarray:
    """Give the differences of neighbours along an axis; of bools whether they differ.

    Parameters
    ----------
    a : array
        With at least one dimension.
    n : int, optional
        How many times differences are taken.
    axis : int, optional
        Along which neighbours stand.
    prepend, append : array or number, optional
        Elements that stand before and after those of `a` along the axis.

    Returns
    -------
    ndarray
        Shorter by `n` along the axis, without `prepend` and `append`; of the type of `a`.

    Raises
    ------
    ValueError
        `n` is negative, or `a` has no dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.diff(usmx.asarray([1, 2, 4, 7])))
    [1, 2, 3]
    """
    a = _array(a, "a")
    times = n.__index__()
    if times == 0:
        return a  # without what stands before and after, as NumPy does
    if times < 0:
        raise ValueError(f"n: {times} is negative")
    if a.ndim == 0:
        raise ValueError("a: has no dimensions; expected at least one")
    along = to_axis(axis, a.ndim)
    if prepend is not None or append is not None:
        from .manipulation import concat

        parts = as_arrays(one for one in (prepend, a, append) if one is not None)
        for k, one in enumerate(parts):
            if one.ndim == 0:
                parts[k] = _usmx.broadcast_to(one, (*a.shape[:along], 1, *a.shape[along + 1 :]))
        a = concat(parts, axis=along)
    for _ in range(builtins.min(times, a.shape[along])):  # then there is no element left
        before: list[Any] = [slice(None)] * a.ndim
        after = list(before)
        before[along], after[along] = slice(None, -1), slice(1, None)
        later, earlier = a[tuple(after)], a[tuple(before)]
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a
