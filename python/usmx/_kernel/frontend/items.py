"""Ids and ranges of work-items, groups and sub-groups, and barriers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..types import values as v
from ..types.scalars import INT
from ..types.values import ItemValue, Number, PythonObject, Value
from .walk import Walk, in_order

#: Methods that take a dimension -> function of nd_item. Needs a known group: those of groups.
ITEM = {
    "get_id": "get_global_id", "get_range": "get_global_range", "get_group_id": "get_group",
    **{f"get_{name}": f"get_{name}" for name in (
        "global_id", "global_range", "local_id", "local_range", "group_range")},
}  # fmt: skip
#: The parameter that has this length where the groups have more items.
RANGE = "usmx.range"
GROUP_LINEAR = {
    "get_linear_id": "get_group_linear_id",
    **{f"get_{name}": f"get_{name}" for name in (
        "group_linear_id", "group_linear_range", "local_linear_id", "local_linear_range")},
}  # fmt: skip
LINEAR = {
    **GROUP_LINEAR,
    "get_linear_id": "get_global_linear_id", "get_linear_range": "get_global_linear_range",
    "get_global_linear_id": "get_global_linear_id",
    "get_global_linear_range": "get_global_linear_range",
}  # fmt: skip
GROUP = {
    "get_group_id": "get_group", "get_id": "get_group", "get_group_range": "get_group_range",
    "get_local_id": "get_local_id", "get_local_range": "get_local_range",
    "get_max_local_range": "get_local_range",
}  # fmt: skip
SUB_GROUP = {
    "get_local_id": "sub_group_local_id", "get_local_linear_id": "sub_group_local_id",
    "get_local_range": "sub_group_size", "get_local_linear_range": "sub_group_size",
    "get_max_local_range": "sub_group_max_size",
    "get_group_id": "sub_group_id", "get_group_linear_id": "sub_group_id",
    "get_group_range": "sub_group_count", "get_group_linear_range": "sub_group_count",
}  # fmt: skip


class Items:
    """What an item asks about itself and its group."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def item_method(self, node: ast.Call, name: str) -> Value:
        """A method of the first parameter."""
        if name in ("get_group", "get_sub_group"):
            if node.args:
                raise self.walk.error(
                    node.args[0],
                    f"item.{name}() is the group itself; its number is "
                    f"item.{name}().get_group_id({'0' if name == 'get_group' else ''})",
                )
            in_order(self.walk, node, 0)
            self.walk.needs_group(node, f"item.{name}()")
            self.walk.module.asks_sub_groups |= name == "get_sub_group"
            return ItemValue("group" if name == "get_group" else "sub-group")
        if name == "barrier":
            return self.on_barrier(node)
        if name == "ndim":
            return v.constant(self.walk.module.rank)
        return self.id_method(node, "item", name, ITEM, LINEAR)

    def dimension(self, node: ast.expr, rank: int) -> int:
        """A dimension, a number known when compiling. Programs for Numba give floats too."""
        value = self.walk.value(node)
        if isinstance(value, Number):
            whole = value.const if value.whole is None else value.whole
            if isinstance(whole, int) or (isinstance(whole, float) and whole.is_integer()):
                value = v.constant(int(whole))
        d = self.walk.to_constant(node, value, "a dimension")
        if not 0 <= d < rank:
            raise self.walk.error(
                node, f"dimension {d} is out of range; the launch has rank {rank}"
            )
        return d

    def id_method(
        self, node: ast.Call, what: str, name: str, axes: dict[str, str], linear: dict[str, str]
    ) -> Value:
        """``get_global_id(0)`` and the like."""
        item = self.walk.module.item
        if name in linear:
            in_order(self.walk, node, 0)
            code = linear[name]
            argument = ""
        elif name in axes:
            argument = str(self.dimension(in_order(self.walk, node, 1)[0], self.walk.module.rank))
            code = axes[name]
        else:
            raise unknown(self.walk, node, what, name, [*axes, *linear])
        if "local" in code or "group" in code:
            self.walk.needs_group(node, f"{what}.{name}()")
        if self.walk.module.flat and code == "get_local_range":
            return v.constant(self.walk.module.flat[int(argument)])
        known = (
            self.walk.module.known.get(f"local[{argument}]") if code == "get_local_range" else None
        )
        if known is not None:
            return v.constant(known)
        if self.walk.module.partial and code.startswith("get_global_") and code != ITEM["get_id"]:
            length = self._length(code, argument)
            if length is not None:
                return length
        origins = frozenset({f"local[{argument}]"}) if code == "get_local_range" else frozenset()
        return Number(INT, f"int64_t({item}::{code}({argument}))", origins=origins, least=0)

    def _length(self, code: str, argument: str) -> Number | None:
        """The length of the last dimension, where the groups of a launch have more items.

        None for what does not depend on it. Device functions do not have it, and neither do linear
        ids and ranges of several dimensions: then there is no such launch.
        """
        module = self.walk.module
        if code == "get_global_range" and argument != str(module.rank - 1):
            return None
        if code == "get_global_linear_id" and module.rank == 1:
            return None
        if self.walk.is_kernel and (code == "get_global_range" or module.rank == 1):
            return Number(INT, self.walk.spell(RANGE), least=0)
        module.asks_whole_range = True
        return None

    def on_barrier(self, node: ast.Call) -> Value:
        """``usmx.barrier()``; a fence as argument is allowed and changes nothing."""
        for one in in_order(self.walk, node, 0, 2):
            self.walk.value(one)
        self.walk.needs_group(node, "barrier")
        self.walk.module.items_meet = True
        self.walk.line("usmx::group_barrier();")
        return PythonObject(None)

    def on_group_barrier(self, node: ast.Call) -> Value:
        """``group_barrier(group, scope)``."""
        group = self.walk.value(in_order(self.walk, node, 1, 2)[0])
        if not isinstance(group, ItemValue) or group.what == "item":
            raise self.walk.error(node.args[0], f"expected a group, got {v.describe(group)}")
        if group.what == "group":
            return self.on_barrier(node)
        self.walk.module.items_meet = True
        self.walk.line("usmx::sub_group_barrier();")
        return PythonObject(None)

    def on_fence(self, node: ast.Call) -> Value:
        """``usmx.fence()``; an order and a scope are allowed, this one is the strongest."""
        for one in in_order(self.walk, node, 0, 2):
            self.walk.value(one)
        self.walk.module.items_meet = True
        self.walk.line("usmx::fence();")
        return PythonObject(None)


def unknown(walk: Walk, node: ast.AST, what: str, name: str, there_are: list[str]) -> Exception:
    """A method that does not exist."""
    return walk.error(node, f"the {what} has no '{name}'; it has {', '.join(there_are)}")
