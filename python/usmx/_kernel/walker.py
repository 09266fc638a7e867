"""What the parts of the compiler's walk over a function have in common."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import values as v
from .diagnostics import KernelError, Place
from .module import Module
from .names import Speller
from .source import Function
from .types import Scalar, Type
from .values import Number, Value

if TYPE_CHECKING:
    from .module import Instance


class Specialise(Exception):
    """Something must be known when compiling that only the arguments of a launch can say."""

    def __init__(self, origins: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(origins)))
        self.origins = origins


@dataclass
class Result:
    """What a walk found out."""

    lines: list[str] = field(default_factory=list)
    #: Declarations that stand before the first line.
    declarations: list[str] = field(default_factory=list)
    #: Parameters whose elements are written.
    written: set[str] = field(default_factory=set)
    #: Bytes of private and local arrays by their names, those of called functions too.
    memory: dict[str, dict[str, int]] = field(default_factory=lambda: {"private": {}, "local": {}})
    #: Where it needs work-groups of a size that the launch says: line and construct.
    needs_group: str | None = None
    #: Whether it reads tables that launches pass.
    needs_tables: bool = False
    #: Values that a device function returns: None if nothing.
    returns: tuple[Scalar, ...] | None = None
    returns_tuple: bool = False
    returns_nothing: bool = False
    #: Instances of device functions that it calls, in order.
    calls: list[Instance] = field(default_factory=list)
    #: For the simulator: types that the values of nodes are converted to.
    notes: dict[ast.AST, Scalar] = field(default_factory=dict)
    #: For the simulator: what calls turned out to be.
    called: dict[ast.AST, object] = field(default_factory=dict)
    #: For the simulator: indices that count from the end.
    from_end: set[ast.AST] = field(default_factory=set)


#: More than this for one item can end the process: the CPU keeps it on a thread's stack.
MOST_PRIVATE = 65536
#: No device has more for one group.
MOST_LOCAL = 262144


class Walker:
    """State of one walk; `Elaborator` has the whole."""

    function: Function
    place: Place
    module: Module
    arguments: Mapping[str, Type | Value]
    is_kernel: bool
    result: Result
    spell: Speller
    stores: dict[str, int]
    private_loops: set[str]
    variables: dict[str, Scalar]
    #: Names of what exists only while compiling.
    statics: dict[str, Value]
    #: Names of numbers that are known while compiling.
    known: dict[str, Number]
    #: What variables that are assigned once are computed from.
    origins: dict[str, frozenset[str]]
    assigned: set[str]
    depth: int
    loops: int
    temporaries: int
    #: Name that the value at hand is about to get.
    hint: str

    def error(self, node: ast.AST | None, cause: str) -> KernelError:
        """An error at a place of this function."""
        return self.place.error(node, cause)

    def line(self, text: str) -> None:
        """One line of C++ at the depth at hand."""
        self.result.lines.append("  " * self.depth + text)

    def take_memory(self, node: ast.AST, space: str, name: str, size: int) -> None:
        """Count an array of private or local memory."""
        taken = self.result.memory[space]
        taken[name] = size
        total = sum(taken.values())
        most = MOST_PRIVATE if space == "private" else MOST_LOCAL
        if total > most:
            whose = "an item" if space == "private" else "a group"
            raise self.error(node, f"{total} bytes of {space} memory; {whose} has at most {most}")

    @contextlib.contextmanager
    def no_lines(self, node: ast.AST) -> Iterator[None]:
        """Refuse what has to be computed on a line before: here it may not be computed at all."""
        before = len(self.result.lines)
        yield
        if len(self.result.lines) > before:
            raise self.error(node, "has to be computed on a line before; give it a name there")

    def needs_group(self, node: ast.AST, what: str) -> None:
        """Note that the kernel only makes sense with work-groups of a given size."""
        if self.result.needs_group is None:
            self.result.needs_group = f"line {self.place.lineno(node)}: {what}"

    def number(self, node: ast.AST, value: Value, what: str = "") -> Number:
        """The value, which must be a number."""
        if isinstance(value, Number):
            return value
        if isinstance(value, v.ArrayValue) and value.indices:
            raise self.error(
                node,
                f"{what or 'this'} is a row of an array of {value.ndim} dimensions; "
                "give all indices",
            )
        raise self.error(node, f"{what or 'this'} is {v.describe(value)}, expected a number")

    def to_constant(self, node: ast.AST, value: Value, what: str) -> int:
        """An int that is known when compiling, if need be because the kernel is specialised."""
        number = self.number(node, value, what)
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
