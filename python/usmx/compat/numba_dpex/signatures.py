"""The types in signatures of numba-dpex: ``kernel((float32[:],))``, ``device_func(int32(int32))``.

usmx compiles for the types of each call, so that a signature is read and changes nothing.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Signature:
    """A function from some types to one."""

    result: Any
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class ArrayType:
    """An array as a type."""

    dtype: Any
    ndim: int
    layout: str = "C"
    usm_type: str = "device"
    queue: Any = None

    def __call__(self, *arguments: Any) -> Signature:
        return Signature(self, arguments)


@dataclass(frozen=True)
class ItemType:
    """An item as a type."""

    ndim: int


@dataclass(frozen=True)
class NdItemType(ItemType):
    """An item of an NdRange as a type."""


@dataclass(frozen=True)
class Void:
    """No result, as a type."""

    def __call__(self, *arguments: Any) -> Signature:
        return Signature(self, arguments)


void: Void = Void()


@dataclass(frozen=True)
class NumberType:
    """A type of numbers. In kernels it is the dtype of that name.

    Called with types it gives a signature, with one number the number of this type, of NumPy.
    """

    name: str
    itemsize: int

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and not is_signature(arguments[0]):
            import numpy as np

            return np.dtype(self.name).type(arguments[0])
        return Signature(self, arguments)

    def __getitem__(self, axes: Any) -> ArrayType:
        return ArrayType(self, len(axes) if isinstance(axes, tuple) else 1, "A")


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
    """
    return ArrayType(dtype, ndim, layout, usm_type, queue)


def is_signature(obj: object) -> bool:
    """Whether an argument of a decorator is types and not the function; Numba's types are too."""
    if isinstance(obj, list | tuple):
        return all(is_signature(one) for one in obj)
    own = isinstance(obj, Signature | ArrayType | ItemType | NumberType | Void | str)
    return own or type(obj).__module__.startswith("numba.core.")


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
