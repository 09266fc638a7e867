"""The functions, methods and operators that `differential.py` calls: a row for each.

A new function is one row; `test_differential.py` fails for a function of NumPy that usmx has and
no row calls.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from differential import (
    ALL,
    FLOATS,
    INTS,
    NUMBERS,
    REALS,
    Differs,
    Draw,
    Pair,
    Row,
    side,
    to_numpy,
)

from usmx import _usmx
from usmx._operations import OPERATIONS

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def shape_of(x: Any) -> tuple[int, ...]:
    return tuple(np.shape(side(x, False)))


def type_of(x: Any) -> np.dtype[Any]:
    return np.asarray(side(x, False)).dtype


# --- elementwise --------------------------------------------------------------------------------

_KNOWN = {row.name: row for row in OPERATIONS}
# Name -> types, values from and to, units in the last place.
_SPECIAL: dict[str, tuple[str, float, float]] = {
    "left_shift": (INTS, 0, 5), "right_shift": (INTS, 0, 5), "gcd": (INTS, -50, 50),
    "lcm": (INTS, -9, 9), "power": (NUMBERS, 0, 3), "float_power": (ALL, 0, 3),
    "bitwise_and": ("?" + INTS, -90, 90), "bitwise_or": ("?" + INTS, -90, 90),
    "bitwise_xor": ("?" + INTS, -90, 90), "invert": ("?" + INTS, -90, 90),
}  # fmt: skip
#: Functions of which only real numbers are drawn.
_REAL = {
    "fmod", "remainder", "floor_divide", "divmod", "arctan2", "hypot", "copysign", "nextafter",
    "logaddexp", "logaddexp2", "heaviside", "deg2rad", "rad2deg", "degrees", "radians", "fabs",
    "floor", "ceil", "trunc", "signbit", "cbrt", "modf", "frexp", "ldexp",
}  # fmt: skip


def _ufunc_types(ufunc: np.ufunc, name: str) -> str:
    if name in _SPECIAL:
        return _SPECIAL[name][0]
    return "?" + REALS if name in _REAL else ALL


def _elementwise(name: str) -> Callable[[Draw], Arguments]:
    ufunc = getattr(np, name)
    types = _ufunc_types(ufunc, ufunc.__name__)
    base = _KNOWN.get(ufunc.__name__)
    inexact = base is not None and bool(base.ulps or base.complex_ulps)
    low, high = _SPECIAL.get(ufunc.__name__, ("", -9, 9))[1:]
    domain = base.domain if base is not None and inexact else (low, high)

    def draw(d: Draw) -> Arguments:
        shape = d.shape()
        how: dict[str, Any] = {"values": "special"} if not inexact else {
            "values": "range", "low": domain[0], "high": domain[1]}  # fmt: skip
        if ufunc.__name__ in ("floor_divide", "divmod"):
            how = {"values": "numbers"}  # quotients of infinities are those of the standard
        if ufunc.__name__ in _SPECIAL:
            how = {"values": "range", "low": low, "high": high}
        first = d.array(types, shape if ufunc.nin == 1 else d.part_of_shape(shape), **how)
        operands: list[Any] = [first]
        if ufunc.nin == 2:
            operands.append(d.second(types, shape, **how))
            if ufunc.__name__ in ("float_power", "power") and not isinstance(operands[1], Pair):
                operands[1] = 2
            if d.chance(0.2):
                operands.reverse()
        keywords: dict[str, Any] = {}
        if d.chance(0.12):
            keywords["dtype"] = d.choice(types)
        if d.chance(0.06):
            keywords["casting"] = d.choice(("no", "equiv", "safe", "same_kind", "unsafe"))
        if d.chance(0.06):
            keywords["order"] = d.choice("CFAK")
        if d.chance(0.3):
            keywords |= _out(d, ufunc, operands, keywords)
        if ufunc.nin == 1 and "out" in keywords and d.chance(0.2):
            keywords.pop("out")
            keywords.pop("where", None)  # the rest of the result would be any numbers
            operands.append(None)
        return tuple(operands), keywords

    return draw


def _out(d: Draw, ufunc: np.ufunc, operands: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Outputs of the type that the call has, of wider ones, or overlapping operands; masks."""
    shape = np.broadcast_shapes(*map(shape_of, operands))
    try:
        with np.errstate(all="ignore"):
            asked = {k: v for k, v in keywords.items() if k in ("dtype", "casting")}
            made = ufunc(*(np.ones(1, type_of(x))[0] if isinstance(x, Pair) else x
                           for x in operands), **asked)  # fmt: skip
    except (TypeError, ValueError, OverflowError):
        return {}
    outputs = []
    for one in made if isinstance(made, tuple) else (made,):
        dtype = np.asarray(one).dtype
        if d.chance(0.3):
            dtype = np.dtype(d.choice(ALL))
        first = next((x for x in operands if isinstance(x, Pair)), None)
        if (
            first is not None
            and d.chance(0.35)
            and ufunc.nout == 1
            and first.theirs.flags.writeable
            and first.theirs.shape == shape
            and first.theirs.ndim
        ):
            outputs.append(_overlapping(d, first))
        else:
            outputs.append(d.output(shape, dtype))
    more: dict[str, Any] = {"out": outputs[0] if len(outputs) == 1 and d.chance(0.7) else
                            tuple(outputs)}  # fmt: skip
    # NumPy 2.4 itself crashes for where= next to a number of Python that the type does not have.
    fits = all(isinstance(x, Pair) or not isinstance(x, int) or 0 <= x < 128 for x in operands)
    if d.chance(0.3) and fits:
        more["where"] = d.choice((True, d.array("?", d.part_of_shape(shape))))
    return more


def _overlapping(d: Draw, first: Pair) -> Pair:
    """The operand itself, or the same memory in another order."""
    how = d.choice(("same", "reversed", "transposed"))
    ours, theirs = first.ours, first.theirs
    if how == "reversed":
        ours, theirs = ours[::-1], theirs[::-1]
    elif how == "transposed" and len(set(theirs.shape)) == 1:
        ours, theirs = ours.T, theirs.T
    d.text.append(f"overlap {how}")
    return Pair(ours, theirs, first.base, first.theirs_base)


def _ulps(name: str) -> float:
    row = _KNOWN.get(getattr(np, name).__name__)
    if row is None or not (row.ulps or row.complex_ulps):
        # Products and quotients of complex numbers are rounded in another order.
        return 0
    if "power" in name or name == "pow":
        return 64
    return max(row.ulps, row.complex_ulps, 4) + 4


_UFUNCS = sorted(
    name
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc)
    and getattr(np, name).signature is None
    and hasattr(_usmx, "ndarray")
)


def _ours(name: str) -> bool:
    import usmx

    return name in dir(usmx)


def _ldexp(d: Draw) -> Arguments:
    shape = d.shape()
    return (d.array(FLOATS, shape, values="special"), d.array("biq"[d.form.randrange(3)],
            d.part_of_shape(shape))), {}  # fmt: skip


_KERNELS = {
    "power", "pow", "float_power", "tan", "expm1", "log1p", "sinh", "cosh", "arcsin", "arccos",
    "arctan", "arcsinh", "arccosh", "arctanh", "cbrt", "exp2", "log2", "log10", "logaddexp",
    "logaddexp2", "asin", "acos", "atan", "asinh", "acosh", "atanh",
}  # fmt: skip

_ANY_ZERO = {row.name for row in OPERATIONS if row.any_zero} | {"nextafter"}
ELEMENTWISE = [
    Row(
        name,
        _ldexp if name == "ldexp" else _elementwise(name),
        ulps=_ulps(name),
        any_zero=getattr(np, name).__name__ in _ANY_ZERO,
        kernels=name in _KERNELS,
        weight=2 if getattr(np, name).nin == 2 else 1,
    )
    for name in _UFUNCS
    # NumPy's spacing of float16 has no sign, and half of the distance where the exponent changes.
    if _ours(name) and name not in {"isnat", "spacing"}
]


# --- operators ----------------------------------------------------------------------------------

_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "divmod": divmod,
}  # fmt: skip
_IN_PLACE = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "&=": operator.iand,
    "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip
_UNARY = {"neg": operator.neg, "pos": operator.pos, "abs": operator.abs, "~": operator.invert}


def _operands(symbol: str, d: Draw, written: bool) -> tuple[Any, Any]:
    types = ALL
    how: dict[str, Any] = {"values": "special"}
    if symbol[0] in "&|^":
        types = "?" + INTS
    elif symbol[:2] in ("<<", ">>") and symbol not in ("<=", ">="):
        types, how = INTS, {"values": "range", "low": 0, "high": 5}
    elif symbol[:2] == "**":
        types, how = NUMBERS, {"values": "range", "low": 1, "high": 3}
    elif symbol[:2] in ("//", "%", "%=", "di"):
        types, how = "?" + REALS, {"values": "numbers"}
    shape = d.shape()
    first = d.array(types, shape if written else d.part_of_shape(shape), written=written, **how)
    if written and first.theirs.ndim and first.theirs.shape[0] > 1 and d.chance(0.2):
        # The operand is another part of the same memory.
        n = first.theirs.shape[0]
        at = d.whole(0, 1)
        left, right = slice(at, n - 1 + at), slice(1 - at, n - at)
        return (
            Pair(first.ours[left], first.theirs[left], first.base, first.theirs_base),
            Pair(first.ours[right], first.theirs[right], first.base, first.theirs_base),
        )
    second = d.second(types, shape, **how)
    if symbol[:2] == "**" and not isinstance(second, Pair):
        second = d.choice((2, 3, 0.5, 1))
    return first, second


