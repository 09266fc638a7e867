"""What is said about a name that usmx has not: what there is, or how NumPy's own is called.

Imported when such a name is asked for.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import ModuleType

from ._help import with_link

#: What users of other libraries, and of NumPy before 2.0, look for -> what there is.
_INSTEAD = {
    **dict.fromkeys(("as_tensor", "from_array", "tensor"), "usmx.asarray"),
    **dict.fromkeys(("NaN", "NAN"), "usmx.nan"),
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), "usmx.inf"),
    **dict.fromkeys(("complex_", "cfloat"), "usmx.complex128"),
    "NINF": "-usmx.inf",
    "alltrue": "usmx.all",
    "bool8": "usmx.bool_",
    "cumproduct": "usmx.cumprod",
    "float_": "usmx.float64",
    "in1d": "usmx.isin",
    "jit": "usmx.kernel",
    "memmap": "usmx.open(file), which reads a file piece by piece",
    "msort": "usmx.sort(x, axis=0)",
    "product": "usmx.prod",
    "round_": "usmx.round",
    "row_stack": "usmx.vstack",
    "singlecomplex": "usmx.complex64",
    "sometrue": "usmx.any",
    "trapz": "usmx.trapezoid",
    **{
        name: f"Python's own {name}"
        for name in ("bool", "complex", "float", "int", "object", "str")
    },
}
_NO_TYPES = {
    **dict.fromkeys(("datetime64", "timedelta64"), "dates; use x.view('int64') of NumPy's array"),
    **dict.fromkeys(("bytes_", "character", "chararray", "str_"), "text"),
    **dict.fromkeys(("clongdouble", "longdouble"), "more than 64 bits for a part of a number"),
    "object_": "Python objects",
}


def explained_error(error: AttributeError, name: str) -> AttributeError:
    """The error with what helps, and with a link to the page that has it.

    If there is a hint, Python's own guess of another name would mislead. It is made of the
    attributes ``name`` and ``obj``, which Python sets unless they are given, also as None.
    """
    hint = _hint(name)
    return with_link(AttributeError(f"{error}; {hint}", name=None, obj=None) if hint else error)


def _hint(name: str) -> str:
    if name in _INSTEAD:
        return f"use {_INSTEAD[name]}"
    if name in _NO_TYPES:
        return f"arrays of usmx do not have {_NO_TYPES[name]}"
    import numpy as np

    if not hasattr(np, name):
        return ""
    if isinstance(getattr(np, name), ModuleType):
        return f"functions of numpy.{name} take x.to_numpy(), and usmx.asarray brings results back"
    return f"numpy.{name} takes x.to_numpy(), and usmx.asarray brings its result back"
