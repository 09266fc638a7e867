"""The types that values have inside a kernel, and the one rule by which two of them become a third.

The rule is NumPy's (NEP 50): elements of arrays have the types of NumPy scalars, literals and
Python numbers are *weak* and adapt to what they meet. ``2.0 * x[i]`` is float32 if ``x`` is, and
``i * 0.5`` with an index is a Python float.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

#: Order of the kinds: a weak value adapts to a strong one of the same or a later kind.
RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


@dataclass(frozen=True)
class Scalar:
    """The type of one number: name, kind (``b i u f c``), bytes, and how C++ spells it."""

    name: str
    kind: str
    size: int
    cpp: str
    weak: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether it counts: int or unsigned, not bool."""
        return self.kind in "iu"

    @property
    def is_narrow(self) -> bool:
        """Whether C++ computes with it as an int, so that results have to be cast back."""
        return self.kind in "iub" and self.size < 4

    @property
    def bits(self) -> int:
        """Width in bits."""
        return self.size * 8

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest integer."""
        if self.kind == "u":
            return 0, 2**self.bits - 1
        if self.kind == "b":
            return 0, 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    def __str__(self) -> str:
        return {
            "int": "a Python int",
            "float": "a Python float",
            "complex": "a Python complex",
        }.get(self.name, self.name)


BOOL = Scalar("bool", "b", 1, "bool")
#: Python's own: a literal, ``not``, a comparison of Python's numbers. In arithmetic it is an int.
PYTHON_BOOL = Scalar("bool", "b", 1, "bool", weak=True)
INT = Scalar("int", "i", 8, "int64_t", weak=True)
FLOAT = Scalar("float", "f", 8, "double", weak=True)
COMPLEX = Scalar("complex", "c", 16, "usmx::complex<double>", weak=True)
STRONG = (
    BOOL,
    *(Scalar(f"int{8 * n}", "i", n, f"int{8 * n}_t") for n in (1, 2, 4, 8)),
    *(Scalar(f"uint{8 * n}", "u", n, f"uint{8 * n}_t") for n in (1, 2, 4, 8)),
    Scalar("float16", "f", 2, "half"),
    Scalar("float32", "f", 4, "float"),
    Scalar("float64", "f", 8, "double"),
    Scalar("complex64", "c", 8, "usmx::complex<float>"),
    Scalar("complex128", "c", 16, "usmx::complex<double>"),
)
#: Of elements in memory only: what is read from there is float32, and what is stored is rounded.
BFLOAT16 = Scalar("bfloat16", "f", 2, "usmx::bfloat16")
BY_NAME = {t.name: t for t in (*STRONG, BFLOAT16, INT, FLOAT, COMPLEX)}
#: What a weak type is where memory needs a type of its own: ``local.array(64, float)``.
STRONG_OF = {
    w: BY_NAME[s]
    for w, s in zip(("int", "float", "complex"), ("int64", "float64", "complex128"), strict=True)
}
FLOAT32, FLOAT64 = BY_NAME["float32"], BY_NAME["float64"]
COMPLEX128 = BY_NAME["complex128"]


def value_of(t: Scalar) -> Scalar:
    """The type of a value in a kernel that is of type ``t`` in memory: float32 for bfloat16."""
    return FLOAT32 if t is BFLOAT16 else t


def strong(kind: str, size: int) -> Scalar:
    """The type of that kind and size, ``strong("f", 4)`` for float32."""
    return next(t for t in STRONG if t.kind == kind and t.size == size)


def real_of(t: Scalar) -> Scalar:
    """The type of the parts of a complex number; the type itself for others."""
    if t.kind != "c":
        return t
    return FLOAT if t.weak else strong("f", t.size // 2)


def complex_of(t: Scalar) -> Scalar:
    """The complex type whose parts hold ``t``."""
    if t.kind == "c":
        return t
    if t.weak:
        return COMPLEX
    return strong("c", 8 if floating_of(t).size <= 4 else 16)


def floating_of(t: Scalar) -> Scalar:
    """The floating type in which NumPy holds every value of ``t``."""
    if t.kind in "fc":
        return t
    if t.weak:
        return FLOAT
    return strong("f", {1: 2, 2: 4}.get(t.size, 8))


def _promote_integers(a: Scalar, b: Scalar) -> Scalar:
    if a.kind == b.kind:
        return a if a.size >= b.size else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.size > unsigned.size:
        return signed
    return strong("i", unsigned.size * 2) if unsigned.size < 8 else FLOAT64


def shifted(a: Scalar, b: Scalar) -> Scalar:
    """The type of ``a << b``. NumPy refuses uint64 and signed integers, which meet in float64; the
    number of bits need not meet anything, and Numba shifts what is on the left."""
    t = promote(a, b)
    return a if a.kind in "iu" and b.kind in "iu" and not t.is_integer else t


def promote(a: Scalar, b: Scalar) -> Scalar:
    """The type in which ``a`` and ``b`` meet, as NumPy has it for two scalars."""
    if a == b:
        return a
    if RANK[a.kind] > RANK[b.kind] or (RANK[a.kind] == RANK[b.kind] and b.weak and not a.weak):
        a, b = b, a  # b is of the later kind, and strong if one of the same kind is
    if a.kind == "b":
        return b
    if a.weak != b.weak:
        if a.weak:
            return b
        # A weak number of a later kind: a strong one just large enough.
        if b.kind == "f":
            return FLOAT64
        return complex_of(a) if a.kind == "f" else COMPLEX128
    if a.weak:
        return b
    if b.is_integer:
        return _promote_integers(a, b)
    floating = floating_of(a)
    if b.kind == "f":
        return floating if floating.size > b.size else b
    as_complex = complex_of(a)
    return as_complex if as_complex.size > b.size else b


def join(a: Scalar, b: Scalar, *, numba: bool = False) -> Scalar:
    """The type of a variable that is assigned both."""
    if numba and a.kind in "iu" and b.kind in "iu" and a.weak != b.weak:
        # Numba's ints are int64, which has no integer type in common with uint64.
        a, b = (STRONG_OF.get(t.name, t) for t in (a, b))
    return promote(a, b)


def of_numba(sign: str, a: Scalar, b: Scalar | None = None) -> Scalar | None:
    """The type of an operator of integers by the rule of Numba; None where NumPy's counts.

    It computes in 64 bits, with a sign if an operand has one, or, of shifts, if what is shifted
    has; bools are ints, but for the bits of two of them. Numbers of Python alone stay ints.
    """
    given = [t for t in (a, b) if t is not None]
    if any(t.kind not in "biu" for t in given) or all(t.weak for t in given) or sign == "/":
        return None
    if all(t.kind == "b" for t in given) and sign in ("&", "|", "^", "~"):
        return None
    deciding = given[:1] if sign in ("<<", ">>") else given
    signed = any(t.kind != "u" for t in deciding)
    return BY_NAME["int64" if signed else "uint64"]


@dataclass(frozen=True)
class Field:
    """One field: its name, its type, its lengths if it is an array, and where it begins."""

    name: str
    type: Scalar | Record
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """Bytes."""
        size = self.type.size
        for n in self.shape:
            size *= n
        return size


@dataclass(frozen=True)
class Record:
    """The type of a record: the fields that kernels can use, in the order of their places."""

    fields: tuple[Field, ...]
    size: int

    #: As a `Scalar` has it, so that what takes numbers only can refuse it.
    kind = "V"
    name = "record"
    weak = False

    @functools.cached_property
    def cpp(self) -> str:
        """The name of its struct: the same for the same fields."""
        about = repr((self.fields, self.size)).encode()
        return f"record::r{hashlib.sha256(about).hexdigest()[:12]}"

    @property
    def is_integer(self) -> bool:
        """As a `Scalar` has it."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(f.name for f in self.fields)

    def field(self, name: str) -> Field | None:
        """The field of that name."""
        return next((f for f in self.fields if f.name == name), None)

    def __str__(self) -> str:
        return f"records of {', '.join(self.names)}"


