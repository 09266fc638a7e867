"""The page that compares names of NumPy's functions says of usmx what is there."""
# SPDX-License-Identifier: Apache-2.0

import json
import re
import subprocess
import sys
from pathlib import Path

import usmx

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "compare_names.py"
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")


def test_the_column_of_usmx_is_its_namespace():
    told: dict[str, set[str]] = {}
    part = ""
    for line in PAGE.splitlines():
        if line.startswith("## numpy"):
            part = line.removeprefix("## numpy").removeprefix(".")
        elif row := re.fullmatch(r"\| `(\w+)` \|.*\| (yes)? ?\|", line):
            assert part in ("", "linalg", "fft", "random")
            there = told.setdefault(part, set())
            if row[2]:
                there.add(row[1])
    command = [sys.executable, TOOL, "names", "usmx"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)
    assert found["version"] == usmx.__version__
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M))
    for name, has in found["has"].items():
        # Another version of NumPy than that of the page may have more functions.
        assert told[name] == rows & set(has), name
    assert len(told[""]) > 350


def test_the_page_is_written_of_the_names_that_are_given(tmp_path):
    has = {"": ["abs", "sin"], "linalg": ["det"], "fft": [], "random": []}
    libraries = {
        "numpy": has,
        "other": {**has, "": ["sin"], "linalg": []},
    }
    files = []
    for name, names in libraries.items():
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps({"name": name, "version": "1.2", "has": names}))
    command = [sys.executable, TOOL, "page", *files]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "| `numpy` | 2 | 1 |" in said
    assert "| `abs` |  |" in said
    assert "| `sin` | yes |" in said
