"""Runs every Python block of README.md and docs/ as a reader would: what a page shows must happen.

Each block is a program in a process of its own, because readers copy one and paste it alone. A
``text`` block after a ``python`` block is what that block prints.
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


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, content and line of each fenced block."""
    return [
        (token.info.split(" ")[0], token.content, (token.map or [0])[0] + 1)
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type == "fence"
    ]


def programs(page: Path) -> list[tuple[str, str, str | None]]:
    """Name and text of each Python block, and what it prints if a ``text`` block says so."""
    found = blocks(page)
    after = [*found, ("", "", 0)][1:]
    return [
        (f"{page.relative_to(ROOT)}:{line}", text, shown if follower == "text" else None)
        for (language, text, line), (follower, shown, _) in zip(found, after, strict=True)
        if language == "python"
    ]


PROGRAMS = [program for page in PAGES for program in programs(page)]


@pytest.mark.parametrize(("text", "shown"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
def test_a_block_pasted_alone_does_what_it_shows(text, shown, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    if shown is not None:
        assert run.stdout.strip() == shown.strip()


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
        name.split(":")[0] for name, *_ in PROGRAMS
    }
