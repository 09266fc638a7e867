"""Names of NumPy that are the same here: types, constants, settings and what knows no memory.

They are not functions of arrays: `usmx.__all__` leaves them out, `import usmx as np` finds them.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

#: Another name of a type -> ours.
TYPES = {
    "byte": "int8", "short": "int16", "intc": "int32", "int_": "int64", "intp": "int64",
    "long": "int64", "longlong": "int64", "ubyte": "uint8", "ushort": "uint16",
    "uintc": "uint32", "uint": "uint64", "uintp": "uint64", "ulong": "uint64",
    "ulonglong": "uint64", "half": "float16", "single": "float32", "double": "float64",
    "csingle": "complex64", "cdouble": "complex128",
}  # fmt: skip
CONSTANTS = {"True_": True, "False_": False, "euler_gamma": 0.5772156649015329}
#: What is NumPy's object itself.
SAME = frozenset(
    {
        "base_repr", "binary_repr", "complexfloating", "errstate", "exceptions", "floating",
        "format_float_positional", "format_float_scientific", "generic", "get_printoptions",
        "geterr", "geterrcall", "inexact", "integer", "isscalar", "issubdtype", "iterable",
        "mintypecode", "ndindex", "number", "printoptions", "set_printoptions", "seterr",
        "seterrcall", "signedinteger", "typecodes", "ufunc", "unsignedinteger",
    }
)  # fmt: skip
NAMES = frozenset(
    {*TYPES, *CONSTANTS, *SAME, "frompyfunc", "lib", "may_share_memory", "shares_memory"}
)


class _StrideTricks:
    """``numpy.lib.stride_tricks``, which xarray asks for windows; CuPy has it too."""

    def __getattr__(self, name: str) -> Any:
        import usmx

        if name in ("broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"):
            return getattr(usmx, name)
        more = ""
        if name == "as_strided":
            more = (
                " here, because strides of usmx count elements; usmx.sliding_window_view and slices"
                " are views"
            )
        raise AttributeError(f"usmx.lib.stride_tricks has no {name!r}{more}")


class _Lib:
    """``numpy.lib``: the part of it that programs use with other arrays too."""

    stride_tricks = _StrideTricks()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"usmx.lib has no {name!r}; it has stride_tricks")


lib = _Lib()


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have an element in common; either may be NumPy's view of the other."""
    from .. import _usmx
    from ._common import as_array

    both = (a, b)
    if not all(isinstance(one, _usmx.ndarray) for one in both):
        # A copy here would share nothing. Memory of the device alone has no view of the host.
        if any(isinstance(one, _usmx.ndarray) and one.usm_type == "device" for one in both):
            return False
        import numpy as np

        return np.shares_memory(np.asarray(a), np.asarray(b), max_work)
    return bool(_usmx._shared_elements(as_array(a), as_array(b)) != "none")


may_share_memory = shares_memory


def frompyfunc(func: Any, /, nin: int, nout: int, *, identity: Any = None) -> Any:
    """A function of numbers, called by Python for each element, as `vectorize` calls it."""
    import numpy as np

    from .numpy_forms import vectorize

    theirs = np.frompyfunc(func, nin, nout)

    def plain(*args: Any) -> Any:
        made = theirs(*args)
        if isinstance(made, tuple):
            return tuple(np.asarray(np.asarray(one).tolist()) for one in made)
        return np.asarray(np.asarray(made).tolist())

    called: Any = vectorize(func)
    called._function = plain
    return called


def __getattr__(name: str) -> Any:
    from .. import _usmx

    if name in TYPES:
        return getattr(_usmx, TYPES[name])
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in SAME:
        import numpy as np

        return getattr(np, name)
    raise AttributeError(name)