@dataclass(frozen=True)
class RecordOf:
    """The type of a parameter that stands for a record in memory."""

    record: Record
    writable: bool

    def __str__(self) -> str:
        return f"a record of {', '.join(self.record.names)}"


@dataclass(frozen=True)
class Array:
    """The type of an array argument: element, rank, whether it is contiguous, whether writable."""

    element: Scalar | Record
    ndim: int
    dense: bool = True
    writable: bool = True

    @property
    def first(self) -> RecordOf:
        """Of an array of records the type of one, where it is."""
        assert isinstance(self.element, Record)
        return RecordOf(self.element, self.writable)

    def __str__(self) -> str:
        return f"a {self.ndim}-d array of {self.element}"


@dataclass(frozen=True)
class Static:
    """An argument that is known when compiling: None, a LocalMemory, a dtype, a function."""

    value: object

    def __str__(self) -> str:
        return repr(self.value)

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:  # an object that compares by what it holds, such as a dataclass
            return id(self.value)


@dataclass(frozen=True)
class TupleOf:
    """The type of a tuple that a function takes: that of each item, and its class if it has one."""

    items: tuple[object, ...]
    kind: type | None = None

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


#: What an argument may be for the compiler.
Type = Scalar | Array | Static | TupleOf | RecordOf


def named(obj: object) -> Scalar | None:
    """The scalar type that an object means: ``usmx.float32``, ``np.float32``, ``float``, "f4".

    None if it means none.
    """
    if obj is int:
        return INT
    if obj is float:
        return FLOAT
    if obj is complex:
        return COMPLEX
    if obj is bool:
        return BOOL
    name = getattr(obj, "name", None) or getattr(obj, "__name__", None) or obj
    if not isinstance(name, str):
        return None
    name = {"bool_": "bool", "double": "float64", "single": "float32", "half": "float16"}.get(
        name, name
    )
    found = BY_NAME.get(name)
    if found is not None and not found.weak:
        return found
    return next((t for t in STRONG if name == f"{t.kind}{t.size}"), None)


@functools.cache  # NumPy makes the name of a type anew each time
def cpp(dtype: Any) -> str:
    """The name of a type of elements in C++.

    Raises
    ------
    TypeError
        If it is not supported in kernels.
    """
    known = BY_NAME.get(dtype.name)
    if known is None:
        raise TypeError(f"dtype {dtype} is not supported in kernels")
    return known.cpp
