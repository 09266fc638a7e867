"""usmx: zero-copy exchange of SYCL Unified Shared Memory between C++ and Python."""

from . import _runtime  # noqa: F401 - first: it shows drivers before the runtime looks for them
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
    default_queue,
    devices,
    platforms,
)

__all__ = [
    "AllocationError",
    "BuildError",
    "Context",
    "Device",
    "DeviceError",
    "Event",
    "InteropError",
    "Platform",
    "Queue",
    "RawKernel",
    "RawModule",
    "__version__",
    "default_queue",
    "devices",
    "platforms",
]
