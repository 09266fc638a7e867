"""Sums, means, extremes and their places; what was put off is computed on the way."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import _usmx
from . import _whole
from ._common import as_array, as_arrays, to_axes, to_axis
from ._types import part_type, sum_type, to_type, typed

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


def _reduce(
    x: _usmx.ndarray,
    value: np.dtype[Any] | str,
    result: np.dtype[Any] | str,
    axis: Axis,
    keepdims: bool,
    out: _usmx.ndarray | None = None,
    **texts: Any,
) -> _usmx.ndarray:
    axes = _axes(axis, x.ndim)
    if axes == ():  # each element by itself
        x, axes, keepdims = x[..., None], (x.ndim,), False
    return _usmx._reduce(x, value, result, axes=axes, keepdims=keepdims, out=out, **texts)


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

    first = np.asarray(initial)
    if first.ndim:
        raise ValueError(f"initial: expected a number, got an array of shape {first.shape}")
    begun: _usmx.ndarray = getattr(elementwise, operation)(made, typed(first, made.dtype), out=out)
    return begun


def _sum_types(x: _usmx.ndarray, dtype: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The type that is summed in, and that of the result, as NumPy chooses them."""
    import numpy as np

    own: np.dtype[Any] = x.dtype
    if dtype is not None:
        result = to_type(dtype)
    elif own.kind in "bi":
        result = np.dtype("q")
    elif own.kind == "u":
        result = np.dtype("Q")
    else:
        result = own
    return sum_type(result), result


