"""The README outside of the repository: each link and picture is a page or a file of the site."""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import site_pages  # noqa: E402
import tag_wheel  # noqa: E402

SITE = "https://example.org/en/stable/"


def test_links_lead_to_pages_of_the_site() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = site_pages.from_outside(readme, SITE)
    prose = "".join(line for is_prose, line in site_pages.prose(text) if is_prose)
    found = site_pages.LINK.findall(prose)
    assert len(found) > 20
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    pages |= set(site_pages.ALSO.values())
    pages |= {f"examples/{folder.name}.md" for folder in (ROOT / "examples").iterdir()}
    for target in found:
        assert target.startswith("https://"), target
        if target.startswith(SITE):
            path = target.removeprefix(SITE).partition("#")[0]
            is_picture = path.startswith("_images/")
            source = ROOT / "docs" / "images" / Path(path).name
            assert source.exists() if is_picture else path.replace(".html", ".md") in pages, target


def test_code_and_other_links_stay() -> None:
    text = "[a](docs/arrays.md#views) [b](https://x.org)\n```py\nf[1](docs)\n```\n"
    assert site_pages.from_outside(text, SITE) == (
        f"[a]({SITE}arrays.html#views) [b](https://x.org)\n```py\nf[1](docs)\n```\n"
    )


def test_a_file_that_no_page_shows_is_an_error() -> None:
    with pytest.raises(ValueError, match=re.escape("no page of the site shows Makefile")):
        site_pages.from_outside("[a](Makefile)", SITE)


def test_metadata_of_a_wheel_says_where_the_site_is() -> None:
    head = f"Name: usmx\nProject-URL: Changes, {SITE}changes.html"
    made = tag_wheel.with_links(f"{head}\n\n[a](CHANGELOG.md)\n")
    assert made == f"{head}\n\n[a]({SITE}changes.html)\n"
