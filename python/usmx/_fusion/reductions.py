"""Reductions at the end of a fused function: what is reduced is computed on the way."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .. import _usmx
from .symbols import Program, SeveralKernels, Symbol, constant


class Reduced:
    """What a reduction gives. It can only be returned: everything else needs its value.

    Parameters
    ----------
    title : str
        What messages call it.
    value : Symbol
        What is reduced.
    how : dict
        The types and texts, as `_usmx._reduce` takes them.
    axis, keep
        As NumPy's functions take them.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, title: str, value: Symbol, how: dict[str, Any], axis: Any, keep: Any):
        self.title = title
        self.value = value
        self.program = value.program
        self.how = how
        self.axis = axis
        self.keepdims = False if keep is np._NoValue else bool(keep)

    def kernel(self, name: str) -> Any:
        """What computes it."""
        program = self.program
        return program.captured.reduction(
            self.value.value, name, program.contract, program.driver_math, **self.how
        )

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Any use but returning it."""
        raise SeveralKernels(f"the function computes with what {self.title} gives")

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
    """A reduction of NumPy's of a symbol, by the rules that arrays have for it."""
    for word, given in {"out": out, **others}.items():
        if given is not None and given is not np._NoValue:
            raise SeveralKernels(f"{name}: {word}= is not a part of one kernel")
    symbol = constant(program, value)
    if name in ("min", "max") and symbol.dtype.kind == "c":
        raise TypeError(f"{name} of {symbol.dtype} cannot be fused: complex numbers have no order")
    how = _usmx._Reduction(name, symbol.dtype, dtype).keywords
    return Reduced(name, Symbol(program, symbol.value), how, axis, keepdims)
