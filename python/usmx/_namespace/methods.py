"""Methods of arrays that are functions of `usmx`: ``x.sum(axis=0)`` is ``usmx.sum(x, axis=0)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .. import _explained, _usmx
from . import WHERE, find

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
    "choose",
    "clip",
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
    "compress": (".flat", "compress"),
    "conj": (".flat", "conjugate"),
    "conjugate": (".flat", "conjugate"),
    "dump": (".flat", "dump"),
    "dumps": (".flat", "dumps"),
    "setflags": (".flat", "setflags"),
    "tofile": (".flat", "tofile"),
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
        from types import MethodType

        function = _explained.method(self._function(), self.name)
        if hasattr(function, "__get__"):  # operations of the table do not bind to objects
            setattr(_usmx.ndarray, self.name, function)
        return function if array is None else MethodType(function, array)

    def _function(self) -> Any:
        if self.name in OTHERS:
            return _imported(*OTHERS[self.name])
        return find(WHERE[self.name], self.name)


def _imported(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(module, __package__), name)


def checked_self(array: Any) -> _usmx.ndarray:
    if not isinstance(array, _usmx.ndarray):
        kind = type(array).__name__
        raise TypeError(f"self: an object of type {kind}; expected a ndarray")
    return array


def _attribute(name: str, part: int) -> property:
    def read(array: _usmx.ndarray) -> _usmx.ndarray:
        if checked_self(array).dtype.kind == "c":
            return array._part(part)
        if part == 0:
            return array[...]
        made: _usmx.ndarray = _imported(f".{WHERE[name]}", name)(array)
        made.flags.writeable = False  # they are not stored anywhere
        return made

    def write(array: _usmx.ndarray, values: Any) -> None:
        if part == 1 and checked_self(array).dtype.kind != "c":
            raise TypeError(f"imag: the elements are of {array.dtype} and have no imaginary part")
        read(array)[...] = values

    words = ("real", "imaginary")[part]
    return property(
        read, write, doc=f"The {words} parts: a view. ``usmx.{name}`` computes new elements."
    )


class _OfOperation:
    """A method of NumPy's ufuncs of the functions of the table, imported when it is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, operation: Any, owner: type) -> Any:
        from types import MethodType

        function = _imported(".ufunc_methods", "OF_OPERATIONS")[self.name]
        return function if operation is None else MethodType(function, operation)


def _of_ufunc(name: str) -> property:
    def read(operation: Any) -> Any:
        if not isinstance(operation, _usmx.Operation):
            raise TypeError(
                f"self: is of type {type(operation).__name__}; expected a usmx.Operation"
            )
        return _imported(".ufunc_methods", "attribute")(operation, name)

    return property(read, doc=f"``{name}`` of NumPy's ufunc of this name.")


class _Help:
    """The help of each function of the table, and of their class."""

    def __init__(self, own: str | None) -> None:
        self.own = own

    def __get__(self, operation: Any, owner: type) -> str | None:
        if operation is None:
            return self.own
        text: str = _imported(".signatures", "help_of_operation")(operation.__name__)
        return text


def _flat() -> property:
    def read(array: _usmx.ndarray) -> Any:
        _ = checked_self(array).size  # refuses an object that was never initialised
        return _imported(".flat", "Flat")(array)

    def write(array: _usmx.ndarray, values: Any) -> None:
        elements = read(array)
        elements[:] = _imported(".arrangement", "resize")(values, array.size)

    return property(read, write, doc="The elements in C order, in one dimension.")


def _size_of(array: _usmx.ndarray) -> int:
    """The bytes of the object and of the elements that it shows, those of a repeated one once.

    Of views too, and of what was not computed yet: caches and schedulers count with it.
    """
    shown = checked_self(array).itemsize
    if array._is_deferred:  # strides would have it computed
        return object.__sizeof__(array) + array.size * shown
    for length, step in zip(array.shape, array.strides, strict=True):
        shown *= length if step else min(length, 1)
    return object.__sizeof__(array) + shown


def _as_jax(array: _usmx.ndarray) -> Any:
    """A copy as an array of JAX, which asks for it where functions get objects of others."""
    from importlib import import_module

    elements = checked_self(array).to_numpy()
    return import_module("jax.numpy").array(elements)


def _token(array: _usmx.ndarray) -> Any:
    """The same for equal elements of one kind and type, in every process: names of Dask's tasks."""
    return _imported(".._interop.tokens", "token")(checked_self(array))


def _inline(array: _usmx.ndarray, max_width: int) -> str:
    """Where the elements are and the first of them, for a line in xarray's tables."""
    text = str(checked_self(array).usm_type)
    for value in array.reshape(-1)[: max(0, max_width // 2)].to_numpy().tolist():
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        if len(text) + len(shown) + 5 > max_width:
            return f"{text} ..."[:max_width]
        text = f"{text} {shown}"
    return text[:max_width]


#: What other libraries ask the class for -> what they get.
HOOKS = {
    # Above NumPy's arrays, by which libraries choose whose operation is called.
    "__array_priority__": 15.0,
    "__sizeof__": _size_of,
    "__jax_array__": _as_jax,
    "__dask_tokenize__": _token,
    "_repr_inline_": _inline,
}


def install() -> None:
    """Give the class its methods, once."""
    _usmx.Operation.__doc__ = _Help(_usmx.Operation.__doc__)  # type: ignore[assignment]
    for name in ("accumulate", "at", "outer", "reduce", "reduceat"):
        setattr(_usmx.Operation, name, _OfOperation(name))
    for name in ("identity", "nargs", "nout", "ntypes", "signature", "types"):
        setattr(_usmx.Operation, name, _of_ufunc(name))
    for name, hook in {**HOOKS, "flat": _flat()}.items():
        setattr(_usmx.ndarray, name, hook)
    for name in (*METHODS, *OTHERS):
        setattr(_usmx.ndarray, name, Method(name))
    for part, name in enumerate(ATTRIBUTES):
        setattr(_usmx.ndarray, name, _attribute(name, part))
