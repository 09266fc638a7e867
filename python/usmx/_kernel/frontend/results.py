"""What a walk over a function finds out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..source.function import Function
from ..types.scalars import Scalar
from ..types.values import Tuple
from .spelling import Speller

#: A line that leaves the function, with zeros where it returns something.
STOP = "usmx_stop;"


class Specialise(Exception):
    """Something must be known when compiling that only the arguments of a launch can say."""

    def __init__(self, origins: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(origins)))
        self.origins = origins


@dataclass
class Result:
    """What one round over the tree found out."""

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
    #: Types of what a device function returns, those in tuples one by one; None if nothing.
    returns: tuple[Scalar, ...] | None = None
    #: Least values of them.
    least: tuple[int | None, ...] = ()
    #: The tuple that they are in; None if it is one number.
    returns_tuple: Tuple | None = None
    returns_nothing: bool = False
    #: Instances of device functions that it calls, in order.
    calls: list[Instance] = field(default_factory=list)
    #: For the simulator: types that the values of nodes are converted to.
    notes: dict[ast.AST, Scalar] = field(default_factory=dict)
    #: For the simulator: what calls turned out to be.
    called: dict[ast.AST, object] = field(default_factory=dict)
    #: For the simulator: the objects of bound methods that are called.
    bound: dict[ast.AST, object] = field(default_factory=dict)
    #: For the simulator: what is compiled in place of calls.
    lowered: dict[ast.AST, ast.expr] = field(default_factory=dict)
    #: For the simulator: targets that are parts of variables, such as `v.x`.
    components: set[ast.AST] = field(default_factory=set)
    #: For the simulator: elements that are vectors and of which only a part is read.
    partial: set[ast.AST] = field(default_factory=set)

    @property
    def text(self) -> list[str]:
        """The lines in C++."""
        stop = "return;" if self.returns is None else "return {};"
        return [s.replace(STOP, stop) if s.endswith(STOP) else s for s in self.lines]


@dataclass(frozen=True, eq=False)
class Walked:
    """A function for one list of argument types, with the types of everything in it."""

    function: Function
    result: Result
    variables: dict[str, Scalar]
    spell: Speller


@dataclass(eq=False)
class Instance:
    """A device function for one list of argument types, in C++."""

    name: str
    arguments: dict[str, Scalar]
    text: str
    walked: Walked

    @property
    def result(self) -> Result:
        """What the walk found."""
        return self.walked.result
