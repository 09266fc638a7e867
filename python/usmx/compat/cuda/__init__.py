"""``numba.cuda``'s names for every device of usmx.

``from usmx.compat import cuda`` in place of ``from numba import cuda``, and kernels run on GPUs of
all makers and on processors. `install` makes ``from numba import cuda`` itself find this module.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from usmx import _explained

from ..._kernel.language import cuda as _language
from ..._kernel.language.vectors import _class_of
from ..._kernel.source import texts as _texts
from ..numba_types import TYPES as _TYPES
from . import arrays as devicearray
from . import errors, random
from .arrays import (
    DeviceNDArray,
    HostNDArray,
    as_cuda_array,
    auto_device,
    device_array,
    device_array_like,
    is_cuda_array,
    is_cuda_ndarray,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from .devices import (
    close,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    list_devices,
    require_context,
    select_device,
    synchronize,
)
from .dispatcher import In, InOut, Out, declare_device, jit
from .errors import CudaSupportError, KernelRuntimeError
from .installing import install, types_module
from .linking import LTOIR, Archive, Cubin, CUSource, Fatbin, LinkableCode, Object, PTXSource
from .reduction import Reduce
from .streams import (
    Event,
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    stream,
)
from .ufuncs import guvectorize, vectorize

reduce = Reduce
#: ``numba.types``.
types = types_module()
legacy_default_stream = default_stream
per_thread_default_stream = default_stream
implementation = "usmx"


def is_supported_version() -> bool:
    """Whether the runtime is one that programs may use: it is."""
    return True


def is_float16_supported() -> bool:
    """Whether kernels may use float16: they may."""
    return True


def is_bfloat16_supported() -> bool:
    """Whether kernels may name bfloat16: their arrays may have it, and are read as float32."""
    return False


def cuda_error() -> None:
    """Why there is no device: None, because usmx says so at the first command."""
    return None


def profile_start() -> None:
    """Nothing: see `usmx.trace`."""


def profile_stop() -> None:
    """Nothing: see `usmx.trace`."""


class profiling:
    """Nothing, as a ``with`` block: see `usmx.trace`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _missing(name: str, instead: str) -> Any:
    def refused(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"cuda.{name}: {instead}")

    refused.__name__ = name
    return refused


compile: Any = _missing(
    "compile", "there is no PTX; kernel.inspect_source(*args) has the C++ of a kernel"
)
compile_ptx: Any = _missing(
    "compile_ptx", "there is no PTX; kernel.inspect_source(*args) has the C++ of a kernel"
)
compile_for_current_device: Any = compile_ptx
compile_ptx_for_current_device: Any = compile_ptx
compile_all: Any = compile_ptx
open_ipc_array: Any = _missing(
    "open_ipc_array", "processes open the memory of usmx.ipc.empty and usmx.ipc.share by handles"
)
set_memory_manager: Any = _missing("set_memory_manager", "see usmx.memory.set_default_resource")

# Numba reads the code of a function, so programs decorate what `exec` made long before.
_texts.watch()

#: What kernels call.
globals().update(_language.NAMES)
#: Types of numbers in signatures and kernels.
globals().update(
    {name: t for name, t in _TYPES.items() if name not in ("bool", "array", "Array", "Type")}
)
#: Vectors of 1 to 4 numbers, by all of Numba's names.
_VECTORS = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long longlong", "uint8": "uchar",
    "uint16": "ushort", "uint32": "uint", "uint64": "ulong ulonglong", "float32": "float",
    "float64": "double",
}  # fmt: skip
globals().update(
    {
        f"{name}{count}": _class_of((count,), t)
        for t, aliases in _VECTORS.items()
        for count in (1, 2, 3, 4)
        for name in (f"{t}x", *aliases.split())
    }
)

__all__ = [
    "LTOIR",
    "Archive",
    "CUSource",
    "Cubin",
    "CudaSupportError",
    "DeviceNDArray",
    "Event",
    "Fatbin",
    "HostNDArray",
    "In",
    "InOut",
    "KernelRuntimeError",
    "LinkableCode",
    "Object",
    "Out",
    "PTXSource",
    "Reduce",
    "Stream",
    "as_cuda_array",
    "auto_device",
    "close",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "devicearray",
    "errors",
    "event",
    "event_elapsed_time",
    "external_stream",
    "get_current_device",
    "gpus",
    "guvectorize",
    "install",
    "is_available",
    "is_cuda_array",
    "is_cuda_ndarray",
    "jit",
    "list_devices",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "random",
    "reduce",
    "require_context",
    "select_device",
    "stream",
    "synchronize",
    "to_device",
    "types",
    "vectorize",
]  # fmt: skip
__all__ += list(_language.NAMES)

_explained.explain(globals())
