"""From a Python function to its syntax tree, and from the names in it to the objects they mean."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import builtins
import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import texts
from .diagnostics import KernelError, Place

MISSING = object()


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
        return dict(zip(self.parameters[len(self.parameters) - len(values) :], values, strict=True))

    @property
    def own_parameters(self) -> tuple[str, ...]:
        """Those that a call gives."""
        return self.parameters

    @property
    def name(self) -> str:
        """As Python has it."""
        return self.tree.name

    def lookup(self, name: str) -> object:
        """What a name means outside of the function: closure, globals, builtins; or MISSING."""
        python: Any = self.python
        code = python.__code__
        if name in code.co_freevars:
            cell = python.__closure__[code.co_freevars.index(name)]
            try:
                value: object = cell.cell_contents
            except ValueError:
                return MISSING
            return value
        names = python.__globals__
        if name in names:
            found: object = names[name]
            return found
        return getattr(builtins, name, MISSING)


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
    filename = os.path.relpath(code.co_filename) if os.path.isabs(code.co_filename) else ""
    if not filename or filename.startswith(".."):
        filename = texts.shown(code.co_filename)
    name = python.__name__

    def fail(cause: str) -> KernelError:
        return KernelError(cause, name, filename, code.co_firstlineno, 0, "")

    if name == "<lambda>":
        raise fail("a lambda cannot be a kernel; write it with def")
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
                bad, f"{what}{bad.arg}: a variable number of parameters is not supported"
            )
    if a.kwonlyargs:
        raise place.error(a.kwonlyargs[0], "keyword-only parameters are not supported")
    parameters = tuple(p.arg for p in (*a.posonlyargs, *a.args))
    return Function(python, tree, place, parameters)
