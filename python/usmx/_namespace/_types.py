"""What the functions of arrays ask of element types: NumPy's, and bfloat16, which NumPy lacks."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from .._usmx import bfloat16
from .._usmx import dtype as own_dtype


def to_type(given: Any) -> Any:
    """A type as a numpy.dtype; bfloat16 as `usmx.bfloat16`, so that ml_dtypes need not be there."""
    import numpy as np

    if isinstance(given, np.dtype) and given.isbuiltin == 1:  # its name takes two microseconds
        return given
    if isinstance(given, own_dtype):
        return bfloat16 if given == bfloat16 else given.dtype
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if name is None and isinstance(given, type):
        name = given.__name__
    return bfloat16 if name == "bfloat16" and given == bfloat16 else np.dtype(given)


def sum_type(dtype: Any) -> Any:
    """The type in which numbers of a type are added: float32 for floats of 16 bits."""
    import numpy as np

    return np.dtype("f") if dtype.char in ("e", "E") else dtype


def part_type(dtype: Any) -> Any:
    """The type of the parts of complex numbers; of other types, the type itself."""
    return dtype.type().real.dtype if dtype.kind == "c" else dtype


def is_bfloat16(dtype: Any) -> bool:
    """Whether a type of `to_type` or of an array is bfloat16: all others are NumPy's."""
    return isinstance(dtype, own_dtype)


def typed(value: Any, dtype: Any) -> Any:
    """A number of a type; of bfloat16 one that adapts to the arrays that it meets.

    OverflowError or TypeError for a number of Python that the type cannot hold.
    """
    import numpy as np

    if is_bfloat16(dtype):
        return float(value)
    held = np.empty((), dtype)
    held[()] = value
    return held[()]
