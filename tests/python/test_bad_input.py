# Whatever a foreign object claims about its memory, the answer is an array or a clear exception;
# never a crash, a wrong value or a leak. A crash would take pytest with it: each case is a process.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import bad_input_program
import pytest

PROGRAM = Path(bad_input_program.__file__)
CASES = bad_input_program.CASES
REPEATABLE = sorted(name for name, case in CASES.items() if case.repeatable)
PORTIONS = 16


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


@pytest.mark.parametrize("name", CASES)
def test_refused_with_words_that_help(name):
    result = run(name)
    assert result.returncode == 0, f"{result.returncode}\n{result.stdout}{result.stderr[-3000:]}"


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_refusing_ten_thousand_times_leaks_nothing(portion):
    names = REPEATABLE[portion::PORTIONS]
    result = run("repeat", 10_000, *names, timeout=600)
    leaking = [line for line in result.stdout.splitlines() if not line.endswith(" ok")]
    assert result.returncode == 0, f"{leaking}\n{result.stderr[-3000:]}"
    assert result.stdout.count(" ok") == len(names)


def test_the_leak_detector_sees_a_leak():
    result = run("control", 10_000)
    assert "objects" in result.stdout or "bytes" in result.stdout, result.stdout + result.stderr
