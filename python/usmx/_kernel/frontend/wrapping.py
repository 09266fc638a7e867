"""Which remainders all items of a vector compute together, so that they can leave a division out.

Processors take items in vectors, and divide lane after lane. Where all lanes come to a remainder,
one question to the vector says whether any of them needs the division; behind a branch that lanes
take by themselves the question costs more than it saves. So this looks at what decides whether an
item comes there. It must be the same for all items, or compare places of items with a bound, as
the end of a range: such a branch is written twice, once for vectors that are inside of the range.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: What a value is to the items of a vector: the same for all, the place of an item and a number
#: that is the same for all, or anything else.
SAME, PLACE, OTHER = range(3)

_SIZES = {"gridsize", "blockIdx", "blockDim", "gridDim"}
_SIZES |= {f"get_{of}range" for of in ("", "global_", "local_", "group_")}
_PLACES = {"grid", "threadIdx", "get_linear_id", "get_global_linear_id", "get_local_linear_id"}
_PLACES |= {f"get_{of}id" for of in ("", "global_", "local_", "group_")}
_ASKS, _VECTORS = "usmx::wrapped<", "#ifdef USMX_SHORT_VECTOR"
_PLAIN = {"min", "max", "int", "len", "abs", "bool"}


@dataclass(frozen=True)
class Wrapping:
    """What was found out of a kernel."""

    #: The operators ``%`` that ask first.
    remainders: frozenset[ast.AST] = frozenset()
    #: Branches that are taken by all items of a vector, but for those beyond an end.
    ends: frozenset[ast.AST] = frozenset()


def of(tree: ast.FunctionDef) -> Wrapping:
    """The operators ``%`` of a kernel that ask first; those in `divmod` and the like do not.

    Neither do those whose quotient the kernel computes too, which is one division with them, nor
    those of an item's place itself, which goes through the whole range.
    """
    if not any(isinstance(one, ast.Mod) for one in ast.walk(tree)):
        return Wrapping()
    finder = _Finder(tree)
    while finder.again():
        pass
    divided = {
        _operands(one)
        for one in ast.walk(tree)
        if isinstance(one, ast.BinOp | ast.AugAssign) and isinstance(one.op, ast.FloorDiv)
    }
    found = frozenset(one for one in finder.found if _operands(one) not in divided)
    return Wrapping(found, frozenset(finder.ends))


def leaves(node: ast.stmt) -> bool:
    """Whether it is a branch that does nothing but return."""
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[0], ast.Return)


def before_end(condition: str, lines: list[str], indent: str) -> list[str]:
    """Lines for items before an end, without the last brace: twice, if they ask whole vectors.

    Vectors that are before the end as a whole take no branch that lanes take by themselves.
    ``condition`` is the name of a bool then, and an expression otherwise.
    """
    head = f"{indent}if ({condition}) {{"
    if not asks(lines):
        return [head, *lines]
    plain = [line.replace(_ASKS, "usmx::modulo<").replace(_VECTORS, "#if 0") for line in lines]
    if any("barrier" in line or re.search(r"usmx::(?!all_of)\w+<[23]\b", line) for line in lines):
        return [head, *plain]
    whole = f"{indent}if (usmx::all_of<3>({condition})) {{"
    return [_VECTORS, whole, *lines, f"{indent}}} else", "#endif", head, *plain]


def asks(lines: list[str]) -> bool:
    """Whether a remainder in a text asks whole vectors."""
    return any(_ASKS in line for line in lines)


def _operands(node: ast.AST) -> tuple[str, str]:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    first, second = (ast.unparse(side) for side in sides)
    return first, second


class _Finder:
    """Looks again until neither names nor loops turn out to be less even than they seemed."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.tree = tree
        self.found: set[ast.AST] = set()
        self.ends: set[ast.AST] = set()
        #: The names that the function assigns; all others are the same for all items.
        self.names: dict[str, int] = {}
        #: Loops that some items leave before others, or whose rounds differ.
        self.uneven: set[ast.AST] = set()

    def again(self) -> bool:
        """Look at the whole function; whether something new was found out."""
        before = dict(self.names), set(self.uneven)
        self.found.clear()
        self.ends.clear()
        #: Whether no item has left the function before the others.
        self.goes_on = True
        #: Whether all items come to the place at hand.
        self.together = True
        #: Whether that leaves out those beyond an end.
        self.has_end = False
        self.loops: list[ast.AST] = []
        self.body(self.tree.body)
        return before != (self.names, self.uneven)

    @contextlib.contextmanager
    def only_if(self, together: bool) -> Iterator[None]:
        """What some items come to."""
        before = self.together
        self.together = before and together
        yield
        # A return further in leaves those that are left alone for good.
        self.together = before and self.goes_on

    def assign(self, target: ast.expr, level: int) -> None:
        """A name gets a value."""
        for one in ast.walk(target):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                known = self.names.get(one.id, SAME)
                self.names[one.id] = max(known, level if self.together else OTHER)

    # --- statements -------------------------------------------------------------------------------

    def body(self, statements: list[ast.stmt]) -> None:
        """Statements, one after the other."""
        for k, node in enumerate(statements):
            is_first = statements is self.tree.body and self.together and not self.has_end
            if is_first and leaves(node) and self.outcome(node.test) == PLACE:  # type: ignore[attr-defined]
                self.ends.add(node)
                self.has_end = True
                self.body(statements[k + 1 :])
                return
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """One statement, with those inside of it."""
        if isinstance(node, ast.If):
            self.branches(node)
        elif isinstance(node, ast.While):
            self.loop(node, self.outcome(node.test) == SAME)
        elif isinstance(node, ast.For):
            level = self.rounds(node.iter)
            self.assign(node.target, level if _is_range(node.iter) else OTHER)
            self.loop(node, level == SAME)
        elif isinstance(node, ast.Assign):
            level = self.level(node.value)
            for target in node.targets:
                self.level(target)
                self.assign(target, level)
        elif isinstance(node, ast.AugAssign):
            self.note(node)
            level = _joined(node.op, self.level(node.target), self.level(node.value))
            self.assign(node.target, level)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.level(node.value))
        elif isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            self.leave(node)
        elif isinstance(node, ast.FunctionDef):
            pass  # compiled by itself
        else:
            for one in ast.iter_child_nodes(node):
                if isinstance(one, ast.expr):
                    self.level(one)

    def branches(self, node: ast.If) -> None:
        """Both sides of a branch, of which one may be for all items but those beyond an end."""
        outcome = self.outcome(node.test)
        is_end = outcome == PLACE and self.together and not self.has_end
        is_end = is_end and not node.orelse and not leaves(node)
        if is_end:
            self.ends.add(node)
        self.has_end |= is_end
        with self.only_if(outcome == SAME or is_end):
            self.body(node.body)
        self.has_end &= not is_end
        with self.only_if(outcome == SAME):
            self.body(node.orelse)

    def loop(self, node: ast.While | ast.For, even: bool) -> None:
        """A loop, of so many rounds for all items."""
        with self.only_if(even and node not in self.uneven):
            self.loops.append(node)
            self.body(node.body)
            self.loops.pop()
        self.body(node.orelse)

    def leave(self, node: ast.stmt) -> None:
        """An item goes elsewhere; if not all do it, those that stay are no longer together."""
        if self.together and not self.has_end:
            return
        if isinstance(node, ast.Break | ast.Continue):
            self.uneven.add(self.loops[-1])
        else:
            self.uneven.update(self.loops)
            self.goes_on = False

    # --- expressions ------------------------------------------------------------------------------

    def outcome(self, test: ast.expr) -> int:
        """What a condition is to the items: PLACE if it is the same but for items beyond an end."""
        if isinstance(test, ast.BoolOp):
            level = SAME
            for one in test.values:
                with self.only_if(level == SAME):
                    level = max(level, self.outcome(one))
            return level
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.outcome(test.operand)
        if isinstance(test, ast.Compare):
            level = max(self.level(one) for one in (test.left, *test.comparators))
            ends = all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in test.ops)
            return level if ends or level == SAME else OTHER
        return SAME if self.level(test) == SAME else OTHER

    def rounds(self, node: ast.expr) -> int:
        """What the numbers are that a loop goes through; if not SAME, the rounds differ."""
        if not _is_range(node):
            level = self.level(node)
            return OTHER if isinstance(node, ast.Call) else level
        assert isinstance(node, ast.Call)
        levels = [self.level(one) for one in node.args]
        if OTHER in levels or not levels:
            return OTHER
        # From an item's place on each item has rounds of its own, at the end of a grid at least.
        return PLACE if PLACE in levels else SAME

    def level(self, node: ast.expr) -> int:
        """What a value is to the items; notes the remainders in it."""
        if isinstance(node, ast.Constant):
            return SAME
        if isinstance(node, ast.Name):
            return self.names.get(node.id, SAME)
        if isinstance(node, ast.BinOp):
            self.note(node)
            return _joined(node.op, self.level(node.left), self.level(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.level(node.operand)
        if isinstance(node, ast.BoolOp | ast.Compare):
            return SAME if self.outcome(node) == SAME else OTHER
        if isinstance(node, ast.IfExp):
            outcome = self.outcome(node.test)
            with self.only_if(outcome == SAME):
                level = max(self.level(node.body), self.level(node.orelse))
            return level if outcome == SAME else OTHER
        if isinstance(node, ast.NamedExpr):
            level = self.level(node.value)
            self.assign(node.target, level)
            return level
        if isinstance(node, ast.Tuple):
            return max([self.level(one) for one in node.elts], default=SAME)
        if isinstance(node, ast.Attribute):
            level = self.level(node.value)
            return max(level, PLACE) if node.attr in _PLACES else level
        if isinstance(node, ast.Subscript):
            index = self.level(node.slice)
            is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            level = self.level(node.value)
            return level if is_shape and index == SAME else OTHER
        if isinstance(node, ast.Call):
            return self.call(node)
        if not isinstance(node, ast.Lambda):  # compiled by itself
            for one in ast.iter_child_nodes(node):
                if isinstance(one, ast.expr):
                    self.level(one)
        return OTHER

    def call(self, node: ast.Call) -> int:
        """The result of a call: of an id, a length, or anything."""
        levels = [self.level(one) for one in (*node.args, *(k.value for k in node.keywords))]
        called = node.func
        name = called.id if isinstance(called, ast.Name) else ""
        if isinstance(called, ast.Attribute):
            self.level(called.value)
            if all(isinstance(one, ast.Constant) for one in node.args):
                if called.attr in _PLACES:
                    return PLACE
                if called.attr in _SIZES:
                    return SAME
        return SAME if name in _PLAIN and max(levels, default=OTHER) == SAME else OTHER

    def note(self, node: ast.BinOp | ast.AugAssign) -> None:
        """A remainder, if all come to it."""
        if not isinstance(node.op, ast.Mod) or not self.together:
            return
        dividend = node.left if isinstance(node, ast.BinOp) else node.target
        is_sum = isinstance(dividend, ast.BinOp) and isinstance(dividend.op, ast.Add | ast.Sub)
        if is_sum or self.level(dividend) != PLACE:
            self.found.add(node)


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _joined(op: ast.operator, a: int, b: int) -> int:
    """What an operator makes of two values."""
    if isinstance(op, ast.Add | ast.Sub):
        return max(a, b)
    if isinstance(op, ast.Mult):
        return max(a, b) if SAME in (a, b) else OTHER
    return SAME if a == b == SAME else OTHER