def sum(
    x: _usmx.ndarray,
    /,
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
    x : array
        Of any type of numbers. Bools and integers are added as 64-bit integers.
    axis : int or tuple of int, optional
        The axes along which to add; all by default.
    dtype : optional
        The type of the result, which is also added in.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    out : ndarray, optional
        The result is written into this array.
    initial : number, optional
        Added to the result.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `x`.

    Returns
    -------
    ndarray
        Of no elements 0. Floating-point numbers are added in pairs, the same from run to run.

    Raises
    ------
    ValueError
        An axis that `x` does not have, or twice.
    """
    if out is None and initial is None and where is True and dtype is None:
        made = _usmx._sum(x, axis, keepdims)
        if made is not None:
            return made
    a = _array(x, "x")
    value, result = _sum_types(a, dtype)
    a = _selected(a, where, 0)
    made = _reduce(a, value, result, axis, keepdims, out, reduce="a + b", identity="0")
    return _begun(made, initial, "add", out)


def prod(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Multiply elements; of none 1. Parameters and types as those of `sum`."""
    if out is None and initial is None and where is True and dtype is None:
        made = _usmx._prod(x, axis, keepdims)
        if made is not None:
            return made
    a = _array(x, "x")
    value, result = _sum_types(a, dtype)
    a = _selected(a, where, 1)
    made = _reduce(a, value, result, axis, keepdims, out, reduce="a * b", identity="1")
    return _begun(made, initial, "multiply", out)


def _extreme(
    name: str,
    function: str,
    x: Any,
    axis: Axis,
    keepdims: bool,
    out: _usmx.ndarray | None,
    initial: Any,
    where: Any,
) -> _usmx.ndarray:
    a = _array(x, "x")
    if a.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order; x has type {a.dtype}")
    axes = _axes(axis, a.ndim)
    if initial is None:
        if where is not True:
            raise ValueError(f"{name}: where= needs initial=, for where no element counts")
        if _counted(a.shape, axes) == 0:
            raise ValueError(f"{name}: x has shape {a.shape}: of no elements there is none")
    elif _counted(a.shape, axes) == 0:
        # One element for each result, which is the number that it begins with.
        ones = [1 if axes is None or k in axes else n for k, n in enumerate(a.shape)]
        a = _usmx.full(tuple(ones), initial, dtype=a.dtype, queue=a.sycl_queue)
    else:
        a = _selected(a, where, initial)
    made = _reduce(a, a.dtype, a.dtype, axis, keepdims, out, reduce=f"{function}(a, b)")
    return _begun(made, initial, {"max": "maximum", "min": "minimum"}[name], out)


def max(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the largest element; NaN if there is one.

    Of no elements it is `initial`, and without that ValueError. `initial` and `where` are as
    those of `sum`; `where` needs `initial`.
    """
    if out is None and initial is None and where is True:
        made = _usmx._max(x, axis, keepdims)
        if made is not None:
            return made
    return _extreme("max", "larger", x, axis, keepdims, out, initial, where)


def min(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the smallest element; NaN if there is one. Parameters as those of `max`."""
    if out is None and initial is None and where is True:
        made = _usmx._min(x, axis, keepdims)
        if made is not None:
            return made
    return _extreme("min", "smaller", x, axis, keepdims, out, initial, where)


amax = max
amin = min


def ptp(x: _usmx.ndarray, /, axis: Axis = None, *, keepdims: bool = False) -> _usmx.ndarray:
    """Give the largest minus the smallest element."""
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)


def any(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Say whether an element is not 0; of none False. NaN counts as not 0."""
    if out is None and where is True and getattr(x, "size", 0) < _whole.LEAST:
        made = _usmx._any(x, axis, keepdims)
        if made is not None:
            return made
    a = _selected(_array(x, "x"), where, False)
    if out is None and not a._is_deferred and _whole.suits(a, axis, "biuf"):
        return _whole.has(a, False, keepdims)
    return _reduce(
        a,
        "bool",
        "bool",
        axis,
        keepdims,
        out,
        reduce="a || b",
        identity="false",
    )


def all(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Say whether no element is 0; of none True. NaN counts as not 0."""
    if out is None and where is True and getattr(x, "size", 0) < _whole.LEAST:
        made = _usmx._all(x, axis, keepdims)
        if made is not None:
            return made
    a = _selected(_array(x, "x"), where, True)
    if out is None and not a._is_deferred and _whole.suits(a, axis, "biuf"):
        return _whole.has(a, True, keepdims)
    return _reduce(
        a,
        "bool",
        "bool",
        axis,
        keepdims,
        out,
        reduce="a && b",
        identity="true",
    )


def _mean_types(x: _usmx.ndarray, dtype: Any = None) -> tuple[np.dtype[Any], np.dtype[Any]]:
    import numpy as np

    own: np.dtype[Any] = x.dtype if dtype is None else to_type(dtype)
    result = np.dtype("d") if own.kind in "biu" else own
    return sum_type(result), result


@cache
def _divided(value: np.dtype[Any], by: str) -> str:
    """C++ for the sum `a` divided by a number; of complex numbers both parts."""
    from .._fusion.spelling import cpp

    part = cpp(part_type(value))
    if value.kind == "c":
        return f"a.re / {part}({by}), a.im / {part}({by})"
    return f"a / {part}({by})"


def mean(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    dtype: Any = None,
    out: _usmx.ndarray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> _usmx.ndarray:
    """Give the mean; of integers as float64, of no elements NaN.

    Parameters
    ----------
    x : array
        Of any type of numbers.
    axis : int or tuple of int, optional
        The axes along which to take it; all by default.
    dtype : optional
        The type to compute in.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    out : ndarray, optional
        The result is written into this array.
    where : array of bools, optional
        Which elements count; it is broadcast to the shape of `x`.

    Raises
    ------
    ValueError
        An axis that `x` does not have, or twice.
    """
    if out is None and where is True and dtype is None:
        made = _usmx._mean(x, axis, keepdims)
        if made is not None:
            return made
    a = _array(x, "x")
    value, result = _mean_types(a, dtype)
    if where is not True:
        from .elementwise import divide, positive

        total = sum(a, axis=axis, dtype=value, keepdims=keepdims, where=where)
        ones = _selected(_usmx.ones_like(a, dtype=value), where, 0)
        mean_of_some = divide(total, sum(ones, axis=axis, keepdims=keepdims)).astype(result)
        return mean_of_some if out is None else positive(mean_of_some, out=out)
    return _reduce(
        a,
        value,
        result,
        axis,
        keepdims,
        out,
        reduce="a + b",
        identity="0",
        post_map=_divided(value, "n"),
    )


def var(
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
) -> _usmx.ndarray:
    """Give the variance: the mean of the squares of the distances from the mean.

    Parameters
    ----------
    x : array
        Of any type of numbers; of complex ones the absolute distances count.
    axis : int or tuple of int, optional
        The axes along which to take it; all by default.
    correction : float, optional
        Subtracted from the number of elements that the sum is divided by. NumPy's ``ddof`` is
        another name of it.
    keepdims : bool, optional
        Whether the axes stay, with length one.
    """
    by = correction if ddof is None else ddof
    if axis is None and not keepdims and (few := _usmx._few_variance(x, by)) is not None:
        return few
    from .._fusion.spelling import cpp

    a = _array(x, "x")
    value, result = _mean_types(a)
    if a.dtype != value:
        a = a.astype(value)
    distance = a - mean(a, axis=axis, keepdims=True)
    real, part = part_type(value), part_type(result)
    square = "x.re * x.re + x.im * x.im" if value.kind == "c" else "x * x"
    # As NumPy: never less than nothing to divide by.
    divisor = f"(n - {float(by)!r} > 0 ? n - {float(by)!r} : 0)"
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
    x: _usmx.ndarray,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
) -> _usmx.ndarray:
    """Give the standard deviation, the root of `var`."""
    from .elementwise import sqrt

    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims, ddof=ddof))


@cache
def _place_kernel(name: str) -> _usmx.ReductionKernel:
    """The place of an extreme: the first NaN if there is one, else the first of equal elements."""
    before = ">" if name == "argmax" else "<"
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
        f"  const bool before = (p_nan & !q_nan) | (!q_nan & (p.x {before} q.x));\n"
        "  const bool chosen = before | (same & (p.at < q.at));\n"
        "  return {chosen ? p.x : q.x, chosen ? p.at : q.at};\n"
        "}\n",
    )


