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
    from .tracing import CopyError, expect_zero_copy, trace

if _runtime.wants_trace():
    from . import counters

    counters.enable()

__all__ = [
    "AllocationError",
    "BuildError",
    "Context",
    "CopyError",
    "Device",
    "DeviceError",
    "Event",
    "InteropError",
    "Platform",
    "Queue",
    "RawKernel",
    "RawModule",
    "__version__",
    "arange",
    "asarray",
    "bool_",
    "broadcast_to",
    "complex64",
    "complex128",
    "default_queue",
    "devices",
    "dtype",
    "empty",
    "empty_like",
    "expect_zero_copy",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "full_like",
    "get_cmake_dir",
    "get_include",
    "int8",
    "int16",
    "int32",
    "int64",
    "memory",
    "ndarray",
    "ones",
    "ones_like",
    "platforms",
    "trace",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "usm_ndarray",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> object:
    """Import what few programs use when it is first used."""
    if name in ("CopyError", "expect_zero_copy", "trace"):
        from . import tracing

        value: object = getattr(tracing, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
