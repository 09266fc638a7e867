"""Where the walk over a function is, and the way from a node of its tree to what compiles it.

The elaborators of names, expressions, calls and statements share one `Walk`. It knows none of them:
each kind of node has an entry in its tables, which `elaborate` fills, so that no elaborator imports
another one to reach the expressions inside of its own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..language.forms import Form
from ..source.diagnostics import KernelError, number_of
from ..source.function import Function
from ..types import values as v
from ..types.scalars import Record, Scalar, TupleOf, Type
from ..types.values import Number, Value
from . import spelling, wrapping
from .module import Module
from .results import Result, Specialise, Walked
from .signs import Signs, after, stored_in

#: More than this for one item can end the process: the CPU keeps it on a thread's stack.
MOST_PRIVATE = 65536
#: No device has more for one group.
MOST_LOCAL = 262144

NO_EXPRESSION: dict[type[ast.AST], str] = {
    ast.ListComp: "a list; use usmx.private.array",
    ast.List: "a list; use a tuple of numbers or usmx.private.array",
    ast.SetComp: "a set",
    ast.Set: "a set",
    ast.Dict: "a dict",
    ast.DictComp: "a dict",
    ast.GeneratorExp: "a generator",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Starred: "'*' before a value",
    ast.JoinedStr: "an f-string outside of print",
    ast.Slice: "a slice outside of an index",
}
NO_STATEMENT: dict[type[ast.AST], str] = {
    ast.Try: "try", ast.With: "with",
    ast.ClassDef: "a class", ast.Import: "import; import outside",
    ast.ImportFrom: "import; import outside", ast.Global: "global; globals are read-only",
    ast.Nonlocal: "nonlocal; closure variables are read-only", ast.Delete: "del",
    ast.Match: "match", ast.AsyncFor: "async", ast.AsyncWith: "async",
    ast.AsyncFunctionDef: "async",
}  # fmt: skip


@dataclass
class Scope:
    """What the names of a function mean."""

    #: Types of variables; they only grow from one round to the next.
    variables: dict[str, Scalar] = field(default_factory=dict)
    #: Names of what exists only while compiling.
    statics: dict[str, Value] = field(default_factory=dict)
    #: Names of numbers that are known while compiling.
    known: dict[str, Number] = field(default_factory=dict)
    #: What variables that are assigned once are computed from.
    origins: dict[str, frozenset[str]] = field(default_factory=dict)
    #: The C++ of such a variable, by its name there.
    once: dict[str, str] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)


@dataclass
class Several:
    """What a name stands for that is given one array and another: a variable of C++, a view."""

    element: Scalar | Record
    ndim: int
    #: Whether one of the arrays is read-only.
    readonly: bool = False
    #: Parameters whose elements it may reach, and other such names.
    sources: set[str] = field(default_factory=set)


class Walk:
    """State of the walk over one function for one list of argument types."""

    def __init__(
        self,
        function: Function,
        arguments: Mapping[str, Type | TupleOf | Value],
        module: Module,
        *,
        is_kernel: bool,
        item: str | None,
        not_negative: frozenset[str] = frozenset(),
    ) -> None:
        self.function = function
        self.place = function.place
        self.arguments = arguments
        self.module = module
        self.is_kernel = is_kernel
        #: The parameter that is the work-item.
        self.item = item
        #: Of a device function: parameters whose numbers are not negative.
        self.not_negative = not_negative
        self.spell: spelling.Speller = spelling.Speller()
        self.stores: dict[str, int] = spelling.stores(function.tree)
        self.signs: Signs = Signs(frozenset((*self.stores, *arguments)), self.spell.given)
        self.private_loops: set[str] = spelling.private_loops(function.tree)
        #: What asks all items of a vector. Nothing of a device function: none says who calls it.
        self.wraps: wrapping.Wrapping = (
            wrapping.of(function.tree) if is_kernel and module.wide else wrapping.Wrapping()
        )
        self.expressions: dict[type[ast.AST], Callable[[Any], Value]] = {}
        self.statements: dict[type[ast.AST], Callable[[Any], None]] = {}
        #: Statements behind a return of the items beyond an end.
        self.rest: Callable[[Any, list[ast.stmt]], None] = self.no_rest
        #: What a name means that stands for an expression.
        self.named: Callable[[ast.expr, Form], Value] = self.nothing
        #: The one at hand.
        self.statement: ast.stmt = function.tree
        #: Types of what earlier rounds returned.
        self.returned: tuple[Scalar, ...] | None = None
        #: Least values of what was returned; they only become less.
        self.least: tuple[int | None, ...] | None = None
        #: Parameters whose elements earlier rounds wrote.
        self.written: set[str] = set()
        #: Names that are given more than one array; like types, they only grow.
        self.several: dict[str, Several] = {}
        self.result: Result = Result()
        self.scope: Scope = Scope()
        self.begin_round()

    @staticmethod
    def nothing(node: ast.expr, form: Form) -> Value:
        """What `named` is while there are no parts."""
        raise AssertionError(form.__name__)

    @staticmethod
    def no_rest(node: Any, statements: list[ast.stmt]) -> None:
        """What `rest` is while there are no parts."""
        raise AssertionError(node, statements)

    def begin_round(self) -> None:
        """Forget everything but the types of variables and results."""
        self.written |= self.result.written
        self.result = Result()
        self.scope = Scope(self.scope.variables)
        #: Name that the value at hand is about to get.
        self.hint: str = ""
        self.depth: int = 1
        self.loops: int = 0
        #: Names that have a value on every path to here; None where no path leads.
        self.bound: frozenset[str] | None = frozenset(self.arguments)
        #: Of each loop the names that have a value where it is left by break, and by continue.
        self.left: list[tuple[list[frozenset[str] | None], list[frozenset[str] | None]]] = []
        #: Of each loop whether its first round is sure to run.
        self.runs: list[bool] = []
        #: Of each loop the variable that says whether break ended it; empty if that is unused.
        self.broken: list[str] = []
        self.temporaries: int = 0
        self.signs.begin_round()

    @property
    def types(self) -> tuple[object, ...]:
        """What rounds are repeated for until it no longer changes."""
        several = {
            name: (one.element, one.ndim, one.readonly, frozenset(one.sources))
            for name, one in self.several.items()
        }
        written = self.written | self.result.written
        signs = self.signs.negative | set[object](self.signs.asks.items())
        return dict(self.scope.variables), self.returned, self.least, written, several, signs

    @property
    def walked(self) -> Walked:
        """What compilers and the simulator need of it."""
        return Walked(self.function, self.result, self.scope.variables, self.spell)

    # --- nodes ----------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Any expression."""
        elaborate = self.expressions.get(type(node))
        if elaborate is None:
            raise self._unsupported(node, NO_EXPRESSION)
        found = elaborate(node)
        if isinstance(found, v.PythonObject) and isinstance(found.value, Form):
            return self.named(node, found.value) if found.value.is_value else found
        return found

    def body(self, statements: list[ast.stmt]) -> None:
        """Statements, one after the other."""
        for k, node in enumerate(statements):
            self.statement = node
            if node in self.wraps.ends and wrapping.leaves(node):
                self.rest(node, statements[k + 1 :])
                return
            elaborate = self.statements.get(type(node))
            if elaborate is None:
                raise self._unsupported(node, NO_STATEMENT)
            elaborate(node)

    def bind(self, name: str) -> None:
        """From here on the name has a value."""
        if self.bound is not None:
            self.bound |= {name}
        if name in self.spell.given:
            self.signs.forget({self.spell.given[name]})

    def check_bound(self, node: ast.Name) -> None:
        """Refuse to read a variable that Python may find without a value."""
        name = node.id
        if self.bound is None or name in self.bound or self.module.numba:
            return
        tree = self.function.tree
        changed = {id(one.target) for one in ast.walk(tree) if isinstance(one, ast.AugAssign)}
        lines = sorted(
            {
                self.place.lineno(one)
                for one in ast.walk(tree)
                if (isinstance(one, ast.FunctionDef) and one.name == name and one is not tree)
                or (
                    isinstance(one, ast.Name)
                    and one.id == name
                    and isinstance(one.ctx, ast.Store)
                    and id(one) not in changed
                )
            }
        )
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        raise self.error(
            node,
            f"'{name}' has no value on some paths to here: it is assigned on {where}; assign it "
            "before the branch or loop too",
        )

    @contextlib.contextmanager
    def maybe(self) -> Iterator[None]:
        """What is computed on some paths only: names that it binds may have no value behind it."""
        before = self.bound
        yield
        self.bound = meet(before, self.bound)

    @contextlib.contextmanager
    def loop(self, node: ast.For | ast.While, *, forever: bool = False) -> Iterator[None]:
        """A loop, which the caller writes, and its ``else``, which break skips."""
        # The condition is computed at least once, also where there is no round.
        asked = bound_when(node.test, False) if isinstance(node, ast.While) else set()
        self.broken.append(self.variable("bool") if node.orelse else "")
        self.loops += 1
        self.left.append(([], []))
        self.runs.append(False)
        before = self.bound
        # What holds before, of what the loop does not change, holds in it and behind it.
        self.signs.forget({self.spell(name) for name in stored_in([node])})
        facts = dict(self.signs.facts)
        yield
        self.signs.facts = facts
        self.loops -= 1
        breaks, continues = self.left.pop()
        runs = self.runs.pop()
        if forever:
            self.bound = None
        elif runs:
            self.bound = meet(self.bound, *continues)
        else:
            # The variable of a loop keeps its last value: programs read it where there is a round.
            target = node.target if isinstance(node, ast.For) else ast.Tuple([])
            names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
            self.bound = None if before is None else before | names | asked
        broken = self.broken.pop()
        if node.orelse:
            self.line(f"if (!{broken}) {{")
            with self.indented():
                self.body(node.orelse)
            self.line("}")
            self.signs.facts = after(facts, self.signs.facts)
        self.bound = meet(self.bound, *breaks)

    def _unsupported(self, node: ast.AST, known: Mapping[type[ast.AST], str]) -> KernelError:
        """A construct of Python that kernels do not have, with what to use instead."""
        what, _, hint = known.get(type(node), type(node).__name__).partition("; ")
        return self.error(node, f"{what} is not supported in kernels{hint and '; '}{hint}")

    def scalar(self, node: ast.expr, what: str = "") -> Number:
        """An expression that must be a number."""
        return self.number(node, self.value(node), what)

    def number(self, node: ast.AST, value: Value, what: str = "") -> Number:
        """The value, which must be a number."""
        if isinstance(value, Number):
            return value
        if isinstance(value, v.ArrayValue) and value.indices:
            raise self.error(
                node,
                f"{what or 'this'} is a row of an array of {number_of(value.ndim, 'dimension')}; "
                "give all indices",
            )
        asked = ", such as item.get_id(0)" if value == v.ItemValue("item") else ""
        raise self.error(node, f"{what or 'this'} is {v.describe(value)}; expected a number{asked}")

    def to_constant(self, node: ast.AST, value: Value, what: str) -> int:
        """An int that is known when compiling, if need be because the kernel is specialised."""
        number = self.number(node, v.counted(value), what)
        if isinstance(number.const, int):
            return int(number.const)
        if number.const is None and number.origins and number.type.kind in "iu":
            raise Specialise(number.origins)
        hint = (
            "expected an int"
            if number.const is not None or number.type.kind not in "iu"
            else "must be known when compiling: a literal, a global, or computed from arguments "
            "and shapes alone"
        )
        raise self.error(node, f"{what} is {v.describe(number)}; {hint}")

    def origins_of(self, parameter: str) -> frozenset[str]:
        """What a number of a device function's parameter is computed from."""
        return frozenset({of_parameter(self.function.tree, parameter.split(".", maxsplit=1)[0])})

    def lookup(self, name: str) -> object:
        """What a name means outside of the function, or MISSING."""
        return self.function.lookup(name, self.module.reads)

    # --- text -----------------------------------------------------------------------------------

    def error(self, node: ast.AST | None, cause: str) -> KernelError:
        """An error at a place of this function."""
        return self.place.error(node, cause)

    def line(self, text: str) -> None:
        """One line of C++ at the depth at hand."""
        self.result.lines.append("  " * self.depth + text)

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        """Lines inside of braces."""
        self.depth += 1
        yield
        self.depth -= 1

    @contextlib.contextmanager
    def apart(self) -> Iterator[list[str]]:
        """Collect the lines that a part of an expression needs before it.

        That part may not be computed at all, so that the caller decides where they stand.
        """
        lines: list[str] = []
        whole, self.result.lines = self.result.lines, lines
        try:
            yield lines
        finally:
            self.result.lines = whole

    def inside(self, lines: list[str], *more: str) -> None:
        """Collected lines and others, in braces that stand here."""
        self.result.lines += ["  " + line for line in lines]
        with self.indented():
            for line in more:
                self.line(line)

    def new_variable(self) -> str:
        """The name of a variable that the text of the function does not have."""
        name = f"usmx.{len(self.stores)}"
        self.stores[name] = 2
        return name

    def declare(self, declaration: str) -> None:
        """A declaration before the first line."""
        if declaration not in self.result.declarations:
            self.result.declarations.append(declaration)

    def temporary(self, value: Number) -> Number:
        """The value under a name, so that it is computed once and now."""
        name = self.store_once(value.type.cpp, value.code)
        least = self.signs.least(value)
        return Number(value.type, name, origins=value.origins, least=least, asks=value.asks)

    def store_once(self, cpp: str, code: str, lengths: str = "") -> str:
        """The name of a constant that holds this from now on."""
        self.temporaries += 1
        name = self.spell(f"once.{self.temporaries}")
        self.line(f"const {cpp} {name}{lengths} = {code};")
        return name

    def variable(self, cpp: str, code: str = "") -> str:
        """The name of a variable of C++ that no name of Python stands for."""
        self.temporaries += 1
        name = self.spell(f"once.{self.temporaries}")
        self.line(f"{cpp} {name}{f' = {code}' if code else '{}'};")
        return name

    # --- what the whole kernel needs ------------------------------------------------------------

    def take_memory(self, node: ast.AST, space: str, name: str, size: int) -> None:
        """Count an array of private or local memory."""
        taken = self.result.memory[space]
        taken[name] = size
        total = sum(taken.values())
        most = MOST_PRIVATE if space == "private" else MOST_LOCAL
        if total > most:
            whose = "an item" if space == "private" else "a group"
            raise self.error(node, f"{total} bytes of {space} memory; {whose} has at most {most}")

    def needs_group(self, node: ast.AST, what: str) -> None:
        """Note that the kernel only makes sense with work-groups of a given size."""
        if self.result.needs_group is None:
            self.result.needs_group = f"line {self.place.lineno(node)}: {what}"

    def mark_written(self, a: v.ArrayValue) -> None:
        """Note that a parameter's elements are written."""
        if a.parameter is not None:
            self.mark(a.parameter)

    def mark(self, parameter: str) -> None:
        """The same by its name, and of all arrays that it may stand for."""
        if parameter in self.result.written:
            return
        self.result.written.add(parameter)
        for name, one in self.several.items():
            if array_of(name) == parameter:
                for source in sorted(one.sources):
                    self.mark(source)


