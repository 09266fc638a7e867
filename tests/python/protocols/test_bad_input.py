# For all claims of a foreign object about its memory, the result is an array or a clear exception;
# never a crash, a wrong value or a leak. A crash would take pytest with it: cases run in other
# processes, several in one, which also sees what a case does to those after it.
# SPDX-License-Identifier: Apache-2.0
import functools
import subprocess
import sys
from pathlib import Path

import bad_input_program
import pytest
from backend_row import has, needs
from depths import of_depth

PROGRAM = Path(bad_input_program.__file__)
CASES = bad_input_program.CASES
#: What the device has to have for an input to be wrong, by the end of its name.
NEEDED = {"other-context": "contexts", "another-context": "contexts", "sub-device": "parts"}
PORTIONS = 16
TOGETHER = 20  # cases in one process
BATCHES = [tuple(CASES)[k : k + TOGETHER] for k in range(0, len(CASES), TOGETHER)]


def run(*arguments, timeout=120):
    return subprocess.run(
        [sys.executable, PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_there_are_more_than_two_hundred_cases():
    assert len(CASES) > 200


@functools.cache
def outcomes(names):
    """For each case None if it was refused as it should be, otherwise what it said."""
    said = {}
    rest = list(names)
    while rest:
        result = run(*rest)
        assert result.stdout.startswith(f"begin {rest[0]}\n"), result.stderr
        for line in result.stdout.splitlines():
            if rest and line == f"begin {rest[0]}":
                said[name := rest.pop(0)] = ""
            elif line == f"end {name}":
                said[name] = None
            else:
                said[name] = f"{said[name] or ''}{line}\n"
        # After a crash those that are left get another process.
        if result.returncode != 0:
            said[name] = f"{said[name] or ''}{result.returncode}\n{result.stderr[-3000:]}"
    return said


def needed(name: str) -> list[str]:
    return [need for end, need in NEEDED.items() if name.endswith(end)]


REPEATABLE = sorted(
    name for name, case in CASES.items() if case.repeatable and all(map(has, needed(name)))
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[needs(*needed(name))]) for name in CASES]
)
def test_refused_with_words_that_help(name):
    together = next(names for names in BATCHES if name in names)
    assert outcomes(together)[name] is None


def test_a_crash_and_an_acceptance_are_seen_and_the_others_go_on():
    first, last = list(CASES)[:2]
    said = outcomes((first, "crash", "accepted", last))
    assert said[first] is None
    assert "Segmentation fault" in said["crash"]
    assert "was accepted" in said["accepted"]
    assert said[last] is None


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_refusing_many_times_leaks_nothing(portion):
    names = REPEATABLE[portion::PORTIONS]
    result = run("repeat", of_depth(quick=2_000, pairs=2_000, full=10_000), *names, timeout=600)
    leaking = [line for line in result.stdout.splitlines() if not line.endswith(" ok")]
    assert result.returncode == 0, f"{leaking}\n{result.stderr[-3000:]}"
    assert result.stdout.count(" ok") == len(names)


def test_the_leak_detector_sees_a_leak():
    result = run("control", 10_000)
    assert "objects" in result.stdout or "bytes" in result.stdout, result.stdout + result.stderr
