"""A trace as a picture: what each thread of the host and each queue of a device did, over time."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from html import escape
from typing import NamedTuple

from .events import Recording, TraceEvent, short_name
from .picture import WIDTH
from .units import amount, duration

__all__ = ["svg"]

_LEFT, _RIGHT, _TOP, _ROW, _GAP = 12, 12, 48, 18, 22
_INNER = WIDTH - _LEFT - _RIGHT
_DEEPEST = 6
#: Bars that are narrower than this become one with their neighbours.
_NARROWEST = 0.7
_LETTER = 6.2

_COLOURS = {
    "copy": "#d08a2e",
    "kernel": "#2f6fb0",
    "wait": "#c9ced6",
    "mark": "#3a9d6e",
    "memory": "#8d6bb8",
    "other": "#9aa5b1",
}
_GROUPS = {
    "copy": "copy", "host copy": "copy", "fill": "copy", "prefetch": "copy",
    "kernel": "kernel", "build": "kernel", "wait": "wait", "mark": "mark",
    "allocate": "memory", "free": "memory", "driver allocate": "memory", "driver free": "memory",
}  # fmt: skip


class _Bar(NamedTuple):
    begin: int
    end: int
    group: str
    label: str
    title: str


def _bar(event: TraceEvent, begin: int, end: int) -> _Bar:
    label = event.name or event.action
    if event.action in ("kernel", "build"):
        label = short_name(label)
    title = f"{label}: {duration(end - begin)}"
    if event.action != label:
        title = f"{event.action} {title}"
    if event.bytes:
        title += f", {amount(event.bytes)}"
    if event.place:
        title += f"\n{event.place}"
    return _Bar(begin, end, _GROUPS.get(event.action, "other"), label, title)


def _lanes(trace: Recording) -> dict[str, list[_Bar]]:
    """The bars of each thread and then of each queue, by the name of the lane."""
    named = {t.native_id: t.name for t in threading.enumerate()}
    host: dict[str, list[_Bar]] = {}
    device: dict[str, list[_Bar]] = {}
    queues: dict[int, int] = {}
    for event in trace.events:
        if event.counts or not event.by_runtime:
            thread = f"host, {named.get(event.thread, f'thread {event.thread}')}"
            host.setdefault(thread, []).append(_bar(event, event.begin, event.end))
        if event.device_begin is not None and event.device_end is not None:
            number = queues.setdefault(event.queue, len(queues) + 1)
            queue = f"device {event.device}, queue {number}"
            device.setdefault(queue, []).append(_bar(event, event.device_begin, event.device_end))
    return host | device


def _rows(bars: list[_Bar]) -> list[list[_Bar]]:
    """What is inside of something else is drawn below it."""
    rows: list[list[_Bar]] = []
    ends: list[int] = []
    for bar in sorted(bars, key=lambda b: (b.begin, -b.end)):
        while ends and ends[-1] <= bar.begin:
            ends.pop()
        depth = min(len(ends), _DEEPEST - 1)
        ends.append(bar.end)
        while len(rows) <= depth:
            rows.append([])
        rows[depth].append(bar)
    return rows


def _drawn(bars: list[_Bar], zero: int, scale: float, y: float) -> list[str]:
    out = []
    covered = {group: float("-inf") for group in _COLOURS}
    for bar in bars:
        begin, end = _LEFT + (bar.begin - zero) * scale, _LEFT + (bar.end - zero) * scale
        width = end - begin
        if width < _NARROWEST:
            if begin < covered[bar.group] + _NARROWEST:
                continue
            width = _NARROWEST
        covered[bar.group] = begin + width
        out.append(
            f'<rect x="{begin:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW - 2}" '
            f'fill="{_COLOURS[bar.group]}" stroke="#fff" stroke-width="0.3">'
            f"<title>{escape(bar.title)}</title></rect>"
        )
        if len(bar.label) * _LETTER < width - 4:
            ink = "#39424e" if bar.group == "wait" else "#fff"
            out.append(
                f'<text x="{begin + 3:.1f}" y="{y + 12:.1f}" font-size="11" fill="{ink}" '
                f'pointer-events="none">{escape(bar.label)}</text>'
            )
    return out


def _ticks(length: int, scale: float, bottom: float) -> list[str]:
    """A line at each round time; at most ten of them."""
    step = 1
    while length / step > 10:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2  # 1, 2, 5, 10, ...
    out = []
    for time in range(0, length + 1, step):
        x = _LEFT + time * scale
        out.append(
            f'<path d="M{x:.1f} {_TOP - 8}V{bottom:.1f}" stroke="#e4e7eb" stroke-width="1"/>'
            f'<text x="{x:.1f}" y="{_TOP - 12}" text-anchor="middle" font-size="10" '
            f'fill="#39424e">{duration(time) if time else "0"}</text>'
        )
    return out


def svg(trace: Recording) -> str:
    """The picture as one ``<svg>`` element. Pointing at a bar tells its duration, bytes and line.

    A trace may be of any length: what is narrower than a pixel is drawn with its neighbours.
    """
    lanes = _lanes(trace)
    everything = [bar for bars in lanes.values() for bar in bars]
    zero = min((bar.begin for bar in everything), default=trace.started)
    length = max(1, max((bar.end for bar in everything), default=zero) - zero)
    scale = _INNER / length
    out: list[str] = []
    y: float = _TOP
    for name, bars in lanes.items():
        out.append(
            f'<text x="{_LEFT}" y="{y + 14:.1f}" font-size="12" fill="#39424e">'
            f"{escape(name)}</text>"
        )
        y += _GAP
        for row in _rows(bars):
            out += _drawn(row, zero, scale, y)
            y += _ROW
        y += 4
    legend, x = [], float(_LEFT)
    for group in sorted({bar.group for bar in everything}, key=list(_COLOURS).index):
        legend.append(
            f'<rect x="{x:.1f}" y="6" width="11" height="11" fill="{_COLOURS[group]}"/>'
            f'<text x="{x + 16:.1f}" y="16" font-size="12" fill="#39424e">{group}</text>'
        )
        x += 34 + 7 * len(group)
    height = int(y + 8)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        f"{''.join(_ticks(length, scale, y))}{''.join(legend)}{''.join(out)}</svg>\n"
    )