def _place(name: str, x: Any, axis: SupportsIndex | None, keepdims: bool) -> _usmx.ndarray:
    if axis is None and not keepdims:
        few = _usmx._few_place(x, name == "argmax")
        if few is not None:
            return few
    a = _array(x, "x")
    if a.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order; x has type {a.dtype}")
    axes = _axes(axis, a.ndim)
    if _counted(a.shape, axes) == 0:
        raise ValueError(f"{name}: x has shape {a.shape}: of no elements there is none")
    if _whole.suits(a, axes, "biuf"):
        return _whole.place(a, name == "argmax", keepdims)
    return _place_kernel(name)(a, axis=axes, keepdims=keepdims)


def argmax(
    x: _usmx.ndarray, /, axis: SupportsIndex | None = None, *, keepdims: bool = False
) -> _usmx.ndarray:
    """Give the index of the largest element, of equal ones the first; of the first NaN.

    Without an axis it counts elements in C order. ValueError of no elements.
    """
    return _place("argmax", x, axis, keepdims)


def argmin(
    x: _usmx.ndarray, /, axis: SupportsIndex | None = None, *, keepdims: bool = False
) -> _usmx.ndarray:
    """Give the index of the smallest element, of equal ones the first; of the first NaN.

    Without an axis it counts elements in C order. ValueError of no elements.
    """
    return _place("argmin", x, axis, keepdims)


@cache
def _scan_kernel(name: str, join: str, value: str, result: str, end: str) -> _usmx.ScanKernel:
    return _usmx.ScanKernel(
        f"{value} x", f"{result} y", "x", join, f"y = {end}(a)", None, name, scan_type=value
    )


def _cumulative(
    name: str, join: str, x: Any, axis: SupportsIndex | None, dtype: Any, first: int | None
) -> _usmx.ndarray:
    if dtype is None and first is None:
        few = _usmx._few_scan(x, axis, join == "a * b")
        if few is not None:
            return few
    a = _array(x, "x")
    if axis is None:
        if a.ndim != 1:
            raise ValueError(f"axis: is needed for an array of shape {a.shape}")
        axis = 0
    along = to_axis(axis, a.ndim)
    value, result = _sum_types(a, dtype)
    if a.dtype != value:
        a = a.astype(value)
    from .._fusion.spelling import cpp

    scan = _scan_kernel(name, join, value.name, result.name, cpp(result))
    done: _usmx.ndarray = scan(a, axis=along)
    if first is None:
        return done
    shape = list(done.shape)
    shape[along] += 1
    whole = _usmx.empty(tuple(shape), result, usm_type=a.usm_type, queue=a.queue)
    front: list[Any] = [slice(None)] * a.ndim
    front[along] = slice(0, 1)
    rest = list(front)
    rest[along] = slice(1, None)
    whole[tuple(front)] = first
    whole[tuple(rest)] = done
    return whole


def cumulative_sum(
    x: _usmx.ndarray,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> _usmx.ndarray:
    """Give the sums of the elements up to each, along an axis.

    Parameters
    ----------
    x : array
        Of any type of numbers; types as those of `sum`.
    axis : int, optional
        Needed for more than one dimension.
    dtype : optional
        The type of the result.
    include_initial : bool, optional
        Whether the sum of no elements comes first, which makes the axis one longer.
    """
    return _cumulative("cumulative_sum", "a + b", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: _usmx.ndarray,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> _usmx.ndarray:
    """Give the products of the elements up to each; see `cumulative_sum`."""
    return _cumulative("cumulative_prod", "a * b", x, axis, dtype, 1 if include_initial else None)


def cumsum(x: _usmx.ndarray, axis: SupportsIndex | None = None, dtype: Any = None) -> _usmx.ndarray:
    """As NumPy's: of all elements in C order if there is no axis; see `cumulative_sum`."""
    a = _array(x, "x")
    return cumulative_sum(a.reshape(-1) if axis is None else a, axis=axis or 0, dtype=dtype)


def cumprod(
    x: _usmx.ndarray, axis: SupportsIndex | None = None, dtype: Any = None
) -> _usmx.ndarray:
    """As NumPy's: of all elements in C order if there is no axis; see `cumulative_prod`."""
    a = _array(x, "x")
    return cumulative_prod(a.reshape(-1) if axis is None else a, axis=axis or 0, dtype=dtype)


def diff(
    x: _usmx.ndarray,
    /,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayOrNumber | None = None,
    append: ArrayOrNumber | None = None,
) -> _usmx.ndarray:
    """Give the differences of neighbours along an axis; of bools whether they differ.

    Parameters
    ----------
    x : array
        With at least one dimension.
    n : int, optional
        How many times differences are taken.
    axis : int, optional
        Along which neighbours stand.
    prepend, append : array or number, optional
        Elements that stand before and after those of `x` along the axis.
    """
    a = _array(x, "x")
    times = n.__index__()
    if times < 0:
        raise ValueError(f"n: {times} is negative")
    if a.ndim == 0:
        raise ValueError("x: has no dimensions; expected at least one")
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