def _binary(symbol: str) -> Row:
    def draw(d: Draw) -> Arguments:
        first, second = _operands(symbol, d, False)
        return ((second, first) if d.chance(0.3) else (first, second)), {}

    return Row(
        f"x {symbol} y", draw, ulps=64 if symbol == "**" else 0, kernels=symbol == "**",
        call=lambda xp, x, y: _OPERATORS[symbol](x, y), weight=3 if symbol in "+-*/" else 1,
    )  # fmt: skip


def _in_place(symbol: str) -> Row:
    def call(xp: Any, x: Any, y: Any) -> Any:
        made = _IN_PLACE[symbol](x, y)
        if made is not x:
            raise AssertionError("another array")
        return made

    return Row(f"x {symbol} y", lambda d: (_operands(symbol, d, d.chance(0.9)), {}), call=call,
               ulps=64 if symbol == "**=" else 0, kernels=symbol == "**=", weight=2)  # fmt: skip


def _unary(symbol: str) -> Row:
    types = "?" + INTS if symbol == "~" else ALL
    return Row(f"{symbol} x", lambda d: ((d.array(types, values="special"),), {}),
               ulps=4 if symbol == "abs" else 0, call=lambda xp, x: _UNARY[symbol](x))  # fmt: skip


def _matmul_operands(d: Draw) -> Arguments:
    a, b, c = d.length(), d.length(), d.length()
    left: tuple[int, ...] = d.choice(((b,), (a, b), (a, b), (2, a, b)))
    right: tuple[int, ...] = d.choice(((b,), (b, c), (b, c), (2, b, c), (3, 1, b, c)))
    if d.random.random() < 0.04:
        right = (*right[:-2], b + 1, *right[-1:]) if len(right) > 1 else (b + 1,)
    t = d.choice(ALL)
    other = t if d.chance(0.7) else d.choice(ALL)
    return (d.array(t, left), d.array(other, right)), {}


def _matmul(d: Draw) -> Arguments:
    operands, keywords = _matmul_operands(d)
    if d.chance(0.15):
        keywords["dtype"] = d.choice(NUMBERS)
    return operands, keywords


OPERATORS = [
    *(_binary(symbol) for symbol in _OPERATORS),
    *(_in_place(symbol) for symbol in _IN_PLACE),
    *(_unary(symbol) for symbol in _UNARY),
    Row("x @ y", _matmul_operands, call=lambda xp, x, y: x @ y, kernels=True, any_zero=True),
]


# --- reductions ---------------------------------------------------------------------------------


def _factors(d: Draw, types: str) -> np.ndarray:
    """Numbers of which products are exact."""
    made = d.numbers(np.dtype(d.choice(types)), d.shape(), 2)
    if made.size > 16 and made.dtype.kind != "b":
        made = np.copysign(1, made.real).astype(made.dtype)
    return made


def _reduced(
    types: str,
    *,
    most: int = 4,
    values: str = "numbers",
    several: bool = True,
    keywords: str = "keepdims",
    nan: bool = False,
) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        if "prod" in keywords:
            x = d.laid_out(_factors(d, types))
        else:
            x = d.array(types, values=values, most=most)
        if nan and x.theirs.dtype.kind in "fc" and x.theirs.size and d.random.random() < 0.4:
            base = x.theirs_base.copy()
            base.reshape(-1)[d.random.randrange(base.size)] = np.nan
            x.theirs_base[...] = base
            x.base[...] = base
        rank = x.theirs.ndim
        more: dict[str, Any] = {}
        if d.chance(0.75):
            more["axis"] = d.axes(rank) if several else d.choice((None, d.axis(rank)))
        if d.random.random() < 0.02:
            more["axis"] = rank + 1
        if "keepdims" in keywords and d.chance(0.3):
            more["keepdims"] = d.chance(0.7)
        if "dtype" in keywords and d.chance(0.2):
            more["dtype"] = d.choice(NUMBERS if d.chance(0.5) else "dD")
        if "initial" in keywords and d.chance(0.2):
            more["initial"] = d.choice((0, 1, 3, -2.5 if x.theirs.dtype.kind in "fc" else 2))
        if "where" in keywords and d.chance(0.2):
            more["where"] = d.array("?", d.part_of_shape(x.theirs.shape))
        if "ddof" in keywords and d.chance(0.3):
            more[d.choice(("ddof", "correction"))] = d.choice((0, 1, 0.5))
        if "out" in keywords and d.chance(0.15):
            shape = _reduced_shape(x.theirs.shape, more.get("axis"), more.get("keepdims", False))
            if shape is not None:
                dtype = more.get("dtype") or d.choice("qdD" + x.theirs.dtype.char)
                more["out"] = d.output(shape, dtype)
        return (x,), more

    return draw


def _reduced_shape(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...] | None:
    try:
        return tuple(np.sum(np.zeros(shape), axis=axis, keepdims=keepdims).shape)
    except (ValueError, IndexError):
        return None


def _counts(d: Draw) -> Arguments:
    return _reduced(ALL, keywords="keepdims", several=True)(d)


def _cumulative(keywords: str, types: str = ALL) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        x = d.laid_out(_factors(d, types)) if "prod" in keywords else d.array(types)
        rank = x.theirs.ndim
        more: dict[str, Any] = {}
        if d.chance(0.7) or ("one axis" in keywords and rank != 1):
            more["axis"] = d.axis(rank)
        if d.chance(0.2):
            more["dtype"] = d.choice(NUMBERS)
        if "include_initial" in keywords and d.chance(0.3):
            more["include_initial"] = True
        if rank and d.chance(0.12) and "include_initial" not in more:  # NumPy crashes for rank 0
            axis = more.get("axis")
            shape = x.theirs.shape if axis is not None or rank == 1 else (x.theirs.size,)
            more["out"] = d.output(shape, more.get("dtype") or d.choice("dDq"))
        return (x,), more

    return draw


def _quantile(scale: float, nan: bool = False) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        x = d.array("bHiq" + FLOATS, most=20)
        rank = x.theirs.ndim
        q: Any = d.random.choice((0.0, 0.25, 0.5, 0.9, 1.0, 0.33)) * scale
        if d.chance(0.4):
            q = [0.25 * scale, 0.5 * scale, 0.0]
        more = d.maybe(
            {
                "axis": lambda: d.axes(rank),
                "keepdims": True,
                "method": lambda: d.choice(
                    ("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull",
                     "inverted_cdf", "median_unbiased", "normal_unbiased")
                ),
            }
        )  # fmt: skip
        return (x, q), more

    return draw


NAN = {"nan": True}
REDUCTIONS = [
    Row("sum", _reduced(ALL, keywords="keepdims dtype initial where out"), weight=3, any_zero=True),
    Row("prod", _reduced(ALL, keywords="keepdims dtype initial where out prod"), weight=2),
    Row(
        "min",
        _reduced(ALL, keywords="keepdims initial where out", nan=True),
        weight=2,
        any_zero=True,
    ),
    Row(
        "max",
        _reduced(ALL, keywords="keepdims initial where out", nan=True),
        weight=2,
        any_zero=True,
    ),
    Row("amin", _reduced(ALL, keywords="keepdims", nan=True), any_zero=True),
    Row("amax", _reduced(ALL, keywords="keepdims", nan=True), any_zero=True),
    Row(
        "mean", _reduced(ALL, keywords="keepdims dtype where out"), ulps=2, weight=2, any_zero=True
    ),
    Row("var", _reduced(ALL, keywords="keepdims dtype where ddof out"), ulps=64, scaled=True),
    Row("std", _reduced(ALL, keywords="keepdims dtype where ddof out"), ulps=64, scaled=True),
    Row("any", _reduced(ALL, keywords="keepdims where out", nan=True)),
    Row("all", _reduced(ALL, keywords="keepdims where out", nan=True)),
    Row("ptp", _reduced(NUMBERS, keywords="keepdims out")),
    Row("count_nonzero", _counts),
    Row("argmin", _reduced(ALL, several=False, nan=True)),
    Row("argmax", _reduced(ALL, several=False, nan=True)),
    Row("nansum", _reduced(ALL, keywords="keepdims dtype", **NAN), any_zero=True),
    Row("nanprod", _reduced(ALL, keywords="keepdims dtype prod", **NAN)),
    Row("nanmin", _reduced(REALS, keywords="keepdims", **NAN), any_zero=True),
    Row("nanmax", _reduced(REALS, keywords="keepdims", **NAN), any_zero=True),
    Row("nanmean", _reduced(REALS, keywords="keepdims", **NAN), ulps=4, any_zero=True),
    Row("nanvar", _reduced(REALS, keywords="keepdims ddof", **NAN), ulps=32, scaled=True),
    Row("nanstd", _reduced(REALS, keywords="keepdims ddof", **NAN), ulps=32, scaled=True),
    Row("nanargmin", _reduced(REALS, several=False, keywords="", **NAN)),
    Row("nanargmax", _reduced(REALS, several=False, keywords="", **NAN)),
    Row("nanmedian", _reduced(REALS, **NAN), ulps=2, kernels=True, any_zero=True),
    Row("median", _reduced(REALS, nan=True), ulps=2, kernels=True, any_zero=True),
    Row("quantile", _quantile(1), ulps=8, scaled=True, kernels=True),
    Row("percentile", _quantile(100), ulps=16, scaled=True, kernels=True),
    Row("nanquantile", _quantile(1), ulps=8, scaled=True, kernels=True),
    Row("nanpercentile", _quantile(100), ulps=16, scaled=True, kernels=True),
    Row("cumsum", _cumulative(""), any_zero=True),
    Row("cumprod", _cumulative("prod")),
    Row("nancumsum", _cumulative(""), any_zero=True),
    Row("nancumprod", _cumulative("prod")),
    Row("cumulative_sum", _cumulative("include_initial one axis"), any_zero=True),
    Row("cumulative_prod", _cumulative("include_initial one axis prod")),
]


