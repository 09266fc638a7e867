"""Atomic operations on elements of arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..language import functions
from ..source.diagnostics import number_of
from ..types import operators
from ..types import values as v
from ..types.scalars import PYTHON_BOOL, Record, Scalar
from ..types.values import ArrayValue, AtomicValue, Number, PythonObject, Value
from .elements import Elements
from .items import unknown
from .views import reach
from .walk import Walk, by_name, in_order

#: Numbers of address spaces in SYCL's order; 4 is any of them.
SPACES: dict[object, str] = {0: "private", 1: "global", 2: "constant", 3: "local"}


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
        array, index, _, _, space, *_ = by_name(
            self.walk, node, "ref", "index", "memory_order", "memory_scope", "address_space"
        )
        if array is None:
            raise self.walk.error(node, "AtomicRef takes an array and an index")
        if space is not None:
            self.check_space(array, space)
        return self.reference(node, array, index or ast.copy_location(ast.Constant(0), node))

    def check_space(self, array: ast.expr, space: ast.expr) -> None:
        """Refuse an address space that is not the array's."""
        named, a = self.walk.value(space), self.walk.value(array)
        if not isinstance(named, Number) or not isinstance(a, ArrayValue):
            return
        where = SPACES.get(named.const)
        if where is not None and where != a.space:
            raise self.walk.error(space, f"address_space is {where}; the array is {a.space} memory")

    def reference(self, node: ast.AST, array_node: ast.expr, index: ast.expr) -> AtomicValue:
        """An element that atomic operations change."""
        self.walk.module.items_meet = True
        a = self.element(array_node, index)
        if a.space == "private":
            raise self.walk.error(
                array_node, "private memory belongs to one work-item and needs no atomic operations"
            )
        assert isinstance(a.element, Scalar)
        # A device function does not know the space of its arguments, nor where it is called.
        if (a.space == "local" and self.walk.loops) or not self.walk.is_kernel:
            self.walk.module.adds_in_turn = True
        return AtomicValue(a.element, f"&{reach(a)}")

    def element(self, array_node: ast.expr, index: ast.expr) -> ArrayValue:
        """An element that is written."""
        array = self.walk.value(array_node)
        if not isinstance(array, ArrayValue):
            raise self.walk.error(array_node, f"expected an array, got {v.describe(array)}")
        if array.fields or array.within is not None or isinstance(array.element, Record):
            raise self.walk.error(
                array_node,
                "atomic operations on fields of records are not supported, which need not be "
                "aligned; use an array of their own",
            )
        where = self.walk.value(index)
        items = where.items if isinstance(where, v.Tuple) else (where,)
        nodes = index.elts if isinstance(index, ast.Tuple) else [index] * len(items)
        a = self.elements.with_indices(index, array, list(zip(nodes, items, strict=True)))
        if len(a.indices) < a.ndim:
            raise self.walk.error(
                index,
                f"{number_of(len(a.indices), 'index')} for an array of "
                f"{number_of(a.ndim, 'dimension')}",
            )
        if a.space == "constant" or a.readonly:
            raise self.walk.error(array_node, "the array is read-only")
        self.walk.mark_written(a)
        return a

    def method(self, node: ast.Call, reference: AtomicValue, name: str) -> Value:
        """``ref.fetch_add(value)``."""
        plain = {"fetch_and": "and_", "fetch_or": "or_"}.get(name, name.removeprefix("fetch_"))
        known = plain in functions.ATOMIC and (
            name.startswith("fetch_") == (plain in functions.FETCHED)
        )
        if not known:
            names = ["fetch_" + n.strip("_") for n in functions.FETCHED]
            raise unknown(
                self.walk,
                node,
                "AtomicRef",
                name,
                ["load", "store", "exchange", "compare_exchange", *names],
            )
        if plain == "compare_exchange":
            return self.compare_exchange(node, reference)
        operands = 0 if plain == "load" else 1
        return self.atomic(node, reference, plain, in_order(self.walk, node, operands))

    def compare_exchange(self, node: ast.Call, reference: AtomicValue) -> Value:
        """``ref.compare_exchange(expected, desired)``, which gives the value before.

        If `expected` is an array, as SYCL has it: the value before is written to
        ``expected[expected_idx]`` unless it was equal, and the result is whether it was.
        """
        walk = self.walk
        names = ["expected", "desired", "expected_idx"]
        if any(keyword.arg == "expected_ref" for keyword in node.keywords):
            names[0] = "expected_ref"
        expected, desired, index, *_ = by_name(walk, node, *names)
        if expected is None or desired is None:
            raise walk.error(node, "compare_exchange takes the expected and the desired value")
        array = walk.value(expected)
        if not isinstance(array, ArrayValue):
            if index is not None:
                raise walk.error(expected, f"expected an array, got {v.describe(array)}")
            return self.atomic(node, reference, "compare_exchange", [expected, desired])
        place = self.element(expected, index or ast.copy_location(ast.Constant(0), node))
        t = reference.element
        if place.element != t:
            raise walk.error(expected, f"expected an array of {t}, got one of {place.element}")
        self.check(node, "compare_exchange", t)
        code = self.operand(desired, t, "compare_exchange")
        arguments = f"{reference.code}, {reach(place)}, {code}"
        return Number(PYTHON_BOOL, f"usmx::compare_exchange({arguments})", pure=False)

    def atomic(
        self, node: ast.AST, reference: AtomicValue, name: str, nodes: list[ast.expr]
    ) -> Value:
        """The operation itself."""
        t = reference.element
        self.check(node, name, t)
        arguments = ", ".join([reference.code, *(self.operand(one, t, name) for one in nodes)])
        code = f"usmx::atomic_{name.strip('_')}({arguments})"
        if name == "store":
            self.walk.line(code + ";")
            return PythonObject(None)
        return Number(t, code, pure=False)

    def check(self, node: ast.AST, name: str, t: Scalar) -> None:
        """Refuse what devices do not have."""
        if t.kind not in functions.ATOMIC[name] or t.size < 4:
            raise self.walk.error(node, f"atomic {name.strip('_')} is not supported for {t}")

    def operand(self, node: ast.expr, t: Scalar, name: str) -> str:
        """An operand as C++ of exactly the type."""
        value = self.walk.scalar(node, f"the argument of '{name}'")
        try:
            code = operators.stored(value, t).code
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        return code if code.startswith(t.cpp) else f"{t.cpp}({code})"