def array_of(name: str) -> str:
    """The view that a name of more than one array is in C++."""
    return f"{name}.array"


def of_parameter(tree: ast.AST, name: str) -> str:
    """What a parameter of a device function is called among `Number.origins`."""
    return f"{id(tree)}({name})"


def is_of_launch(number: Number) -> bool:
    """Whether it is computed from what a launch has; not from a parameter of a device function."""
    return bool(number.origins) and not any("(" in origin for origin in number.origins)


def meet(*paths: frozenset[str] | None) -> frozenset[str] | None:
    """The names that have a value on all paths; None of those that lead nowhere."""
    found = [path for path in paths if path is not None]
    return frozenset.intersection(*found) if found else None


def bound_when(node: ast.expr, outcome: bool) -> set[str]:
    """The names that ``:=`` has given a value where a condition has this outcome."""
    if isinstance(node, ast.BoolOp):
        parts = [bound_when(one, outcome) for one in node.values]
        return set().union(*parts) if isinstance(node.op, ast.And) == outcome else parts[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return bound_when(node.operand, not outcome)
    if isinstance(node, ast.NamedExpr):
        return {node.target.id} | bound_when(node.value, outcome)
    if isinstance(node, ast.Lambda):
        return set()
    if isinstance(node, ast.IfExp):
        paths = (
            bound_when(node.test, True) | bound_when(node.body, outcome),
            bound_when(node.test, False) | bound_when(node.orelse, outcome),
        )
        return paths[0] & paths[1]
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Compare) and not outcome:
        children = [node.left, node.comparators[0]]  # the first that fails ends the chain
    # How a part of a number came out is not known.
    return set().union(
        *(bound_when(one, True) & bound_when(one, False) for one in children
          if isinstance(one, ast.expr))
    )  # fmt: skip


