"""Fourier transforms: the extension of that name of the Array API standard.

Who computes them on which device is the table in `_namespace/_libraries.py`; float32 stays float32.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _explained, _usmx
from ._namespace import _libraries
from ._namespace._common import as_array, to_axes, to_axis
from ._namespace._outputs import written
from ._namespace.manipulation import roll

if TYPE_CHECKING:
    from ._usmx import ndarray
    from .typing import DeviceLike, DTypeLike, QueueLike, UsmKind

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Lengths = Sequence[int] | None
_BACK = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _norm(norm: str | None) -> str:
    if norm is None:
        return "backward"
    if norm not in _BACK:
        raise ValueError(f"norm: {norm!r}; expected 'backward', 'ortho' or 'forward'")
    return norm


def _complex(x: ndarray) -> np.dtype[Any]:
    return np.dtype("F" if x.dtype.char in "eEfF" else "D")


def _length(n: Any, default: int) -> int:
    """How many elements are transformed. ValueError of fewer than one."""
    length = default if n is None else index(n)
    if length < 1:
        raise ValueError(f"n: {length} elements; expected at least one")
    return length


def _along(kind: str, x: ndarray, n: int, axis: int, norm: str) -> ndarray:
    """The transform of a kind along an axis, by the library of the device."""
    # Real numbers stay real: what transforms them makes complex ones of them on the way.
    char = _complex(x).char if x.dtype.kind == "c" else _complex(x).char.lower()
    given = x.astype(char, copy=False)
    made: ndarray = _libraries.of("transform", given, max(given.size, n)).transform(
        kind, given, n, axis, norm
    )
    return made


def _of_one_axis(kind: str, a: ndarray, n: Any, axis: Any, norm: str | None) -> ndarray:
    if n is None and norm == "backward" and kind != "irfft":
        made: ndarray | None = _usmx._Nvidia.transform_plainly(
            a, axis, kind == "rfft", kind == "ifft"
        )
        if made is not None:
            # Deferred: what comes next divides on the way.
            return made * made.dtype.type(1 / a.shape[-1]) if kind == "ifft" else made
    place = to_axis(axis, a.ndim)
    return _along(kind, a, _length(n, a.shape[place]), place, _norm(norm))


def fft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array
        Of any type; integers are computed as float64.
    n : int, optional
        How many elements are transformed: `a` is cut, or filled with zeros. All by default.
    axis : int, optional
        Along which axis.
    norm : {"backward", "ortho", "forward"}, optional
        Whether the inverse is divided by n, both by its root, or this one by n.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    ValueError
        `n` is less than one, or another `norm`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.fft(usmx.asarray([1.0, 0.0, 0.0, 0.0])))
    [1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j]
    """
    return written(_of_one_axis("fft", as_array(a), n, axis, norm), out)


def ifft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the inverse of `fft`.

    Parameters
    ----------
    a : array
        Of any type; integers are computed as float64.
    n : int, optional
        How many elements are transformed, as in `fft`.
    axis : int, optional
        Along which axis.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.ifft(usmx.asarray([4.0, 0.0, 0.0, 0.0])).real)
    [1., 1., 1., 1.]
    """
    return written(_of_one_axis("ifft", as_array(a), n, axis, norm), out)


def _axes(x: ndarray, s: Lengths, axes: Any) -> tuple[tuple[int, ...], list[int | None]]:
    """Axes, which may be there twice, and the lengths along them."""
    lengths: list[int | None] = [] if s is None else [index(n) for n in s]
    if axes is None:
        places = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(lengths), x.ndim))
        if s is not None and len(lengths) > x.ndim:
            raise ValueError(f"s: has {len(lengths)} lengths, a has {x.ndim} dimensions")
    else:
        given = axes if isinstance(axes, Sequence) else (axes,)
        places = tuple(to_axis(axis, x.ndim, "axes") for axis in given)
    if s is None:
        lengths = [None] * len(places)
    if len(lengths) != len(places):
        raise ValueError(f"s: has {len(lengths)} lengths for {len(places)} axes")
    # -1 is the length of the input, also for a result that is longer.
    return places, [x.shape[k] if n == -1 else n for k, n in zip(places, lengths, strict=True)]


def _many(x: Any, s: Lengths, axes: Any, norm: str | None, inverse: bool) -> ndarray:
    made = as_array(x)
    places, lengths = _axes(made, s, axes)
    norm = _norm(norm)
    if not places:
        return made.copy()  # nothing is computed, so that the type stays, as in NumPy
    for place, length in reversed([*zip(places, lengths, strict=True)]):
        made = _of_one_axis("ifft" if inverse else "fft", made, length, place, norm)
    return made


def fftn(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = None,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the discrete Fourier transform along several axes.

    Parameters
    ----------
    a : array
        As in `fft`.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        By default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    ValueError
        As in `fft`, or the numbers of lengths and axes differ.

    Examples
    --------
    >>> import usmx
    >>> usmx.fft.fftn(usmx.ones((2, 2, 2)))[0, 0, 0].item()
    (8+0j)
    """
    return written(_many(a, s, axes, norm, False), out)


