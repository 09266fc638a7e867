"""Methods of arrays that are functions of `usmx`: ``x.sum(axis=0)`` is ``usmx.sum(x, axis=0)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from types import FunctionType, MethodType
from typing import Any

from .. import _usmx

#: Method -> the function that is called with the array as its first argument.
METHODS: dict[str, str] = {
    name: name
    for name in (
        "abs",
        "all",
        "any",
        "argmax",
        "argmin",
        "argpartition",
        "argsort",
        "clip",
        "conj",
        "conjugate",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "max",
        "mean",
        "min",
        "nonzero",
        "prod",
        "ptp",
        "put",
        "repeat",
        "round",
        "searchsorted",
        "std",
        "sum",
        "take",
        "var",
    )
} | {"trace": "linalg.trace"}  # usmx.trace records what happens

#: Methods that change the array, as functions of the same names do not -> what does, and where.
IN_PLACE: dict[str, tuple[str, str]] = {
    "fill": ("selection", "fill_in_place"),
    "partition": ("sorting", "partition_in_place"),
    "sort": ("sorting", "sort_in_place"),
}

#: Attributes that are functions of the array.
ATTRIBUTES = ("imag", "real")


def find(array: Any, name: str) -> Any:
    """The bound method of that name, which is found in the class from then on.

    Raises
    ------
    AttributeError
        If there is none.
    """
    if name in ATTRIBUTES:
        import usmx

        return getattr(usmx, name)(array)
    function: Any = None
    if name in METHODS:
        import usmx

        function = attrgetter(METHODS[name])(usmx)
    elif name in IN_PLACE:
        module, function_name = IN_PLACE[name]
        function = getattr(import_module(f".{module}", __package__), function_name)
    if function is None:
        raise AttributeError(
            f"'usmx.ndarray' object has no attribute {name!r}", name=name, obj=array
        )
    if isinstance(function, FunctionType):  # operations of the table do not bind to objects
        setattr(_usmx.ndarray, name, function)
    return MethodType(function, array)
