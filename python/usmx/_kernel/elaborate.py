"""From the syntax tree of one function to C++, with the types of everything in it.

The tree is walked until the types of its variables no longer change; each walk makes the whole
text, and the last one counts. So a construct is described in one place: its types, its errors and
its C++ together.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from . import names, operators, types
from .calls import Calls
from .diagnostics import Place
from .functions import LocalMemory
from .module import Module
from .source import Function
from .statements import Statements
from .types import Array, Scalar, Static, Type
from .values import ArrayValue, ItemValue, Number, PythonObject, Tuple, Value, constant, convert
from .walker import Result

#: Types grow a few times at most: bool, int, float, complex, weak and strong.
MOST_WALKS = 12


class Elaborator(Statements, Calls):
    """One function for one list of argument types."""

    def __init__(
        self,
        function: Function,
        arguments: Mapping[str, Type | Value],
        module: Module,
        *,
        is_kernel: bool,
        item: str | None = None,
    ) -> None:
        self.function = function
        self.place: Place = function.place
        self.arguments = arguments
        self.module = module
        self.is_kernel = is_kernel
        self.item = item
        self.variables: dict[str, Scalar] = {}
        self.spell: names.Speller = names.Speller()
        self.stores: dict[str, int] = names.stores(function.tree)
        self.private_loops: set[str] = names.private_loops(function.tree)
        self.result: Result = Result()
        self.origins: dict[str, frozenset[str]] = {}
        self.temporaries: int = 0
        self.returned: tuple[Scalar, ...] | None = None

    def run(self) -> Result:
        """Walk until nothing changes."""
        for _ in range(MOST_WALKS):
            before = dict(self.variables), self.returned
            self.result = Result()
            self.statics: dict[str, Value] = {}
            self.known: dict[str, Number] = {}
            self.origins = {}
            self.hint = ""
            self.assigned: set[str] = set()
            self.depth = 1
            self.loops = 0
            self.temporaries = 0
            self.bind_parameters()
            self.body(self.function.tree.body)
            if before == (self.variables, self.returned):
                self.declare_variables()
                return self.result
        raise self.error(None, "the types of its variables do not settle")

    def bind_parameters(self) -> None:
        """Make the parameters known as values."""
        for name in self.function.parameters:
            if name == self.item:
                self.statics[name] = ItemValue("item")
                continue
            t = self.arguments[name]
            cpp = self.spell(name)
            if isinstance(t, Scalar):
                known = self.module.known.get(name) if self.is_kernel else None
                if known is not None and t.kind in "bi" and name not in self.stores:
                    self.known[name] = constant(known)
                self.variables[name] = types.join(self.variables.get(name, t), t)
                self.assigned.add(name)
            elif isinstance(t, Array):
                self.statics[name] = ArrayValue(
                    t.element,
                    t.ndim,
                    cpp,
                    dense=t.dense,
                    parameter=name,
                    readonly=not t.writable,
                )
            elif isinstance(t, Static):
                self.statics[name] = self.static_argument(name, t.value)
            else:
                self.statics[name] = t

    def declare_variables(self) -> None:
        """One line for each type, before the first statement."""
        by_type: dict[str, list[str]] = {}
        for name, t in self.variables.items():
            given = self.arguments.get(name)
            if name in self.private_loops or name not in self.assigned:
                continue
            if isinstance(given, Scalar):
                if given.cpp != t.cpp:
                    self.result.declarations.append(
                        f"{t.cpp} {self.spell(name)} = {t.cpp}({self.spell(name)}_given);"
                    )
                continue
            by_type.setdefault(t.cpp, []).append(self.spell(name) + "{}")
        for cpp, those in by_type.items():
            self.result.declarations.append(f"{cpp} {', '.join(those)};")

    # --- names ----------------------------------------------------------------------------------

    def read(self, node: ast.Name) -> Value:
        """What a name means where it is read."""
        name = node.id
        if name in self.known:
            return self.known[name]
        if name in self.statics:
            return self.statics[name]
        if name in self.stores or name in self.arguments:
            if name not in self.assigned:
                raise self.error(node, f"'{name}' is read before it is assigned")
            t = self.variables[name]
            origin = frozenset[str]()
            if self.is_kernel and name in self.arguments and name not in self.stores:
                origin = frozenset({name})
            elif self.stores.get(name) == 1:
                origin = self.origins.get(name, origin)
            return Number(t, self.spell(name), origins=origin)
        return self.captured(self.function.lookup(name), name, node)

    def assign_scalar(self, name: str, value: Number, node: ast.AST) -> Scalar:
        """The type that a variable has once it is assigned ``value`` too."""
        if name in self.statics:
            raise self.error(node, f"'{name}' is already something that is no number here")
        t = self.variables.get(name)
        t = value.type if t is None else types.join(t, value.type)
        self.variables[name] = t
        self.assigned.add(name)
        return t

    def bind_static(self, name: str, value: Value, node: ast.AST) -> None:
        """Give a name to something that exists only while compiling."""
        if name in self.variables:
            raise self.error(node, f"'{name}' is already a number here")
        if name in self.arguments and self.statics.get(name) != value:
            raise self.error(node, f"'{name}' is a parameter and cannot be given another array")
        if self.statics.get(name, value) != value and self.stores.get(name, 0) > 1:
            raise self.error(
                node, f"'{name}' means {_kind(self.statics[name])} already; use another name"
            )
        self.statics[name] = value

    def static_argument(self, name: str, value: object) -> Value:
        """An argument that is known when compiling: None, LocalMemory, a dtype."""
        if isinstance(value, LocalMemory):
            self.needs_group(self.function.tree, f"local memory for '{name}'")
            size = math.prod(value.shape) * value.dtype.size
            self.take_memory(self.function.tree, "local", self.spell(name), size)
            return self.local_memory(self.spell(name), value.shape, value.dtype)
        return PythonObject(value)

    # --- device functions -----------------------------------------------------------------------

    def return_values(self, node: ast.Return, numbers: list[Number], is_tuple: bool) -> None:
        """Join the types with those of other returns."""
        given = tuple(n.type for n in numbers)
        # What an earlier walk found counts too: a return may stand before a later, wider one.
        old = self.result.returns or self.returned
        if old is not None:
            if len(old) != len(given):
                raise self.error(node, f"returns {len(given)} values here and {len(old)} elsewhere")
            given = tuple(types.join(a, b) for a, b in zip(old, given, strict=True))
        self.result.returns = self.returned = given
        self.result.returns_tuple = is_tuple
        try:
            codes = [operators.checked(n, t).code for n, t in zip(numbers, given, strict=True)]
        except TypeError as error:
            raise self.error(node, str(error)) from None
        self.line(f"return {codes[0]};" if not is_tuple else f"return {{{', '.join(codes)}}};")

    def call_device_function(self, node: ast.Call, function: object) -> Value:
        """A call of a function with @usmx.device_func, compiled for the types it is given."""
        callee: Function = function.function  # type: ignore[attr-defined]
        nodes = self.plain(node, len(callee.parameters))
        values = [self.value(one) for one in nodes]
        instance = self.module.instance(self, node, callee, values)
        self.result.calls.append(instance)
        self.result.called[node] = instance
        for name, size in instance.result.memory["private"].items():
            self.take_memory(node, "private", f"{instance.name}.{name}", size)
        if instance.result.needs_group is not None:
            self.needs_group(node, f"'{callee.name}'")
        codes = []
        for name, value in zip(callee.parameters, values, strict=True):
            if isinstance(value, Number):
                codes.append(convert(value, instance.arguments[name]).code)
            elif isinstance(value, ArrayValue):
                codes.append(as_view(value))
                if name in instance.result.written:
                    self.mark_written(value)
        if instance.result.needs_tables:
            self.result.needs_tables = True
            codes.append("usmx_tables")
        code = f"{instance.name}({', '.join(codes)})"
        if instance.returns is None:
            self.line(code + ";")
            return PythonObject(None)
        if not instance.returns_tuple:
            return Number(instance.returns[0], code, pure=False)
        self.temporaries += 1
        name = self.spell(f"once.{self.temporaries}")
        self.line(f"const auto {name} = {code};")
        return Tuple(tuple(Number(t, f"{name}.v{k}") for k, t in enumerate(instance.returns)))


def as_view(a: ArrayValue) -> str:
    """An array as an argument of a device function."""
    if a.space == "global":
        return a.code
    const = "const " if a.space == "constant" else ""
    assert a.shape is not None
    first = a.code + "[0]" * a.ndim
    lengths = ", ".join(map(str, a.shape))
    return f"usmx::dense<{const}{a.element.cpp}, {a.ndim}>{{&{first}, {{{lengths}}}}}"


def _kind(value: Value) -> str:
    if isinstance(value, ArrayValue):
        return "another array"
    if isinstance(value, Tuple):
        return "a tuple"
    return "a function" if isinstance(value, PythonObject) else "something else"