def ifftn(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = None,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the inverse of `fftn`.

    Parameters
    ----------
    a : array
        Of any type, as in `fft`.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        By default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.ifftn(usmx.fft.fftn(usmx.ones((2, 2)))).real)
    [[1., 1.],
     [1., 1.]]
    """
    return written(_many(a, s, axes, norm, True), out)


def _real(x: ndarray, name: str) -> ndarray:
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: a has type {x.dtype}; expected real numbers")
    return x


def rfft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the transform of real numbers: the first ``n // 2 + 1`` elements of `fft`.

    Parameters
    ----------
    a : array
        Real numbers; integers are computed as float64.
    n : int, optional
        How many elements are transformed, as in `fft`.
    axis : int, optional
        Along which axis.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    TypeError
        The numbers are complex.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.rfft(usmx.ones(4)).real)
    [4., 0., 0.]
    """
    return written(_of_one_axis("rfft", _real(as_array(a), "rfft"), n, axis, norm), out)


def irfft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the inverse of `rfft`, real numbers.

    Parameters
    ----------
    a : array
        Taken for the first half of what `fft` gives of real numbers.
    n : int, optional
        How many elements the result has: by default ``2 * (m - 1)`` for m elements of `a`.
    axis, norm : optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Real numbers, of float32 for the types of single precision or less, otherwise of float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.irfft(usmx.asarray([4.0, 0.0, 0.0])))
    [1., 1., 1., 1.]
    """
    a = as_array(a)
    place = to_axis(axis, a.ndim)
    length = _length(n, 2 * (a.shape[place] - 1))
    return written(_along("irfft", a, length, place, _norm(norm)), out)


def rfftn(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = None,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the transform of real numbers along several axes: `rfft` along the last of them.

    Parameters
    ----------
    a : array
        Real numbers; integers are computed as float64.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        By default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    TypeError
        The numbers are complex.
    ValueError
        As in `fftn`, or there are no axes.

    Examples
    --------
    >>> import usmx
    >>> usmx.fft.rfftn(usmx.ones((2, 2, 4))).shape
    (2, 2, 3)
    """
    a = _real(as_array(a), "rfftn")
    places, lengths = _axes(a, s, axes)
    if not places:
        raise ValueError("axes: is empty; expected at least one")
    # The lengths are those of `a`: an axis that is there twice has another one in between.
    others = [a.shape[k] if n is None else n for k, n in zip(places, lengths, strict=True)][:-1]
    made = rfft(a, lengths[-1], places[-1], norm)
    return written(fftn(made, others, places[:-1], norm), out)


def irfftn(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = None,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the inverse of `rfftn`, real numbers.

    Parameters
    ----------
    a : array
        Taken for what `rfftn` gives.
    s : sequence of int, optional
        How many elements along each of the axes of the result; by default ``2 * (m - 1)`` for
        m along the last.
    axes : sequence of int, optional
        By default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Real numbers, of float32 for the types of single precision or less, otherwise of float64.

    Raises
    ------
    ValueError
        As in `fftn`, or there are no axes.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.irfftn(usmx.fft.rfftn(usmx.ones((2, 2)))))
    [[1., 1.],
     [1., 1.]]
    """
    a = as_array(a)
    places, lengths = _axes(a, s, axes)
    if not places:
        raise ValueError("axes: is empty; expected at least one")
    made = a
    for place, length in zip(places[:-1], lengths[:-1], strict=True):
        made = ifft(made, a.shape[place] if length is None else length, place, norm)
    last = 2 * (a.shape[places[-1]] - 1) if lengths[-1] is None else lengths[-1]
    return written(irfft(made, last, places[-1], norm), out)


def hfft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the transform, which is real, of the first half of Hermitian numbers.

    Parameters
    ----------
    a : array
        The first half of Hermitian numbers.
    n : int, optional
        How many elements the result has: by default ``2 * (m - 1)`` for m elements of `a`.
    axis : int, optional
        Along which axis.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Real numbers, of float32 for the types of single precision or less, otherwise of float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.hfft(usmx.asarray([1.0, 0.0, 0.0])))
    [1., 1., 1., 1.]
    """
    return written(irfft(as_array(a).conj(), n, axis, _BACK[_norm(norm)]), out)


def ihfft(
    a: ndarray,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute the inverse of `hfft`: the first ``n // 2 + 1`` numbers.

    Parameters
    ----------
    a : array
        Real numbers; integers are computed as float64.
    n : int, optional
        How many elements are transformed, as in `fft`.
    axis : int, optional
        Along which axis.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    TypeError
        The numbers are complex.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.ihfft(usmx.asarray([4.0, 0.0, 0.0, 0.0])).real)
    [1., 1., 1.]
    """
    return written(rfft(a, n, axis, _BACK[_norm(norm)]).conj(), out)


def fft2(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = (-2, -1),
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute `fftn` along two axes, by default the last ones.

    Parameters
    ----------
    a : array
        Of any type, as in `fft`.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        Two axes, by default the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.fft2(usmx.ones((2, 2))).real)
    [[4., 0.],
     [0., 0.]]
    """
    return written(fftn(a, s, axes, norm), out)


