"""How types and numbers of NumPy are written in C++."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .._kernel.types.scalars import BY_NAME

#: What stands before the text of a kernel: what the rows of `usmx._operations` use.
PREAMBLE = '#include "usmx/fusion.hpp"\nusing namespace usmx::fusion;\n'


@cache  # NumPy makes the name of a type anew each time
def cpp(dtype: np.dtype[Any]) -> str:
    """The name of a type in C++.

    Raises
    ------
    TypeError
        If it is not supported in kernels.
    """
    known = BY_NAME.get(dtype.name)
    if known is None:
        raise TypeError(f"dtype {dtype} is not supported in kernels")
    return known.cpp


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number as C++ text that gives exactly that number."""
    if dtype.kind == "c":
        part = np.dtype("f" if dtype.char == "F" else "d")
        return f"{cpp(dtype)}({literal(value.real, part)}, {literal(value.imag, part)})"
    if dtype.kind == "f":
        number = float(value)
        if np.isnan(number):
            return f'{cpp(dtype)}(__builtin_nan(""))'
        if np.isinf(number):
            return f"{cpp(dtype)}({'-' if number < 0 else ''}__builtin_inf())"
        return f"{cpp(dtype)}({number.hex()})"
    if dtype.kind == "b":
        return "true" if value else "false"
    whole = int(value)
    if dtype.kind == "u":
        return f"{cpp(dtype)}({whole}u{'ll' if whole >> 32 else ''})"
    if whole == -(1 << 63):
        return "int64_t(-9223372036854775807ll - 1)"
    return f"{cpp(dtype)}({whole}{'ll' if abs(whole) >> 31 else ''})"
