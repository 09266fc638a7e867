"""Which kernels take the time, how near they are to what the memory gives, and whose they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple, Self, final

from .events import Place, TraceEvent, short_name
from .trace import Trace
from .units import amount, duration

__all__ = ["KernelRow", "Profile", "profile"]

_WIDEST = 40


class KernelRow(NamedTuple):
    """All launches of one kernel by one line of the program.

    Attributes
    ----------
    kernel : str
        Its name, without namespaces and template arguments.
    calls : int
        How many launches.
    nanoseconds : int or None
        In which the device ran it; None if another library launched it on a queue without
        profiling.
    nbytes : int
        Of all arrays that it was given, each once for each call.
    rate : float or None
        10^9 bytes in a second; None where one of the two is not known.
    share : float or None
        Of what a copy in the memory of the device moves in a second.
    device : str or None
        Filter string of the device.
    place : Place or None
        The line of Python that launched it, where that is known.

    Examples
    --------
    >>> import usmx.tracing
    >>> [row.calls for row in usmx.profile(lambda: usmx.ones(100_000) * 2).rows]
    [1]
    """

    kernel: str
    calls: int
    nanoseconds: int | None
    nbytes: int
    rate: float | None
    share: float | None
    device: str | None
    place: Place | None


def _time(event: TraceEvent) -> int | None:
    if event.device_begin is None or event.device_end is None:
        return None
    return event.device_end - event.device_begin


@final
class Profile:
    """Kernels by the time that they took. Made by `usmx.profile`.

    Attributes
    ----------
    trace : Trace
        All that happened meanwhile.
    result : object
        What the function gave that `usmx.profile` called; None otherwise.

    Examples
    --------
    >>> import usmx.tracing
    >>> isinstance(usmx.profile(lambda: usmx.ones(100_000) * 2), usmx.tracing.Profile)
    True
    """

    def __init__(self) -> None:
        self.trace: Trace = Trace(one_by_one=True)
        self.result: Any = None

    def __enter__(self) -> Self:
        self.trace.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.trace.__exit__(*raised)

    @property
    def limits(self) -> dict[str, float]:
        """What a copy moves on each device that ran kernels, in 10^9 bytes in a second.

        Measured when it is first asked for, once in a process for each device.
        """
        from .._benchmark import limit_of

        names = dict.fromkeys(e.device for e in self._kernels if e.device)
        found = {name: limit_of(name) for name in names}
        return {name: limit for name, limit in found.items() if limit is not None}

    @property
    def _kernels(self) -> list[TraceEvent]:
        events = self.trace.events
        return [e for e in events if e.action == "kernel" and e.counts and not e.failed]

    @property
    def nanoseconds(self) -> int:
        """Of all kernels together."""
        return sum(_time(e) or 0 for e in self._kernels)

    @property
    def rows(self) -> list[KernelRow]:
        """A row for each kernel and line, that which took longest first."""
        groups: dict[tuple[str, str | None, Place | None], list[TraceEvent]] = {}
        for event in self._kernels:
            name = short_name(event.name) if event.name else "kernel"
            groups.setdefault((name, event.device, event.place), []).append(event)
        limits = self.limits
        rows = []
        for (name, device, place), events in groups.items():
            times = [_time(e) for e in events]
            known = [t for t in times if t is not None]
            time = sum(known) if len(known) == len(times) else None
            size = sum(e.bytes for e in events)
            rate = size / time if time and size else None
            limit = limits.get(device) if device else None
            share = rate / limit if rate is not None and limit else None
            rows.append(KernelRow(name, len(events), time, size, rate, share, device, place))
        return sorted(rows, key=lambda row: -(row.nanoseconds or 0))

    @property
    def _heading(self) -> str:
        count = len(self._kernels)
        text = (
            f"{duration(self.nanoseconds)} in {count:,} kernel{'' if count == 1 else 's'}, "
            f"one by one, of {duration(self.trace.duration)}"
        )
        for device, limit in self.limits.items():
            text += f"; a copy on {device} moves {limit:.3g} GB/s"
        if self.trace.dropped:
            text += f"; {self.trace.dropped:,} events dropped"
        return text

    @staticmethod
    def _cells(row: KernelRow) -> tuple[str, ...]:
        name = row.kernel if len(row.kernel) <= _WIDEST else row.kernel[: _WIDEST - 1] + "…"
        return (
            name,
            f"{row.calls:,}",
            "-" if row.nanoseconds is None else duration(row.nanoseconds),
            amount(row.nbytes) if row.nbytes else "-",
            "-" if row.rate is None else f"{row.rate:.3g}",
            "-" if row.share is None else f"{row.share:.0%}",
            str(row.place) if row.place else "",
        )

    def __repr__(self) -> str:
        if not self.trace.started:
            return "<usmx.tracing.Profile, not started>"
        rows = [self._cells(row) for row in self.rows]
        if not rows:
            return f"{self._heading}: what the host computes is not a kernel"
        rows.insert(0, ("kernel", "calls", "time", "bytes", "GB/s", "of a copy", "line"))
        widths = [max(len(row[k]) for row in rows) for k in range(6)]
        lines = [self._heading]
        for name, *figures, place in rows:
            shown = [f"{text:>{width}}" for text, width in zip(figures, widths[1:], strict=True)]
            lines.append(f"{name:{widths[0]}}  {'  '.join(shown)}  {place}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left = "<td style='text-align:left'>"

        def line(cells: tuple[str, ...]) -> str:
            name, *figures, place = map(escape, cells)
            numbers = "".join(f"<td>{text}</td>" for text in figures)
            return f"<tr>{left}{name}</td>{numbers}{left}{place}</td></tr>"

        headings = ("kernel", "calls", "time", "bytes", "GB/s", "of a copy", "line")
        head = "".join(f"<th>{text}</th>" for text in headings)
        body = "".join(line(self._cells(row)) for row in self.rows)
        return (
            f"<div>{escape(self._heading)}</div><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, fit for JSON; the line of a row is text.

        Returns
        -------
        dict
            ``nanoseconds`` of all kernels, ``duration`` of the trace in nanoseconds, ``limits`` of
            devices, how many events were ``dropped``, and ``rows`` of kernels.
        """
        rows = [
            {**row._asdict(), "place": str(row.place) if row.place else None} for row in self.rows
        ]
        return {
            "nanoseconds": self.nanoseconds,
            "duration": self.trace.duration,
            "limits": self.limits,
            "dropped": self.trace.dropped,
            "rows": rows,
        }


