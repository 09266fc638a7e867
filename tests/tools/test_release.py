"""One version in all places, notes for each, and a tag that only a prepared checkout gets."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import release  # noqa: E402

HEADER = """\
#define USMX_VERSION_MAJOR 0
#define USMX_VERSION_MINOR 1
#define USMX_VERSION_PATCH 0
inline constexpr const char* version = "0.1.0";
"""
CITATION = "cff-version: 1.2.0\nversion: 0.1.0\nlicense: Apache-2.0\n"
CHANGES = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n"
TEXTS = {release.HEADER: HEADER, release.CITATION: CITATION, release.CHANGES: CHANGES}


def test_all_places_of_this_checkout_have_one_version() -> None:
    assert release.version_of(release.read())


def test_a_version_is_written_into_all_places() -> None:
    texts = release.prepared("0.2.0", "2026-11-28", TEXTS)
    assert release.version_of(texts) == "0.2.0"
    assert "\nversion: 0.2.0\ndate-released: 2026-11-28\n" in texts[release.CITATION]
    assert release.notes(texts[release.CHANGES], "0.2.0") == "### Added\n\n- A thing.\n"
    # What comes next has its place, and a second time changes nothing.
    assert "## [Unreleased]\n\n## [0.2.0]" in texts[release.CHANGES]
    assert release.prepared("0.2.0", "2026-12-24", texts) == texts


def test_notes_are_those_of_one_version() -> None:
    texts = release.prepared("0.2.0", "2026-11-28", TEXTS)
    texts[release.CHANGES] = texts[release.CHANGES].replace(
        "## [Unreleased]\n", "## [Unreleased]\n\n- Later.\n"
    )
    texts = release.prepared("0.3.0", "2026-12-24", texts)
    assert release.notes(texts[release.CHANGES], "0.3.0") == "- Later.\n"
    assert "Later" not in release.notes(texts[release.CHANGES], "0.2.0")
    with pytest.raises(SystemExit, match=r"has no version 0\.4\.0; it has 0\.3\.0, 0\.2\.0"):
        release.notes(texts[release.CHANGES], "0.4.0")


@pytest.mark.parametrize("name", TEXTS)
def test_places_that_disagree_are_named(name: str) -> None:
    texts = release.prepared("0.2.0", "2026-11-28", TEXTS)
    texts[name] = texts[name].replace("0.2.0", "0.2.1")
    with pytest.raises(SystemExit, match=rf"{name} has 0\.2\.1"):
        release.version_of(texts)


def test_a_wrong_number_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"'0\.2'; expected major\.minor\.patch"):
        release.prepared("0.2", "2026-11-28", TEXTS)


def test_only_what_is_committed_is_tagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    for variable in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{variable}_NAME", "A. Tester")
        monkeypatch.setenv(f"GIT_{variable}_EMAIL", "tester@example.org")
    for name, text in release.prepared("0.2.0", "2026-11-28", TEXTS).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with pytest.raises(SystemExit, match="not committed"):
        release.tag()
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "all"], cwd=tmp_path, check=True)
    assert release.tag() == "v0.2.0"
    assert "usmx 0.2.0\n\n### Added\n\n- A thing." in release.git("cat-file", "-p", "v0.2.0")
    with pytest.raises(SystemExit, match="already exists"):
        release.tag()
