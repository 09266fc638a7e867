"""What is written from the table of operations is as the table says."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "make_tables.py"


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


def test_the_example_of_a_new_function_still_fits_the_files():
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    section = page.split("## Add a function for kernels")[1]
    diff = section.split("```diff\n")[1].split("```")[0].splitlines()
    kept: dict[str, list[str]] = {}
    path = ""
    for line in diff:
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif line.startswith(" "):
            kept.setdefault(path, []).append(line[1:])
    assert sorted(kept) == ["kernels/prelude/math.hpp", "python/usmx/_operations.py"]
    for path, lines in kept.items():
        assert "\n".join(lines) + "\n" in (ROOT / path).read_text(encoding="utf-8"), path
