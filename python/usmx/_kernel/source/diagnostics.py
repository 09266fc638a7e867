"""What is said about a wrong kernel: function, file, line and cause, then the line and a caret."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


class KernelError(ValueError):
    """A Python function that cannot be a kernel; raised before anything is compiled.

    The message has one line with function, file, line and cause, then the source line and a caret
    under what is wrong.

    Attributes
    ----------
    cause : str
        What is wrong, without the place.
    function : str
        Name of the kernel or device function.
    filename : str
        Its file.
    lineno, column : int
        Line, counted from 1, and column, counted from 0; 0 if the whole function is meant.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def wrong(item, x):
    ...     x[0] = {}
    >>> try:
    ...     wrong[1](usmx.ones(1))
    ... except usmx.KernelError as error:
    ...     print(error.function)
    wrong
    """

    def __init__(
        self, cause: str, function: str, filename: str, lineno: int, column: int, line: str
    ) -> None:
        self.cause = cause
        self.function = function
        self.filename = filename
        self.lineno = lineno
        self.column = column
        text = f"{function}, {filename}:{lineno}: {cause}"
        if line.strip():
            indent = len(line) - len(line.lstrip())
            text += f"\n    {line.strip()}\n    {' ' * max(0, column - indent)}^"
        super().__init__(text)
        from ..._help import with_link

        with_link(self)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: its own picture, without the frames of usmx at the end."""
        from importlib import import_module

        last = frame = self.__traceback__
        while frame is not None:
            if not str(frame.tb_frame.f_globals.get("__name__")).startswith("usmx."):
                last = frame
            frame = frame.tb_next
        if last is not None:
            last.tb_next = None
        picture: Any = import_module("IPython").get_ipython().InteractiveTB
        shown: list[str] = picture.structured_traceback(type(self), self, self.__traceback__)
        return shown


KernelError.__module__ = "usmx"  # where users find it, and tracebacks and pickles name it


@dataclass(frozen=True)
class Place:
    """Where a function stands, so that nodes of its tree can be found in its file."""

    function: str
    filename: str
    first_line: int
    indent: int
    lines: tuple[str, ...]

    def error(self, node: ast.AST | None, cause: str) -> KernelError:
        """The error at ``node``; at the function itself for None."""
        row = getattr(node, "lineno", 1)
        # Columns of the tree count bytes of UTF-8, a caret counts letters.
        line = self.lines[row - 1] if 0 < row <= len(self.lines) else ""
        column = len(line.encode()[: getattr(node, "col_offset", 0)].decode(errors="ignore"))
        return KernelError(
            cause, self.function, self.filename, self.first_line + row - 1, column, line
        )

    def lineno(self, node: ast.AST) -> int:
        """The line of ``node`` in its file."""
        return self.first_line + int(getattr(node, "lineno", 1)) - 1


def number_of(count: int, noun: str) -> str:
    """``1 argument``, ``2 arguments``; indices have a plural of their own."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {'indices' if noun == 'index' else noun + 's'}"
