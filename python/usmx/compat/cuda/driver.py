"""What programs call of ``numba.cuda.cudadrv.driver``: bytes between host and device."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from ... import _usmx
from .arrays import DeviceNDArray, unwrapped
from .devices import Device
from .errors import CudaAPIError
from .streams import Event, Stream, queue_of

#: The driver of CUDA itself, which is not there.
driver = None


def _bytes(obj: Any) -> Any:
    """The memory of an array as bytes, of usmx or of NumPy."""
    given = unwrapped(obj)
    if isinstance(given, _usmx.ndarray):
        return given.reshape(-1).view("uint8")
    return np.asarray(given).reshape(-1).view(np.uint8)


def _copied(dst: Any, src: Any, size: int, stream: Any) -> None:
    queue = queue_of(stream)
    if queue is not None:
        queue.wait()
    to, of = _bytes(dst), _bytes(src)
    if not 0 <= size <= min(to.size, of.size):
        raise ValueError(f"size: {size}; expected 0 to {min(to.size, of.size)} bytes")
    if isinstance(of, _usmx.ndarray) and isinstance(to, np.ndarray):
        to[:size] = of[:size].to_numpy()
    else:
        to[:size] = of[:size]


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes to an array of the device.

    Parameters
    ----------
    dst, src : array
        Where to, and where from.
    size : int
        How many bytes.
    stream
        The copy waits for it.
    """
    _copied(dst, src, size, stream)


def device_to_host(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes of an array of the device; parameters as of `host_to_device`."""
    _copied(dst, src, size, stream)


def device_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy bytes on the device; parameters as of `host_to_device`."""
    _copied(dst, src, size, stream)


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Set bytes of an array to a number.

    Parameters
    ----------
    dst : array
        Whose bytes.
    val : int
        What each becomes.
    size : int
        How many.
    stream
        The command waits for it.
    """
    queue = queue_of(stream)
    if queue is not None:
        queue.wait()
    _bytes(dst)[:size] = val & 0xFF


def device_memory_size(devmem: Any) -> int:
    """Bytes of the memory of an array."""
    return int(_bytes(devmem).size)


__all__ = [
    "CudaAPIError", "Device", "DeviceNDArray", "Event", "Stream", "device_memory_size",
    "device_memset", "device_to_device", "device_to_host", "driver", "host_to_device",
]  # fmt: skip
