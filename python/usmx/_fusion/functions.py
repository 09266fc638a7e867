"""The functions of NumPy that are not one row of the table and can be fused too: one entry each."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .reductions import reduce
from .symbols import Program, SeveralKernels, Symbol, cast, constant, operate, resolved, write


def _numbers() -> Any:
    from .._namespace import numbers

    return numbers


def where(program: Program, condition: Any, x: Any = None, y: Any = None) -> Any:
    """``np.where`` of three operands."""
    if x is None or y is None:
        raise SeveralKernels("np.where(condition) has no size that is known before")
    return program.apply("where", *(constant(program, one) for one in (condition, x, y)))


def clip(
    program: Program, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **names: Any
) -> Any:
    """``np.clip``; bounds beyond an integer type do nothing, as in NumPy."""
    made = _numbers().clip(constant(program, a), a_min, a_max, **names)
    return write(made, out, "np.clip")


def around(program: Program, a: Any, decimals: int = 0, out: Any = None) -> Any:
    """``np.round``."""
    return write(_numbers().round(constant(program, a), decimals), out, "np.round")


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
    made: tuple[Any, Any] = _numbers().modf(constant(program, x))
    return made


def frexp(program: Program, x: Any) -> tuple[Any, Any]:
    """``np.frexp``."""
    (number,) = _typed(program, np.frexp, x)
    return program.apply("mantissa", number), program.apply("exponent", number)


def ldexp(program: Program, x1: Any, x2: Any) -> Any:
    """``np.ldexp``."""
    return program.apply("ldexp", *_typed(program, np.ldexp, x1, x2))


def _typed(program: Program, ufunc: Any, *values: Any) -> list[Symbol]:
    """The operands in the types that the ufunc takes."""
    symbols = tuple(constant(program, value) for value in values)
    types = resolved(ufunc, symbols)
    return [cast(program, one, t) for one, t in zip(symbols, types, strict=False)]


def _like(number: int) -> Callable[..., Any]:
    def function(program: Program, a: Any, dtype: Any = None) -> Symbol:
        return _full_like(program, a, number, dtype)

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
    np.sum: _reduction("sum"),
    np.prod: _reduction("prod"),
    np.min: _reduction("min"),
    np.max: _reduction("max"),
    np.amin: _reduction("min"),
    np.amax: _reduction("max"),
    np.mean: _reduction("mean"),
    np.any: _reduction("any"),
    np.all: _reduction("all"),
}
