"""Atomic operations on elements of arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..language import functions
from ..types import operators
from ..types import values as v
from ..types.values import ArrayValue, AtomicValue, Number, PythonObject, Value
from .elements import Elements, reach
from .items import unknown
from .walk import Walk, by_name, in_order


class Atomics:
    """What several items change."""

    def __init__(self, walk: Walk, elements: Elements) -> None:
        self.walk = walk
        self.elements = elements

    def on_atomic(self, node: ast.Call, name: str) -> Value:
        """``usmx.atomic.add(array, index, value)``."""
        operands = {"load": 0, "compare_exchange": 2}.get(name, 1)
        nodes = in_order(self.walk, node, 2 + operands)
        reference = self.reference(node, nodes[0], nodes[1])
        return self.atomic(node, reference, name, nodes[2:])

    def on_atomic_ref(self, node: ast.Call) -> Value:
        """``usmx.AtomicRef(array, index=0)``."""
        array, index, *_ = by_name(
            self.walk, node, "ref", "index", "memory_order", "memory_scope", "address_space"
        )
        if array is None:
            raise self.walk.error(node, "AtomicRef takes an array and an index")
        return self.reference(node, array, index or ast.copy_location(ast.Constant(0), node))

    def reference(self, node: ast.AST, array_node: ast.expr, index: ast.expr) -> AtomicValue:
        """An element that atomic operations change."""
        array = self.walk.value(array_node)
        if not isinstance(array, ArrayValue):
            raise self.walk.error(array_node, f"expected an array, got {v.describe(array)}")
        where = self.walk.value(index)
        items = where.items if isinstance(where, v.Tuple) else (where,)
        nodes = index.elts if isinstance(index, ast.Tuple) else [index] * len(items)
        a = self.elements.with_indices(index, array, list(zip(nodes, items, strict=True)))
        if len(a.indices) < a.ndim:
            raise self.walk.error(
                index, f"{len(a.indices)} indices for an array of {a.ndim} dimensions"
            )
        if a.space == "private":
            raise self.walk.error(
                array_node, "private memory belongs to one work-item and needs no atomic operations"
            )
        if a.space == "constant" or a.readonly:
            raise self.walk.error(array_node, "the array is read-only")
        self.walk.mark_written(a)
        return AtomicValue(a.element, f"&{reach(a)}")

    def method(self, node: ast.Call, reference: AtomicValue, name: str) -> Value:
        """``ref.fetch_add(value)``."""
        plain = {"fetch_and": "and_", "fetch_or": "or_"}.get(name, name.removeprefix("fetch_"))
        known = plain in functions.ATOMIC and (
            name.startswith("fetch_")
            == (plain in ("add", "sub", "min", "max", "and_", "or_", "xor"))
        )
        if not known:
            names = [
                "fetch_" + n.strip("_") for n in ("add", "sub", "min", "max", "and_", "or_", "xor")
            ]
            raise unknown(
                self.walk,
                node,
                "AtomicRef",
                name,
                ["load", "store", "exchange", "compare_exchange", *names],
            )
        operands = {"load": 0, "compare_exchange": 2}.get(plain, 1)
        return self.atomic(node, reference, plain, in_order(self.walk, node, operands))

    def atomic(
        self, node: ast.AST, reference: AtomicValue, name: str, nodes: list[ast.expr]
    ) -> Value:
        """The operation itself."""
        t = reference.element
        if t.kind not in functions.ATOMIC[name] or t.size < 4:
            raise self.walk.error(node, f"atomic {name.strip('_')} is not supported for {t}")
        codes = []
        for one in nodes:
            value = self.walk.scalar(one, f"the argument of '{name}'")
            try:
                codes.append(operators.stored(value, t).code)
            except TypeError as error:
                raise self.walk.error(one, str(error)) from None
        arguments = ", ".join(
            [reference.code, *(f"{t.cpp}({c})" if not c.startswith(t.cpp) else c for c in codes)]
        )
        code = f"usmx::atomic_{name.strip('_')}({arguments})"
        if name == "store":
            self.walk.line(code + ";")
            return PythonObject(None)
        return Number(t, code, pure=False)
