"""Runs every Python block of README.md and docs/ as a reader would: what a page shows must happen.

Each page is one program in a process of its own. A ``text`` block after a ``python`` block is what
that block prints.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
END = "--- end of block ---"


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, content and line of each fenced block."""
    return [
        (token.info.split(" ")[0], token.content, (token.map or [0])[0] + 1)
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type == "fence"
    ]


RUNNABLE = [page for page in PAGES if any(language == "python" for language, *_ in blocks(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_shows(page, tmp_path):
    found = blocks(page)
    programs = [(text, line) for language, text, line in found if language == "python"]
    script = tmp_path / "page.py"
    script.write_text(
        "\n".join(f"# line {line}\n{text}\nprint({END!r})" for text, line in programs),
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 0, run.stderr
    printed = iter(run.stdout.split(END + "\n"))
    output = None
    for language, text, line in found:
        if language == "python":
            output = next(printed)
        elif language == "text" and output is not None:
            assert output.strip() == text.strip(), f"{page.name}, line {line}"
            output = None


def test_links_between_pages_lead_somewhere():
    dead = []
    for page in PAGES:
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
            for child in token.children or []:
                target = str(child.attrGet("href") or child.attrGet("src") or "")
                if target and "://" not in target and not target.startswith("#"):
                    path = page.parent / target.split("#", maxsplit=1)[0]
                    if not path.exists():
                        dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead


def test_the_readme_and_every_question_have_a_page():
    assert {"README.md", "docs/memory.md", "docs/arrays.md"} <= {
        str(page.relative_to(ROOT)) for page in RUNNABLE
    }