def _average(d: Draw) -> Arguments:
    x = d.array(REALS)
    more: dict[str, Any] = {}
    if d.chance(0.6):
        more["axis"] = d.choice((None, d.axis(x.theirs.ndim)))
    if d.chance(0.5):
        more["weights"] = d.array("fd", x.theirs.shape, values="range", low=1, high=3)
    if d.chance(0.3):
        more["returned"] = True
    if d.chance(0.2):
        more["keepdims"] = True
    return (x,), more


def _diff(d: Draw) -> Arguments:
    x = d.array(ALL)
    more = d.maybe({"n": lambda: d.choice((0, 1, 2, 3)), "axis": lambda: d.axis(x.theirs.ndim),
                    "prepend": 0, "append": 1}, 0.3)  # fmt: skip
    return (x,), more


# --- methods of ufuncs --------------------------------------------------------------------------

_METHODS = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "bitwise_or",
            "bitwise_and", "bitwise_xor", "subtract")  # fmt: skip


def _ufunc_method(method: str) -> Row:
    def draw(d: Draw) -> Arguments:
        name = d.choice(_METHODS)
        types = "?" + INTS if "bitwise" in name else ALL
        if method == "outer":
            return (name, d.array(types, d.shape(d.choice((0, 1, 2)))),
                    d.array(types, d.shape(d.choice((0, 1))))), {}  # fmt: skip
        shape = d.shape(d.choice((1, 1, 2)), least=1 if method in ("at", "reduceat") else 0)
        x = d.array(types, shape, most=1, written=method == "at")
        n = shape[0]
        if method == "at":
            where: Any = d.laid_out(d.numpy.integers(-n, n, d.length()).astype(d.choice("iq")))
            where = d.choice((where, [0, n - 1, 0], slice(None, None, 2), 0))
            return (name, x, where, d.choice((1, d.array(x.theirs.dtype.char, ()), True))), {}
        more: dict[str, Any] = {}
        if d.chance(0.6):
            more["axis"] = d.axis(len(shape)) if method != "reduceat" else 0
        if method == "reduceat":
            where = np.sort(d.numpy.integers(0, n, d.length(1)))
            return (name, x, d.choice((where.tolist(), where, d.laid_out(where)))), more
        if method == "reduce":
            more |= d.maybe({"keepdims": True, "initial": 1}, 0.2)
        if d.chance(0.15):
            more["dtype"] = d.choice("qd")
        return (name, x), more

    def call(xp: Any, name: str, *a: Any, **k: Any) -> Any:
        return getattr(getattr(np, name), method)(*a, **k)

    return Row(f"ufunc.{method}", draw, call=call, any_zero=True)


# --- order and sets -----------------------------------------------------------------------------


def _sorted(d: Draw, types: str = ALL) -> Pair:
    return d.array(types, values="special", most=9)


def _sort(d: Draw) -> Arguments:
    x = _sorted(d)
    more: dict[str, Any] = {}
    if d.chance(0.6):
        more["axis"] = d.choice((None, d.axis(x.theirs.ndim)))
    if d.chance(0.3):
        more[d.choice(("kind", "kind", "stable"))] = True
        if "kind" in more:
            more["kind"] = d.choice(("stable", "mergesort", "quicksort", "heapsort"))
    return (x,), more


def _argsort(d: Draw) -> Arguments:
    (x,), more = _sort(d)
    more.pop("stable", None)
    more["kind"] = "stable"
    return (x,), more


def _partition(d: Draw) -> Arguments:
    x = d.array(REALS, d.shape(d.choice((1, 1, 2))), most=20)
    axis = d.choice((None, d.axis(x.theirs.ndim), -1))
    n = x.theirs.size if axis is None else x.theirs.shape[axis]
    return (x, d.whole(-n, n - 1) if n else 0), {"axis": axis}


def _partitioned(name: str) -> Row:
    def call(xp: Any, x: Any, k: Any, axis: Any) -> Any:
        made = getattr(xp, name)(x, k, axis=axis)
        if name == "argpartition":
            made = np.take_along_axis(np.ravel(x) if axis is None else x, made,
                                      axis=0 if axis is None else axis)  # fmt: skip
        at = 0 if axis is None else axis
        part = to_numpy(made)
        if not part.shape[at]:
            return part
        k = k % part.shape[at]
        left, right = np.split(part, [k], axis=at)
        # Stable, for the others leave long float16 out of order (docs/upstream).
        left, right = (np.sort(one, axis=at, kind="stable") for one in (left, right))
        return [left, right, np.take(part, [k], axis=at)]

    return Row(name, _partition, call=call, kernels=True, any_zero=True)


def _searchsorted(d: Draw) -> Arguments:
    t = d.choice(REALS)
    n = d.shape(1)
    table = np.sort(d.numbers(t, n, 9))
    more = d.maybe({"side": lambda: d.choice(("left", "right"))})
    other = t if d.chance(0.7) else d.choice(REALS)
    v = d.choice((d.array(other, most=9), d.number("qd")))
    if d.chance(0.2):
        shuffled = d.numpy.permutation(n[0])
        more["sorter"] = d.choice((shuffled, d.laid_out(np.argsort(table, kind="stable"))))
        if not isinstance(more["sorter"], Pair):
            back = np.argsort(shuffled)
            return (d.laid_out(table[back]), v), {**more, "sorter": shuffled}
    return (d.laid_out(table), v), more


def _two_sets(d: Draw) -> Arguments:
    t = d.choice(ALL.replace("F", "").replace("D", ""))
    other = t if d.chance(0.8) else d.choice(REALS)
    more: dict[str, Any] = {}
    return (d.array(t, most=9), d.array(other, most=9)), more


def _set_keywords(**keywords: Any) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        pairs, _ = _two_sets(d)
        return pairs, d.maybe(keywords, 0.25)

    return draw


def _unique(d: Draw) -> Arguments:
    x = d.array(ALL, values="special", most=5)
    more = d.maybe({"return_index": True, "return_inverse": True, "return_counts": True,
                    "equal_nan": False}, 0.3)  # fmt: skip
    if d.chance(0.2) and x.theirs.ndim:
        more["axis"] = d.axis(x.theirs.ndim)
    return (x,), more


def _any_array(types: str = ALL, **how: Any) -> Callable[[Draw], Arguments]:
    return lambda d: ((d.array(types, **how),), {})


def _unique_values_in_order(result: Any) -> Any:
    values = to_numpy(result)
    return np.sort(values)


def _unique_counts_in_order(result: Any) -> Any:
    values, counts = (to_numpy(part) for part in result)
    at = np.argsort(values, kind="stable")
    return values[at], counts[at]


def _bincount(d: Draw) -> Arguments:
    n = d.shape(1)
    x = d.laid_out(np.abs(d.numbers(d.choice("bBHiIq"), n, 9)))
    more: dict[str, Any] = {}
    if d.chance(0.4):
        more["minlength"] = d.choice((0, 3, 20))
    if d.chance(0.3):
        more["weights"] = d.array("bfd", n)
    return (x,), more


def _digitize(d: Draw) -> Arguments:
    edges = np.array([-3, 0, 1, 5], d.choice("dfi"))
    if d.chance(0.3):
        edges = edges[::-1].copy()
    bins = d.choice((d.laid_out(edges), edges.tolist()))
    return (d.array(REALS, most=9), bins), d.maybe({"right": True})


def _histogram(d: Draw) -> Arguments:
    x = d.array("bBiqfd", most=9)
    how = d.choice(("count", "edges", "range"))
    if how == "edges":
        return (x, d.choice(([-4, 0, 3, 9], d.laid_out(np.array([-3.0, 0, 1, 5]))))), {}
    more: dict[str, Any] = {"bins": d.choice((1, 5, 10))}
    if how == "range":
        more["range"] = (-4.0, 6.0)
    if d.chance(0.2):
        more["density"] = True
    if d.chance(0.2):
        more["weights"] = d.array("fd", x.theirs.shape)
    return (x,), more


def _lexsort(d: Draw) -> Arguments:
    return (d.array(REALS, d.shape(2, least=1), most=2),), {}


def _extreme(d: Draw) -> Arguments:
    return (d.array(ALL, values="special"),), {}


