"""The types in signatures of Numba: ``kernel((float32[:],))``, ``device_func(int32(int32))``.

usmx compiles for the types of each call. A signature says nothing that a call does not; where a
kernel of `usmx.compat.cuda` is given numbers, they become of the types that it names.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Type:
    """What all types are, also those that a program makes."""

    def __init__(self, name: str = "") -> None:
        self.name = name


@dataclass(frozen=True)
class Signature:
    """A function from some types to one."""

    result: Any
    arguments: tuple[Any, ...]

    @property
    def args(self) -> tuple[Any, ...]:
        """Numba's name of the arguments."""
        return self.arguments

    @property
    def return_type(self) -> Any:
        """Numba's name of the result."""
        return self.result


@dataclass(frozen=True)
class ArrayType(Type):
    """An array as a type."""

    dtype: Any
    ndim: int
    layout: str = "C"
    usm_type: str = "device"
    queue: Any = None

    def __call__(self, *arguments: Any) -> Signature:
        return Signature(self, arguments)


@dataclass(frozen=True)
class ItemType(Type):
    """An item as a type.

    Attributes
    ----------
    ndim : int
        Number of dimensions of the launch.
    """

    ndim: int


@dataclass(frozen=True)
class NdItemType(ItemType):
    """An item of an NdRange as a type.

    Attributes
    ----------
    ndim : int
        Number of dimensions of the launch.
    """


@dataclass(frozen=True)
class Void(Type):
    """No result, as a type."""

    def __call__(self, *arguments: Any) -> Signature:
        return Signature(self, arguments)


void: Void = Void()


@dataclass(frozen=True)
class NumberType(Type):
    """A type of numbers. In kernels it is the dtype of that name.

    Called with types it gives a signature, with one number the number of this type, of NumPy.
    """

    name: str
    itemsize: int

    @property
    def underlying_float(self) -> NumberType:
        """The type of the parts of a complex number."""
        found: NumberType = TYPES[f"float{4 * self.itemsize}"]
        return found

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and not is_signature(arguments[0]):
            import numpy as np

            return np.dtype(self.name).type(arguments[0])
        return Signature(self, arguments)

    def __getitem__(self, axes: Any) -> ArrayType:
        return ArrayType(self, len(axes) if isinstance(axes, tuple) else 1, "A")


@dataclass(frozen=True)
class RecordType(Type):
    """A record as a type: in signatures, and where kernels make memory for records."""

    dtype: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        found: tuple[str, ...] = self.dtype.names
        return found

    @property
    def fields(self) -> Any:
        """As NumPy has them."""
        return self.dtype.fields

    @property
    def descr(self) -> Any:
        """The fields as a list of tuples."""
        return self.dtype.descr

    @property
    def itemsize(self) -> int:
        """Bytes."""
        return int(self.dtype.itemsize)

    def __getitem__(self, axes: Any) -> ArrayType:
        return ArrayType(self, len(axes) if isinstance(axes, tuple) else 1, "A")


def from_dtype(dtype: Any) -> Any:
    """The type of a dtype of NumPy."""
    import numpy as np

    made = np.dtype(dtype)
    return RecordType(made) if made.names else TYPES[made.name]


def array(dtype: Any, ndim: int, layout: str = "C", **_: Any) -> ArrayType:
    """The type of an array, as Numba spells it."""
    return ArrayType(dtype, ndim, layout)


def usm_ndarray(
    dtype: Any, ndim: int, layout: str = "C", usm_type: str = "device", queue: Any = None, **_: Any
) -> ArrayType:
    """The type of an array, as numba-dpex spells it.

    Parameters
    ----------
    dtype : NumberType
        Of the elements.
    ndim : int
        Number of dimensions.
    layout : str
        ``"C"``, ``"F"`` or ``"A"``.
    usm_type : str
        Kind of its memory.
    queue : optional
        Its queue.
    **_ : optional
        Others of numba-dpex, which change nothing.

    Returns
    -------
    ArrayType
        For signatures.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> kind = dpex.usm_ndarray(dpex.float32, ndim=2)
    >>> kind.ndim, kind.dtype.name
    (2, 'float32')
    """
    return ArrayType(dtype, ndim, layout, usm_type, queue)


def is_signature(obj: object) -> bool:
    """Whether an argument of a decorator is types and not the function; Numba's types are too."""
    if isinstance(obj, list | tuple):
        return all(is_signature(one) for one in obj)
    own = isinstance(obj, Signature | Type | str)
    return own or type(obj).__module__.startswith(("numba.core.", "numba.cuda.types"))


int8: NumberType = NumberType("int8", 1)
int16: NumberType = NumberType("int16", 2)
int32: NumberType = NumberType("int32", 4)
int64: NumberType = NumberType("int64", 8)
uint8: NumberType = NumberType("uint8", 1)
uint16: NumberType = NumberType("uint16", 2)
uint32: NumberType = NumberType("uint32", 4)
uint64: NumberType = NumberType("uint64", 8)
float32: NumberType = NumberType("float32", 4)
float64: NumberType = NumberType("float64", 8)
complex64: NumberType = NumberType("complex64", 8)
complex128: NumberType = NumberType("complex128", 16)
boolean: NumberType = NumberType("bool", 1)
float16: NumberType = NumberType("float16", 2)
#: The names that Numba has for them too.
ALIASES: dict[str, NumberType] = {
    "b1": boolean, "bool_": boolean, "i1": int8, "i2": int16, "i4": int32, "i8": int64,
    "u1": uint8, "u2": uint16, "u4": uint32, "u8": uint64, "f2": float16, "f4": float32,
    "f8": float64, "c8": complex64, "c16": complex128, "intp": int64, "uintp": uint64,
    "int_": int64, "uint": uint64, "intc": int32, "uintc": uint32, "float_": float32,
    "double": float64, "byte": uint8, "char": int8, "short": int16, "longlong": int64,
    "ulonglong": uint64, "long_": int64, "ulong": uint64,
}  # fmt: skip
#: All of them by name.
TYPES: dict[str, Any] = {
    **{t.name: t for t in (
        int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64,
        complex64, complex128,
    )},
    "Type": Type, "boolean": boolean, "bool": boolean, "void": void, "none": void,
    "array": array, "Array": ArrayType, **ALIASES,
}  # fmt: skip


def read(text: str) -> Any:
    """A signature that is written as text: ``"void(float32[:], int32)"``.

    Raises
    ------
    ValueError
        It names no types of Numba.
    """
    try:
        return eval(text, {"__builtins__": {}}, {**TYPES, "float": float32, "int": int32})
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        raise ValueError(f"signature: {text!r}; {error}") from None


def arguments_of(signature: Any) -> tuple[Any, ...] | None:
    """The types of the arguments; of several signatures None, because a call chooses one."""
    if isinstance(signature, str):
        signature = read(signature)
    if isinstance(signature, list):
        return arguments_of(signature[0]) if len(signature) == 1 else None
    if isinstance(signature, tuple):
        return signature
    found = getattr(signature, "arguments", None) or getattr(signature, "args", None)
    return None if found is None else tuple(found)
