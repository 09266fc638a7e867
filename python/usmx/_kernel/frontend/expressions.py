"""Operators, conditions and choices."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
import enum
from dataclasses import replace

from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Number, PythonObject, Tuple, Value, constant
from .walk import Walk

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


_NO_OBJECT = object()


class Operators:
    """What Python writes with signs and with `and`, `or`, `not` and `if`."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def tuple_of(self, node: ast.Tuple) -> Value:
        """``a, b``."""
        return Tuple(tuple(self.walk.value(item) for item in node.elts))

    def binary(self, node: ast.BinOp) -> Value:
        """``a + b``."""
        walk = self.walk
        if isinstance(node.op, ast.MatMult):
            raise walk.error(node, "'@' is not supported in kernels; write the loops")
        sign = BINARY[type(node.op)]
        left, right = walk.value(node.left), walk.value(node.right)
        if isinstance(left, Tuple) and isinstance(right, Tuple) and sign == "+":
            return Tuple(left.items + right.items)
        for side, value in ((node.left, left), (node.right, right)):
            if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
                raise walk.error(
                    side, f"'{sign}' of a whole array; a kernel computes with single elements"
                )
        a = walk.number(node.left, left, f"the left side of '{sign}'")
        b = walk.number(node.right, right, f"the right side of '{sign}'")
        return self.operate(node, sign, a, b)

    def operate(self, node: ast.AST, sign: str, a: Number, b: Number) -> Number:
        """The result of an operator, which remembers what it was computed from."""
        try:
            result = operators.binary(sign, a, b, grouped=self.walk.module.grouped)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        known = all(x.origins or x.const is not None for x in (a, b))
        return replace(result, origins=a.origins | b.origins) if known else result

    def unary(self, node: ast.UnaryOp) -> Value:
        """``-a``, ``not a``."""
        if isinstance(node.op, ast.Not):
            return operators.negation(self.condition(node.operand))
        a = self.walk.scalar(node.operand)
        try:
            result = operators.unary(UNARY[type(node.op)], a, grouped=self.walk.module.grouped)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        return replace(result, origins=a.origins)

    # --- conditions -----------------------------------------------------------------------------

    def condition(self, node: ast.expr) -> Number:
        """An expression as a condition: numbers count as ``!= 0``."""
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node, any_number=True)
        value = self.walk.value(node)
        if isinstance(value, PythonObject) and value.value is None:
            return constant(False)
        try:
            return operators.truth(self.walk.number(node, value, "the condition"))
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None

    def bool_op(self, node: ast.BoolOp, *, any_number: bool = False) -> Number:
        """``a and b``. As a value, only of bools: Python would give one of the numbers."""
        walk = self.walk
        word, sign = ("and", "&&") if isinstance(node.op, ast.And) else ("or", "||")
        result: Number | None = None
        for operand in node.values:
            with walk.no_lines(operand) if result is not None else contextlib.nullcontext():
                one = self.condition(operand) if any_number else walk.scalar(operand)
            if one.type.kind != "b":
                raise walk.error(
                    operand,
                    f"'{word}' gives one of its operands, and this one is {v.describe(one)}; "
                    "compare it with 0, or write `a if c else b`",
                )
            result = one if result is None else operators.both(sign, result, one)
            if result.const is not None and bool(result.const) == (word == "or"):
                return result
        assert result is not None
        return result

    def compare(self, node: ast.Compare) -> Value:
        """``a < b <= c``."""
        walk = self.walk
        result: Number | None = None
        left_node, left = node.left, walk.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = walk.value(right_node)
            one = self._compare_two(node, op, (left_node, left), (right_node, right))
            result = one if result is None else operators.both("&&", result, one)
            middle = right_node is not node.comparators[-1]
            if middle and isinstance(right, Number) and not right.pure:
                raise walk.error(
                    right_node, "would be evaluated twice; assign it to a variable first"
                )
            left_node, left = right_node, right
        assert result is not None
        if result.const is not None:
            walk.result.called[node] = PythonObject(bool(result.const))
        return result

    def _compare_two(
        self,
        node: ast.Compare,
        op: ast.cmpop,
        left: tuple[ast.expr, Value],
        right: tuple[ast.expr, Value],
    ) -> Number:
        """One link of a chain."""
        walk = self.walk
        if isinstance(op, ast.Is | ast.IsNot):
            both = [side[1] for side in (left, right)]
            known = [x.value if isinstance(x, PythonObject) else _NO_OBJECT for x in both]
            if all(isinstance(x, enum.Enum) for x in known):
                return constant((known[0] is known[1]) == isinstance(op, ast.Is))
            if not any(x is None for x in known):
                raise walk.error(
                    node, "'is' is supported only with None and enumerations; use '=='"
                )
            same = all(x is None for x in known)
            return constant(same == isinstance(op, ast.Is))
        if isinstance(op, ast.In | ast.NotIn):
            found = self._contains(right, left)
            return operators.negation(found) if isinstance(op, ast.NotIn) else found
        sign = COMPARE[type(op)]
        a, b = left[1], right[1]
        members = [x.value if isinstance(x, PythonObject) else None for x in (a, b)]
        if all(isinstance(x, enum.Enum) for x in members) and sign in ("==", "!="):
            return constant((members[0] == members[1]) == (sign == "=="))
        dtypes = [scalars.named(x.value) if isinstance(x, PythonObject) else None for x in (a, b)]
        if all(dtypes) and sign in ("==", "!="):
            return constant((dtypes[0] == dtypes[1]) == (sign == "=="))
        try:
            return operators.compare(
                sign,
                walk.number(left[0], a, f"the left side of '{sign}'"),
                walk.number(right[0], b, f"the right side of '{sign}'"),
            )
        except TypeError as error:
            raise walk.error(node, str(error)) from None

    def _contains(self, of: tuple[ast.expr, Value], item: tuple[ast.expr, Value]) -> Number:
        """``a in (b, c)``."""
        walk, (node, value) = self.walk, of
        if not isinstance(value, Tuple):
            raise walk.error(
                node, f"'in' is supported only with tuples, not {v.describe(value)}; write a loop"
            )
        a = walk.number(item[0], item[1], "the left side of 'in'")
        if not a.pure:
            a = walk.temporary(a)
        result = constant(False)
        for one in value.items:
            same = operators.compare("==", a, walk.number(node, one, "an item of the tuple"))
            result = operators.both("||", result, same)
        return result

    def choice(self, node: ast.IfExp) -> Value:
        """``a if c else b``."""
        walk = self.walk
        condition = self.condition(node.test)
        if condition.const is not None:
            return walk.value(node.body if condition.const else node.orelse)
        with walk.no_lines(node):
            a, b = walk.scalar(node.body), walk.scalar(node.orelse)
        try:
            result = operators.choice(condition, a, b)
        except TypeError as error:
            raise walk.error(node, str(error)) from None
        walk.result.notes[node] = result.type
        return result
