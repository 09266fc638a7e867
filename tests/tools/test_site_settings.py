"""What docs/conf.py adds to each page that Sphinx makes."""
# SPDX-License-Identifier: Apache-2.0

import importlib.util
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


def test_files_for_readers_that_are_programs_are_next_to_the_sources(conf: ModuleType) -> None:
    config = SimpleNamespace()
    conf.copy_markdown(SimpleNamespace(srcdir="build/site/source"), config)
    assert config.html_extra_path == ["build/site/extra"]
