"""Which integers are sure not to be negative: an index that may be counts from the end if it is.

What is known is a least value of a number, and of a difference of two. It comes from what numbers
are computed from, and from conditions on the way to where they are read. A sum, product or shift
of numbers that are not negative counts as not negative: one that leaves 64 bits is outside of each
array.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from ..types.values import SUM, Number, least_of

#: Least values of differences: of (x, y) of ``x - y``, where an empty text stands for 0.
Facts = dict[tuple[str, str], int]

_WITH_NUMBER = re.compile(r"(.+) ([+-]) (\d+)")
#: What the memory of a kernel does not change: ids and lengths; all other words are variables.
_FIXED = re.compile(r"int64_t\(usmx::nd_item<\d>::\w+\(\d?\)\)|\.shape\[\d\]")
_OTHERWISE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


class Signs:
    """What a walk over a function knows of its integers."""

    def __init__(self, names: frozenset[str], given: Mapping[str, str]) -> None:
        #: What the function assigns or takes.
        self.names = names
        #: How C++ spells names.
        self.given = given
        #: Variables that get a value that may be negative; they only grow from round to round.
        self.negative: set[str] = set()
        #: Whether all variables count as such.
        self.gives_up: bool = False
        #: Parameters of the kernel of which the sign of a variable depends; the same.
        self.asks: dict[str, frozenset[str]] = {}
        #: The operands of each comparison of integers.
        self.compared: dict[ast.AST, list[tuple[str, Number, Number]]] = {}
        self.facts: Facts = {}

    def begin_round(self) -> None:
        """Forget what is known at one place."""
        self.compared, self.facts = {}, {}

    def variables(self) -> set[str]:
        """How C++ spells the names that the function assigns or takes."""
        return {self.given[n] for n in self.names if n in self.given}

    # --- what is known ----------------------------------------------------------------------------

    def least(self, number: Number) -> int | None:
        """The least value that a number has, None if nothing is known."""
        own, (base, more) = least_of(number), _split(number)
        known = self.facts.get((base, "")) if base else None
        if known is None:
            return own
        return known + more if own is None else max(own, known + more)

    def is_index_of(self, number: Number, length: Number) -> bool:
        """Whether a number is sure not to count from the end of an array of that length.

        The last index of an array is: where there is no element, no index has one.
        """
        least = self.least(number)
        if least is not None and least >= 0:
            return True
        (x, add), (y, take) = _split(number), _split(length)
        known = 0 if x == y else self.facts.get((x, y))
        return known is not None and known + add - take >= -1

    def of_variable(self, name: str, spelled: str) -> int | None:
        """The same of a variable where it is read."""
        known = self.facts.get((spelled, ""))
        if name in self.negative or self.gives_up:
            return known
        return max(known or 0, 0)

    def of_operator(self, sign: str, a: Number, b: Number) -> int | None:
        """The same of an integer that an operator gives."""
        low, other = self.least(a), self.least(b)
        if sign == "-":
            (x, add), (y, take) = _split(a), _split(b)
            known = self.facts.get((x, y))
            if known is not None:
                return known + add - take
            below = 0 if not y else self.facts.get(("", y))
            return low + below - take if low is not None and below is not None else None
        first, second = low is not None and low >= 0, other is not None and other >= 0
        if low is not None and other is not None:
            if sign == "+":
                return low + other
            if sign == "*" and first and second:
                return low * other
        if sign == "%":
            return 0 if second else None
        if sign == "&":
            return 0 if first or second else None
        if sign in ("<<", ">>"):
            return 0 if first else None
        return 0 if first and second and sign in ("//", "|", "^", "**") else None

    # --- what becomes known -----------------------------------------------------------------------

    def assigned(self, name: str, spelled: str, value: Number) -> None:
        """A variable gets a value."""
        low, (base, more) = self.least(value), _split(value)
        self.forget({spelled})
        if low is None or low < 0:
            self.negative.add(name)
        if value.asks:
            self.asks[name] = self.asks.get(name, frozenset()) | value.asks
        if low is not None:
            self.facts[spelled, ""] = low
        if base and self._is_fixed(base) and spelled not in _words(base):
            self.facts[spelled, base], self.facts[base, spelled] = more, -more

    def forget(self, spelled: set[str]) -> None:
        """Variables change."""
        self.facts = {
            pair: k
            for pair, k in self.facts.items()
            if not any(spelled & _words(one) for one in pair)
        }

    def learn(self, test: ast.expr, outcome: bool) -> None:
        """What holds where a condition has this outcome."""
        if any(isinstance(one, ast.NamedExpr) for one in ast.walk(test)):
            return
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.learn(test.operand, not outcome)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == outcome:
                for one in test.values:
                    self.learn(one, outcome)
        elif isinstance(test, ast.Compare):
            links = self.compared.get(test, [])
            if outcome or len(links) == len(test.ops) == 1:
                for sign, a, b in links:
                    self.holds(a, sign if outcome else _OTHERWISE[sign], b)

    def holds(self, a: Number, sign: str, b: Number) -> None:
        """What ``a sign b`` says."""
        if sign in ("<", "<="):
            self._differ(b, a, int(sign == "<"))
        elif sign in (">", ">="):
            self._differ(a, b, int(sign == ">"))
        elif sign == "==":
            self._differ(a, b, 0)
            self._differ(b, a, 0)
        else:
            for one, other in ((a, b), (b, a)):
                if other.const is not None and self.least(one) == int(other.const.real):
                    self._differ(one, other, 1)

    def _differ(self, a: Number, b: Number, least: int) -> None:
        """``a - b`` is not less."""
        below = self.least(b)
        (x, add), (y, take) = _split(a), _split(b)
        if x == y or not all(self._is_fixed(one) for one in (x, y) if one):
            return
        self._note((x, y), least - add + take)
        if x and y and below is not None:
            self._note((x, ""), below + least - add)

    def _note(self, pair: tuple[str, str], least: int) -> None:
        self.facts[pair] = max(least, self.facts.get(pair, least))

    def _is_fixed(self, code: str) -> bool:
        """Whether only an assignment to a variable changes what it gives."""
        left = _FIXED.sub("", code)
        return (
            not re.search(r"[^\w+\-* ()]|\w\(", left)
            and {w for w in _words(left) if not w.isdigit()} <= self.variables()
        )


def after(*paths: Facts | None) -> Facts:
    """What holds where paths meet; None of those that lead nowhere."""
    first, *others = [path for path in paths if path is not None] or [{}]
    return {
        pair: min(k, *(other[pair] for other in others)) if others else k
        for pair, k in first.items()
        if all(pair in other for other in others)
    }


def stored_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that are assigned in statements."""
    return {
        one.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def sign_of(parameter: str) -> str:
    """What says, of the numbers that a text is specialised for, whether one is not negative."""
    return f"{parameter}>=0"


def _words(code: str) -> set[str]:
    return set(re.findall(r"\w+", code))


def _split(number: Number) -> tuple[str, int]:
    """A number as a text and a number that is added to it; an empty text of what is known."""
    if isinstance(number.const, int):
        return "", int(number.const)
    found = _WITH_NUMBER.fullmatch(number.code) if number.level == SUM else None
    if found is None:
        return number.code, 0
    base, sign, more = found.groups()
    return base, int(more) if sign == "+" else -int(more)
