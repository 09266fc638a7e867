"""Expressions: operators, names, attributes, subscripts."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
import types as python_types
from dataclasses import replace

from . import operators, types
from . import values as v
from .functions import Namespace
from .source import MISSING
from .spaces import ConstantArray
from .values import (
    ArrayValue,
    AtomicValue,
    ItemValue,
    Method,
    Number,
    PythonObject,
    Tuple,
    Value,
    constant,
    convert,
)
from .walker import Walker

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
NOT_SUPPORTED = {
    ast.Lambda: "a lambda; use a function with @usmx.device_func",
    ast.ListComp: "a list; use usmx.private.array",
    ast.List: "a list; use a tuple of numbers or usmx.private.array",
    ast.SetComp: "a set",
    ast.Set: "a set",
    ast.Dict: "a dict",
    ast.DictComp: "a dict",
    ast.GeneratorExp: "a generator",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.NamedExpr: "':='; assign on a line of its own",
    ast.Starred: "'*' before a value",
    ast.JoinedStr: "an f-string outside of print",
    ast.Slice: "a slice; loop over the elements",
}


class Expressions(Walker):
    """What stands for a value."""

    def read(self, node: ast.Name) -> Value:
        """What a name means where it is read."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        """A call."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Value:
        """Any expression."""
        if isinstance(node, ast.Constant):
            return self.constant_of(node, node.value)
        if isinstance(node, ast.Name):
            return self.read(node)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node)
        if isinstance(node, ast.IfExp):
            return self.choice(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        if isinstance(node, ast.Tuple):
            return Tuple(tuple(self.value(item) for item in node.elts))
        what = NOT_SUPPORTED.get(type(node), type(node).__name__)
        raise self.error(node, f"a kernel has no {what.removeprefix('a ')}")

    def scalar(self, node: ast.expr, what: str = "") -> Number:
        """An expression that must be a number."""
        return self.number(node, self.value(node), what)

    def constant_of(self, node: ast.AST, value: object) -> Value:
        """A literal or a captured Python number."""
        if isinstance(value, int) and not isinstance(value, bool):
            if not -(2**63) <= value < 2**64:
                raise self.error(node, f"{value} does not fit into 64 bits")
            return constant(value)
        if isinstance(value, bool | float | complex):
            return constant(value)
        if isinstance(value, str | bytes):
            raise self.error(node, "a kernel has no text but in print and assert")
        if value is Ellipsis:
            raise self.error(node, "'...' is no value of a kernel")
        return PythonObject(value)

    def captured(self, obj: object, name: str, node: ast.AST) -> Value:
        """What a name of the surroundings means."""
        if obj is MISSING:
            raise self.error(node, f"the name '{name}' is not defined")
        if obj is None or isinstance(obj, bool | int | float | complex):
            return self.constant_of(node, obj)
        if isinstance(obj, ConstantArray):
            table = self.module.constant(obj, self.hint or name)
            self.result.needs_tables |= table.is_given
            return ArrayValue(
                obj.element, len(obj.shape), table.code, "constant", obj.shape, readonly=True
            )
        if isinstance(obj, tuple):
            return Tuple(tuple(self.captured(item, name, node) for item in obj))
        if hasattr(obj, "dtype") and hasattr(obj, "item") and not callable(obj):
            if getattr(obj, "ndim", 1) != 0:
                raise self.error(
                    node,
                    f"'{name}' is an array of the surroundings; pass it as an argument, or freeze "
                    "it with usmx.constant.array",
                )
            t = types.named(obj.dtype)
            if t is None:
                raise self.error(
                    node, f"'{name}' is of type {obj.dtype}, which kernels do not have"
                )
            return convert(constant(obj.item()), t)
        if isinstance(obj, str | bytes):
            raise self.error(node, f"'{name}' is text; a kernel has none but in print and assert")
        if isinstance(obj, list | dict | set):
            raise self.error(
                node,
                f"'{name}' is a {type(obj).__name__} of the surroundings; kernels take numbers, "
                "tuples of numbers, and usmx.constant.array",
            )
        return PythonObject(obj)

    # --- operators ------------------------------------------------------------------------------

    def binary(self, node: ast.BinOp) -> Value:
        """``a + b``."""
        if isinstance(node.op, ast.MatMult):
            raise self.error(node, "'@' is not defined in kernels; write the loops")
        sign = BINARY[type(node.op)]
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, Tuple) and isinstance(right, Tuple) and sign == "+":
            return Tuple(left.items + right.items)
        for side, value in ((node.left, left), (node.right, right)):
            if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
                raise self.error(
                    side, f"'{sign}' of a whole array; a kernel computes with single elements"
                )
        a = self.number(node.left, left, f"the left side of '{sign}'")
        b = self.number(node.right, right, f"the right side of '{sign}'")
        return self.operate(node, sign, a, b)

    def operate(self, node: ast.AST, sign: str, a: Number, b: Number) -> Number:
        """The result of an operator, which remembers what it was computed from."""
        try:
            result = operators.binary(sign, a, b, grouped=self.module.grouped)
        except TypeError as error:
            raise self.error(node, str(error)) from None
        known = all(x.origins or x.const is not None for x in (a, b))
        return replace(result, origins=a.origins | b.origins) if known else result

    def unary(self, node: ast.UnaryOp) -> Value:
        """``-a``, ``not a``."""
        if isinstance(node.op, ast.Not):
            return operators.negation(self.condition(node.operand))
        a = self.scalar(node.operand)
        try:
            result = operators.unary(UNARY[type(node.op)], a, grouped=self.module.grouped)
        except TypeError as error:
            raise self.error(node, str(error)) from None
        return replace(result, origins=a.origins)

    def condition(self, node: ast.expr) -> Number:
        """An expression as a condition: numbers count as ``!= 0``."""
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node, any_number=True)
        value = self.value(node)
        if isinstance(value, PythonObject) and value.value is None:
            return constant(False)
        try:
            return operators.truth(self.number(node, value, "the condition"))
        except TypeError as error:
            raise self.error(node, str(error)) from None

    def bool_op(self, node: ast.BoolOp, *, any_number: bool = False) -> Number:
        """``a and b``. As a value, only of bools: Python would give one of the numbers."""
        word, sign = ("and", "&&") if isinstance(node.op, ast.And) else ("or", "||")
        result: Number | None = None
        for operand in node.values:
            with self.no_lines(operand) if result is not None else contextlib.nullcontext():
                one = self.condition(operand) if any_number else self.scalar(operand)
            if one.type.kind != "b":
                raise self.error(
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
        result: Number | None = None
        left_node, left = node.left, self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            one = self.compare_two(node, op, (left_node, left), (right_node, right))
            result = one if result is None else operators.both("&&", result, one)
            middle = right_node is not node.comparators[-1]
            if middle and isinstance(right, Number) and not right.pure:
                raise self.error(
                    right_node, "would be evaluated twice; give it a name on a line before"
                )
            left_node, left = right_node, right
        assert result is not None
        if result.const is not None:
            self.result.called[node] = PythonObject(bool(result.const))
        return result

    def compare_two(
        self,
        node: ast.Compare,
        op: ast.cmpop,
        left: tuple[ast.expr, Value],
        right: tuple[ast.expr, Value],
    ) -> Number:
        """One link of a chain."""
        if isinstance(op, ast.Is | ast.IsNot):
            both = [side[1] for side in (left, right)]
            if not any(isinstance(x, PythonObject) and x.value is None for x in both):
                raise self.error(node, "'is' compares with None only; use '=='")
            same = all(isinstance(x, PythonObject) and x.value is None for x in both)
            return constant(same == isinstance(op, ast.Is))
        if isinstance(op, ast.In | ast.NotIn):
            raise self.error(node, "'in' is not defined in kernels; loop over the elements")
        sign = COMPARE[type(op)]
        a, b = left[1], right[1]
        dtypes = [types.named(x.value) if isinstance(x, PythonObject) else None for x in (a, b)]
        if all(dtypes) and sign in ("==", "!="):
            return constant((dtypes[0] == dtypes[1]) == (sign == "=="))
        try:
            return operators.compare(
                sign,
                self.number(left[0], a, f"the left side of '{sign}'"),
                self.number(right[0], b, f"the right side of '{sign}'"),
            )
        except TypeError as error:
            raise self.error(node, str(error)) from None

    def choice(self, node: ast.IfExp) -> Value:
        """``a if c else b``."""
        condition = self.condition(node.test)
        if condition.const is not None:
            return self.value(node.body if condition.const else node.orelse)
        with self.no_lines(node):
            a, b = self.scalar(node.body), self.scalar(node.orelse)
        try:
            result = operators.choice(condition, a, b)
        except TypeError as error:
            raise self.error(node, str(error)) from None
        self.result.notes[node] = result.type
        return result

    # --- attributes and subscripts --------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> Value:
        """``a.name``."""
        of, name = self.value(node.value), node.attr
        if isinstance(of, ArrayValue):
            return self.array_attribute(node, of, name)
        if isinstance(of, Number):
            if name in ("real", "imag"):
                if of.const is not None:
                    return constant(getattr(of.const, name))
                if of.type.kind == "c":
                    return Number(types.real_of(of.type), f"{of.at(v.ATOM)}.{name}()", pure=of.pure)
                return of if name == "real" else convert(constant(0), of.type)
            if name == "dtype":
                return PythonObject(types.STRONG_OF.get(of.type.name, of.type))
            if name == "conjugate":
                return Method(of, name)
        elif isinstance(of, ItemValue | AtomicValue):
            return Method(of, name)
        elif isinstance(of, PythonObject):
            obj = of.value
            module = isinstance(obj, python_types.ModuleType | Namespace | type)
            if isinstance(obj, types.Scalar) and name == "type":
                return of
            if module and hasattr(obj, name):
                return self.captured(getattr(obj, name), f"{ast.unparse(node)}", node)
            if module:
                raise self.error(node, f"there is no '{ast.unparse(node)}'")
            if obj is not None and not callable(obj) and hasattr(obj, name):
                # A number kept in an object of the program, frozen like a global.
                return self.captured(getattr(obj, name), ast.unparse(node), node)
        raise self.error(node, f"{v.describe(of)} has no '{name}' in a kernel")

    def array_attribute(self, node: ast.AST, a: ArrayValue, name: str) -> Value:
        """``a.shape`` and its like."""
        if name == "shape":
            return Tuple(tuple(self.length(a, k) for k in range(len(a.indices), a.ndim)))
        if name == "ndim":
            return constant(a.ndim - len(a.indices))
        if name == "dtype":
            return PythonObject(a.element)
        if name == "itemsize":
            return constant(a.element.size)
        if name == "size":
            size = constant(1)
            for k in range(len(a.indices), a.ndim):
                size = self.operate(node, "*", size, self.length(a, k))
                if k == len(a.indices) and a.ndim - len(a.indices) == 1:
                    size = self.length(a, k)
            return size
        raise self.error(node, f"an array has no '{name}' in a kernel")

    def length(self, a: ArrayValue, axis: int) -> Number:
        """The length of an axis."""
        if a.shape is not None:
            return constant(a.shape[axis])
        origin = f"{a.parameter}.shape[{axis}]"
        if self.is_kernel and origin in self.module.known:
            return constant(self.module.known[origin])
        origins = frozenset({origin}) if self.is_kernel and a.parameter else frozenset[str]()
        return Number(types.INT, f"{a.code}.shape[{axis}]", origins=origins)

    def subscript(self, node: ast.Subscript) -> Value:
        """``a[i, j]``."""
        of = self.value(node.value)
        if isinstance(of, Tuple):
            at = self.to_constant(node.slice, self.value(node.slice), "the index of a tuple")
            if not -len(of.items) <= at < len(of.items):
                raise self.error(node.slice, f"index {at} of a tuple of {len(of.items)}")
            return of.items[at]
        if not isinstance(of, ArrayValue):
            raise self.error(node, f"{v.describe(of)} has no elements")
        return self.element(self.indexed(node, of))

    def indexed(self, node: ast.Subscript, a: ArrayValue) -> ArrayValue:
        """An array with the indices of a subscript added to those it had."""
        many = isinstance(node.slice, ast.Tuple)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        codes: list[str] = []
        pure = a.pure
        for at in nodes:
            axis = len(a.indices) + len(codes)
            value = self.value(at)
            if isinstance(value, Tuple) and not many:
                return self.with_indices(node, a, [(at, item) for item in value.items])
            if axis >= a.ndim:
                raise self.error(
                    at, f"{len(a.indices) + len(nodes)} indices for an array of {a.ndim} dimensions"
                )
            code, is_pure = self.index(at, value, a, axis)
            codes.append(code)
            pure = pure and is_pure
        return replace(a, indices=(*a.indices, *codes), pure=pure)

    def with_indices(
        self, node: ast.AST, a: ArrayValue, indices: list[tuple[ast.expr, Value]]
    ) -> ArrayValue:
        """An array indexed by values that were evaluated before."""
        codes: list[str] = []
        pure = a.pure
        for at, value in indices:
            axis = len(a.indices) + len(codes)
            if axis >= a.ndim:
                raise self.error(
                    node,
                    f"{len(a.indices) + len(indices)} indices for an array of {a.ndim} dimensions",
                )
            code, is_pure = self.index(at, value, a, axis)
            codes.append(code)
            pure = pure and is_pure
        return replace(a, indices=(*a.indices, *codes), pure=pure)

    def index(self, node: ast.expr, value: Value, a: ArrayValue, axis: int) -> tuple[str, bool]:
        """One index as C++."""
        number = self.number(node, value, "an index")
        if number.type.kind not in "iu":
            hint = "; round it down with int()" if number.type.kind == "f" else ""
            raise self.error(node, f"an index is an int, not {v.describe(number)}{hint}")
        if number.const is not None:
            at = int(number.const.real)
            if at < 0:
                self.result.from_end.add(node)
            length = self.length(a, axis)
            if length.const is not None:
                n = int(length.const.real)
                if not -n <= at < n:
                    raise self.error(node, f"index {at} is out of bounds for a length of {n}")
                return str(at % n), True
            if at < 0:
                return f"{length.code} - {-at}", True
            return str(at), True
        return number.code, number.pure

    def element(self, a: ArrayValue) -> Value:
        """The number at a full set of indices, else the array with those it has."""
        if len(a.indices) < a.ndim:
            return a
        return Number(a.element, self.reach(a), pure=a.pure)

    def reach(self, a: ArrayValue) -> str:
        """The C++ of an element."""
        if a.space != "global":
            return a.code + "".join(f"[{i}]" for i in a.indices)
        if a.ndim == 1:
            return f"{a.code}[{a.indices[0]}]"
        return f"{a.code}({', '.join(a.indices)})"
