"""Ufuncs along an axis that have no function of their own here: ``np.maximum.accumulate(x)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

from .._usmx import Operation, ReductionKernel, ScanKernel, ndarray
from ._common import as_array, to_axis
from ._outputs import written
from ._types import typed
from .statistics import _selected

#: Ufunc -> the text that joins two numbers, what joins to nothing, and the kinds of types.
JOINS = {
    "bitwise_and": ("a & b", "T(~T(0))", "biu"),
    "bitwise_or": ("a | b", "0", "biu"),
    "bitwise_xor": ("a ^ b", "0", "biu"),
    "maximum": ("a < b || b != b ? b : a", None, "biuf"),
    "minimum": ("b < a || b != b ? b : a", None, "biuf"),
    "logical_and": ("a && b", "true", "b"),
    "logical_or": ("a || b", "false", "b"),
    "logical_xor": ("a != b", "false", "b"),
}

#: What joins to nothing, as a number of Python.
_NEUTRAL = {"bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "logical_xor": False}
_KEYWORDS = {
    "accumulate": {"axis", "dtype", "out"},
    "reduce": {"axis", "dtype", "out", "keepdims", "initial", "where"},
}


@cache
def _scan(name: str) -> ScanKernel:
    return ScanKernel("T x", "T y", "x", JOINS[name][0], name=f"{name}_accumulate", scan_type="T")


@cache
def _reduction(name: str) -> ReductionKernel:
    text, identity, _ = JOINS[name]
    return ReductionKernel("T x", "T y", "x", text, "y = a", identity, f"{name}_reduce")


def along_axis(name: str, method: str, x: ndarray, keywords: dict[str, Any]) -> ndarray | None:
    """What a method of such a ufunc gives; None if it is left to others."""
    if method not in _KEYWORDS or keywords.keys() - _KEYWORDS[method]:
        return None
    if name not in JOINS:
        from .ufunc_places import in_turn

        return in_turn(name, method, x, keywords)
    out = keywords.get("out")
    if isinstance(out, tuple):
        (out,) = out
    if not (out is None or isinstance(out, ndarray)):
        return None
    wanted = keywords.get("dtype", None if out is None else out.dtype)
    if name.startswith("logical_"):
        # `reduce` of the two others is `any` and `all`.
        if keywords.get("dtype") is not None or (method == "reduce" and name != "logical_xor"):
            return None
        x = x.astype("?", copy=False)  # what is not 0 is true, of any type
    elif wanted is not None:
        x = x.astype(wanted, copy=False)
    if x.dtype.kind not in JOINS[name][2]:
        return None
    if method == "accumulate":
        if x.ndim == 0:
            return None
        return written(_scan(name)(x, axis=to_axis(keywords.get("axis", 0), x.ndim)), out)
    where, initial = keywords.get("where", True), keywords.get("initial")
    if where is not True:
        neutral = initial if _NEUTRAL.get(name) is None else _NEUTRAL[name]
        if neutral is None:
            raise ValueError(f"{name}.reduce: where= needs initial=, for where no element counts")
        x = _selected(x, where, neutral)
    made = _reduction(name)(
        x, axis=keywords.get("axis", 0), keepdims=keywords.get("keepdims", False)
    )
    if initial is not None:
        made = Operation(name)(made, typed(initial, made.dtype))
    return written(made, out)


def _ufunc(operation: Any, method: str) -> Any:
    """NumPy's ufunc of the name of an operation."""
    import numpy as np

    found = getattr(np, operation.__name__, None)
    if not isinstance(found, np.ufunc):
        raise TypeError(f"{operation.__name__}.{method}: NumPy has no ufunc of this name")
    return found


#: What the methods do, their other arguments, and what they give.
_SAID = {
    "accumulate": (
        "Combine the elements up to each along an axis: ``usmx.add.accumulate`` is a sum so far.",
        "``axis`` (0 by default), ``dtype`` and ``out``.",
        "Of the shape of `array`.",
    ),
    "at": (
        "Change elements at indices in place, once for each time that an index is given.",
        "The indices, and the second operands of a function of two.",
        "",
    ),
    "outer": (
        "Apply a function of two to each element of one array with each of another.",
        "The second array; then keywords of the function, such as ``out``.",
        "The axes of `array`, then those of the other.",
    ),
    "reduce": (
        "Combine the elements along axes by a function of two: ``usmx.add.reduce`` is a sum.",
        "``axis`` (0 by default, None for all), ``dtype``, ``out``, ``keepdims``, ``initial`` and "
        "``where``.",
        "Without these axes.",
    ),
    "reduceat": (
        "Combine the elements of slices of an axis, each from an index to the next one.",
        "The indices; then ``axis`` (0 by default), ``dtype`` and ``out``.",
        "An element for each index.",
    ),
}


def _doc_of(method: str) -> str:
    """The docstring of a method."""
    summary, others, gives = _SAID[method]
    lines = [summary, "", f"As ``numpy.add.{method}`` and that of NumPy's other ufuncs.", ""]
    lines += ["Parameters", "----------", "array : array", "    The elements."]
    lines += ["*args, **keywords : optional", f"    {others}"]
    if gives:
        lines += ["", "Returns", "-------", "ndarray", f"    {gives}"]
    lines += ["", "Raises", "------", "TypeError", "    NumPy has no ufunc of this name."]
    return "\n".join(lines)


def _called(method: str) -> Any:
    def call(operation: Any, array: Any, *args: Any, **keywords: Any) -> Any:
        first = as_array(array)
        made = getattr(_ufunc(operation, method), method)(first, *args, **keywords)
        # What the host computed goes where new arrays are, as from all other functions.
        return as_array(made, first) if isinstance(made, _numpys()) else made

    call.__name__ = method
    call.__doc__ = _doc_of(method)
    return call


def _numpys() -> tuple[type, ...]:
    import numpy as np

    return (np.ndarray, np.generic)


#: Methods of NumPy's ufuncs, of operations.
OF_OPERATIONS = {
    name: _called(name) for name in ("accumulate", "at", "outer", "reduce", "reduceat")
}


#: Types of NumPy's that arrays here do not have.
_NOT_HERE = frozenset("gGOSUVmM")


def attribute(operation: Any, name: str) -> Any:
    """What NumPy's ufunc says of itself; of types, those that arrays here have too."""
    ufunc = _ufunc(operation, name)
    if name not in ("ntypes", "types"):
        return getattr(ufunc, name)
    types = [one for one in ufunc.types if _NOT_HERE.isdisjoint(one)]
    return types if name == "types" else len(types)
