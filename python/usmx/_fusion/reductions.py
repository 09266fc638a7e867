"""Reductions at the end of a fused function: what is reduced is computed on the way."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .spelling import cpp
from .symbols import Program, SeveralKernels, Symbol, cast, constant

#: ufunc -> its name in messages, how two are joined, what nothing gives.
ROWS: dict[str, tuple[str, str, str | None]] = {
    "add": ("sum", "a + b", "0"),
    "mean": ("mean", "a + b", "0"),
    "multiply": ("prod", "a * b", "1"),
    "minimum": ("min", "smaller(a, b)", None),
    "maximum": ("max", "larger(a, b)", None),
    "logical_or": ("any", "a || b", "false"),
    "logical_and": ("all", "a && b", "true"),
}


class Reduced:
    """What a reduction gives. It can only be returned: everything else needs its value."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, value: Symbol, result: np.dtype[Any], axis: Any, keep: bool):
        self.name = name
        self.value = value
        self.program = value.program
        self.result = result
        self.axis = axis
        self.keepdims = keep

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Any use but returning it."""
        raise SeveralKernels(f"the function computes with what {ROWS[self.name][0]} gives")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self.refuse()

    __array_ufunc__ = __usmx_operation__ = __getitem__ = __matmul__ = __rfloordiv__ = refuse
    __rmod__ = __rand__ = __ror__ = __xor__ = __rxor__ = __invert__ = __pos__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = refuse
    __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = __bool__ = __float__ = refuse
    __int__ = __index__ = __complex__ = __len__ = __iter__ = __setitem__ = refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refuse
    __array__ = __array_function__ = __floordiv__ = __mod__ = __and__ = __or__ = refuse


def reduce(
    program: Program,
    name: str,
    value: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    **others: Any,
) -> Reduced:
    """A reduction of a symbol, with the types that NumPy gives it."""
    title = ROWS[name][0]
    for word, given in {"out": out, **others}.items():
        if given is not None and given is not np._NoValue:
            raise SeveralKernels(f"{title}: {word}= is not a part of one kernel")
    symbol = constant(program, value)
    own: np.dtype[Any] = symbol.dtype
    result: np.dtype[Any] = own
    if name in ("minimum", "maximum") and own.kind == "c":
        raise TypeError(f"{title} of {own} cannot be fused: complex numbers have no order")
    if name in ("logical_or", "logical_and"):
        own = result = np.dtype("?")
    elif name == "mean":
        result = np.dtype("d") if own.kind in "biu" else own
        # As NumPy does it: the sum of half numbers is taken in float.
        own = np.dtype("f") if result.char == "e" else result
    elif name in ("add", "multiply") and own.kind in "biu":
        own = result = np.dtype("Q" if own.kind == "u" else "q")
    if dtype is not None:
        own = result = np.dtype(dtype)
    keep = False if keepdims is np._NoValue else bool(keepdims)
    return Reduced(name, cast(program, symbol, own), result, axis, keep)


def is_ranged(reduced: Reduced) -> bool:
    """Whether it is a product as `kernels/expression/product.hpp` joins it."""
    dtype = reduced.value.dtype
    return reduced.name == "multiply" and dtype.kind == "f" and dtype.itemsize >= 4


def text_of(reduced: Reduced, program: Program, parameters: list[str]) -> tuple[str, str, str]:
    """A function that computes what is reduced, the call of it, and what the result is."""
    own = cpp(reduced.value.dtype)
    declared = ", ".join(parameters)
    function = (
        f"inline {own} fused_value({declared}) {{\n"
        + "\n".join(program.lines)
        + f"\nreturn {reduced.value.text};\n}}\n"
    )
    names = ", ".join(p.split()[-1] for p in parameters)
    result = "a"
    if is_ranged(reduced):
        own_result = f"o0 = {cpp(reduced.result)}(expression::ended(a));"
        return function, f"expression::start(fused_value({names}))", own_result
    if reduced.name == "mean":
        part = reduced.value.dtype.type().real.dtype
        result = f"{cpp(part)}(n)"
        if reduced.value.dtype.kind == "c":
            result = f"a.re / {result}, a.im / {result}"
        else:
            result = f"a / {result}"
    return function, f"fused_value({names})", f"o0 = {cpp(reduced.result)}({result});"
