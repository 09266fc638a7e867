"""Calls: conversions, functions of numbers, len, min, max and range, and the way to all others."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import MethodType
from typing import Any

from ..language import functions as f
from ..language import intrinsics, library, records, vectors
from ..language.device_function import DeviceFunction
from ..language.forms import Form
from ..source.function import Nested
from ..types import operators, scalars
from ..types import values as v
from ..types.scalars import Scalar
from ..types.values import (
    ArrayValue,
    AtomicValue,
    ItemValue,
    Method,
    Number,
    PythonObject,
    Reference,
    Tuple,
    Value,
    convert,
)
from . import instead
from .atomics import Atomics
from .device_functions import DeviceFunctions, plain
from .elements import Elements
from .groups import Groups
from .items import Items
from .lowering import Lowering
from .memory import Memory
from .printing import Printing
from .records import Records
from .vectors import Vectors, kind_of
from .walk import Walk, by_name, constant, in_order

#: Classes of NumPy whose attributes are limits of a type.
LIMITS = ("finfo", "iinfo")
#: Rows of the table of operations that give no negative integers.
NOT_NEGATIVE = ("magnitude", "popcount", "clz")


class PythonFunctions:
    """What needs no import."""

    def __init__(self, walk: Walk, elements: Elements, device_functions: DeviceFunctions) -> None:
        self.walk = walk
        self.elements = elements
        self.device_functions = device_functions

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
                made = operators.call(name, t, result, other)
                least = self._least_of_two(name, result, other) if t.kind == "i" else None
                asks = result.asks | other.asks
                result = replace(made, origins=origins, least=least, asks=asks)
            except TypeError as error:
                raise self.walk.error(node, str(error)) from None
        self.walk.result.notes[node] = result.type
        return result

    def _least_of_two(self, name: str, a: Number, b: Number) -> int | None:
        """The least value of the less or the greater of two."""
        low = [n for n in (self.walk.signs.least(one) for one in (a, b)) if n is not None]
        if name == "max":
            return max(low, default=None)
        return min(low) if len(low) == 2 else None

    def on_sum(self, node: ast.Call) -> Value:
        """``sum(a)``, ``sum(a, start)`` of an array or a tuple."""
        walk = self.walk
        of, start_node, *_ = by_name(walk, node, "iterable", "start")
        if of is None:
            raise walk.error(node, "'sum' takes an array or a tuple, got nothing")
        value = walk.value(of)
        if isinstance(value, ArrayValue):
            if value.ndim - len(value.indices) != 1:
                raise walk.error(of, f"'sum' of {v.describe(value)}; loop over its rows")
            return self.device_functions.call(node, plain(library.total))
        if not isinstance(value, Tuple):
            raise walk.error(of, f"'sum' takes an array or a tuple, not {v.describe(value)}")
        result = v.constant(0)
        if start_node is not None:
            result = walk.scalar(start_node, "the start of 'sum'")
        for item in value.items:
            number = walk.number(of, item, "an item of the tuple")
            try:
                result = operators.binary("+", result, number, grouped=walk.module.grouped)
            except TypeError as error:
                raise walk.error(node, str(error)) from None
        walk.result.called[node] = sum
        return result

    def on_range(self, node: ast.Call) -> Value:
        """``range`` outside of a for."""
        raise self.walk.error(node, "range(...) is supported only in `for ... in range(...)`")


class Calls:
    """What is called."""

    def __init__(
        self,
        walk: Walk,
        python_functions: PythonFunctions,
        items: Items,
        groups: Groups,
        atomics: Atomics,
        memory: Memory,
        printing: Printing,
        device_functions: DeviceFunctions,
        lowering: Lowering,
        vectors_of: Vectors,
        records_of: Records,
    ) -> None:
        self.walk = walk
        self.vectors = vectors_of
        self.records = records_of
        self.lowering = lowering
        self.items = items
        self.groups = groups
        self.atomics = atomics
        self.device_functions = device_functions
        rows: list[tuple[object, Callable[[ast.Call], Value]]] = [
            (len, python_functions.on_len),
            (min, partial(python_functions.on_extreme, name="min")),
            (max, partial(python_functions.on_extreme, name="max")),
            (range, python_functions.on_range),
            (sum, python_functions.on_sum),
            (print, printing.on_print),
            (breakpoint, printing.on_breakpoint),
            (getattr, lowering.on_getattr),
            (f.barrier, items.on_barrier),
            (f.fence, items.on_fence),
            (f.group_barrier, items.on_group_barrier),
            (f.AtomicRef, atomics.on_atomic_ref),
            (f.local.array, memory.on_local_array),
            (f.private.array, memory.on_private_array),
            (f.private_array, memory.on_private_array),
            (vectors.vec, partial(vectors_of.class_of, what=vectors.vec)),
            (vectors.mat, partial(vectors_of.class_of, what=vectors.mat)),
            *(
                (f.item_functions[name], partial(items.item_method, name=method))
                for name, method in f.ITEM_FUNCTIONS.items()
            ),
            *(
                (getattr(f.atomic, name), partial(atomics.on_atomic, name=name))
                for name in f.ATOMIC
            ),
        ]
        # None of them is a method of this object, which would then refer to itself.
        #: By the id of what is called, because not everything that is called has a hash.
        self.handlers: dict[int, Callable[[ast.Call], Value]] = {id(o): h for o, h in rows}

    def call(self, node: ast.Call) -> Value:
        """Any call."""
        called = self.walk.value(node.func)
        if isinstance(called, Method):
            template = self.lowering.method(called.of, called.name)
            if template is not None:
                func = self.walk.result.lowered.get(node.func, node.func)
                assert isinstance(func, ast.Attribute)
                given = in_order(self.walk, node, 0, 1)
                if called.name == "astype":
                    given = [_type_of_text(one) or one for one in given]
                operands = [func.value, *given]
                return self.lowering.call(node, template, operands)
            self.walk.result.called[node] = called
            return self._method(node, called)
        if not isinstance(called, PythonObject):
            raise self.walk.error(node, f"{v.describe(called)} cannot be called")
        obj = called.value
        if isinstance(obj, type):  # a class that also has a meaning outside of kernels
            obj = getattr(obj, "_in_kernels", obj)
        if is_ufunc(obj) and len(node.args) == operands_of(obj) + 1 and not node.keywords:
            return self._into(node, obj)
        handler = self.handlers.get(id(obj))
        if handler is not None:
            self.walk.result.called[node] = obj
            return handler(node)
        if obj is pow and len(node.args) == 3:
            raise self.walk.error(
                node,
                "'pow' takes two numbers in kernels; multiply in a loop, with % of each product",
            )
        if isinstance(obj, Form):
            return self.lowering.on_form(node, obj)
        if isinstance(obj, DeviceFunction):
            return self.device_functions.call(node, obj.function)
        if isinstance(obj, Nested):
            return self.device_functions.call(node, obj)
        if isinstance(obj, vectors.VectorType):
            in_parts = self._in_parts(node)
            return self.walk.value(in_parts) if in_parts else self.vectors.made(node, obj)
        if records.is_struct_class(obj):
            record = records.meant(obj)
            assert record is not None
            return self.records.made(node, record)
        if v.fields_of(obj):
            return self._named_tuple(node, obj)
        template = self.lowering.find(obj, len(node.args))
        if template is not None and not node.keywords:
            return self.lowering.call(node, template, node.args)
        written = _in_library(obj)
        if written is not None:
            return self.device_functions.call(node, plain(written))
        row = obj if isinstance(obj, intrinsics.Intrinsic) else intrinsics.find(obj)
        if row is not None:
            return self._intrinsic(node, row)
        t = scalars.named(obj) if isinstance(obj, (type, Scalar)) else None
        t = t or (scalars.named(obj) if _is_dtype(obj) else None)
        if t is not None:
            return self._conversion(node, scalars.PYTHON_BOOL if obj is bool else t)
        if isinstance(obj, type) and obj.__module__ == "numpy" and obj.__name__ in LIMITS:
            return self._limits(node, obj)
        return self._of_python(node, obj)

    def _of_python(self, node: ast.Call, obj: Any) -> Value:
        """A function of the program, or what no kernel can call."""
        if type(obj).__module__.startswith("numba."):  # one that Numba compiles for processors
            obj = getattr(obj, "py_func", obj)
        name = ast.unparse(node.func)
        home = str(getattr(obj, "__module__", "")).partition(".")[0]
        is_library = home in sys.stdlib_module_names or home == "numpy"
        is_own = not is_library or home == "__main__"
        if isinstance(obj, MethodType):
            return self._bound_method(node, obj, name, is_own)
        # The class is asked, because an object with `__getattr__` has any name.
        if hasattr(type(obj), "__code__") and is_own:
            return self.device_functions.call(node, plain(obj))
        hint = instead.of_function(obj, name)
        raise self.walk.error(node, f"function '{name}' is not supported in kernels{hint}")

    def _bound_method(self, node: ast.Call, method: MethodType, name: str, is_own: bool) -> Value:
        """``m.mul(x)`` of an object outside of the kernel: its function, with the object first."""
        if not is_own or not hasattr(type(method.__func__), "__code__"):
            raise self.walk.error(
                node,
                f"'{name}' is a bound method of a library, which is not supported in kernels; "
                "write a function in Python that takes what it needs of the object as numbers",
            )
        of = ast.copy_location(constant(method.__self__), node)
        call = ast.copy_location(ast.Call(node.func, [of, *node.args], node.keywords), node)
        result = self.device_functions.call(call, plain(method.__func__))
        self.walk.result.called[node] = self.walk.result.called[call]
        self.walk.result.bound[node] = method.__self__
        return result

    def _into(self, node: ast.Call, ufunc: Any) -> Value:
        """``np.add(a, b, out)``: the function of each element of arrays."""
        values = [self.walk.value(one) for one in node.args]
        ranks = [
            a.ndim - len(a.indices) if isinstance(a, ArrayValue) else 0 if isinstance(a, Number)
            else -1
            for a in values
        ]  # fmt: skip
        rank = ranks[-1]
        for one, value, own in zip(node.args, values, ranks, strict=True):
            if rank < 1 or own not in (0, rank):
                raise self.walk.error(
                    one,
                    f"{v.describe(value)}; '{ufunc.__name__}' with an array for its results takes "
                    "arrays of as many dimensions and numbers",
                )
        kinds = "".join("a" if own else "n" for own in ranks[:-1])
        made = self.lowering.made
        if node not in made:
            function = constant(library.INTO[rank > 1, kinds])
            made[node] = ast.fix_missing_locations(
                ast.copy_location(ast.Call(function, [node.func, *node.args], []), node)
            )
        new = self.walk.result.lowered[node] = made[node]
        return self.walk.value(new)

    def _in_parts(self, node: ast.Call) -> ast.Call | None:
        """``vec3(p.position)`` with the numbers of the array one by one; None if there is none."""
        made = self.lowering.made
        if node not in made:
            lengths = [_known_length(self.walk, one) for one in node.args]
            if not any(lengths):
                return None
            args: list[ast.expr] = [
                ast.Tuple([_element(one, k) for k in range(n)], ast.Load()) if n else one
                for one, n in zip(node.args, lengths, strict=True)
            ]
            new = ast.copy_location(ast.Call(node.func, args, node.keywords), node)
            made[node] = ast.fix_missing_locations(new)
        found = self.walk.result.lowered[node] = made[node]
        assert isinstance(found, ast.Call)
        return found

    def _intrinsic(self, node: ast.Call, row: intrinsics.Intrinsic) -> Value:
        """A row of the table."""
        nodes = in_order(self.walk, node, row.operands)
        operands = [self.walk.scalar(one, f"the argument of '{row.title}'") for one in nodes]
        if any(o.type.kind == "c" for o in operands):
            row = intrinsics.complex_form(row) or row
        try:
            t = row.operand_type([o.type for o in operands])
            codes = [exact(operators.checked(o, t)) for o in operands]
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        result = row.result_type(t)
        if row.header:
            self.walk.module.headers.add(row.header)
        self.walk.result.notes[node] = t
        self.walk.result.called[node] = row
        pure = all(o.pure for o in operands)
        code = f"usmx::{row.name}({', '.join(codes)})"
        least = 0 if result.kind == "i" and row.name in NOT_NEGATIVE else None
        return Number(result, code, pure=pure, least=least)

    def _conversion(self, node: ast.Call, t: Scalar) -> Value:
        """``usmx.float32(x)``, ``int(x)``."""
        nodes = in_order(
            self.walk, node, 0 if t.weak or t.kind == "b" else 1, 2 if t.kind == "c" else 1
        )
        self.walk.result.called[node] = t
        if not nodes:
            return convert(v.constant(0), scalars.value_of(t))
        if isinstance(nodes[0], ast.Constant) and isinstance(nodes[0].value, str):
            return self._spelled(nodes[0], nodes[0].value, t)
        value = self.walk.scalar(nodes[0], f"the argument of '{ast.unparse(node.func)}'")
        if len(nodes) == 2:
            part = scalars.real_of(t)
            imaginary = self.walk.scalar(nodes[1], "the imaginary part")
            if value.const is not None and imaginary.const is not None and t.weak:
                return v.constant(complex(value.const, imaginary.const))
            if "c" in (value.type.kind, imaginary.type.kind):
                raise self.walk.error(node, "the parts of a complex number must be real")
            code = f"{t.cpp}({convert(value, part).code}, {convert(imaginary, part).code})"
            return Number(t, code, pure=value.pure and imaginary.pure)
        if value.type.kind == "c" and t.kind != "c":
            raise self.walk.error(
                node, f"a complex number cannot be converted to {t}; take its .real"
            )
        if t.kind == "b":
            return convert(operators.truth(value), t)
        try:
            fits = value.const is not None and value.type.kind == "i" and t.is_integer
            converted = operators.checked(value, t) if fits else convert(value, t)
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None
        if value.const is not None and t.is_integer:
            converted = v.typed(converted)
        if t is scalars.BFLOAT16:
            return v.loaded(converted)
        return replace(converted, origins=value.origins) if t is scalars.INT else converted

    def _bits(self, node: ast.Call, of: Number) -> Value:
        """``x.view(usmx.int32)``: the bits of a number as another one of as many bytes."""
        [given] = in_order(self.walk, node, 1)
        meant = self.walk.value(_type_of_text(given) or given)
        t = scalars.named(meant.value) if isinstance(meant, PythonObject) else None
        taken = "iuf"
        if t is None or t.kind not in taken or of.type.kind not in taken or t.size != of.type.size:
            raise self.walk.error(
                node,
                f"'view' of {v.describe(of)} takes a type of {of.type.size} bytes, an integer or "
                f"a float, not '{ast.unparse(given)}'",
            )
        self.walk.result.notes[node] = t
        return Number(t, f"__builtin_bit_cast({t.cpp}, {exact(of)})", pure=of.pure)

    def _spelled(self, node: ast.Constant, text: str, t: Scalar) -> Value:
        """``float("inf")``."""
        if t.kind != "f":
            raise self.walk.error(node, f"text cannot be converted to {t} in kernels")
        try:
            return convert(v.constant(float(text)), t)
        except ValueError as error:
            raise self.walk.error(node, str(error)) from None

    def _named_tuple(self, node: ast.Call, kind: Any) -> Value:
        """``Point(x, y)`` of a namedtuple."""
        nodes = by_name(self.walk, node, *kind._fields)
        items = []
        for name, one in zip(kind._fields, nodes, strict=True):
            if one is None and name not in kind._field_defaults:
                raise self.walk.error(node, f"'{kind.__name__}' needs a value for '{name}'")
            items.append(self.walk.value(one or constant(kind._field_defaults[name])))
        self.walk.result.called[node] = kind
        return Tuple(tuple(items), kind)

    def _limits(self, node: ast.Call, obj: Callable[[str], object]) -> Value:
        """``numpy.finfo(dtype)``: its attributes are numbers."""
        [of] = in_order(self.walk, node, 1)
        given = self.walk.value(_type_of_text(of) or of)
        t = scalars.named(given.value) if isinstance(given, PythonObject) else None
        try:
            found = PythonObject(obj(scalars.STRONG_OF.get(t.name, t).name if t else ""))
        except (TypeError, ValueError):
            raise self.walk.error(
                of, f"'{ast.unparse(of)}' has no {ast.unparse(node.func)}"
            ) from None
        self.walk.result.called[node] = found
        return found

    def _method(self, node: ast.Call, method: Method) -> Value:
        """A call of a method."""
        of, name = method.of, method.name
        if name == "copy" and isinstance(of, Reference | Tuple):
            in_order(self.walk, node, 0)
            copied = self.records.values(node, of)
            assert isinstance(copied, Tuple)
            return copied
        if kind_of(of) is not None:
            assert isinstance(of, Tuple)
            return self.vectors.method(node, of, name)
        if isinstance(of, AtomicValue):
            return self.atomics.method(node, of, name)
        if isinstance(of, Number):
            if name == "view":
                return self._bits(node, of)
            in_order(self.walk, node, 0)
            return Number(of.type, f"usmx::conj({of.code})") if of.type.kind == "c" else of
        assert isinstance(of, ItemValue)
        if of.what == "item":
            return self.items.item_method(node, name)
        return self.groups.method(node, of.what, name)


def exact(value: Number) -> str:
    """C++ of exactly the type: a literal 5 is an int, not an int64_t, and so is ``c ? 5 : 6``."""
    is_literal = value.code.lstrip("-").isdigit()
    if value.type.is_integer and (is_literal or value.level < v.ATOM):
        return f"{value.type.cpp}({value.code})"
    return value.code


def is_ufunc(obj: object) -> bool:
    """Whether it is a function of NumPy for each element, with one result."""
    return type(obj).__name__ == "ufunc" and getattr(obj, "nout", 0) == 1


def operands_of(ufunc: Any) -> int:
    """How many operands such a function has."""
    return int(ufunc.nin)


def _in_library(obj: object) -> Callable[..., Any] | None:
    """What is compiled for a function of the standard library that needs statements."""
    module = getattr(obj, "__module__", None)
    if module not in ("math", "cmath"):
        return None
    return library.LIBRARY.get(f"{module}.{getattr(obj, '__name__', '')}")


def _known_length(walk: Walk, node: ast.expr) -> int:
    """The numbers of an array of one dimension whose length is known; 0 of everything else."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return 0
    of = walk.value(node)
    if not isinstance(of, v.ArrayValue) or of.shape is None or not of.pure:
        return 0
    left = of.shape[len(of.indices) :]
    return left[0] if len(left) == 1 else 0


def _element(of: ast.expr, k: int) -> ast.expr:
    return ast.Subscript(copy.deepcopy(of), ast.Constant(k), ast.Load())


def _type_of_text(node: ast.expr) -> ast.expr | None:
    """The type that a literal names, such as "float32"."""
    text = node.value if isinstance(node, ast.Constant) else None
    named = scalars.named(text) if isinstance(text, str) else None
    return ast.copy_location(constant(named), node) if named is not None else None


def _is_dtype(obj: object) -> bool:
    if type(obj).__module__.startswith("numba.core.types."):
        return True
    return hasattr(obj, "itemsize") and hasattr(obj, "name") and not hasattr(obj, "shape")
