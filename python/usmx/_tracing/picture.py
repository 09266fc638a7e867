"""Snapshots as SVG and HTML, drawn here: a page opened from a disk must need nothing else."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from html import escape

from .blocks import Block, Held, Moment
from .units import amount, duration

__all__ = ["fragment", "page", "svg", "whole_page"]

WIDTH = 860
_LEFT, _RIGHT = 76, 12
_INNER = WIDTH - _LEFT - _RIGHT
_TIMELINE = 150
_ROW, _GAP = 20, 6
_MOST_STEPS = 800
_MOST_CHUNKS = 60

_COLOURS = {"device": "#2f6fb0", "shared": "#3a9d6e", "host": "#d08a2e"}
_FREE, _WAITING, _TEXT, _LINE = "#e4e7eb", "#b8a3d6", "#39424e", "#9aa5b1"


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{_TEXT}">{escape(words)}</text>'
    )


def _thinned(steps: list[Moment]) -> list[Moment]:
    """At most so many steps as can be drawn; of each group the one that uses most."""
    if len(steps) <= _MOST_STEPS:
        return steps
    size = -(-len(steps) // _MOST_STEPS)
    groups = [steps[k : k + size] for k in range(0, len(steps) - 1, size)]
    return [max(group, key=lambda s: sum(s.used.values())) for group in groups] + [steps[-1]]


def _timeline(steps: list[Moment], top: float) -> list[str]:
    steps = _thinned(steps)
    begin, end = steps[0].time, steps[-1].time
    most = max(max(sum(s.used.values()), s.held) for s in steps) or 1
    bottom = top + _TIMELINE

    def x(moment: int) -> float:
        return _LEFT + _INNER * (moment - begin) / max(1, end - begin)

    def y(size: int) -> float:
        return bottom - _TIMELINE * size / most

    def stairs(levels: list[int]) -> str:
        points = [f"{x(steps[0].time):.1f},{y(levels[0]):.1f}"]
        for before, level, step in zip(levels, levels[1:], steps[1:], strict=False):
            points.append(f"{x(step.time):.1f},{y(before):.1f}")
            points.append(f"{x(step.time):.1f},{y(level):.1f}")
        return " ".join(points)

    out = []
    below = [0] * len(steps)
    for kind, colour in _COLOURS.items():
        above = [b + s.used[kind] for b, s in zip(below, steps, strict=True)]
        if above != below:
            edge = stairs(above)
            base = " ".join(reversed(stairs(below).split(" ")))
            out.append(
                f'<polygon points="{edge} {base}" fill="{colour}" fill-opacity="0.85">'
                f"<title>{kind} USM in use</title></polygon>"
            )
        below = above
    out.append(
        f'<polyline points="{stairs([s.held for s in steps])}" fill="none" stroke="{_TEXT}" '
        'stroke-dasharray="4 3"><title>held from the driver</title></polyline>'
    )
    out.append(
        f'<path d="M{_LEFT},{top} V{bottom} H{_LEFT + _INNER}" fill="none" stroke="{_LINE}"/>'
    )
    out.append(_text(_LEFT - 6, top + 10, amount(most), "end"))
    out.append(_text(_LEFT - 6, bottom, "0", "end"))
    out.append(_text(_LEFT, bottom + 16, f"{duration(end - begin)} ago"))
    out.append(_text(_LEFT + _INNER, bottom + 16, "now", "end"))
    return out


def _describe(block: Block) -> str:
    words = f"{amount(block.bytes)} {block.state}"
    if block.state == "used":
        words += f", {block.asked:,} bytes asked for"
        words += f"\n{block.owner}" if block.owner else "\nowner not recorded"
    return words


def _bar(blocks: list[Block], begin: int, size: int, width: float, y: float, kind: str) -> str:
    """A chunk. Blocks too small to be seen are drawn together, or a pool could draw millions."""
    colours = {"used": _COLOURS[kind], "free": _FREE, "waiting": _WAITING}
    out = []
    run: list[Block] = []

    def flush() -> None:
        if not run:
            return
        x = _LEFT + width * (run[0].address - begin) / size
        w = width * sum(b.bytes for b in run) / size
        state = max(colours, key=lambda s: sum(b.bytes for b in run if b.state == s))
        title = _describe(run[0])
        if len(run) > 1:
            used = sum(b.state == "used" for b in run)
            title = f"{len(run)} blocks, {used} used, together {amount(sum(b.bytes for b in run))}"
        out.append(
            f'<rect x="{x:.2f}" y="{y}" width="{max(w, 0.2):.2f}" height="{_ROW}" '
            f'fill="{colours[state]}" stroke="#fff" stroke-width="{0.6 if w > 2 else 0}">'
            f"<title>{escape(title)}</title></rect>"
        )
        run.clear()

    for block in blocks:
        if width * block.bytes / size >= 1:
            flush()
            run.append(block)
            flush()
            continue
        run.append(block)
        if width * sum(b.bytes for b in run) / size >= 1:
            flush()
    flush()
    return "".join(out)


def _pools(snapshot: Held, top: float) -> tuple[list[str], float]:
    out = []
    y = top
    shown = 0
    for pool in snapshot.pools:
        if not pool.chunks:
            continue
        y += 20
        title = (
            f"pool of {pool.kind} USM on {pool.device}: {amount(pool.used)} of "
            f"{amount(pool.held)} in use, {len(pool.chunks)} chunks"
        )
        out.append(_text(_LEFT, y - 6, title))
        largest = max(chunk.bytes for chunk in pool.chunks)
        for k, chunk in enumerate(pool.chunks):
            if shown == _MOST_CHUNKS:
                y += 14
                out.append(_text(_LEFT, y - 2, f"and {len(pool.chunks) - k} more chunks"))
                break
            width = max(_INNER * chunk.bytes / largest, 4)
            out.append(_text(_LEFT - 6, y + 14, amount(chunk.bytes), "end", 11))
            out.append(_bar(chunk.blocks, chunk.address, chunk.bytes, width, y, pool.kind))
            y += _ROW + _GAP
            shown += 1
    return out, y


def svg(snapshot: Held) -> str:
    """The timeline of bytes in use above, the pools' chunks with their blocks below."""
    out = []
    x: float = _LEFT
    for name, colour in [*_COLOURS.items(), ("free", _FREE), ("waiting", _WAITING)]:
        size = snapshot.used.get(name)
        label = f"{name} {amount(size)}" if size is not None else name
        out.append(f'<rect x="{x:.1f}" y="6" width="11" height="11" fill="{colour}"/>')
        out.append(_text(x + 16, 16, label))
        x += 34 + 7 * len(label)
    out.append(_text(x, 16, f"- - held {amount(snapshot.held)}"))
    y: float = 30
    if len(snapshot.timeline) > 1:
        out += _timeline(snapshot.timeline, y)
        y += _TIMELINE + 24
    drawn, y = _pools(snapshot, y)
    out += drawn
    height = int(y + 8)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{"".join(out)}</svg>'
    )


