"""Functions with @usmx.device_func: each is compiled for the types that it is called with."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from ..source.diagnostics import number_of
from ..source.function import NAME_OF_LAMBDAS, Function, Nested, read
from ..types import values as v
from ..types.scalars import Array, RecordOf, Scalar, Static, TupleOf, Type
from ..types.values import (
    ArrayValue,
    ItemValue,
    Number,
    PythonObject,
    Reference,
    Tuple,
    Value,
    convert,
    describe,
    filled,
    parts,
)
from . import spelling
from .module import Module
from .records import Records
from .results import Instance, Specialise, Walked
from .views import as_view, check_view
from .walk import Walk, constant, of_parameter

#: Walks over a function for some arguments; `elaborate` is the one that there is.
Elaborate = Callable[..., Walked]


class DeviceFunctions:
    """Calls of device functions."""

    def __init__(
        self,
        walk: Walk,
        elaborate: Elaborate,
        bind: Callable[[str, Value, ast.AST], None],
        records: Records,
    ) -> None:
        self.walk = walk
        self.records = records
        #: Gives a name to what exists only while compiling.
        self.bind = bind
        #: Functions inside of this one, the same in every round.
        self.made: dict[ast.AST, Nested] = {}
        self.elaborate = elaborate

    def call(self, node: ast.Call, callee: Function) -> Value:
        """A call, and the function itself where these types are new."""
        walk = self.walk
        nodes = self._bound(node, callee)
        values = [walk.value(one) for one in nodes]
        for value in values:
            for _, item in parts("", value):
                if isinstance(item, ArrayValue):
                    check_view(walk, node, item)
        instance = self._instance(node, callee, nodes, values)
        result = instance.result
        walk.result.calls.append(instance)
        walk.result.called[node] = instance
        for name, size in result.memory["private"].items():
            walk.take_memory(node, "private", f"{instance.name}.{name}", size)
        for name, size in result.memory["local"].items():
            # One for all calls, also if another function calls it.
            own = name if name.startswith("device::") else f"{instance.name}.{name}"
            walk.take_memory(node, "local", own, size)
        if result.needs_group is not None:
            walk.needs_group(node, f"'{callee.name}'")
        codes: list[str] = []
        for name, value in zip(callee.parameters, values, strict=True):
            for part, item in parts(name, value):
                if isinstance(item, Number):
                    # One that the function knows is none of its parameters.
                    if part in instance.arguments:
                        codes.append(convert(item, instance.arguments[part]).code)
                elif isinstance(item, Reference):
                    codes.append(item.code)
                    if part in result.written:
                        self.records.mark_written(node, item)
                elif isinstance(item, ArrayValue):
                    is_written = part in result.written
                    codes.append(as_view(item, is_written))
                    if is_written:
                        walk.mark_written(item)
        if result.needs_tables:
            walk.result.needs_tables = True
            codes.append("usmx_tables")
        code = f"{instance.name}({', '.join(codes)})"
        if result.returns is None:
            walk.line(code + ";")
            return PythonObject(None)
        if result.returns_tuple is None:
            return Number(
                result.returns[0], code, pure=False, least=result.least[0], asks=_asks(values)
            )
        name = walk.store_once("auto", code)
        numbers = (
            Number(t, f"{name}.v{k}", least=least, asks=_asks(values))
            for k, (t, least) in enumerate(zip(result.returns, result.least, strict=True))
        )
        return filled(result.returns_tuple, numbers)

    def _bound(self, node: ast.Call, callee: Function) -> list[ast.expr]:
        """The arguments in the order of the parameters, defaults for those that are missing."""
        names, walk = callee.own_parameters, self.walk
        bound = dict(zip(names, node.args, strict=False))
        by_place = len(names) - callee.keyword_only
        if len(node.args) > by_place:
            what = number_of(by_place, "argument") + (" by place" if callee.keyword_only else "")
            raise walk.error(node, f"'{callee.name}' takes {what}, got {len(node.args)}")
        for keyword in node.keywords:
            if keyword.arg not in names:
                raise walk.error(keyword.value, f"'{callee.name}' has no parameter '{keyword.arg}'")
            if keyword.arg in bound:
                raise walk.error(
                    keyword.value, f"'{callee.name}' got '{keyword.arg}' twice; give it once"
                )
            bound[keyword.arg] = keyword.value
        for name, value in callee.defaults.items():
            if name not in bound:
                bound[name] = ast.copy_location(constant(value), node)
        missing = [name for name in names if name not in bound]
        if missing:
            raise walk.error(
                node,
                f"'{callee.name}' takes {number_of(len(names), 'argument')}, got {len(bound)}; "
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            )
        found = [bound[name] for name in names]
        if isinstance(callee, Nested):
            found += self._captured(node, callee)
        return found

    def nested(self, node: ast.FunctionDef | ast.Lambda) -> PythonObject:
        """A function inside of this one."""
        if node not in self.made:
            self.made[node] = self._nested(node)
        return PythonObject(self.made[node])

    def _nested(self, node: ast.FunctionDef | ast.Lambda) -> Nested:
        walk, a = self.walk, node.args
        if isinstance(node, ast.Lambda):
            name, body = NAME_OF_LAMBDAS, [ast.copy_location(ast.Return(node.body), node)]
        else:
            name, body = node.name, node.body  # type: ignore[assignment]
            if node.decorator_list:
                raise walk.error(
                    node.decorator_list[0], "a function inside of another takes no decorators"
                )
        for bad in (a.vararg, a.kwarg):
            if bad is not None:
                raise walk.error(
                    bad,
                    f"'{bad.arg}': a variable number of parameters is not supported; pass a tuple",
                )
        by_place = [p.arg for p in (*a.posonlyargs, *a.args)]
        by_keyword = [p.arg for p in a.kwonlyargs]
        own = [*by_place, *by_keyword]
        given = []
        defaults = [
            *zip(by_place[len(by_place) - len(a.defaults) :], a.defaults, strict=True),
            *zip(by_keyword, a.kw_defaults, strict=True),
        ]
        for p, value in defaults:
            if value is None:
                continue
            try:
                given.append((p, ast.literal_eval(value)))
            except ValueError:
                raise walk.error(
                    value, "the default of a nested function must be a literal"
                ) from None
        tree = ast.FunctionDef(name, a, body, [])  # type: ignore[arg-type]
        inside = {*own, *spelling.stores(tree)}
        read = {n.id for part in body for n in ast.walk(part) if isinstance(n, ast.Name)} - inside
        captured = tuple(sorted(read & {*walk.stores, *walk.function.parameters}))
        # By name, so that parameters with defaults may stand before them.
        args = ast.arguments(
            a.posonlyargs, a.args, None, [*a.kwonlyargs, *(ast.arg(n) for n in captured)],
            [*a.kw_defaults, *[None] * len(captured)], None, a.defaults,
        )  # fmt: skip
        tree = ast.copy_location(ast.FunctionDef(name, args, body, []), node)  # type: ignore[arg-type]
        function = walk.function
        return Nested(
            function.python, tree, walk.place, (*own, *captured), function.tree, captured,
            tuple(given),
        )  # fmt: skip

    def on_nested(self, node: ast.FunctionDef) -> None:
        """``def f(...)`` inside of a function."""
        self.bind(node.name, self.nested(node), node)

    def _captured(self, node: ast.Call, callee: Nested) -> list[ast.expr]:
        """The variables that a nested function reads, as they are where it is called."""
        if callee.captured and callee.owner is not self.walk.function.tree:
            shown = ", ".join(f"'{name}'" for name in callee.captured)
            raise self.walk.error(
                node,
                f"the nested function reads {shown} of the function that it stands in, and can be "
                "called only there; pass what it reads as arguments",
            )
        return [ast.copy_location(ast.Name(name, ast.Load()), node) for name in callee.captured]

    def _instance(
        self, node: ast.Call, callee: Function, nodes: list[ast.expr], values: list[Value]
    ) -> Instance:
        """The function for the arguments of a call."""
        arguments: dict[str, Type | TupleOf | Value] = {}
        for name, value, at in zip(callee.parameters, values, nodes, strict=True):
            arguments[name] = self._argument(value, at)
            if self.walk.module.numba and is_known_bool(value) and callee.keeps(name):
                arguments[name] = value  # Numba leaves out branches that a literal decides
        self.walk.module.reads.function(callee.python)
        which = callee.tree if isinstance(callee, Nested) else callee.python
        for name in self.walk.module.to_know.get(which, ()):
            self._know(arguments, callee, name, nodes, values)
        sure = self._not_negative(callee, values)
        key = (which, tuple(arguments.items()), sure)
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
            try:
                walked = self.elaborate(callee, arguments, self.walk.module, not_negative=sure)
            except Specialise as missing:
                own = {of_parameter(callee.tree, p): p for p in callee.parameters}
                others = missing.origins - own.keys()
                if others:
                    raise Specialise(others) from None
                names = [own[origin] for origin in sorted(missing.origins)]
                # The same again, for the numbers that this call passes.
                self.walk.module.to_know.setdefault(which, []).extend(names)
                del instances[key]
                return self._instance(node, callee, nodes, values)
            if walked.result.returns is not None and not ends(callee.tree.body):
                raise callee.place.error(None, "it may end without returning a value")
            made = instances[key] = write(self.walk.module, walked, arguments)
        except BaseException:
            instances.pop(key, None)
            raise
        return made

    def _not_negative(self, callee: Function, values: list[Value]) -> frozenset[str]:
        """The parameters that get numbers which are not negative."""
        signs, found = self.walk.signs, set()
        indexes = any(isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(callee.tree))
        for name, value in zip(callee.parameters, values, strict=True):
            for part, item in parts(name, value):
                if isinstance(item, Number) and item.type.kind == "i":
                    least = signs.least(item)
                    if least is not None and least >= 0:
                        found.add(part)
                    elif indexes:
                        self.walk.module.asks |= item.asks
        return frozenset(found)

    def _know(
        self,
        arguments: dict[str, Type | TupleOf | Value],
        callee: Function,
        name: str,
        nodes: list[ast.expr],
        values: list[Value],
    ) -> None:
        """Pass a number by its value, because the function makes memory of that length."""
        k = callee.parameters.index(name)
        value = values[k]
        numbers = value.items if isinstance(value, Tuple) else (value,)
        what = f"'{name}' of '{callee.name}'"
        known = [v.constant(self.walk.to_constant(nodes[k], one, what)) for one in numbers]
        arguments[name] = Tuple(tuple(known)) if isinstance(value, Tuple) else known[0]

    def _argument(self, value: Value, node: ast.AST) -> Type | TupleOf | Value:
        """What a device function knows of an argument."""
        if isinstance(value, Number):
            return value.type
        if isinstance(value, ArrayValue):
            dense = value.dense or (value.space != "global" and not value.sliced)
            rank = value.ndim - len(value.indices)
            return Array(value.element, rank, dense, not value.readonly)
        if isinstance(value, Reference):
            return RecordOf(value.record, not value.readonly)
        if isinstance(value, ItemValue):
            return value
        if isinstance(value, PythonObject):
            return Static(value.value)
        if isinstance(value, Tuple):
            items = tuple(self._argument(item, node) for item in value.items)
            return TupleOf(items, value.kind)
        raise self.walk.error(node, f"{describe(value)} cannot be passed to a function")


def _asks(values: list[Value]) -> frozenset[str]:
    """What the signs of arguments depend on, and so that of a result."""
    numbers = (item for value in values for _, item in parts("", value))
    return frozenset[str]().union(*(n.asks for n in numbers if isinstance(n, Number)))


def is_known_bool(value: Value) -> bool:
    """Whether it is True or False, which stands in the text."""
    return isinstance(value, Number) and isinstance(value.const, bool)


def plain(python: Any) -> Function:
    """A function without a decorator."""
    return _plain(python, python.__code__)


@functools.lru_cache(maxsize=1024)
def _plain(python: Callable[..., object], _: object) -> Function:
    """The same; its code may be replaced."""
    return read(python)


def write(module: Module, walked: Walked, arguments: Mapping[str, object]) -> Instance:
    """The C++ of a device function."""
    result, function = walked.result, walked.function
    name = module.unique(function.name)
    parameters, numbers = [], {}
    for p, t in itertools.chain.from_iterable(parts(p, arguments[p]) for p in function.parameters):
        # Of numbers that are known there is nothing to pass.
        spelled = walked.spell(p)
        if isinstance(t, Scalar):
            numbers[p] = t
            given = "" if walked.variables[p].cpp == t.cpp else "_given"
            parameters.append(f"{t.cpp} {spelled}{given}")
        elif isinstance(t, RecordOf):
            const = "" if p in result.written else "const "
            parameters.append(f"{const}{t.record.cpp}& {spelled}")
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
        if result.returns_tuple is not None:
            returns = module.unique(f"{function.name}_values")
            fields = " ".join(f"{t.cpp} v{k};" for k, t in enumerate(result.returns))
            lines.append(f"struct {returns} {{ {fields} }};")
    lines.append(f"inline {returns} {name}({', '.join(parameters)}) {{")
    lines += ["  " + d for d in result.declarations] + result.text + ["}"]
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
