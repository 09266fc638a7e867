"""The picture of a trace has a lane for each thread and queue, and marks are part of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import usmx
from usmx.tracing import Trace

SVG = "{http://www.w3.org/2000/svg}"


def drawn(trace: Trace) -> tuple[list[str], list[str]]:
    """The words of the picture, and what its bars say when pointed at."""
    root = ElementTree.fromstring(trace.svg())
    assert root.tag == f"{SVG}svg"
    width = float(root.get("width", 0))
    for bar in root.iter(f"{SVG}rect"):
        assert 0 <= float(bar.get("x", 0)) <= float(bar.get("x", 0)) + float(bar.get("width", 0))
        assert float(bar.get("x", 0)) + float(bar.get("width", 0)) <= width + 1
    return (
        [t.text or "" for t in root.iter(f"{SVG}text")],
        [t.text or "" for t in root.iter(f"{SVG}title")],
    )


def test_threads_and_measured_queues_have_lanes() -> None:
    queue = usmx.Queue(usmx.Device(), enable_profiling=True)

    def work() -> None:
        array = usmx.empty(100_000, "f4", usm_type="device", queue=queue)
        usmx.copy_async(array, np.zeros(100_000, "f4")).wait()

    with usmx.trace() as t:
        worker = threading.Thread(target=work, name="<worker>")
        worker.start()
        worker.join()
        work()
    words, titles = drawn(t)
    lanes = [w for w in words if w.startswith(("host, ", "device "))]
    # On CUDA a thread of the driver's moves the bytes between the host's memory and a pinned block.
    threads = 3 if queue.backend == "cuda" else 2
    assert len(lanes) == threads + 1
    assert all(lane.startswith("host, ") for lane in lanes[:threads])
    assert lanes[threads] == f"device {usmx.Device().filter_string}, queue 1"
    copies = [title for title in titles if title.startswith("copy")]
    assert len(copies) == 4  # by two threads, and by the device for each
    assert all("390.6 KiB" in title for title in copies)
    assert all("work" in title and "test_timeline.py" in title for title in copies)


def test_a_mark_is_an_event_with_its_line() -> None:
    with usmx.trace() as t:
        with t.mark("outer & <inner>"), t.mark("inner"):
            usmx.zeros(10)
        with pytest.raises(ZeroDivisionError), t.mark("broken"):
            1 / 0  # noqa: B018
    inner, outer, broken = (e for e in t.events if e.action == "mark")
    assert (inner.name, outer.name, broken.name) == ("inner", "outer & <inner>", "broken")
    assert outer.begin <= inner.begin <= inner.end <= outer.end <= broken.begin
    assert (inner.failed, broken.failed) == (False, True)
    assert outer.place is not None
    assert Path(outer.place.file) == Path(__file__)
    assert outer.place.function == "test_a_mark_is_an_event_with_its_line"
    fill = next(e for e in t.events if e.action in ("fill", "allocate"))
    assert inner.begin <= fill.begin <= fill.end <= inner.end
    assert any(row.what == "mark inner" and row.calls == 1 for row in t.summary().rows)
    _, titles = drawn(t)
    assert any(title.startswith("mark outer & <inner>: ") for title in titles)


def test_what_is_inside_is_drawn_below() -> None:
    with usmx.trace() as t, t.mark("outer"), t.mark("inner"):
        pass
    root = ElementTree.fromstring(t.svg())
    at = {
        (bar.findtext(f"{SVG}title") or "").split(":")[0]: float(bar.get("y", 0))
        for bar in root.iter(f"{SVG}rect")
        if bar.find(f"{SVG}title") is not None
    }
    assert at["mark outer"] < at["mark inner"]


def test_an_export_is_a_picture_if_its_name_says_so(tmp_path: Path) -> None:
    with usmx.trace() as t:
        usmx.ones(5)
    t.export(tmp_path / "t.svg")
    assert (tmp_path / "t.svg").read_text() == t.svg()
    assert t.svg() in t._repr_html_()
    assert "<table>" in t._repr_html_()


def test_an_empty_trace_and_a_very_long_one_can_be_drawn() -> None:
    with usmx.trace() as nothing:
        pass
    assert drawn(nothing)[1] == []
    with usmx.trace() as t:
        for _ in range(3000):
            usmx.zeros(1)
    assert len(t.events) >= 6000
    assert 0 < len(drawn(t)[1]) < 2500
