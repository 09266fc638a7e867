"""What CuPy's arrays have beyond NumPy's: the way to the host and back, and their address."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import types
from typing import Any

import numpy as np

import usmx as _usmx

from ..._namespace.methods import checked_self


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


def install_methods() -> None:
    """Give arrays of usmx the methods of CuPy's that they lack."""
    kind: Any = _usmx.ndarray
    kind.get = _get
    kind.set = _set
    kind.data = property(_data)
