"""Each page of docs/decisions says when it would change, and the list of pages is complete."""
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
PAGES = sorted(page for page in DECISIONS.glob("*.md") if page.name != "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_when_it_would_change(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("**Change it when**") == 1


def test_the_list_names_every_page() -> None:
    rows = (DECISIONS / "README.md").read_text(encoding="utf-8").splitlines()
    listed = [row.split("(")[1].split(")")[0] for row in rows if row.startswith("| [")]
    assert listed == [page.name for page in PAGES]