def _owners(snapshot: Held, most: int = 15) -> str:
    rows = snapshot.owners
    if not rows:
        return ""
    body = "".join(
        f'<tr><td style="text-align:right">{amount(size)}</td>'
        f'<td style="text-align:right">{count:,}</td>'
        f'<td style="text-align:left">{escape(str(place)) if place else "not recorded"}</td></tr>'
        for place, size, count in rows[:most]
    )
    return (
        '<table style="border-spacing:12px 2px"><thead><tr><th>bytes</th><th>blocks</th>'
        f'<th style="text-align:left">who</th></tr></thead><tbody>{body}</tbody></table>'
    )


def fragment(snapshot: Held) -> str:
    """For a notebook: the picture, and who holds how much."""
    note = (
        ""
        if snapshot.has_history
        else "<p>Owners and the timeline need <code>usmx.memory.record_history()</code>.</p>"
    )
    return f'<div style="overflow-x:auto">{svg(snapshot)}</div>{_owners(snapshot)}{note}'


def page(snapshot: Held) -> str:
    """A whole page."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(snapshot.time))
    return whole_page(f"USM at {when}", fragment(snapshot))


def whole_page(title: str, body: str) -> str:
    """A page that needs nothing else: no scripts, no server, no other site."""
    title = escape(title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        f"<style>body{{font-family:system-ui,sans-serif;color:{_TEXT};background:#fff;"
        "margin:24px}h1{font-size:18px}table{font-size:13px;text-align:right;"
        "border-spacing:12px 2px}</style></head>"
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )
