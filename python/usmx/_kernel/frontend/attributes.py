"""``a.name`` of arrays, numbers, items, modules and objects."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import types as python_types

from ..language.functions import Namespace
from ..types import scalars
from ..types import values as v
from ..types.values import (
    ArrayValue,
    AtomicValue,
    ItemValue,
    Method,
    Number,
    PythonObject,
    Value,
    constant,
    convert,
)
from .elements import Elements
from .names import Names
from .walk import Walk


class Attributes:
    """What stands behind a dot."""

    def __init__(self, walk: Walk, names: Names, elements: Elements) -> None:
        self.walk = walk
        self.names = names
        self.elements = elements

    def attribute(self, node: ast.Attribute) -> Value:
        """``a.name``."""
        of, name = self.walk.value(node.value), node.attr
        if isinstance(of, ArrayValue):
            return self.elements.attribute(node, of, name)
        if isinstance(of, Number):
            if name in ("real", "imag"):
                if of.const is not None:
                    return constant(getattr(of.const, name))
                if of.type.kind == "c":
                    real = scalars.real_of(of.type)
                    return Number(real, f"{of.at(v.ATOM)}.{name}()", pure=of.pure)
                return of if name == "real" else convert(constant(0), of.type)
            if name == "dtype":
                return PythonObject(scalars.STRONG_OF.get(of.type.name, of.type))
            if name == "conjugate":
                return Method(of, name)
        elif isinstance(of, ItemValue | AtomicValue):
            return Method(of, name)
        elif isinstance(of, PythonObject):
            obj = of.value
            module = isinstance(obj, python_types.ModuleType | Namespace | type)
            if isinstance(obj, scalars.Scalar) and name == "type":
                return of
            if module and hasattr(obj, name):
                return self.names.captured(getattr(obj, name), f"{ast.unparse(node)}", node)
            if module:
                raise self.walk.error(node, f"there is no '{ast.unparse(node)}'")
            if obj is not None and not callable(obj) and hasattr(obj, name):
                # A number kept in an object of the program, frozen like a global.
                return self.names.captured(getattr(obj, name), ast.unparse(node), node)
        raise self.walk.error(node, f"'{name}' of {v.describe(of)} is not supported in kernels")
