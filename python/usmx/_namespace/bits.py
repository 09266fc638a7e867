"""Bits of integers: how many are ones, and bits as elements of arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import as_array, to_axis

if TYPE_CHECKING:
    from .._usmx import ndarray
    from ..typing import ArrayLike, ArrayOrNumber

__all__ = ["bitwise_count", "packbits", "unpackbits"]

_PLACES = {"big": (7, 6, 5, 4, 3, 2, 1, 0), "little": (0, 1, 2, 3, 4, 5, 6, 7)}


def bitwise_count(x: ArrayOrNumber, /, out: Any = None, **keywords: Any) -> ndarray:
    """How many bits of integers are ones; of negative numbers those of the absolute value.

    Parameters
    ----------
    x : array or int
        Integers.
    out, **keywords : optional
        As those of the other functions of elements.

    Returns
    -------
    ndarray
        Of uint8.

    Raises
    ------
    TypeError
        If the elements are not integers.

    Examples
    --------
    >>> import usmx
    >>> usmx.bitwise_count([0, 1, 255, -3]).tolist()
    [0, 1, 8, 2]
    """
    if out is not None or keywords:
        from .ufunc_arguments import call

        made: ndarray = call("bitwise_count", bitwise_count, (x,), out, keywords)
        return made
    given = as_array(x)
    if given.dtype.kind == "b":
        return given.astype("uint8")
    if given.dtype.kind not in "iu":
        raise TypeError(f"x: has elements of {given.dtype}; expected integers")
    bits = 8 * given.dtype.itemsize
    ones = (1 << bits) - 1
    v = _usmx.Operation("absolute")(given).astype(f"uint{bits}")
    # Sums of two, four and eight neighbouring bits; the product adds those of all bytes up.
    v = v - ((v >> 1) & (ones // 3))
    v = (v & (ones // 5)) + ((v >> 2) & (ones // 5))
    v = (v + (v >> 4)) & (ones // 17)
    if bits > 8:
        v = (v * (ones // 255)) >> (bits - 8)
    return v.astype("uint8")


def _places(bitorder: str, x: ndarray) -> ndarray:
    if bitorder not in _PLACES:
        raise ValueError(f"bitorder: {bitorder!r}; expected 'big' or 'little'")
    return _usmx.asarray(_PLACES[bitorder], "uint8", usm_type="host", queue=x.queue)


def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Pack elements as bits into bytes.

    Parameters
    ----------
    a : array
        Integers or bools; what is not 0 is a bit that is 1.
    axis : int, optional
        Along which eight neighbours become a byte; by default the array counts as flat.
    bitorder : {'big', 'little'}
        Whether the first one is the highest bit of a byte.

    Returns
    -------
    ndarray
        Of uint8, an eighth as long along the axis; bits that are missing at the end are 0.

    Raises
    ------
    TypeError
        If the elements are neither integers nor bools.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.packbits(usmx.asarray([1, 0, 1, 0, 0, 0, 0, 1], dtype="uint8")))
    [161]
    """
    from .manipulation import moveaxis
    from .padding import pad

    x = as_array(a)
    if x.dtype.kind not in "biu":
        raise TypeError(f"a: has elements of {x.dtype}; expected integers or bools")
    places = _places(bitorder, x)
    if axis is None:
        x, axis = x.reshape(-1), 0
    at = to_axis(axis, x.ndim)
    bits = moveaxis(x != 0, at, -1)
    missing = -bits.shape[-1] % 8
    if missing:
        bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    eights = bits.reshape(*bits.shape[:-1], bits.shape[-1] // 8, 8).astype("uint8")
    made: ndarray = moveaxis((eights << places).sum(axis=-1, dtype="uint8"), -1, at)
    return made


def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> ndarray:
    """Give the bits of bytes as elements that are 0 or 1.

    Parameters
    ----------
    a : array
        Of uint8.
    axis : int, optional
        Along which a byte becomes eight elements; by default the array counts as flat.
    count : int, optional
        How many elements there are along the axis: zeros are added, or bits left out. A negative
        one leaves out that many.
    bitorder : {'big', 'little'}
        Whether the highest bit of a byte is the first one.

    Returns
    -------
    ndarray
        Of uint8.

    Raises
    ------
    TypeError
        If the elements are not uint8.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.unpackbits(usmx.asarray([161], dtype="uint8")))
    [1, 0, 1, 0, 0, 0, 0, 1]
    """
    from .manipulation import moveaxis
    from .padding import pad

    x = as_array(a)
    if x.dtype.name != "uint8":
        raise TypeError(f"a: has elements of {x.dtype}; expected uint8")
    places = _places(bitorder, x)
    if axis is None:
        x, axis = x.reshape(-1), 0
    at = to_axis(axis, x.ndim)
    last = moveaxis(x, at, -1)
    bits = ((last[..., None] >> places) & 1).reshape(*last.shape[:-1], 8 * last.shape[-1])
    if count is not None:
        length = operator.index(count)
        wanted = length if length >= 0 else max(bits.shape[-1] + length, 0)
        missing = wanted - bits.shape[-1]
        if missing > 0:
            bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
        bits = bits[..., :wanted]
    return moveaxis(bits, -1, at)
