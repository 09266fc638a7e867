"""What an expression of a kernel is while it is compiled: a typed piece of C++, or something that
exists only then, such as an array, an item or a function."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..source.function import NAME_OF_LAMBDAS, Nested
from .scalars import BFLOAT16, COMPLEX, FLOAT, FLOAT32, INT, PYTHON_BOOL, Record, Scalar, TupleOf

# How tightly a piece of C++ holds together; a looser one gets brackets.
ATOM, UNARY, PRODUCT, SUM, SHIFT, ORDER, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(
    13, 0, -1
)


@dataclass(frozen=True)
class Number:
    """A scalar expression: its type and its C++, or the number itself if it is known now."""

    type: Scalar
    code: str
    level: int = ATOM
    #: Set if known when compiling; then `code` is a literal of no particular type.
    const: bool | int | float | complex | None = None
    #: The same of a whole number of NumPy's, which has a type.
    whole: int | None = None
    #: May it be evaluated twice, or not at all?
    pure: bool = True
    #: Arguments that it is computed from, if from nothing else: what to know to know it.
    origins: frozenset[str] = frozenset()
    #: Of an integer: no value of it is less. See `least_of`.
    least: int | None = None
    #: Parameters of the kernel: if none of them is negative, it may be sure not to be.
    asks: frozenset[str] = frozenset()

    def at(self, level: int) -> str:
        """The code, in brackets unless it holds as tightly as ``level``."""
        return self.code if self.level >= level else f"({self.code})"


@dataclass(frozen=True)
class Tuple:
    """A tuple of values, and its class if that is a namedtuple's."""

    items: tuple[Value, ...]
    kind: type | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of its items; none if it is a plain tuple."""
        return fields_of(self.kind)


@dataclass(frozen=True)
class ArrayValue:
    """An array: its element type, its rank, and how C++ reaches an element."""

    element: Scalar | Record
    ndim: int
    code: str
    #: Where it lives: global, local, private, constant, or in a field of a record.
    space: str = "global"
    #: Lengths if known when compiling.
    shape: tuple[int, ...] | None = None
    dense: bool = True
    #: Parameter of the function that it came in by.
    parameter: str | None = None
    readonly: bool = False
    #: Indices that were already given: `a[i]` of a two-dimensional `a`.
    indices: tuple[str, ...] = ()
    #: Of a slice: C++ of its elements' type. The code is a view then, in each kind of memory.
    sliced: str = ""
    pure: bool = True
    #: Of records: the fields that are taken of each element, one in the other.
    fields: tuple[str, ...] = ()
    #: The record that it is a field of.
    within: Reference | None = None
    #: Of complex numbers: the part that is taken of each element, as C++ has it.
    part: str = ""

    def __str__(self) -> str:
        return f"a {self.ndim - len(self.indices)}-d array"


@dataclass(frozen=True)
class Reference:
    """A record in memory."""

    record: Record
    code: str
    #: Parameter of the function that its memory came in by.
    parameter: str | None = None
    readonly: bool = False
    pure: bool = True


@dataclass(frozen=True)
class ItemValue:
    """The running work-item, or its group or sub-group: `what` is one of those words."""

    what: str


@dataclass(frozen=True)
class AtomicValue:
    """An AtomicRef: the element that it stands for."""

    element: Scalar
    code: str


@dataclass(frozen=True)
class PythonObject:
    """Something of Python's that is known when compiling: a module, a function, a dtype, None."""

    value: object


@dataclass(frozen=True)
class Method:
    """A method of a value that exists only while compiling, before it is called."""

    of: Value
    name: str


Value = Number | Tuple | ArrayValue | Reference | ItemValue | AtomicValue | PythonObject | Method


def fields_of(kind: object) -> tuple[str, ...]:
    """The names of a namedtuple's items; none of other classes."""
    is_named = isinstance(kind, type) and issubclass(kind, tuple)
    return tuple(getattr(kind, "_fields", ())) if is_named else ()


