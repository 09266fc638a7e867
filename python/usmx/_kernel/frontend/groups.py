"""What all items of a group or sub-group compute together."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..types import scalars
from ..types import values as v
from ..types.scalars import INT, PYTHON_BOOL
from ..types.values import Number, PythonObject, Value
from .expressions import Operators
from .items import GROUP, GROUP_LINEAR, SUB_GROUP, Items, unknown
from .walk import Walk, in_order

COLLECTIVE = {"reduce": 1, "inclusive_scan": 1, "exclusive_scan": 1, "broadcast": 2}
SHUFFLE = ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")
#: What a reduction or scan does -> name in the prelude.
OPERATORS: dict[object, str] = {"sum": "sum", "+": "sum", sum: "sum", "min": "min", min: "min",
                                "max": "max", max: "max"}  # fmt: skip


class Groups:
    """Methods of a group or sub-group."""

    def __init__(self, walk: Walk, items: Items, operators: Operators) -> None:
        self.walk = walk
        self.items = items
        self.operators = operators

    def method(self, node: ast.Call, what: str, name: str) -> Value:
        """A method of a group or sub-group."""
        if name == "barrier":
            if what == "sub-group":
                in_order(self.walk, node, 0)
                self.walk.module.items_meet = True
                self.walk.line("usmx::sub_group_barrier();")
                return PythonObject(None)
            return self.items.on_barrier(node)
        if name == "leader":
            in_order(self.walk, node, 0)
            code = (
                "usmx::sub_group_local_id()"
                if what == "sub-group"
                else f"{self.walk.module.item}::get_local_linear_id()"
            )
            return Number(PYTHON_BOOL, f"{code} == 0", v.EQUAL)
        if name in COLLECTIVE or name in ("any", "all", *SHUFFLE):
            return self.collective(node, what, name)
        if what == "sub-group":
            if name not in SUB_GROUP:
                raise unknown(self.walk, node, what, name, [*SUB_GROUP, *COLLECTIVE, *SHUFFLE])
            for one in in_order(self.walk, node, 0, 1):
                self.items.dimension(one, 1)
            return Number(INT, f"int64_t(usmx::{SUB_GROUP[name]}())", least=0)
        return self.items.id_method(node, what, name, GROUP, GROUP_LINEAR)

    def collective(self, node: ast.Call, what: str, name: str) -> Value:
        """A function that all items of a group compute together."""
        self.walk.needs_group(node, f"{what}.{name}()")
        self.walk.module.items_meet = True
        scope = 2 if what == "group" else 3
        if name in ("any", "all"):
            condition = self.operators.condition(in_order(self.walk, node, 1)[0])
            return Number(PYTHON_BOOL, f"usmx::{name}_of<{scope}>({condition.code})", pure=False)
        arguments = in_order(self.walk, node, 1, 2)
        value = self.walk.scalar(arguments[0], f"the argument of '{name}'")
        t = scalars.STRONG_OF.get(value.type.name, value.type)
        if t.size < 4 or t.kind in "bc":
            raise self.walk.error(
                arguments[0],
                f"'{name}' takes int32, int64, uint32, uint64, float32 and float64, not {t}",
            )
        self.walk.result.notes[node] = value.type
        code = v.convert(value, t).code
        if name in SHUFFLE:
            if what == "group":
                raise self.walk.error(node, f"'{name}' is a method of sub-groups, not of groups")
            at = self.whole(node, arguments, name)
            return Number(
                value.type, f"usmx::{name}<{t.cpp}>({code}, uint32_t({at.code}))", pure=False
            )
        if name == "broadcast":
            at = self.whole(node, arguments, name) if len(arguments) == 2 else v.constant(0)
            return Number(
                value.type, f"usmx::broadcast<{scope}, {t.cpp}>({code}, {at.code})", pure=False
            )
        how = "sum"
        if len(arguments) == 2:
            how = self.operator_of(arguments[1])
        return Number(value.type, f"usmx::{name}_{how}<{scope}, {t.cpp}>({code})", pure=False)

    def whole(self, node: ast.Call, arguments: list[ast.expr], name: str) -> Number:
        """The second argument, an int."""
        if len(arguments) != 2:
            raise self.walk.error(node, f"'{name}' takes a value and an int")
        at = self.walk.scalar(arguments[1])
        if at.type.kind not in "iu":
            raise self.walk.error(arguments[1], f"'{name}' takes an int here, not {v.describe(at)}")
        return at

    def operator_of(self, node: ast.expr) -> str:
        """ "sum", min, max."""
        if isinstance(node, ast.Constant):
            found: object = node.value
        else:
            value = self.walk.value(node)
            found = value.value if isinstance(value, PythonObject) else None
        try:
            return OPERATORS[found]
        except (KeyError, TypeError):
            raise self.walk.error(node, "the operation must be 'sum', min or max") from None
