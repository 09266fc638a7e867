"""If any call of the runtime fails: an exception or right data, never a crash, hang or leak."""

# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys

import lab
import pytest
import scenarios

EXHAUST = lab.HERE / "exhaust.py"
KINDS = ["alloc_device", "alloc_host", "alloc_shared", "memcpy", "fill", "kernel", "build", "wait",
         "marker", "queue", "info", "lost"]  # fmt: skip


def run(arguments, environment, timeout):
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            # What is read from a folder calls less that can fail.
            env={**os.environ, "USMX_CACHE": "0", **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode()[-500:]
        pytest.fail(f"hung; the last lines: {output}")


# With pools, as users have it: each attempt begins with empty ones.
POOLED = {"USMX_POOL": "1"}


@pytest.mark.parametrize("scenario", scenarios.ALL)
def test_every_call_of_a_scenario_may_fail(scenario):
    result = run([EXHAUST, scenario], lab.simulated("report") | POOLED, timeout=300)
    tail = "\n".join(result.stdout.splitlines()[-5:])
    assert result.returncode >= 0, f"crashed: {tail}\n{result.stderr[-3000:]}"
    bad = [line for line in result.stdout.splitlines() if "BAD" in line]
    assert not bad, "\n".join(bad) + f"\n{result.stderr[-3000:]}"
    summary = re.search(r"tried=(\d+) raised=(\d+) bad=0", result.stdout)
    assert summary, tail + result.stderr[-3000:]
    assert int(summary[2]) >= 5, "hardly any fault was noticed: is the device simulated?"
    assert " live=0 " in result.stderr, result.stderr[-3000:]


@pytest.mark.parametrize("nth", ["1", "1+", "3"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_calls_of_a_process_may_fail(kind, nth):
    """Before anything is cached, and with the end of the process right after."""
    code = (
        f"import sys; sys.path.insert(0, {str(lab.HERE)!r})\n"
        "import exhaust, scenarios\n"
        f"print(exhaust.attempt(scenarios.everything, {kind!r}))"
    )
    faulty = lab.simulated("report", faults=f"{kind}:{nth}")
    result = run(["-c", code], faulty | POOLED, timeout=100)
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]
    assert "BAD" not in result.stdout
    assert result.stdout.strip()
    assert re.search(r" live=0 .* defects=0 ", result.stderr), result.stderr[-3000:]


def test_the_driver_sees_wrong_data_a_leak_and_a_foreign_exception(tmp_path):
    """A judge that never finds anything bad would make the tests above worthless."""
    (tmp_path / "scenarios.py").write_text(
        f"import sys; sys.path.insert(0, {str(lab.HERE)!r})\n"
        + """
import lab, usmx.memory as um
kept = []
def wrong():
    m = um.MemoryUSMDevice(64)
    try: m.memset(1)
    except RuntimeError: pass
    if m.tobytes() != bytes([1]) * 64: raise SystemError("wrong data")
def leak():
    m = um.MemoryUSMDevice(64)
    try: m.tobytes()
    except RuntimeError: kept.append(m); raise
def fine(): um.MemoryUSMDevice(64).tobytes()
ALL = {f.__name__: f for f in (wrong, leak, fine)}
"""
    )
    environment = lab.simulated()
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(tmp_path), str(lab.HERE), os.environ.get("PYTHONPATH", "")])
    )
    for name, complaint in (
        ("wrong", "wrong data"),
        ("leak", "allocations leaked"),
        ("fine", None),
    ):
        result = run(
            ["-c", f"import sys, scenarios, exhaust; sys.exit(exhaust.main({name!r}) != 0)"],
            environment,
            timeout=200,
        )
        assert (result.returncode == 1) == (complaint is not None), result.stdout + result.stderr
        if complaint:
            assert re.search(f"BAD: .*{complaint}", result.stdout), result.stdout
