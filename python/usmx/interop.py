"""Memory pools of usmx as the allocators of other libraries.

What such a library allocates is then a block of the same pool as the arrays of usmx:
``usmx.asarray`` takes it without a copy, and free memory of one serves the other. For NumPy there
is `usmx.numpy_memory`; Arrow takes ``pyarrow.py_buffer(usmx.memory.MemoryUSMHost(n))``.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections import deque
from typing import Any, Literal

from . import _explained
from ._usmx import AllocationError
from .memory import MemoryUSMDevice

__all__ = ["cupy_allocator", "torch_allocator"]

#: Freed by CuPy: the event of its stream that the memory has to wait for, and the memory.
_freed: deque[tuple[Any, MemoryUSMDevice]] = deque()


class _Block:
    """Owner of a block for CuPy, which drops it when the last array is gone."""

    def __init__(self, memory: MemoryUSMDevice, stream: Any, event: Any) -> None:
        self.memory = memory
        self.stream = stream
        self.event = event

    def __del__(self) -> None:
        # Commands that were submitted on the stream so far may still use the memory.
        self.stream.record(self.event)
        _freed.append((self.event, self.memory))


def _collect(wait: bool = False) -> None:
    """Give back what streams no longer use; with `wait` everything."""
    while _freed:
        try:
            event, memory = _freed.popleft()
        except IndexError:  # another thread was faster
            return
        if wait:
            event.synchronize()
        elif not event.done:
            _freed.appendleft((event, memory))
            return


def _device_name(number: int) -> str:
    """The filter string of a device that CUDA numbers."""
    return f"cuda:gpu:{number}"


def cupy_allocator(nbytes: int) -> Any:
    """Allocate for CuPy: ``cupy.cuda.set_allocator(usmx.interop.cupy_allocator)``.

    The memory is device memory of the current device of CuPy, from the default pool. After the last
    array is gone it is used again when the stream that was current at the allocation has finished
    what it had; as with CuPy's own pool, order other streams behind that one.

    Parameters
    ----------
    nbytes : int
        The size in bytes.

    Returns
    -------
    cupy.cuda.MemoryPointer

    Raises
    ------
    AllocationError
        If there is not enough memory, also after the streams have finished.

    Examples
    --------
    >>> import cupy
    >>> import usmx.interop
    >>> cupy.cuda.set_allocator(usmx.interop.cupy_allocator)
    >>> usmx.asarray(cupy.ones(3)).usm_type
    'device'
    """
    import cupy

    cuda = cupy.cuda
    number = int(cuda.runtime.getDevice())
    queue = _device_name(number)
    _collect()
    size = max(nbytes, 1)
    try:
        memory = MemoryUSMDevice(size, queue=queue)
    except AllocationError:
        _collect(wait=True)
        memory = MemoryUSMDevice(size, queue=queue)
    block = _Block(memory, cuda.get_current_stream(), cuda.Event(disable_timing=True))
    pointer = memory.__sycl_usm_array_interface__["data"][0]
    return cuda.MemoryPointer(cuda.UnownedMemory(pointer, size, block, number), 0)


def _library() -> str:
    """The path of the libusmx that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if "/libusmx.so" in path:
                return path
    raise RuntimeError("libusmx is not loaded in this process")


def torch_allocator(device_type: Literal["xpu", "cuda"]) -> Any:
    """Make an allocator for PyTorch's tensors on a device: they are blocks of the default pools.

    ``torch.xpu.memory.change_current_allocator(usmx.interop.torch_allocator("xpu"))``, before
    PyTorch first uses the device. PyTorch has no such allocator for tensors on the CPU.

    Parameters
    ----------
    device_type : {'xpu', 'cuda'}
        The devices, as PyTorch names them.

    Returns
    -------
    torch.xpu.memory.XPUPluggableAllocator or torch.cuda.memory.CUDAPluggableAllocator
        A freed block is used again behind the commands of the stream that it was allocated on.
        PyTorch does not tell pluggable allocators of ``tensor.record_stream(s)``: let the stream of
        the allocation wait for ``s`` before the tensor ends.

    Raises
    ------
    ValueError
        If this PyTorch has no pluggable allocator for `device_type`.

    Examples
    --------
    >>> import torch
    >>> import usmx.interop
    >>> allocator = usmx.interop.torch_allocator("cuda")
    >>> torch.cuda.memory.change_current_allocator(allocator)
    """
    import torch

    classes = {"xpu": "XPUPluggableAllocator", "cuda": "CUDAPluggableAllocator"}
    if device_type not in classes:
        raise ValueError(
            f"device_type: {device_type!r} is not supported; expected 'xpu' or 'cuda'. PyTorch has "
            "no pluggable allocator for other devices; on the CPU it shares memory of usmx by "
            "torch.asarray(x)"
        )
    name = classes[device_type]
    module = getattr(torch, device_type, None)
    make = getattr(getattr(module, "memory", None), name, None)
    if make is None:
        raise ValueError(
            f"device_type: this PyTorch ({torch.__version__}) has no torch.{device_type}.memory."
            f"{name}; a newer one has"
        )
    functions = f"usmx_torch_{device_type}_allocate", f"usmx_torch_{device_type}_free"
    try:
        return make(_library(), *functions)
    except AttributeError as error:
        raise ValueError(
            f"device_type: this PyTorch ({torch.__version__}) was built without {device_type!r}; "
            "install a build for such devices"
        ) from error


_explained.explain(globals())
