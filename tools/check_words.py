"""Checks that documents, messages and comments use standard words; exit code 1 if any does not.

Each line is a word that hides what is meant, and what to write instead. The folders of ``CLEAN``
are checked; a folder joins by moving there from ``LATER``. ``ALLOWED`` lists each other use and why
it stays; an entry that is not needed any more is a finding, too. Options: ``--later`` counts the
words in the folders of ``LATER``.
"""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from own_files import ROOT, own_files

WORDS = {
    r"nobody|no-one": "the thing that is meant: no thread, no caller, no library; or a passive",
    r"somebody|someone|anybody|everybody": "a caller, another library, a user, all threads",
    r"whoever|whomever": "code that ..., a caller that ..., the thread that ...",
    r"whatever": "all ..., any ..., regardless of ...",
    r"gapless|without gaps?": "contiguous, packed",
    r"beside": "next to, in addition to, compared with, during",
    r"surroundings": "global or closure variable",
    r"lent|lends?": "exported, borrowed, of another library",
    r"be had": "available, found, reproduced",
    r"(?:its|their|each|every|a|whose) turn|takes? turns|taking turns": "iteration, step",
    r"running totals?": "scan, cumulative sum",
    r"bytes come from": "memory resource, allocation",
    r"(?<!there )(?:is|are|was|were) no(?! longer| more| fewer)(?= )": "is not a ...",
    r"must hold": "must have",
    r"must not stand": "must not be, appears twice",
    r"put(?:s|ting)? off": "defer, deferred",
    r"kin|sisters?": "related functions, the other methods",
    r"lie(?:s)? apart": "do not overlap, the distance between",
    r"of no elements": "of an empty array",
    r"one of none": "0 dimensions",
    r"stands? on (?:it|one|them|another|any)": "has it as its upstream, is stacked on",
}

# What is checked: files and folders.
CLEAN = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    "examples",
    "bench",
    "cmake",
    "tools",
    "include/usmx",
    "src",
    "kernels",
    "python",
    "tests/cpp",
    "tests/fuzz",
    "tests/lab",
    "tests/consume",
    "tests/tools",
    "tests/python",
)
# What is not checked yet.
LATER: tuple[str, ...] = ()
# (file, text in the line): the reason.
ALLOWED = {
    ("tests/python/protocols/test_protocol_dictionary.py", '"somebody": "else"'): "a key",
    ("tests/tools/test_check_layers.py", "somebody/usmx"): "a path",
}
SUFFIXES = {".md", ".py", ".pyi", ".cpp", ".hpp", ".h", ".txt", ".cmake", ".toml"}
# They quote the words.
THEMSELVES = {"tools/check_words.py", "tests/tools/test_check_words.py"}

PATTERNS = {
    re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE): instead for words, instead in WORDS.items()
}


def is_below(path: PurePosixPath, places: tuple[str, ...]) -> bool:
    """Whether a file is one of the places or in one of them."""
    return any(path.is_relative_to(place) for place in places)


def findings(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, its text, the word, and what to write instead."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in PATTERNS.items():
            for match in pattern.finditer(line):
                yield number, line, match[0].strip(), instead


def check_tree(root: Path, files: list[str]) -> list[str]:
    """Messages for all clean files, and for exceptions that nothing needs."""
    messages = []
    used = set()
    for name in sorted(files):
        path = PurePosixPath(name)
        if not is_below(path, CLEAN) or is_below(path, LATER) or name in THEMSELVES:
            continue
        for number, line, word, instead in findings((root / name).read_text(encoding="utf-8")):
            exceptions = {key for key in ALLOWED if key[0] == name and key[1] in line}
            used |= exceptions
            if not exceptions:
                messages.append(f"{name}:{number}: '{word}'; write: {instead}")
    messages += [
        f"{name}: the exception for '{text}' is not needed any more"
        for name, text in sorted(set(ALLOWED) - used)
        if name in files
    ]
    return messages


def count_later(root: Path, files: list[str]) -> list[str]:
    """How many words there are in the places that are not checked yet."""
    lines = []
    for place in LATER:
        count = sum(
            len(list(findings((root / name).read_text(encoding="utf-8"))))
            for name in files
            if PurePosixPath(name).is_relative_to(place)
        )
        lines.append(f"{place}: {count}")
    return lines


def main() -> int:
    """Check the files that git knows."""
    files = [name for name in own_files() if PurePosixPath(name).suffix in SUFFIXES]
    if "--later" in sys.argv[1:]:
        print(*count_later(ROOT, files), sep="\n")
        return 0
    messages = check_tree(ROOT, files)
    print(*messages, sep="\n", end="\n" if messages else "")
    print(f"words: {len(messages)} to replace")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
