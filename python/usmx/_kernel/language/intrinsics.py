"""The functions of numbers that kernels call: rows of `usmx._operations` with kernels' types."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins
import cmath
import math
import sys
from dataclasses import dataclass

from ... import _operations
from ..types import scalars
from ..types.scalars import FLOAT, FLOAT64, INT, Scalar, promote
from . import functions

#: Types by the letter of a row's `takes`.
KINDS = {
    "b": ("bool",),
    "i": ("int8", "int16", "int32", "int64"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "f": ("float16", "float32", "float64"),
    "c": ("complex64", "complex128"),
}


@dataclass(frozen=True)
class Intrinsic:
    """One function of the prelude, for the kinds of numbers that one name in Python has.

    Attributes
    ----------
    row : Operation
        All that is known of it.
    python : str
        What it is in Python, names separated by blanks.
    takes : str
        Kinds of numbers that it is defined for.
    header : str
        Where it is defined, if that is not part of the prelude.
    """

    row: _operations.Operation
    python: str
    takes: str
    header: str = ""

    @property
    def name(self) -> str:
        """Of the function in ``namespace usmx`` of the prelude."""
        return self.row.function

    @property
    def operands(self) -> int:
        """How many it takes."""
        return self.row.arity

    def operand_type(self, given: list[Scalar]) -> Scalar:
        """The type that all operands are converted to.

        Raises
        ------
        TypeError
            If it is not defined for them.
        """
        t = given[0]
        for other in given[1:]:
            t = promote(t, other)
        if t.kind in self.takes:
            return t
        if t.kind == "b" and "i" in self.takes:
            return INT
        if t.kind in "biu" and "f" in self.takes:
            return FLOAT if t.weak or t.kind == "b" else FLOAT64
        if t.kind in "biuf" and "c" in self.takes:
            return scalars.complex_of(t)
        raise TypeError(f"{self.title} is not defined for {t}")

    def result_type(self, t: Scalar) -> Scalar:
        """The type of the result for operands of type ``t``."""
        if self.row.result == "bool":
            return scalars.PYTHON_BOOL if t.weak else scalars.BOOL
        if self.row.result == "int":
            return INT
        return scalars.real_of(t) if self.row.result == "real" else t

    @property
    def title(self) -> str:
        """The name that messages use."""
        return self.python.split()[0].removeprefix("builtins.")

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Names of the types that it takes as they are."""
        return tuple(name for kind in self.takes for name in KINDS[kind])


#: Functions of cmath that kernels seldom need; the header has others, with values unlike NumPy's.
OF_CMATH = ("tan", "asin", "acos", "atan", "tanh", "asinh", "acosh", "atanh")


def _forms(row: _operations.Operation) -> tuple[Intrinsic, ...]:
    """A row for kernels: those of floats and complex numbers are two, as in math and cmath."""
    if row.takes == "f" and row.complex_ulps and row.function in OF_CMATH:
        # Those of complex numbers that kernels seldom need.
        more = Intrinsic(row, f"cmath.{row.function}", "c", "usmx/complex_functions.hpp")
        return Intrinsic(row, row.python, "f"), more
    if row.takes != "fc":
        return (Intrinsic(row, row.python, row.takes),)
    return Intrinsic(row, row.python, "f"), Intrinsic(row, f"cmath.{row.function}", "c")


ROWS: tuple[Intrinsic, ...] = tuple(
    form for row in _operations.OPERATIONS if row.function for form in _forms(row)
)

#: Functions of prelude/special.hpp, which only texts that call them include.
SPECIAL: frozenset[str] = frozenset(row.name for row in ROWS if row.row.space)

_known: dict[int, tuple[object, Intrinsic]] = {}
#: Modules that are used if the program has imported them.
_OTHERS = ("numpy", "usmx.special", "scipy.special")
_others_known: list[str] = []


def _objects(row: Intrinsic) -> list[object]:
    """The Python functions that a row stands for, those of `_OTHERS` only if they are imported."""
    places: dict[str, object] = {
        "math": math,
        "cmath": cmath,
        "builtins": builtins,
        "usmx": functions,
        **{name: sys.modules.get(name) for name in _OTHERS},
    }
    paths = [path.rpartition(".") for path in row.python.split()]
    found = [getattr(places[module], name, None) for module, _, name in paths]
    return [obj for obj in found if obj is not None]


def find(function: object) -> Intrinsic | None:
    """The row of a Python function, None if it has none."""
    others = [name for name in _OTHERS if name in sys.modules]
    if not _known or others != _others_known:  # imported after the first kernel
        _others_known[:] = others
        for row in ROWS:
            for obj in _objects(row):
                _known.setdefault(id(obj), (obj, row))
    entry = _known.get(id(function))
    return entry[1] if entry else None


def complex_form(row: Intrinsic) -> Intrinsic | None:
    """The row for complex operands of a function that also has one for floats, as numpy.exp."""
    if row.takes != "f":
        return None
    return next((r for r in ROWS if r.row is row.row and r.takes == "c"), None)
