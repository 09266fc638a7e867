"""What is recorded: one operation, and the line of Python that asked for it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

COPIES = ("copy", "host copy")


class Place(NamedTuple):
    """A line of a Python program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


def short_name(kernel: str) -> str:
    """Of "a::b::add<float>" the function; the whole name is in the event."""
    return kernel.split("<", 1)[0].rsplit("::", 1)[-1]


class TraceEvent(NamedTuple):
    """One operation that has ended. Times are nanoseconds of ``time.monotonic_ns()``.

    Attributes
    ----------
    action : str
        "allocate", "free", "driver allocate", "driver free", "copy", "host copy", "fill",
        "prefetch", "kernel", "build", "wait", "import", "export", "mark" or "other".
    bytes : int
        How many bytes it was about; 0 where that has no meaning. Of a kernel those of its arrays.
    kind : str or None
        "device", "shared" or "host": the memory, or the destination of a copy; None if not USM.
    source_kind : str or None
        The same for the source of a copy.
    address : int
        Of the memory, or of the destination of a copy; 0 if it has none.
    source : int
        Address of the source of a copy.
    device : str or None
        Filter string of the device.
    queue : int
        A number for each queue; 0 if it was not about a queue.
    name : str or None
        Of a kernel, of the type that was imported, or of a mark.
    thread : int
        The system's number of the thread, as ``threading.get_native_id()`` gives it.
    begin, end : int
        When it was asked for, and when that call returned.
    device_begin, device_end : int or None
        When the device was at it, if the queue has ``enable_profiling`` or in `usmx.profile`.
    place : Place or None
        The line of Python that asked for it, where that is known.
    inside : str or None
        The action of ours that it was a part of.
    counts : bool
        False if a larger event has its bytes already: sum up those that count.
    failed : bool
        It ended with an exception.
    reused : bool
        An allocation that did not have to ask the driver.
    by_runtime : bool
        True if the SYCL runtime reported it, for any library; False if usmx did.

    Examples
    --------
    >>> import usmx
    >>> with usmx.trace() as t:
    ...     x = usmx.zeros(1000)
    >>> [event.kind is not None for event in t.events if event.action == "allocate"]
    [True]
    """

    action: str
    bytes: int
    kind: str | None
    source_kind: str | None
    address: int
    source: int
    device: str | None
    queue: int
    name: str | None
    thread: int
    begin: int
    end: int
    device_begin: int | None
    device_end: int | None
    place: Place | None
    inside: str | None
    counts: bool
    failed: bool
    reused: bool
    by_runtime: bool

    @property
    def duration(self) -> int:
        """Nanoseconds, of the host; a command that only was submitted takes longer."""
        return self.end - self.begin

    def __str__(self) -> str:
        def memory(kind: str | None) -> str:
            return f"{kind} USM" if kind else "host memory"

        words = [self.action]
        if self.bytes or self.action in COPIES:
            words.append(f"of {self.bytes:,} bytes")
        if self.action in COPIES:
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


class Recording(Protocol):
    """What summaries and pictures look at of a trace."""

    @property
    def events(self) -> Sequence[TraceEvent]:
        """What happened, in the order in which it ended."""

    @property
    def started(self) -> int:
        """When it began, in nanoseconds of ``time.monotonic_ns()``."""

    @property
    def duration(self) -> int:
        """Nanoseconds from its beginning to its end."""

    @property
    def dropped(self) -> int:
        """Events that found no room."""

    #: Whether calls of other libraries were seen as well.
    sees_runtime: bool
