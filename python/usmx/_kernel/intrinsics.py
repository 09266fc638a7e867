"""The table of functions of numbers: one row each, for the compiler, the simulator and the tests.

To add a function, add a row. The C++ function must exist in ``kernels/prelude/`` for every type
that the row takes: operands of a wrong type can crash a device's compiler, so nothing outside of
this table is ever called.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins
import cmath
import math
import sys
from dataclasses import dataclass
from typing import Any

from . import types
from .types import FLOAT, FLOAT64, INT, Scalar, promote

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
    """One function.

    Attributes
    ----------
    name : str
        Of the function in ``namespace usmx`` of the prelude.
    python : str
        What it is in Python, names separated by blanks: ``"math.sin numpy.sin"``.
    takes : str
        Kinds of numbers that it is defined for, letters of ``b i u f c``. Integers become floats
        where only those are taken.
    numpy : str
        The same in NumPy, as an expression of ``a``, ``b``, ``c``: what the simulator computes and
        what tests compare with.
    result : str
        ``same``, ``bool``, ``int`` (a Python int) or ``real`` (the part of a complex number).
    operands : int
        How many it takes.
    domain : tuple of float
        Where tests evaluate it: real numbers between these.
    """

    name: str
    python: str
    takes: str
    numpy: str
    result: str = "same"
    operands: int = 1
    domain: tuple[float, float] = (0.05, 0.95)

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
            return types.complex_of(t)
        raise TypeError(f"{self.title} is not defined for {t}")

    def result_type(self, t: Scalar) -> Scalar:
        """The type of the result for operands of type ``t``."""
        if self.result == "bool":
            return types.BOOL
        if self.result == "int":
            return INT
        return types.real_of(t) if self.result == "real" else t

    @property
    def title(self) -> str:
        """The name that messages use."""
        return self.python.split()[0].removeprefix("builtins.")

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Names of the types that it takes as they are."""
        return tuple(name for kind in self.takes for name in KINDS[kind])


def _both(name: str, numpy_name: str = "", **more: Any) -> Intrinsic:
    """A function of one float that math and NumPy both have."""
    numpy_name = numpy_name or name
    python = f"math.{name} numpy.{numpy_name}"
    if name.startswith("a") and numpy_name != name:
        python += f" numpy.{name}"
    return Intrinsic(name, python, "f", f"np.{numpy_name}(a)", **more)


