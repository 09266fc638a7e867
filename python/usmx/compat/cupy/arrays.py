"""What CuPy's arrays have beyond NumPy's: the way to the host and back, and their address."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import types
from typing import Any

import numpy as np

import usmx as _usmx

from ..._namespace.methods import checked_self
from ..cuda import devices as _devices


class UnownedMemory:
    """Memory at an address that something else owns.

    Parameters
    ----------
    ptr : int
        Where it begins.
    size : int
        Bytes.
    owner : object
        What keeps it allocated.
    device_id : int
        The device; -1 for the current one.
    """

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr: int = int(ptr)
        self.size: int = int(size)
        self._owner = owner
        self.device_id: int = _devices.gpus.current.id if device_id < 0 else int(device_id)

    @property
    def device(self) -> Any:
        """The device."""
        return _devices.gpus[self.device_id].usmx

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """The memory as bytes."""
        return {
            "data": (self.ptr, False), "shape": (self.size,), "strides": None, "offset": 0,
            "typestr": "|u1", "version": 1, "syclobj": _usmx.Queue(self.device),
        }  # fmt: skip


class MemoryPointer:
    """A place in memory: ``x.data`` is that of the elements of an array.

    Parameters
    ----------
    mem : object
        Memory: of usmx, an array of it, or an `UnownedMemory`.
    offset : int
        Bytes from its begin.

    Attributes
    ----------
    ptr : int
        The address.
    mem : object
        The memory.
    """

    def __init__(self, mem: Any, offset: int = 0) -> None:
        is_array = isinstance(mem, _usmx.ndarray)
        self.mem: Any = mem.base if is_array else mem
        self._array: Any = mem if is_array else _usmx.asarray(mem)
        if offset:
            self._array = self._bytes()[int(offset) :]
        self.ptr: int = self._array.pointer

    @property
    def device(self) -> Any:
        """The device of the memory."""
        return self._array.device

    @property
    def device_id(self) -> int:
        """CUDA's number of the device."""
        return _number(self.device)

    @property
    def __sycl_usm_array_interface__(self) -> Any:
        """The memory, for arrays in it: ``cp.ndarray(shape, dtype, pointer)``."""
        return self._array.__sycl_usm_array_interface__

    def _bytes(self) -> _usmx.ndarray:
        found: _usmx.ndarray = self._array.reshape(-1).view("uint8")
        return found

    def __add__(self, bytes_: int) -> MemoryPointer:
        return MemoryPointer(self._bytes(), bytes_)

    __radd__ = __add__

    def memset(self, value: int, size: int) -> None:
        """Set bytes to a number."""
        self._bytes()[:size] = value

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """The same; it is in order with all other commands on the memory."""
        del stream
        self.memset(value, size)

    def copy_from(self, mem: Any, size: int) -> None:
        """Copy bytes of a `MemoryPointer`, of an array of NumPy, or of an address of the host."""
        if isinstance(mem, MemoryPointer):
            self._bytes()[:size] = mem._bytes()[:size]
            return
        if isinstance(mem, int) or hasattr(mem, "value"):
            import ctypes

            mem = np.frombuffer(ctypes.string_at(mem, size), np.uint8)
        self._bytes()[:size] = np.ascontiguousarray(mem).reshape(-1).view(np.uint8)[:size]

    copy_from_host = copy_from
    copy_from_device = copy_from

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """The same; it is in order with all other commands on the memory."""
        del stream
        self.copy_from(mem, size)

    copy_from_host_async = copy_from_async
    copy_from_device_async = copy_from_async

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copy bytes to an array of NumPy, or to an address of the host."""
        found = self._bytes()[:size].to_numpy()
        if isinstance(mem, int) or hasattr(mem, "value"):
            import ctypes

            ctypes.memmove(mem, found.tobytes(), size)
        else:
            mem.reshape(-1).view(np.uint8)[:size] = found

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """The same; the bytes are there when the call returns."""
        del stream
        self.copy_to_host(mem, size)

    def __int__(self) -> int:
        return self.ptr


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True
) -> np.ndarray[Any, Any]:
    """A copy on the host.

    Parameters
    ----------
    a : array-like
        Of usmx, or all that NumPy takes.
    stream, blocking : optional
        Without effect: the copy waits for what computes the elements.
    order : {'C', 'F', 'A'}
        Order of the elements.
    out : numpy.ndarray, optional
        Where the elements go.

    Returns
    -------
    numpy.ndarray
        The copy, or `out`.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.asnumpy(cp.arange(3))
    array([0, 1, 2])
    """
    del stream, blocking
    found: np.ndarray[Any, Any]
    found = a.to_numpy() if isinstance(a, _usmx.ndarray) else np.asarray(a)
    if out is not None:
        out[...] = found
        result: np.ndarray[Any, Any] = out
        return result
    return np.array(found, order=order, copy=True)


def get_array_module(*args: Any) -> types.ModuleType:
    """The module whose functions take these arrays: this one if any is of usmx, else NumPy.

    Parameters
    ----------
    *args : object
        Arrays, or anything else.

    Returns
    -------
    module

    Examples
    --------
    >>> import numpy as np
    >>> import usmx.compat.cupy as cp
    >>> cp.get_array_module(cp.ones(2)) is cp, cp.get_array_module(np.ones(2)) is np
    (True, True)
    """
    if any(isinstance(a, _usmx.ndarray) for a in args):
        from importlib import import_module

        return import_module("usmx.compat.cupy")
    return np


def _get(
    self: Any, stream: Any = None, order: Any = "C", out: Any = None, blocking: bool = True
) -> Any:
    """A copy on the host, an array of NumPy."""
    return asnumpy(checked_self(self), stream, order, out, blocking=blocking)


def _set(self: Any, arr: Any, stream: Any = None) -> None:
    """Replace the elements by those of an array of the host."""
    del stream
    checked_self(self)
    given = np.asarray(arr)
    if given.shape != tuple(self.shape):
        raise ValueError(f"arr: shape {given.shape}; expected {tuple(self.shape)}")
    if given.dtype != np.dtype(self.dtype):
        raise TypeError(f"arr: dtype {given.dtype}; expected {self.dtype}")
    self[...] = given


def _data(self: Any) -> MemoryPointer:
    """Where the elements are: ``x.data.ptr``."""
    return MemoryPointer(checked_self(self))


def _number(self: _usmx.Device) -> int:
    """CUDA's number of the device: ``x.device.id``."""
    if not isinstance(self, _usmx.Device):
        raise TypeError(f"self: an object of type {type(self).__name__}; expected a Device")
    for one in _devices.gpus.lst:
        if one.usmx == self:
            return one.id
    raise ValueError(f"id: {self.name} is a part of a device, which has no number")


