"""From a Python function to its syntax tree, and from the names in it to the objects they mean."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ..._captured import Reads
from . import texts
from .diagnostics import KernelError, Place

MISSING = object()
#: Of their trees, which are functions as others are.
NAME_OF_LAMBDAS = "usmx_lambda"


@dataclass(frozen=True)
class Function:
    """A Python function with its tree."""

    python: Callable[..., object]
    tree: ast.FunctionDef
    place: Place
    parameters: tuple[str, ...]

    @property
    def defaults(self) -> dict[str, object]:
        """The values of parameters that a call may leave out."""
        python: Any = self.python
        values = python.__defaults__ or ()
        named = self.parameters[: len(self.parameters) - self.keyword_only]
        by_place = dict(zip(named[len(named) - len(values) :], values, strict=True))
        return by_place | (python.__kwdefaults__ or {})

    @property
    def keyword_only(self) -> int:
        """How many of the last parameters are given by keyword only."""
        return len(self.tree.args.kwonlyargs)

    @property
    def own_parameters(self) -> tuple[str, ...]:
        """Those that a call gives."""
        return self.parameters

    @property
    def name(self) -> str:
        """As Python has it."""
        return self.tree.name

    def keeps(self, parameter: str) -> bool:
        """Whether a parameter keeps the value that a call gives it."""
        nodes = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name)]
        return not any(n.id == parameter and isinstance(n.ctx, ast.Store) for n in nodes)

    def lookup(self, name: str, reads: Reads | None = None) -> object:
        """What a name means outside of the function: closure, globals, builtins; or MISSING.

        ``reads`` are told where it was read.
        """
        return (Reads() if reads is None else reads).name(self.python, name, MISSING)


@dataclass(frozen=True)
class Nested(Function):
    """A function or a lambda inside of another one.

    What it reads of the other's variables are parameters too, which each call adds.
    """

    owner: ast.FunctionDef
    captured: tuple[str, ...]
    given: tuple[tuple[str, object], ...]

    @property
    def defaults(self) -> dict[str, object]:
        """The values of parameters that a call may leave out."""
        return dict(self.given)

    @property
    def own_parameters(self) -> tuple[str, ...]:
        """Those that a call gives."""
        return self.parameters[: len(self.parameters) - len(self.captured)]

    @property
    def keyword_only(self) -> int:
        """How many of its own last parameters are given by keyword only."""
        return super().keyword_only - len(self.captured)


def _lambda(
    python: Any, lines: list[str], filename: str, fail: Callable[[str], KernelError]
) -> Function:
    """A lambda of a module: the one in the text whose place is that of the code."""
    code = python.__code__
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:
        raise fail(f"its source text could not be read again: {error.msg}") from None
    places = [
        ((line, column), (end_line or line, end or 0))
        for line, end_line, column, end in code.co_positions()
        if line is not None and column is not None and (column, end) != (0, 0)
    ]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and _parameters(node.args) == names
        if (_holds(node.body, places) if places else node.lineno == code.co_firstlineno)
    ]
    # From Python 3.12 on, code that returns a constant has no places: the only one of its line.
    if not found or (not places and len(found) > 1):
        raise fail("its source text cannot be found; write it with def")
    # Of one in another one's body the inner one is meant: its body is the shortest that fits.
    node = min(found, key=lambda n: (n.body.end_lineno or 0) - n.body.lineno or _width(n.body))
    a = node.args
    if a.vararg or a.kwarg:
        raise fail("a lambda with a variable number of parameters is not supported; pass a tuple")
    body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node)]
    made = ast.copy_location(ast.FunctionDef(NAME_OF_LAMBDAS, a, body, []), node)
    place = Place("<lambda>", filename, 1, 0, tuple(line.rstrip("\n") for line in lines))
    return Function(python, made, place, names)


def _parameters(a: ast.arguments) -> tuple[str, ...]:
    return tuple(p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs))


def _holds(node: ast.expr, places: list[tuple[tuple[int, int], tuple[int, int]]]) -> bool:
    """Whether all of these are inside of the text of an expression."""
    first = node.lineno, node.col_offset
    last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return all(first <= begin and end <= last for begin, end in places)


def _width(node: ast.expr) -> int:
    return (node.end_col_offset or 0) - node.col_offset


def read(python: Callable[..., object]) -> Function:
    """The tree of a function.

    Raises
    ------
    KernelError
        If its text cannot be found, or it is not a plain function.
    TypeError
        If it is not a Python function.
    """
    code = getattr(python, "__code__", None)
    if code is None:
        raise TypeError(f"kernel: expected a Python function, got {type(python).__name__}")
    written = texts.filename(code)
    filename = os.path.relpath(written) if os.path.isabs(written) else ""
    if not filename or filename.startswith(".."):
        filename = texts.shown(written)
    name = python.__name__

    def fail(cause: str) -> KernelError:
        return KernelError(cause, name, filename, code.co_firstlineno, 0, "")

    if name == "<lambda>":
        try:
            lines = texts.whole(python)
        except (OSError, TypeError):
            raise fail("its source text cannot be found; write it with def in a file") from None
        return _lambda(python, lines, filename, fail)
    try:
        lines, first = texts.of(python)
    except (OSError, TypeError):
        raise fail(
            "its source text cannot be found; define it in a file or a notebook's cell, or pass "
            'the text: usmx.kernel("""def ...""")'
        ) from None
    # Dedenting by blanks only: lines keep their numbers, columns are moved by what was taken.
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(text.splitlines(keepends=True)[0])
    try:
        tree = ast.parse(text).body[0]
    except SyntaxError as error:
        raise fail(f"its source text could not be read again: {error.msg}") from None
    if isinstance(tree, ast.AsyncFunctionDef):
        raise fail("an async function cannot be a kernel")
    if not isinstance(tree, ast.FunctionDef):
        raise fail("its source text is not that of a function")
    place = Place(name, filename, first, indent, tuple(text.splitlines()))
    a = tree.args
    for bad, what in ((a.vararg, "*"), (a.kwarg, "**")):
        if bad is not None:
            raise place.error(
                bad,
                f"{what}{bad.arg}: a variable number of parameters is not supported; pass a tuple",
            )
    if not _is_of(tree, text, code):
        raise fail(
            f"its file was changed after '{name}' was defined, and another text is in its place; "
            "import it again"
        )
    return Function(python, tree, place, _parameters(a))


def _is_of(tree: ast.FunctionDef, text: str, code: CodeType) -> bool:
    """Whether a function may have this text: the names of it, its parameters and its variables.

    Not whether it compiles to this code, which tools change while they import, as pytest does.
    """
    words = set(re.findall(r"\w+", text))
    # Python calls "__x" of a class "_Class__x", and tools give theirs names that Python has not.
    variables = [v for v in code.co_varnames if v.isidentifier() and "__" not in v]
    count = code.co_argcount + code.co_kwonlyargcount
    parameters = zip(_parameters(tree.args), code.co_varnames[:count], strict=False)
    return (
        tree.name == code.co_name
        and len(_parameters(tree.args)) == count
        and all(one == other or "__" in other for one, other in parameters)
        and words.issuperset(variables)
    )
