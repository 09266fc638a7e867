"""Local and private memory of a kernel."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import math

from ..language import records
from ..language.local_memory import LocalMemory
from ..types import scalars
from ..types.scalars import Record, Scalar, Static
from ..types.values import ArrayValue, PythonObject, Tuple, Value, constant
from .walk import Walk, by_name

#: The argument that stands for the local memory of a launch.
OF_LAUNCH = "usmx.of_launch"


class Memory:
    """Arrays that exist while a kernel runs."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def given(self, name: str, value: LocalMemory) -> ArrayValue:
        """The local memory that an argument stands for."""
        walk = self.walk
        walk.needs_group(walk.function.tree, f"local memory for '{name}'")
        size = math.prod(value.shape) * value.dtype.size
        walk.take_memory(walk.function.tree, "local", walk.spell(name), size)
        return self.local(walk.spell(name), value.shape, value.dtype)

    def local(self, name: str, lengths: tuple[int, ...], t: Scalar | Record) -> ArrayValue:
        """An array that is declared before the first statement."""
        text = "".join(f"[{n}]" for n in lengths)
        self.walk.declare(f"usmx::local<{t.cpp}{text}> {name};")
        return ArrayValue(t, len(lengths), name, "local", lengths)

    def on_local_array(self, node: ast.Call) -> Value:
        """``usmx.local.array(shape, dtype)``."""
        walk = self.walk
        name = walk.spell(walk.hint or "tile")
        lengths, t = self._shape_and_type(node, "alignment", of_launch=True)
        walk.needs_group(node, "local memory")
        if lengths == (0,):
            made = walk.result.called[node] = self.of_launch(node, t)
            return made
        walk.take_memory(node, "local", name, math.prod(lengths) * t.size)
        made = walk.result.called[node] = self.local(name, lengths, t)
        return made

    def on_private_array(self, node: ast.Call) -> Value:
        """``usmx.private.array(shape, dtype)``."""
        walk = self.walk
        name = walk.spell(walk.hint or "own")
        lengths, t = self._shape_and_type(node, "fill_zeros", "alignment")
        text = "".join(f"[{n}]" for n in lengths)
        walk.declare(f"{t.cpp} {name}{text};")
        walk.take_memory(node, "private", name, math.prod(lengths) * t.size)
        walk.line(f"usmx::clear({name});")
        made = walk.result.called[node] = ArrayValue(t, len(lengths), name, "private", lengths)
        return made

    def of_launch(self, node: ast.Call, t: Scalar | Record) -> ArrayValue:
        """Local memory of the size that a launch gives; all such arrays are the same bytes."""
        walk = self.walk
        given = walk.arguments.get(OF_LAUNCH)
        if not isinstance(given, Static) or not isinstance(given.value, LocalMemory):
            why = "no such size" if walk.is_kernel else "a function has no part in it"
            raise walk.error(
                node,
                "an array of length 0 is the local memory whose size is given at the launch, and "
                f"there is {why}; give it at the launch, or pass the array to the function",
            )
        size = math.prod(given.value.shape)
        raw = walk.spell(OF_LAUNCH)
        walk.declare(f"usmx::local<int64_t[{-(-size // 8)}]> {raw};")
        walk.take_memory(node, "local", raw, size)
        view = f"usmx::strided<{t.cpp}, 1>"
        name = walk.store_once(view, f"{{({t.cpp}*)&{raw}[0], {{{size // t.size}}}, {{1}}}}")
        return ArrayValue(t, 1, name, "local", (size // t.size,), dense=False, sliced=t.cpp)

    def _shape_and_type(
        self, node: ast.Call, *more: str, of_launch: bool = False
    ) -> tuple[tuple[int, ...], Scalar | Record]:
        """The arguments of local.array and private.array; others are allowed and change nothing."""
        walk = self.walk
        shape_node, dtype_node, *_ = by_name(walk, node, "shape", "dtype", *more)
        if shape_node is None or dtype_node is None:
            raise walk.error(node, f"'{ast.unparse(node.func)}' takes a shape and a dtype")
        shape = walk.value(shape_node)
        if of_launch and isinstance(shape, PythonObject) and shape.value is None:
            shape = constant(0)  # CuPy's word for it
        nodes = shape_node.elts if isinstance(shape_node, ast.Tuple) else [shape_node] * 9
        items = shape.items if isinstance(shape, Tuple) else (shape,)
        if not 1 <= len(items) <= 4:
            raise walk.error(shape_node, f"{len(items)} dimensions, expected 1 to 4")
        lengths = tuple(
            walk.to_constant(at, item, "a length") for at, item in zip(nodes, items, strict=False)
        )
        for at, n in zip(nodes, lengths, strict=False):
            if n < 1 and not (of_launch and lengths == (0,)):
                raise walk.error(at, f"length {n} is not positive")
        if isinstance(dtype_node, ast.Constant) and isinstance(dtype_node.value, str):
            t = scalars.named(dtype_node.value)
        else:
            given = walk.value(dtype_node)
            record = records.meant(given.value) if isinstance(given, PythonObject) else None
            if record is not None:
                walk.module.use(record)
                return lengths, record
            t = scalars.named(given.value) if isinstance(given, PythonObject) else None
        if t is None:
            raise walk.error(
                dtype_node, f"dtype '{ast.unparse(dtype_node)}' is not supported in kernels"
            )
        return lengths, scalars.STRONG_OF.get(t.name, t)
