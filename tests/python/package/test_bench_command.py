"""`usmx.bench` waits for results; `usmx bench`, `config` and `demo` work where the wheel is."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from backend_row import ROW

import usmx
from usmx._benchmark import machine

ENVIRONMENT = Path(__file__).parents[3] / "docs" / "environment.md"


def said(*arguments: str) -> str:
    command = [sys.executable, "-m", "usmx", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout


LONG = """
USMX_KERNEL(1) f(float* x) {
  float y = x[0];
  for (int k = 0; k < 20000000; ++k) y = y * 0.999999f + 0.5f;
  x[0] = y;
}
"""


def test_kernels_that_are_launched_have_ended() -> None:
    x = usmx.ones(1, "f4")
    kernel = usmx.RawKernel(LONG, "f")
    events = []
    found = usmx.bench(lambda: (events.append(kernel[1](x)), events[-1])[1], seconds=0)
    assert [event.is_done for event in events] == [True, True]  # each takes milliseconds
    assert len(found.times) == 1


def test_results_are_computed_when_the_time_is_taken() -> None:
    x = usmx.ones(1000, usm_type="device")
    made = []
    usmx.bench(lambda: (made.append([x + len(made)]), made[-1])[1], seconds=0)
    assert len(made) == 2
    assert not any(usmx.explain(one).kernels for (one,) in made)


def test_a_timing_says_what_it_found() -> None:
    found = usmx.Timing(first=2.5, times=(3e-6, 1e-6, 2e-6))
    assert (found.best, found.median) == (1e-6, 2e-6)
    assert str(found) == "median 2 us, best 1 us of 3 calls; first 2.5 s"
    with pytest.raises(ValueError, match="seconds: -1; expected 0 or more"):
        usmx.bench(int, seconds=-1)


def test_each_task_of_a_machine_has_a_time() -> None:
    rows = list(machine(usmx.default_queue(), nbytes=1 << 16, seconds=0))
    assert len(rows) == 12
    assert rows[0].share == 1
    for row in rows:
        assert row.seconds > 0
        assert (row.rate is None) == (row.unit == "")
        assert row.share is None or row.unit == "GB/s"


def test_the_command_bench_is_a_table_and_json() -> None:
    table = said("bench", "--seconds", "0")
    assert "x.sum()" in table
    assert "of memory" in table
    found = json.loads(said("bench", "--seconds", "0", "--json", "--device", ROW.device))
    assert found["device"] == usmx.Device(ROW.device).name
    assert {"task", "seconds", "rate", "unit", "share"} == found["rows"][0].keys()


def test_the_command_config_lists_the_variables_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("USMX_CACHE_SIZE", "7M")
    found = json.loads(said("config", "--json"))
    assert found["USMX_CACHE_SIZE"] == "7M"
    assert set(found) == set(re.findall(r"^\| `(USMX_\w+)`", ENVIRONMENT.read_text("utf-8"), re.M))
    (line,) = [one for one in said("config").splitlines() if "USMX_CACHE_SIZE" in one]
    assert "7M" in line


def test_the_command_demo_shows_a_picture() -> None:
    lines = said("demo").splitlines()
    assert len(lines[0]) == 72
    assert "@" in lines[12]
    assert re.search(r"576 x 192 points on .*: [\d.]+ ms; NumPy: \d+ ms", "\n".join(lines))
    share = re.search(r"([\d.]+)% of the points are equal", "\n".join(lines))
    assert share is not None
    assert float(share[1]) > 99
