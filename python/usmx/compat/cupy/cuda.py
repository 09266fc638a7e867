"""``cupy.cuda``: streams, events, devices and memory pools."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import usmx as _usmx
from usmx import _explained

from .._standing_in import refuse as _refuse
from ..cuda import devices as _devices
from ..cuda import streams as _streams
from ..cuda.arrays import pinned_array
from .arrays import MemoryPointer, UnownedMemory, _number


class Event(_streams.Event):
    """A point in a stream.

    Parameters
    ----------
    block, interprocess
        Without effect.
    disable_timing : bool
        Whether it does not know when it was reached.
    """

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        del block, interprocess
        super().__init__(timing=not disable_timing)

    @property
    def done(self) -> bool:
        """Whether it was reached."""
        return self.query()

    def record(self, stream: Any = None) -> None:
        """Be the point that the stream has reached now."""
        super().record(stream)


class Stream(_streams.Stream):
    """Commands in order.

    Parameters
    ----------
    null : bool
        The default stream.
    non_blocking, ptds, priority
        Without effect: no stream waits for another one.
    """

    null: Stream
    ptds: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
        *,
        queue: _usmx.Queue | None = None,
    ) -> None:
        self.is_non_blocking: bool = non_blocking
        self.priority: int = 0 if priority is None else int(priority)
        null = null or ptds
        super().__init__(None if null else queue or _streams.stream().queue)

    @property
    def ptr(self) -> int:
        """A number that distinguishes it; 0 for the default stream."""
        return self.handle

    @property
    def done(self) -> bool:
        """Whether all commands have finished."""
        return bool(self.queue.is_idle)

    def use(self) -> Stream:
        """Itself: arrays are computed on their own queues, in order with all others."""
        return self

    def record(self, event: Event | None = None) -> Event:
        """An event at the point that the stream has reached now."""
        made = event or Event()
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Let what is launched from now on wait for an event."""
        event.wait(self)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        """Call a function when all commands so far have finished; here the call waits."""
        self.synchronize()
        callback(arg)

    @property
    def device_id(self) -> int:
        """CUDA's number of its device."""
        return _number(self.queue.device)

    def begin_capture(self, mode: Any = None) -> None:
        """Not here.

        Raises
        ------
        NotImplementedError
            Always.
        """
        del mode
        raise NotImplementedError(
            "begin_capture: streams are not recorded; usmx.fuse makes one kernel of several calls"
        )

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(Stream):
    """A stream of a queue that exists.

    Parameters
    ----------
    ptr : Queue
        A queue of usmx or of dpctl.
    device_id
        Without effect: the queue has its device.

    Raises
    ------
    TypeError
        It is the address of a stream of CUDA, which says nothing about its device.
    """

    def __init__(self, ptr: Any, device_id: int = -1) -> None:
        del device_id
        super().__init__(queue=_streams.external_stream(ptr).queue)