def ifft2(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = (-2, -1),
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute `ifftn` along two axes, by default the last ones.

    Parameters
    ----------
    a : array
        Of any type, as in `fft`.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        Two axes, by default the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.ifft2(usmx.fft.fft2(usmx.ones((2, 2)))).real)
    [[1., 1.],
     [1., 1.]]
    """
    return written(ifftn(a, s, axes, norm), out)


def rfft2(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = (-2, -1),
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute `rfftn` along two axes, by default the last ones.

    Parameters
    ----------
    a : array
        Real numbers; integers are computed as float64.
    s : sequence of int, optional
        How many elements along each of the axes; -1 is all of them.
    axes : sequence of int, optional
        Two axes, by default the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of complex64 for float16, bfloat16, float32 and complex64, otherwise of complex128.

    Raises
    ------
    TypeError
        The numbers are complex.

    Examples
    --------
    >>> import usmx
    >>> usmx.fft.rfft2(usmx.ones((4, 4))).shape
    (4, 3)
    """
    return written(rfftn(a, s, axes, norm), out)


def irfft2(
    a: ndarray,
    s: Lengths = None,
    axes: Lengths = (-2, -1),
    norm: str | None = "backward",
    out: ndarray | None = None,
) -> ndarray:
    """Compute `irfftn` along two axes, by default the last ones.

    Parameters
    ----------
    a : array
        Taken for what `rfft2` gives.
    s : sequence of int, optional
        How many elements along each of the axes of the result; by default ``2 * (m - 1)`` for
        m along the last.
    axes : sequence of int, optional
        Two axes, by default the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Real numbers, of float32 for the types of single precision or less, otherwise of float64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.irfft2(usmx.fft.rfft2(usmx.ones((2, 2)))))
    [[1., 1.],
     [1., 1.]]
    """
    return written(irfftn(a, s, axes, norm), out)


# --- frequencies ---------------------------------------------------------------------------------


def _frequencies(count: int, first: int, n: int, d: float, dtype: Any, where: Any) -> ndarray:
    chosen = np.dtype("float64" if dtype is None else dtype)
    if chosen.char not in "fd":
        raise TypeError(f"dtype: {chosen}; expected float32 or float64")
    return (_usmx.arange(first, first + count, dtype="int64", **where) / (n * d)).astype(chosen)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    usm_type: UsmKind | None = None,
    queue: QueueLike = None,
) -> ndarray:
    """Compute the frequencies of what `fft` gives.

    Parameters
    ----------
    n : int
        How many elements are transformed.
    d : float, optional
        The distance between two of them.
    dtype : dtype, optional
        float64 by default, or float32.
    device, usm_type, queue : optional
        As in `usmx.empty`.

    Returns
    -------
    ndarray
        ``[0, 1, ..., -2, -1] / (n * d)``.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.fftfreq(4))
    [   0.,  0.25,  -0.5, -0.25]
    """
    count = _length(n, 1)
    where = {"device": device, "usm_type": usm_type, "queue": queue}
    return ifftshift(_frequencies(count, -(count // 2), count, d, dtype, where))


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    usm_type: UsmKind | None = None,
    queue: QueueLike = None,
) -> ndarray:
    """Compute the frequencies of what `rfft` gives, ``[0, 1, ..., n // 2] / (n * d)``.

    Parameters
    ----------
    n : int
        How many elements are transformed.
    d : float, optional
        The distance between two of them.
    dtype : dtype, optional
        float64 by default, or float32.
    device, usm_type, queue : optional
        As in `usmx.empty`.

    Returns
    -------
    ndarray
        Of length ``n // 2 + 1``.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.rfftfreq(4))
    [  0., 0.25,  0.5]
    """
    count = _length(n, 1)
    where = {"device": device, "usm_type": usm_type, "queue": queue}
    return _frequencies(count // 2 + 1, 0, count, d, dtype, where)


def fftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray:
    """Move the frequency 0 to the middle of the axes, by default of all.

    Parameters
    ----------
    x : array
        Of any shape.
    axes : int or sequence of int, optional
        Which axes; by default all.

    Returns
    -------
    ndarray
        Of the shape of `x`, a copy.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.fftshift(usmx.arange(4)))
    [2, 3, 0, 1]
    """
    a = as_array(x)
    places = to_axes(axes, a.ndim)
    return roll(a, tuple(a.shape[k] // 2 for k in places), axis=places)


def ifftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray:
    """Undo `fftshift`.

    Parameters
    ----------
    x : array
        Of any shape.
    axes : int or sequence of int, optional
        Which axes; by default all.

    Returns
    -------
    ndarray
        Of the shape of `x`, a copy.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fft.ifftshift(usmx.fft.fftshift(usmx.arange(5))))
    [0, 1, 2, 3, 4]
    """
    a = as_array(x)
    places = to_axes(axes, a.ndim)
    return roll(a, tuple(-(a.shape[k] // 2) for k in places), axis=places)


_explained.explain(globals())
