"""Choices and comparisons of whole arrays: `select`, `piecewise`, `array_equal`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array, as_arrays, is_in_c_order
from .data_types import result_type

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = ["array_equal", "array_equiv", "iscomplexobj", "isreal", "piecewise", "select"]


def _all(condition: ndarray) -> bool:
    from .statistics import all as all_of

    return builtins.bool(all_of(condition).item())


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Say whether two arrays have the same shape and equal elements. The host waits.

    Parameters
    ----------
    a1, a2 : array
        Of any shapes and types.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    bool
        False if the shapes differ.

    Examples
    --------
    >>> import usmx
    >>> usmx.array_equal(usmx.arange(3), usmx.asarray([0, 1, 2]))
    True
    """
    a, b = as_arrays((a1, a2))
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and {a.dtype.kind, b.dtype.kind} <= {"f", "c"}:
        from .elementwise import isnan

        same = same | (isnan(a) & isnan(b))
    return _all(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Say whether two arrays have equal elements once they are broadcast. The host waits.

    Parameters
    ----------
    a1, a2 : array
        Of any shapes and types.

    Returns
    -------
    bool
        False if they do not broadcast to the shape of one of them.

    Examples
    --------
    >>> import usmx
    >>> usmx.array_equiv(usmx.ones((2, 3)), usmx.ones(3))
    True
    """
    from .manipulation import broadcast_shapes

    a, b = as_arrays((a1, a2))
    try:
        broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return _all(a == b)


def iscomplexobj(x: Any) -> bool:
    """Say whether the type of an array is complex.

    Parameters
    ----------
    x : array
        Only its type counts.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx
    >>> usmx.iscomplexobj(usmx.asarray([1j]))
    True
    """
    return as_array(x).dtype.kind == "c"


def isreal(x: ArrayLike) -> ndarray:
    """Say of each element whether its imaginary part is 0.

    Parameters
    ----------
    x : array or number
        Of any type of numbers.

    Returns
    -------
    ndarray
        Of bools.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.isreal(usmx.asarray([1 + 0j, 1j])))
    [ True, False]
    """
    from .elementwise import imag

    a = as_array(x)
    return imag(a) == 0 if a.dtype.kind == "c" else _usmx.ones_like(a, "bool")


def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: Any = 0
) -> ndarray:
    """Choose from several arrays by conditions, of which the first that holds counts.

    Parameters
    ----------
    condlist : sequence of array of bools
        They broadcast with the choices.
    choicelist : sequence of array or number
        As many.
    default : array or number
        Where no condition holds.

    Returns
    -------
    ndarray
        Of the shape and the type in which the choices meet.

    Raises
    ------
    ValueError
        There are no conditions, or not as many choices.
    TypeError
        A condition is not an array of bools.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(4)
    >>> print(usmx.select([x < 1, x > 2], [x - 10, x * 10], -1))
    [-10,  -1,  -1,  30]
    """
    from .elementwise import where

    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"condlist: has {len(condlist)} conditions for {len(choicelist)} choices; expected as "
            "many, and one at least"
        )
    weak = (bool, int, float, complex)
    given = [one for one in (*condlist, *choicelist) if not isinstance(one, weak)]
    arrays = iter(as_arrays(given))
    conditions, choices = (
        [one if isinstance(one, weak) else next(arrays) for one in several]
        for several in (condlist, choicelist)
    )
    for number, condition in enumerate(conditions):
        if isinstance(condition, weak) or condition.dtype.kind != "b":
            of = getattr(condition, "dtype", type(condition).__name__)
            raise TypeError(f"condlist: condition {number} is of {of}; expected an array of bools")
    dtype = result_type(*choices, default)
    made: Any = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        made = where(condition, choice, made)
    result: ndarray = made.astype(dtype, copy=False)
    if not all(is_in_c_order(one) for one in (*conditions, *choices) if isinstance(one, ndarray)):
        result = result.copy()  # NumPy's is in C order
    return result


def piecewise(
    x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any
) -> ndarray:
    """Compute a function that is defined by pieces.

    Parameters
    ----------
    x : array
        Of any shape.
    condlist : array of bools or sequence of such
        Where each piece counts; of several that hold the last.
    funclist : sequence of callable or number
        A piece for each condition, and one more for all other elements; otherwise these are 0.
    *args, **kw : optional
        Passed on to the functions.

    Returns
    -------
    ndarray
        Of the shape and type of `x`.

    Raises
    ------
    ValueError
        There are neither as many pieces as conditions nor one more.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([-2.0, 3.0])
    >>> print(usmx.piecewise(x, [x < 0, x >= 0], [0.0, 1.0]))
    [0., 1.]
    """
    from .elementwise import logical_not

    a = as_array(x)
    if isinstance(condlist, ndarray):
        alone = condlist.ndim == a.ndim
    else:  # a list of bools is one condition, a list of lists or arrays several
        several = hasattr(condlist, "__len__") and hasattr(condlist[0], "__len__")
        alone = not several and (a.ndim > 0 or not hasattr(condlist, "__len__"))
    conditions = [
        as_array(c, a).astype("bool", copy=False) for c in ([condlist] if alone else condlist)
    ]
    pieces = list(funclist)
    if len(pieces) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(logical_not(rest))
    if len(pieces) != len(conditions):
        raise ValueError(
            f"funclist: has {len(pieces)} pieces for {len(conditions)} conditions; expected as "
            "many, or one more"
        )
    out = _usmx.zeros_like(a)
    for condition, piece in zip(conditions, pieces, strict=True):
        if not callable(piece):
            out[condition] = piece
            continue
        chosen = a[condition]
        if chosen.size:
            out[condition] = piece(chosen, *args, **kw)
    return out