ROWS = (
    *(_both(n) for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")),
    _both("asin", "arcsin"),
    _both("acos", "arccos"),
    _both("atan", "arctan"),
    _both("asinh", "arcsinh"),
    _both("acosh", "arccosh", domain=(1.05, 9.0)),
    _both("atanh", "arctanh"),
    *(_both(n) for n in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt")),
    _both("fabs", domain=(-4.0, 4.0)),
    Intrinsic("erf", "math.erf", "f", "each(math.erf, a)", domain=(-2.0, 2.0)),
    Intrinsic("erfc", "math.erfc", "f", "each(math.erfc, a)", domain=(-2.0, 2.0)),
    Intrinsic("tgamma", "math.gamma", "f", "each(math.gamma, a)", domain=(0.5, 4.0)),
    Intrinsic("lgamma", "math.lgamma", "f", "each(math.lgamma, a)", domain=(0.5, 4.0)),
    Intrinsic("rsqrt", "usmx.rsqrt", "f", "same(1 / np.sqrt(a), a)"),
    Intrinsic("radians", "math.radians numpy.radians numpy.deg2rad", "f", "np.radians(a)"),
    Intrinsic("degrees", "math.degrees numpy.degrees numpy.rad2deg", "f", "np.degrees(a)"),
    # Python's give ints, NumPy's keep the type.
    Intrinsic("floor_int", "math.floor", "iuf", "whole(np.floor(a))", "int", domain=(-9.0, 9.0)),
    Intrinsic("ceil_int", "math.ceil", "iuf", "whole(np.ceil(a))", "int", domain=(-9.0, 9.0)),
    Intrinsic("trunc_int", "math.trunc", "iuf", "whole(np.trunc(a))", "int", domain=(-9.0, 9.0)),
    Intrinsic("round_int", "builtins.round", "iuf", "whole(np.rint(a))", "int", domain=(-9.0, 9.0)),
    Intrinsic("floor", "numpy.floor", "f", "np.floor(a)", domain=(-9.0, 9.0)),
    Intrinsic("ceil", "numpy.ceil", "f", "np.ceil(a)", domain=(-9.0, 9.0)),
    Intrinsic("trunc", "numpy.trunc", "f", "np.trunc(a)", domain=(-9.0, 9.0)),
    Intrinsic("rint", "numpy.rint numpy.round", "f", "np.rint(a)", domain=(-9.0, 9.0)),
    Intrinsic("sign", "numpy.sign", "iuf", "np.sign(a)", domain=(-9.0, 9.0)),
    Intrinsic("isnan", "math.isnan numpy.isnan", "f", "np.isnan(a)", "bool"),
    Intrinsic("isinf", "math.isinf numpy.isinf", "f", "np.isinf(a)", "bool"),
    Intrinsic("isfinite", "math.isfinite numpy.isfinite", "f", "np.isfinite(a)", "bool"),
    Intrinsic("pow", "math.pow numpy.power", "f", "power(a, b)", operands=2),
    Intrinsic("fmod", "math.fmod numpy.fmod", "f", "np.fmod(a, b)", operands=2),
    Intrinsic("atan2", "math.atan2 numpy.arctan2 numpy.atan2", "f", "np.arctan2(a, b)", operands=2),
    Intrinsic("hypot", "math.hypot numpy.hypot", "f", "np.hypot(a, b)", operands=2),
    Intrinsic(
        "copysign", "math.copysign numpy.copysign", "f", "np.copysign(a, b)", operands=2,
        domain=(-4.0, 4.0),
    ),
    Intrinsic("nextafter", "math.nextafter numpy.nextafter", "f", "np.nextafter(a, b)", operands=2),
    Intrinsic("fmin", "numpy.fmin", "iuf", "np.fmin(a, b)", operands=2),
    Intrinsic("fmax", "numpy.fmax", "iuf", "np.fmax(a, b)", operands=2),
    Intrinsic("minimum", "numpy.minimum", "iuf", "np.minimum(a, b)", operands=2),
    Intrinsic("maximum", "numpy.maximum", "iuf", "np.maximum(a, b)", operands=2),
    Intrinsic("fma", "usmx.fma", "f", "same(a * b + c, a)", operands=3),
    Intrinsic("clamp", "usmx.clamp numpy.clip", "iuf", "np.clip(a, b, c)", operands=3),
    Intrinsic("popcount", "usmx.popcount numpy.bitwise_count", "iu", "popcount(a)"),
    Intrinsic("clz", "usmx.clz", "iu", "clz(a)"),
    Intrinsic("magnitude", "builtins.abs numpy.abs numpy.absolute", "iufc", "np.abs(a)",
              "real", domain=(-4.0, 4.0)),
    Intrinsic("conj", "numpy.conj numpy.conjugate", "c", "np.conj(a)"),
    Intrinsic("arg", "cmath.phase numpy.angle", "c", "np.angle(a)", "real"),
    *(
        Intrinsic(n, f"cmath.{n}", "c", f"np.{n}(a)")
        for n in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh")
    ),
)  # fmt: skip

#: Functions of `math` and `numpy` that take complex numbers too, if they get one.
_WITH_COMPLEX = {"exp", "log", "sqrt", "sin", "cos", "sinh", "cosh"}

_known: dict[int, tuple[object, Intrinsic]] = {}
_numpy_known = False


def _objects(row: Intrinsic) -> list[object]:
    """The Python functions that a row stands for, NumPy's only if somebody imported it."""
    from . import functions

    places: dict[str, object] = {
        "math": math,
        "cmath": cmath,
        "builtins": builtins,
        "usmx": functions,
        "numpy": sys.modules.get("numpy"),
    }
    paths = [path.split(".") for path in row.python.split()]
    found = [getattr(places[module], name, None) for module, name in paths]
    return [obj for obj in found if obj is not None]


def find(function: object) -> Intrinsic | None:
    """The row of a Python function, None if it has none."""
    global _numpy_known  # noqa: PLW0603 - NumPy may be imported after the first kernel
    if not _known or (not _numpy_known and "numpy" in sys.modules):
        _numpy_known = "numpy" in sys.modules
        for row in ROWS:
            for obj in _objects(row):
                _known.setdefault(id(obj), (obj, row))
    entry = _known.get(id(function))
    return entry[1] if entry else None


def complex_form(row: Intrinsic) -> Intrinsic | None:
    """The row for complex operands of a function that also has one for floats, as numpy.exp."""
    if row.name not in _WITH_COMPLEX or "c" in row.takes:
        return None
    return next(r for r in ROWS if r.name == row.name and r.takes == "c")