def profile(function: Callable[..., Any] | None = None, /, *args: Any, **keywords: Any) -> Profile:
    """Say of each kernel how long it ran, what it moved in a second, and which line launched it.

    Kernels run one by one meanwhile, so that each has a time of its own; on a queue with
    ``enable_profiling`` it is the device's, otherwise that from the launch to the end, some
    microseconds more. Bytes are those of the arrays that a kernel is given, each once: a kernel
    that reads what it writes moves more. More than a copy moves is possible where the data is in
    a cache.

    Parameters
    ----------
    function : callable, optional
        What to call, until its result is computed. Without it, the profile is for a ``with`` block.
    *args, **keywords : optional
        Arguments of the function.

    Returns
    -------
    Profile
        Prints as a table, in a notebook as one of HTML; programs read ``rows`` and ``to_dict()``.

    Raises
    ------
    TypeError
        `function` is not callable.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(100_000, dtype="float32")
    >>> with usmx.profile() as p:
    ...     y = (usmx.sqrt(x) + x).wait()
    >>> [(row.calls, row.nbytes) for row in p.rows]
    [(1, 800000)]
    >>> usmx.profile(x.sum).result.item()
    100000.0
    """
    if function is not None and not callable(function):
        raise TypeError(f"profile: expected a function, got {type(function).__name__}")
    made = Profile()
    if function is not None:
        from .._benchmark import finish

        with made:
            made.result = function(*args, **keywords)
            finish(made.result)
    return made
