"""Writes what Sphinx makes the site of: ``python tools/make_site.py FOLDER``.

``FOLDER/source`` has the pages of docs/ and those that are built: the references, which are read
from the package and the headers, the examples, the changes. Links to files of the repository lead
to these pages. ``FOLDER/extra`` has each page as plain Markdown and ``llms.txt``, which lists them
for readers that are programs. The order of all is that of docs/index.md.
"""
# SPDX-License-Identifier: Apache-2.0

import contextlib
import io
import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

import cpp_reference
import python_reference
from own_files import ROOT
from site_pages import ALSO, LINK, page_for, prose

#: The beginning of the page of an example that has no README.
WITHOUT_README = {
    "arrow_pool": "# A memory pool for Arrow\n\nWhat Arrow computes is USM.",
    "cpp": "# A program in C++\n\nArrays and a kernel without Python, built by g++.",
    "kernels": "# Kernels in Python\n\nSmall kernels, each compared with NumPy.",
    "numba_cuda": "# Exercises for numba.cuda\n\nA tutorial's kernels, which run unchanged.",
    "overlap": "# Copies while the device computes\n\nThe host prepares the next piece meanwhile.",
}
#: What a page of an example shows, and as what.
LANGUAGES = {
    ".py": "python",
    ".cpp": "cpp",
    ".c": "c",
    ".pyx": "cython",
    ".toml": "toml",
    ".txt": "cmake",
}
#: Pages that only the list of their folder links to. In the navigation, which Furo writes into each
#: page, they would be a third of it and of the time that building takes.
UNLISTED = re.compile(r"decisions/\d.*")
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```\n?", re.DOTALL)


def with_links(text: str, file: str, page: str) -> str:
    """A file of the repository as a page: links to other files lead to the pages of those."""

    def to_page(link: re.Match[str]) -> str:
        target, mark, anchor = link[1].partition("#")
        path = normpath(str(PurePosixPath(file).parent / target))
        if not target or "://" in target or not (ROOT / path).exists():
            return link[0]
        found = page_for(path)
        if found is None:
            raise ValueError(f"{file}: no page of the site shows {path}")
        return f"]({relpath(found, PurePosixPath(page).parent)}{mark}{anchor})"

    return "".join(LINK.sub(to_page, line) if is_prose else line for is_prose, line in prose(text))


def example(folder: Path) -> str:
    """A page with the files of an example."""
    readme = folder / "README.md"
    parts = []
    if readme.exists():
        parts.append(readme.read_text(encoding="utf-8").strip())
    else:
        parts.append(WITHOUT_README.get(folder.name, f"# {folder.name}"))
    for file in sorted(folder.rglob("*")):
        language = LANGUAGES.get(file.suffix)
        if language and file.is_file() and "build" not in file.parts:
            name = file.relative_to(ROOT)
            text = file.read_text(encoding="utf-8").strip()
            parts.append(f"## {name}\n\n````{language}\n{text}\n````")
    return "\n\n".join(parts) + "\n"


def said_by(*arguments: str) -> str:
    """What the command prints."""
    from usmx import cli

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        cli.main(arguments)
    return said.getvalue().strip()


def command_line() -> str:
    """A page with what the command and each of its own commands say of themselves."""
    whole = said_by("--help")
    names = re.search(r"\{([\w,]+)\}", whole)
    assert names is not None
    parts = ["# The command usmx", f"`usmx --help` says:\n\n```text\n{whole}\n```"]
    for name in names[1].split(","):
        parts.append(f"## `usmx {name}`\n\n```text\n{said_by(name, '--help')}\n```")
    return "\n\n".join(parts) + "\n"


def toctree(pages: list[str]) -> str:
    """A list of pages of one folder for the navigation."""
    names = [PurePosixPath(page).name.removesuffix(".md") for page in pages]
    return "\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""])


def sources() -> dict[str, str]:
    """All pages, by their paths in the site."""
    made = {}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith("docs/upstream/"):
            page = name.removeprefix("docs/")
            made[page] = with_links(file.read_text(encoding="utf-8"), name, page)
    for name, page in ALSO.items():
        made[page] = with_links((ROOT / name).read_text(encoding="utf-8"), name, page)
    for folder in sorted((ROOT / "examples").iterdir()):
        if folder.is_dir():
            page = f"examples/{folder.name}.md"
            made[page] = with_links(example(folder), f"examples/{folder.name}/README.md", page)
    examples = [page for page in made if page.startswith("examples/")]
    rows = [
        f"| [{title(made[p])}]({PurePosixPath(p).name}) | {summary(made[p])} |" for p in examples
    ]
    made["examples/index.md"] = "\n".join(
        ["# Examples", "", "| example | shows |", "|---|---|", *rows, ""]
    )
    made["examples/index.md"] += toctree(examples)
    for name, text in cpp_reference.pages(ROOT / "include" / "usmx").items():
        made[f"reference/cpp/{name}.md"] = text
    for name, text in python_reference.pages().items():
        made[f"reference/python/{name}.md"] = text
    made["reference/command.md"] = command_line()
    return made


def entries(toctree: str) -> tuple[str, list[str]]:
    """The caption of a toctree, and its pages."""
    caption = re.search(r"^:caption: (.*)$", toctree, re.MULTILINE)
    lines = [line.strip() for line in toctree.splitlines()]
    return caption[1] if caption else "", [x for x in lines if x and not x.startswith(":")]


def listed(page: str, pages: dict[str, str]) -> list[tuple[str, list[str]]]:
    """What the toctrees of a page list: captions, and paths of pages."""
    folder = PurePosixPath(page).parent
    found = []
    for toctree in TOCTREE.findall(pages[page]):
        caption, names = entries(toctree)
        paths = []
        for name in names:
            path = normpath(str(folder / name))
            pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*") + r"\.md")
            matched = [p for p in sorted(pages) if pattern.fullmatch(p)]
            if not matched:
                raise ValueError(f"{page}: no page '{name}'")
            paths += [p for p in matched if p not in paths]
        found.append((caption, paths))
    return found


def title(text: str) -> str:
    """The first heading of a page."""
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if heading is None:
        raise ValueError(f"a page without a title: {text[:60]!r}")
    return heading[1].replace("`", "")


