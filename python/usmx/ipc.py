"""Arrays that other processes of this machine use without a copy.

An array in shareable memory has a `Handle`: a few hundred bytes that go through a pipe, a queue of
multiprocessing, a task of Dask or Ray, or a message of MPI, and open as an array over the same
memory. Pickles of arrays themselves stay copies.

On devices that read the host's memory, as CPU devices do, the memory is a file without a name
(``memfd_create``): it is freed with its last user, however that ends, and never has an entry in
``/dev/shm``. On GPUs it is device memory, opened by handles of the driver. `ways` says what holds
for each device.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import fcntl
import mmap
import os
import secrets
import struct
from math import prod
from operator import index
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary, finalize

from . import _explained, _usmx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .typing import DTypeLike, QueueLike

__all__ = ["GoneError", "Handle", "empty", "share", "ways"]


class GoneError(RuntimeError):
    """The memory of a handle was let go of by all who had it, or its process ended.

    Examples
    --------
    >>> import pickle
    >>> from usmx.ipc import GoneError, Handle, share
    >>> sent = pickle.dumps(Handle(share([1.0, 2.0])))  # no one keeps the array
    >>> try:
    ...     pickle.loads(sent).open()
    ... except GoneError:
    ...     print("gone")
    gone
    """


#: A file whose pages are the memory: what devices use that read the memory of the host.
_FILE = "memfd"


def ways() -> dict[str, str]:
    """For each device by its filter string: how processes open its memory, or why they cannot.

    ``"memfd"`` is a file of the host's memory, ``"cuda"`` a handle of CUDA's driver, with events,
    and ``"runtime"`` one of SYCL's, without.

    Returns
    -------
    dict of str to str
        One of the three, or ``"none: "`` and the reason.

    Examples
    --------
    >>> from usmx.ipc import ways
    >>> set(ways().values()) <= {"memfd", "cuda", "runtime"}
    True
    """
    return {str(device.filter_string): _way(device) for device in _usmx.devices()}


def _way(device: _usmx.Device) -> str:
    name, reason = _usmx._ProcessMemory.way(device)
    if name:
        return name
    return _FILE if "usm_system_allocations" in device.aspects else f"none: {reason}"


def _queue_of(queue: QueueLike) -> _usmx.Queue:
    made = _usmx.default_queue() if queue is None else _usmx.Queue(queue)
    way = _way(made.device)
    if way.startswith("none: "):
        raise NotImplementedError(
            f"queue: arrays on {made.device.filter_string} have no handles for other processes "
            f"({way.removeprefix('none: ')}); send a pickle of the array, which is a copy"
        )
    return made


# --- memory ---------------------------------------------------------------------------------------


def _gone(process: int) -> str:
    return (
        f"process {process} ended or let go of the memory before the handle was opened; keep "
        "the array or its handle until the receiver has opened it"
    )


class _Segment(mmap.mmap):
    """A mapping of a file without a name; arrays over it keep it."""

    token: str
    descriptor: int
    base: int


#: token -> the mapping in this process, as long as an array is over it.
_segments: WeakValueDictionary[str, _Segment] = WeakValueDictionary()
_lock = Lock()


def _map(descriptor: int, token: str, nbytes: int) -> _Segment:
    """Map a descriptor, which is the mapping's from here on."""
    try:
        made = _Segment(descriptor, nbytes, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    except BaseException:
        os.close(descriptor)
        raise
    finalize(made, os.close, descriptor).atexit = False
    import numpy as np

    made.token, made.descriptor = token, descriptor
    made.base = np.frombuffer(made, "uint8").__array_interface__["data"][0]
    _segments[token] = made
    return made


def _available() -> int:
    """Bytes of memory that the system can give now."""
    rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return sum(int(rows[name].split()[0]) << 10 for name in ("MemAvailable", "SwapFree"))


def _without_memory(nbytes: int, why: str) -> _usmx.AllocationError:
    return _usmx.AllocationError(
        f"{nbytes} bytes of memory for several processes could not be allocated: {why}"
    )


def _file(token: str, nbytes: int) -> int:
    """A file of that word and length, which no process can make shorter for the others."""
    # The kernel gives pages until it ends processes, and refuses no length.
    if nbytes > (available := _available()):
        raise _without_memory(nbytes, f"{available} bytes are available")
    descriptor = os.memfd_create(f"usmx-{token}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        # Reserved now: without memory left, a write later would end the process.
        os.posix_fallocate(descriptor, 0, nbytes)
        fcntl.fcntl(
            descriptor,
            fcntl.F_ADD_SEALS,
            fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL,
        )
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.ENOSPC, errno.ENOMEM):
            raise _without_memory(nbytes, str(error.strerror)) from error
        raise
    return descriptor


class _Place(NamedTuple):
    """Where an array lies in a block of memory that processes can open."""

    #: The way of the block: a key of `_MEMORY`.
    way: str
    token: str
    #: Of the whole block.
    nbytes: int
    offset: int
    #: Of the block's file in the process that has it.
    descriptor: int
    #: What a driver opens; nothing for a file.
    handle: bytes


class _FileMemory:
    """Blocks of the host's memory: a file is the block. What uses them returns when it is done."""

    def make(self, nbytes: int, queue: _usmx.Queue) -> _Segment:
        token = secrets.token_hex(8)
        return _map(_file(token, nbytes), token, nbytes)

    def find(self, token: str) -> _Segment | None:
        return _segments.get(token)

    def open(self, place: _Place, descriptor: int, queue: _usmx.Queue) -> _Segment:
        return _map(descriptor, place.token, place.nbytes)

    def place(self, x: _usmx.ndarray) -> _Place | None:
        if x.usm_type in ("device", "shared", "host"):
            return None
        at = x.pointer
        for of in list(_segments.values()):
            if of.base <= at < of.base + len(of):
                return _Place(_FILE, of.token, len(of), at - of.base, of.descriptor, b"")
        return None

    def descriptor(self, block: _Segment) -> int:
        return block.descriptor

    def array(
        self,
        block: _Segment,
        offset: int,
        shape: Sequence[int],
        steps: Sequence[int] | None,
        kind: _usmx.dtype,
        queue: _usmx.Queue,
    ) -> _usmx.ndarray:
        import numpy as np

        # NumPy does not know bfloat16; its bits are as good.
        theirs = "uint16" if kind == _usmx.bfloat16 else kind
        strides = None if steps is None else [step * kind.itemsize for step in steps]
        view: Any = np.ndarray(shape, theirs, block, offset, strides)
        made = _usmx.asarray(view, copy=False, queue=queue)
        return made.view(kind) if theirs != kind else made

    def point(self, x: _usmx.ndarray) -> bytes:
        x.wait()
        return b""

    def come_after(self, x: _usmx.ndarray, point: bytes) -> None:
        pass


#: What the file of a block of device memory holds: whether it is gone, and whose it is.
_STATE = struct.Struct("<qq")


class _DeviceMemory(_usmx._ProcessMemory):
    """Blocks of device memory: a driver's handle opens them. The file of a block says who has it:
    receivers hold a lock on it, and the owner frees the block when none is left.
    """

    def make(self, nbytes: int, queue: _usmx.Queue) -> _usmx.ndarray:
        if nbytes > (most := queue.device.global_mem_size):
            raise _without_memory(nbytes, f"{queue.device.filter_string} has {most} bytes")
        token = secrets.token_hex(8)
        descriptor = _file(token, _STATE.size)
        # Who allocated it: without that process, no driver opens the block any more.
        os.pwrite(descriptor, _STATE.pack(0, os.getpid()), 0)
        block = self.allocate(queue, token, nbytes, descriptor)
        block[...] = 0
        return block

    def open(self, place: _Place, descriptor: int, queue: _usmx.Queue) -> _usmx.ndarray:
        _, process = _STATE.unpack(os.pread(descriptor, _STATE.size, 0))
        block = self.opened(queue, place.token, place.nbytes, descriptor, place.handle)
        if block is None:
            raise GoneError(_gone(process))
        return block

    def descriptor(self, block: _usmx.ndarray) -> int:
        found = self.fields(block)
        assert found is not None
        return found[3]

    def place(self, x: _usmx.ndarray) -> _Place | None:
        found = self.fields(x)
        if found is None:
            return None
        token, nbytes, offset, descriptor, handle = found
        way = _way(x.queue.device)
        return _Place(way, token, nbytes, offset, descriptor, handle)

    def array(
        self,
        block: _usmx.ndarray,
        offset: int,
        shape: Sequence[int],
        steps: Sequence[int] | None,
        kind: _usmx.dtype,
        queue: _usmx.Queue,
    ) -> _usmx.ndarray:
        if steps is None:
            part = block[offset : offset + prod(shape) * kind.itemsize]
            made = part.view(kind).reshape(shape)
        else:
            # Elements are a whole number of steps behind the lowest one, wherever that is.
            below = sum(-step * (n - 1) for step, n in zip(steps, shape, strict=True) if step < 0)
            first = offset - below * kind.itemsize
            made = _usmx.ndarray(shape, kind, block[first:], steps, below)
        return made if queue == made.queue else made.to_device(queue)


#: Way -> what it can do. The methods are the same, the blocks are their own.
_MEMORY: dict[str, Any] = {
    _FILE: _FileMemory(),
    "cuda": _DeviceMemory(),
    "runtime": _DeviceMemory(),
}


def _find(x: _usmx.ndarray) -> _Place | None:
    found: _Place | None = _MEMORY["cuda"].place(x) or _MEMORY[_FILE].place(x)
    return found


def empty(
    shape: int | Sequence[int], dtype: DTypeLike = "float64", *, queue: QueueLike = None
) -> _usmx.ndarray:
    """An array in shareable memory; its elements are zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the dimensions, at least one element.
    dtype : dtype
        The type of the elements.
    queue : Queue or what stands for one
        Where kernels use it; None is the default queue.

    Returns
    -------
    ndarray
        On devices that read the memory of the host ``usm_type`` is ``'unknown'``, as for all such
        memory that kernels use in place; on GPUs it is ``'device'``.

    Raises
    ------
    NotImplementedError
        On devices that have none of the `ways`.
    AllocationError
        Without enough memory.
    TypeError
        `shape` is not made of integers.
    ValueError
        `shape` has no elements, or a negative length.

    Examples
    --------
    >>> from usmx.ipc import empty
    >>> x = empty((2, 3), "float32")
    >>> x.shape
    (2, 3)
    """
    where = _queue_of(queue)
    try:
        lengths = tuple(map(index, shape)) if hasattr(shape, "__iter__") else (index(shape),)
    except TypeError:
        raise TypeError(f"shape: is {shape!r}; expected an integer or several") from None
    kind = _usmx.dtype(dtype)
    nbytes = prod(lengths) * kind.itemsize
    if any(n < 0 for n in lengths) or nbytes == 0:
        raise ValueError(f"shape: is {shape!r}; expected lengths with at least one element")
    memory = _MEMORY[_way(where.device)]
    made: _usmx.ndarray = memory.array(memory.make(nbytes, where), 0, lengths, None, kind, where)
    return made


def share(x: Any, *, queue: QueueLike = None) -> _usmx.ndarray:
    """An array in shareable memory with these elements: itself, or one copy.

    Parameters
    ----------
    x : array_like
        What `usmx.asarray` takes.
    queue : Queue or what stands for one
        Where kernels use the copy; None is the queue of `x`.

    Returns
    -------
    ndarray
        `x` itself, if its memory is shareable.

    Raises
    ------
    NotImplementedError
        On devices that have none of the `ways`.

    Examples
    --------
    >>> from usmx.ipc import share
    >>> x = share([1.0, 2.0])
    >>> share(x) is x
    True
    """
    if isinstance(x, _usmx.ndarray) and x.size and _find(x) is not None:
        return x
    of = x if isinstance(x, _usmx.ndarray) else _usmx.asarray(x)
    made = empty(of.shape, of.dtype, queue=of.queue if queue is None else queue)
    made[...] = of
    return made


# --- handles --------------------------------------------------------------------------------------


def _as_text(kind: Any) -> Any:
    if kind.names is not None:
        return kind.descr
    return "bfloat16" if kind == _usmx.bfloat16 else kind.str


class Handle:
    """What another process opens to use an array's memory.

    What the receiver submits comes after what was submitted on the array when the handle was made:
    making one waits for that, or on CUDA records an event, for which the receiver's queue waits
    and no thread does. A receiver answers in the same order with a handle of its own.

    Who has a handle or an array over the memory keeps it: keep one of both until the receiver has
    opened its handle. From then on the receiver keeps the memory by itself.

    Parameters
    ----------
    x : ndarray
        In shareable memory (`empty`, `share`), or a view of such an array.
    readonly : bool
        Whether receivers get an array that cannot be written.

    Attributes
    ----------
    shape : tuple of int
    dtype : str or list
    nbytes : int
        Of the elements.

    Raises
    ------
    ValueError
        If the memory of `x` is not shareable.

    Examples
    --------
    >>> from usmx.ipc import Handle, share
    >>> x = share([1.0, 2.0, 3.0])
    >>> handle = Handle(x[1:])
    >>> handle.open().tolist()
    [2.0, 3.0]
    """

    def __init__(self, x: _usmx.ndarray, *, readonly: bool = False) -> None:
        if not isinstance(x, _usmx.ndarray):
            raise TypeError(f"x: is of type {type(x).__name__}; expected a usmx.ndarray")
        place = _find(x) if x.size else None
        if place is None:
            raise ValueError(
                f"x: is {x.usm_type!r} memory of {x.nbytes} bytes that other processes cannot "
                "open; expected an array of usmx.ipc.empty, or usmx.ipc.share(x), which copies"
            )
        self._array: _usmx.ndarray | None = x
        self._is_closed = False
        self._place = place
        self._point: bytes = _MEMORY[place.way].point(x)
        self._maker = os.getpid()
        self.shape: tuple[int, ...] = tuple(x.shape)
        self.nbytes: int = x.nbytes
        self.dtype: Any = _as_text(x.dtype)
        self._strides = tuple(x.strides)
        self._device: tuple[str | None, str | None] = (
            x.queue.device.filter_string,
            x.queue.device.uuid,
        )
        self._readonly = readonly or not x.flags.writeable
        self._owner = (os.getpid(), place.descriptor)

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<usmx.ipc.Handle shape={self.shape} dtype={self.dtype!r}{state}>"

    def __getstate__(self) -> dict[str, Any]:
        """Name the process that has the memory: this one, if it has opened it."""
        if self._is_closed:
            raise ValueError("the handle is closed; make another with usmx.ipc.Handle(x)")
        state = {**self.__dict__, "_array": None}
        memory = _MEMORY[self._place.way]
        block = memory.find(self._place.token)
        if block is not None:
            state["_owner"] = (os.getpid(), memory.descriptor(block))
        return state

    def open(self, *, queue: QueueLike = None) -> _usmx.ndarray:
        """The array, over the memory of the process that made the handle.

        Parameters
        ----------
        queue : Queue or what stands for one
            Where kernels use it; None is the default queue of the device of that name here.

        Returns
        -------
        ndarray
            Nothing is copied. Both processes see what the other writes; who reads what the other
            writes meanwhile is for messages between them to say, as for threads.

        Raises
        ------
        GoneError
            If all who had the memory let go of it or ended before.
        ValueError
            If the handle is closed.
        NotImplementedError
            On devices that have none of the `ways`.
        """
        if self._is_closed:
            raise ValueError("the handle is closed; make another with usmx.ipc.Handle(x)")
        if self._array is not None and queue is None and not self._readonly:
            return self._array
        memory = _MEMORY[self._place.way]
        where = self._queue(queue)
        with _lock:
            block = memory.find(self._place.token)
            if block is None:
                block = memory.open(self._place, self._descriptor(), where)
        kind = _usmx.dtype(self.dtype)
        made: _usmx.ndarray = memory.array(
            block, self._place.offset, self.shape, self._strides, kind, where
        )
        if self._maker != os.getpid():
            memory.come_after(made, self._point)
        if self._readonly:
            made.flags.writeable = False
        if queue is None:
            self._array = made
        return made

    def _queue(self, queue: QueueLike) -> _usmx.Queue:
        """A queue whose device can open the memory."""
        name, number = self._device
        if self._place.way == _FILE:
            return _queue_of(name if queue is None else queue)
        for device in [_usmx.Queue(queue).device] if queue is not None else _usmx.devices():
            if device.uuid == number and _way(device) == self._place.way:
                return _usmx.Queue(device if queue is None else queue)
        raise ValueError(
            f"queue: no device here is {name} of the process that made the handle (uuid {number}), "
            "which has the memory; expected a queue of that device"
        )

    def _descriptor(self) -> int:
        process, number = self._owner
        path = f"/proc/{process}/fd/{number}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except PermissionError as error:
            raise PermissionError(
                f"{path}: the memory is that of a process of another user, or of one that may not "
                "be looked at (prctl PR_SET_DUMPABLE); expected a process of the same user"
            ) from error
        except OSError as error:
            raise GoneError(_gone(process)) from error
        # Numbers of processes and descriptors are used again.
        if f"memfd:usmx-{self._place.token}" not in os.readlink(f"/proc/self/fd/{descriptor}"):
            os.close(descriptor)
            raise GoneError(_gone(process))
        return descriptor

    def close(self) -> None:
        """Let go of the memory, unless arrays over it are left; a second call does nothing."""
        self._array, self._is_closed = None, True

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_explained.explain(globals())
