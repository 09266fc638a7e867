"""Methods of arrays that are functions of `usmx`: ``x.sum(axis=0)`` is ``usmx.sum(x, axis=0)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import MethodType
from typing import Any

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
}

#: Methods that change the array, which functions of the same names do not -> what does it.
IN_PLACE: dict[str, str] = {"partition": "partition_in_place", "sort": "sort_in_place"}

#: Attributes that are functions of the array.
ATTRIBUTES = ("imag", "real")


def find(array: Any, name: str) -> Any:
    """The bound method of that name.

    Raises
    ------
    AttributeError
        If there is none.
    """
    if name in ATTRIBUTES:
        import usmx

        return getattr(usmx, name)(array)
    if name in METHODS:
        import usmx

        return MethodType(getattr(usmx, METHODS[name]), array)
    if name in IN_PLACE:
        from . import sorting

        return MethodType(getattr(sorting, IN_PLACE[name]), array)
    raise AttributeError(f"'usmx.ndarray' object has no attribute {name!r}", name=name, obj=array)
