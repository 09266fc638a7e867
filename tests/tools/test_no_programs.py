"""The tree holds sources: no library and no program stands in it (SECURITY.md says so)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import own_files  # noqa: E402

#: How files of programs begin: ELF, Windows, archives of objects, zip (wheels, jars), Java, macOS.
BEGINNINGS = (b"\x7fELF", b"MZ", b"!<arch>", b"PK\3\4", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe")


def programs(root: Path, names: list[str]) -> list[str]:
    return [name for name in names if (root / name).read_bytes().startswith(BEGINNINGS)]


def test_no_file_is_a_program():
    assert programs(ROOT, own_files.own_files()) == []


def test_a_library_would_be_found(tmp_path):
    (tmp_path / "libx.so").write_bytes(b"\x7fELF\2\1\1")
    (tmp_path / "x.py").write_text("x = 1\n")
    assert programs(tmp_path, ["libx.so", "x.py"]) == ["libx.so"]
