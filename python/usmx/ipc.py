"""Arrays that other processes of this machine use without a copy.

An array in shareable memory has a `Handle`: a few hundred bytes that go through a pipe, a queue of
multiprocessing, a task of Dask or Ray, or a message of MPI, and open as an array over the same
memory. Pickles of arrays themselves stay copies.

On devices that read the host's memory, as CPU devices do, the memory is a file without a name
(``memfd_create``): it is freed with its last user, however that ends, and never has an entry in
``/dev/shm``. `ways` says what holds for other devices.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import fcntl
import mmap
import os
import secrets
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any
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


#: Backend -> why arrays on its devices have no handles.
_REFUSED = {
    "level_zero": "zeMemGetIpcHandle gives handles of device memory, which usmx does not call yet",
    "cuda": "cuIpcGetMemHandle gives handles of device memory, which usmx does not call yet",
    "hip": "hipIpcGetMemHandle gives handles of device memory, which usmx does not call yet",
}


def ways() -> dict[str, str]:
    """For each device by its filter string: ``"memfd"``, or why it has no handles.

    Examples
    --------
    >>> from usmx.ipc import ways
    >>> ways()["opencl:cpu:0"]
    'memfd'
    """
    return {str(device.filter_string): _way(device) for device in _usmx.devices()}


def _way(device: _usmx.Device) -> str:
    if "usm_system_allocations" in device.aspects:
        return "memfd"
    reason = _REFUSED.get(device.backend, "the backend has no memory between processes")
    return f"none: {reason}"


def _queue_of(queue: QueueLike) -> _usmx.Queue:
    made = _usmx.default_queue() if queue is None else _usmx.Queue(queue)
    way = _way(made.device)
    if way != "memfd":
        raise NotImplementedError(
            f"queue: arrays on {made.device.filter_string} have no handles for other processes "
            f"({way.removeprefix('none: ')}); send a pickle of the array, which is a copy"
        )
    return made


# --- memory ---------------------------------------------------------------------------------------


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


def _create(nbytes: int) -> _Segment:
    token = secrets.token_hex(8)
    descriptor = os.memfd_create(f"usmx-{token}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        # Reserved now: without memory left, a write later would end the process.
        os.posix_fallocate(descriptor, 0, nbytes)
        # No process can take pages away from the others.
        fcntl.fcntl(
            descriptor,
            fcntl.F_ADD_SEALS,
            fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL,
        )
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.ENOSPC, errno.ENOMEM):
            raise _usmx.AllocationError(
                f"{nbytes} bytes of memory for several processes could not be allocated: "
                f"{error.strerror}"
            ) from error
        raise
    return _map(descriptor, token, nbytes)


def _find(x: _usmx.ndarray) -> _Segment | None:
    for segment in list(_segments.values()):
        if segment.base <= x.pointer < segment.base + len(segment):
            return segment
    return None


def _array(
    segment: _Segment,
    offset: int,
    shape: Sequence[int],
    steps: Sequence[int] | None,
    dtype: DTypeLike,
    readonly: bool,
    queue: _usmx.Queue,
) -> _usmx.ndarray:
    import numpy as np

    kind = _usmx.dtype(dtype)
    # NumPy does not know bfloat16; its bits are as good.
    theirs = "uint16" if kind == _usmx.bfloat16 else kind
    strides = None if steps is None else [step * kind.itemsize for step in steps]
    view: Any = np.ndarray(shape, theirs, segment, offset, strides)
    view.flags.writeable = not readonly
    made = _usmx.asarray(view, copy=False, queue=queue)
    return made.view(kind) if theirs != kind else made


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
        ``usm_type`` is ``'unknown'``, as for all memory of the host that kernels use in place.

    Raises
    ------
    NotImplementedError
        On devices that do not read memory of the host.
    AllocationError
        Without enough memory.

    Examples
    --------
    >>> from usmx.ipc import empty
    >>> x = empty((2, 3), "float32")
    >>> x.shape, x.usm_type
    ((2, 3), 'unknown')
    """
    where = _queue_of(queue)
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = _usmx.dtype(dtype)
    nbytes = prod(lengths) * kind.itemsize
    if any(n < 0 for n in lengths) or nbytes == 0:
        raise ValueError(f"shape: is {shape!r}; expected lengths with at least one element")
    return _array(_create(nbytes), 0, lengths, None, kind, False, where)


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
        On devices that do not read memory of the host.

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

    Making one waits for the commands on the array. Who has a handle or an array over the memory
    keeps it: keep one of both until the receiver has opened its handle. From then on the receiver
    keeps the memory by itself.

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
        segment = _find(x) if x.size else None
        if segment is None:
            raise ValueError(
                f"x: is {x.usm_type!r} memory of {x.nbytes} bytes that other processes cannot "
                "open; expected an array of usmx.ipc.empty, or usmx.ipc.share(x), which copies"
            )
        x.wait()
        self._array: _usmx.ndarray | None = x
        self._is_closed = False
        self._place: tuple[Any, ...] = (segment.token, len(segment), x.pointer - segment.base)
        self.shape: tuple[int, ...] = tuple(x.shape)
        self.nbytes: int = x.nbytes
        self.dtype: Any = _as_text(x.dtype)
        self._strides = tuple(x.strides)
        self._device = x.queue.device.filter_string
        self._readonly = readonly or not x.flags.writeable
        self._owner = (os.getpid(), segment.descriptor)

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<usmx.ipc.Handle shape={self.shape} dtype={self.dtype!r}{state}>"

    def __getstate__(self) -> dict[str, Any]:
        """Name the process that has the memory: this one, if it has opened it."""
        if self._is_closed:
            raise ValueError("the handle is closed; make another with usmx.ipc.Handle(x)")
        state = {**self.__dict__, "_array": None}
        segment = _segments.get(self._place[0])
        if segment is not None:
            state["_owner"] = (os.getpid(), segment.descriptor)
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
            On devices that do not read memory of the host.
        """
        if self._is_closed:
            raise ValueError("the handle is closed; make another with usmx.ipc.Handle(x)")
        if self._array is not None and queue is None and not self._readonly:
            return self._array
        where = _queue_of(self._device if queue is None else queue)
        segment = self._segment()
        made = _array(
            segment,
            self._place[2],
            self.shape,
            self._strides,
            self.dtype,
            self._readonly,
            where,
        )
        if queue is None:
            self._array = made
        return made

    def _segment(self) -> _Segment:
        token, nbytes, _ = self._place
        with _lock:
            known = _segments.get(token)
            return known if known is not None else _map(self._descriptor(), token, nbytes)

    def _descriptor(self) -> int:
        process, number = self._owner
        path = f"/proc/{process}/fd/{number}"
        gone = (
            f"process {process} ended or let go of the memory before the handle was opened; keep "
            "the array or its handle until the receiver has opened it"
        )
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except PermissionError as error:
            raise PermissionError(
                f"{path}: the memory is that of a process of another user, or of one that may not "
                "be looked at (prctl PR_SET_DUMPABLE); expected a process of the same user"
            ) from error
        except OSError as error:
            raise GoneError(gone) from error
        # Numbers of processes and descriptors are used again.
        if f"memfd:usmx-{self._place[0]}" not in os.readlink(f"/proc/self/fd/{descriptor}"):
            os.close(descriptor)
            raise GoneError(gone)
        return descriptor

    def close(self) -> None:
        """Let go of the memory, unless arrays over it are left; a second call does nothing."""
        self._array, self._is_closed = None, True

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_explained.explain(globals())
