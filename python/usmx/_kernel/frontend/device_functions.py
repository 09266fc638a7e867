"""Functions with @usmx.device_func: each is compiled for the types that it is called with."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from ..source.function import Function
from ..types.scalars import Array, Scalar, Static, Type
from ..types.values import (
    ArrayValue,
    ItemValue,
    Number,
    PythonObject,
    Tuple,
    Value,
    convert,
    describe,
)
from .module import Module
from .results import Instance, Walked
from .walk import Walk, in_order

#: Walks over a function for some arguments; `elaborate` is the one that there is.
Elaborate = Callable[[Function, Mapping[str, Type | Value], Module], Walked]


class DeviceFunctions:
    """Calls of device functions."""

    def __init__(self, walk: Walk, elaborate: Elaborate) -> None:
        self.walk = walk
        self.elaborate = elaborate

    def call(self, node: ast.Call, callee: Function) -> Value:
        """A call, and the function itself where these types are new."""
        walk = self.walk
        nodes = in_order(walk, node, len(callee.parameters))
        values = [walk.value(one) for one in nodes]
        instance = self._instance(node, callee, values)
        result = instance.result
        walk.result.calls.append(instance)
        walk.result.called[node] = instance
        for name, size in result.memory["private"].items():
            walk.take_memory(node, "private", f"{instance.name}.{name}", size)
        if result.needs_group is not None:
            walk.needs_group(node, f"'{callee.name}'")
        codes = []
        for name, value in zip(callee.parameters, values, strict=True):
            if isinstance(value, Number):
                codes.append(convert(value, instance.arguments[name]).code)
            elif isinstance(value, ArrayValue):
                codes.append(as_view(value))
                if name in result.written:
                    walk.mark_written(value)
        if result.needs_tables:
            walk.result.needs_tables = True
            codes.append("usmx_tables")
        code = f"{instance.name}({', '.join(codes)})"
        if result.returns is None:
            walk.line(code + ";")
            return PythonObject(None)
        if not result.returns_tuple:
            return Number(result.returns[0], code, pure=False)
        name = walk.store_once("auto", code)
        return Tuple(tuple(Number(t, f"{name}.v{k}") for k, t in enumerate(result.returns)))

    def _instance(self, node: ast.Call, callee: Function, values: list[Value]) -> Instance:
        """The function for the arguments of a call."""
        arguments: dict[str, Type | Value] = {}
        for name, value, at in zip(callee.parameters, values, node.args, strict=True):
            arguments[name] = self._argument(value, at)
        key = (callee.python, tuple(arguments.items()))
        instances = self.walk.module.instances
        if key in instances:
            found = instances[key]
            if found is None:
                raise self.walk.error(
                    node, f"'{callee.name}' calls itself; recursion is not supported"
                )
            return found
        instances[key] = None
        try:
            walked = self.elaborate(callee, arguments, self.walk.module)
            if walked.result.returns is not None and not ends(callee.tree.body):
                raise callee.place.error(None, "it may end without returning a value")
            made = instances[key] = write(self.walk.module, walked, arguments)
        except BaseException:
            del instances[key]
            raise
        return made

    def _argument(self, value: Value, node: ast.AST) -> Type | Value:
        """What a device function knows of an argument."""
        if isinstance(value, Number):
            return value.type
        if isinstance(value, ArrayValue):
            if value.indices:
                raise self.walk.error(node, "a row of an array cannot be passed; pass the array")
            dense = value.dense or value.space != "global"
            return Array(value.element, value.ndim, dense, not value.readonly)
        if isinstance(value, ItemValue):
            return value
        if isinstance(value, PythonObject):
            return Static(value.value)
        raise self.walk.error(node, f"{describe(value)} cannot be passed to a function")


def as_view(a: ArrayValue) -> str:
    """An array as an argument of a device function."""
    if a.space == "global":
        return a.code
    const = "const " if a.space == "constant" else ""
    assert a.shape is not None
    first = a.code + "[0]" * a.ndim
    lengths = ", ".join(map(str, a.shape))
    return f"usmx::dense<{const}{a.element.cpp}, {a.ndim}>{{&{first}, {{{lengths}}}}}"


def write(module: Module, walked: Walked, arguments: Mapping[str, object]) -> Instance:
    """The C++ of a device function."""
    result, function = walked.result, walked.function
    name = module.unique(function.name)
    parameters, numbers = [], {}
    for p in function.parameters:
        t = arguments[p]
        spelled = walked.spell(p)
        if isinstance(t, Scalar):
            numbers[p] = t
            given = "" if walked.variables[p].cpp == t.cpp else "_given"
            parameters.append(f"{t.cpp} {spelled}{given}")
        elif isinstance(t, Array):
            const = "" if p in result.written else "const "
            form = "dense" if t.dense else "strided"
            parameters.append(f"usmx::{form}<{const}{t.element.cpp}, {t.ndim}> {spelled}")
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
    return Instance(f"device::{name}", numbers, "\n".join(lines), walked)


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