def get_current_stream(device_id: int | None = None) -> Stream:
    """The default stream: arrays are computed on their own queues, in order with all others."""
    del device_id
    return Stream(null=True)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events."""
    return start_event.elapsed_time(end_event)


class Device:
    """A device by its number, and a ``with`` block in which it is the default one.

    Parameters
    ----------
    device : int, optional
        Its number; that of the current device if not given.
    """

    def __init__(self, device: int | None = None) -> None:
        self.id: int = _devices.gpus.current.id if device is None else int(device)

    @property
    def usmx(self) -> _usmx.Device:
        """The device of usmx."""
        return _devices.gpus[self.id].usmx

    def use(self) -> None:
        """Make it the current one."""
        _devices.select_device(self.id)

    def synchronize(self) -> None:
        """Wait for all that was launched."""
        _devices.synchronize()

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes that are free, and all bytes."""
        return _devices.current_context(self.id).get_memory_info()

    @property
    def compute_capability(self) -> str:
        """What programs ask to know what kernels may do."""
        return "90"

    @property
    def pci_bus_id(self) -> str:
        """Its address on the bus; the filter string where it has none."""
        found = self.usmx.properties().get("pci_address")
        return str(found or self.usmx.filter_string)

    @property
    def attributes(self) -> dict[str, Any]:
        """All properties that usmx knows."""
        return dict(self.usmx.properties())

    def __enter__(self) -> Device:
        _devices._stack().append(self.id)
        return self

    def __exit__(self, *_: object) -> None:
        _devices._stack().pop()

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return int(self) == other if isinstance(other, int) else (
            isinstance(other, Device) and other.id == self.id
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


#: The resource without the limit, and the limit, by device and kind of memory.
_limited: dict[tuple[int, str], tuple[Any, int]] = {}


class MemoryPool:
    """usmx's pool under CuPy's names: its memory serves all arrays. Without a pool, 0 bytes.

    Parameters
    ----------
    allocator : callable, optional
        Whose memory it has: `malloc_managed`, or a method of another pool.
    """

    def __init__(self, allocator: Any = None) -> None:
        if allocator is malloc_managed:
            self.kind = "shared"

    def used_bytes(self) -> int:
        """Bytes of arrays that exist."""
        return sum(row.used or 0 for row in self._rows())

    def total_bytes(self) -> int:
        """Bytes that the pool has of the device."""
        return sum(row.held or 0 for row in self._rows())

    def free_bytes(self) -> int:
        """Bytes that are ready for new arrays."""
        return max(0, self.total_bytes() - self.used_bytes())

    def n_free_blocks(self) -> int:
        """Not known; 0 if no bytes are ready."""
        return int(self.free_bytes() > 0)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give memory that no array has back to the device."""
        del stream
        _usmx.memory.trim()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Let arrays of this memory have no more bytes than that.

        Parameters
        ----------
        size : int
            Bytes; 0 for no limit.
        fraction : float
            Of the memory of the device.

        Raises
        ------
        ValueError
            Both are given, or a fraction is not from 0 to 1.
        """
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"fraction: {fraction}; expected a number from 0 to 1")
            size = int(fraction * _devices.gpus.current.usmx.global_mem_size)
        place = (_devices.gpus.current.id, self.kind)
        found = _limited.pop(place, None)
        if found is not None:
            _usmx.memory.set_resource(found[0])
        if size:
            before = _usmx.memory.get_resource(_devices.queue(), self.kind)
            _usmx.memory.set_resource(_usmx.memory.LimitingResource(before, int(size)))
            _limited[place] = before, int(size)

    def get_limit(self) -> int:
        """Bytes that arrays may have, of `set_limit`; 0 if there is no limit."""
        found = _limited.get((_devices.gpus.current.id, self.kind))
        return 0 if found is None else found[1]

    def malloc(self, size: int) -> MemoryPointer:
        """Memory of so many bytes: ``cp.ndarray(shape, dtype, pointer)`` is an array there."""
        return MemoryPointer(_usmx.empty(size, "uint8", usm_type=self.kind))

    #: Which memory.
    kind: Any = "device"

    def _rows(self) -> list[Any]:
        return [row for row in _usmx.memory.stats() if row.kind == self.kind]


class PinnedMemoryPool(MemoryPool):
    """The same of memory of the host."""

    kind = "host"


class MemoryAsyncPool(MemoryPool):
    """usmx's pool: all its memory is in the order of commands."""

    def __init__(self, pool_handles: Any = "current") -> None:
        del pool_handles
        super().__init__()


def malloc_managed(size: int) -> MemoryPointer:
    """Memory that moves between host and device."""
    return MemoryPointer(_usmx.empty(size, "uint8", usm_type="shared"))


