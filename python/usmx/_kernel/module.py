"""One C++ text: constant tables, device functions and the kernel, and what they have in common."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import names
from .types import Array, Scalar, Static, Type
from .values import ArrayValue, ItemValue, Number, PythonObject, Value, describe

if TYPE_CHECKING:
    from .source import Function
    from .spaces import ConstantArray
    from .walker import Result, Walker


@dataclass
class Instance:
    """A device function for one list of argument types."""

    name: str
    arguments: dict[str, Scalar]
    text: str
    result: Result
    returns: tuple[Scalar, ...] | None
    returns_tuple: bool
    #: For the simulator: the walk that made it.
    walk: object


@dataclass(frozen=True)
class Table:
    """A constant table in one text: its name there, and whether it is given at each launch."""

    name: str
    of: ConstantArray
    is_given: bool

    @property
    def code(self) -> str:
        """Where the text has its elements."""
        return f"(*usmx_tables.{self.name})" if self.is_given else f"table::{self.name}"


@dataclass
class Module:
    """What the functions of one text share.

    Attributes
    ----------
    rank : int
        Dimensions of the launch.
    known : mapping
        Numbers of the arguments that the text is specialised for: ``"n"``, ``"x.shape[0]"``.
    grouped : bool
        Whether the kernel has something to do with groups, such as barriers.
    """

    rank: int
    known: Mapping[str, int]
    grouped: bool = False
    constants: dict[int, Table] = field(default_factory=dict)
    instances: dict[object, Instance | None] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """A name that nothing else of the text has."""
        wanted, number = names.spell(name), 1
        while wanted in self.taken:
            number += 1
            wanted = f"{names.spell(name)}_{number}"
        self.taken.add(wanted)
        return wanted

    def constant(self, table: ConstantArray, name: str) -> Table:
        """A constant table under a name of its own."""
        if id(table) not in self.constants:
            self.constants[id(table)] = Table(self.unique(name), table, table.is_updated)
        return self.constants[id(table)]

    @property
    def frozen(self) -> list[ConstantArray]:
        """Tables whose values stand in the text."""
        return [t.of for t in self.constants.values() if not t.is_given]

    @property
    def given(self) -> list[Table]:
        """Tables that each launch passes, in this order, after the arguments."""
        return [t for t in self.constants.values() if t.is_given]

    def instance(
        self, caller: Walker, node: ast.Call, callee: Function, values: list[Value]
    ) -> Instance:
        """A device function for the arguments of a call."""
        from .elaborate import Elaborator

        arguments: dict[str, Type | Value] = {}
        for name, value, at in zip(callee.parameters, values, node.args, strict=True):
            arguments[name] = self.argument(caller, value, at)
        key = (callee.python, tuple(arguments.items()))
        if key in self.instances:
            found = self.instances[key]
            if found is None:
                raise caller.error(node, f"'{callee.name}' calls itself; devices have no recursion")
            return found
        self.instances[key] = None
        try:
            walk = Elaborator(callee, arguments, self, is_kernel=False)
            result = walk.run()
            if result.returns is not None and not ends(callee.tree.body):
                raise walk.error(None, "it may end without returning a value")
            made = self.instances[key] = write_function(self, walk, arguments)
        except BaseException:
            del self.instances[key]
            raise
        return made

    def argument(self, caller: Walker, value: Value, node: ast.AST) -> Type | Value:
        """What a device function knows of an argument."""
        if isinstance(value, Number):
            return value.type
        if isinstance(value, ArrayValue):
            if value.indices:
                raise caller.error(node, "a row of an array cannot be passed; pass the array")
            dense = value.dense or value.space != "global"
            return Array(value.element, value.ndim, dense, not value.readonly)
        if isinstance(value, ItemValue):
            return value
        if isinstance(value, PythonObject):
            return Static(value.value)
        raise caller.error(node, f"{describe(value)} cannot be passed to a function")


def parameter(name: str, t: Array, written: bool) -> str:
    """An array as a parameter of a device function."""
    const = "" if written else "const "
    return f"usmx::{'dense' if t.dense else 'strided'}<{const}{t.element.cpp}, {t.ndim}> {name}"


def write_function(module: Module, walk: object, arguments: Mapping[str, object]) -> Instance:
    """The C++ of a device function."""
    from .elaborate import Elaborator

    assert isinstance(walk, Elaborator)
    result, function = walk.result, walk.function
    name = module.unique(function.name)
    parameters, scalars = [], {}
    for p in function.parameters:
        t = arguments[p]
        spelled = walk.spell(p)
        if isinstance(t, Scalar):
            scalars[p] = t
            given = "" if walk.variables[p].cpp == t.cpp else "_given"
            parameters.append(f"{t.cpp} {spelled}{given}")
        elif isinstance(t, Array):
            parameters.append(parameter(spelled, t, p in result.written))
    if result.needs_tables:
        parameters.append("const table::usmx_given& usmx_tables")
    lines = []
    returns = "void"
    if result.returns is not None:
        returns = result.returns[0].cpp
        if result.returns_tuple:
            returns = module.unique(f"{function.name}_values")
            fields = " ".join(f"{t.cpp} v{k};" for k, t in enumerate(result.returns))
            lines.append(f"struct {returns} {{ {fields} }};")
    lines.append(f"inline {returns} {name}({', '.join(parameters)}) {{")
    lines += ["  " + d for d in result.declarations] + result.lines + ["}"]
    return Instance(
        f"device::{name}",
        scalars,
        "\n".join(lines),
        result,
        result.returns,
        result.returns_tuple,
        walk,
    )


def ends(body: list[ast.stmt]) -> bool:
    """Whether a function cannot come to its end without a return."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, ast.While):
        forever = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return forever and not any(isinstance(n, ast.Break) for n in ast.walk(last))
    return False
