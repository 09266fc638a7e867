"""The type stub that is committed says what the compiled module says of itself."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_stubs.py"


def test_the_committed_stub_is_the_generated_one() -> None:
    check = subprocess.run(
        [sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, "run `make stubs` and look at what changed\n" + check.stdout


def test_a_difference_is_shown() -> None:
    # The same check, with a module that says one thing more.
    program = (
        "import runpy, sys\n"
        "from usmx import _usmx\n"
        "_usmx.surprise = 1\n"
        "sys.argv = ['make_stubs', '--check']\n"
        f"runpy.run_path({str(TOOL)!r}, run_name='__main__')\n"
    )
    check = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert check.returncode == 1
    assert "+surprise: int" in check.stdout