def get_default_memory_pool() -> MemoryPool:
    """usmx's pool.

    Returns
    -------
    MemoryPool

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.get_default_memory_pool().free_all_blocks()
    """
    return MemoryPool()


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """usmx's pool of memory of the host.

    Returns
    -------
    PinnedMemoryPool

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.get_default_pinned_memory_pool().free_all_blocks()
    """
    return PinnedMemoryPool()


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host that devices copy from quickly, as a buffer."""
    return pinned_array(size, "uint8")


def set_allocator(allocator: Any = None) -> None:
    """Nothing for CuPy's own pools and `malloc_managed`; others are refused.

    ``USMX_USM_TYPE=shared`` makes managed memory the default of new arrays.

    Raises
    ------
    NotImplementedError
        It is not a method of `MemoryPool`.
    """
    pool = getattr(allocator, "__self__", None)
    if not (allocator in (None, malloc_managed) or isinstance(pool, MemoryPool)):
        raise NotImplementedError("set_allocator: see usmx.memory.set_resource")


set_pinned_memory_allocator = set_allocator


def is_available() -> bool:
    """Whether there is a device.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.cuda.is_available()
    True
    """
    return _devices.is_available()


class CUDARuntimeError(RuntimeError):
    """Never raised: usmx's errors say what failed."""


class _Runtime:
    """The functions of ``cupy.cuda.runtime`` that programs call."""

    is_hip = False
    CUDARuntimeError = CUDARuntimeError
    memcpyHostToHost = 0
    memcpyHostToDevice = 1
    memcpyDeviceToHost = 2
    memcpyDeviceToDevice = 3
    memcpyDefault = 4
    streamDefault = 0
    streamNonBlocking = 1

    @staticmethod
    def getDeviceCount() -> int:
        """How many devices there are."""
        return len(_devices.gpus)

    @staticmethod
    def getDevice() -> int:
        """Number of the current device."""
        return _devices.gpus.current.id

    @staticmethod
    def setDevice(number: int) -> None:
        """Make a device the current one."""
        _devices.select_device(number)

    @staticmethod
    def deviceSynchronize() -> None:
        """Wait for all that was launched."""
        _devices.synchronize()

    @staticmethod
    def streamSynchronize(stream: int) -> None:
        """Wait for all that was launched: a number names no queue."""
        del stream
        _devices.synchronize()

    @staticmethod
    def memGetInfo() -> tuple[int, int]:
        """Bytes that are free, and all bytes."""
        return _devices.current_context().get_memory_info()

    @staticmethod
    def deviceCanAccessPeer(device: int, peer: int) -> bool:
        """Whether kernels of a device may read the memory of another one."""
        if device == peer:
            return False
        return bool(_devices.gpus[device].usmx.can_access_peer(_devices.gpus[peer].usmx))

    @staticmethod
    def deviceEnablePeerAccess(peer: int) -> None:
        """Nothing: copies between devices enable it."""
        del peer

    @staticmethod
    def driverGetVersion() -> int:
        """A version of CUDA whose programs run: 12.0."""
        return 12000

    runtimeGetVersion = driverGetVersion

    @staticmethod
    def memcpy(dst: int, src: int, size: int, kind: int = 4) -> None:
        """Copy bytes between addresses of the device or of the host.

        Parameters
        ----------
        dst, src : int
            Where to, and where from.
        size : int
            How many.
        kind : int
            Without effect: the runtime knows whose addresses they are.
        """
        del kind
        queue = _devices.queue()
        _devices.synchronize()
        _usmx.copy(_of_address(dst, size, queue), _of_address(src, size, queue))

    @staticmethod
    def memcpyAsync(dst: int, src: int, size: int, kind: int = 4, stream: Any = 0) -> None:
        """The same; the bytes are there when the call returns."""
        del stream
        _Runtime.memcpy(dst, src, size, kind)

    @staticmethod
    def memset(ptr: int, value: int, size: int) -> None:
        """Set bytes to a number."""
        _devices.synchronize()
        place = _of_address(ptr, size, _devices.queue())
        place[...] = value
        _devices.synchronize()

    @staticmethod
    def getDeviceProperties(number: int) -> dict[str, Any]:
        """What is known of a device, by CUDA's names."""
        device = _devices.gpus[number]
        major, minor = device.compute_capability
        most = device.MAX_THREADS_PER_BLOCK
        return {
            "name": device.name,
            "major": major,
            "minor": minor,
            "totalGlobalMem": device.usmx.global_mem_size,
            "totalConstMem": device.TOTAL_CONSTANT_MEMORY,
            "multiProcessorCount": device.MULTIPROCESSOR_COUNT,
            "warpSize": device.WARP_SIZE,
            "maxThreadsPerBlock": most,
            "maxThreadsDim": (most, most, device.MAX_BLOCK_DIM_Z),
            "maxGridSize": (2**31 - 1, 65535, 65535),
            "sharedMemPerBlock": device.MAX_SHARED_MEMORY_PER_BLOCK,
            "clockRate": device.CLOCK_RATE,
            "managedMemory": int(device.usmx.has_aspect("usm_shared_allocations")),
            "unifiedAddressing": 1,
        }


