"""usmx: zero-copy exchange of SYCL Unified Shared Memory between C++ and Python."""
# SPDX-License-Identifier: Apache-2.0

from . import _runtime  # isort: skip - first: the compiled module needs the libraries it finds
from . import (
    _build_errors,
    _explained,
    _functions,
    _namespace,
    memory,
)
from ._interop import cloudpickle as _cloudpickle
from ._namespace import methods as _methods
from ._usmx import (
    AllocationError,
    BuildError,
    Context,
    Device,
    DeviceError,
    ElementwiseKernel,
    Event,
    ExecutionPlacementError,
    InteropError,
    Platform,
    Queue,
    RawKernel,
    RawModule,
    ReductionKernel,
    ScanKernel,
    __version__,
    arange,
    asarray,
    bfloat16,
    bool_,
    broadcast_to,
    complex64,
    complex128,
    copy,
    copy_2d,
    copy_2d_async,
    copy_async,
    default_queue,
    devices,
    dtype,
    empty,
    empty_like,
    fill,
    fill_async,
    float16,
    float32,
    float64,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    get_coerced_usm_type,
    get_execution_queue,
    int8,
    int16,
    int32,
    int64,
    mem_advise,
    mem_advise_async,
    memset,
    memset_async,
    ndarray,
    numpy_memory,
    ones,
    ones_like,
    platforms,
    prefetch,
    prefetch_async,
    program_memory,
    set_program_memory,
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
    from . import fft as fft
    from . import ipc as ipc
    from . import linalg as linalg
    from . import random as random
    from . import special as special
    from . import testing as testing
    from ._benchmark import Timing, bench
    from ._functions import *  # noqa: F403
    from ._fusion import fuse
    from ._kernel.language.constants import constant
    from ._kernel.language.functions import AtomicRef, atomic, barrier, fence, local, private
    from ._kernel.language.local_memory import LocalMemory
    from ._kernel.language.vectors import mat, vec
    from ._kernel.launch import device_func, kernel
    from ._kernel.mode import simulate
    from ._kernel.source.diagnostics import KernelError
    from ._namespace.arrangement import *  # noqa: F403
    from ._namespace.correlation import *  # noqa: F403
    from ._namespace.creation import *  # noqa: F403
    from ._namespace.data_types import *  # noqa: F403
    from ._namespace.default_kind import *  # noqa: F403
    from ._namespace.einstein import *  # noqa: F403
    from ._namespace.elementwise import *  # noqa: F403
    from ._namespace.evaluation import *  # noqa: F403
    from ._namespace.files import *  # noqa: F403
    from ._namespace.grids import *  # noqa: F403
    from ._namespace.histograms import *  # noqa: F403
    from ._namespace.histograms_nd import *  # noqa: F403
    from ._namespace.inspection import *  # noqa: F403
    from ._namespace.linear_algebra import *  # noqa: F403
    from ._namespace.manipulation import *  # noqa: F403
    from ._namespace.nan_reductions import *  # noqa: F403
    from ._namespace.numbers import *  # noqa: F403
    from ._namespace.numpy_forms import *  # noqa: F403
    from ._namespace.padding import *  # noqa: F403
    from ._namespace.polynomials import *  # noqa: F403
    from ._namespace.quantiles import *  # noqa: F403
    from ._namespace.selection import *  # noqa: F403
    from ._namespace.sets import *  # noqa: F403
    from ._namespace.sorting import *  # noqa: F403
    from ._namespace.statistics import *  # noqa: F403
    from ._namespace.windows import *  # noqa: F403
    from ._pieces.array import FileArray, FileTable
    from ._pieces.array import open as open
    from ._pointers import from_pointer
    from ._programs import use_programs
    from .tracing import CopyError, expect_zero_copy, profile, trace

if _runtime.wants_trace():
    from . import counters

    counters.enable()

__all__ = [
    "AllocationError", "AtomicRef", "BuildError", "Context", "CopyError", "Device",
    "DeviceError", "ElementwiseKernel", "Event", "ExecutionPlacementError", "FileArray",
    "FileTable", "InteropError", "KernelError", "LocalMemory", "Platform", "Queue", "RawKernel",
    "RawModule", "ReductionKernel", "ScanKernel", "Timing", "__version__", "arange",
    "asarray", "atomic", "barrier", "bench", "bfloat16", "bool_", "broadcast_to", "complex64",
    "complex128", "constant", "copy", "copy_2d", "copy_2d_async", "copy_async", "default_queue",
    "device_func", "devices",
    "dtype", "empty", "empty_like", "expect_zero_copy", "fence", "fill", "fill_async",
    "float16", "float32", "float64", "from_dlpack", "from_numpy", "from_pointer", "full",
    "full_like", "fuse", "get_cmake_dir", "get_coerced_usm_type", "get_execution_queue",
    "get_include", "int8", "int16", "int32", "int64", "kernel", "local", "mat", "mem_advise",
    "mem_advise_async", "memory", "memset", "memset_async", "ndarray", "numpy_memory", "ones",
    "ones_like", "platforms", "prefetch", "prefetch_async", "private", "profile", "program_memory",
    "set_program_memory", "simulate", "trace", "uint8", "uint16", "uint32", "uint64",
    "use_programs", "usm_ndarray", "vec", "zeros", "zeros_like",
]  # fmt: skip
__all__ += _functions.__all__
__all__ += _namespace.NAMES  # noqa: PLE0605 (a list of the rows)

_build_errors.install()
_methods.install()
_cloudpickle.register()

# What few programs use is imported when it is first used: module -> its names.
_LATER = {
    "_fusion": ("fuse",),
    "_benchmark": ("Timing", "bench"),
    "_pieces.array": ("FileArray", "FileTable", "open"),
    "_pointers": ("from_pointer",),
    "_programs": ("use_programs",),
    "tracing": ("CopyError", "expect_zero_copy", "profile", "trace"),
    "_kernel.language.constants": ("constant",),
    "_kernel.language.functions": (
        "AtomicRef",
        "atomic",
        "barrier",
        "fence",
        "local",
        "private",
        *_functions.__all__,
    ),
    "_kernel.language.local_memory": ("LocalMemory",),
    "_kernel.language.vectors": ("mat", "vec"),
    "_kernel.launch": ("device_func", "kernel"),
    "_kernel.mode": ("simulate",),
    "_kernel.source.diagnostics": ("KernelError",),
}

# Modules that are imported when they are first used.
_WHOLE = ("fft", "ipc", "linalg", "random", "special", "testing")


if not TYPE_CHECKING:  # type checkers would believe that every name exists

    def __getattr__(name: str) -> object:
        if name in _WHOLE:
            from importlib import import_module

            return import_module(f".{name}", __name__)
        if name in _namespace.WHERE:
            globals()[name] = found = _namespace.find(_namespace.WHERE[name], name)
            return found
        for module, names in _LATER.items():
            if name in names:
                from importlib import import_module

                value: object = getattr(import_module(f".{module}", __name__), name)
                value = _explained.explained(value, f"{__name__}.{name}")
                globals()[name] = value
                return value
        if not name.startswith("_"):  # Python asks for modules of ours before it imports them
            from importlib import import_module

            numpys_own = import_module("._namespace.numpys_own", __name__)
            if name in numpys_own.NAMES:
                return getattr(numpys_own, name)
        message = f"module {__name__!r} has no attribute {name!r}"
        if name.startswith("_"):  # Python and tools ask for those
            raise AttributeError(message)
        from ._missing_names import explained_error

        raise explained_error(AttributeError(message), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_WHOLE})
