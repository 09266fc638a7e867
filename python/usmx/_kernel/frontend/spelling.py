"""How names of Python are spelled in C++, and what can be said of them by looking at the tree."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from collections.abc import Iterator

#: Words that a C++ name cannot be, and those that the prelude or the compiler has taken.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval
    constexpr constinit continue decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned
    using virtual void volatile wchar_t while xor xor_eq half size_t ptrdiff_t int8_t int16_t
    int32_t int64_t uint8_t uint16_t uint32_t uint64_t usmx usmx_item usmx_given usmx_tables
    linux unix i386 typeof main restrict
    """.split()  # noqa: SIM905 - a hundred lines otherwise
)


def spell(name: str) -> str:
    """A C++ name for a Python name."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda m: f"u{ord(m[0]):x}", name.replace(".", "_"))
    # Names with two underscores or a leading one belong to the compiler.
    plain = re.sub(r"_{2,}", "_u", plain)
    if plain.startswith("_") or plain.startswith("USMX"):
        plain = "v" + plain
    return plain + "_" if plain in RESERVED else plain


def path_of(target: ast.expr) -> tuple[str, list[str | ast.expr]]:
    """The name that an attribute or an element is reached from, "" if none, and the way to it."""
    path: list[str | ast.expr] = []
    while isinstance(target, ast.Attribute | ast.Subscript):
        if isinstance(target, ast.Attribute):
            path.append(target.attr)
        elif isinstance(target.slice, ast.Tuple):
            path += reversed(target.slice.elts)
        else:
            at = target.slice
            is_text = isinstance(at, ast.Constant) and isinstance(at.value, str)
            path.append(at.value if is_text else at)  # type: ignore[attr-defined]
        target = target.value
    return (target.id if isinstance(target, ast.Name) else ""), path[::-1]


class Speller:
    """Spells names of one function, no two alike."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.taken: set[str] = set()

    def __call__(self, name: str) -> str:
        if name not in self.given:
            wanted = spell(name)
            while wanted in self.taken:
                wanted += "_"
            self.taken.add(wanted)
            self.given[name] = wanted
        return self.given[name]


def stores(tree: ast.FunctionDef) -> dict[str, int]:
    """How often each name is assigned in a function; a loop counts as more than once."""
    count: dict[str, int] = {}
    for node in _own(tree):
        if isinstance(node, ast.FunctionDef):
            count[node.name] = count.get(node.name, 0) + 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            count[node.id] = count.get(node.id, 0) + 1
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            count[node.target.id] = count.get(node.target.id, 0) + 1
    for node in _own(tree):
        if isinstance(node, ast.For):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    count[target.id] += 1
    return count


def _own(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, but not what stands in functions inside of it."""
    rest: list[ast.AST] = list(tree.body)
    while rest:
        node = rest.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            rest += ast.iter_child_nodes(node)


def private_loops(tree: ast.FunctionDef) -> set[str]:
    """Loop variables that are assigned and read only in their loops."""
    loops: dict[str, list[ast.For]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            loops.setdefault(node.target.id, []).append(node)
    found = set()
    for name, those in loops.items():
        targets = {id(loop.target) for loop in those}
        inside = {id(n) for loop in those for statement in loop.body for n in ast.walk(statement)}
        uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        nested = any(id(loop) in inside for loop in those)
        if not nested and all(
            id(n) in targets or (id(n) in inside and isinstance(n.ctx, ast.Load)) for n in uses
        ):
            found.add(name)
    a = tree.args
    return found - {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
