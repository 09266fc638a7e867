"""The diffs of docs/extending.md still apply: each line that they keep or remove is in its file."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def changes(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each file that a diff changes, and the lines of it that the diff shows."""
    for block in re.findall(r"```diff\n(.*?)```", page, re.DOTALL):
        name, shown = "", list[str]()
        for line in [*block.splitlines(), "--- "]:
            if line.startswith("--- "):
                if name:
                    yield name, shown
                name, shown = line.removeprefix("--- a/").removeprefix("--- "), []
            elif line[:1] in (" ", "-"):
                shown.append(line[1:].strip())


def missing(name: str, shown: list[str], root: Path) -> list[str]:
    """The lines that are not in the file, in the order of the diff."""
    if name == "/dev/null":
        return shown
    left = iter([line.strip() for line in (root / name).read_text(encoding="utf-8").splitlines()])
    return [line for line in shown if line and line not in left]


CHANGES = list(changes((ROOT / "docs" / "extending.md").read_text(encoding="utf-8")))


def test_there_is_a_diff_for_each_extension_point() -> None:
    assert len([name for name, _ in CHANGES if name != "/dev/null"]) >= 8


@pytest.mark.parametrize(("name", "shown"), CHANGES, ids=[name for name, _ in CHANGES])
def test_lines_that_a_diff_keeps_or_removes_are_in_the_file(name: str, shown: list[str]) -> None:
    assert missing(name, shown, ROOT) == []


def test_a_line_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("one\ntwo\nthree\n")
    page = "```diff\n--- a/file.txt\n+++ b/file.txt\n@@\n one\n-gone\n+new\n three\n```\n"
    ((name, shown),) = changes(page)
    assert shown == ["one", "gone", "three"]
    assert missing(name, shown, tmp_path)[0] == "gone"
