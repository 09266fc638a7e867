"""How Sphinx makes the site; `make docs` writes its sources with tools/make_site.py before."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

VERSION = Path(__file__).parents[1] / "include" / "usmx" / "version.hpp"

project = "usmx"
author = "The usmx authors"
project_copyright = "The usmx authors"
release = re.findall(r'version = "([0-9.]+)"', VERSION.read_text(encoding="utf-8"))[0]
version = release
language = "en"

extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Text is shown as it is written: quotation marks and dashes may be code.
smartquotes = False
python_maximum_signature_line_length = 80
# `>>>` and what an example prints are not copied.
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"usmx {release}"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_search_scorer = str(Path(__file__).with_name("search_order.js"))


def copy_markdown(app: Sphinx, config: Config) -> None:
    """Pages as Markdown and llms.txt, which tools/make_site.py has written next to the sources."""
    config.html_extra_path = [str(Path(app.srcdir).parent / "extra")]


def name_markdown(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Say in each page where it is as Markdown, in its head for programs and in its text."""
    if doctree is None:
        return
    name = page.rsplit("/", 1)[-1] + ".md"
    link = f'<link rel="alternate" type="text/markdown" href="{name}">'
    context["metatags"] = context.get("metatags", "") + link
    context["body"] += f'<p class="as-markdown"><a href="{name}">This page as Markdown</a></p>'


#: What readers without a mouse or a screen need and the theme does not write: code and tables that
#: are moved sideways get the keyboard, parameters in lines are a list, captions have a level, and a
#: cell without text is not a heading.
ACCESSIBLE = (
    (r"<pre>", r'<pre tabindex="0">'),
    (r'<div class="table-wrapper', r'<div tabindex="0" class="table-wrapper'),
    (r"<dl>\n((?:<dd>.*</dd>\n)+)</dl>", r'<ul class="in-lines">\n\1</ul>'),
    (r'<dd>(<em class="sig-param">.*)</dd>', r"<li>\1</li>"),
    (r"<thead>\n<tr[^>]*>(?:<th[^>]*><p></p></th>\n)+</tr>\n</thead>\n", r""),
    (r'<th class="head([^"]*)"><p></p></th>', r'<td class="head\1"></td>'),
    (r'class="caption" role="heading"', r'class="caption" role="heading" aria-level="2"'),
)


def make_accessible(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Apply `ACCESSIBLE` to the text of a page and to the navigation that Furo has made."""
    for part in ("body", "furo_navigation_tree"):
        for old, new in ACCESSIBLE:
            if part in context:
                context[part] = re.sub(old, new, context[part])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", copy_markdown)
    app.connect("html-page-context", name_markdown)
    app.connect("html-page-context", make_accessible, priority=900)
