"""The word check finds each word that it is there for, and none in the files that are clean."""
# SPDX-License-Identifier: Apache-2.0

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_words  # noqa: E402


def checked(tmp_path: Path, name: str, text: str) -> list[str]:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    return check_words.check_tree(tmp_path, [name])


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("// Nobody waits here.", "Nobody"),
        ("memory of somebody else", "somebody"),
        ("whoever allocated them", "whoever"),
        ("whatever it holds", "whatever"),
        ("anybody may call it", "anybody"),
        ("gapless memory", "gapless"),
        ("an array without gaps", "without gaps"),
        ("the chunk beside it", "beside"),
        ("numbers of the surroundings", "surroundings"),
        ("memory that was lent", "lent"),
        ("so that it can be had again", "be had"),
        ("each library has its turn", "its turn"),
        ("threads take turns", "take turns"),
        ("## Running totals", "Running totals"),
        ("'9x' is no name", "is no"),
        ("strides: must hold one stride", "must hold"),
        ("a pool stands on one", "stands on one"),
    ],
)
def test_a_word_is_found_in_a_clean_file(tmp_path: Path, line: str, word: str) -> None:
    (message,) = checked(tmp_path, "src/memory/memory.cpp", f"int x;\n{line}\n")
    assert message.startswith(f"src/memory/memory.cpp:2: '{word}'; write: ")


@pytest.mark.parametrize(
    "line",
    [
        "There is no SYCL device, and there are no drivers.",
        "It is no longer used, and is no more than a comment.",
        "`usmx::end_beside_other_threads()` is a public name.",
        "The fixture gives each kind in turn and turns bytes into text.",
        "besides, a block is 'silent'",
    ],
)
def test_standard_words_are_left_alone(tmp_path: Path, line: str) -> None:
    assert checked(tmp_path, "docs/memory.md", line + "\n") == []


def test_places_that_come_later_are_counted_and_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_words, "LATER", ("python/usmx",))
    assert checked(tmp_path, "python/usmx/cli.py", "# nobody\n") == []
    counts = check_words.count_later(tmp_path, ["python/usmx/cli.py"])
    assert counts == ["python/usmx: 1"]


def test_an_exception_holds_for_its_line_alone_and_only_as_long_as_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_words, "ALLOWED", {("docs/a.md", "the word 'lent'"): "a quotation"})
    assert checked(tmp_path, "docs/a.md", "the word 'lent' stands here\n") == []
    (message,) = checked(tmp_path, "docs/a.md", "the word 'lent'\nis lent\n")
    assert message.startswith("docs/a.md:2: 'lent'")
    (message,) = checked(tmp_path, "docs/a.md", "another word\n")
    assert "not needed any more" in message


def test_every_checked_place_exists() -> None:
    for place in (*check_words.CLEAN, *check_words.LATER):
        assert (ROOT / place).exists(), place
