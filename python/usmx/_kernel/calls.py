"""Calls: conversions, intrinsics, memory, device functions."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace

from . import functions, intrinsics, operators, types
from . import values as v
from .groups import Groups
from .printing import Printing
from .types import Scalar
from .values import ArrayValue, Method, Number, PythonObject, Tuple, Value, convert

Handler = Callable[["Calls", ast.Call], Value]
NOTHING = PythonObject(None)


class Calls(Groups, Printing):
    """What is called."""

    def call_device_function(self, node: ast.Call, function: object) -> Value:
        """A call of a function with @usmx.device_func."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        """Any call."""
        called = self.value(node.func)
        if isinstance(called, Method):
            self.result.called[node] = called
            return self.method(node, called)
        if not isinstance(called, PythonObject):
            raise self.error(node, f"{v.describe(called)} cannot be called")
        obj = called.value
        handler = _handlers().get(id(obj))
        if handler is not None:
            self.result.called[node] = obj
            return handler(self, node)
        if getattr(obj, "is_device_function", False):
            return self.call_device_function(node, obj)
        row = intrinsics.find(obj)
        if row is not None:
            return self.intrinsic(node, row)
        t = types.named(obj) if isinstance(obj, (type, types.Scalar)) else None
        t = t or (types.named(obj) if _is_dtype(obj) else None)
        if t is not None:
            return self.conversion(node, t)
        name = ast.unparse(node.func)
        if getattr(obj, "__code__", None) is not None:
            raise self.error(
                node, f"'{name}' is a plain Python function; decorate it with @usmx.device_func"
            )
        raise self.error(node, f"kernels do not know the function '{name}'")

    def plain(self, node: ast.Call, least: int, most: int | None = None) -> list[ast.expr]:
        """The arguments of a call that takes no keywords."""
        most = least if most is None else most
        name = ast.unparse(node.func)
        if node.keywords:
            raise self.error(node.keywords[0].value, f"'{name}' takes no keywords in a kernel")
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise self.error(node, f"'{name}' takes {wanted} arguments, got {len(node.args)}")
        return node.args

    def named(self, node: ast.Call, *names: str) -> list[ast.expr | None]:
        """The arguments of a call by position or name; None for those that are missing."""
        found: list[ast.expr | None] = [*node.args, *([None] * (len(names) - len(node.args)))]
        if len(node.args) > len(names):
            raise self.error(node, f"takes {len(names)} arguments, got {len(node.args)}")
        for keyword in node.keywords:
            if keyword.arg not in names:
                raise self.error(
                    keyword.value,
                    f"'{ast.unparse(node.func)}' has no parameter "
                    f"'{keyword.arg}'; it has {', '.join(names)}",
                )
            found[names.index(keyword.arg)] = keyword.value
        return found

    # --- numbers --------------------------------------------------------------------------------

    def intrinsic(self, node: ast.Call, row: intrinsics.Intrinsic) -> Value:
        """A row of the table."""
        nodes = self.plain(node, row.operands)
        operands = [self.scalar(one, f"the argument of '{row.title}'") for one in nodes]
        if any(o.type.kind == "c" for o in operands):
            row = intrinsics.complex_form(row) or row
        try:
            t = row.operand_type([o.type for o in operands])
            codes = [exact(operators.checked(o, t)) for o in operands]
        except TypeError as error:
            raise self.error(node, str(error)) from None
        result = row.result_type(t)
        self.result.notes[node] = t
        self.result.called[node] = row
        pure = all(o.pure for o in operands)
        code = f"usmx::{row.name}({', '.join(codes)})"
        return Number(result, code, pure=pure)

    def conversion(self, node: ast.Call, t: Scalar) -> Value:
        """``usmx.float32(x)``, ``int(x)``."""
        nodes = self.plain(node, 0 if t.weak or t.kind == "b" else 1, 2 if t.kind == "c" else 1)
        self.result.called[node] = t
        if not nodes:
            return convert(v.constant(0), t)
        value = self.scalar(nodes[0], f"the argument of '{ast.unparse(node.func)}'")
        if len(nodes) == 2:
            part = types.real_of(t)
            imaginary = self.scalar(nodes[1], "the imaginary part")
            if value.const is not None and imaginary.const is not None and t.weak:
                return v.constant(complex(value.const, imaginary.const))
            if "c" in (value.type.kind, imaginary.type.kind):
                raise self.error(node, "the parts of a complex number are real")
            code = f"{t.cpp}({convert(value, part).code}, {convert(imaginary, part).code})"
            return Number(t, code, pure=value.pure and imaginary.pure)
        if value.type.kind == "c" and t.kind != "c":
            raise self.error(node, f"a complex number does not become {t}; take its .real")
        if t.kind == "b":
            return operators.truth(value)
        try:
            fits = value.const is not None and value.type.kind == "i" and t.is_integer
            converted = operators.checked(value, t) if fits else convert(value, t)
        except TypeError as error:
            raise self.error(node, str(error)) from None
        return replace(converted, origins=value.origins) if t is types.INT else converted

    def on_len(self, node: ast.Call) -> Value:
        """``len(a)``."""
        value = self.value(self.plain(node, 1)[0])
        if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
            return self.length(value, len(value.indices))
        if isinstance(value, Tuple):
            return v.constant(len(value.items))
        raise self.error(node, f"{v.describe(value)} has no len()")

    def on_extreme(self, node: ast.Call, name: str) -> Value:
        """``min(a, b, ...)``."""
        if node.keywords:
            raise self.error(node.keywords[0].value, f"'{name}' takes no keywords in a kernel")
        values = [self.value(one) for one in node.args]
        if len(values) == 1 and isinstance(values[0], Tuple):
            values = list(values[0].items)
        if len(values) == 1 and isinstance(values[0], ArrayValue):
            raise self.error(node, f"'{name}' of an array; loop over its elements")
        if not values:
            raise self.error(node, f"'{name}' takes numbers, got none")
        numbers = [self.number(node, one, f"an argument of '{name}'") for one in values]
        result = numbers[0]
        for other in numbers[1:]:
            if result.const is not None and other.const is not None:
                both = (result.const.real, other.const.real)
                result = v.constant(min(both) if name == "min" else max(both))
                continue
            t = types.promote(result.type, other.type)
            if t.kind == "c":
                raise self.error(node, f"'{name}' is not defined for complex numbers")
            known = all(x.origins or x.const is not None for x in (result, other))
            origins = result.origins | other.origins if known else frozenset()
            try:
                result = replace(operators.call(name, t, result, other), origins=origins)
            except TypeError as error:
                raise self.error(node, str(error)) from None
        self.result.notes[node] = result.type
        return result

    def on_range(self, node: ast.Call) -> Value:
        """``range`` outside of a for."""
        raise self.error(node, "range(...) stands after `for ... in` only")

    def on_print(self, node: ast.Call) -> Value:
        """``print``."""
        self.print_call(node)
        return NOTHING

    # --- memory ---------------------------------------------------------------------------------

    def shape_and_type(
        self, node: ast.Call, *more: str
    ) -> tuple[tuple[int, ...], Scalar, list[ast.expr | None]]:
        """The arguments of local.array and private.array."""
        shape_node, dtype_node, *rest = self.named(node, "shape", "dtype", *more)
        if shape_node is None or dtype_node is None:
            raise self.error(node, f"'{ast.unparse(node.func)}' takes a shape and a dtype")
        shape = self.value(shape_node)
        nodes = shape_node.elts if isinstance(shape_node, ast.Tuple) else [shape_node] * 9
        items = shape.items if isinstance(shape, Tuple) else (shape,)
        if not 1 <= len(items) <= 4:
            raise self.error(shape_node, f"{len(items)} dimensions, expected 1 to 4")
        lengths = tuple(
            self.to_constant(at, item, "a length") for at, item in zip(nodes, items, strict=False)
        )
        for at, n in zip(nodes, lengths, strict=False):
            if n < 1:
                raise self.error(at, f"a length of {n}")
        if isinstance(dtype_node, ast.Constant) and isinstance(dtype_node.value, str):
            t = types.named(dtype_node.value)
        else:
            given = self.value(dtype_node)
            t = types.named(given.value) if isinstance(given, PythonObject) else None
        if t is None:
            raise self.error(
                dtype_node, f"'{ast.unparse(dtype_node)}' is no dtype that kernels have"
            )
        return lengths, types.STRONG_OF.get(t.name, t), rest

    def on_local_array(self, node: ast.Call) -> Value:
        """``usmx.local.array(shape, dtype)``."""
        if not self.is_kernel:
            raise self.error(node, "local memory is made in the kernel; pass it to this function")
        name = self.spell(self.hint or "tile")
        lengths, t, _ = self.shape_and_type(node)
        self.needs_group(node, "local memory")
        self.take_memory(node, "local", name, math.prod(lengths) * t.size)
        made = self.result.called[node] = self.local_memory(name, lengths, t)
        return made

    def local_memory(self, name: str, lengths: tuple[int, ...], t: Scalar) -> ArrayValue:
        """An array that is declared before the first statement."""
        text = "".join(f"[{n}]" for n in lengths)
        declaration = f"usmx::local<{t.cpp}{text}> {name};"
        if declaration not in self.result.declarations:
            self.result.declarations.append(declaration)
        return ArrayValue(t, len(lengths), name, "local", lengths)

    def on_private_array(self, node: ast.Call) -> Value:
        """``usmx.private.array(shape, dtype)``."""
        name = self.spell(self.hint or "own")
        lengths, t, _ = self.shape_and_type(node, "fill_zeros")
        text = "".join(f"[{n}]" for n in lengths)
        declaration = f"{t.cpp} {name}{text};"
        if declaration not in self.result.declarations:
            self.result.declarations.append(declaration)
        self.take_memory(node, "private", name, math.prod(lengths) * t.size)
        self.line(f"usmx::clear({name});")
        made = self.result.called[node] = ArrayValue(t, len(lengths), name, "private", lengths)
        return made


def exact(value: Number) -> str:
    """C++ of exactly the type: a literal 5 is an int, not an int64_t."""
    if value.type.is_integer and value.code.lstrip("-").isdigit():
        return f"{value.type.cpp}({value.code})"
    return value.code


def _is_dtype(obj: object) -> bool:
    return hasattr(obj, "itemsize") and hasattr(obj, "name") and not hasattr(obj, "shape")


_table: dict[int, Handler] = {}


def _handlers() -> dict[int, Handler]:
    if not _table:
        f = functions
        rows: list[tuple[object, Handler]] = [
            (len, Calls.on_len),
            (min, lambda self, node: self.on_extreme(node, "min")),
            (max, lambda self, node: self.on_extreme(node, "max")),
            (range, Calls.on_range),
            (print, Calls.on_print),
            (f.barrier, lambda self, node: self.on_barrier(node)),
            (f.fence, lambda self, node: self.on_fence(node)),
            (f.AtomicRef, lambda self, node: self.on_atomic_ref(node)),
            (f.local.array, Calls.on_local_array),
            (f.private.array, Calls.on_private_array),
            (f.private_array, Calls.on_private_array),
            (f.group_barrier, lambda self, node: self.on_group_barrier(node)),
        ]
        for name, method in f.ITEM_FUNCTIONS.items():
            rows.append(
                (f.item_functions[name], lambda self, node, m=method: self.item_method(node, m))  # type: ignore[misc]
            )
        for name in f.ATOMIC:
            rows.append(
                (getattr(f.atomic, name), lambda self, node, n=name: self.on_atomic(node, n))  # type: ignore[misc]
            )
        for obj, handler in rows:
            _table[id(obj)] = handler
    return _table
