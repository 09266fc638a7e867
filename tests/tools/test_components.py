"""What is said of the software of others comes from one list."""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import components  # noqa: E402


def test_the_notices_are_those_of_the_list() -> None:
    text = (ROOT / "THIRD-PARTY-NOTICES.txt").read_text(encoding="utf-8")
    assert text == components.notices(), "run `make notices`"
    assert {f.stem for f in (ROOT / "licenses").glob("*.txt")} == {
        row["name"] for row in components.components()
    }


def headers(folder: Path) -> Path:
    """Headers with the macros of versions, as the projects have them."""
    for name, text in (
        ("fmt/base.h", "#define FMT_VERSION 120200\n"),
        (
            "nanobind/nanobind.h",
            "#define NB_VERSION_MAJOR 3\n#define NB_VERSION_MINOR 1\n#define NB_VERSION_PATCH 0\n",
        ),
        (
            "tsl/robin_growth_policy.h",
            "#define TSL_RH_VERSION_MAJOR 1\n// words\n#define TSL_RH_VERSION_MINOR 4\n"
            "// words\n#define TSL_RH_VERSION_PATCH 2\n",
        ),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_versions_are_those_of_the_headers(tmp_path: Path) -> None:
    made = components.sbom([tmp_path / "nothing", headers(tmp_path)])
    assert {part["name"]: part["version"] for part in made["components"]} == {
        "fmt": "12.2.0",
        "nanobind": "3.1.0",
        "robin-map": "1.4.2",
    }
    references = {part["bom-ref"] for part in made["components"]}
    assert set(made["dependencies"][0]["dependsOn"]) == references
    assert all(
        re.fullmatch(r"[\w.+-]+", p["licenses"][0]["expression"]) for p in made["components"]
    )


def test_a_header_that_is_missing_or_says_no_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"fmt/base.h is in none of"):
        components.sbom([tmp_path])
    (headers(tmp_path) / "fmt/base.h").write_text("nothing")
    with pytest.raises(SystemExit, match=r"base.h: says no version"):
        components.sbom([tmp_path])
