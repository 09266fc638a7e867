"""What type checkers say of programs with usmx: right ones have no error, wrong lines have one.

The programs are in ``typed/``. mypy and pyright (its build for PyPI, basedpyright) see the
installed package, as users do.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("typed")


def lines_with_errors(checker: str, program: Path, folder: Path) -> dict[int, list[str]]:
    """What a checker reports, by line."""
    command = {
        "mypy": [
            "mypy",
            "--strict",
            "--no-incremental",
            "--no-error-summary",
            "--show-column-numbers",
        ],
        "basedpyright": ["basedpyright", "--outputjson", "--project", str(folder)],
    }[checker]
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", *command, str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=600,
    )
    found: dict[int, list[str]] = {}
    if checker == "mypy":
        for line in run.stdout.splitlines():
            match = re.match(r".*?:(\d+):\d+: error: (.*)", line)
            if match:
                found.setdefault(int(match[1]), []).append(match[2])
        assert run.returncode in (0, 1), run.stdout + run.stderr
    else:
        for one in json.loads(run.stdout)["generalDiagnostics"]:
            if one["severity"] == "error":
                line = one["range"]["start"]["line"] + 1
                found.setdefault(line, []).append(one["message"])
    return found


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_right_program_has_no_error(checker, tmp_path):
    assert lines_with_errors(checker, PROGRAMS / "right.py", tmp_path) == {}


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_each_wrong_line_has_an_error_and_no_other_line_has_one(checker, tmp_path):
    program = PROGRAMS / "wrong.py"
    text = program.read_text(encoding="utf-8").splitlines()
    wrong = {k for k, line in enumerate(text, 1) if line.endswith("# wrong")}
    assert len(wrong) >= 25
    found = lines_with_errors(checker, program, tmp_path)
    assert set(found) == wrong, {k: (text[k - 1], found.get(k)) for k in sorted(set(found) ^ wrong)}


def test_the_right_program_runs(tmp_path):
    run = subprocess.run(
        [sys.executable, PROGRAMS / "right.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
