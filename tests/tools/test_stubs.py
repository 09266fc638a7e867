"""The type stub that is committed says what the compiled module says of itself."""
# SPDX-License-Identifier: Apache-2.0

import difflib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_stub_is_the_generated_one() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_stubs.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    committed = (ROOT / "python" / "usmx" / "_usmx.pyi").read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        committed.splitlines(), made.stdout.splitlines(), "committed", "generated", lineterm=""
    )
    assert "\n".join(difference) == "", "run `make stubs` and look at what changed"