SORTING = [
    Row("sort", _sort, doors="np usmx", weight=2, any_zero=True),
    Row(
        ".sort",
        lambda d: (
            (
                d.array(
                    ALL, d.shape(d.choice((1, 1, 2, 3))), values="special", most=9, written=True
                ),
            ),
            d.maybe({"axis": -1}),
        ),
        any_zero=True,
    ),
    Row("argsort", _argsort, weight=2),
    _partitioned("partition"),
    _partitioned("argpartition"),
    Row("searchsorted", _searchsorted, weight=2),
    Row("lexsort", _lexsort, kernels=True),
    Row("unique", _unique, weight=2),
    Row("unique_values", _any_array(REALS, most=5), view=_unique_values_in_order),
    Row("unique_counts", _any_array(REALS, most=5), view=_unique_counts_in_order),
    Row("unique_inverse", _any_array(REALS, most=5)),
    Row("unique_all", _any_array(REALS, most=5)),
    Row("isin", _set_keywords(invert=True, assume_unique=False), kernels=True),
    Row("union1d", _two_sets, kernels=True),
    Row("intersect1d", _set_keywords(return_indices=True), kernels=True),
    Row("setdiff1d", _two_sets, kernels=True),
    Row("setxor1d", _two_sets, kernels=True),
    Row("bincount", _bincount, kernels=True),
    Row("digitize", _digitize, kernels=True),
    Row("histogram", _histogram, kernels=True, ulps=8),
    Row("histogram_bin_edges", _histogram, kernels=True, ulps=8),
    Row("nonzero", _extreme, layout=False),  # NumPy's results are columns of one array
    Row("flatnonzero", _extreme),
    Row("argwhere", _extreme, layout=False),
]


# --- shapes and joins ---------------------------------------------------------------------------


def _split_shape(d: Draw, size: int) -> tuple[int, ...]:
    options: list[tuple[int, ...]] = [(size,), (-1,), (1, size), (size, 1)]
    options += [(k, size // k) for k in (2, 3, 5) if size and size % k == 0]
    options += [(-1, k) for k in (2, 3) if size and size % k == 0]
    options += [(2, size + 1)] if d.random.random() < 0.05 else []
    return tuple(d.random.choice(options))


def _reshape(d: Draw) -> Arguments:
    x = d.array(ALL)
    shape: Any = _split_shape(d, x.theirs.size)
    if len(shape) == 1 and d.chance(0.3):
        shape = shape[0]
    return (x, shape), d.maybe({"order": lambda: d.choice("CFA")}, 0.3)


def _with_axis(**keywords: Any) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        x = d.array(ALL, d.shape(d.choice((1, 1, 2, 2, 3))))
        axis = d.axis(x.theirs.ndim)
        return (x,), {"axis": axis, **d.maybe(keywords)}

    return draw


def _transpose(d: Draw) -> Arguments:
    x = d.array(ALL)
    rank = x.theirs.ndim
    if d.chance(0.4):
        return (x,), {}
    axes = d.form.sample(range(rank), rank)
    return (x, tuple(a - rank if d.chance(0.3) else a for a in axes)), {}


def _permute(d: Draw) -> Arguments:
    x = d.array(ALL)
    rank = x.theirs.ndim
    return (x, tuple(d.form.sample(range(rank), rank))), {}


def _moveaxis(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 2, 3))))
    rank = x.theirs.ndim
    return (x, d.axis(rank), d.axis(rank)), {}


def _flip(d: Draw) -> Arguments:
    x = d.array(ALL)
    return (x,), d.maybe({"axis": lambda: d.axes(x.theirs.ndim)}, 0.7)


def _roll(d: Draw) -> Arguments:
    x = d.array(ALL)
    rank = x.theirs.ndim
    shift: Any = d.whole(-9, 9)
    how = d.choice(("flat", "axis", "axes"))
    if how == "flat" or not rank:
        return (x, shift), {}
    if how == "axis":
        return (x, shift), {"axis": d.axis(rank)}
    return (x, (shift, d.whole(-3, 3))), {"axis": (d.axis(rank), d.axis(rank))}


def _repeat(d: Draw) -> Arguments:
    x = d.array(ALL)
    rank = x.theirs.ndim
    axis = d.choice((None, d.axis(rank)))
    n = x.theirs.size if axis is None or not rank else x.theirs.shape[axis]
    counts = d.choice(("number", "number", "list", "array"))
    many: Any = d.whole(0, 3)
    if counts != "number" and n <= 300:
        many = d.numpy.integers(0, 3, n)
        many = many.tolist() if counts == "list" else d.laid_out(many)
    return (x, many), d.choice(({}, {"axis": axis})) if axis is None else {"axis": axis}


def _tile(d: Draw) -> Arguments:
    return (d.array(ALL), d.choice((2, 0, (2, 1), (1, 3), (2, 1, 2)))), {}


def _joined(d: Draw, same_shape: bool = False, rank: int | None = None) -> tuple[list[Any], int]:
    shape = d.shape(d.choice((1, 1, 2, 2, 3)) if rank is None else rank)
    axis = d.axis(len(shape))
    t = d.choice(ALL)
    arrays: list[Any] = []
    for _ in range(d.choice((1, 2, 2, 3))):
        mine = list(shape)
        if not same_shape and shape:
            mine[axis] = d.length()
        arrays.append(d.array(t if d.chance(0.7) else ALL, tuple(mine)))
    if d.chance(0.12):
        arrays.append(d.numbers(t, tuple(shape)))
    return arrays, axis


def _concatenate(d: Draw) -> Arguments:
    arrays, axis = _joined(d)
    more: dict[str, Any] = {"axis": axis} if d.chance(0.7) or axis not in (0,) else {}
    if d.chance(0.1):
        more["axis"] = None
    if d.chance(0.15):
        more["dtype"] = d.choice(ALL)
        if d.chance(0.5):
            more["casting"] = d.choice(("same_kind", "unsafe", "safe"))
    elif d.chance(0.15):
        try:
            shape = np.concatenate([np.zeros(shape_of(a)) for a in arrays],
                                   axis=more.get("axis", 0)).shape  # fmt: skip
        except ValueError:
            return (arrays,), more
        more["out"] = d.output(shape, d.choice(ALL))
    return (arrays,), more


def _stack(d: Draw) -> Arguments:
    arrays, _ = _joined(d, True, d.choice((0, 1, 2)))
    rank = len(shape_of(arrays[0])) + 1
    more: dict[str, Any] = {"axis": d.axis(rank)} if d.chance(0.7) else {}
    if d.chance(0.12):
        more["dtype"] = d.choice(ALL)
    return (arrays,), more


def _hstack(d: Draw) -> Arguments:
    arrays, _ = _joined(d, True)
    return (arrays,), {}


def _split(name: str) -> Row:
    def draw(d: Draw) -> Arguments:
        rank = {"vsplit": 2, "hsplit": 2, "dsplit": 3}.get(name) or d.choice((1, 2, 3))
        x = d.array(ALL, d.shape(rank))
        axis = {"vsplit": 0, "hsplit": 1, "dsplit": 2}.get(name)
        at = d.axis(rank) if axis is None else axis
        n = x.theirs.shape[at]
        where: Any = d.choice((1, 3, n or 1, [1, 3], [0, n, n + 2], []))
        return (x, where), {"axis": at} if axis is None else {}

    return Row(name, draw)


def _pad(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 2)), least=1))
    rank = x.theirs.ndim
    width: Any = d.choice((1, 2, (1, 2), [(1, 0)] * rank, [(2, 3)] * rank))
    if d.chance(0.1):
        width = {-1: (1, 2)}
    keywords = {
        "constant": {"constant_values": lambda: d.choice((3, (1, 2)))},
        "edge": {},
        "reflect": {"reflect_type": "odd"},
        "symmetric": {"reflect_type": "odd"},
        "wrap": {},
        "linear_ramp": {"end_values": lambda: d.choice((3, (1, 2)))},
        **{
            name: {"stat_length": lambda: d.choice((1, 2, (1, 30)))}
            for name in ("maximum", "minimum", "mean", "median")
        },
    }
    mode = d.choice(keywords)
    more = d.maybe(keywords[mode])
    return (x, width, mode), more


def _triangle(d: Draw) -> Arguments:
    rank = d.choice((1, 2, 2, 3))
    # Of a vector it is a square matrix.
    shape = (d.random.choice((0, 1, 2, 17, 255)),) if rank == 1 else d.shape(rank)
    return (d.array(ALL, shape),), d.maybe({"k": lambda: d.whole(-3, 3)})


def _diag(d: Draw) -> Arguments:
    rank = d.choice((1, 2))
    n = d.random.choice((0, 1, 2, 5, 17))
    shape = (n,) if rank == 1 else (n, d.random.choice((0, 1, 3, 17)))
    return (d.array(ALL, shape),), d.maybe({"k": lambda: d.whole(-3, 3)})


def _diagonal(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((2, 2, 3))))
    more = d.maybe({"offset": lambda: d.whole(-3, 3)})
    if d.chance(0.3):
        more |= {"axis1": 0, "axis2": -1}
    return (x,), more


def _trace(d: Draw) -> Arguments:
    return (d.array(ALL, d.shape(d.choice((2, 2, 3)))),), d.maybe(
        {"offset": lambda: d.whole(-3, 3)}
    )


def _meshgrid(d: Draw) -> Arguments:
    arrays = [d.array(REALS, (d.length(),)) for _ in range(d.choice((1, 2, 2, 3)))]
    return tuple(arrays), d.maybe({"indexing": "ij", "sparse": True}, 0.3)


def _rot90(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((2, 2, 3))))
    return (x,), d.maybe({"k": lambda: d.whole(-2, 5), "axes": lambda: d.choice(((0, 1), (1, 0)))})


def _squeeze(d: Draw) -> Arguments:
    shape = tuple(1 if d.chance(0.5) else d.length() for _ in range(d.choice((0, 1, 2, 3))))
    x = d.array(ALL, shape)
    return (x,), d.maybe({"axis": lambda: d.axes(len(shape))}, 0.5)


def _expand(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((0, 1, 2))))
    return (x, d.choice((0, -1, (0, 1), (0, -1)))), {}


def _broadcast_to(d: Draw) -> Arguments:
    shape = d.shape()
    return (d.array(ALL, d.part_of_shape(shape)), shape), {}


