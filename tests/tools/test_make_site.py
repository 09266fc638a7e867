"""What Sphinx reads is made of the repository's own pages; links lead to pages of the site."""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import make_site  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # It is written a second time into the same folder: what is not a page any more goes away.
    old = folder / "source" / "old.md"
    old.parent.mkdir()
    old.write_text("# Old\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        # `make docs` imports all modules, for which it has the libraries that some of them need.
        patch.setattr(make_site.python_reference, "MODULES", ("memory",))
        make_site.write(folder)
    return folder


def test_each_page_of_docs_is_a_page_and_old_ones_are_gone(site: Path) -> None:
    pages = {p.relative_to(site / "source").as_posix() for p in (site / "source").rglob("*.md")}
    own = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert {page for page in own if not page.startswith("upstream/")} <= pages
    assert {"changes.md", "examples/terrain.md", "reference/cpp/pool.hpp.md"} <= pages
    assert "old.md" not in pages


def test_each_page_is_there_as_markdown_without_directives(site: Path) -> None:
    sources = {p.relative_to(site / "source") for p in (site / "source").rglob("*.md")}
    extra = {p.relative_to(site / "extra") for p in (site / "extra").rglob("*.md")}
    assert sources == extra
    for page in extra:
        text = (site / "extra" / page).read_text(encoding="utf-8")
        assert not re.search(r"\{toctree\}|^:{3}|\{py:", text, re.MULTILINE), page


def test_llms_txt_lists_pages_that_are_there_and_all_that_have_a_place(site: Path) -> None:
    text = (site / "extra" / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# usmx\n\n> Zero-copy exchange of SYCL Unified Shared Memory")
    listed = re.findall(r"^- \[.+\]\((\S+?)\)", text, re.MULTILINE)
    extra = {p.relative_to(site / "extra").as_posix() for p in (site / "extra").rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == extra - {"index.md"}


def test_links_to_files_lead_to_their_pages() -> None:
    text = (
        "[a](../examples/cpp/squares.cpp) [b](memory.md#pools) [c](../include/usmx/pool.hpp)\n"
        "[d](https://example.org) [e](#here)\n"
        "```python\nkernel[n](../examples/cpp)\n```\n"
    )
    assert make_site.with_links(text, "docs/arrays.md", "arrays.md") == (
        "[a](examples/cpp.md) [b](memory.md#pools) [c](reference/cpp/pool.hpp.md)\n"
        "[d](https://example.org) [e](#here)\n"
        "```python\nkernel[n](../examples/cpp)\n```\n"
    )
    text = make_site.with_links(
        "[x](../../docs/memory.md)", "examples/c/README.md", "examples/c.md"
    )
    assert text == "[x](../memory.md)"


def test_a_link_to_a_file_that_no_page_shows_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"docs/a\.md: no page of the site shows src/core"):
        make_site.with_links("[x](../src/core)", "docs/a.md", "a.md")


def test_a_page_that_the_order_names_and_that_is_missing_is_an_error() -> None:
    pages = {
        "index.md": "# a\n\n```{toctree}\n:caption: Start\n\nthere\nmissing\n```\n",
        "there.md": "",
    }
    with pytest.raises(ValueError, match="no page 'missing'"):
        make_site.listed("index.md", pages)
    pages["missing.md"] = ""
    assert make_site.listed("index.md", pages) == [("Start", ["there.md", "missing.md"])]


def test_the_page_of_the_command_has_the_options_of_each_command() -> None:
    page = make_site.command_line()
    for name, option in (("doctor", "--json"), ("cache", "--warm"), ("bench", "--seconds")):
        part = page.partition(f"## `usmx {name}`")[2].partition("## ")[0]
        assert f"usage: usmx {name}" in part
        assert option in part
