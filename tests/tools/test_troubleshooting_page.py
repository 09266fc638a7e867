"""The messages that the page of troubleshooting explains are messages of the sources."""
# SPDX-License-Identifier: Apache-2.0

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
HEADINGS = re.findall(r"^### `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
# What stands between the parts of a text that is written in several lines.
SEAM = re.compile(r"""["']\s*\n\s*(?:f|_f)?["']""")


@cache
def texts() -> str:
    """The sources, with texts in several lines joined."""
    files = [
        path
        for folder in ("src", "python")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".cpp", ".hpp", ".py"}
    ]
    return "\n".join(SEAM.sub("", path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_message_of_the_page_is_in_the_sources(heading: str) -> None:
    assert heading in texts()


def test_each_message_has_a_cause() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n### ")[1:]
    assert len(sections) == len(HEADINGS) > 30
    assert [s.split("\n")[0] for s in sections if "**Cause.**" not in s] == []
