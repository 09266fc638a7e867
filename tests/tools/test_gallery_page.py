"""The gallery has a picture for each program, of the name under which the program writes it."""
# SPDX-License-Identifier: Apache-2.0

import re
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"
#: Small enough for a repository.
MOST_BYTES = 40_000
#: Which pages show large.
LARGE = {"images/terrain.png", "images/snapshot.svg"}


def sections() -> dict[str, tuple[list[str], list[str]]]:
    """Programs and pictures by heading."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    here: tuple[list[str], list[str]] = ([], [])
    tokens = MarkdownIt().parse(PAGE.read_text(encoding="utf-8"))
    for k, token in enumerate(tokens):
        if token.type == "heading_open":
            here = found.setdefault(tokens[k + 1].content, ([], []))
        elif token.type == "fence" and token.info == "python":
            here[0].append(token.content)
        for child in token.children or []:
            if child.type == "image":
                here[1].append(str(child.attrGet("src")))
    return found


def test_each_program_writes_the_picture_below_it() -> None:
    # The programs are run by test_docs.py.
    for heading, (programs, pictures) in sections().items():
        for program in programs:
            written = re.findall(r'(?:imsave|savefig)\("([\w.]+)"', program)
            assert [f"images/{name}" for name in written] == pictures, heading


def test_there_are_twenty_small_pictures() -> None:
    pictures = [p for _, some in sections().values() for p in some]
    assert len(set(pictures)) == len(pictures) >= 20
    for picture in set(pictures) - LARGE:
        assert (PAGE.parent / picture).stat().st_size <= MOST_BYTES, picture
