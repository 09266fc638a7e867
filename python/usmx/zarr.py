"""Zarr 3 reads into USM and writes what is in device memory.

Zarr finds the two classes by the entry points ``zarr.buffer`` and ``zarr.ndbuffer``, and uses them
inside of `enable`, or where its configuration names them. Bytes of chunks stay where codecs of the
host read and write them; arrays that Zarr makes, which chunks are decoded into, are in USM.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _explained, _usmx

if TYPE_CHECKING:
    from collections.abc import Iterable

    class _Buffer:
        """Zarr's class, which type checkers know only where Zarr is installed."""

        def __init__(self, data: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    class _NDBuffer(_Buffer):
        """The same for elements."""

        all_equal: Any

    _config: Any = None
else:
    try:
        from zarr.abc.buffer import Buffer as _Buffer
        from zarr.abc.buffer import NDBuffer as _NDBuffer
        from zarr.core.config import config as _config
    except ImportError as _error:
        raise ImportError(
            "usmx.zarr: Zarr 3 is not installed; install it with: pip install 'zarr>=3'"
        ) from _error

__all__ = ["Buffer", "NDBuffer", "enable"]

#: The key of Zarr's configuration that names the kind of memory of arrays that it makes.
_KIND = "usmx.usm_type"


def enable(usm_type: str = "shared") -> Any:
    """Let Zarr read into USM, from now on or in a ``with`` statement.

    Parameters
    ----------
    usm_type : {'shared', 'device', 'host'}
        The kind of memory of what is read.

    Returns
    -------
    donfig.ConfigSet
        Of ``zarr.config.set``: a context manager that ends it.

    Raises
    ------
    ValueError
        If `usm_type` is another text.

    Examples
    --------
    >>> import zarr
    >>> z = zarr.create_array(store={}, shape=(100, 100), chunks=(30, 30), dtype="float32")
    >>> with enable("device"):
    ...     z[:] = _usmx.full((100, 100), 2.0, dtype="float32", usm_type="device")
    ...     z[10:20, 5:].usm_type
    'device'
    """
    if usm_type not in ("device", "shared", "host"):
        raise ValueError(
            f"usm_type: is {usm_type!r}; expected one of 'device', 'shared' and 'host'"
        )
    here = f"{__name__}."
    return _config.set({"buffer": f"{here}Buffer", "ndbuffer": f"{here}NDBuffer", _KIND: usm_type})


def _on_host(data: Any) -> Any:
    """The elements as NumPy's array, without a copy where the host can read them."""
    if isinstance(data, _usmx.ndarray) and data.usm_type == "device":
        return data.to_numpy()
    return np.asarray(data)


class Buffer(_Buffer):
    """Bytes of a chunk or of metadata: what codecs and stores read and write.

    Parameters
    ----------
    array_like : usmx.ndarray or numpy.ndarray
        One dimension of ``uint8``; it is not copied.
    """

    @classmethod
    def create_zero_length(cls) -> Buffer:
        """A buffer without bytes.

        Returns
        -------
        Buffer
            In memory of the host.
        """
        return cls(np.empty(0, dtype="uint8"))

    @classmethod
    def from_buffer(cls, buffer: _Buffer) -> Buffer:
        """The bytes of another buffer, which are not copied.

        Parameters
        ----------
        buffer : Buffer
            Of Zarr's own class, or of this one.

        Returns
        -------
        Buffer
        """
        return cls(buffer.as_array_like())

    @classmethod
    def from_bytes(cls, bytes_like: Any) -> Buffer:
        """The bytes of an object of the host, which are not copied.

        Parameters
        ----------
        bytes_like : bytes-like object
            What has Python's buffer protocol.

        Returns
        -------
        Buffer
        """
        return cls(np.frombuffer(bytes_like, dtype="uint8"))

    def as_numpy_array(self) -> Any:
        """The same on the host: a view if the host uses the memory, otherwise a copy.

        Returns
        -------
        numpy.ndarray
        """
        return _on_host(self._data)

    def combine(self, others: Iterable[_Buffer]) -> Buffer:
        """These bytes and those of others after them, in new memory of the host.

        Parameters
        ----------
        others : iterable of Buffer
            In the order in which they follow.

        Returns
        -------
        Buffer
        """
        parts = [self._data, *(other.as_array_like() for other in others)]
        return type(self)(np.concatenate([_on_host(part) for part in parts]))


class NDBuffer(_NDBuffer):
    """Elements: of a decoded chunk, or of an array that is read or written.

    Parameters
    ----------
    array : usmx.ndarray or numpy.ndarray
        It is not copied. Arrays that Zarr asks for are in USM, of types that usmx does not have
        (text, dates) they are NumPy's.
    """

    @classmethod
    def create(
        cls, *, shape: Iterable[int], dtype: Any, order: Any = "C", fill_value: Any = None
    ) -> NDBuffer:
        """New elements of one value, or without values.

        Parameters
        ----------
        shape : iterable of int
            Lengths.
        dtype : dtype
            The element type.
        order : {'C', 'F'}
            The order of the elements.
        fill_value : number, optional
            Of all elements; None leaves them without values.

        Returns
        -------
        NDBuffer
        """
        made = cls.empty(tuple(shape), dtype, order)
        if fill_value is not None:
            made._data[...] = fill_value
        return made

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: Any, order: Any = "C") -> NDBuffer:
        """New elements without values.

        Parameters
        ----------
        shape : tuple of int
            Lengths.
        dtype : dtype
            The element type.
        order : {'C', 'F'}
            The order of the elements.

        Returns
        -------
        NDBuffer
        """
        dtype = np.dtype(dtype)
        if not _is_here(dtype):
            return cls(np.empty(shape, dtype, order))
        kind: Any = _config.get(_KIND, "shared")
        return cls(_usmx.empty(shape, dtype=dtype, order=order, usm_type=kind))

    @classmethod
    def from_numpy_array(cls, array_like: Any) -> NDBuffer:
        """The elements of an array of NumPy, which are not copied.

        Parameters
        ----------
        array_like : array-like
            What NumPy makes an array of.

        Returns
        -------
        NDBuffer
        """
        return cls(np.asarray(array_like))

    def as_numpy_array(self) -> Any:
        """The same on the host: a view if the host uses the memory, otherwise a copy.

        Returns
        -------
        numpy.ndarray
        """
        return _on_host(self._data)

    def __getitem__(self, key: Any) -> NDBuffer:
        return type(self)(self._data[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, _NDBuffer):
            value = value.as_ndarray_like()
        if isinstance(self._data, np.ndarray):
            value = _on_host(value)
        self._data[key] = value

    def all_equal(self, other: Any, equal_nan: bool = True) -> bool:
        """Whether all elements are this one, zeros by their sign: such chunks are not stored.

        Parameters
        ----------
        other : number
            The value.
        equal_nan : bool
            Whether NaN is equal to NaN.

        Returns
        -------
        bool
        """
        data: Any = self._data
        is_ours = isinstance(data, _usmx.ndarray) and data.dtype.names is None and data.size > 0
        if other is None or not is_ours or np.ndim(other) > 0 or data.dtype.kind == "c":
            return bool(_NDBuffer.all_equal(_Plain(self.as_numpy_array()), other, equal_nan))
        import usmx

        number = np.asarray(other, data.dtype)
        is_floating = data.dtype.kind == "f"
        if is_floating and np.isnan(number):
            return equal_nan and bool(usmx.all(usmx.isnan(data)))
        is_equal = data == number.item()
        if is_floating and number == 0:
            is_equal = is_equal & (usmx.signbit(data) == bool(np.signbit(number)))
        return bool(usmx.all(is_equal))


class _Plain(NDBuffer):
    """Elements of the host, for what is not computed on devices."""


def _is_here(dtype: Any) -> bool:
    """Whether usmx has arrays of a type of NumPy."""
    try:
        _usmx.dtype(dtype)
    except (TypeError, ValueError):
        return False
    return True


_explained.explain(globals())
