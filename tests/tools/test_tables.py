"""What comes of the table of operations is as the table says."""
# SPDX-License-Identifier: Apache-2.0

import re
import subprocess
import sys
from pathlib import Path

import usmx

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "make_tables.py"


def test_the_tables_of_the_documentation_are_the_rows():
    check = subprocess.run(
        [sys.executable, TOOL, "docs"], capture_output=True, text=True, check=False, timeout=60
    )
    assert check.returncode == 0, "run `make tables`\n" + check.stdout + check.stderr


def test_the_modules_that_are_installed_have_the_names_of_the_rows(tmp_path):
    subprocess.run([sys.executable, TOOL, "python", tmp_path], check=True, timeout=60)
    written = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.py")]
    assert len(written) == 4
    for path in written:
        installed = Path(usmx.__file__).parent / path
        assert installed.read_text("utf-8") == (tmp_path / path).read_text("utf-8"), path


def test_nothing_that_is_built_is_committed():
    tracked = subprocess.run(
        ["git", "ls-files", "-i", "-c", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    assert tracked == ""


def test_each_row_is_a_function_of_cpp(tmp_path):
    """The host computes those alone that have the bits of kernels there."""
    subprocess.run(
        [sys.executable, TOOL, "cpp", *(tmp_path / name for name in ("rows", "host", "functions"))],
        check=True,
        timeout=60,
    )
    rows = re.findall(r'^\{"(\w+)"', (tmp_path / "rows").read_text("utf-8"), re.M)
    text = (tmp_path / "functions").read_text("utf-8")
    assert len(rows) > 80
    assert re.findall(r"^deferred_array (\w+)\(", text, re.M) == rows
    assert "deferred_array operator+(const A& a, const B& b) {" in text
    on_host = set(re.findall(r"^struct (\w+)_row", (tmp_path / "host").read_text("utf-8"), re.M))
    assert on_host < set(rows)
    assert {"add", "fmin", "sqrt", "exp", "gcd"} <= on_host
    assert not {"tan", "erf", "float_power"} & on_host


def test_a_row_that_is_new_is_missed(tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import make_tables as m\n"
        "row = m.TABLE.Operation('sinpi', 'sin(pi * a)', python='usmx.sinpi', function='sinpi',"
        " takes='f')\n"
        "m.TABLE.OPERATIONS = (*m.TABLE.OPERATIONS, row)\n"
        "m.main(['python', sys.argv[1]])\n"
        "sys.exit(m.main(['docs']))\n"
    )
    check = subprocess.run(
        [sys.executable, "-c", program, TOOL.parent, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert check.returncode == 1, check.stderr
    assert '    "sinpi",\n' in (tmp_path / "_functions.py").read_text("utf-8")
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
