"""Statements: branches, `while`, return, assert, raise."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..types import operators, scalars
from ..types import values as v
from ..types.values import Number, Tuple
from . import wrapping
from .expressions import Operators
from .printing import quoted
from .results import STOP
from .signs import after
from .walk import Walk, bound_when, meet


class Statements:
    """What is done, besides assignments."""

    def __init__(self, walk: Walk, operators: Operators) -> None:
        self.walk = walk
        self.operators = operators

    def _block(self, head: str, statements: list[ast.stmt]) -> None:
        """Statements in braces."""
        self.walk.line(head + " {")
        with self.walk.indented():
            self.walk.body(statements)

    def on_pass(self, node: ast.Pass) -> None:
        """``pass``."""

    def on_expr(self, node: ast.Expr) -> None:
        """An expression for its effect."""
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        value = self.walk.value(node.value)
        if isinstance(value, Number) and not value.pure:
            self.walk.line(value.code + ";")

    def on_if(self, node: ast.If, word: str = "if") -> None:
        """``if``, ``elif``, ``else``; what is known when compiling leaves one branch."""
        condition = self.operators.condition(node.test)
        if condition.const is not None:
            if word != "if":
                self._block("} else", node.body if condition.const else node.orelse)
            else:
                self.walk.body(node.body if condition.const else node.orelse)
            return
        before, signs = self.walk.bound, self.walk.signs
        facts = signs.facts
        self._having(before, node.test, True)
        if word == "if" and node in self.walk.wraps.ends:
            self._inside(condition, node.body)
        else:
            self._block(f"{word} ({condition.code})", node.body)
        first = self.walk.bound
        known, signs.facts = None if first is None else signs.facts, facts
        self._having(before, node.test, False)
        other = node.orelse
        if len(other) == 1 and isinstance(other[0], ast.If) and self._adds_no_line(other[0].test):
            self.on_if(other[0], "} else if")
        elif other:
            self._block("} else", other)
        signs.facts = after(known, None if self.walk.bound is None else signs.facts)
        self.walk.bound = meet(first, self.walk.bound)
        if word == "if":
            self.walk.line("}")

    def on_rest(self, node: ast.If, statements: list[ast.stmt]) -> None:
        """What comes behind a return of the items beyond an end."""
        condition = self.operators.condition(node.test)
        self._having(self.walk.bound, node.test, False)
        if condition.const is None:
            self._inside(operators.negation(condition), statements)
            self.walk.line("}")
        elif not condition.const:
            self.walk.body(statements)

    def _inside(self, condition: Number, statements: list[ast.stmt]) -> None:
        """Statements for the items before an end."""
        with self.walk.apart() as lines, self.walk.indented():
            self.walk.body(statements)
        code = condition.code
        if wrapping.asks(lines):
            code = self.walk.store_once("bool", code)
        self.walk.result.lines += wrapping.before_end(code, lines, "  " * self.walk.depth)

    def _having(self, bound: frozenset[str] | None, test: ast.expr, outcome: bool) -> None:
        """Begin a path that is taken where a condition has this outcome."""
        self.walk.bound = None if bound is None else bound | bound_when(test, outcome)
        self.walk.signs.facts = dict(self.walk.signs.facts)
        self.walk.signs.learn(test, outcome)

    def _adds_no_line(self, node: ast.expr) -> bool:
        """Whether an expression is computed where it stands, without statements before it."""
        before = len(self.walk.result.lines)
        self.operators.condition(node)
        added = len(self.walk.result.lines) > before
        del self.walk.result.lines[before:]
        return not added

    def on_while(self, node: ast.While) -> None:
        """``while``."""
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        with self.walk.loop(node, forever=forever):
            self._while(node)

    def _while(self, node: ast.While) -> None:
        if self._adds_no_line(node.test):
            condition = self.operators.condition(node.test)
            self._having(self.walk.bound, node.test, True)
            if condition.const is None or condition.const:
                self._block(f"while ({condition.code})", node.body)
                self.walk.line("}")
        else:
            self.walk.line("while (true) {")
            with self.walk.indented():
                self.walk.line(f"if (!{self.operators.condition(node.test).at(v.UNARY)}) break;")
                self._having(self.walk.bound, node.test, True)
                self.walk.body(node.body)
            self.walk.line("}")

    def on_break(self, node: ast.Break) -> None:
        """``break``."""
        if self.walk.broken[-1]:
            self.walk.line(f"{self.walk.broken[-1]} = true;")
        self.walk.line("break;")
        self.walk.left[-1][0].append(self.walk.bound)
        self.walk.bound = None

    def on_continue(self, node: ast.Continue) -> None:
        """``continue``."""
        self.walk.line("continue;")
        self.walk.left[-1][1].append(self.walk.bound)
        self.walk.bound = None

    def on_return(self, node: ast.Return) -> None:
        """``return``, with values in device functions only."""
        self._on_return(node)
        self.walk.bound = None

    def _on_return(self, node: ast.Return) -> None:
        nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if self.walk.is_kernel:
            if not nothing:
                raise self.walk.error(node, "a kernel cannot return a value; write it to an array")
            self.walk.line("return;")
            return
        if nothing:
            if self.walk.result.returns is not None:
                raise self.walk.error(node, "returns nothing here and a value before")
            self.walk.result.returns_nothing = True
            self.walk.line("return;")
            return
        assert node.value is not None
        if self.walk.result.returns_nothing:
            raise self.walk.error(node, "returns a value here and nothing before")
        value = self.operators.records.values(node.value, self.walk.value(node.value))
        numbers = [
            self.walk.number(node.value, item, "the returned value")
            for _, item in v.parts("", value)
        ]
        self._return_values(node, numbers, value if isinstance(value, Tuple) else None)

    def _return_values(self, node: ast.Return, numbers: list[Number], whole: Tuple | None) -> None:
        """Join the types with those of other returns."""
        given = tuple(n.type for n in numbers)
        # What an earlier walk found counts too: a return may stand before a later, wider one.
        old = self.walk.result.returns or self.walk.returned
        if old is not None:
            if len(old) != len(given):
                raise self.walk.error(
                    node, f"returns {len(given)} values here and {len(old)} elsewhere"
                )
            given = tuple(scalars.join(a, b) for a, b in zip(old, given, strict=True))
        before = self.walk.result.returns_tuple
        if self.walk.result.returns is not None and (
            (before is None) != (whole is None)
            or (before is not None and whole is not None and not v.has_form(before, whole))
        ):
            raise self.walk.error(
                node,
                f"returns {v.describe(whole or numbers[0])} here and "
                f"{v.describe(before) if before else 'a number'} of another form elsewhere",
            )
        self.walk.result.returns = self.walk.returned = given
        self.walk.result.returns_tuple = whole
        least = tuple(self.walk.signs.least(n) for n in numbers)
        self.walk.least = least = tuple(
            0 if a is not None and b is not None and min(a, b) >= 0 else None
            for a, b in zip(least, self.walk.least or least, strict=True)
        )
        self.walk.result.least = least
        try:
            codes = [operators.checked(n, t).code for n, t in zip(numbers, given, strict=True)]
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        self.walk.line(
            f"return {codes[0]};" if whole is None else f"return {{{', '.join(codes)}}};"
        )

    def on_assert(self, node: ast.Assert) -> None:
        """``assert``: prints where and what; the item goes on, or stops where Numba's does."""
        condition = self.operators.condition(node.test)
        text = ast.unparse(node.test)
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            text += ": " + node.msg.value
        elif node.msg is not None and not self.walk.module.numba:
            raise self.walk.error(node.msg, "the message of an assert must be a string literal")
        self.walk.line(f"if (!{condition.at(v.UNARY)}) {{")
        with self.walk.indented():
            self._say(node, f"assertion failed: {text}")
            if self.walk.module.numba:
                self.walk.line(STOP)
        self.walk.line("}")

    def on_raise(self, node: ast.Raise) -> None:
        """``raise``: prints where and what, and the item leaves the function.

        Its arguments are Python's, and are computed in the simulator only.
        """
        if not self.walk.module.numba:
            self._say(node, ast.unparse(node))
        self.walk.line(STOP)
        self.walk.bound = None

    def _say(self, node: ast.stmt, what: str) -> None:
        """Print where a statement is and what happened there."""
        where = f"{self.walk.place.filename}:{self.walk.place.lineno(node)}"
        message = f"{where}: {self.walk.function.name}: {what}\n".replace("%", "%%")
        self.walk.line(f"USMX_PRINT({quoted(message)});")
