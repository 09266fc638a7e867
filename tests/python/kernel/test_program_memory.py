"""The memory of compiled programs: bounded, and nothing is lost that leaves it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from backend_row import ROW

import usmx

RunPython = Callable[..., subprocess.CompletedProcess[str]]

#: Runs many programs, and prints by how many MiB the process grew.
GROWTH = """
import usmx

HELD = []

def raw(number):
    kernel = usmx.RawKernel(f"USMX_KERNEL(1) f(int* p) {{ p[0] = {number}; }}", "f")
    HELD.append(kernel)
    kernel[1](x).wait()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

x = usmx.zeros(1, dtype="int32")
for number in range(10):
    raw(number)
before = resident()
for number in range(COUNT):
    raw(1000 + number % DISTINCT)
    assert int(x[0]) == 1000 + number % DISTINCT
print((resident() - before) >> 20)
"""


# Where programs do not leave memory they take 1.1 MiB each if they are compiled, and 0.4 for each
# time that they are read.
@pytest.mark.parametrize(
    ("way", "count", "distinct", "limit", "most"),
    [("compiled", 60, 60, "8M", 40), ("read back", 400, 12, "2M", 60)],
)
def test_programs_stay_within_the_limit_while_their_kernels_are_held(
    run_python: RunPython,
    tmp_path: Path,
    way: str,
    count: int,
    distinct: int,
    limit: str,
    most: int,
) -> None:
    environment = {
        "USMX_CACHE": "1" if way == "read back" else "0",
        "USMX_CACHE_DIR": str(tmp_path),
        "USMX_PROGRAM_MEMORY": limit,
    }
    if not ROW.reads_apart:  # what does not fit is compiled each time, which takes longer
        count = min(count, 60)
    program = GROWTH.replace("DISTINCT", str(distinct)).replace("COUNT", str(count))
    assert int(run_python(program, env=environment, timeout=300).stdout) < most


def test_the_limit_is_read_from_the_environment_and_shown(
    run_python: RunPython, tmp_path: Path
) -> None:
    environment = {"USMX_PROGRAM_MEMORY": "3M", "USMX_CACHE_DIR": str(tmp_path)}
    shown = run_python(
        "import usmx.cli; usmx.cli.main(['cache', '--json'])", env=environment
    ).stdout
    wanted = {"programs": 0, "bytes": 0, "permanent": 0, "limit": 3 << 20}
    assert json.loads(shown)["memory"] == wanted
    shown = run_python("import usmx.cli; usmx.cli.main(['cache'])", env=environment).stdout
    assert "in memory: 0 programs, 0 B of at most 3 MiB in each process" in shown


def test_a_limit_that_makes_no_sense_is_named(run_python: RunPython) -> None:
    failed = run_python(
        "import usmx; usmx.program_memory()",
        env={"USMX_PROGRAM_MEMORY": "lots"},
        check=False,
    )
    assert "ValueError: USMX_PROGRAM_MEMORY: 'lots' is not a size; expected bytes" in failed.stderr


def test_the_limit_is_set_and_given_back() -> None:
    before = usmx.set_program_memory(5_000_000)
    try:
        assert usmx.program_memory()["limit"] == 5_000_000
        with pytest.raises(TypeError):
            usmx.set_program_memory(-1)
        use = usmx.program_memory()
        assert use["bytes"] - use["permanent"] <= 5_000_000
        assert use["permanent"] == 0 or not ROW.reads_apart
    finally:
        assert usmx.set_program_memory(before) == 5_000_000
