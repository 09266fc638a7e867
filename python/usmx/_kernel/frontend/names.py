"""Names: parameters, variables, and what a name means outside of the function."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from ..language.constants import ConstantArray
from ..language.local_memory import LocalMemory
from ..source.function import MISSING
from ..types import scalars
from ..types.scalars import Array, RecordOf, Scalar, Static, TupleOf
from ..types.values import (
    ArrayValue,
    ItemValue,
    Number,
    PythonObject,
    Reference,
    Tuple,
    Value,
    constant,
    convert,
    fields_of,
    typed,
)
from . import instead
from .memory import Memory
from .signs import sign_of
from .views import point
from .walk import Walk, array_of


class Names:
    """What names mean."""

    def __init__(self, walk: Walk, memory: Memory) -> None:
        self.walk = walk
        self.memory = memory

    def bind_parameters(self) -> None:
        """Make the parameters known as values."""
        walk, scope = self.walk, self.walk.scope
        for name in walk.function.parameters:
            if name == walk.item:
                scope.statics[name] = ItemValue("item")
                continue
            t = walk.arguments[name]
            if isinstance(t, Scalar):
                known = walk.module.known.get(name) if walk.is_kernel else None
                if known is not None and t.kind in "bi" and name not in walk.stores:
                    scope.known[name] = constant(known)
                scope.variables[name] = scalars.join(scope.variables.get(name, t), t)
                scope.assigned.add(name)
                if self.given(name, t).least is None:
                    walk.signs.negative.add(name)
            else:
                value = scope.statics[name] = self.parameter(name, t)
                if name in walk.several and isinstance(value, ArrayValue):
                    point(walk, name, value)

    def parameter(self, name: str, t: object) -> Value:
        """The value of a parameter, or of an item of one that is a tuple."""
        cpp = self.walk.spell(name)
        if isinstance(t, Scalar):
            self.walk.scope.variables[name] = t
            if not self.walk.is_kernel:
                return replace(self.given(name, t), origins=self.walk.origins_of(name))
            if t.kind not in "bi":
                return Number(t, cpp)
            if name in self.walk.module.known:
                return constant(self.walk.module.known[name])
            return replace(self.given(name, t), origins=frozenset({name}))
        if isinstance(t, RecordOf):
            self.walk.module.use(t.record)
            return Reference(t.record, cpp, parameter=name, readonly=not t.writable)
        if isinstance(t, Array):
            self.walk.module.use(t.element)
            return ArrayValue(
                t.element, t.ndim, cpp, dense=t.dense, parameter=name, readonly=not t.writable
            )
        if isinstance(t, TupleOf):
            items = (self.parameter(f"{name}.{k}", item) for k, item in enumerate(t.items))
            return Tuple(tuple(items), t.kind)
        if isinstance(t, Static):
            return self.static_argument(name, t.value)
        value: Value = t  # type: ignore[assignment]
        return value

    def given(self, name: str, t: Scalar) -> Number:
        """A parameter that is a number, and whether it may be negative."""
        walk, known = self.walk, sign_of(name)
        least, asks = None, frozenset[str]()
        if t.kind == "i":
            is_sure = walk.module.known.get(known) if walk.is_kernel else name in walk.not_negative
            least = 0 if is_sure else None
            if walk.is_kernel and known not in walk.module.known:
                asks = frozenset({known})
        return Number(t, walk.spell(name), least=least, asks=asks)

    def static_argument(self, name: str, value: object) -> Value:
        """An argument that is known when compiling: None, LocalMemory, a dtype."""
        if isinstance(value, LocalMemory):
            return self.memory.given(name, value)
        return PythonObject(value)

    def declare_variables(self) -> None:
        """One line for each type, before the first statement."""
        walk = self.walk
        by_type: dict[str, list[str]] = {}
        for name, t in walk.scope.variables.items():
            given = walk.arguments.get(name)
            if name in walk.private_loops or name not in walk.scope.assigned:
                continue
            if isinstance(given, Scalar):
                if given.cpp != t.cpp:
                    walk.result.declarations.append(
                        f"{t.cpp} {walk.spell(name)} = {t.cpp}({walk.spell(name)}_given);"
                    )
                continue
            by_type.setdefault(t.cpp, []).append(walk.spell(name) + "{}")
        for cpp, those in by_type.items():
            walk.result.declarations.append(f"{cpp} {', '.join(those)};")
        # First, because slices of them are declared by their type.
        walk.result.declarations[:0] = [
            f"usmx::strided<{'' if array_of(name) in walk.written else 'const '}{one.element.cpp}, "
            f"{one.ndim}> {walk.spell(array_of(name))}{{}};"
            for name, one in walk.several.items()
        ]

    # --- reading --------------------------------------------------------------------------------

    def read(self, node: ast.Name) -> Value:
        """What a name means where it is read."""
        walk, scope, name = self.walk, self.walk.scope, node.id
        is_assigned = name in scope.assigned or name in scope.statics or name in scope.known
        if name in walk.stores and is_assigned:
            walk.check_bound(node)
        if name in scope.known:
            return scope.known[name]
        if name in scope.statics:
            return scope.statics[name]
        if name in walk.stores or name in walk.arguments:
            if name not in scope.assigned:
                raise walk.error(node, f"'{name}' is read before it is assigned")
            t = scope.variables[name]
            origin = frozenset[str]()
            if walk.is_kernel and name in walk.arguments and name not in walk.stores:
                origin = frozenset({name})
            elif name in walk.arguments and name not in walk.stores:
                origin = walk.origins_of(name)
            elif walk.stores.get(name) == 1:
                origin = scope.origins.get(name, origin)
            spelled, signs = walk.spell(name), walk.signs
            asks = signs.asks.get(name, frozenset())
            given = walk.arguments.get(name)
            if isinstance(given, Scalar):
                asks |= self.given(name, given).asks
            least = signs.of_variable(name, spelled) if t.kind == "i" else None
            return Number(t, spelled, origins=origin, least=least, asks=asks)
        return self.captured(walk.lookup(name), name, node)

    def literal(self, node: ast.Constant) -> Value:
        """A number in the text, or the default of a parameter."""
        if isinstance(node.value, str | bytes | int | float | complex | type(None) | type(...)):
            return self.constant_of(node, node.value)
        return self.captured(node.value, "a default", node)

    def constant_of(self, node: ast.AST, value: object) -> Value:
        """A literal or a captured Python number."""
        if isinstance(value, int) and not isinstance(value, bool):
            value = int(value)  # a member of an enumeration is written as its number
            if not -(2**63) <= value < 2**64:
                raise self.walk.error(node, f"{value} does not fit into 64 bits")
            return constant(value)
        if isinstance(value, bool):
            return constant(value)
        if isinstance(value, float | complex):
            return constant(float(value) if isinstance(value, float) else complex(value))
        if isinstance(value, str | bytes):
            raise self.walk.error(node, "text is supported in kernels only in print and assert")
        if value is Ellipsis:
            raise self.walk.error(node, "'...' is not supported in kernels")
        return PythonObject(value)

    def captured(self, obj: object, name: str, node: ast.AST) -> Value:
        """What a name means outside of the function."""
        walk = self.walk
        if obj is MISSING:
            hint = f"; {instead.FIRST_IS_THE_ITEM}" if name == "item" else ""
            raise walk.error(node, f"the name '{name}' is not defined{hint}")
        if obj is None or isinstance(obj, bool | int | float | complex):
            return self.constant_of(node, obj)
        if isinstance(obj, ConstantArray):
            table = walk.module.constant(obj, walk.hint or name)
            walk.result.needs_tables |= table.is_given
            return ArrayValue(
                obj.element, len(obj.shape), table.code, "constant", obj.shape, readonly=True
            )
        if isinstance(obj, tuple):
            kind = type(obj) if fields_of(type(obj)) else None
            return Tuple(tuple(self.captured(item, name, node) for item in obj), kind)
        # The class is asked, because an object with `__getattr__` has any name.
        if hasattr(type(obj), "item") and hasattr(obj, "dtype") and not callable(obj):
            is_numpys = type(obj).__module__ == "numpy"
            if walk.module.numba and is_numpys and getattr(obj, "ndim", 0) > 0:
                return self.frozen(obj, name, node)
            if getattr(obj, "ndim", 1) != 0:
                raise walk.error(
                    node,
                    f"'{name}' is a global or closure array; pass it as an argument, or freeze "
                    "it with usmx.constant.array",
                )
            t = scalars.named(obj.dtype)
            if t is None:
                raise walk.error(
                    node, f"'{name}' is of dtype {obj.dtype}, which is not supported in kernels"
                )
            number = walk.module.reads.item(obj)
            made = typed(convert(constant(number), t))
            is_whole = t.kind in "iu" or (t.kind == "f" and number.is_integer())
            return replace(made, whole=int(number)) if is_whole else made
        if isinstance(obj, str | bytes):
            raise walk.error(
                node, f"'{name}' is text, which is supported in kernels only in print and assert"
            )
        if isinstance(obj, list | dict | set):
            raise walk.error(
                node,
                f"'{name}' is a global or closure {type(obj).__name__}; kernels take numbers, "
                "tuples of numbers, and usmx.constant.array",
            )
        return PythonObject(obj)

    def frozen(self, obj: Any, name: str, node: ast.AST) -> Value:
        """An array of NumPy outside of the function, which is a constant to Numba."""
        try:
            table = self.walk.module.frozen_array(obj)
        except (TypeError, ValueError) as error:
            raise self.walk.error(
                node, f"'{name}' is a constant here: {error}; pass it as an argument"
            ) from None
        return self.captured(table, name, node)

    # --- assigning ------------------------------------------------------------------------------

    def assign_scalar(self, name: str, value: Number, node: ast.AST) -> Scalar:
        """The type that a variable has once it is assigned ``value`` too."""
        scope = self.walk.scope
        if name in scope.statics:
            raise self.walk.error(node, f"'{name}' is already used for another kind of object")
        t = scope.variables.get(name)
        t = value.type if t is None else scalars.join(t, value.type, numba=self.walk.module.numba)
        scope.variables[name] = t
        scope.assigned.add(name)
        self.walk.bind(name)
        self.walk.signs.assigned(name, self.walk.spell(name), value)
        return t

    def bind_static(self, name: str, value: Value, node: ast.AST) -> None:
        """Give a name to something that exists only while compiling."""
        walk, statics = self.walk, self.walk.scope.statics
        if name in walk.scope.variables:
            raise walk.error(node, f"'{name}' is already a number here")
        if name in walk.arguments and statics.get(name) != value:
            raise walk.error(
                node, f"'{name}' is a parameter and cannot be given another {_what(value)}"
            )
        if statics.get(name, value) != value and walk.stores.get(name, 0) > 1:
            raise walk.error(
                node, f"'{name}' means {_kind(statics[name])} already; use another name"
            )
        statics[name] = value
        walk.bind(name)


def _what(value: Value) -> str:
    return "tuple" if isinstance(value, Tuple) else "array"


def _kind(value: Value) -> str:
    if isinstance(value, ArrayValue):
        return "another array"
    if isinstance(value, Reference):
        return "a record of another array"
    if isinstance(value, Tuple):
        return "a tuple"
    return "a function" if isinstance(value, PythonObject) else "something else"
