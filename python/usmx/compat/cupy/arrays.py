"""What CuPy's arrays have beyond NumPy's: the way to the host and back, and their address."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import types
from typing import Any

import numpy as np

import usmx as _usmx

from ..._namespace.methods import checked_self
from ..cuda import devices as _devices


class MemoryPointer:
    """Where the elements of an array are.

    Attributes
    ----------
    ptr : int
        The address of the first one.
    device_id : int
        0: usmx numbers no devices.
    mem : usmx.memory
        The memory.
    """

    def __init__(self, array: _usmx.ndarray) -> None:
        self.ptr: int = array.pointer
        self.device_id = 0
        self.mem: Any = array.base
        self._array = array

    @property
    def __sycl_usm_array_interface__(self) -> Any:
        """The memory, for arrays in it: ``cp.ndarray(shape, dtype, pointer)``."""
        return self._array.__sycl_usm_array_interface__

    def _bytes(self) -> _usmx.ndarray:
        found: _usmx.ndarray = self._array.reshape(-1).view("uint8")
        return found

    def memset(self, value: int, size: int) -> None:
        """Set bytes to a number."""
        self._bytes()[:size] = value

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

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copy bytes to an array of NumPy, or to an address of the host."""
        found = self._bytes()[:size].to_numpy()
        if isinstance(mem, int) or hasattr(mem, "value"):
            import ctypes

            ctypes.memmove(mem, found.tobytes(), size)
        else:
            mem.reshape(-1).view(np.uint8)[:size] = found

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
    stream, blocking
        Without effect: the copy waits for what computes the elements.
    order : {'C', 'F', 'A'}
        Order of the elements.
    out : numpy.ndarray, optional
        Where the elements go.

    Returns
    -------
    numpy.ndarray
        The copy, or `out`.
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
    """The module whose functions take these arrays: this one if any is of usmx, else NumPy."""
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


def install_methods() -> None:
    """Give arrays of usmx the methods of CuPy's that they lack."""
    kind: Any = _usmx.ndarray
    kind.get = _get
    kind.set = _set
    kind.data = property(_data)
    device: Any = _usmx.Device
    device.id = property(_number)