def parts(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """The values in a tuple, also of tuples in it, with names of their own: ``"t.0.1"``."""
    if not isinstance(value, Tuple | TupleOf | tuple):
        yield name, value
        return
    items = value if isinstance(value, tuple) else value.items
    for k, item in enumerate(items):
        yield from parts(f"{name}.{k}", item)


def filled(form: Tuple, values: Iterator[Value]) -> Tuple:
    """A tuple of the same form with other values."""
    items = tuple(
        filled(item, values) if isinstance(item, Tuple) else next(values) for item in form.items
    )
    return Tuple(items, form.kind)


def has_form(one: Tuple, other: Tuple) -> bool:
    """Whether two tuples have the same classes and the same numbers of items."""
    if one.kind is not other.kind or len(one.items) != len(other.items):
        return False
    return all(
        has_form(a, b) if isinstance(a, Tuple) and isinstance(b, Tuple) else type(a) is type(b)
        for a, b in zip(one.items, other.items, strict=True)
    )


def describe(value: Value) -> str:
    """For messages: what it is."""
    if isinstance(value, Number):
        return str(value.type) if value.const is None else repr(value.const)
    if isinstance(value, Tuple):
        return f"a {value.kind.__name__}" if value.kind else f"a tuple of {len(value.items)}"
    if isinstance(value, ArrayValue):
        return str(value)
    if isinstance(value, Reference):
        return f"a record of {', '.join(value.record.names)}"
    if isinstance(value, ItemValue):
        return f"the {value.what}"
    if isinstance(value, AtomicValue):
        return "an AtomicRef"
    if isinstance(value, Method):
        return f"the method {value.name}"
    if isinstance(value.value, Nested):
        name = value.value.name
        return "a lambda" if name == NAME_OF_LAMBDAS else f"the function {name}"
    if isinstance(value.value, type) or callable(value.value):
        return f"the function {getattr(value.value, '__name__', value.value)}"
    if value.value is None:
        return "None"
    return f"a {type(value.value).__name__}"


def constant(value: bool | int | float | complex) -> Number:
    """A number that is known now, of Python's (weak) type."""
    if isinstance(value, bool):
        return Number(PYTHON_BOOL, "true" if value else "false", const=value)
    if isinstance(value, int):
        return Number(INT, literal(value, INT), UNARY if value < 0 else ATOM, const=value)
    if isinstance(value, float):
        return Number(FLOAT, literal(value, FLOAT), UNARY if value < 0 else ATOM, const=value)
    return Number(COMPLEX, literal(value, COMPLEX), const=value)


def counted(value: Value) -> Value:
    """A known integer of NumPy's as one of Python's, where only its value counts: as an index."""
    if isinstance(value, Number) and value.whole is not None and value.type.is_integer:
        return constant(value.whole)
    return value


def least_of(number: Number) -> int | None:
    """The least value that an integer has by itself, None if nothing is known."""
    if isinstance(number.const, bool | int):
        return int(number.const)
    if number.whole is not None:
        return number.whole
    if number.type.kind in "bu":
        return max(number.least or 0, 0)
    return number.least if number.type.kind == "i" else None


def literal(value: bool | int | float | complex, t: Scalar) -> str:
    """A C++ literal of the type ``t`` for a number that fits."""
    if t.kind == "b":
        return "true" if value else "false"
    if t.is_integer:
        number = int(value.real)
        if number == -(2**63):
            return "(-9223372036854775807 - 1)"
        if t.kind == "u" and number >= 2**31:
            return f"{number}u" if number < 2**32 else f"{number}ul"
        return str(number) if abs(number) < 2**31 else f"{number}l"
    if t.kind == "c":
        part = "float" if t.size == 8 else "double"
        value = complex(value)
        real, imaginary = (_floating(x, t.size // 2) for x in (value.real, value.imag))
        return f"usmx::complex<{part}>({real}, {imaginary})"
    if t is BFLOAT16:
        nearest = to_bfloat16(value if isinstance(value, int) else float(value.real))
        return f"usmx::bfloat16({_floating(nearest, 4)})"
    return _floating(float(value.real), t.size)


#: Ends of literals of the types in which C++ computes; those of less than 32 bits have none.
_SUFFIXES = {"int64_t": "l", "uint32_t": "u", "uint64_t": "ul"}


def typed(number: Number) -> Number:
    """A literal of NumPy's type as one of that type in C++, which joins two others as int."""
    suffix = _SUFFIXES.get(number.type.cpp, "")
    is_plain = number.const is None and number.code.removeprefix("-").isdecimal()
    return replace(number, code=number.code + suffix) if is_plain else number


def to_bfloat16(value: float) -> float:
    """The nearest number of bfloat16, of two the even one; integers of any size too."""
    if isinstance(value, int):
        drop = abs(value).bit_length() - 8
        if drop > 0:
            kept, rest, middle = abs(value) >> drop, abs(value) & ((1 << drop) - 1), 1 << drop >> 1
            kept += rest > middle or (rest == middle and kept & 1 == 1)
            value = (kept if value > 0 else -kept) << drop
        return float(value)
    if value == 0 or not math.isfinite(value):
        return value
    unit = math.ldexp(1.0, max(math.frexp(value)[1] - 8, -133))
    size = abs(round(value / unit) * unit)
    return math.copysign(math.inf if size >= 2.0**128 else size, value)


def loaded(value: Number) -> Number:
    """What is read from an element in memory: of bfloat16 a float32."""
    if value.type is not BFLOAT16:
        return value
    return Number(FLOAT32, f"float({value.code})", pure=value.pure)


def _to_bfloat16(value: Number) -> Number:
    """A value on its way into an element of bfloat16: rounded once."""
    code, t = value.code, value.type
    if t.is_integer:
        code = f"usmx::bfloat16::nearest({'u' if t.kind == 'u' else ''}int64_t({code}))"
    elif t.cpp == "double":
        code = f"usmx::bfloat16::nearest({code})"
    else:
        code = f"usmx::bfloat16(float({code}))"
    return Number(BFLOAT16, code, pure=value.pure)


def _floating(value: float, size: int) -> str:
    if math.isnan(value):
        text = '__builtin_nanf("")' if size <= 4 else '__builtin_nan("")'
    elif math.isinf(value):
        text = "__builtin_inff()" if size <= 4 else "__builtin_inf()"
        text = "-" + text if value < 0 else text
    else:
        text = repr(value) + ("f" if size <= 4 else "")
    return f"half({text})" if size == 2 else text


def convert(value: Number, t: Scalar) -> Number:
    """The value as one of type ``t``; the caller has checked that it may be."""
    if value.const is not None:
        code = literal(value.const, t)
        level = UNARY if code.startswith("-") else ATOM
        known = value.const if t.weak or t.kind == "b" else None
        if known is not None:
            known = {"b": bool, "i": int, "f": float, "c": complex}[t.kind](known)
        return Number(t, code, level, const=known)
    if value.type.cpp == t.cpp:
        return replace(value, type=t)
    if t is BFLOAT16:
        return _to_bfloat16(value)
    if t.kind == "b":
        return Number(t, f"{value.at(EQUAL)} != 0", EQUAL, pure=value.pure)
    code = value.code
    if t.kind in "fc" and value.type.kind == "i":
        # Not float(x), whose sign a compiler loses; the prelude says when.
        part = t.cpp if t.kind == "f" else {8: "float", 16: "double"}[t.size]
        code = f"usmx::to_floating<{part}>({code})"
        if t.kind == "f":
            return Number(t, code, pure=value.pure)
    if t.kind in "iu" and t.size == 8 and value.type.kind == "f":
        code = f"usmx::to_integer<{t.cpp}>({code})"
        return Number(t, code, pure=value.pure)
    made = Number(t, f"{t.cpp}({code})", pure=value.pure)
    if t.kind == "i" and value.type.kind in "biu" and value.type.limits[1] <= t.limits[1]:
        made = replace(made, least=least_of(value), asks=value.asks)
    return made