def _of_address(ptr: int, size: int, queue: _usmx.Queue) -> Any:
    """Bytes at an address: an array of usmx, or of NumPy where it is memory of the host."""
    try:
        return _usmx.asarray(UnownedMemory(ptr, size, None))
    except (TypeError, ValueError, RuntimeError):
        import ctypes

        import numpy as np

        del queue
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(ptr))


runtime: _Runtime = _Runtime()


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """A ``with`` block of `set_allocator`."""
    set_allocator(allocator)
    yield


class Nvtx:
    """Marks for NVIDIA's tools, which are not there: see `usmx.trace`."""

    @staticmethod
    def RangePush(*_: Any) -> None:
        """Nothing."""

    @staticmethod
    def RangePop(*_: Any) -> None:
        """Nothing."""

    Mark = RangePush


nvtx: Nvtx = Nvtx()
#: The modules that these names are in too.
stream: Any = SimpleNamespace(
    Stream=Stream, Event=Event, get_current_stream=get_current_stream,
    get_elapsed_time=get_elapsed_time,
)  # fmt: skip
device: Any = SimpleNamespace(
    Device=Device, get_compute_capability=lambda: Device().compute_capability,
    get_device_id=lambda: Device().id,
)  # fmt: skip
alloc: Any = get_default_memory_pool().malloc
memory: Any = SimpleNamespace(
    MemoryPool=MemoryPool, PinnedMemoryPool=PinnedMemoryPool, set_allocator=set_allocator,
    alloc=alloc, MemoryPointer=MemoryPointer, UnownedMemory=UnownedMemory,
    malloc_managed=malloc_managed, MemoryAsyncPool=MemoryAsyncPool, OutOfMemoryError=MemoryError,
)  # fmt: skip
pinned_memory: Any = SimpleNamespace(
    PinnedMemoryPool=PinnedMemoryPool, alloc_pinned_memory=alloc_pinned_memory,
)  # fmt: skip


def get_device_id() -> int:
    """Number of the current device."""
    return Device().id


def profile() -> Any:
    """Nothing, as a ``with`` block: see `usmx.trace`."""
    return contextlib.nullcontext()


def _nothing(*_: Any) -> None:
    """Nothing: see `usmx.trace`."""


#: ``cupy.cuda.profiler``, of which nothing is here to start.
profiler: Any = SimpleNamespace(start=_nothing, stop=_nothing, initialize=_nothing)


#: What only NVIDIA's devices and libraries have, and what to use.
_REFUSED = {
    "nccl": "see usmx.ipc and mpi4py, which takes arrays of usmx",
    "texture": "textures exist on NVIDIA's devices only",
    "cublas": "see usmx.matmul and usmx.linalg",
    "cusolver": "see usmx.linalg",
    "cusparse": "sparse matrices are not in usmx",
    "cufft": "see usmx.fft",
    "curand": "see usmx.random",
    "thrust": "see usmx.sort and usmx's other functions of arrays",
    "cub": "see usmx.ReductionKernel and usmx.ScanKernel",
    "nvrtc": "RawModule compiles texts",
    "Graph": "usmx.fuse makes one kernel of several calls",
    "MemoryHook": "usmx.memory.LoggingResource and TrackingResource see allocations",
    "PythonFunctionAllocator": "see usmx.memory.set_resource",
    "CFunctionAllocator": "see usmx.memory.set_resource",
}
#: A package to `import`, which asks for its parts then.
__path__: list[str] = []
_refuse("cupy.cuda", _REFUSED)


def __getattr__(name: str) -> Any:
    if name in _REFUSED:
        raise AttributeError(f"cupy.cuda.{name} is not here: {_REFUSED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_explained.explain(globals())
