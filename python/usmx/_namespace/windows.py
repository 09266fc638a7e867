"""Windows of signals, as NumPy has them, and the Bessel function that one of them needs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from math import pi
from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import as_array, default_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._usmx import ndarray
    from ..typing import ArrayLike

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


def i0(x: ArrayLike) -> ndarray:
    """The modified Bessel function of the first kind and order 0 of each element.

    Parameters
    ----------
    x : array or number
        Real numbers.

    Returns
    -------
    ndarray
        Of the type of `x`; of integers and bools float64, or float32 on devices without float64.

    Raises
    ------
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.i0(usmx.asarray([0.0])))
    [1.]
    """
    a = as_array(x)
    if a.dtype.kind in "biu":  # as NumPy, not in the smallest type of floats that holds them
        a = a.astype(default_float(a.queue))
    made: ndarray = _usmx.Operation("i0")(a)
    return made


def _window(M: Any, place: dict[str, Any], shape: Callable[[ndarray, int], ndarray]) -> ndarray:
    count = operator.index(M) if not isinstance(M, float) else int(-(-M // 1))
    made = _usmx.arange(max(count, 0), dtype="float64", **place) if _doubles(place) else (
        _usmx.arange(max(count, 0), dtype="float32", **place)
    )  # fmt: skip
    if count <= 1:
        return _usmx.ones_like(made)
    return shape(made, count - 1)


def _doubles(place: dict[str, Any]) -> bool:
    queue = _usmx.empty(0, "bool", **place).queue
    return default_float(queue) == "float64"


def _cosines(*parts: float) -> Callable[[ndarray, int], ndarray]:
    def shape(n: ndarray, last: int) -> ndarray:
        cosine = _usmx.Operation("cos")
        made: Any = parts[0]
        for k, part in enumerate(parts[1:], 1):
            made = made + part * cosine(n * (2 * pi * k / last))
        result: ndarray = made
        return result

    return shape


def bartlett(M: int, **place: Any) -> ndarray:
    """A triangle that begins and ends with 0, with which lines of numbers are weighted.

    Parameters
    ----------
    M : int
        How many numbers; of 0 or less an empty array.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    ndarray
        Of float64, or float32 on devices without float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.bartlett(5))
    [ 0., 0.5,  1., 0.5,  0.]
    """
    return _window(M, place, lambda n, last: 1 - _usmx.Operation("absolute")(n * (2 / last) - 1))


def blackman(M: int, **place: Any) -> ndarray:
    """Blackman's window: 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1)).

    Parameters
    ----------
    M : int
        How many numbers; of 0 or less an empty array.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    ndarray
        Of float64, or float32 on devices without float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.blackman(3).round(6))
    [-0.,  1., -0.]
    """
    return _window(M, place, _cosines(0.42, -0.5, 0.08))


def hamming(M: int, **place: Any) -> ndarray:
    """Hamming's window: 0.54 - 0.46 cos(2 pi n / (M - 1)).

    Parameters
    ----------
    M : int
        How many numbers; of 0 or less an empty array.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    ndarray
        Of float64, or float32 on devices without float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.hamming(3))
    [0.08,   1., 0.08]
    """
    return _window(M, place, _cosines(0.54, -0.46))


def hanning(M: int, **place: Any) -> ndarray:
    """Hann's window: 0.5 - 0.5 cos(2 pi n / (M - 1)).

    Parameters
    ----------
    M : int
        How many numbers; of 0 or less an empty array.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    ndarray
        Of float64, or float32 on devices without float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.hanning(3))
    [0., 1., 0.]
    """
    return _window(M, place, _cosines(0.5, -0.5))


def kaiser(M: int, beta: float, **place: Any) -> ndarray:
    """Kaiser's window, whose width a number chooses.

    Parameters
    ----------
    M : int
        How many numbers; of 0 or less an empty array.
    beta : float
        0 is a rectangle; the larger, the narrower: 14 is a good start.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `arange`.

    Returns
    -------
    ndarray
        Of float64, or float32 on devices without float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.kaiser(3, 0.0))
    [1., 1., 1.]
    """

    def shape(n: ndarray, last: int) -> ndarray:
        at = n * (2 / last) - 1
        root = _usmx.Operation("sqrt")(1 - at * at)
        whole: ndarray = i0(root * float(beta)) / i0(_usmx.full_like(n[:1], float(beta)))
        return whole

    return _window(M, place, shape)
