"""What is written from the table of operations is as the table says."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_tables.py"


def test_what_is_written_from_the_table_fits_it():
    check = subprocess.run(
        [sys.executable, TOOL], capture_output=True, text=True, check=False, timeout=60
    )
    assert check.returncode == 0, "run `make stubs`\n" + check.stdout + check.stderr


def test_a_row_that_is_new_is_missed(tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import make_tables as m\n"
        "row = m.TABLE.Operation('sinpi', 'sin(pi * a)', python='usmx.sinpi', function='sinpi',"
        " takes='f')\n"
        "m.TABLE.OPERATIONS = (*m.TABLE.OPERATIONS, row)\n"
        "sys.exit(m.main())\n"
    )
    check = subprocess.run(
        [sys.executable, "-c", program, TOOL.parent],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert check.returncode == 1, check.stderr
    assert '+    "sinpi",' in check.stdout
    assert "+| `usmx.sinpi` | sin(pi * a) | floats | exact |" in check.stdout
