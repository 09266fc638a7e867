"""Methods of arrays that are functions of `usmx`: ``x.sum(axis=0)`` is ``usmx.sum(x, axis=0)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .. import _usmx
from . import WHERE

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

#: Methods that are functions of `usmx` of the same names.
METHODS = (
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

#: Methods that functions of the same names are not -> the module and function that they are.
OTHERS = {
    "fill": (".selection", "fill_in_place"),
    "partition": (".sorting", "partition_in_place"),
    "sort": (".sorting", "sort_in_place"),
    "trace": (".linear_algebra", "trace"),
}

#: The parts of complex numbers.
ATTRIBUTES = ("real", "imag")


class Method:
    """A method whose function is imported when it is first looked up.

    It is in the class from the beginning, so that completion and `help` know it; then the function
    takes its place.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: Any, owner: type) -> Any:
        from types import FunctionType, MethodType

        function = self._function()
        if isinstance(function, FunctionType):  # operations of the table do not bind to objects
            setattr(_usmx.ndarray, self.name, function)
        return function if array is None else MethodType(function, array)

    def _function(self) -> Any:
        module, function = OTHERS.get(self.name) or (f".{WHERE[self.name]}", self.name)
        return _imported(module, function)


def _imported(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(module, __package__), name)


def _checked(array: Any) -> _usmx.ndarray:
    if not isinstance(array, _usmx.ndarray):
        kind = type(array).__name__
        raise TypeError(f"self: an object of type {kind}; expected a ndarray")
    return array


def _attribute(name: str, part: int) -> property:
    def read(array: _usmx.ndarray) -> _usmx.ndarray:
        if _checked(array).dtype.kind == "c":
            return array._part(part)
        if part == 0:
            return array[...]
        made: _usmx.ndarray = _imported(f".{WHERE[name]}", name)(array)
        made.flags.writeable = False  # they are not stored anywhere
        return made

    def write(array: _usmx.ndarray, values: Any) -> None:
        if part == 1 and _checked(array).dtype.kind != "c":
            raise TypeError(f"imag: the elements are of {array.dtype} and have no imaginary part")
        read(array)[...] = values

    words = ("real", "imaginary")[part]
    return property(
        read, write, doc=f"The {words} parts: a view. ``usmx.{name}`` computes new elements."
    )


def install() -> None:
    """Give the class its methods, once."""
    for name in (*METHODS, *OTHERS):
        setattr(_usmx.ndarray, name, Method(name))
    for part, name in enumerate(ATTRIBUTES):
        setattr(_usmx.ndarray, name, _attribute(name, part))
