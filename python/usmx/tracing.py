"""See what a program does to memory: every allocation, copy and kernel, and who asked for it.

    >>> with usmx.trace() as t:
    ...     y = usmx.asarray(x).to_device("gpu")
    >>> t.summary()
    >>> t.export("trace.json")              # open it in https://ui.perfetto.dev

    >>> with usmx.expect_zero_copy():       # raises CopyError with the lines that copied
    ...     model(x)

What usmx does is always seen. What other libraries ask the SYCL runtime for (dpctl, dpnp, a native
extension) is seen where the runtime reports its calls: after ``usmx.counters.enable()``, or in a
process that was started with ``USMX_TRACE=1``. Copies that the host makes by itself elsewhere
(NumPy, ``memcpy``) are seen by nobody.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, final

from . import _usmx

if TYPE_CHECKING:
    from ._summary import Summary

__all__ = ["CopyError", "Trace", "TraceEvent", "expect_zero_copy", "trace"]

#: How many events a trace keeps; what comes after is counted as dropped.
MOST_EVENTS = 1 << 18

_COPIES = ("copy", "host copy")


class Place(NamedTuple):
    """A line of a Python program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


class TraceEvent(NamedTuple):
    """One operation that has ended. Times are nanoseconds of ``time.monotonic_ns()``."""

    #: "allocate", "free", "driver allocate", "driver free", "copy", "host copy", "fill",
    #: "prefetch", "kernel", "build", "wait", "import", "export", "mark" or "other".
    action: str
    #: How many bytes it was about; 0 where that has no meaning.
    bytes: int
    #: "device", "shared" or "host": the memory, or the destination of a copy. None is no USM.
    kind: str | None
    #: The same for the source of a copy.
    source_kind: str | None
    #: Address of the memory, or of the destination of a copy; 0 if it has none.
    address: int
    #: Address of the source of a copy.
    source: int
    #: Filter string of the device.
    device: str | None
    #: A number for each queue; 0 if it was not about a queue.
    queue: int
    #: Of a kernel, of the type that was imported, or of a mark.
    name: str | None
    #: The system's number of the thread, as ``threading.get_native_id()`` gives it.
    thread: int
    begin: int
    end: int
    #: When the device was at it, if the queue has ``enable_profiling``.
    device_begin: int | None
    device_end: int | None
    #: The line of Python that asked for it, where that is known.
    place: Place | None
    #: The action of ours that it was a part of.
    inside: str | None
    #: False if a larger event has its bytes already: sum up those that count.
    counts: bool
    #: It ended with an exception.
    failed: bool
    #: An allocation that did not have to ask the driver.
    reused: bool
    #: The SYCL runtime reported it, for whatever library. False: usmx did.
    by_runtime: bool

    @property
    def duration(self) -> int:
        """Nanoseconds, of the host; a command that only was submitted takes longer."""
        return self.end - self.begin

    def __str__(self) -> str:
        def memory(kind: str | None) -> str:
            return f"{kind} USM" if kind else "host memory"

        words = [self.action]
        if self.bytes or self.action in _COPIES:
            words.append(f"of {self.bytes:,} bytes")
        if self.action in _COPIES:
            words.append(f"from {memory(self.source_kind)} to {memory(self.kind)}")
        elif self.kind:
            words.append(f"of {self.kind} USM" if not self.bytes else f"in {self.kind} USM")
        if self.name:
            words.append(f"({self.name})")
        if self.by_runtime:
            words.append("by another library")
        if self.place:
            words.append(f"at {self.place}")
        return " ".join(words)


def _event(record: tuple[object, ...]) -> TraceEvent:
    event = TraceEvent(*record)  # type: ignore[arg-type]
    return event if event.place is None else event._replace(place=Place(*event.place))


_active: list[Trace] = []


def active() -> list[Trace]:
    """The traces that are on, the oldest first."""
    return _active


