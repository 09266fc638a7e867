"""Operators, conditions and choices."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import enum
from dataclasses import replace

from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Number, PythonObject, Tuple, Value, constant
from . import vectors
from .records import Records
from .signs import after
from .views import check_same, is_view, point, rank
from .walk import Several, Walk

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
#: With the product of matrices, which numbers do not have.
SIGNS: dict[type[ast.operator], str] = {**BINARY, ast.MatMult: "@"}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


_NO_OBJECT = object()


class Operators:
    """What Python writes with signs and with `and`, `or`, `not` and `if`."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.vectors = vectors.Vectors(walk)
        self.records = Records(walk)

    def tuple_of(self, node: ast.Tuple) -> Value:
        """``a, b``."""
        return Tuple(tuple(self.walk.value(item) for item in node.elts))

    def binary(self, node: ast.BinOp) -> Value:
        """``a + b``."""
        walk = self.walk
        left, right = walk.value(node.left), walk.value(node.right)
        result = self.combined(node, node.op, (node.left, left), (node.right, right))
        if isinstance(node.op, ast.Pow) and isinstance(result, Number):
            # Of integers a float if the exponent is known and negative, which only shows here.
            walk.result.notes[node] = result.type
        return result

    def combined(
        self,
        node: ast.AST,
        op: ast.operator,
        left_side: tuple[ast.AST, Value],
        right_side: tuple[ast.AST, Value],
    ) -> Value:
        """``a sign b`` of what stands on both sides."""
        walk, (left_node, left), (right_node, right) = self.walk, left_side, right_side
        if isinstance(op, ast.MatMult):
            return self.vectors.product(node, left, right)
        sign = BINARY[type(op)]
        made = self.vectors.binary(node, sign, left, right)
        if made is not None:
            return made
        if isinstance(left, Tuple) and isinstance(right, Tuple) and sign == "+":
            return Tuple(left.items + right.items)
        for side, value in (left_side, right_side):
            if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
                raise walk.error(
                    side, f"'{sign}' of a whole array; a kernel computes with single elements"
                )
        a = walk.number(left_node, left, f"the left side of '{sign}'")
        b = walk.number(right_node, right, f"the right side of '{sign}'")
        return self.operate(node, sign, a, b)

    def operate(self, node: ast.AST, sign: str, a: Number, b: Number) -> Number:
        """The result of an operator, which remembers what it was computed from."""
        try:
            result = operators.binary(
                sign,
                a,
                b,
                grouped=self.walk.module.grouped,
                numba=self.walk.module.numba,
                wraps=node in self.walk.wraps.remainders,
            )
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        if all(x.origins or x.const is not None for x in (a, b)):
            result = replace(result, origins=a.origins | b.origins)
        if result.const is not None or result.type.kind != "i":
            return result
        # Narrow ones are more likely to leave their bits, and are then negative.
        is_wide = result.type.size == 8 or sign in ("%", "//", "&", "|", "^", ">>")
        least = self.walk.signs.of_operator(sign, a, b) if is_wide else None
        return replace(result, least=least, asks=a.asks | b.asks)

    def unary(self, node: ast.UnaryOp) -> Value:
        """``-a``, ``not a``."""
        if isinstance(node.op, ast.Not):
            return operators.negation(self.condition(node.operand))
        operand = self.walk.value(node.operand)
        if vectors.kind_of(operand) is not None:
            assert isinstance(operand, Tuple)
            return self.vectors.unary(node, UNARY[type(node.op)], operand)
        a = self.walk.number(node.operand, operand)
        try:
            result = operators.unary(
                UNARY[type(node.op)],
                a,
                grouped=self.walk.module.grouped,
                numba=self.walk.module.numba,
            )
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        same = node.op.__class__ is ast.UAdd and result.type.kind == "i"
        least, asks = (v.least_of(a), a.asks) if same else (None, frozenset[str]())
        return replace(result, origins=a.origins, least=least, asks=asks)

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
        sure: frozenset[str] | None = None
        signs, facts = walk.signs, dict(walk.signs.facts)
        for before, operand in zip([None, *node.values], node.values, strict=False):
            if before is not None:
                signs.learn(before, word == "and")
            with walk.apart() as lines:
                one = self.condition(operand) if any_number else walk.scalar(operand)
            sure = walk.bound if operand is node.values[0] else sure
            if one.type.kind != "b":
                raise walk.error(
                    operand,
                    f"'{word}' gives one of its operands, and this one is {v.describe(one)}; "
                    "compare it with 0, or write `a if c else b`",
                )
            if result is None or result.const is not None:
                walk.result.lines += lines
                result = one
            elif lines:
                # What it needs is computed only where Python would come to it.
                name = walk.variable("bool", result.code)
                walk.line(f"if ({'' if word == 'and' else '!'}{name}) {{")
                walk.inside(lines, f"{name} = {one.code};")
                walk.line("}")
                result = Number(scalars.promote(result.type, one.type), name)
            else:
                result = operators.both(sign, result, one)
            if result.const is not None and bool(result.const) == (word == "or"):
                break
        assert result is not None
        walk.bound = sure
        signs.facts = after(facts, signs.facts)
        walk.result.notes[node] = result.type
        return result

    def compare(self, node: ast.Compare) -> Value:
        """``a < b <= c``."""
        walk = self.walk
        result: Number | None = None
        left_node, left = node.left, walk.value(node.left)
        walk.signs.compared[node] = []
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
        walk.result.notes[node] = result.type
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
        made = self.vectors.compare(node, sign, a, b)
        if made is not None:
            return made
        first = walk.number(left[0], a, f"the left side of '{sign}'")
        second = walk.number(right[0], b, f"the right side of '{sign}'")
        if first.type.kind in "biu" and second.type.kind in "biu":
            walk.signs.compared[node].append((sign, first, second))
        try:
            return operators.compare(sign, first, second)
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
        signs, facts = walk.signs, walk.signs.facts
        signs.facts = dict(facts)
        signs.learn(node.test, True)
        with walk.apart() as first, walk.maybe():
            a = walk.value(node.body)
            a = replace(a, least=signs.least(a)) if isinstance(a, Number) else a
        one, signs.facts = signs.facts, dict(facts)
        signs.learn(node.test, False)
        with walk.apart() as second, walk.maybe():
            b = walk.value(node.orelse)
            b = replace(b, least=signs.least(b)) if isinstance(b, Number) else b
        signs.facts = after(one, signs.facts)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and v.has_form(a, b):
            pairs = [
                (walk.number(node.body, p), walk.number(node.orelse, q))
                for (_, p), (_, q) in zip(v.parts("", a), v.parts("", b), strict=True)
            ]
            for p, q in pairs:
                if p.type != q.type:
                    raise walk.error(node, f"the items of the two tuples are {p.type} and {q.type}")
            chosen = self._choose(node, condition, pairs, first, second)
            return v.filled(a, iter(chosen))
        arrays = [x for x in (a, b) if isinstance(x, ArrayValue) and is_view(walk, x)]
        if len(arrays) == 2:
            return self._choose_array(node, condition, arrays, (first, second))
        numbers = walk.number(node.body, a), walk.number(node.orelse, b)
        [result] = self._choose(node, condition, [numbers], first, second)
        walk.result.notes[node] = result.type
        return result

    def _choose_array(
        self,
        node: ast.IfExp,
        condition: Number,
        arrays: list[ArrayValue],
        lines: tuple[list[str], list[str]],
    ) -> Value:
        """One of two arrays: a name that stands for both, which the kernel does not have."""
        walk, a = self.walk, arrays[0]
        check_same(walk, node, "the choice", a, arrays[1])
        name = f"chosen.{node.lineno}.{node.col_offset}"
        walk.several.setdefault(name, Several(a.element, rank(a)))
        for k, (one, before) in enumerate(zip(arrays, lines, strict=True)):
            walk.line("} else {" if k else f"if ({condition.code}) {{")
            with walk.apart() as given:
                point(walk, name, one)
            walk.inside(before)
            walk.inside(given)
        walk.line("}")
        return walk.scope.statics[name]

    def _choose(
        self,
        node: ast.AST,
        condition: Number,
        pairs: list[tuple[Number, Number]],
        first: list[str],
        second: list[str],
    ) -> list[Number]:
        """One number of each pair, and what is needed for it on lines before."""
        walk = self.walk
        if len(pairs) > 1 and not (first or second):
            condition = walk.temporary(condition)
        try:
            results = [_bounded(operators.choice(condition, a, b), a, b) for a, b in pairs]
            if not (first or second):
                return results
            names = [walk.variable(r.type.cpp) for r in results]
            sides = [
                [
                    f"{name} = {operators.checked(pair[k], r.type).code};"
                    for name, pair, r in zip(names, pairs, results, strict=True)
                ]
                for k in (0, 1)
            ]
        except TypeError as error:
            raise walk.error(node, str(error)) from None
        walk.line(f"if ({condition.code}) {{")
        walk.inside(first, *sides[0])
        walk.line("} else {")
        walk.inside(second, *sides[1])
        walk.line("}")
        return [
            Number(r.type, name, least=r.least, asks=r.asks)
            for name, r in zip(names, results, strict=True)
        ]


def _bounded(result: Number, a: Number, b: Number) -> Number:
    """One of two numbers is not less than both."""
    if result.type.kind != "i":
        return result
    low = [v.least_of(one) for one in (a, b)]
    least = None if None in low else min(n for n in low if n is not None)
    return replace(result, least=least, asks=a.asks | b.asks)
