"""A trace in figures, as a table for people and as attributes for programs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from html import escape
from typing import NamedTuple, final

from .events import Recording, TraceEvent, short_name
from .units import amount, duration

__all__ = ["Row", "Summary"]

_ORDER = (
    "allocate", "free", "driver allocate", "driver free", "copy", "host copy", "fill", "prefetch",
    "kernel", "build", "wait", "import", "export", "mark", "other",
)  # fmt: skip


_WIDEST = 60


class Row(NamedTuple):
    """All operations of one sort."""

    what: str
    calls: int
    bytes: int
    #: Of the host, together.
    nanoseconds: int
    note: str


def _what(event: TraceEvent) -> str:
    if event.action in ("copy", "host copy"):
        return f"copy {event.source_kind or 'plain'} to {event.kind or 'plain'}"
    if event.action == "kernel" and event.name:
        return f"kernel {short_name(event.name)}"
    if event.action == "mark":
        return f"mark {event.name}"
    return f"{event.action} {event.kind}" if event.kind else event.action


@final
class Summary:
    """The figures of a trace. Made by `Trace.summary`.

    Nothing is counted twice: what happened inside a larger operation of the same sort belongs to
    it. Driver calls are the exception, they have figures of their own.
    """

    def __init__(self, trace: Recording) -> None:
        events = trace.events
        done = [e for e in events if not e.failed]
        counted = [e for e in done if e.counts]
        # What the runtime reports from inside our own calls is in our events already.
        self._counted = counted
        #: Nanoseconds that the trace was on.
        self.nanoseconds: int = trace.duration
        #: Operations that ended with an exception.
        self.failed: int = sum(e.failed and (e.counts or not e.by_runtime) for e in events)
        #: Events that found no room and are in no figure.
        self.dropped: int = trace.dropped
        #: Whether the calls of other libraries are in the figures.
        self.sees_runtime: bool = trace.sees_runtime
        self._driver = [e for e in done if not e.by_runtime or e.counts]
        self.rows: list[Row] = self._make_rows()

    def _only(self, *actions: str) -> list[TraceEvent]:
        return [e for e in self._counted if e.action in actions]

    @property
    def allocations(self) -> int:
        """Blocks that were handed out, from a pool or not, by any library that is seen."""
        return len(self._allocated)

    @property
    def bytes_allocated(self) -> int:
        """Bytes of `allocations`."""
        return sum(e.bytes for e in self._allocated)

    @property
    def _allocated(self) -> list[TraceEvent]:
        return [
            e
            for e in self._counted
            if e.action == "allocate" or (e.action == "driver allocate" and e.by_runtime)
        ]

    @property
    def reused(self) -> int:
        """Allocations for which the driver was not asked."""
        return sum(e.reused for e in self._allocated)

    @property
    def driver_allocations(self) -> int:
        """How often the driver was asked for memory."""
        return sum(e.action == "driver allocate" for e in self._driver)

    @property
    def copies(self) -> int:
        """Copies of elements, by the device or the host."""
        return len(self._only("copy", "host copy"))

    @property
    def bytes_copied(self) -> int:
        """Bytes of `copies`."""
        return sum(e.bytes for e in self._only("copy", "host copy"))

    @property
    def fills(self) -> int:
        """Memory that was set to a value."""
        return len(self._only("fill"))

    @property
    def kernels(self) -> int:
        """Kernel launches."""
        return len(self._only("kernel"))

    @property
    def builds(self) -> int:
        """Programs that were compiled or loaded."""
        return len(self._only("build"))

    @property
    def waits(self) -> int:
        """How often usmx waited for the device."""
        return len(self._only("wait"))

    @property
    def imports(self) -> int:
        """Arrays of other libraries that came in, without a copy."""
        return len(self._only("import"))

    @property
    def exports(self) -> int:
        """Addresses that left through a protocol."""
        return len(self._only("export"))

    def _make_rows(self) -> list[Row]:
        groups: dict[tuple[int, str, bool], list[TraceEvent]] = {}
        for event in self._driver:
            is_driver = event.action.startswith("driver")
            if event.counts or is_driver:
                key = (_ORDER.index(event.action), _what(event), event.by_runtime)
                groups.setdefault(key, []).append(event)
        rows = []
        for (_, what, by_runtime), events in sorted(groups.items()):
            notes = ["other libraries"] if by_runtime else []
            if reused := sum(e.reused for e in events):
                notes.append(f"{reused} reused")
            times = [
                e.device_end - e.device_begin
                for e in events
                if e.device_begin is not None and e.device_end is not None
            ]
            if times:
                notes.append(f"device {duration(sum(times))}")
            rows.append(
                Row(
                    what,
                    len(events),
                    sum(e.bytes for e in events),
                    sum(e.duration for e in events),
                    ", ".join(notes),
                )
            )
        return rows

    @property
    def watched(self) -> str:
        """Whose operations are in the figures, and which are not, in words."""
        text = (
            "usmx and all calls of the SYCL runtime"
            if self.sees_runtime
            else "usmx alone; other libraries after usmx.counters.enable()"
        )
        if self.failed:
            text += f"; {self.failed} failed"
        if self.dropped:
            text += f"; {self.dropped:,} events dropped"
        return text

    def __repr__(self) -> str:
        def short(what: str) -> str:
            return what if len(what) <= _WIDEST else what[: _WIDEST - 1] + "…"

        width = max([20, *(len(short(row.what)) for row in self.rows)])
        lines = [
            f"{duration(self.nanoseconds)}, seen: {self.watched}",
            f"{'':{width}} {'calls':>8} {'bytes':>10} {'time':>9}",
        ]
        for row in self.rows:
            size = amount(row.bytes) if row.bytes else ""
            figures = f"{row.calls:>8,} {size:>10} {duration(row.nanoseconds):>9}"
            lines.append(f"{short(row.what):{width}} {figures}  {row.note}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td style='text-align:left'>{escape(row.what)}</td><td>{row.calls:,}</td>"
            f"<td>{amount(row.bytes) if row.bytes else ''}</td>"
            f"<td>{duration(row.nanoseconds)}</td>"
            f"<td style='text-align:left'>{escape(row.note)}</td></tr>"
            for row in self.rows
        )
        return (
            f"<div>{escape(duration(self.nanoseconds))}, seen: {escape(self.watched)}</div>"
            f"<table><thead><tr><th></th><th>calls</th><th>bytes</th><th>time</th><th></th></tr>"
            f"</thead><tbody>{body}</tbody></table>"
        )

    def as_dict(self) -> dict[str, object]:
        """The figures and rows, fit for JSON."""
        names = (
            "nanoseconds", "allocations", "bytes_allocated", "reused", "driver_allocations",
            "copies", "bytes_copied", "fills", "kernels", "builds", "waits", "imports", "exports",
            "failed", "dropped", "sees_runtime",
        )  # fmt: skip
        figures: dict[str, object] = {name: getattr(self, name) for name in names}
        figures["rows"] = [row._asdict() for row in self.rows]
        return figures
