"""Pages of the reference of C++: the public headers, with their comments and declarations.

Reads the headers as text, in the form in which this project writes them: a comment of the file,
``///`` or ``/** */`` before a declaration, ``///<`` or ``/**< */`` behind a member. Bodies, private
members and namespaces named ``detail`` are left out.
"""
# SPDX-License-Identifier: Apache-2.0

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TYPE = re.compile(
    r"^(?:template\s*<.*?>\s*(?:requires\s*\(.*?\)\s*)?)?(?:typedef\s+)?"
    r"(?:enum\s+class|enum\s+struct|class|struct|enum|union)\b",
    re.DOTALL,
)
NAMED_TYPE = re.compile(r"\b(?:enum\s+class|class|struct|enum|union)\s+(\w+)\s*(?:final\b|[{:;]|$)")
ACCESS = re.compile(r"(public|protected|private)\s*:(?!:)")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s+([\w:]+)\s*\{")
LINKAGE = re.compile(r'extern\s+"C"\s*\{')
#: A comment for the declaration before it.
BEHIND = re.compile(r"[ \t]*(///<[^\n]*|/\*\*<.*?\*/)", re.DOTALL)
#: Declarations that say nothing new: names that come later, specialisations, other names.
WITHOUT_ENTRY = re.compile(
    r"(?:class|struct|enum class) \w+;$|template <>|extern template|static_assert"
    r"|using\s+[\w:]+;|namespace \w+ ="
)
ROOT = Path(__file__).resolve().parents[1]
#: Header -> the file whose code shows how to use it, where none of tests/cpp/reference does.
EXAMPLES = {
    "exchange.h": "examples/exchange/window.c",
    "nanobind.hpp": "examples/extension/src/extension.cpp",
    "pybind11.hpp": "examples/pybind11/src/extension.cpp",
}
#: Namespaces of other libraries, in which a header specialises their templates.
FOREIGN = ("std", "sycl", "nanobind", "pybind11", "fmt")


@dataclass
class Entry:
    """Declarations under one comment."""

    doc: str = ""
    declarations: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    #: A comment that belongs to no declaration.
    is_prose: bool = False


@dataclass
class Header:
    """What a header says."""

    intro: str
    entries: list[Entry]


def end_of_comment(text: str, at: int) -> int:
    """The end of the comment that begins at ``at``."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    end = text.find("*/", at)
    return len(text) if end < 0 else end + 2


def end_of_quoted(text: str, at: int) -> int:
    """The end of the string or character that begins at ``at``."""
    end = at + 1
    while text[end] != text[at]:
        end += 2 if text[end] == "\\" else 1
    return end + 1


def code_from(text: str, at: int) -> Iterator[tuple[int, str]]:
    """The characters from ``at`` on that are neither in comments nor in strings."""
    while at < len(text):
        if text.startswith(("//", "/*"), at):
            at = end_of_comment(text, at)
        elif text[at] == '"' or (text[at] == "'" and not text[at - 1].isalnum()):
            at = end_of_quoted(text, at)
        else:
            yield at, text[at]
            at += 1


def end_of_block(text: str, at: int) -> int:
    """One past the ``}`` of the ``{`` at ``at``."""
    depth = 0
    for here, char in code_from(text, at):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return here + 1
    return len(text)


def declaration_at(text: str, at: int) -> tuple[int, int | None]:
    """The end of a declaration, and the ``{`` of its body or members if it has one.

    A brace that belongs to an initialiser, as in ``int x = {};`` or ``: x_{1}``, is not a body.
    """
    parentheses = 0
    body = None
    skip_to = at
    is_value = False
    for here, char in code_from(text, at):
        if here < skip_to:
            continue
        parentheses += (char in "([") - (char in ")]")
        if parentheses:
            continue
        if char == "=" and text[here + 1] != "=" and text[here - 1] not in "=<>!":
            is_value = not text[at:here].rstrip().endswith("operator")
        elif char == ";":
            return here + 1, body
        elif char == "{":
            skip_to = end_of_block(text, here)
            head = text[at:here].rstrip()
            if is_value or body is not None:
                continue
            is_type = TYPE.match(text[at:here].lstrip())
            initialises = re.search(r"[:,]\s*\w+$", head) and ")" in head and not is_type
            is_field = not is_type and ")" not in head
            if initialises or is_field:
                continue
            body = here
            if not is_type:
                return skip_to, body
    return len(text), body


def comment_text(comment: str) -> str:
    """A comment without its marks."""
    if comment.startswith("/*"):
        inner = re.sub(r"^/\*+<?", "", comment).removesuffix("*/")
        return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in inner.splitlines()).strip()
    return "\n".join(re.sub(r"^\s*//+<? ?", "", line) for line in comment.splitlines()).strip("\n")


def is_doc(comment: str) -> bool:
    """Whether a comment is for readers of the interface."""
    return comment.startswith(("///", "/**"))


def comment_at(text: str, at: int) -> int:
    """The end of the comment at ``at``, with the lines of ``//`` that follow at once."""
    end = end_of_comment(text, at)
    if text.startswith("/*", at):
        return end
    mark = "///" if text.startswith("///", at) else "//"
    while more := re.compile(rf"\n[ \t]*{mark}(?!/)").match(text, end):
        end = end_of_comment(text, more.end() - len(mark))
    return end


def dedented(text: str, column: int) -> str:
    """Lines after the first moved to the left by ``column``."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(re.sub(rf"^ {{0,{column}}}", "", line) for line in rest)])


def without_body(text: str, body: int | None) -> str:
    """A function's declaration: up to its body and what a constructor initialises."""
    if body is None:
        return text
    head = text[:body].rstrip()
    depth = 0
    for here, char in code_from(head, 0):
        depth += (char in "([") - (char in ")]")
        single = char == ":" and ":" not in (head[here - 1], head[here + 1 : here + 2])
        if single and depth == 0 and ")" in head[:here]:
            head = head[:here].rstrip()
            break
    return re.sub(r"\s*// NOLINT[^\n]*", "", head) + ";"


def members(text: str, is_public: bool) -> str:
    """What is between the braces of a class, without private members and bodies."""
    kept: list[str] = []
    at = 0
    shown = is_public
    label = ""
    blank = False
    while at < len(text):
        space = re.compile(r"\s*").match(text, at)
        assert space is not None
        blank = blank or space[0].count("\n") > 1
        at = space.end()
        if at == len(text):
            break
        column = at - text.rfind("\n", 0, at) - 1
        access = ACCESS.match(text, at)
        if access:
            shown, label = access[1] != "private", f" {access[1]}:"
            at = access.end()
            continue
        if text.startswith("#", at):
            at = end_of_comment("//" + text[at:], 0) + at - 2
            continue
        if text.startswith(("//", "/*"), at):
            end = comment_at(text, at)
            piece = dedented(text[at:end], column)
            if "NOLINT" in piece or "clang-format" in piece:
                piece = ""
        else:
            end, body = declaration_at(text, at)
            inner = text[at:end]
            if body is not None and TYPE.match(inner):
                piece = of_type(inner, body - at, column)
            else:
                piece = dedented(without_body(inner, None if body is None else body - at), column)
            behind = BEHIND.match(text, end)
            if behind:
                end = comment_at(text, behind.start(1))
                piece += dedented(text[behind.start() : end], column)
        if shown and piece:
            if label:
                kept += ["", label] if kept else [label]
            elif blank and kept:
                kept.append("")
            label = ""
            kept += ["  " + line if line else "" for line in piece.split("\n")]
            blank = False
        at = end
    return "\n".join(kept)


def of_type(text: str, body: int, column: int = 0) -> str:
    """A class or an enum, at that column of its file, with its public members."""
    head = text[:body].rstrip()
    kind = TYPE.match(text)
    assert kind is not None
    tail = text[end_of_block(text, body) :].strip()
    if "enum" in kind[0]:
        return dedented(text, column)
    inside = members(text[body + 1 : end_of_block(text, body) - 1], not kind[0].endswith("class"))
    return f"{dedented(head, column)} {{\n{inside}\n}}{' ' * bool(tail.strip(';'))}{tail or ';'}"


def name_of(declaration: str) -> str:
    """The name that a declaration gives."""
    is_type = TYPE.match(declaration)
    if is_type:
        named = NAMED_TYPE.search(declaration, is_type.end() - len("struct "))
        typedef = re.search(r"\}\s*(\w+)\s*;$", declaration)
        return named[1] if named else typedef[1] if typedef else ""
    alias = re.search(r"\busing\s+(\w+)\s*=", declaration)
    if alias:
        return alias[1]
    plain = re.sub(r"^template\s*<.*?>\s*\n", "", declaration, flags=re.DOTALL)
    plain = re.sub(r"\brequires\s*\(.*?\)\s*\n", "", plain, flags=re.DOTALL)
    operator = re.search(r"\boperator\s*(\(\)|[^\s(]+)", plain)
    if operator:
        return f"operator{operator[1]}"
    value = re.search(r"(\w+)\s*(?:\[.*?\])*\s*(?:=|;|\{)", plain.split("(")[0])
    call = re.search(r"([\w~]+)\s*\(", plain)
    return value[1] if value else call[1] if call else ""


def is_left_out(name: str) -> bool:
    """Whether a namespace is not for users of the library."""
    parts = name.split("::")
    return "detail" in parts or parts[0] in FOREIGN


class Reader:
    """Goes over the text of a header, and collects what it declares."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.entries: list[Entry] = []
        #: The comment that belongs to what follows.
        self.doc = ""
        #: Whether the last declaration ended on the line before.
        self.is_near = False

    def read(self) -> list[Entry]:
        """All entries."""
        while self.skip_space():
            at = self.at
            opened = NAMESPACE.match(self.text, at)
            if self.text.startswith("#", at):
                self.skip_directive()
            elif self.text.startswith(("//", "/*"), at):
                self.read_comment()
            elif opened and is_left_out(opened[1]):
                self.go_on(end_of_block(self.text, opened.end() - 1))
            elif opened := opened or LINKAGE.match(self.text, at):
                self.go_on(opened.end())
            elif self.text[at] in "};":
                self.go_on(at + 1)
            else:
                self.read_declaration()
        return self.entries

    def go_on(self, at: int) -> None:
        """Go on at another place, to which no comment so far belongs."""
        self.at, self.doc, self.is_near = at, "", False

    def skip_space(self) -> bool:
        """Go to the next text; false at the end."""
        space = re.compile(r"\s*").match(self.text, self.at)
        assert space is not None
        if space[0].count("\n") > 1:
            self.go_on(self.at)
        self.at = space.end()
        return self.at < len(self.text)

    def skip_directive(self) -> None:
        """Go over a line for the preprocessor, with those that it is continued in."""
        end = self.text.find("\n", self.at)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find("\n", end + 1)
        self.at = len(self.text) if end < 0 else end

    def read_comment(self) -> None:
        """A comment for what follows, or one that stands alone."""
        end = comment_at(self.text, self.at)
        comment = self.text[self.at : end]
        stands_alone = not self.text[self.text.rfind("\n", 0, self.at) : self.at].strip()
        self.at = end
        if is_doc(comment):
            self.doc, self.is_near = comment_text(comment), False
        elif stands_alone and re.match(r"\s*\n\s*\n", self.text[end:]):
            prose = comment_text(comment)
            if not prose.startswith("namespace "):
                self.entries.append(Entry(doc=prose, is_prose=True))
                self.is_near = False

    def read_declaration(self) -> None:
        """A declaration, with the comment behind it."""
        end, body = declaration_at(self.text, self.at)
        declaration = self.text[self.at : end]
        inside = None if body is None else body - self.at
        if inside is not None and TYPE.match(declaration):
            shown = of_type(declaration, inside)
        else:
            shown = without_body(declaration, inside)
        if behind := BEHIND.match(self.text, end):
            after = comment_at(self.text, behind.start(1))
            shown += self.text[end:after]
            end = after
        self.at = end
        if WITHOUT_ENTRY.match(declaration):
            self.doc = ""
            return
        if not self.is_near or self.doc or not self.entries:
            self.entries.append(Entry(doc=self.doc))
        entry = self.entries[-1]
        entry.declarations.append(shown)
        name = name_of(shown)
        if name and name not in entry.names:
            entry.names.append(name)
        self.is_near, self.doc = True, ""


def read_header(text: str) -> Header:
    """The comment of a header and its declarations, in order."""
    at = comment_at(text, 0)
    lines = comment_text(text[:at]).splitlines()
    intro = "\n".join(line for line in lines if "SPDX-License" not in line)
    return Header(intro, Reader(text, at).read())


def markdown(text: str) -> str:
    """The text of a comment, in which ``<`` and ``*`` are themselves and what is indented code."""
    lines: list[str] = []
    code: list[str] = []
    in_list = False
    for line in [*text.splitlines(), ""]:
        if line.startswith("  ") and not in_list:
            code.append(line)
            continue
        if code:
            lines += ["", "```text", *(c.removeprefix("  ") for c in code), "```", ""]
            code = []
        in_list = line.startswith(("* ", "  ")) if line else in_list
        parts = line.split("`")
        for k in range(0, len(parts), 2):
            bullet = "* " if k == 0 and parts[0].startswith("* ") else ""
            plain = re.sub(r"([<*\[])", r"\\\1", parts[k].removeprefix(bullet))
            parts[k] = bullet + plain
        lines.append("`".join(parts))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def example_of(name: str) -> Path | None:
    """The file with the example of a header: it is compiled, and run, by the tests."""
    stem = name.partition(".")[0]
    path = ROOT / EXAMPLES.get(name, f"tests/cpp/reference/test_{stem}.cpp")
    return path if path.is_file() else None


def code_of(example: str) -> str:
    """The code of an example, without its first comment and the tests' own header."""
    lines = example[comment_at(example, 0) :].strip().splitlines()
    return "\n".join(line for line in lines if line != '#include "check.hpp"')


def page_of(name: str, header: Header, example: str = "") -> str:
    """The page of a header, as Markdown, with the text of its example."""
    parts = [f"# usmx/{name}", markdown(header.intro), f"```cpp\n#include <usmx/{name}>\n```"]
    for entry in header.entries:
        if entry.is_prose:
            parts.append(markdown(entry.doc))
            continue
        parts.append("## " + (", ".join(f"`{n}`" for n in entry.names) or "Constants"))
        if entry.doc:
            parts.append(markdown(entry.doc))
        parts.append("```cpp\n" + "\n".join(entry.declarations) + "\n```")
    if example:
        code = re.sub(r"\n{3,}", "\n\n", code_of(example))
        said = ""
        if "CHECK" in code:
            said = "The tests compile and run it; `CHECK` stands for what a program may rely on."
        language = "c" if name.endswith(".h") and "TEST(" not in code else "cpp"
        parts += ["## Example", said, f"```{language}\n{code}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def headers(include: Path) -> list[Path]:
    """The public headers."""
    return sorted([*include.glob("*.hpp"), *include.glob("*.h")])


def pages(include: Path) -> dict[str, str]:
    """The page of each header and the list of all, by their names without suffix."""
    found = {}
    rows = ["| header | names |", "|---|---|"]
    for path in headers(include):
        header = read_header(path.read_text(encoding="utf-8"))
        example = example_of(path.name)
        text = "" if example is None else example.read_text(encoding="utf-8")
        found[path.name] = page_of(path.name, header, text)
        names = [name for entry in header.entries for name in entry.names]
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names)) or "macros of the version"
        rows.append(f"| [usmx/{path.name}]({path.name}.md) | {listed} |")
    toctree = ["```{toctree}", ":hidden:", "", *found, "```"]
    index = (
        "# C++ and C\n\nThe headers that `usmx --include` names, with what they declare. "
        "[Extensions](../../extension.md) says which one a program needs.\n"
    )
    found["index"] = "\n".join([index, *toctree, "", *rows, ""])
    return found
