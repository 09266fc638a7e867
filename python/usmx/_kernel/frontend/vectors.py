"""Vectors and matrices while compiling: tuples of numbers with a class, and operators on them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..language import vectors
from ..language.records import RecordValue
from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Number, PythonObject, Tuple, Value
from .walk import Walk, by_name, in_order

_SIMPLE = re.compile(r"[A-Za-z_]\w*(\.v\d+)?|-?[\d.]+[a-z]*")


def kind_of(value: object) -> Any:
    """The class of a vector or a matrix; None of everything else."""
    kind = value.kind if isinstance(value, Tuple) else None
    return kind if isinstance(kind, vectors.VectorType) else None


def is_mutable(value: Tuple) -> bool:
    """Whether parts of a variable can be assigned: of vectors and records, not of tuples."""
    is_record = isinstance(value.kind, type) and issubclass(value.kind, RecordValue)
    return is_record or kind_of(value) is not None


class Vectors:
    """What is done with all numbers of a vector at once."""

    def __init__(self, walk: Walk) -> None:
        # Not the operators, which refer to this: a circle would keep the values of tables alive.
        self.walk = walk

    def numbers(self, node: ast.AST, value: Value) -> list[Number]:
        """All numbers of a value, each to be used as often as needed."""
        found = []
        for _, item in v.parts("", value):
            number = self.walk.number(node, item, "a component")
            simple = number.const is not None or _SIMPLE.fullmatch(number.code)
            found.append(number if simple else self.walk.temporary(number))
        return found

    def of(self, node: ast.AST, shape: tuple[int, ...], numbers: list[Number]) -> Tuple:
        """The vector or matrix of these numbers, which are of one type."""
        t = numbers[0].type
        return self.filled(node, vectors._class_of(shape, t), numbers)

    def filled(self, node: ast.AST, kind: Any, numbers: list[Number]) -> Tuple:
        """One of this class."""
        try:
            items = [_typed(operators.stored(n, kind._element)) for n in numbers]
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        if len(kind._shape) == 1:
            return Tuple(tuple(items), kind)
        columns, row = kind._shape[1], vectors.row_of(kind)
        rows = (Tuple(tuple(items[k : k + columns]), row) for k in range(0, len(items), columns))
        return Tuple(tuple(rows), kind)

    def made(self, node: ast.Call, kind: Any) -> Tuple:
        """``vec3(x, y, z)``."""
        given: list[Any] = []
        for one in in_order(self.walk, node, 0, math.prod(kind._shape)):
            value = self.walk.value(one)
            if isinstance(value, Tuple):
                given.append(self.numbers(one, value))
            else:
                given.append(self.walk.number(one, value, "a component"))
        if len(given) == 1 and isinstance(given[0], Number):
            given[0] = self.numbers(node, given[0])[0]
        try:
            numbers = vectors.arranged(kind, given)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        self.walk.result.called[node] = kind
        return self.filled(node, kind, [v.constant(0) if n == 0 else n for n in numbers])

    def class_of(self, node: ast.Call, what: Any) -> PythonObject:
        """``usmx.vec(3, usmx.float32)`` inside of a kernel."""
        walk = self.walk
        names = ("length",) if what is vectors.vec else ("rows", "columns")
        *lengths, dtype = by_name(walk, node, *names, "dtype")
        given: list[object] = []
        for one in lengths:
            if one is None:
                raise walk.error(node, f"takes {' and '.join(names)} and a dtype")
            given.append(walk.to_constant(one, walk.value(one), "a length"))
        t = walk.value(dtype) if dtype is not None else None
        if not isinstance(t, PythonObject):
            raise walk.error(dtype or node, "expected a dtype, such as usmx.float32")
        try:
            made = PythonObject(what(*given, t.value))
        except (TypeError, ValueError) as error:
            raise walk.error(node, str(error)) from None
        walk.result.called[node] = made
        return made

    # --- operators ------------------------------------------------------------------------------

    def binary(self, node: ast.AST, sign: str, left: Value, right: Value) -> Tuple | None:
        """``a sign b``, None if neither is a vector."""
        kinds = [kind_of(left), kind_of(right)]
        if kinds == [None, None]:
            return None
        for value, kind in zip((left, right), kinds, strict=True):
            if isinstance(value, Tuple) and kind is None:
                raise self.walk.error(
                    node, f"'{sign}' of a vector and {v.describe(value)}; make a vector of it"
                )
            if isinstance(value, ArrayValue):
                raise self.walk.error(node, f"'{sign}' of a vector and {v.describe(value)}")
        try:
            shape = vectors.check_operator(sign, *kinds)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        a, b = (self._spread(node, value, math.prod(shape)) for value in (left, right))
        operate = partial(self._operate, node)
        return self.of(node, shape, [operate(sign, p, q) for p, q in zip(a, b, strict=True)])

    def _spread(self, node: ast.AST, value: Value, count: int) -> list[Number]:
        """The numbers of a side, a single one as often as there are components."""
        if isinstance(value, Tuple):
            return [self.walk.number(node, item) for _, item in v.parts("", value)]
        return self.numbers(node, value) * count

    def _operate(self, node: ast.AST, sign: str, a: Number, b: Number) -> Number:
        """``a sign b`` of two numbers."""
        try:
            result = operators.binary(sign, a, b, grouped=self.walk.module.grouped)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        # A component may change, so that no launch is specialised for it.
        return replace(result, origins=frozenset())

    def product(self, node: ast.AST, left: Value, right: Value) -> Tuple:
        """``a @ b``."""
        kinds = kind_of(left), kind_of(right)
        try:
            vectors.check_product(*kinds)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        a, b = (self._rows(node, value) for value in (left, right))
        shape, numbers = vectors.product_items(
            a, b, [kind._shape for kind in kinds], partial(self._operate, node)
        )
        return self.of(node, shape, numbers)

    def _rows(self, node: ast.AST, value: Value) -> list[Any]:
        """The numbers as lists in lists."""
        numbers, shape = self.numbers(node, value), kind_of(value)._shape
        if len(shape) == 1:
            return list(numbers)
        return [numbers[k * shape[1] : (k + 1) * shape[1]] for k in range(shape[0])]

    def unary(self, node: ast.AST, sign: str, value: Tuple) -> Tuple:
        """``-v``."""
        if sign == "~":
            raise self.walk.error(node, "'~' is not defined for vectors")
        grouped = self.walk.module.grouped
        numbers = [
            operators.unary(sign, self.walk.number(node, item), grouped=grouped)
            for _, item in v.parts("", value)
        ]
        return self.of(node, kind_of(value)._shape, numbers)

    def compare(self, node: ast.AST, sign: str, left: Value, right: Value) -> Number | None:
        """``a == b``: whether all components are; None if neither is a vector."""
        kinds = [kind_of(left), kind_of(right)]
        if kinds == [None, None]:
            return None
        if sign not in ("==", "!="):
            raise self.walk.error(
                node, "vectors have no order; compare their components or their lengths"
            )
        if None in kinds or kinds[0]._shape != kinds[1]._shape:
            raise self.walk.error(
                node,
                f"'{sign}' of {v.describe(left)} and {v.describe(right)}; expected two vectors of "
                "the same length",
            )
        sides = [[self.walk.number(node, i) for _, i in v.parts("", x)] for x in (left, right)]
        result = v.constant(True)
        for a, b in zip(*sides, strict=True):
            result = operators.both("&&", result, operators.compare("==", a, b))
        return operators.negation(result) if sign == "!=" else result

    # --- methods --------------------------------------------------------------------------------

    def method(self, node: ast.Call, of: Tuple, name: str) -> Value:
        """``v.dot(w)``."""
        walk, kind = self.walk, kind_of(of)
        [*operands] = [walk.value(one) for one in in_order(walk, node, vectors.METHODS[name])]
        try:
            if name in ("dot", "cross"):
                other = kind_of(operands[0])
                if other is None:
                    raise TypeError(f"'{name}' takes two vectors")
                vectors.check_lengths(name, kind, other)
            else:
                vectors.require(kind, name, 2 if name == "transpose" else 1)
        except TypeError as error:
            raise walk.error(node, str(error)) from None
        operate: Callable[[str, Number, Number], Number] = partial(self._operate, node)
        a = self.numbers(node, of)
        if name == "transpose":
            rows, columns = kind._shape
            turned = [a[i * columns + j] for j in range(columns) for i in range(rows)]
            return self.of(node, (columns, rows), turned)
        b = self.numbers(node, operands[0]) if operands else a
        if name == "cross":
            return self.of(node, (3,), vectors.cross_items(a, b, operate))
        total: Number = vectors.sum_of_products(a, b, operate)
        if name == "dot":
            return total
        t = scalars.floating_of(total.type) if total.type.kind == "f" else scalars.FLOAT64
        length = Number(t, f"usmx::sqrt({operators.checked(total, t).code})", pure=total.pure)
        if name == "length":
            return length
        [length] = self.numbers(node, length)
        return self.of(node, kind._shape, [operate("/", x, length) for x in a])


def _typed(value: Number) -> Number:
    """A component: of the vector's type, also if it was a literal."""
    return replace(value, const=None, origins=frozenset())