def constant(value: Any) -> ast.Constant:
    """A node that means any object: the elaborators and the simulator know what to do with it."""
    return ast.Constant(value)


def in_order(walk: Walk, node: ast.Call, least: int, most: int | None = None) -> list[ast.expr]:
    """The arguments of a call that takes no keywords."""
    most = least if most is None else most
    name = ast.unparse(node.func)
    if node.keywords:
        raise walk.error(node.keywords[0].value, f"'{name}' takes no keyword arguments in kernels")
    if not least <= len(node.args) <= most:
        wanted = number_of(most, "argument")
        wanted = wanted if least == most else f"{least} to {wanted}"
        raise walk.error(node, f"'{name}' takes {wanted}, got {len(node.args)}")
    return node.args


def by_name(walk: Walk, node: ast.Call, *names: str) -> list[ast.expr | None]:
    """The arguments of a call by position or name; None for those that are missing."""
    found: list[ast.expr | None] = [*node.args, *([None] * (len(names) - len(node.args)))]
    if len(node.args) > len(names):
        wanted = number_of(len(names), "argument")
        raise walk.error(node, f"takes {wanted}, got {len(node.args)}")
    for keyword in node.keywords:
        if keyword.arg not in names:
            raise walk.error(
                keyword.value,
                f"'{ast.unparse(node.func)}' has no parameter "
                f"'{keyword.arg}'; it has {', '.join(names)}",
            )
        found[names.index(keyword.arg)] = keyword.value
    return found
