"""Streams and events of CUDA: queues of usmx, and what is complete on them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ... import _usmx
from . import devices


class Stream:
    """Commands in order. usmx orders commands on the same memory across streams too.

    Parameters
    ----------
    queue : usmx.Queue, optional
        That of the default stream if not given, which follows `select_device`.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> with cuda.stream().auto_synchronize() as stream:
    ...     x = cuda.device_array(3, stream=stream)
    """

    def __init__(self, queue: _usmx.Queue | None = None) -> None:
        self._queue = queue

    @property
    def queue(self) -> _usmx.Queue:
        """Where commands are submitted."""
        return devices.queue() if self._queue is None else self._queue

    @property
    def handle(self) -> int:
        """A number that distinguishes it; 0 for the default stream."""
        return 0 if self._queue is None else id(self._queue)

    def __int__(self) -> int:
        return self.handle

    def synchronize(self) -> None:
        """Wait until all commands have finished."""
        self.queue.wait()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait at the end of a ``with`` block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        """Call ``callback(stream, status, arg)`` when all commands so far have finished.

        Here that is at once: the call waits.
        """
        self.synchronize()
        callback(self, 0, arg)

    def async_done(self) -> Any:
        """What a coroutine awaits until all commands so far have finished."""
        import asyncio

        event = self.queue.submit_barrier()

        async def done() -> Stream:
            await event
            return self

        return asyncio.ensure_future(done())

    def __bool__(self) -> bool:
        return self._queue is not None

    def __repr__(self) -> str:
        return "<Default CUDA stream>" if self._queue is None else f"<CUDA stream {self.handle}>"


def stream() -> Stream:
    """A new stream.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> stream = cuda.stream()
    >>> x = cuda.to_device(np.arange(3), stream=stream)
    >>> stream.synchronize()
    """
    made = _usmx.Queue(devices.queue().device, in_order=True)
    devices.queues.add(made)
    return Stream(made)


def default_stream() -> Stream:
    """The stream of all that names none.

    Returns
    -------
    Stream

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.default_stream().handle
    0
    """
    return Stream()


def external_stream(ptr: Any) -> Stream:
    """A stream of a queue that exists: one of usmx or dpctl, or all that `usmx.Queue` takes.

    Parameters
    ----------
    ptr : Queue
        Or all else that `usmx.Queue` takes.

    Returns
    -------
    Stream

    Raises
    ------
    TypeError
        It is the address of a stream of CUDA, which usmx cannot know the device of.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> stream = cuda.external_stream(usmx.Queue())
    >>> stream.synchronize()
    """
    if isinstance(ptr, int):
        raise TypeError(
            "ptr: an address; expected a queue, because an address says nothing about its device: "
            "pass a usmx.Queue or a dpctl.SyclQueue"
        )
    return Stream(_usmx.Queue(ptr))


def queue_of(given: Any) -> _usmx.Queue | None:
    """The queue of what programs pass as a stream; None for the default one.

    Raises
    ------
    TypeError
        It is none.
    """
    if given is None or (isinstance(given, int) and given == 0):
        return None if devices._stack()[-1] == 0 else devices.queue()
    if isinstance(given, Stream):
        return given.queue
    if isinstance(given, _usmx.Queue) or hasattr(given, "_get_capsule"):
        return _usmx.Queue(given)
    raise TypeError(f"stream: {type(given).__name__}; expected a stream of cuda.stream(), or 0")


@functools.lru_cache(maxsize=8)
def _clock(device: Any) -> _usmx.Queue:
    """A queue whose events know when they were complete."""
    return _usmx.Queue(device, in_order=False, enable_profiling=True)


class Event:
    """A point in a stream.

    Parameters
    ----------
    timing : bool
        Whether it knows when it was reached.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> event = cuda.event()
    >>> event.record()
    >>> event.synchronize()
    """

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._event: _usmx.Event | None = None

    def record(self, stream: Any = 0) -> None:
        """Be the point that the stream has reached now."""
        queue = queue_of(stream) or devices.queue()
        before = queue.submit_barrier()
        self._event = _clock(queue.device).submit_barrier([before]) if self.timing else before

    def query(self) -> bool:
        """Whether it was reached."""
        return self._event is None or bool(self._event.is_done)

    def synchronize(self) -> None:
        """Wait until it is reached."""
        if self._event is not None:
            self._event.wait()

    def wait(self, stream: Any = 0) -> None:
        """Let what is launched on the stream from now on wait for it."""
        if self._event is not None:
            (queue_of(stream) or devices.queue()).submit_barrier([self._event])

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another one.

        Raises
        ------
        RuntimeError
            One of them was not recorded, or has no times.
        """
        if self._event is None or end._event is None or not (self.timing and end.timing):
            raise RuntimeError("both events must be recorded, and made with timing=True")
        first, last = self._event.profiling_info_end, end._event.profiling_info_end
        return (last - first) * 1e-6


def event(timing: bool = True) -> Event:
    """A new event.

    Parameters
    ----------
    timing : bool
        Whether it knows when it was reached.

    Returns
    -------
    Event

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> event = cuda.event()
    >>> event.record()
    >>> event.synchronize()
    >>> event.query()
    True
    """
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two events.

    Parameters
    ----------
    evtstart, evtend : Event
        Recorded, and made with ``timing=True``.

    Returns
    -------
    float

    Raises
    ------
    RuntimeError
        One of them was not recorded, or has no times.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> first, last = cuda.event(), cuda.event()
    >>> first.record()
    >>> x = cuda.device_array(1000)
    >>> last.record()
    >>> last.synchronize()
    >>> cuda.event_elapsed_time(first, last) >= 0
    True
    """
    return evtstart.elapsed_time(evtend)
