"""``cupy.cuda``: streams, events, devices and memory pools."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import usmx as _usmx
from usmx import _explained

from ..cuda import devices as _devices
from ..cuda import streams as _streams
from ..cuda.arrays import pinned_array
from .arrays import MemoryPointer


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
    non_blocking, ptds
        Without effect: no stream waits for another one.
    """

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        *,
        queue: _usmx.Queue | None = None,
    ) -> None:
        del non_blocking, ptds
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

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


Stream.null = Stream(null=True)  # type: ignore[attr-defined]


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


class MemoryPool:
    """usmx's pool under CuPy's names: its memory serves all arrays. Without a pool, 0 bytes."""

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


def get_default_memory_pool() -> MemoryPool:
    """usmx's pool."""
    return MemoryPool()


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """usmx's pool of memory of the host."""
    return PinnedMemoryPool()


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host that devices copy from quickly, as a buffer."""
    return pinned_array(size, "uint8")


def set_allocator(allocator: Any = None) -> None:
    """Nothing for CuPy's own pools; others are refused.

    Raises
    ------
    NotImplementedError
        It is not a method of `MemoryPool`.
    """
    if allocator is not None and not isinstance(getattr(allocator, "__self__", None), MemoryPool):
        raise NotImplementedError("set_allocator: see usmx.memory.set_resource")


set_pinned_memory_allocator = set_allocator


def is_available() -> bool:
    """Whether there is a device."""
    return _devices.is_available()


class _Runtime:
    """The functions of ``cupy.cuda.runtime`` that programs ask about devices."""

    is_hip = False

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
    def memGetInfo() -> tuple[int, int]:
        """Bytes that are free, and all bytes."""
        return _devices.current_context().get_memory_info()

    @staticmethod
    def getDeviceProperties(number: int) -> dict[str, Any]:
        """What is known of a device, by CUDA's names."""
        device = _devices.gpus[number]
        return {
            "name": device.name,
            "totalGlobalMem": device.usmx.global_mem_size,
            "multiProcessorCount": device.MULTIPROCESSOR_COUNT,
            "warpSize": device.WARP_SIZE,
            "maxThreadsPerBlock": device.MAX_THREADS_PER_BLOCK,
            "sharedMemPerBlock": device.MAX_SHARED_MEMORY_PER_BLOCK,
        }


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
device: Any = SimpleNamespace(Device=Device)
alloc: Any = get_default_memory_pool().malloc
memory: Any = SimpleNamespace(
    MemoryPool=MemoryPool, PinnedMemoryPool=PinnedMemoryPool, set_allocator=set_allocator,
    alloc=alloc,
)  # fmt: skip

_explained.explain(globals())
