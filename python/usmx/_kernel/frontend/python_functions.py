"""Python's own functions in kernels: len, min, max and range."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import replace

from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Tuple, Value
from .arguments import in_order
from .elements import Elements
from .walk import Walk


class PythonFunctions:
    """What needs no import."""

    def __init__(self, walk: Walk, elements: Elements) -> None:
        self.walk = walk
        self.elements = elements

    def on_len(self, node: ast.Call) -> Value:
        """``len(a)``."""
        value = self.walk.value(in_order(self.walk, node, 1)[0])
        if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
            return self.elements.length(value, len(value.indices))
        if isinstance(value, Tuple):
            return v.constant(len(value.items))
        raise self.walk.error(node, f"{v.describe(value)} has no len()")

    def on_extreme(self, node: ast.Call, name: str) -> Value:
        """``min(a, b, ...)``."""
        if node.keywords:
            raise self.walk.error(
                node.keywords[0].value, f"'{name}' takes no keyword arguments in kernels"
            )
        values = [self.walk.value(one) for one in node.args]
        if len(values) == 1 and isinstance(values[0], Tuple):
            values = list(values[0].items)
        if len(values) == 1 and isinstance(values[0], ArrayValue):
            raise self.walk.error(node, f"'{name}' of an array; loop over its elements")
        if not values:
            raise self.walk.error(node, f"'{name}' takes numbers, got none")
        numbers = [self.walk.number(node, one, f"an argument of '{name}'") for one in values]
        result = numbers[0]
        for other in numbers[1:]:
            if result.const is not None and other.const is not None:
                both = (result.const.real, other.const.real)
                result = v.constant(min(both) if name == "min" else max(both))
                continue
            t = scalars.promote(result.type, other.type)
            if t.kind == "c":
                raise self.walk.error(node, f"'{name}' is not defined for complex numbers")
            known = all(x.origins or x.const is not None for x in (result, other))
            origins = result.origins | other.origins if known else frozenset()
            try:
                result = replace(operators.call(name, t, result, other), origins=origins)
            except TypeError as error:
                raise self.walk.error(node, str(error)) from None
        self.walk.result.notes[node] = result.type
        return result

    def on_range(self, node: ast.Call) -> Value:
        """``range`` outside of a for."""
        raise self.walk.error(node, "range(...) is supported only in `for ... in range(...)`")