def find_places() -> None:
    """Let records name lines of Python, but none of this package."""
    _usmx._find_places_outside(os.path.dirname(__file__) + os.sep)


def runtime_reports() -> bool:
    """Whether calls of other libraries are seen, because the SYCL runtime reports them."""
    if "libusmx_trace.so" not in os.environ.get("XPTI_SUBSCRIBERS", ""):
        return False  # and ctypes need not be imported
    from . import counters

    return counters._listen()


@final
class Trace:
    """What happened in a ``with`` block; made by `usmx.trace`.

    Any number may be on at once, one inside the other or in several threads: each sees what all
    threads of the process do while it is on.
    """

    def __init__(self, most: int = MOST_EVENTS) -> None:
        if most < 1:
            raise ValueError(f"most: {most}; a trace keeps at least one event")
        self._recorder = _usmx._TraceRecorder(most, False)
        self._events: list[TraceEvent] | None = None
        self._marks: list[TraceEvent] = []
        #: Whether calls of other libraries were seen as well.
        self.sees_runtime: bool = False

    def start(self) -> Self:
        """Begin to record, where a ``with`` block does not fit."""
        find_places()
        self.sees_runtime = runtime_reports()
        self._events = None
        self._marks.clear()
        self._recorder.start()
        if self not in _active:
            _active.append(self)
        return self

    def stop(self) -> None:
        """End the recording. Stopping twice is the same."""
        self._recorder.stop()
        if self in _active:
            _active.remove(self)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self._events = self._read()  # while the memory that it is about can still be asked

    def _read(self) -> list[TraceEvent]:
        events = [_event(record) for record in self._recorder.records()]
        return sorted(events + self._marks, key=lambda e: e.end) if self._marks else events

    @property
    def events(self) -> list[TraceEvent]:
        """What happened, in the order in which it ended; so far, while the trace is on."""
        if self._recorder.on or self._events is None:
            return self._read()
        return self._events

    @property
    def started(self) -> int:
        """When it began, in nanoseconds of ``time.monotonic_ns()``; 0 before it has."""
        return self._recorder.started

    @property
    def duration(self) -> int:
        """Nanoseconds from its beginning to its end, or until now."""
        if not self.started:
            return 0
        return (self._recorder.stopped or _usmx._trace_now()) - self.started

    @property
    def dropped(self) -> int:
        """Events that found no room: a trace keeps the first `MOST_EVENTS`."""
        return self._recorder.dropped

    @property
    def copies(self) -> list[TraceEvent]:
        """Every copy of elements, each once, by whatever library was seen."""
        return [
            e for e in self.events if e.action in _COPIES and e.counts and not e.failed and e.bytes
        ]

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """Name what the program itself does in a ``with`` block: an event with action "mark".

        Parameters
        ----------
        name : str
            What summaries and pictures call it. Marks may nest.
        """
        frame = sys._getframe(2)  # past the context manager's own
        place = Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        begin, failed = _usmx._trace_now(), True
        try:
            yield
            failed = False
        finally:
            self._marks.append(
                TraceEvent(
                    "mark",
                    0,
                    None,
                    None,
                    0,
                    0,
                    None,
                    0,
                    name,
                    threading.get_native_id(),
                    begin,
                    _usmx._trace_now(),
                    None,
                    None,
                    place,
                    None,
                    True,
                    failed,
                    False,
                    False,
                )
            )

    def summary(self) -> Summary:
        """Calls, bytes and times by what was done; prints as a table.

        Returns
        -------
        Summary
            With figures as attributes, and ``rows`` for programs.
        """
        from ._summary import Summary

        return Summary(self)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the events as JSON in the Chrome trace event format, or as a picture.

        https://ui.perfetto.dev, chrome://tracing and speedscope open such JSON.

        Parameters
        ----------
        path : path-like
            Where to; what is there is overwritten. A name that ends in ".svg" gets the picture.
        """
        if os.fspath(path).endswith(".svg"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.svg())
            return
        from ._chrome import write

        write(self, path)

    def svg(self) -> str:
        """What each thread, and each queue with ``enable_profiling``, did over time, as SVG."""
        from ._timeline import svg

        return svg(self)

    def _repr_html_(self) -> str:
        return f'{self.summary()._repr_html_()}<div style="overflow-x:auto">{self.svg()}</div>'

    def __repr__(self) -> str:
        if not self.started:
            return "<usmx.Trace, not started>"
        state = "on" if self._recorder.on else "ended"
        return f"<usmx.Trace, {state}: {len(self.events)} events in {self.duration / 1e6:.3f} ms>"


def trace(*, most: int = MOST_EVENTS) -> Trace:
    """Record what is done to memory in a ``with`` block.

    Parameters
    ----------
    most : int
        How many events are kept. Later ones are counted in ``dropped``. An event takes about 200
        bytes.

    Returns
    -------
    Trace
        To be used in ``with``; afterwards it has ``summary()``, ``events``, ``copies``, ``svg()``
        and ``export(path)``.

    Examples
    --------
    >>> with usmx.trace() as t:
    ...     b = usmx.asarray(numpy_array)
    >>> t.summary().copies
    1
    """
    return Trace(most)


class CopyError(AssertionError):
    """Something was copied where nothing should be; ``copies`` are the events."""

    def __init__(self, message: str, copies: list[TraceEvent]) -> None:
        super().__init__(message)
        self.copies = copies


_SHOWN = 20


@final
class expect_zero_copy:
    """Raise `CopyError` at the end of a ``with`` block that copied elements.

    Copies by usmx are always found, those that the host makes too; copies that other libraries ask
    the SYCL runtime for where it reports its calls (``usmx.counters.enable()``, ``USMX_TRACE=1``).
    Fills, allocations and kernels are no copies, nor is a kernel that copies, as those of dpnp do.
    An exception of the block itself passes as it is.

    Parameters
    ----------
    everyone : bool
        Refuse to begin where the calls of other libraries cannot be seen.
    least : int
        Copies of fewer bytes pass. dpnp, for one, copies shapes and strides to the device before
        it launches some kernels.

    Raises
    ------
    CopyError
        An AssertionError with every copy: its bytes, from and to what kind of memory, and the line
        of Python that asked for it.
    RuntimeError
        With ``everyone``, if the SYCL runtime does not report its calls.

    Examples
    --------
    >>> with usmx.expect_zero_copy():
    ...     theirs = dpctl.memory.as_usm_memory(ours)
    """

    def __init__(self, *, everyone: bool = False, least: int = 1) -> None:
        self._everyone = everyone
        self._least = least
        self._trace = Trace()

    def __enter__(self) -> Trace:
        if self._everyone and not runtime_reports():
            raise RuntimeError(
                "calls of other libraries cannot be seen: call usmx.counters.enable() before "
                "anything uses SYCL, or start the process with USMX_TRACE=1"
            )
        return self._trace.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._trace.__exit__(kind, error, traceback)
        copies = [event for event in self._trace.copies if event.bytes >= self._least]
        if kind is not None or (not copies and not self._trace.dropped):
            return
        count = f"{len(copies)} {'copy' if len(copies) == 1 else 'copies'}"
        lines = [
            f"{count} of {sum(e.bytes for e in copies):,} bytes where none was expected:",
            *(f"  {event}" for event in copies[:_SHOWN]),
        ]
        if len(copies) > _SHOWN:
            lines.append(f"  and {len(copies) - _SHOWN} more, in the attribute `copies`")
        if self._trace.dropped:
            lines.append(f"  and {self._trace.dropped} later events that were not looked at")
        lines.append(
            "watched: usmx and every library that calls the SYCL runtime"
            if self._trace.sees_runtime
            else "watched: usmx; other libraries too after usmx.counters.enable()"
        )
        raise CopyError("\n".join(lines), copies)
