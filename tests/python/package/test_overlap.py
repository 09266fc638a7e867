"""The example that copies while it computes runs, agrees with itself, and leaves a trace."""

# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys

import lab

OVERLAP = lab.ROOT / "examples" / "overlap" / "overlap.py"


def test_both_ways_give_the_same_and_the_trace_shows_them(tmp_path):
    trace = tmp_path / "both.json"
    result = subprocess.run(
        [sys.executable, OVERLAP, "--pieces", "3", "--size", "20000", "--trace", trace],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "together" in result.stdout
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum("copy" in event["name"] for event in events) >= 2 * 3 * 2
    assert sum("settle" in event["name"] for event in events) >= 2 * 3
