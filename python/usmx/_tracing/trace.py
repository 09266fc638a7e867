"""Traces: what is done to memory in a ``with`` block."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, final, overload

from .. import _usmx
from .endings import ending
from .events import COPIES, Place, TraceEvent
from .units import duration

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike
    from .summary import Summary

# Summaries and pictures are imported where they are asked for: most traces are only counted.
#: How many events a trace keeps; what comes after is counted as dropped.
MOST_EVENTS = 1 << 18


def _event(record: tuple[object, ...]) -> TraceEvent:
    event = TraceEvent(*record)  # type: ignore[arg-type]
    return event if event.place is None else event._replace(place=Place(*event.place))


_active: list[Trace] = []


def active() -> list[Trace]:
    """The traces that are on, the oldest first."""
    return _active


def find_places() -> None:
    """Let records name lines of Python, but none of this package."""
    _usmx._TraceRecorder.find_places_outside(os.path.dirname(os.path.dirname(__file__)) + os.sep)


def runtime_reports() -> bool:
    """Whether calls of other libraries are seen, because the SYCL runtime reports them."""
    if "libusmx_trace.so" not in os.environ.get("XPTI_SUBSCRIBERS", ""):
        return False  # and ctypes need not be imported
    from .. import counters

    return counters._listen()


@final
class Trace:
    """What happened in a ``with`` block; made by `usmx.trace`.

    Any number may be on at once, one inside the other or in several threads: each sees what all
    threads of the process do while it is on.

    Parameters
    ----------
    most : int
        How many events are kept; later ones are counted in ``dropped``.
    one_by_one : bool
        Whether the time of each kernel is taken, for which it is waited for; `usmx.profile` does
        that.

    Raises
    ------
    ValueError
        `most` is less than one.

    Examples
    --------
    >>> import usmx
    >>> with usmx.trace() as t:
    ...     x = usmx.zeros(1000)
    >>> t.summary().allocations
    1
    """

    def __init__(self, most: int = MOST_EVENTS, *, one_by_one: bool = False) -> None:
        if most < 1:
            raise ValueError(f"most: {most}; a trace keeps at least one event")
        self._recorder = _usmx._TraceRecorder(most, False, one_by_one)
        self._events: list[TraceEvent] | None = None
        self._marks: list[TraceEvent] = []
        #: Whether calls of other libraries were seen as well.
        self.sees_runtime: bool = False

    def start(self) -> Self:
        """Begin to record, where a ``with`` block does not fit.

        Returns
        -------
        Trace
            Itself.
        """
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

    def __exit__(self, *_: object) -> None:
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
        return (self._recorder.stopped or _usmx._TraceRecorder.now()) - self.started

    @property
    def dropped(self) -> int:
        """Events that found no room: a trace keeps the first `MOST_EVENTS`."""
        return self._recorder.dropped

    @property
    def copies(self) -> list[TraceEvent]:
        """Every copy of elements, once each, by all libraries that are traced."""
        return [
            e for e in self.events if e.action in COPIES and e.counts and not e.failed and e.bytes
        ]

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """Name what the program itself does in a ``with`` block: an event with action "mark".

        Parameters
        ----------
        name : str
            What summaries and pictures call it. Marks may nest.

        Yields
        ------
        None
        """
        frame = sys._getframe(2)  # past the context manager's own
        place = Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        begin, failed = _usmx._TraceRecorder.now(), True
        try:
            yield
            failed = False
        finally:
            end, thread = _usmx._TraceRecorder.now(), threading.get_native_id()
            done = TraceEvent(
                action="mark", bytes=0, kind=None, source_kind=None, address=0, source=0,
                device=None, queue=0, name=name, thread=thread, begin=begin, end=end,
                device_begin=None, device_end=None, place=place, inside=None, counts=True,
                failed=failed, reused=False, by_runtime=False,
            )  # fmt: skip
            self._marks.append(done)

    def summary(self) -> Summary:
        """Calls, bytes and times by what was done; prints as a table.

        Returns
        -------
        Summary
            With figures as attributes, and ``rows`` for programs.
        """
        from .summary import Summary

        return Summary(self)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the events as JSON in the Chrome trace event format, or as a picture.

        https://ui.perfetto.dev, chrome://tracing and speedscope open such JSON.

        Parameters
        ----------
        path : path-like
            Where to; what is there is overwritten. A name that ends in ".svg" gets the picture,
            one in ".html" a page with the picture and the summary, which needs no other site, and
            one in ".json" or without an ending the events.

        Raises
        ------
        ValueError
            The name has another ending.
        """
        found = ending(path, (".json", ".html", ".svg"))
        if found in (".html", ".svg"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.svg() if found == ".svg" else self.html())
            return
        from .chrome import write

        write(self, path)

    def svg(self) -> str:
        """What each thread, and each queue with ``enable_profiling``, did over time, as SVG.

        Returns
        -------
        str
            A picture, for files and notebooks.
        """
        from .timeline import svg

        return svg(self)

    def html(self) -> str:
        """A page with the picture and the summary: no server, no scripts, no other site.

        Returns
        -------
        str
            A whole document.
        """
        from .picture import whole_page

        return whole_page(f"Trace of {duration(self.duration)}", self._repr_html_())

    def _repr_html_(self) -> str:
        return f'{self.summary()._repr_html_()}<div style="overflow-x:auto">{self.svg()}</div>'

    def __repr__(self) -> str:
        if not self.started:
            return "<usmx.Trace, not started>"
        state = "on" if self._recorder.on else "ended"
        return f"<usmx.Trace, {state}: {len(self.events)} events in {self.duration / 1e6:.3f} ms>"


@overload
def trace(*, most: int = MOST_EVENTS) -> Trace: ...
@overload
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: _usmx.ndarray | None = None,
) -> _usmx.ndarray: ...
def trace(
    a: Any = None,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
    *,
    most: int = MOST_EVENTS,
) -> Any:
    """Record what is done to memory in a ``with`` block; of an array add a diagonal's elements.

    ``usmx.trace(a)`` is NumPy's function of that name.

    Parameters
    ----------
    a : array, optional
        With one, the elements of diagonals of two of its axes are added.
    offset, axis1, axis2 : int
        See `usmx.diagonal`.
    dtype, out : optional
        See `usmx.sum`.
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
    >>> import numpy as np
    >>> import usmx
    >>> with usmx.trace() as t:
    ...     b = usmx.asarray(np.ones(1000))
    >>> t.summary().copies
    1
    """
    if a is not None:
        from .._namespace.linear_algebra import trace as sum_of_diagonal

        return sum_of_diagonal(a, offset, axis1, axis2, dtype, out)
    return Trace(most)
