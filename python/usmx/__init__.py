"""usmx: zero-copy exchange of SYCL Unified Shared Memory between C++ and Python."""
# SPDX-License-Identifier: Apache-2.0

from . import (
    _runtime,
    memory,
)
from ._usmx import (
    AllocationError,
    BuildError,
    Context,
    Device,
    DeviceError,
    Event,
    InteropError,
    Platform,
    Queue,
    RawKernel,
    RawModule,
    __version__,
    arange,
    asarray,
    bool_,
    broadcast_to,
    complex64,
    complex128,
    default_queue,
    devices,
    dtype,
    empty,
    empty_like,
    float16,
    float32,
    float64,
    from_numpy,
    full,
    full_like,
    int8,
    int16,
    int32,
    int64,
    ndarray,
    ones,
    ones_like,
    platforms,
    uint8,
    uint16,
    uint32,
    uint64,
    usm_ndarray,
    zeros,
    zeros_like,
)
from .paths import get_cmake_dir, get_include

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from ._kernel import (
        AtomicRef,
        KernelError,
        LocalMemory,
        atomic,
        barrier,
        clamp,
        clz,
        constant,
        device_func,
        fence,
        fma,
        kernel,
        local,
        popcount,
        private,
        rsqrt,
        simulate,
    )
    from .tracing import CopyError, expect_zero_copy, trace

if _runtime.wants_trace():
    from . import counters

    counters.enable()

__all__ = [
    "AllocationError",
    "AtomicRef",
    "BuildError",
    "Context",
    "CopyError",
    "Device",
    "DeviceError",
    "Event",
    "InteropError",
    "KernelError",
    "LocalMemory",
    "Platform",
    "Queue",
    "RawKernel",
    "RawModule",
    "__version__",
    "arange",
    "asarray",
    "atomic",
    "barrier",
    "bool_",
    "broadcast_to",
    "clamp",
    "clz",
    "complex64",
    "complex128",
    "constant",
    "default_queue",
    "device_func",
    "devices",
    "dtype",
    "empty",
    "empty_like",
    "expect_zero_copy",
    "fence",
    "float16",
    "float32",
    "float64",
    "fma",
    "from_numpy",
    "full",
    "full_like",
    "get_cmake_dir",
    "get_include",
    "int8",
    "int16",
    "int32",
    "int64",
    "kernel",
    "local",
    "memory",
    "ndarray",
    "ones",
    "ones_like",
    "platforms",
    "popcount",
    "private",
    "rsqrt",
    "simulate",
    "trace",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "usm_ndarray",
    "zeros",
    "zeros_like",
]

# What few programs use is imported when it is first used: module -> its names.
_LATER = {
    "tracing": ("CopyError", "expect_zero_copy", "trace"),
    "_kernel": (
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
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _LATER.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
