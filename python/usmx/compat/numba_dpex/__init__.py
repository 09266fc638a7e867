"""The kernel language of numba-dpex, both generations of it, compiled by usmx.

``import usmx.compat.numba_dpex as dpex``, and programs written for numba-dpex run: the older form
with functions (``dpex.get_global_id(0)``, launched as ``kernel[global, local](...)``) and the newer
one with objects (an item as first parameter, launched by ``dpex.call_kernel``). Arrays are any USM
that speaks ``__sycl_usm_array_interface__``, those of dpnp as well as ours.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..._kernel.language.functions import (
    DeviceOnly,
    atomic,
    barrier,
    item_functions,
    local,
    private,
)
from ..._kernel.launch import Kernel
from ..._kernel.launch import device_func as _device_func
from . import kernel_api
from .kernel_api import NdRange, Range
from .signatures import (
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    is_signature,
    uint8,
    uint16,
    uint32,
    uint64,
    usm_ndarray,
)

get_global_id: DeviceOnly = item_functions["get_global_id"]
get_global_size: DeviceOnly = item_functions["get_global_size"]
get_local_id: DeviceOnly = item_functions["get_local_id"]
get_local_size: DeviceOnly = item_functions["get_local_size"]
get_group_id: DeviceOnly = item_functions["get_group_id"]
get_num_groups: DeviceOnly = item_functions["get_num_groups"]
LOCAL_MEM_FENCE = CLK_LOCAL_MEM_FENCE = 1
GLOBAL_MEM_FENCE = CLK_GLOBAL_MEM_FENCE = 2
DpnpNdArray = usm_ndarray

__all__ = [
    "CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE", "GLOBAL_MEM_FENCE", "LOCAL_MEM_FENCE",
    "DpnpNdArray", "NdRange", "Range", "atomic", "barrier", "call_kernel", "call_kernel_async",
    "complex64", "complex128", "device_func", "float32", "float64", "func", "get_global_id",
    "get_global_size", "get_group_id", "get_local_id", "get_local_size", "get_num_groups",
    "int8", "int16", "int32", "int64", "kernel", "kernel_api", "local", "private", "uint8",
    "uint16", "uint32", "uint64", "usm_ndarray",
]  # fmt: skip


class DpexKernel:
    """A kernel of either generation: how it is launched says which."""

    def __init__(self, python: Callable[..., Any]) -> None:
        self.python = python
        self.__name__: str = python.__name__
        self.__doc__ = python.__doc__

    @functools.cached_property
    def with_functions(self) -> Kernel:
        """The kernel whose parameters are all arguments."""
        return Kernel(self.python, has_item=False)

    @functools.cached_property
    def with_item(self) -> Kernel:
        """The kernel whose first parameter is the item."""
        return Kernel(self.python)

    def takes(self, arguments: int) -> bool:
        """Whether it has that many parameters, none of which is the item."""
        return bool(self.python.__code__.co_argcount == arguments)

    def __getitem__(self, key: Any) -> Callable[..., None]:
        """The older launch, which waits: ``kernel[global, local](...)``."""
        kernel = self.with_functions
        if _is_pair(key) and kernel._rank < 2:
            key = ((key[0],), (key[1],))
        launch: Any = kernel[_range(key)]

        def run(*args: Any) -> None:
            launch(*args).wait()

        return run


def _is_pair(key: Any) -> bool:
    """Two ints: a global and a local range, unless the kernel asks for two dimensions."""
    return isinstance(key, tuple) and len(key) == 2 and all(hasattr(n, "__index__") for n in key)


def _range(key: Any) -> Any:
    """What stands in brackets for ours."""
    if isinstance(key, Range | NdRange):
        return kernel_api.brackets(key)
    if isinstance(key, tuple) and key and isinstance(key[0], Range | tuple | list):
        return tuple(tuple(part) for part in key if part != ())
    return key


def kernel(function: Any = None, **_: Any) -> Any:
    """A kernel; signatures and options of numba-dpex are taken and ignored."""
    return kernel if function is None or is_signature(function) else DpexKernel(function)


def device_func(function: Any = None, **_: Any) -> Any:
    """A function that kernels call; signatures and options are taken and ignored."""
    if function is None or is_signature(function):
        return device_func
    return _device_func(function)


func = device_func


def call_kernel(kernel: DpexKernel, range: Range | NdRange, *args: Any) -> None:
    """Launch a kernel and wait for it.

    Its first parameter is an item if it has one more than there are arguments.

    Parameters
    ----------
    kernel : kernel
        Made by ``@dpex.kernel``.
    range : Range or NdRange
        Over which items.
    *args
        The other arguments.
    """
    call_kernel_async(kernel, range, (), *args)[1].wait()


def call_kernel_async(
    kernel: DpexKernel, range: Range | NdRange, dependent_events: Any, *args: Any
) -> tuple[Any, Any]:
    """Launch a kernel after some events, and give back two events, here the same."""
    made = kernel.with_functions if kernel.takes(len(args)) else kernel.with_item
    launch: Any = made[_range(range)]
    event = launch(*args, depends_on=list(dependent_events) or None)
    return event, event
