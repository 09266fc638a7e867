"""The table of libraries in docs/interop.md says what `make test-interop` runs."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "interop" / "table.py"


def test_the_page_shows_the_rows_that_are_tested():
    done = subprocess.run(
        [sys.executable, TABLE], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"python tests/interop/table.py --write\n{done.stdout}"
