"""Arrays as arguments of ``@numba.njit``: the host's memory in place, as Numba sees NumPy's arrays.

Numba loads this by its entry point ``numba_extensions``, before it compiles anything.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.boxing import unbox_buffer
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_cast
from numba.core.pythonapi import box, unbox
from numba.core.typing.typeof import typeof_impl
from numba.np import numpy_support

from .. import _usmx


class UsmArray(types.Array):  # type: ignore[misc]
    """The type of an array of usmx in compiled functions.

    All that Numba knows of arrays holds for it; what is computed from it are NumPy's arrays. It is
    a type of its own because it is read through the buffer protocol, which waits for commands on
    the memory.
    """

    def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool) -> None:
        access = ", readonly" if readonly else ""
        name = f"usmx.ndarray({dtype}, {ndim}d, {layout}{access})"
        super().__init__(dtype, ndim, layout, readonly=readonly, name=name)


def _type_of(x: _usmx.ndarray, _context: object) -> UsmArray:
    if x.usm_type == "device":
        raise TypeError(
            "a usmx.ndarray in device memory cannot be an argument of a function that Numba "
            "compiles for the host; copy it with x.to_numpy(), or make it with usm_type='shared'"
        )
    flags = x.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return UsmArray(numpy_support.from_dtype(x.dtype), x.ndim, layout, not flags.writeable)


def _to_native(typ: UsmArray, obj: Any, context: Any) -> Any:
    return unbox_buffer(typ, obj, context)


def _to_python(typ: UsmArray, value: Any, context: Any) -> Any:
    """The argument itself: everything that is computed from it has another type."""
    parent = context.context.make_array(typ)(context.context, context.builder, value=value).parent
    context.pyapi.incref(parent)
    context.context.nrt.decref(context.builder, typ, value)
    return parent


def _as_array(_context: Any, _builder: Any, _from: Any, _to: Any, value: Any) -> Any:
    return value


def init() -> None:
    """Called by Numba once."""
    register_default(UsmArray)(models.ArrayModel)
    typeof_impl.register(_usmx.ndarray)(_type_of)
    unbox(UsmArray)(_to_native)
    box(UsmArray)(_to_python)
    lower_cast(UsmArray, types.Array)(_as_array)
