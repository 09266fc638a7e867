"""Traces in the format that Perfetto and Chrome draw: a track per thread and device queue."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import threading
from typing import Any

from .events import Recording, TraceEvent

__all__ = ["chrome_events", "write"]


def _arguments(event: TraceEvent) -> dict[str, Any]:
    told = {
        "bytes": event.bytes,
        "kind": event.kind,
        "from": event.source_kind,
        "address": hex(event.address) if event.address else None,
        "source": hex(event.source) if event.source else None,
        "device": event.device,
        "queue": event.queue,
        "line": str(event.place) if event.place else None,
        "reused": event.reused,
        "failed": event.failed,
    }
    return {name: value for name, value in told.items() if value}


def _title(event: TraceEvent) -> str:
    if event.action in ("copy", "host copy"):
        return f"{event.action} {event.source_kind or 'plain'} to {event.kind or 'plain'}"
    if event.name:
        return f"{event.action} {event.name}"
    return f"{event.action} {event.kind}" if event.kind else event.action


def chrome_events(trace: Recording) -> list[dict[str, Any]]:
    """Everything in a trace, as Chrome's trace events. Times are microseconds from its beginning.

    Complete events ("X") for operations, on the threads that did them and, where the device's times
    are known, on its queues; counters ("C") for the bytes of each kind that were allocated in the
    trace and are alive; metadata ("M") for names.
    """
    pid = os.getpid()
    zero = trace.started

    def time(nanoseconds: int) -> float:
        return (nanoseconds - zero) / 1000

    out: list[dict[str, Any]] = []

    def span(
        event: TraceEvent, category: str, begin: int, end: int, process: int, track: int
    ) -> None:
        about = {"name": _title(event), "cat": category, "ph": "X", "args": _arguments(event)}
        times = {"ts": time(begin), "dur": (end - begin) / 1000}
        out.append({**about, **times, "pid": process, "tid": track})

    threads: dict[int, None] = {}
    devices: dict[str, int] = {}
    queues: dict[tuple[int, int], None] = {}
    alive: dict[str, int] = {}
    for event in trace.events:
        threads[event.thread] = None
        if event.counts or not event.by_runtime:
            category = "runtime" if event.by_runtime else "usmx"
            span(event, category, event.begin, event.end, pid, event.thread)
        if event.device_begin is not None and event.device_end is not None:
            process = devices.setdefault(event.device or "device", pid + 1 + len(devices))
            queues[process, event.queue] = None
            span(event, "device", event.device_begin, event.device_end, process, event.queue)
        if event.action in ("allocate", "free") and event.kind and not event.failed:
            change = event.bytes if event.action == "allocate" else -event.bytes
            alive[event.kind] = alive.get(event.kind, 0) + change
            out.append(
                {
                    "name": "bytes since the trace began",
                    "ph": "C",
                    "ts": time(event.end),
                    "pid": pid,
                    "args": dict(alive),
                }
            )
    named = {t.native_id: t.name for t in threading.enumerate()}
    names: list[tuple[str, int, int, str]] = [("process_name", pid, 0, "usmx")]
    for thread in threads:
        names.append(("thread_name", pid, thread, named.get(thread, f"thread {thread}")))
    for device, process in devices.items():
        names.append(("process_name", process, 0, f"device {device}"))
    for process, queue in queues:
        names.append(("thread_name", process, queue, f"queue {queue}"))
    metadata = [
        {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
        for what, process, thread, name in names
    ]
    return metadata + sorted(out, key=lambda e: float(e["ts"]))


def write(trace: Recording, path: str | os.PathLike[str]) -> None:
    """Write a trace as a file. See `Trace.export`."""
    content = {
        "traceEvents": chrome_events(trace),
        "displayTimeUnit": "ns",
        "otherData": {
            "producer": "usmx",
            "dropped": trace.dropped,
            "other libraries": "seen" if trace.sees_runtime else "not seen",
        },
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