def _broadcast_arrays(d: Draw) -> Arguments:
    shape = d.shape()
    return tuple(d.array(ALL, d.part_of_shape(shape)) for _ in range(d.choice((1, 2, 3)))), {}


def _astype(d: Draw) -> Arguments:
    t = d.choice(ALL)
    return (d.array(ALL, values="range", low=0, high=99), t), d.maybe(
        {"copy": lambda: d.chance(0.5)}, 0.4
    )


def _astype_method(d: Draw) -> Arguments:
    x, more = _astype(d)
    more |= d.maybe(
        {
            "order": lambda: d.choice("CFAK"),
            "casting": lambda: d.choice(("safe", "same_kind", "unsafe")),
        },
        0.3,
    )
    return x, more


def _copied(d: Draw) -> Arguments:
    return (d.array(ALL, values="special"),), d.maybe({"order": lambda: d.choice("CFAK")}, 0.5)


def _several(d: Draw) -> Arguments:
    return tuple(d.array(ALL) for _ in range(d.choice((1, 1, 2)))), {}


def _ravel(d: Draw) -> Arguments:
    return (d.array(ALL),), d.maybe({"order": lambda: d.choice("CFAK")}, 0.5)


def _flat(d: Draw) -> Arguments:
    return (d.array(ALL),), d.maybe({"order": lambda: d.choice("CFA")}, 0.4)


def _like(d: Draw) -> Arguments:
    x = d.array(ALL)
    more = d.maybe({"dtype": lambda: d.choice(ALL), "order": lambda: d.choice("CFAK"),
                    "shape": (3, 2)}, 0.3)  # fmt: skip
    return (x,), more


def _full_like(d: Draw) -> Arguments:
    (x,), more = _like(d)
    return (x, d.choice((0, 1, 3, True))), more


def _delete(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 2)), least=3))
    axis = d.axis(x.theirs.ndim)
    what: Any = d.choice((0, -1, [0, 2], slice(0, 2), slice(None, None, 2)))
    return (x, what), {"axis": axis}


def _insert(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 2)), least=3))
    axis = d.axis(x.theirs.ndim)
    return (x, d.choice((0, 1, -1, [0, 2])), d.choice((0, 1))), {"axis": axis}


def _append(d: Draw) -> Arguments:
    arrays, axis = _joined(d)
    second: Any = arrays[1] if len(arrays) > 1 else d.choice((1, [1, 2]))
    return (arrays[0], second), {"axis": axis} if d.chance(0.5) else {}


SHAPES = [
    Row("reshape", _reshape, weight=2),
    Row("ravel", _ravel),
    Row(".flatten", _flat),
    Row("transpose", _transpose),
    Row("permute_dims", _permute),
    Row("matrix_transpose", lambda d: ((d.array(ALL, d.shape(d.choice((1, 2, 3)))),), {})),
    Row("moveaxis", _moveaxis),
    Row("swapaxes", _moveaxis),
    Row("expand_dims", _expand),
    Row("squeeze", _squeeze),
    Row("flip", _flip),
    Row("flipud", _any_array()),
    Row("fliplr", _any_array()),
    Row("rot90", _rot90),
    Row("roll", _roll),
    Row("repeat", _repeat),
    Row("tile", _tile),
    Row("concatenate", _concatenate, weight=3),
    Row("concat", _concatenate),
    Row("stack", _stack, weight=2),
    Row("hstack", _hstack),
    Row("vstack", _hstack),
    Row("dstack", _hstack),
    Row("column_stack", _hstack),
    *(_split(name) for name in ("split", "array_split", "vsplit", "hsplit", "dsplit")),
    Row("unstack", _with_axis()),
    Row("pad", _pad, ulps=4, scaled=True),
    Row("tril", _triangle),
    Row("triu", _triangle),
    Row("diag", _diag),
    Row("diagonal", _diagonal),
    Row("trace", _trace, any_zero=True),
    Row("meshgrid", _meshgrid),
    Row("broadcast_to", _broadcast_to),
    Row("broadcast_arrays", _broadcast_arrays),
    Row("atleast_1d", _several),
    Row("atleast_2d", _several),
    Row("atleast_3d", _several),
    Row("astype", _astype, doors="np usmx", weight=2),
    Row(".astype", _astype_method, weight=2),
    Row(".copy", _copied),
    Row("copy", _copied, doors="np"),
    Row("zeros_like", _like),
    Row("ones_like", _like),
    Row("full_like", _full_like),
    Row("delete", _delete),
    Row("insert", _insert),
    Row("append", _append),
    Row(".T", lambda d: ((d.array(ALL),), {}), call=lambda xp, x: x.T),
    Row(".mT", lambda d: ((d.array(ALL, d.shape(d.choice((2, 3)))),), {}), call=lambda xp, x: x.mT),
    Row(".real", lambda d: ((d.array(ALL),), {}), call=lambda xp, x: x.real),
    Row(".imag", lambda d: ((d.array(ALL),), {}), call=lambda xp, x: x.imag, layout=False),
]


# --- indexing -----------------------------------------------------------------------------------


def _key(d: Draw, shape: tuple[int, ...], arrays: bool = True) -> Any:
    """A key of NumPy: integers, slices, None, `...`, lists, masks and arrays of integers."""
    key: list[Any] = []
    fancy = 0
    for n in shape[: d.form.randint(0, len(shape))]:
        kind = d.choice(("index", "slice", "slice", "none", "array", "list", "mask", "full"))
        if kind in ("array", "list", "mask") and (not arrays or fancy > 1):
            kind = "slice"
        if kind == "index" and n:
            key.append(d.whole(-n, n - 1) if d.random.random() > 0.01 else n + 1)
        elif kind == "none":
            key += [None, slice(None)]
        elif kind == "full":
            key.append(slice(None))
        elif kind in ("array", "list") and n:
            fancy += 1
            many = d.numpy.integers(-n, n, 3 if fancy > 1 else d.choice((1, 3, 3)))
            if d.random.random() < 0.01:
                many[0] = n
            made = d.laid_out(many.astype(d.choice("biqBQ" if n < 100 else "iq")), "C")
            key.append(d.choice((made, many)) if kind == "array" else many.tolist())
        elif kind == "mask" and not fancy:
            fancy += 2
            mask = np.asarray(d.numpy.random(n) < 0.5)
            key.append(d.choice((d.laid_out(mask), mask, mask.tolist())))
        else:
            ends = [d.random.choice((None, d.whole(-n - 2, n + 2))) for _ in range(2)]
            key.append(slice(*ends, d.choice((None, None, 1, 2, -1, -3))))
    if d.chance(0.2):
        key.insert(d.form.randint(0, len(key)), ...)
    if len(key) == 1 and d.chance(0.6):
        return key[0]
    return tuple(key)


def _get(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 1, 2, 2, 3))))
    shape = x.theirs.shape
    if d.chance(0.2):
        return (x, d.laid_out(np.asarray(d.numpy.random(shape) < 0.5))), {}
    return (x, _key(d, shape)), {}


def _set(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 1, 2, 2, 3))), written=True)
    shape = x.theirs.shape
    key: Any
    is_mask = d.chance(0.25)
    if is_mask:
        mask = np.asarray(d.numpy.random(shape) < 0.5)
        key, got = d.laid_out(mask), (int(mask.sum()),)
    else:
        key = _key(d, shape)
        try:
            got = np.shape(x.theirs[side(key, False)])
        except IndexError:
            got = ()
    how = d.choice(("number", "number", "array", "array", "own", "numpy", "row"))
    if how == "number":
        return (x, key, d.number("?qd" if x.theirs.dtype.kind not in "c" else "?qdD")), {}
    # With a mask NumPy reads what it wrote before.
    is_mask = is_mask or (isinstance(key, Pair) and key.theirs.dtype == bool)
    if how == "own" and x.theirs.ndim and got == shape and not is_mask:
        flipped = tuple(slice(None, None, -1) for _ in shape)
        own = Pair(x.ours[flipped], x.theirs[flipped], x.base, x.theirs_base)
        return (x, key, own), {}
    if how == "numpy":
        return (x, key, d.numbers(d.choice(REALS), got)), {}
    if _repeats(key):
        # Which one of several values stays is open: give all of them one.
        return (x, key, d.array(REALS, ())), {}
    return (x, key, d.array(x.theirs.dtype.char if d.chance(0.7) else REALS,
                            got[-1:] if how == "row" else got)), {}  # fmt: skip


def _repeats(key: Any) -> bool:
    plain = side(key, False)
    many = plain if isinstance(plain, tuple) else (plain,)
    return any(isinstance(k, (list, np.ndarray)) and np.asarray(k).dtype.kind in "iu" for k in many)