def _scattered(name: str) -> Any:
    """``x.scatter_add(slices, value)`` and its like."""

    def method(self: Any, slices: Any, value: Any) -> None:
        getattr(np, {"add": "add", "max": "maximum", "min": "minimum"}[name]).at(
            checked_self(self), slices, value
        )

    method.__name__ = f"scatter_{name}"
    method.__doc__ = f"``cupyx.scatter_{name}`` of the array."
    return method


def _to_dlpack(self: Any) -> Any:
    """The array as a capsule of DLPack."""
    return checked_self(self).__dlpack__()


def _reduced_view(self: Any, dtype: Any = None) -> Any:
    """The array with as few dimensions as its strides allow: one if it is contiguous."""
    checked_self(self)
    found = self if dtype is None else self.view(dtype)
    return found.reshape(-1) if found.flags.c_contiguous else found.view()


def install_methods() -> None:
    """Give arrays of usmx the methods of CuPy's that they lack."""
    kind: Any = _usmx.ndarray
    kind.get = _get
    kind.set = _set
    kind.data = property(_data)
    kind.toDlpack = _to_dlpack
    kind.reduced_view = _reduced_view
    for name in ("add", "max", "min"):
        setattr(kind, f"scatter_{name}", _scattered(name))
    device: Any = _usmx.Device
    device.id = property(_number)
    device.__int__ = _number
