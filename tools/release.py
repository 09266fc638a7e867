"""Prepares a version and tags it: one number in all places, and its notes from the changelog.

``python tools/release.py prepare 0.2.0`` writes the number into include/usmx/version.hpp and
CITATION.cff, and gives what CHANGELOG.md has under "Unreleased" the number and the day. ``notes
0.2.0`` prints the notes of a version. ``tag`` refuses where the places disagree or something is not
committed, and makes the tag.
"""
# SPDX-License-Identifier: Apache-2.0

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "include/usmx/version.hpp"
CITATION = "CITATION.cff"
CHANGES = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"


def versions(changes: str) -> list[tuple[str, str]]:
    """The versions of the changelog, newest first, each with its day."""
    return re.findall(r"(?m)^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", changes)


def notes(changes: str, version: str) -> str:
    """What the changelog says of a version."""
    found = re.search(rf"(?ms)^## \[{re.escape(version)}\] - \S+\n(.*?)(?=^## \[|\Z)", changes)
    if found is None:
        listed = ", ".join(number for number, _ in versions(changes)) or "none"
        raise SystemExit(f"{CHANGES} has no version {version}; it has {listed}")
    return found[1].strip() + "\n"


def prepared(version: str, day: str, texts: dict[str, str]) -> dict[str, str]:
    """The files with another version. What was already prepared keeps its day."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"the version is {version!r}; expected major.minor.patch, as in 0.2.0")
    header, citation, changes = (texts[name] for name in (HEADER, CITATION, CHANGES))
    parts = zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True)
    for name, number in parts:
        header = replaced(header, rf"(?m)(USMX_VERSION_{name}) \d+$", rf"\1 {number}", HEADER)
    header = replaced(header, r'(version =) "[0-9.]+"', rf'\1 "{version}"', HEADER)
    dated = dict(versions(changes))
    if version not in dated:
        if UNRELEASED not in changes:
            raise SystemExit(f"{CHANGES} has no line {UNRELEASED.strip()!r}")
        changes = changes.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n", 1)
        dated[version] = day
    citation = replaced(citation, r"(?m)^(version:) .*$", rf"\1 {version}", CITATION)
    citation = re.sub(r"(?m)^date-released:.*\n", "", citation)
    citation = replaced(
        citation, r"(?m)^(version: .*\n)", rf"\g<1>date-released: {dated[version]}\n", CITATION
    )
    return {HEADER: header, CITATION: citation, CHANGES: changes}


def replaced(text: str, pattern: str, by: str, name: str) -> str:
    """With the one place of a pattern replaced."""
    text, count = re.subn(pattern, by, text)
    if count != 1:
        raise SystemExit(f"{name}: {pattern!r} is there {count} times; expected once")
    return text


def version_of(texts: dict[str, str]) -> str:
    """The version of the header, if the other places have the same."""
    numbers = re.findall(r"USMX_VERSION_\w+ (\d+)", texts[HEADER])
    said = {
        HEADER: re.findall(r'version = "([0-9.]+)"', texts[HEADER])[0],
        f"{HEADER}, macros": ".".join(numbers),
        CITATION: re.findall(r"(?m)^version: (.*)$", texts[CITATION])[0],
    }
    known = versions(texts[CHANGES])
    if known:
        said[CHANGES] = known[0][0]
    if len(set(said.values())) != 1:
        raise SystemExit("; ".join(f"{place} has {number}" for place, number in said.items()))
    return said[HEADER]


def read() -> dict[str, str]:
    """The files that have the version."""
    return {n: (ROOT / n).read_text(encoding="utf-8") for n in (HEADER, CITATION, CHANGES)}


def git(*words: str, given: str | None = None) -> str:
    """What a command of git prints."""
    done = subprocess.run(
        ["git", *words], cwd=ROOT, input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def tag() -> str:
    """The tag of the version that is prepared, with its notes."""
    texts = read()
    version = version_of(texts)
    text = notes(texts[CHANGES], version)
    if changed := git("status", "--porcelain"):
        raise SystemExit(f"not committed: {changed}")
    name = f"v{version}"
    # Headings of the notes begin with the sign that git takes for a comment.
    git("tag", "-a", name, "--cleanup=verbatim", "-F", "-", given=f"usmx {version}\n\n{text}")
    return name


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", version]:
            for name, text in prepared(version, str(datetime.date.today()), read()).items():
                (ROOT / name).write_text(text, encoding="utf-8")
            print(
                f"{version_of(read())} is prepared: commit it, then `python tools/release.py tag`"
            )
        case ["notes", version]:
            print(notes(read()[CHANGES], version), end="")
        case ["tag"]:
            print(
                f"{tag()} is made: `git push origin` it, and `make wheels` makes what is uploaded"
            )
        case _:
            raise SystemExit(__doc__)
