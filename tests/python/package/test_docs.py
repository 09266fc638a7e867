"""Runs every Python block of README.md and docs/ as a reader would: what a page shows must happen.

Each block is a program in a process of its own, because readers copy one and paste it alone. A
``text`` block after a ``python`` block is what that block prints.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import lab
import pytest
from backend_row import needs
from markdown_it import MarkdownIt

PAGES = [lab.ROOT / "README.md", *sorted((lab.ROOT / "docs").rglob("*.md"))]


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
        (f"{page.relative_to(lab.ROOT)}:{line}", text, shown if follower == "text" else None)
        for (language, text, line), (follower, shown, _) in zip(found, after, strict=True)
        if language == "python"
    ]


# Programs of reports to other projects end the process: that is what they report.
PROGRAMS = [
    program for page in PAGES if page.parent.name != "upstream" for program in programs(page)
]


def needed(text: str, shown: str | None) -> list[pytest.MarkDecorator]:
    """What the device of a program has to have, by what it calls and shows."""
    found = {
        "cpu": 'device="cpu"' in text or '("cpu")' in text or "opencl:cpu" in (shown or ""),
        "host_memory": "copy=False" in text
        or "get_execution_queue(np." in text
        or "square(a, out=a)" in text,
        "ipc": "usmx.ipc" in text,
    }
    return [needs(what) for what, is_needed in found.items() if is_needed]


@pytest.mark.parametrize(
    ("text", "shown"),
    [pytest.param(*p[1:], id=p[0], marks=needed(*p[1:])) for p in PROGRAMS],
)
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


def anchors(page: Path) -> set[str]:
    """What a link can name behind ``#``: each heading in lower case, with hyphens for spaces."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    titles = [tokens[k + 1].content for k, t in enumerate(tokens) if t.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links(pages: list[Path], root: Path) -> list[str]:
    """Links to files and headings that do not exist."""
    dead = []
    for page in pages:
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
            for child in token.children or []:
                target = str(child.attrGet("href") or child.attrGet("src") or "")
                if not target or "://" in target:
                    continue
                file, _, anchor = target.partition("#")
                path = page.parent / file if file else page
                if not path.exists() or (anchor and anchor not in anchors(path)):
                    dead.append(f"{page.relative_to(root)}: {target}")
    return dead


def test_links_between_pages_lead_to_files_and_headings():
    assert not dead_links(PAGES, lab.ROOT)


def test_a_link_to_a_heading_or_file_that_does_not_exist_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Two words (`x.y`)\n[a](#two-words-xy) [b](#two) [c](page.md#no) [d](e.md)\n")
    assert dead_links([page], tmp_path) == [f"page.md: {x}" for x in ("#two", "page.md#no", "e.md")]


def test_the_readme_and_every_question_have_a_page():
    assert {"README.md", "docs/memory.md", "docs/arrays.md"} <= {
        name.split(":")[0] for name, *_ in PROGRAMS
    }
