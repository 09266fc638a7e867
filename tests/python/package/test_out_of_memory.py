"""An allocation that fails, of Python's or of ours, is a MemoryError and nothing else.

tests/lab/out_of_memory.py fails each allocation of an operation in turn, in a process of its own.
"""

# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys

import lab
import pytest
from depths import of_depth

PROGRAM = lab.HERE / "out_of_memory.py"
#: How many allocations of each operation fail.
POINTS = of_depth(quick=40, pairs=60, full=120)
#: What NumPy and CPython say themselves: docs/upstream/memory-errors-of-others.md.
OF_OTHERS = re.compile(
    r"PicklingError: Can't pickle <function rebuild .* import of module 'usmx._array' failed"
)

OPERATIONS = re.findall(r'^    "(.+)": ', PROGRAM.read_text(), re.MULTILINE)


def attempts(kind, operation):
    """What was wrong, from all processes that it took to pass every point."""
    environment = dict(os.environ)
    if kind == "new":
        environment["LD_PRELOAD"] = str(lab.built("libfailing_allocations.so"))
    first, wrong = 0, []
    while first < POINTS:
        done = subprocess.run(
            [sys.executable, PROGRAM, kind, operation, str(first), str(POINTS)],
            capture_output=True, text=True, timeout=300, check=False, env=environment,
        )  # fmt: skip
        wrong += [line for line in done.stdout.splitlines() if not OF_OTHERS.search(line)]
        points = re.findall(r"^at (\d+)$", done.stderr, re.MULTILINE)
        assert points, done.stderr[-2000:]
        if done.returncode >= 0:
            break
        stack = [line.strip() for line in done.stderr.splitlines() if line.startswith("  File")]
        wrong.append(f"{points[-1]}: signal {-done.returncode}: {stack[:3]}")
        first = int(points[-1]) + 1
    return wrong


def test_there_are_enough_operations():
    assert len(OPERATIONS) >= 32


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", ["python", "new"])
def test_a_failed_allocation_is_a_memory_error(kind, operation):
    wrong = attempts(kind, operation)
    assert not wrong, "\n".join(wrong)


def test_the_program_finds_another_error_and_a_crash(tmp_path):
    """A judge that never finds anything bad would make the tests above worthless."""
    program = PROGRAM.read_text().replace(
        "def traced() -> None:\n",
        "def traced() -> None:\n"
        "    try:\n        [0] * 9\n"
        "    except MemoryError:\n        raise RuntimeError('planted') from None\n",
    )
    (tmp_path / "out_of_memory.py").write_text(program)
    done = subprocess.run(
        [sys.executable, tmp_path / "out_of_memory.py", "python", "trace", "0", "5"],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(lab.HERE), *sys.path])},
    )  # fmt: skip
    assert "RuntimeError: planted" in done.stdout, done.stderr