def without_code(text: str) -> str:
    """A page without its blocks of code and directives."""
    kept = "".join(line for is_prose, line in prose(text) if is_prose)
    return re.sub(r"^:{3,}.*\n", "", kept, flags=re.MULTILINE)


def summary(text: str) -> str:
    """The first sentence of a page, as plain text."""
    for block in without_code(text).split("\n\n"):
        if re.match(r"(?:[A-Za-z`*\[]|\\_)", block):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
            return re.split(r"(?<=[.:?])\s", plain, maxsplit=1)[0].replace("**", "").rstrip(":")
    return ""


def plain(page: str, pages: dict[str, str]) -> str:
    """A page as Markdown without directives of Sphinx."""
    trees = iter(listed(page, pages))
    folder = PurePosixPath(page).parent

    def links(_: re.Match[str]) -> str:
        caption, paths = next(trees)
        lines = [f"## {caption}", ""] if caption else []
        lines += [f"- [{title(pages[p])}]({relpath(p, folder)})" for p in paths]
        return "\n".join(lines) + "\n"

    text = TOCTREE.sub(links, pages[page])
    text = re.sub(r"\{py:\w+\}(`[^`]*`)", r"\1", text)
    text = re.sub(r"^:{3,}\{py:(?:current)?module\}.*\n:{3,}\n+", "", text, flags=re.MULTILINE)
    text = re.sub(r"^::::\{py:\w+\} (.*)$", r"## `\1`", text, flags=re.MULTILINE)
    text = re.sub(r"^:::\{py:\w+\} (.*)$", r"### `\1`", text, flags=re.MULTILINE)
    text = re.sub(r"^:(?:staticmethod|classmethod|no-index):\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^:{3,}\n", "", text, flags=re.MULTILINE)


def llms(pages: dict[str, str]) -> str:
    """``llms.txt``: the pages by topic, each with its first sentence."""
    lines = [f"# {title(pages['index.md'])}", "", f"> {summary(pages['index.md'])}", ""]
    topics = listed("index.md", pages)
    trees = [tree for _, paths in topics for path in paths for tree in listed(path, pages)]
    within = [page for _, paths in trees for page in paths]
    within += [page for page in pages if UNLISTED.fullmatch(page)]
    for caption, paths in [*topics, ("Optional", within)]:
        lines += [f"## {caption}", ""]
        for path in paths:
            said = summary(pages[path])
            lines.append(f"- [{title(pages[path])}]({path})" + (f": {said}" if said else ""))
        lines.append("")
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write ``source`` and ``extra`` into the folder. Files that did not change are left alone."""
    pages = sources()
    wanted = {Path("extra", "llms.txt"): llms(pages)}
    for page, text in pages.items():
        orphan = "---\norphan: true\n---\n\n" if UNLISTED.fullmatch(page) else ""
        wanted[Path("source", page)] = orphan + text
        wanted[Path("extra", page)] = plain(page, pages)
    for image in (ROOT / "docs" / "images").iterdir():
        for part in ("source", "extra"):
            to = folder / part / "images" / image.name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image, to)
            wanted[Path(part, "images", image.name)] = ""
    for path, text in wanted.items():
        to = folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if "images" not in path.parts and not (to.exists() and to.read_text("utf-8") == text):
            to.write_text(text, encoding="utf-8")
    for old in [p for p in folder.rglob("*") if p.is_file()]:
        if old.relative_to(folder) not in wanted:
            old.unlink()


def main(arguments: list[str]) -> int:
    """Write the folder that the argument names."""
    match arguments:
        case [folder]:
            write(Path(folder))
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