def _setitem(xp: Any, x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _shifted(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 1, 2)), least=2), written=True)
    n = x.theirs.shape[0]
    k = d.whole(0, n)
    keys = [
        (slice(k, None), slice(0, n - k)),
        (slice(0, n - k), slice(k, None)),
        (slice(None), slice(None, None, -1)),
        (slice(None, n // 2), slice(n - n // 2, None)),
    ]
    return (x, *d.choice(keys)), {}


def _shift(xp: Any, x: Any, left: Any, right: Any) -> Any:
    x[left] = x[right]
    return x


def _take(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(least=1))
    rank = x.theirs.ndim
    axis = d.choice((None, d.axis(rank))) if rank else None
    n = x.theirs.size if axis is None else x.theirs.shape[axis]
    mode = d.choice(("raise", "raise", "wrap", "clip"))
    reach = n if mode == "raise" else 2 * n
    if d.chance(0.2):
        where: Any = d.whole(-n, n - 1)
    else:
        many = d.numpy.integers(-reach, reach, d.shape(d.choice((1, 1, 2)))[:2])
        if many.size > 2000:
            many = many.reshape(-1)[:2000]
        # NumPy wraps around by adding the length again and again: no huge ones.
        if many.size and mode != "wrap" and d.random.random() < 0.03:
            many.reshape(-1)[0] = d.random.choice((n, -(2**63), 2**63 - 1))
        where = d.choice((d.laid_out(many), many, many.tolist()))
    more: dict[str, Any] = {} if axis is None and d.chance(0.5) else {"axis": axis}
    if mode != "raise":
        more["mode"] = mode
    return (x, where), more


def _put(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(least=1), written=True)
    n = x.theirs.size
    many = d.numpy.permutation(n)[: d.whole(0, min(n, 20))]
    where = d.choice((d.laid_out(many), many, many.tolist()))
    value = d.choice((1, d.array("?" if x.theirs.dtype.kind == "b" else x.theirs.dtype.char,
                                 (max(many.size, 1),))))  # fmt: skip
    return (x, where, value), d.maybe({"mode": lambda: d.choice(("wrap", "clip"))}, 0.2)


def _along(d: Draw) -> tuple[Pair, Any, int]:
    x = d.array(ALL, d.shape(d.choice((1, 2, 2, 3)), least=1), written=True)
    axis = d.axis(x.theirs.ndim)
    where = np.argsort(d.numpy.random(x.theirs.shape), axis=axis)
    return x, d.laid_out(where), axis


def _take_along(d: Draw) -> Arguments:
    x, where, axis = _along(d)
    return (x, where), {"axis": axis}


def _put_along(d: Draw) -> Arguments:
    x, where, axis = _along(d)
    value = d.choice((1, d.array(x.theirs.dtype.char, x.theirs.shape)))
    return (x, where, value), {"axis": axis}


def _where(d: Draw) -> Arguments:
    shape = d.shape()
    condition = d.array("?" if d.chance(0.8) else ALL, d.part_of_shape(shape))
    if d.chance(0.1):
        return (condition,), {}
    return (condition, d.second(ALL, shape), d.second(ALL, shape)), {}


def _extract(d: Draw) -> Arguments:
    x = d.array(ALL)
    return (d.laid_out(np.asarray(d.numpy.random(x.theirs.shape) < 0.5)), x), {}


def _select(d: Draw) -> Arguments:
    shape = d.shape()
    n = d.choice((1, 2))
    t = d.choice(NUMBERS)
    return (
        [d.array("?", shape) for _ in range(n)],
        [d.array(t, d.part_of_shape(shape)) for _ in range(n)],
    ), d.maybe({"default": 3})


def _fill_diagonal(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(2, least=1), written=True)
    return (x, d.choice((1, 0))), d.maybe({"wrap": True})


def _unravel(d: Draw) -> Arguments:
    shape = tuple(d.length(1) for _ in range(d.choice((1, 2, 3))))
    n = int(np.prod(shape))
    return (d.laid_out(d.numpy.integers(0, n, d.length())), shape), d.maybe(
        {"order": lambda: d.choice("CF")}
    )


def _fill(d: Draw) -> Arguments:
    return (d.array(ALL, written=True), d.choice((0, 1, True))), {}


def _item(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(least=1))
    n = x.theirs.size
    return (x, *((d.whole(-n, n - 1),) if n != 1 or d.chance(0.5) else ())), {}


INDEXING = [
    Row("x[key]", _get, call=lambda xp, x, key: x[key], weight=8),
    Row("x[key] = y", _set, call=_setitem, weight=8),
    Row("x[a] = x[b]", _shifted, call=_shift, weight=2),
    Row("take", _take, weight=3),
    Row("put", _put, weight=2),
    Row("take_along_axis", _take_along),
    Row("put_along_axis", _put_along),
    Row("where", _where, weight=3),
    Row("extract", _extract),
    Row("select", _select),
    Row("fill_diagonal", _fill_diagonal),
    Row("unravel_index", _unravel, layout=False),
    Row(".fill", _fill),
    Row(".item", _item),
    Row(".tolist", _any_array(ALL, values="special")),
]


# --- numbers ------------------------------------------------------------------------------------


def _clip(d: Draw) -> Arguments:
    shape = d.shape()
    x = d.array(REALS, shape, values="special", most=9)

    def end(value: int) -> Any:
        return d.choice((value, value, None, float(value), d.array(x.theirs.dtype.char,
                        d.part_of_shape(shape))))  # fmt: skip

    return (x, end(0), end(3)), {}


def _round(d: Draw) -> Arguments:
    return (d.array(ALL, values="range", low=-99, high=99),), d.maybe(
        {"decimals": lambda: d.choice((0, 1, 2, -1))}
    )


def _isclose(d: Draw) -> Arguments:
    shape = d.shape()
    return (
        d.array(ALL, d.part_of_shape(shape), values="special"),
        d.second(ALL, shape, values="special"),
    ), d.maybe({"equal_nan": True, "atol": 1.0, "rtol": 0.5}, 0.3)


def _nan_to_num(d: Draw) -> Arguments:
    return (d.array(ALL, values="special"),), d.maybe({"nan": 2.0, "posinf": 7.0, "neginf": -7.0},
                                                      0.3)  # fmt: skip


def _two_numbers(types: str) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        shape = d.shape()
        return (d.array(types, shape), d.array(types, shape if d.chance(0.9) else d.shape())), {}

    return draw


def _interp(d: Draw) -> Arguments:
    n = d.length(1)
    xp = np.sort(d.numpy.uniform(-5, 5, n))
    t = d.choice("fdi")
    return (
        d.array(t, values="range", low=-6, high=6),
        d.laid_out(xp),
        d.array("d", (n,)),
    ), d.maybe({"left": -1.0, "right": 1.0})


def _convolve(d: Draw) -> Arguments:
    t = d.choice(NUMBERS)
    return (d.array(t, d.shape(1, least=1)), d.array(t, (d.length(1),))), d.maybe(
        {"mode": lambda: d.choice(("full", "same", "valid"))}, 0.7
    )


def _gradient(d: Draw) -> Arguments:
    return (d.array("fdi", d.shape(1, least=2)),), {}


def _trapezoid(d: Draw) -> Arguments:
    x = d.array("fdi", d.shape(d.choice((1, 2)), least=1))
    return (x,), d.maybe({"dx": 0.5, "axis": lambda: d.axis(x.theirs.ndim)})


def _polyval(d: Draw) -> Arguments:
    return (d.array("dqD", (d.choice((1, 2, 4)),)), d.array("dq", d.shape())), {}


def _cov(d: Draw) -> Arguments:
    return (d.array("fdq", (3, d.random.choice((2, 5, 17, 256)))),), d.maybe(
        {"rowvar": False, "bias": True, "ddof": 1}, 0.2
    )


def _corrcoef(d: Draw) -> Arguments:
    length = d.random.choice((5, 17, 256))
    return (d.array("fd", (3, length), values="range", layout=_plain(d)),), {}


def _unwrap(d: Draw) -> Arguments:
    return (d.array("fd", d.shape(1), values="range"),), {}


def _ediff(d: Draw) -> Arguments:
    return (d.array(NUMBERS),), {}


NUMBERS_ROWS = [
    Row("clip", _clip, weight=2, any_zero=True),
    Row("round", _round, ulps=2, scaled=True),
    Row("around", _round, ulps=2, scaled=True),
    Row("isclose", _isclose),
    Row("allclose", _isclose),
    Row("array_equal", _two_numbers(ALL)),
    Row("array_equiv", _two_numbers(ALL)),
    Row("nan_to_num", _nan_to_num),
    Row("real", _any_array(ALL)),
    Row("imag", _any_array(ALL), layout=False),
    Row("angle", _any_array(NUMBERS), ulps=8),
    Row("isreal", _any_array(ALL)),
    Row("iscomplexobj", _any_array(ALL)),
    Row(
        "sinc", _any_array("fd", values="range", low=-2, high=2), ulps=64, scaled=True, kernels=True
    ),
    Row("interp", _interp, ulps=64, scaled=True, kernels=True),
    Row("convolve", _convolve, kernels=True),
    Row("correlate", _convolve, kernels=True),
    Row("gradient", _gradient, ulps=4, kernels=True),
    Row("trapezoid", _trapezoid, ulps=8, scaled=True),
    Row("polyval", _polyval, ulps=64, scaled=True),
    Row("average", _average, ulps=256, scaled=True),
    Row("cov", _cov, ulps=1e3, scaled=True, kernels=True),
    Row("corrcoef", _corrcoef, ulps=1e4, scaled=True, kernels=True),
    Row("unwrap", _unwrap, ulps=512, scaled=True, kernels=True),
    Row("ediff1d", _ediff),
    Row("diff", _diff, weight=2),
]


# --- linear algebra and transforms --------------------------------------------------------------


def _vectors(d: Draw) -> Arguments:
    n = d.shape(1)
    t = d.choice(ALL)
    return (d.array(t, n), d.array(t if d.chance(0.7) else ALL, n)), {}


def _outer(d: Draw) -> Arguments:
    return (d.array(ALL, (d.length(),)), d.array(ALL, (d.length(),))), {}


def _small(d: Draw) -> Arguments:
    return (d.array(NUMBERS, d.shape(d.choice((1, 2)))[:2]), d.array(NUMBERS, (2,))), {}


def _dot(d: Draw) -> Arguments:
    a, b, c = d.length(), d.length(), d.length()
    t = d.choice(NUMBERS)
    shapes = d.choice(
        (((b,), (b,)), ((a, b), (b,)), ((a, b), (b, c)), ((), (a,)), ((2, a, b), (b, c)))
    )
    return (d.array(t, shapes[0]), d.array(t if d.chance(0.7) else NUMBERS, shapes[1])), {}


def _inner(d: Draw) -> Arguments:
    a, b, c = d.length(), d.length(), d.length()
    shapes = d.choice((((b,), (b,)), ((a, b), (b,)), ((a, b), (c, b))))
    t = d.choice(NUMBERS)
    return (d.array(t, shapes[0]), d.array(t, shapes[1])), {}


def _tensordot(d: Draw) -> Arguments:
    a, b, c = (d.random.choice((1, 2, 3, 5)) for _ in range(3))
    t = d.choice(NUMBERS)
    return (d.array(t, (a, b, c)), d.array(t, (b, c, a))), {
        "axes": d.choice((0, ([1, 2], [0, 1]), (2, 1)))
    }


def _cross(d: Draw) -> Arguments:
    n = d.length()
    return (d.array(NUMBERS, (n, 3)), d.array(NUMBERS, d.choice(((n, 3), (3,))))), {}


def _einsum(d: Draw) -> Arguments:
    a, b, c = (d.random.choice((1, 2, 3, 17)) for _ in range(3))
    t = d.choice(NUMBERS)
    text, shapes = d.choice(
        (
            ("ij,jk->ik", ((a, b), (b, c))), ("ij->ji", ((a, b),)), ("ij->", ((a, b),)),
            ("ii->i", ((a, a),)), ("i,j->ij", ((a,), (b,))), ("ij,ij->i", ((a, b), (a, b))),
            ("ij,jk", ((a, b), (b, c))), ("...i,...i", ((a, b), (a, b))),
        )
    )  # fmt: skip
    return (text, *(d.array(t, s) for s in shapes)), {}


def _matrix(d: Draw, kind: str = "square", types: str = "fdFD") -> np.ndarray:
    n = d.random.choice((1, 2, 3, 5, 17))
    stack: tuple[int, ...] = d.choice(((), (), (), (2,), (2, 3)))
    t = d.choice(types)
    if kind == "any":
        return d.values(t, (*stack, n, d.random.choice((1, 2, 5))), -1, 1)
    made = d.values(t, (*stack, n, n), -1, 1) + 2 * n * np.eye(n, dtype=t)
    if kind == "hermitian":
        made = made + np.conj(np.swapaxes(made, -1, -2))
    return made.astype(t)


def _plain(d: Draw) -> str:
    return str(d.choice(("C", "F", "reversed", "gaps", "part", "swapped", "read-only")))


def _of_matrix(
    kind: str = "square", types: str = "fdFDi", **keywords: Any
) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        t = types if kind == "square" else types.replace("i", "")
        return (d.laid_out(_matrix(d, kind, t), _plain(d)),), d.maybe(keywords, 0.25)

    return draw


def _solve(d: Draw) -> Arguments:
    a = _matrix(d)
    n = a.shape[-1]
    return (
        d.laid_out(a, _plain(d)),
        d.array(a.dtype.char, (*a.shape[:-2], n, 2), values="range"),
    ), {}


def _lstsq(d: Draw) -> Arguments:
    n = d.random.choice((3, 5, 9))
    a = d.values(d.choice("fdFD"), (n, 2), -1, 1)
    return (d.laid_out(a, _plain(d)), d.array(a.dtype.char, (n,), values="range")), {}


def _norm(d: Draw) -> Arguments:
    x = d.array("fdFDiq", d.shape(d.choice((1, 2)), least=1))
    more: dict[str, Any] = {}
    if d.chance(0.6):
        more["ord"] = d.choice((1, 2, np.inf, -np.inf) if x.theirs.ndim == 1
                               else (1, -1, np.inf, "fro", "nuc", 2))  # fmt: skip
    if d.chance(0.3):
        more["axis"] = d.choice((None, d.axis(x.theirs.ndim)))
        if more["axis"] is not None and more.get("ord") in ("fro", "nuc"):
            more.pop("ord")
    if d.chance(0.3):
        more["keepdims"] = True
    return (x,), more


def _vector_norm(d: Draw) -> Arguments:
    x = d.array("fdFDiq", d.shape(least=1))
    return (x,), d.maybe({"axis": lambda: d.axes(x.theirs.ndim), "keepdims": True,
                          "ord": lambda: d.choice((1, 2, np.inf, 3))})  # fmt: skip


def _magnitudes(result: Any) -> Any:
    """Vectors up to their signs."""
    return [np.abs(to_numpy(part)) for part in _list(result)]


def _list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def _in_order(result: Any) -> Any:
    values = to_numpy(_list(result)[0])
    return np.sort_complex(values.round(3) + 0.0)


def _transform(kind: str) -> Callable[[Draw], Arguments]:
    def draw(d: Draw) -> Arguments:
        several = kind.endswith("n") or kind.endswith("2")
        shape = d.shape(2 if kind.endswith("2") else d.choice((1, 1, 2)), least=1)
        types = "fdFDiq" if not kind.startswith(("rfft", "ihfft")) else "fdiq"
        x = d.array(types, shape, values="range")
        rank = len(shape)
        more: dict[str, Any] = d.maybe(
            {"norm": lambda: d.choice((None, "backward", "ortho", "forward"))}, 0.3
        )
        if several and d.chance(0.3):
            more["axes"] = tuple(d.form.sample(range(-rank, 0), rank))
        if not several and d.chance(0.3):
            more["axis"] = d.axis(rank)
        if not several and d.chance(0.3):
            more["n"] = d.random.choice((1, 2, 5, 16, 17, 300))
        return (x,), more

    return draw


def _shift_axes(d: Draw) -> Arguments:
    x = d.array(ALL, d.shape(d.choice((1, 2))))
    return (x,), d.maybe({"axes": lambda: d.axes(x.theirs.ndim)})


def _fftfreq(d: Draw) -> Arguments:
    return (d.array("?", ()), d.length(1)), {}


FAR = {"ulps": 1e5, "scaled": True, "kernels": True, "layout": False}
LINEAR = [
    Row("matmul", _matmul, kernels=True, any_zero=True, weight=2),
    Row("vecdot", _vectors, kernels=True, any_zero=True),
    Row("vdot", _vectors, kernels=True, any_zero=True),
    Row("dot", _dot, kernels=True, any_zero=True, weight=2),
    Row("inner", _inner, kernels=True, any_zero=True),
    Row("outer", _outer),
    Row("kron", _small, kernels=True, any_zero=True),
    Row("tensordot", _tensordot, kernels=True, any_zero=True),
    Row("cross", _cross, kernels=True, any_zero=True),
    Row("einsum", _einsum, kernels=True, any_zero=True, doors="np usmx"),
    Row("linalg.matmul", _matmul_operands, kernels=True, any_zero=True),
    Row("linalg.vecdot", _vectors, kernels=True, any_zero=True),
    Row("linalg.outer", _outer, kernels=True),
    Row("linalg.tensordot", _tensordot, kernels=True, any_zero=True),
    Row(
        "linalg.cross",
        lambda d: ((d.array(NUMBERS, (4, 3)), d.array(NUMBERS, (4, 3))), {}),
        kernels=True,
    ),
    Row(
        "linalg.trace",
        lambda d: ((d.array(NUMBERS, d.shape(d.choice((2, 3)))),), {}),
        any_zero=True,
    ),
    Row(
        "linalg.diagonal",
        lambda d: ((d.array(ALL, d.shape(d.choice((2, 3)))),), d.maybe({"offset": 1})),
    ),
    Row("linalg.matrix_transpose", lambda d: ((d.array(ALL, d.shape(d.choice((2, 3)))),), {})),
    Row("linalg.solve", _solve, **FAR),
    Row("linalg.inv", _of_matrix(), **FAR),
    Row("linalg.det", _of_matrix(), **FAR),
    Row("linalg.slogdet", _of_matrix(), **FAR),
    Row("linalg.cholesky", _of_matrix("hermitian", upper=True), **FAR),
    Row("linalg.qr", _of_matrix("any", mode="r"), **FAR, view=_magnitudes),
    Row(
        "linalg.svd",
        _of_matrix("any", full_matrices=False, compute_uv=False),
        **FAR,
        view=lambda r: np.asarray(to_numpy(r[1] if isinstance(r, tuple) else r)),
    ),
    Row("linalg.svdvals", _of_matrix("any"), **FAR),
    Row("linalg.eigh", _of_matrix("hermitian", UPLO="U"), **FAR, view=lambda r: _list(r)[0]),
    Row("linalg.eigvalsh", _of_matrix("hermitian"), **FAR),
    Row("linalg.eig", _of_matrix("square", "dD"), **FAR, view=_in_order),
    Row("linalg.eigvals", _of_matrix("square", "dD"), **FAR, view=_in_order),
    Row("linalg.pinv", _of_matrix("any"), **FAR),
    Row("linalg.matrix_rank", _of_matrix("any"), **FAR),
    Row(
        "linalg.matrix_power",
        lambda d: ((d.laid_out(_matrix(d), _plain(d)), d.choice((0, 1, 2, 3, -1))), {}),
        **FAR,
    ),
    Row("linalg.cond", _of_matrix(), **FAR),
    Row("linalg.lstsq", _lstsq, **FAR, view=lambda r: list(r)[:1] + list(r)[2:]),
    Row("linalg.norm", _norm, **FAR),
    Row("linalg.vector_norm", _vector_norm, **FAR),
    Row("linalg.matrix_norm", _of_matrix("any", keepdims=True), **FAR),
    Row(
        "linalg.multi_dot",
        lambda d: (([d.array("d", (3, 4)), d.array("d", (4, 2)), d.array("d", (2, 5))],), {}),
        **FAR,
    ),
    *(
        Row(f"fft.{name}", _transform(name), ulps=1e3, scaled=True, kernels=True, layout=False)
        for name in (
            "fft",
            "ifft",
            "rfft",
            "irfft",
            "hfft",
            "ihfft",
            "fft2",
            "ifft2",
            "fftn",
            "ifftn",
            "rfft2",
            "irfft2",
            "rfftn",
            "irfftn",
        )
    ),
    Row("fft.fftshift", _shift_axes, layout=False),
    Row("fft.ifftshift", _shift_axes, layout=False),
]

MORE = [_ufunc_method(m) for m in ("reduce", "accumulate", "outer", "at", "reduceat")]

TOPICS: dict[str, list[Row]] = {
    "elementwise": ELEMENTWISE,
    "operators": OPERATORS,
    "reductions": REDUCTIONS,
    "methods of ufuncs": MORE,
    "sorting": SORTING,
    "shapes": SHAPES,
    "indexing": INDEXING,
    "numbers": NUMBERS_ROWS,
    "linear algebra": LINEAR,
}
ROWS = [row for rows in TOPICS.values() for row in rows]
DRAWN = [row for row in ROWS for _ in range(row.weight)]

#: What is not as in NumPy, and why.
DIFFERENCES: list[Differs] = [
    Differs("(linalg.)?diagonal|diag", "layout", "", "a copy where the layout has no view of it"),
    Differs(
        "where",
        "layout",
        r"strides \(1,\) where",
        "memory for each axis; NumPy's are columns of one array",
    ),
    Differs("real", "layout", "", "new elements: the property of an array is the view"),
    Differs(
        "(linalg.)?matmul|x @ y", "layout", "", "of a vector and a stack; the product is moved"
    ),
    Differs("take_along_axis", "layout", "", "in C order; NumPy's follow the indices"),
    Differs("isclose", "layout", "", "steps of several operations, which NumPy joins by masks"),
    Differs(
        "argsort|argpartition|cum(ulative_)?(sum|prod)|(nan)?arg(max|min)",
        "refused",
        "dimension 0",
        "what has no axis has no last one",
    ),
    Differs(
        "std|var", "no error", "Cannot cast ufunc", "a root of integers is cast as dtype= says"
    ),
    Differs("mean", "refused", "same_kind", "means are cast to integers only by dtype="),
    Differs(
        "conj|conjugate", "dtype", "bool where NumPy has int8", "conjugates of bools are bools"
    ),
    Differs(
        "conj|conjugate",
        "no error",
        "from dtype\\('int8'\\) to dtype\\('(bool|uint\\d+)'\\)",
        "conjugates of bools are bools, which outputs of bools and of unsigned integers take",
    ),
    Differs(
        "conj|conjugate",
        "no error",
        r"conj(ugate)?\(\) takes no keyword",
        "the method takes the keywords of the function",
    ),
    Differs(
        "(logical|is|not|less|greater|equal).*",
        "value|memory|order",
        "",
        "what where= leaves out comes through bools where NumPy casts an output that overlaps",
        given=r"overlap.*bool\[",
    ),
    Differs("unique_.*", "no error", "positional-only", "x may be given by its name"),
    Differs(
        "unique.*|setxor1d|union1d|intersect1d|setdiff1d",
        "value",
        r"\[-?0\.\]",
        "of equal zeros the first one stays",
    ),
    Differs(
        "divmod", "refused", "No loop matching", "dtype= of the two functions that it is made of"
    ),
    Differs("ufunc.reduce", "no error", "logical_", "dtype= is that of the result"),
    Differs(
        "ufunc.at", "refused", "to bool by the rule", "bools meet integers by the rule of casts"
    ),
    Differs(
        ".*",
        "layout",
        "",
        "which of the axes that have no stride comes first is free",
        # New arrays without elements have no stride in NumPy.
        given=r"zero|\[(\d+, )*[01](, \d+)*\]",
    ),
    Differs(
        "signbit", "value|memory|order", "", "NumPy reads what it wrote before", given="overlap"
    ),
    Differs(
        "signbit",
        "value|memory|order",
        "",
        "NumPy fills reversed outputs wrongly (docs/upstream)",
        given=r"out; bool\[.*reversed",
    ),
    Differs(".*", "error", "Python integer .* out of bounds", "the first of two reasons is said"),
    Differs(
        "delete", "layout", "strides", "of lists of places; NumPy's follow the mask of what is left"
    ),
    Differs("histogram.*", "layout", "", "the edges that were given are copied"),
    Differs(
        "median|quantile|percentile",
        "no error",
        "size 0|empty axes",
        "NaN of an empty array, as medians and means",
    ),
    Differs(
        "nanquantile|nanpercentile",
        "shape",
        r"where NumPy has \((1,)?\)",
        "of an empty array: a result for each q",
        given=r"\[(\d+, )*0(, \d+)*\]",
    ),
    Differs("std|var", "no error|error", "correction", "the name of the standard, in methods too"),
    Differs(
        "std|var",
        "value|memory|order",
        "e-0[78]",
        "of equal complex numbers: quotients of complex numbers are not exact in NumPy either",
        given="'dtype': '[FD]'",
    ),
    Differs(
        "std|var", "layout", "", "a sum in another type has the order of C", given="'dtype'|where"
    ),
    Differs("ufunc.accumulate", "layout", "", "each step is a part of a new array in its order"),
    Differs("where", "refused", "does not fit", "an int that the type cannot hold is refused"),
    Differs("average", "no error", "division by zero", "NaN of an empty array, as means"),
    Differs(
        "max|min",
        "value|order|memory",
        "",
        "NumPy keeps what it has so far in the output: negative numbers become large there",
        given=r"(int|float|complex)\d.*; out; (uint\d+|bool)\[",
    ),
    Differs(
        "(max|min)(imum)?",
        "value|order|memory",
        "922337203685477580",
        "what NaN is as an integer is free",
        given=r"out; int64\[",
    ),
    Differs(
        ".*sort|setxor1d|unique.*|union1d|intersect1d|setdiff1d",
        "value|memory|shape|order",
        "",
        "NumPy 2.4 leaves long arrays of float16 out of order (docs/upstream)",
        given=r"float16\[(\d{5,}|40\d\d)",
    ),
    Differs(
        "ufunc.at",
        "memory",
        "",
        "NumPy's subtract.at of an int in uint64 takes one step of several at one place",
        given="uint64",
    ),
    Differs(
        "ufunc.at", "no error", "to any supported types", "Python's numbers are weak here, too"
    ),
    Differs(
        "sum|prod|nansum|nanprod|ufunc.reduce",
        "value|memory",
        "",
        "NumPy casts initial= to the type of out= first",
        given=r"out; u?int.*'initial': -?\d+\.[1-9]",
    ),
    Differs(
        "(nan)?(quantile|percentile)",
        "value",
        r"float32\(\): \[\S+e-0[78]\] where NumPy has \[0\.\]",
        "what cancels differs in its last bit",
    ),
    Differs(
        "put_along_axis",
        "memory|order",
        "",
        "of equal indices NumPy takes that which its walk through reversed values has last",
        given=r"int\d+\[.*zero.*\[.*reversed",
    ),
    Differs("isreal|iscomplex", "layout", "", "of reals NumPy compares a new array in C order"),
    Differs("diff", "layout", "", "of what is joined before it", given="(ap|pre)pend"),
    Differs(
        "bitwise_count",
        "value|memory|order",
        "",
        "NumPy casts elements that where= left",
        given="overlap",
    ),
    Differs("std|var", "refused", "same_kind", "floats are not cast to an output of integers"),
    Differs("ptp", "no error", "subtract", "the difference is cast by the rule 'same_kind'"),
    Differs(
        "sum|mean|nansum|nanmean|std|var|nanstd|nanvar|average|cumsum|cumulative_sum|nancumsum|ufunc.*",
        "value|memory|order",
        "",
        "sums of float16 are rounded once",
        given="'dtype': 'e'",
    ),
    Differs(
        "bincount",
        "dtype",
        "float64 where NumPy has int64",
        "no numbers with weights are floats too",
        given=r"\[0\]",
    ),
    Differs("unique", "value", "nan", "rows with NaN come last", given="'axis'"),
    Differs(
        "unique",
        "value",
        r"int64\(",
        "rows with NaN come last",
        given=r"(float|complex)\d+\[.*'return_in.*'axis'",
    ),
    Differs(
        "ufunc.(accumulate|reduce)",
        "value|order",
        r": \[(-?0\.( |\]))+ ?where NumPy has \[(-?0\.( |\]))+",
        "of equal zeros the first one stays",
    ),
    Differs(
        "diff",
        "dtype",
        " where NumPy has ",
        "what is put before and after counts if no difference is taken",
    ),
    Differs(
        "ufunc.accumulate",
        "refused",
        "not computed on devices",
        "ufuncs that are not joined by a kernel are left to the host",
    ),
]
