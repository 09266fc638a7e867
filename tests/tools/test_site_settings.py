"""What docs/conf.py adds to each page that Sphinx makes."""
# SPDX-License-Identifier: Apache-2.0

import importlib.util
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import usmx

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_settings", ROOT / "docs" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_that_of_the_package(conf: ModuleType) -> None:
    assert conf.release == usmx.__version__


def test_a_page_names_its_markdown_and_the_search_does_not(conf: ModuleType) -> None:
    page = {"body": "<p>text</p>"}
    conf.name_markdown(None, "reference/cpp/pool.hpp", "page.html", page, object())
    assert 'type="text/markdown" href="pool.hpp.md"' in page["metatags"]
    assert page["body"].startswith("<p>text</p>")
    assert '<a href="pool.hpp.md">' in page["body"]
    search: dict[str, str] = {}
    conf.name_markdown(None, "search", "search.html", search, None)
    assert search == {}


def test_what_is_moved_sideways_gets_the_keyboard(conf: ModuleType) -> None:
    page = {
        "body": '<pre>code</pre><div class="table-wrapper docutils"></div>',
        "furo_navigation_tree": '<p class="caption" role="heading">Start</p>',
    }
    conf.make_accessible(None, "start", "page.html", page, object())
    assert page["body"].count('tabindex="0"') == 2
    assert 'aria-level="2"' in page["furo_navigation_tree"]


def test_parameters_in_lines_are_a_list_and_cells_without_text_no_headings(
    conf: ModuleType,
) -> None:
    row = '<tr class="row-odd">{}</tr>\n'
    empty, named = '<th class="head"><p></p></th>\n', '<th class="head"><p>named</p></th>\n'
    one = '<em class="sig-param"><span class="pre">shape</span></em>,'
    signature = f"<dl>\n<dd>{one}</dd>\n<dd>{one}</dd>\n</dl>\n"
    description = "<dl>\n<dt>name</dt>\n<dd><p>text</p>\n</dd></dl>"
    page = {
        "body": f"{signature}<table><thead>\n{row.format(empty * 2)}</thead>\n</table>"
        f"<thead>\n{row.format(empty + named)}</thead>\n{description}"
    }
    conf.make_accessible(None, "page", "page.html", page, object())
    items = f"<li>{one}</li>\n" * 2
    cells = '<td class="head"></td>\n' + named
    assert page["body"] == (
        f'<ul class="in-lines">\n{items}</ul>\n<table></table>'
        f"<thead>\n{row.format(cells)}</thead>\n{description}"
    )


def test_the_bars_at_the_sides_have_names_and_the_search_a_heading(conf: ModuleType) -> None:
    (folder,) = conf.templates_path
    page = (ROOT / "docs" / folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<aside aria-label=") == page.count("'<aside class=") == 2
    search = (ROOT / "docs" / folder / "search.html").read_text(encoding="utf-8")
    assert search.count("<h1>") == 1


def test_files_for_readers_that_are_programs_are_next_to_the_sources(conf: ModuleType) -> None:
    config = SimpleNamespace()
    conf.copy_markdown(SimpleNamespace(srcdir="build/site/source"), config)
    assert config.html_extra_path == ["build/site/extra"]


def test_the_site_has_an_icon(conf: ModuleType) -> None:
    icon = ROOT / "docs" / conf.html_favicon
    assert icon.parent.name in conf.html_static_path
    assert ET.parse(icon).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def order(conf: ModuleType) -> str:
    return (ROOT / "docs" / conf.html_search_scorer).read_text(encoding="utf-8")


def test_the_order_of_the_search_has_each_number_that_the_search_reads(conf: ModuleType) -> None:
    found = re.findall(r"^  (\w+):", order(conf), re.MULTILINE)
    numbers = ["objNameMatch", "objPartialMatch", "objPrio", "objPrioDefault"]
    assert found == [*numbers, "title", "partialTitle", "term", "partialTerm", "score"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the order")
def test_the_search_lists_pages_for_users_first(conf: ModuleType) -> None:
    # What a title that has the word in it, a text that has it and a name that is it give.
    results = [
        ["decisions/0011-queue-order", "0011: Queue-ordered reuse", "", None, 7, "f", "title"],
        ["reference/python/pieces", "usmx.FileArray.histogram", "", None, 20, "f", "object"],
        ["reference/python/histograms", "usmx.histogram", "", None, 20, "f", "object"],
        ["changes", "Changelog", "", None, 7, "f", "text"],
        ["examples/cupy", "cupy", "", None, 5, "f", "text"],
        ["arrays", "Arrays", "", None, 5, "f", "text"],
        ["start", "Ten minutes", "", None, 5, "f", "text"],
    ]
    program = f"{order(conf)}\nconsole.log(JSON.stringify({json.dumps(results)}.map(Scorer.score)))"
    run = subprocess.run(
        ["node", "-"], input=program, capture_output=True, text=True, check=True, timeout=60
    )
    scores = dict(zip([one[1] for one in results], json.loads(run.stdout), strict=True))
    assert sorted(scores, key=lambda title: -scores[title]) == [
        "usmx.histogram",
        "usmx.FileArray.histogram",
        "Ten minutes",
        "Arrays",
        "cupy",
        "0011: Queue-ordered reuse",
        "Changelog",
    ]
