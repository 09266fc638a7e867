"""Items, groups and sub-groups: their methods, barriers and atomic operations."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from . import functions, operators, types
from . import values as v
from .expressions import Expressions
from .types import BOOL, INT
from .values import ArrayValue, AtomicValue, ItemValue, Method, Number, PythonObject, Value

#: Methods that take a dimension -> function of nd_item. Needs a known group: those of groups.
ITEM = {
    "get_id": "get_global_id",
    "get_range": "get_global_range",
    "get_global_id": "get_global_id",
    "get_global_range": "get_global_range",
    "get_local_id": "get_local_id",
    "get_local_range": "get_local_range",
    "get_group_id": "get_group",
    "get_group_range": "get_group_range",
}
LINEAR = {
    "get_linear_id": "get_global_linear_id",
    "get_global_linear_id": "get_global_linear_id",
    "get_local_linear_id": "get_local_linear_id",
    "get_group_linear_id": "get_group_linear_id",
    "get_linear_range": "get_global_linear_range",
    "get_global_linear_range": "get_global_linear_range",
    "get_local_linear_range": "get_local_linear_range",
    "get_group_linear_range": "get_group_linear_range",
}
GROUP = {
    "get_group_id": "get_group",
    "get_id": "get_group",
    "get_group_range": "get_group_range",
    "get_local_id": "get_local_id",
    "get_local_range": "get_local_range",
    "get_max_local_range": "get_local_range",
}
GROUP_LINEAR = {
    "get_group_linear_id": "get_group_linear_id",
    "get_linear_id": "get_group_linear_id",
    "get_group_linear_range": "get_group_linear_range",
    "get_local_linear_id": "get_local_linear_id",
    "get_local_linear_range": "get_local_linear_range",
}
SUB_GROUP = {
    "get_local_id": "sub_group_local_id",
    "get_local_linear_id": "sub_group_local_id",
    "get_local_range": "sub_group_size",
    "get_local_linear_range": "sub_group_size",
    "get_max_local_range": "sub_group_max_size",
    "get_group_id": "sub_group_id",
    "get_group_linear_id": "sub_group_id",
    "get_group_range": "sub_group_count",
    "get_group_linear_range": "sub_group_count",
}
COLLECTIVE = {"reduce": 1, "inclusive_scan": 1, "exclusive_scan": 1, "broadcast": 2}
SHUFFLE = ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")
#: What a reduction or scan does -> name in the prelude.
OPERATORS: dict[object, str] = {"sum": "sum", "+": "sum", sum: "sum", "min": "min", min: "min",
                                "max": "max", max: "max"}  # fmt: skip


class Groups(Expressions):
    """What concerns more than one item."""

    def plain(self, node: ast.Call, least: int, most: int | None = None) -> list[ast.expr]:
        """The arguments of a call that takes no keywords."""
        raise NotImplementedError

    def named(self, node: ast.Call, *names: str) -> list[ast.expr | None]:
        """The arguments of a call by position or name."""
        raise NotImplementedError

    def method(self, node: ast.Call, method: Method) -> Value:
        """A call of a method."""
        of = method.of
        if isinstance(of, AtomicValue):
            return self.atomic_method(node, of, method.name)
        if isinstance(of, Number):
            self.plain(node, 0)
            return Number(of.type, f"usmx::conj({of.code})") if of.type.kind == "c" else of
        assert isinstance(of, ItemValue)
        name = method.name
        if of.what == "item":
            return self.item_method(node, name)
        return self.group_method(node, of.what, name)

    def item_method(self, node: ast.Call, name: str) -> Value:
        """A method of the first parameter."""
        if name in ("get_group", "get_sub_group"):
            if node.args:
                raise self.error(
                    node.args[0],
                    f"item.{name}() is the group itself; its number is "
                    f"item.{name}().get_group_id({'0' if name == 'get_group' else ''})",
                )
            self.plain(node, 0)
            self.needs_group(node, f"item.{name}()")
            return ItemValue("group" if name == "get_group" else "sub-group")
        if name == "barrier":
            return self.on_barrier(node)
        if name == "ndim":
            return v.constant(self.module.rank)
        return self.id_method(node, "item", name, ITEM, LINEAR)

    def group_method(self, node: ast.Call, what: str, name: str) -> Value:
        """A method of a group or sub-group."""
        if name == "barrier":
            if what == "sub-group":
                self.plain(node, 0)
                self.line("usmx::sub_group_barrier();")
                return PythonObject(None)
            return self.on_barrier(node)
        if name == "leader":
            self.plain(node, 0)
            code = (
                "usmx::sub_group_local_id()"
                if what == "sub-group"
                else f"usmx::nd_item<{self.module.rank}>::get_local_linear_id()"
            )
            return Number(BOOL, f"{code} == 0", v.EQUAL)
        if name in COLLECTIVE or name in ("any", "all", *SHUFFLE):
            return self.collective(node, what, name)
        if what == "sub-group":
            if name not in SUB_GROUP:
                raise self.unknown(node, what, name, [*SUB_GROUP, *COLLECTIVE, *SHUFFLE])
            for one in self.plain(node, 0, 1):
                self.dimension(one, 1)
            return Number(INT, f"int64_t(usmx::{SUB_GROUP[name]}())")
        return self.id_method(node, what, name, GROUP, GROUP_LINEAR)

    def unknown(self, node: ast.AST, what: str, name: str, there_are: list[str]) -> Exception:
        """A method that does not exist."""
        return self.error(node, f"the {what} has no '{name}'; it has {', '.join(there_are)}")

    def dimension(self, node: ast.expr, rank: int) -> int:
        """A dimension, a number known when compiling."""
        d = self.to_constant(node, self.value(node), "a dimension")
        if not 0 <= d < rank:
            raise self.error(node, f"dimension {d} of a launch over {rank}")
        return d

    def id_method(
        self, node: ast.Call, what: str, name: str, axes: dict[str, str], linear: dict[str, str]
    ) -> Value:
        """``get_global_id(0)`` and the like."""
        item = f"usmx::nd_item<{self.module.rank}>"
        if name in linear:
            self.plain(node, 0)
            code = linear[name]
            argument = ""
        elif name in axes:
            argument = str(self.dimension(self.plain(node, 1)[0], self.module.rank))
            code = axes[name]
        else:
            raise self.unknown(node, what, name, [*axes, *linear])
        if "local" in code or "group" in code:
            self.needs_group(node, f"{what}.{name}()")
        known = self.module.known.get(f"local[{argument}]") if code == "get_local_range" else None
        if known is not None:
            return v.constant(known)
        origins = frozenset({f"local[{argument}]"}) if code == "get_local_range" else frozenset()
        return Number(INT, f"int64_t({item}::{code}({argument}))", origins=origins)

    def on_barrier(self, node: ast.Call) -> Value:
        """``usmx.barrier()``; a fence as argument is allowed and changes nothing."""
        for one in self.plain(node, 0, 2):
            self.value(one)
        self.needs_group(node, "barrier")
        self.line("usmx::group_barrier();")
        return PythonObject(None)

    def on_group_barrier(self, node: ast.Call) -> Value:
        """``group_barrier(group, scope)``."""
        group = self.value(self.plain(node, 1, 2)[0])
        if not isinstance(group, ItemValue) or group.what == "item":
            raise self.error(node.args[0], f"{v.describe(group)}, expected a group")
        if group.what == "group":
            return self.on_barrier(node)
        self.line("usmx::sub_group_barrier();")
        return PythonObject(None)

    def on_fence(self, node: ast.Call) -> Value:
        """``usmx.fence()``; an order and a scope are allowed, this one is the strongest."""
        for one in self.plain(node, 0, 2):
            self.value(one)
        self.line("usmx::fence();")
        return PythonObject(None)

    def collective(self, node: ast.Call, what: str, name: str) -> Value:
        """A function that all items of a group compute together."""
        self.needs_group(node, f"{what}.{name}()")
        scope = 2 if what == "group" else 3
        if name in ("any", "all"):
            condition = self.condition(self.plain(node, 1)[0])
            return Number(BOOL, f"usmx::{name}_of<{scope}>({condition.code})", pure=False)
        arguments = self.plain(node, 1, 2)
        value = self.scalar(arguments[0], f"the argument of '{name}'")
        t = types.STRONG_OF.get(value.type.name, value.type)
        if t.size < 4 or t.kind in "bc":
            raise self.error(
                arguments[0],
                f"'{name}' takes int32, int64, uint32, uint64, float32 and float64, not {t}",
            )
        self.result.notes[node] = value.type
        code = v.convert(value, t).code
        if name in SHUFFLE:
            if what == "group":
                raise self.error(node, f"a group has no '{name}'; a sub-group has")
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
            raise self.error(node, f"'{name}' takes a value and an int")
        at = self.scalar(arguments[1])
        if at.type.kind not in "iu":
            raise self.error(arguments[1], f"'{name}' takes an int here, not {v.describe(at)}")
        return at

    def operator_of(self, node: ast.expr) -> str:
        """ "sum", min, max."""
        if isinstance(node, ast.Constant):
            found: object = node.value
        else:
            value = self.value(node)
            found = value.value if isinstance(value, PythonObject) else None
        try:
            return OPERATORS[found]
        except (KeyError, TypeError):
            raise self.error(node, "the operation is one of 'sum', min, max") from None

    # --- atomic operations ----------------------------------------------------------------------

    def on_atomic(self, node: ast.Call, name: str) -> Value:
        """``usmx.atomic.add(array, index, value)``."""
        operands = {"load": 0, "compare_exchange": 2}.get(name, 1)
        nodes = self.plain(node, 2 + operands)
        reference = self.reference(node, nodes[0], nodes[1])
        return self.atomic(node, reference, name, nodes[2:])

    def on_atomic_ref(self, node: ast.Call) -> Value:
        """``usmx.AtomicRef(array, index=0)``."""
        array, index, *_ = self.named(
            node, "ref", "index", "memory_order", "memory_scope", "address_space"
        )
        if array is None:
            raise self.error(node, "AtomicRef takes an array and an index")
        return self.reference(node, array, index or ast.copy_location(ast.Constant(0), node))

    def reference(self, node: ast.AST, array_node: ast.expr, index: ast.expr) -> AtomicValue:
        """An element that atomic operations change."""
        array = self.value(array_node)
        if not isinstance(array, ArrayValue):
            raise self.error(array_node, f"{v.describe(array)}, expected an array")
        where = self.value(index)
        items = where.items if isinstance(where, v.Tuple) else (where,)
        nodes = index.elts if isinstance(index, ast.Tuple) else [index] * len(items)
        a = self.with_indices(index, array, list(zip(nodes, items, strict=True)))
        if len(a.indices) < a.ndim:
            raise self.error(index, f"{len(a.indices)} indices for an array of {a.ndim} dimensions")
        if a.space == "private":
            raise self.error(array_node, "private memory belongs to one item; no atomics needed")
        if a.space == "constant" or a.readonly:
            raise self.error(array_node, "is read only")
        if a.parameter is not None:
            self.result.written.add(a.parameter)
        return AtomicValue(a.element, f"&{self.reach(a)}")

    def atomic_method(self, node: ast.Call, reference: AtomicValue, name: str) -> Value:
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
            raise self.unknown(
                node, "AtomicRef", name, ["load", "store", "exchange", "compare_exchange", *names]
            )
        operands = {"load": 0, "compare_exchange": 2}.get(plain, 1)
        return self.atomic(node, reference, plain, self.plain(node, operands))

    def atomic(
        self, node: ast.AST, reference: AtomicValue, name: str, nodes: list[ast.expr]
    ) -> Value:
        """The operation itself."""
        t = reference.element
        if t.kind not in functions.ATOMIC[name] or t.size < 4:
            raise self.error(node, f"there is no atomic {name.strip('_')} of {t}")
        codes = []
        for one in nodes:
            value = self.scalar(one, f"the argument of '{name}'")
            try:
                codes.append(operators.stored(value, t).code)
            except TypeError as error:
                raise self.error(one, str(error)) from None
        arguments = ", ".join(
            [reference.code, *(f"{t.cpp}({c})" if not c.startswith(t.cpp) else c for c in codes)]
        )
        code = f"usmx::atomic_{name.strip('_')}({arguments})"
        if name == "store":
            self.line(code + ";")
            return PythonObject(None)
        return Number(t, code, pure=False)
