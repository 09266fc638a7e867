"""Which page of the site shows a file of the repository, and links that lead there from outside."""
# SPDX-License-Identifier: Apache-2.0

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

#: Files of the repository that are pages, by the names of those.
ALSO = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"\]\(([^)\s]+)\)")


def page_for(path: str) -> str | None:
    """The page of the site for a file or folder of the repository."""
    name = PurePosixPath(path)
    if path in ALSO:
        return ALSO[path]
    if name.parts[0] == "docs":
        return "/".join(name.parts[1:])
    if name.parts[0] == "examples" and len(name.parts) > 1:
        return f"examples/{name.parts[1]}.md"
    if name.parent == PurePosixPath("include/usmx"):
        return f"reference/cpp/{name.name}.md"
    return None


def prose(text: str) -> Iterable[tuple[bool, str]]:
    """The lines of a page, and whether they are outside of code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            yield False, line
            if mark and mark[1].startswith(fence):
                fence = ""
        else:
            yield not mark, line
            fence = mark[1] if mark else ""


def from_outside(text: str, site: str) -> str:
    """The README as it is shown where the repository is not: its links lead to the site."""

    def to_site(link: re.Match[str]) -> str:
        target, mark, anchor = link[1].partition("#")
        if not target or "://" in target:
            return link[0]
        if target.startswith("docs/images/"):  # Sphinx has all pictures in one folder
            return f"]({site}_images/{PurePosixPath(target).name})"
        page = page_for(target)
        if page is None:
            raise ValueError(f"README.md: no page of the site shows {target}")
        return f"]({site}{page.removesuffix('.md')}.html{mark}{anchor})"

    return "".join(LINK.sub(to_site, line) if is_prose else line for is_prose, line in prose(text))
