"""The compiler of ``@usmx.kernel``: Python functions as C++ for the device.

Imported when a kernel is first made, so that ``import usmx`` stays quick.
"""

# SPDX-License-Identifier: Apache-2.0
from .diagnostics import KernelError
from .functions import (
    AtomicRef,
    LocalMemory,
    atomic,
    barrier,
    clamp,
    clz,
    fence,
    fma,
    local,
    popcount,
    private,
    rsqrt,
)
from .launch import device_func, kernel
from .mode import simulate
from .spaces import constant

__all__ = [
    "AtomicRef",
    "KernelError",
    "LocalMemory",
    "atomic",
    "barrier",
    "clamp",
    "clz",
    "constant",
    "device_func",
    "fence",
    "fma",
    "kernel",
    "local",
    "popcount",
    "private",
    "rsqrt",
    "simulate",
]
