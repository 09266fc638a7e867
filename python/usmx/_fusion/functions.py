"""The functions of NumPy that are not one row of the table and can be fused too: one entry each."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .reductions import reduce
from .spelling import literal
from .symbols import (
    NATURAL,
    WEAK,
    Program,
    SeveralKernels,
    Symbol,
    cast,
    constant,
    operate,
    type_of,
    write,
)


def _as_operand(value: Any) -> Any:
    """What `numpy.result_type` takes for an operand."""
    t = type_of(value)
    return t(0) if isinstance(t, type) else t


def where(program: Program, condition: Any, x: Any = None, y: Any = None) -> Any:
    """``np.where`` of three operands."""
    if x is None or y is None:
        raise SeveralKernels("np.where(condition) has no size that is known before")
    dtype = np.result_type(_as_operand(x), _as_operand(y))
    weak = all(isinstance(type_of(value), type) for value in (x, y))
    if weak and dtype.kind in WEAK:
        dtype = np.dtype({"i": "q", "f": "d", "c": "D"}[dtype.kind])
    test = cast(program, condition, np.dtype("?"))
    a, b = cast(program, x, dtype), cast(program, y, dtype)
    return program.line(dtype, f"{test.text} ? {a.text} : {b.text}")


def clip(
    program: Program,
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """``np.clip``; bounds beyond an integer type do nothing, as in NumPy."""
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    value = constant(program, a)
    if value.dtype.kind in "iu" and not value.weak:
        limits = np.iinfo(value.dtype)
        if type(low) is int and low <= limits.min:
            low = None
        if type(high) is int and high >= limits.max:
            high = None
    result: Any = value
    if low is not None:
        result = np.maximum(result, low)
    if high is not None:
        result = np.minimum(result, high)
    return write(result.copy() if result is value else result, out, "np.clip")


def around(program: Program, a: Any, decimals: int = 0, out: Any = None) -> Any:
    """``np.round``."""
    value = constant(program, a)
    if value.dtype.kind in "biu":
        if value.dtype.kind in "iu" and decimals >= 0:
            return write(value.copy(), out, "np.round")
        raise TypeError(f"np.round of {value.dtype} with these arguments cannot be fused")
    if abs(decimals) > sys.float_info.max_10_exp:
        raise ValueError(f"np.round: decimals is {decimals}, no float has so many digits")
    factor = 10.0 ** abs(decimals)
    if decimals == 0:
        rounded = np.rint(value)
    elif decimals > 0:
        rounded = operate(
            program, "divide", np.rint(operate(program, "multiply", value, factor)), factor
        )
    else:
        rounded = operate(
            program, "multiply", np.rint(operate(program, "divide", value, factor)), factor
        )
    return write(rounded, out, "np.round")


def copyto(
    program: Program, dst: Any, src: Any, casting: str = "same_kind", where: Any = True
) -> None:
    """``np.copyto``."""
    if where is not True:
        src = np.where(where, src, dst)
    write(src, dst, "np.copyto", casting)


def divmod(program: Program, x1: Any, x2: Any) -> tuple[Any, Any]:
    """``np.divmod``."""
    pair = [operate(program, name, x1, x2) for name in ("floor_divide", "remainder")]
    return pair[0], pair[1]


def modf(program: Program, x: Any) -> tuple[Any, Any]:
    """``np.modf``: an infinity has the fraction 0."""
    x, *_ = _typed(program, np.modf, x)
    rest = where(program, np.isinf(x), 0.0, np.fmod(x, 1.0))
    return np.copysign(rest, x), np.trunc(x)


def frexp(program: Program, x: Any) -> tuple[Any, Any]:
    """``np.frexp``."""
    x, mantissa, exponent = _typed(program, np.frexp, x)
    return (
        program.line(mantissa, f"frexp({x.text}).mantissa"),
        program.line(exponent, f"frexp({x.text}).exponent"),
    )


def ldexp(program: Program, x1: Any, x2: Any) -> Any:
    """``np.ldexp``."""
    x, power, result = _typed(program, np.ldexp, x1, x2)
    return program.line(result, f"ldexp({x.text}, {power.text})")


def _typed(program: Program, ufunc: Any, *values: Any) -> list[Any]:
    """The operands in the types that the ufunc takes, then the types of its results."""
    given = [type_of(constant(program, value)) for value in values]
    if all(isinstance(t, type) for t in given):
        given = [np.dtype(NATURAL[t]) for t in given]
    types = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))
    operands = [cast(program, v, t) for v, t in zip(values, types, strict=False)]
    return [*operands, *types[len(values) :]]


def _like(number: int) -> Callable[..., Any]:
    def function(program: Program, a: Any, dtype: Any = None) -> Symbol:
        result = constant(program, a).dtype if dtype is None else np.dtype(dtype)
        return Symbol(program, literal(result.type(number), result), result)

    return function


def _full_like(program: Program, a: Any, fill_value: Any, dtype: Any = None) -> Symbol:
    return cast(
        program, fill_value, constant(program, a).dtype if dtype is None else np.dtype(dtype)
    )


def _reduction(name: str) -> Callable[..., Any]:
    def function(program: Program, a: Any, axis: Any = None, **kwargs: Any) -> Any:
        return reduce(program, name, a, axis, **kwargs)

    return function


#: NumPy's function -> what traces it: called with the program and NumPy's arguments.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: where,
    np.divmod: divmod,
    np.modf: modf,
    np.frexp: frexp,
    np.ldexp: ldexp,
    np.copy: lambda program, a: constant(program, a).copy(),
    np.copyto: copyto,
    np.clip: clip,
    np.round: around,
    np.around: around,
    np.real: lambda program, val: constant(program, val).real,
    np.imag: lambda program, val: constant(program, val).imag,
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _full_like,
    np.sum: _reduction("add"),
    np.prod: _reduction("multiply"),
    np.min: _reduction("minimum"),
    np.max: _reduction("maximum"),
    np.amin: _reduction("minimum"),
    np.amax: _reduction("maximum"),
    np.mean: _reduction("mean"),
    np.any: _reduction("logical_or"),
    np.all: _reduction("logical_and"),
}
