"""A profile has a row for each kernel and line: its time, bytes, and share of a copy's rate."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import usmx
from usmx.tracing import Profile

SIZE = 100_000


@usmx.kernel
def scale(item, a, x):
    i = item.get_id(0)
    x[i] = a * x[i]


def line_here() -> int:
    """The line that calls this."""
    return sys._getframe(1).f_lineno


def profiled(queue: usmx.Queue | None = None) -> tuple[Profile, int]:
    """Three launches by one line and one by another; and the first of these lines."""
    x = usmx.ones(SIZE, "float32", queue=queue or usmx.default_queue())
    with usmx.profile() as p:
        line = line_here() + 2
        for _ in range(3):
            scale[SIZE](2.0, x)
        scale[SIZE](2.0, x)
    assert x.to_numpy()[0] == 16
    return p, line


@pytest.mark.parametrize("measured", [False, True])
def test_each_kernel_and_line_has_calls_time_and_bytes(measured: bool) -> None:
    p, line = profiled(usmx.Queue(usmx.Device(), enable_profiling=measured))
    rows = sorted(p.rows, key=lambda row: -row.calls)
    assert [(row.kernel, row.calls, row.nbytes) for row in rows] == [
        ("scale", 3, 3 * 4 * SIZE),
        ("scale", 1, 4 * SIZE),
    ]
    for row, where in zip(rows, (line, line + 1), strict=True):
        assert row.place is not None
        assert Path(row.place.file).name == "test_profile.py"
        assert row.place.line == where
        assert row.device == usmx.Device().filter_string
        assert row.nanoseconds is not None
        assert 0 < row.nanoseconds < p.trace.duration
        assert row.rate == row.nbytes / row.nanoseconds
        assert row.share == row.rate / p.limits[row.device]
    assert p.nanoseconds == sum(row.nanoseconds or 0 for row in rows)


def test_the_row_that_took_longest_comes_first() -> None:
    p, _ = profiled()
    times = [row.nanoseconds or 0 for row in p.rows]
    assert times == sorted(times, reverse=True)


def test_kernels_run_one_by_one_so_that_no_time_is_counted_twice() -> None:
    p, _ = profiled()
    kernels = [e for e in p.trace.events if e.action == "kernel" and e.counts]
    ends = [(e.device_begin or 0, e.device_end or 0) for e in kernels]
    assert all(before[1] <= after[0] for before, after in pairwise(ends))
    with usmx.trace() as t:  # and only in a profile
        scale[SIZE](2.0, usmx.ones(SIZE, "float32"))
    assert [e.device_begin for e in t.events if e.name == "scale"] == [None]


def test_an_array_counts_once_and_a_broadcast_axis_once() -> None:
    x = usmx.ones((300, 1000), "float32")
    row = usmx.ones(1000, "float32")
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "profiled_add")
    with usmx.profile() as p:
        add(x, x)
        add(x, usmx.broadcast_to(row, x.shape))
    assert [e.bytes for e in p.trace.events if e.action == "kernel"] == [
        2 * x.nbytes,
        2 * x.nbytes + row.nbytes,
    ]


def test_a_function_is_called_until_its_result_is_computed() -> None:
    x = usmx.ones(SIZE, "float32")
    p = usmx.profile(lambda a, times: usmx.sqrt(a) * times, x, times=2)
    assert [row.calls for row in p.rows] == [1]
    np.testing.assert_array_equal(p.result.to_numpy(), 2)


def test_what_is_measured_once_is_not_measured_again() -> None:
    p, _ = profiled()
    assert p.limits == p.limits == profiled()[0].limits


def test_a_profile_is_a_table_for_people_and_figures_for_programs() -> None:
    p, line = profiled()
    heading, names, *rows = str(p).splitlines()
    assert " in 4 kernels, one by one, of " in heading
    assert f"a copy on {usmx.Device().filter_string} moves " in heading
    assert names.split() == ["kernel", "calls", "time", "bytes", "GB/s", "of", "a", "copy", "line"]
    assert len(rows) == 2
    assert any(f"test_profile.py:{line} in profiled" in row for row in rows)
    report = json.loads(json.dumps(p.to_dict()))
    assert [row["calls"] for row in report["rows"]] == [row.calls for row in p.rows]
    assert report["limits"] == p.limits
    table = ElementTree.fromstring(f"<div>{p._repr_html_()}</div>").find("table")
    assert table is not None
    assert len(table.findall("tbody/tr")) == 2


def test_nothing_and_an_error_can_be_profiled() -> None:
    assert "not started" in str(usmx.tracing.Profile())
    with usmx.profile() as p:
        pass
    assert p.rows == []
    assert "0 kernels" in str(p)
    with pytest.raises(ZeroDivisionError):
        usmx.profile(lambda: 1 / 0)
    with usmx.trace() as t:
        scale[SIZE](2.0, usmx.ones(SIZE, "float32"))
    assert t.summary().kernels == 1


def test_a_trace_is_a_page_that_needs_nothing_else(tmp_path: Path) -> None:
    p, _ = profiled()
    p.trace.export(tmp_path / "kernels.html")
    text = (tmp_path / "kernels.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<svg" in text
    assert ">kernel scale<" in text
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
