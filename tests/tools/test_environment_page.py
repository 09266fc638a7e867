"""The page of environment variables has those that the sources read, and no others."""
# SPDX-License-Identifier: Apache-2.0

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "environment.md"
# Names with this beginning that are macros of kernels, not variables: the library reads or
# writes as text.
MACROS = {"USMX_CALLED", "USMX_KERNEL"}
READS = re.compile(
    r"""(?:getenv|variable|is_set)\(\s*["']([A-Z_]+)["']|environ(?:\.get\(|\[)\s*["']([A-Z_]+)["']"""
)


def sources() -> str:
    files = [
        path
        for folder in ("src", "include", "python")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".cpp", ".hpp", ".h", ".py", ".pth"}
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def rows() -> list[str]:
    return re.findall(r"^\| (`.*?`) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_each_variable_of_usmx_once() -> None:
    found = set(re.findall(r"""["'](USMX_[A-Z_]+)["']""", sources())) - MACROS
    listed = re.findall(r"`(USMX_\w+)`", " ".join(rows()))
    assert sorted(found) == listed


def test_the_page_has_each_variable_of_others_that_is_read() -> None:
    read = {first or second for first, second in READS.findall(sources())}
    listed = set(re.findall(r"`(\w+)`", " ".join(rows())))
    assert len(read) > 10
    assert read - listed == set()
